//! The election by tables, and several electors in a small world where everything can be late, lost or stopped.

mod foreign;
mod properties;
mod table;
mod world;

use std::time::Duration;

use super::{Moment, Stamp, Terms};
use crate::Time;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Two seconds; renewals at 300 ms, and no longer than 1500 ms without one.
fn terms() -> Terms {
    Terms::new(ms(2000), ms(1500), ms(300)).unwrap()
}

fn at(millis: u64) -> Moment {
    Moment { now: Time::at(ms(millis)), wall: Stamp::of_micros(i64::try_from(millis).unwrap()) }
}
