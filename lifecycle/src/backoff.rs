//! When to try again.

use std::time::Duration;

use crate::{Context, Time};

/// A wait before the next try, and how many tries there were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The next try is due.
    pub at: Time,
    /// How many tries failed in a row.
    pub failures: u32,
}

impl Retry {
    /// The wait after one more failure: exponential from `retry_interval_start`, never above `retry_interval_max` (C22).
    #[must_use]
    pub(crate) fn after_failure(previous: Option<Self>, ctx: &Context<'_>) -> Self {
        let failures = previous.map_or(0, |r| r.failures).saturating_add(1);
        Self { at: ctx.now + delay(failures, ctx), failures }
    }

    /// The wait after a terminal failure: nothing to hope for until something changes, so a long one.
    #[must_use]
    pub(crate) fn after_refusal(previous: Option<Self>, ctx: &Context<'_>) -> Self {
        let failures = previous.map_or(0, |r| r.failures).saturating_add(1);
        Self { at: ctx.now + ctx.settings.recheck_interval, failures }
    }

    /// This wait, or the one that the API server asked for if that is longer.
    #[must_use]
    pub(crate) fn not_before(self, asked: Option<Duration>, ctx: &Context<'_>) -> Self {
        let asked = asked.map(|asked| ctx.now + asked.min(ctx.settings.retry_interval_max));
        Self { at: asked.map_or(self.at, |asked| asked.max(self.at)), ..self }
    }
}

/// The backoff after the `failures`-th failure in a row: between half of the exponential value and all of it, so that
/// objects that failed together do not come back together.
fn delay(failures: u32, ctx: &Context<'_>) -> Duration {
    let doublings = failures.saturating_sub(1).min(32);
    let full = ctx
        .settings
        .retry_interval_start
        .saturating_mul(2u32.saturating_pow(doublings))
        .min(ctx.settings.retry_interval_max);
    full.mul_f64(0.5 + ctx.jitter.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn nth_delay(settings: &Settings, failures: u32, jitter: f64) -> Duration {
        let ctx = Context {
            now: Time::default(),
            settings,
            jitter,
            by_name_missing: false,
            predecessor_done: Time::default(),
            may_act: true,
        };
        delay(failures, &ctx)
    }

    #[test]
    fn backoff_doubles_from_the_start_value() {
        let settings = Settings::default();
        let full: Vec<_> = (1..=5).map(|n| nth_delay(&settings, n, 1.0).as_secs()).collect();
        assert_eq!(full, [1, 2, 4, 8, 16]);
    }

    #[test]
    fn jitter_takes_away_at_most_half() {
        let settings = Settings::default();
        assert_eq!(nth_delay(&settings, 3, 0.0), Duration::from_secs(2));
        assert_eq!(nth_delay(&settings, 3, 0.5), Duration::from_secs(3));
    }

    #[test]
    fn c22_backoff_never_exceeds_the_configured_maximum() {
        let settings = Settings::default();
        for failures in [0, 1, 9, 10, 33, 1000, u32::MAX] {
            for jitter in [0.0, 0.3, 1.0, 7.0, f64::MAX] {
                assert!(nth_delay(&settings, failures, jitter) <= settings.retry_interval_max);
            }
        }
    }
}
