//! Tests of the Bucket machine in a small world: sweeps over every effect, the schedules that each rule is there for, and
//! seeded bugs that the oracles must catch.

mod cases;
mod random;
mod scenarios;
mod schedules;
mod seeded;
mod step;
mod sweep;
mod will;
mod world;
