//! What comes from outside: the time, and names that nobody had before.

use std::fmt::Debug;

use jiff::{Timestamp, tz::TimeZone};

/// The wall clock that timestamps are taken from. It is written down and never decides anything but the end of old
/// Events.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// As `creationTimestamp` and its like are written: whole seconds.
pub(crate) fn seconds(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A source of uids and of suffixes of generated names. The same seed gives the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Uids {
    state: u64,
}

/// What suffixes are made of: letters and digits that are not taken for each other and make no words.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Uids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64: a bijection of a counter, so that no uid comes twice.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A uid in the form of a random UUID (version 4).
    pub(crate) fn uid(&mut self) -> String {
        let random = (u128::from(self.next()) << 64) | u128::from(self.next());
        uuid::Builder::from_random_bytes(random.to_be_bytes()).into_uuid().to_string()
    }

    /// Five characters that make a generated name unlike the others.
    pub(crate) fn suffix(&mut self) -> String {
        let mut left = self.next();
        let mut letter = || {
            let at = usize::try_from(left % 27).unwrap_or_default();
            left /= 27;
            char::from(LETTERS.get(at).copied().unwrap_or(b'x'))
        };
        (0..5).map(|_| letter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_uids_again_and_each_only_once() {
        let (mut one, mut other) = (Uids::new(7), Uids::new(7));
        let uids: std::collections::BTreeSet<String> = (0..1000).map(|_| one.uid()).collect();
        assert_eq!(uids.len(), 1000);
        assert!((0..1000).all(|_| uids.contains(&other.uid())));
    }

    #[test]
    fn a_uid_has_the_form_that_the_claims_uid_must_have() {
        let form = regex::Regex::new("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
        let form = form.unwrap();
        let mut uids = Uids::new(0);
        assert!((0..100).all(|_| form.is_match(&uids.uid())));
    }

    #[test]
    fn times_are_written_in_whole_seconds_of_utc() {
        let time: Timestamp = "2026-11-29T10:11:12.987654Z".parse().unwrap();
        assert_eq!(seconds(time), "2026-11-29T10:11:12Z");
    }
}
