//! How this process signs.

use uuid::Builder;

/// The host's name, for people, and a random UUID: no two processes sign alike, not even two lives of one pod.
pub(super) fn fresh() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}_{}", Builder::from_random_bytes(rand::random()).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_never_made_twice() {
        assert_ne!(fresh(), fresh());
    }

    #[test]
    fn a_signature_ends_with_a_random_uuid() {
        let signature = fresh();
        let (_, uuid) = signature.rsplit_once('_').unwrap();
        let uuid: uuid::Uuid = uuid.parse().unwrap();
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (4, uuid::Variant::RFC4122));
    }
}
