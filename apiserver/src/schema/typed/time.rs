//! Points in time, read as Go reads them and with its words where they can't be.

use super::ReadError;
use crate::schema::print;
use jiff::civil;
use jiff::tz::Offset;

/// The forms of a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In whole seconds; a fraction is dropped.
    Seconds,
    /// In microseconds, all six digits of which must be there.
    Micros,
}

impl Form {
    fn layout(self) -> &'static str {
        match self {
            Self::Seconds => "2006-01-02T15:04:05Z07:00",
            Self::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }

    /// A point in time as Kubernetes writes it: in UTC.
    pub(super) fn write(self, time: jiff::Timestamp) -> String {
        let form = match self {
            Self::Seconds => "%Y-%m-%dT%H:%M:%SZ",
            Self::Micros => "%Y-%m-%dT%H:%M:%S%.6fZ",
        };
        time.strftime(form).to_string()
    }
}

/// The point in time as Kubernetes writes it.
pub(super) fn normalised(form: Form, text: &str) -> Result<String, ReadError> {
    Parser { form, text, rest: text }.parse().map(|time| form.write(time))
}

struct Parser<'a> {
    form: Form,
    text: &'a str,
    rest: &'a str,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<jiff::Timestamp, ReadError> {
        let year = self.number("2006", 4, 4)?;
        self.literal("-")?;
        let month = self.in_range("01", 2, 1..=12, "month")?;
        self.literal("-")?;
        let day = self.number("02", 2, 2)?;
        self.literal("T")?;
        let hour = self.in_range("15", 1, 0..=23, "hour")?;
        self.literal(":")?;
        let minute = self.in_range("04", 2, 0..=59, "minute")?;
        self.literal(":")?;
        let second = self.in_range("05", 2, 0..=59, "second")?;
        let nanos = self.fraction()?;
        let offset = self.zone()?;
        if !self.rest.is_empty() {
            return Err(self.odd(&format!("extra text: {}", print::quoted(self.rest))));
        }
        let small = |number: i32| i8::try_from(number).unwrap_or_default();
        let year = i16::try_from(year).unwrap_or_default();
        let date = civil::Date::new(year, small(month), small(day));
        let time = civil::Time::new(small(hour), small(minute), small(second), nanos);
        let (Ok(date), Ok(time)) = (date, time) else { return Err(self.odd("day out of range")) };
        offset.to_timestamp(date.to_datetime(time)).map_err(|_| self.odd("day out of range"))
    }

    fn literal(&mut self, wanted: &'static str) -> Result<(), ReadError> {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => self.rest = rest,
            None => return Err(self.unlike(self.rest, wanted)),
        }
        Ok(())
    }

    /// A number of at least and at most so many digits.
    fn number(&mut self, part: &'static str, min: usize, max: usize) -> Result<i32, ReadError> {
        let digits = self.rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
        let parsed = self.rest.get(..digits).filter(|_| digits >= min).and_then(|digits| digits.parse().ok());
        let number = parsed.ok_or_else(|| self.unlike(self.rest, part))?;
        self.rest = self.rest.get(digits..).unwrap_or_default();
        Ok(number)
    }

    fn in_range(
        &mut self,
        part: &'static str,
        min: usize,
        range: std::ops::RangeInclusive<i32>,
        what: &str,
    ) -> Result<i32, ReadError> {
        let number = self.number(part, min, 2)?;
        if range.contains(&number) { Ok(number) } else { Err(self.odd(&format!("{what} out of range"))) }
    }

    /// The fraction of the second, in nanoseconds.
    fn fraction(&mut self) -> Result<i32, ReadError> {
        let after = self.rest.strip_prefix(['.', ',']);
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let wrong = self.unlike(self.rest, ".000000");
        let (after, count) = match (self.form, after) {
            (Form::Seconds, Some(after)) if digits(after) > 0 => (after, digits(after)),
            (Form::Seconds, _) => return Ok(0),
            (Form::Micros, Some(after)) if digits(after) >= 6 => (after, 6),
            (Form::Micros, _) => return Err(wrong),
        };
        let (shown, rest) = after.split_at_checked(count).unwrap_or((after, ""));
        self.rest = rest;
        Ok(format!("{shown:0<9}").get(..9).and_then(|nanos| nanos.parse().ok()).unwrap_or_default())
    }

    fn zone(&mut self) -> Result<Offset, ReadError> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(Offset::UTC);
        }
        let wrong = self.unlike(self.rest, "Z07:00");
        let two = |range| self.rest.get(range).and_then(|digits: &str| digits.parse::<i32>().ok());
        let sign = match self.rest.get(..1) {
            Some("+") => 1,
            Some("-") => -1,
            _ => return Err(wrong),
        };
        let (Some(hours), Some(":"), Some(minutes)) = (two(1..3), self.rest.get(3..4), two(4..6)) else {
            return Err(wrong);
        };
        self.rest = self.rest.get(6..).unwrap_or_default();
        Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).map_err(|_| wrong)
    }

    fn unlike(&self, rest: &str, part: &'static str) -> ReadError {
        ReadError::Time {
            text: print::quoted(self.text),
            layout: print::quoted(self.form.layout()),
            rest: print::quoted(rest),
            part: print::quoted(part),
        }
    }

    fn odd(&self, why: &str) -> ReadError {
        ReadError::OddTime { text: print::quoted(self.text), why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Form::Seconds, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z")]
    #[case(Form::Seconds, "2026-01-02T03:04:05.999+02:00", "2026-01-02T01:04:05Z")]
    #[case(Form::Micros, "2026-01-02T03:04:05.000001-01:30", "2026-01-02T04:34:05.000001Z")]
    fn a_point_in_time_is_written_in_utc(#[case] form: Form, #[case] text: &str, #[case] written: &str) {
        assert_eq!(normalised(form, text).unwrap(), written);
    }

    #[rstest]
    #[case(Form::Seconds, "soon", r#"as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006""#)]
    #[case(Form::Seconds, "", r#"as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006""#)]
    #[case(
        Form::Micros,
        "2026-01-02T03:04:05Z",
        r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#
    )]
    #[case(
        Form::Micros,
        "2026-01-02T03:04:05.123456789+02:00",
        r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "789+02:00" as "Z07:00""#
    )]
    #[case(
        Form::Seconds,
        "2026-01-02 03:04:05Z",
        r#"as "2006-01-02T15:04:05Z07:00": cannot parse " 03:04:05Z" as "T""#
    )]
    fn what_does_not_fit_is_told_with_the_part_that_it_should_be(
        #[case] form: Form,
        #[case] text: &str,
        #[case] said: &str,
    ) {
        let error = normalised(form, text).unwrap_err().to_string();
        assert_eq!(error, format!("parsing time {text:?} {said}"));
    }

    #[rstest]
    #[case("2026-13-02T03:04:05Z", "month out of range")]
    #[case("2026-02-30T03:04:05Z", "day out of range")]
    #[case("2026-01-02T03:04:05Z!", "extra text: \"!\"")]
    fn a_time_that_there_is_not_is_told_so(#[case] text: &str, #[case] why: &str) {
        let error = normalised(Form::Seconds, text).unwrap_err().to_string();
        assert_eq!(error, format!("parsing time {text:?}: {why}"));
    }
}
