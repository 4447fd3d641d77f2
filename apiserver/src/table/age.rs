//! How long ago something was, in the few characters that kubectl shows.

use jiff::Timestamp;

/// The time since a point in time, or a word where there is none.
pub(super) fn since(time: &str, now: Timestamp) -> String {
    if time.is_empty() {
        return "<unknown>".to_owned();
    }
    match time.parse::<Timestamp>() {
        Ok(time) => human(now.duration_since(time).as_millis()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// A span of milliseconds, coarser the longer it is.
fn human(millis: i128) -> String {
    let seconds = millis / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |big: i128, unit: &str, small: i128, part: &str| {
        if small == 0 { format!("{big}{unit}") } else { format!("{big}{unit}{small}{part}") }
    };
    match () {
        () if seconds < -1 => "<invalid>".to_owned(),
        () if seconds < 0 => "0s".to_owned(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => pair(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => pair(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 192 => pair(days, "d", hours % 24, "h"),
        () if days < 730 => format!("{days}d"),
        () if days < 2920 => pair(days / 365, "y", days % 365, "d"),
        () => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(-2, "<invalid>")]
    #[case(-1, "0s")]
    #[case(119, "119s")]
    #[case(120, "2m")]
    #[case(599, "9m59s")]
    #[case(600, "10m")]
    #[case(3 * 3600 - 1, "179m")]
    #[case(3 * 3600, "3h")]
    #[case(7 * 3600 + 61, "7h1m")]
    #[case(47 * 3600, "47h")]
    #[case(49 * 3600, "2d1h")]
    #[case(8 * 86_400, "8d")]
    #[case(800 * 86_400, "2y70d")]
    #[case(3000 * 86_400, "8y")]
    fn an_age_is_coarser_the_longer_it_is(#[case] seconds: i128, #[case] shown: &str) {
        assert_eq!(human(seconds * 1000), shown);
    }

    #[test]
    fn a_time_that_is_none_has_a_word_for_an_age() {
        assert_eq!(since("", Timestamp::UNIX_EPOCH), "<unknown>");
        assert_eq!(since("yesterday", Timestamp::UNIX_EPOCH), "<invalid>");
    }
}
