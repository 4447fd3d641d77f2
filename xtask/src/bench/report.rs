//! The numbers, as a table for people and as JSON for programs.

use std::fmt;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::machine;

/// What was measured. Rates are Buckets per second, memory is in MB (10⁶ bytes).
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    date: String,
    machine: String,
    buckets: u32,
    sample: u32,
    /// Two bare writes for each Bucket, 32 at a time.
    pub(super) ceiling: f64,
    /// Create to Ready with a driver that answers at once.
    pub(super) instant: f64,
    /// Create to Ready with a driver that takes 100 ms.
    pub(super) slow: f64,
    /// Writes of the sidecar for each Bucket that became Ready.
    pub(super) writes_per_bucket: f64,
    /// Driver calls for each Bucket that became Ready.
    pub(super) calls_per_bucket: f64,
    /// Accesses to one bucket each per second, handed over to Ready, with a driver that answers at once.
    pub(super) accesses: f64,
    /// Writes of the sidecar for each access that became Ready.
    pub(super) writes_per_access: f64,
    /// Driver calls for each access that became Ready.
    pub(super) calls_per_access: f64,
    /// Memory of the sidecar without Buckets.
    pub(super) rss_idle: f64,
    /// Memory after all Buckets became Ready.
    pub(super) rss_full: f64,
    /// Memory after a restart with all Buckets Ready.
    pub(super) rss_restarted: f64,
    /// Seconds from a restart until each Secret of each Ready access was looked at.
    pub(super) restart_look: f64,
    /// Driver calls at a restart with all Buckets and accesses Ready.
    pub(super) restart_calls: u32,
    /// Writes at a restart with all Buckets and accesses Ready.
    pub(super) restart_writes: f64,
}

/// A number with what is expected of it.
struct Line {
    what: String,
    value: String,
    expected: &'static str,
    met: bool,
}

impl Report {
    pub(super) fn new(buckets: u32, sample: u32) -> Self {
        let date = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
        Self { date, machine: machine::description(), buckets, sample, ..Self::default() }
    }

    pub(super) fn json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).context("write JSON")
    }

    pub(super) fn is_as_expected(&self) -> bool {
        self.lines().iter().all(|line| line.met)
    }

    fn lines(&self) -> Vec<Line> {
        let rate = |what: &str, value: f64| {
            let share = value / self.ceiling;
            let value = format!("{value:.0}/s = {:.0} % of the ceiling", share * 100.0);
            Line { what: what.to_owned(), value, expected: "≥ 60 %", met: share >= 0.6 }
        };
        let memory = |what: String, value: f64, limit: f64, expected| Line {
            what,
            value: format!("{value:.1} MB"),
            expected,
            met: value <= limit,
        };
        let count = |what: &str, value: f64, limit: f64, expected| Line {
            what: what.to_owned(),
            value: format!("{value:.2}"),
            expected,
            met: value <= limit,
        };
        let rate_of_accesses = Line {
            what: "handed over to Ready, instant driver".to_owned(),
            value: format!("{:.0} accesses/s", self.accesses),
            expected: "≥ 60/s",
            met: self.accesses >= 60.0,
        };
        let look = Line {
            what: format!("restart: {} Secrets looked at", self.sample),
            value: format!("{:.1} s", self.restart_look),
            expected: "≤ 30 s",
            met: self.restart_look <= 30.0,
        };
        let full = format!("memory, {} Buckets Ready", self.buckets);
        vec![
            rate("create to Ready, instant driver", self.instant),
            rate("create to Ready, 100 ms driver", self.slow),
            count("API writes per Bucket", self.writes_per_bucket, 2.0, "2"),
            count("driver calls per Bucket", self.calls_per_bucket, 1.0, "1"),
            rate_of_accesses,
            count("API writes per access", self.writes_per_access, 3.0, "3"),
            count("driver calls per access", self.calls_per_access, 1.0, "1"),
            memory("memory, no Buckets".to_owned(), self.rss_idle, 20.0, "≤ 20 MB"),
            memory(full.clone(), self.rss_full, 40.0, "≤ 40 MB"),
            memory(format!("{full}, restarted"), self.rss_restarted, 40.0, "≤ 40 MB"),
            look,
            count("driver calls at restart", f64::from(self.restart_calls), 0.0, "0"),
            count("API writes at restart", self.restart_writes, 0.0, "0"),
        ]
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {}, {} Buckets per rate", self.date, self.machine, self.sample)?;
        writeln!(f, "ceiling (two bare writes per Bucket, 32 at a time): {:.0} Buckets/s", self.ceiling)?;
        for Line { what, value, expected, met } in self.lines() {
            let verdict = if met { "ok" } else { "WORSE" };
            write!(f, "\n{what:<44} {value:<30} expected {expected:<8} {verdict}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Report {
        Report { ceiling: 100.0, instant: 70.0, slow: 60.0, accesses: 60.0, ..Report::new(10, 1) }
    }

    #[test]
    fn numbers_that_meet_what_is_expected_pass() {
        assert!(good().is_as_expected());
    }

    #[test]
    fn each_number_that_is_worse_is_found() {
        let worse: [fn(&mut Report); 13] = [
            |r| r.instant = 59.0,
            |r| r.slow = 59.0,
            |r| r.writes_per_bucket = 2.01,
            |r| r.calls_per_bucket = 1.01,
            |r| r.accesses = 59.0,
            |r| r.writes_per_access = 3.01,
            |r| r.calls_per_access = 1.01,
            |r| r.restart_look = 31.0,
            |r| r.rss_idle = 21.0,
            |r| r.rss_full = 41.0,
            |r| r.rss_restarted = 41.0,
            |r| r.restart_calls = 1,
            |r| r.restart_writes = 1.0,
        ];
        for (number, worsen) in worse.iter().enumerate() {
            let mut report = good();
            worsen(&mut report);
            assert!(!report.is_as_expected(), "{number}");
            assert_eq!(report.to_string().matches("WORSE").count(), 1, "{number}");
        }
    }
}
