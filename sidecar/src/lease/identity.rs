//! How this process signs.

use uuid::Builder;

use crate::environment::Environment;

/// The host's name, for people, and a random UUID: no two processes sign alike, not even two lives of one pod.
pub(super) fn fresh(env: &dyn Environment) -> String {
    let bits = u128::from(env.random()) << 64 | u128::from(env.random());
    format!("{}_{}", env.host(), Builder::from_random_bytes(bits.to_ne_bytes()).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Host;

    #[test]
    fn a_signature_is_never_made_twice() {
        assert_ne!(fresh(&Host), fresh(&Host));
    }

    #[test]
    fn a_signature_ends_with_a_random_uuid() {
        let signature = fresh(&Host);
        let (_, uuid) = signature.rsplit_once('_').unwrap();
        let uuid: uuid::Uuid = uuid.parse().unwrap();
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (4, uuid::Variant::RFC4122));
    }
}
