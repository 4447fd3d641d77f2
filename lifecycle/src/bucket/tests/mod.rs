//! Tests of the Bucket machine in a small world: sweeps over every effect, the schedules that each rule is there for, and
//! seeded bugs that the oracles must catch.

mod scenarios;
mod sweep;
mod world;
