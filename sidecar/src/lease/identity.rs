//! How this process signs.

/// The host's name, for people, and a random UUID: no two processes sign alike, not even two lives of one pod.
pub(super) fn fresh() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{host}_{}", uuid(rand::random()))
}

/// A UUID of version 4 with these bits.
fn uuid(bits: u128) -> String {
    const VERSION: u128 = 0xf << 76;
    const VARIANT: u128 = 0x3 << 62;
    let bits = (bits & !(VERSION | VARIANT)) | (0x4 << 76) | (0x2 << 62);
    let digits = format!("{bits:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_never_made_twice() {
        assert_ne!(fresh(), fresh());
    }

    #[test]
    fn a_uuid_names_its_version_and_variant() {
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
