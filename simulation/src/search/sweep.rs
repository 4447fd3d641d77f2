//! Schedules one by one: every fault at every step, with the deletion at every step; and pairs of faults.

use std::collections::HashSet;
use std::time::Duration;

use cosi_lifecycle::Code;

use crate::schedule::{Act, ApiFault, CallFault, Death, DriverKind, Fault, Move, SLOW, Schedule, Story};
use crate::{SetupError, Sort, run};

/// How late watches are in the sweep of single faults: not at all, and so that what is known is old at every step.
const LAGS: [Duration; 2] = [Duration::ZERO, Duration::from_millis(1500)];

const STORIES: [Story; 2] = [Story::Bucket, Story::Access];

/// A schedule in which nothing goes wrong.
#[must_use]
pub const fn calm(story: Story, driver: DriverKind) -> Schedule {
    Schedule { seed: 0, story, driver, sidecars: 1, lag: Duration::ZERO, moves: Vec::new() }
}

/// Every fault at every step of both stories, with the deletion before every step, or at the end; with every driver, with
/// watches that are late and with those that are not.
///
/// # Errors
/// The world could not be made: runs without a fault say what steps there are.
pub fn singles() -> Result<Vec<Schedule>, SetupError> {
    let mut all = Vec::new();
    for (lag, (story, driver)) in LAGS.into_iter().flat_map(|lag| lives().map(move |life| (lag, life))) {
        let calm = Schedule { lag, ..calm(story, driver) };
        for calm in with_deletions(&calm)? {
            all.extend(at_every_step(&calm, faults)?);
            all.push(calm);
        }
    }
    all.extend(changes_of_leader()?);
    Ok(number(all))
}

/// Longer than a lease, so that the leader has a successor when it wakes up.
const LONG: Duration = Duration::from_secs(20);
/// After its arrival: just before deadline and grace are over.
const LATEST: Duration = Duration::from_millis(2980);

/// Two sidecars, of which the leader stands still or dies at every step of both stories, with the deletion before every step,
/// or at the end; and the leader is stopped while a step goes wrong, with the deletion at that step, or at the end. With every
/// driver.
fn changes_of_leader() -> Result<Vec<Schedule>, SetupError> {
    let faults = [
        Fault::Pause(LONG),
        Fault::Freeze(LONG),
        Fault::Death(Death::Before),
        Fault::Death(Death::After),
        Fault::Death(Death::During(LATEST)),
    ];
    let fitting = |sort| faults.into_iter().filter(|fault| fault.fits(sort)).collect();
    let mut all = Vec::new();
    for (story, driver) in lives() {
        let calm = Schedule { sidecars: 2, ..calm(story, driver) };
        for calm in with_deletions(&calm)? {
            all.extend(at_every_step(&calm, fitting)?);
        }
        for (step, sort) in run(&calm)?.sorts.into_iter().enumerate() {
            let mut stopped = calm.clone();
            stopped.moves.push((at(step), Move::Act(Act::Stop)));
            let deleted = with_deletion(stopped.clone(), Some(step));
            for stopped in [stopped, deleted] {
                all.extend(few(sort).into_iter().map(|fault| with(&stopped, step, fault)));
            }
        }
    }
    Ok(all)
}

/// Every pair of faults, one of each class, at every two steps; with every driver.
///
/// # Errors
/// The world could not be made: runs with the first fault say what steps follow.
pub fn pairs() -> Result<Vec<Schedule>, SetupError> {
    let mut all = Vec::new();
    for (story, driver) in lives() {
        let calm = calm(story, driver);
        for (step, sort) in run(&calm)?.sorts.into_iter().enumerate() {
            for first in few(sort).into_iter().map(|fault| with(&calm, step, fault)) {
                let sorts = run(&first)?.sorts;
                for (later, sort) in sorts.into_iter().enumerate().skip(step + 1) {
                    all.extend(few(sort).into_iter().map(|fault| with(&first, later, fault)));
                }
            }
        }
    }
    Ok(number(all))
}

/// How many of the schedules differ in more than their number.
pub fn distinct<'a>(schedules: impl Iterator<Item = &'a Schedule>) -> usize {
    schedules.map(|schedule| Schedule { seed: 0, ..schedule.clone() }).collect::<HashSet<_>>().len()
}

fn lives() -> impl Iterator<Item = (Story, DriverKind)> {
    STORIES.into_iter().flat_map(|story| DriverKind::ALL.into_iter().map(move |driver| (story, driver)))
}

/// The schedule as it is, and with the deletion before each of its steps.
fn with_deletions(calm: &Schedule) -> Result<Vec<Schedule>, SetupError> {
    let steps = run(calm)?.sorts.len();
    let deletions = std::iter::once(None).chain((0..steps).map(Some));
    Ok(deletions.map(|deletion| with_deletion(calm.clone(), deletion)).collect())
}

/// The schedule with each of those faults at each of its steps.
fn at_every_step(calm: &Schedule, faults: impl Fn(Sort) -> Vec<Fault>) -> Result<Vec<Schedule>, SetupError> {
    let mut all = Vec::new();
    for (step, sort) in run(calm)?.sorts.into_iter().enumerate() {
        all.extend(faults(sort).into_iter().map(|fault| with(calm, step, fault)));
    }
    Ok(all)
}

fn with_deletion(mut schedule: Schedule, step: Option<usize>) -> Schedule {
    schedule.moves.extend(step.map(|step| (at(step), Move::Act(Act::Delete))));
    schedule
}

fn with(schedule: &Schedule, step: usize, fault: Fault) -> Schedule {
    let mut schedule = schedule.clone();
    schedule.moves.push((at(step), Move::Fault(fault)));
    schedule.moves.sort_by_key(|(step, _)| *step);
    schedule
}

fn at(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}

/// Each is known by its number.
fn number(mut all: Vec<Schedule>) -> Vec<Schedule> {
    for (number, schedule) in (0..).zip(&mut all) {
        schedule.seed = number;
    }
    all
}

/// Every fault that such a step can meet.
fn faults(sort: Sort) -> Vec<Fault> {
    let deaths = Death::ALL.into_iter().map(Fault::Death).filter(|death| death.fits(sort));
    match sort {
        Sort::Read => ApiFault::OF_READS.into_iter().map(Fault::Api).chain(deaths).collect(),
        Sort::Write => ApiFault::OF_WRITES.into_iter().map(Fault::Api).chain(deaths).collect(),
        Sort::Call => CallFault::all().into_iter().map(Fault::Call).chain(deaths).collect(),
    }
}

/// One fault of each class that the sidecar can tell apart.
fn few(sort: Sort) -> Vec<Fault> {
    let late = Duration::from_millis(980);
    let mut all = vec![Fault::Death(Death::Before), Fault::Death(Death::After)];
    match sort {
        Sort::Read => all.push(Fault::Api(ApiFault::Lost)),
        Sort::Write => {
            let faults = [
                ApiFault::Lost,
                ApiFault::AnswerLost,
                ApiFault::Refused(409),
                ApiFault::Refused(422),
                ApiFault::DoneBut(500),
                ApiFault::Later(Duration::from_millis(400)),
                ApiFault::Slow(SLOW),
            ];
            all.extend(faults.map(Fault::Api));
        }
        Sort::Call => {
            let faults = [
                CallFault::Fails(Code::Internal),
                CallFault::Fails(Code::InvalidArgument),
                CallFault::Fails(Code::NotFound),
                CallFault::DoneBut(Code::Internal),
                CallFault::Half(Code::Internal),
                CallFault::Later(Code::Internal, late),
                CallFault::Hangs,
                CallFault::LandsLate(late),
                CallFault::DoneAndCut,
                CallFault::DoneAndCrash,
                CallFault::Replaced,
            ];
            all.extend(faults.map(Fault::Call));
            all.push(Fault::Death(Death::During(LATEST)));
        }
    }
    all
}
