//! What a call's metadata says about time: how long the caller waits, and until when the work may begin (R15).

use std::time::Duration;

use cosi_proto::NOT_AFTER_KEY;
use rustix::time::{ClockId, clock_gettime};
use tonic::metadata::MetadataMap;

use crate::error::DriverError;

/// The last moment at which work may begin, in nanoseconds of `CLOCK_BOOTTIME`, if the caller set one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotAfter(Option<u64>);

impl NotAfter {
    /// Of several values the earliest counts.
    pub(crate) fn from_metadata(metadata: &MetadataMap) -> Result<Self, DriverError> {
        let values = metadata.get_all(NOT_AFTER_KEY).iter().map(|value| {
            let text = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            text.and_then(|text| text.parse::<u64>().ok()).ok_or_else(malformed)
        });
        Ok(Self(values.collect::<Result<Vec<_>, _>>()?.into_iter().min()))
    }

    /// Fails if that moment is over at `now`.
    pub(crate) fn check(self, now: u64) -> Result<(), DriverError> {
        match self.0 {
            Some(limit) if now > limit => Err(DriverError::failed_precondition(
                "the call came later than its sender allows; nothing was done",
            )),
            _ => Ok(()),
        }
    }
}

fn malformed() -> DriverError {
    DriverError::invalid_argument(format!("metadata {NOT_AFTER_KEY} is not a decimal number of nanoseconds"))
}

/// Nanoseconds of `CLOCK_BOOTTIME`, which goes on while the machine sleeps.
pub(crate) fn boottime() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(now.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(now.tv_nsec))
}

/// How long the caller waits, from `grpc-timeout`: up to eight digits and a unit. What is not of that form is ignored, as
/// the transport does.
pub(crate) fn timeout(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 3600)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use rstest::rstest;

    fn metadata(key: &'static str, values: &[&str]) -> MetadataMap {
        let mut map = MetadataMap::new();
        for value in values {
            map.append(key, value.parse().unwrap());
        }
        map
    }

    #[test]
    fn work_may_begin_up_to_the_moment_and_not_after_it() {
        let limit = NotAfter::from_metadata(&metadata(NOT_AFTER_KEY, &["1000"])).unwrap();
        assert_eq!(limit.check(1000), Ok(()));
        assert_eq!(limit.check(1001).unwrap_err().kind(), ErrorKind::FailedPrecondition);
    }

    #[test]
    fn without_a_limit_work_may_begin_at_any_time() {
        assert_eq!(NotAfter::from_metadata(&MetadataMap::new()).unwrap().check(u64::MAX), Ok(()));
    }

    #[test]
    fn of_two_limits_the_earlier_counts() {
        let limit = NotAfter::from_metadata(&metadata(NOT_AFTER_KEY, &["1000", "10"])).unwrap();
        assert!(limit.check(11).is_err());
    }

    #[rstest]
    #[case("")]
    #[case("-1")]
    #[case("+1")]
    #[case("1.5")]
    #[case("0x10")]
    #[case(" 1")]
    #[case("18446744073709551616")]
    fn a_malformed_limit_is_refused(#[case] text: &str) {
        let error = NotAfter::from_metadata(&metadata(NOT_AFTER_KEY, &[text])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }

    #[rstest]
    #[case("20S", Some(Duration::from_secs(20)))]
    #[case("99999999H", Some(Duration::from_hours(99_999_999)))]
    #[case("1500m", Some(Duration::from_millis(1500)))]
    #[case("7u", Some(Duration::from_micros(7)))]
    #[case("2M", Some(Duration::from_mins(2)))]
    #[case("5n", Some(Duration::from_nanos(5)))]
    #[case("", None)]
    #[case("S", None)]
    #[case("5", None)]
    #[case("123456789S", None)]
    #[case("-5S", None)]
    fn the_callers_timeout_is_read_from_the_header(#[case] text: &str, #[case] expected: Option<Duration>) {
        assert_eq!(timeout(&metadata("grpc-timeout", &[text])), expected);
    }

    #[test]
    fn boottime_goes_forward() {
        let before = boottime();
        assert!(before > 0 && boottime() >= before);
    }
}
