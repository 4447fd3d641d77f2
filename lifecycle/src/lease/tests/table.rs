//! One elector, event by event.

use rstest::rstest;

use super::super::{
    Effect, Election, End, Event, Found, InvalidTerms, Loss, Record, Standing, Terms, Unreadable, Write,
    Written,
};
use super::{at, ms, terms};
use crate::Time;

const ME: &str = "me_1";
const OTHER: &str = "other_1";

fn record(holder: &str, seconds: i32) -> Record {
    Record { holder: holder.into(), seconds, transitions: 4, ..Record::default() }
}

fn found(record: Record, version: &str) -> Found {
    Found { record, version: version.into() }
}

fn time(millis: u64) -> Time {
    Time::at(ms(millis))
}

/// An elector that has read this at 1000 ms, and what it does about it.
fn after_reading(lease: Option<Found>) -> (Election, Effect) {
    let mut election = Election::new(ME, terms());
    let first = election.step(Event::Start, at(900)).unwrap();
    assert_eq!(first, Effect::Read { by: time(1500) });
    let effect = election.step(Event::Read(Ok(lease)), at(1000)).unwrap();
    (election, effect)
}

/// A leader since 1100 ms by a write that was sent at 1000 ms.
fn leader() -> Election {
    let (mut election, effect) = after_reading(None);
    let Effect::Write { write: Write::Create(record), .. } = effect else { panic!("{effect:?}") };
    let effect = election.step(Event::Wrote(Written::Done(found(record, "5"))), at(1100)).unwrap();
    assert_eq!(effect, Effect::Wait(time(1300)), "renewals are counted from when they are sent");
    election
}

/// A leader whose renewal was sent at 1300 ms; what it wrote.
fn renewing() -> (Election, Record) {
    let mut election = leader();
    match election.step(Event::Timer, at(1300)).unwrap() {
        Effect::Write { write: Write::Update { version, record }, by } => {
            assert_eq!((&*version, by), ("5", time(1900)));
            (election, record)
        }
        other => panic!("{other:?}"),
    }
}

fn end_of(election: &mut Election, event: Event, millis: u64) -> End {
    match election.step(event, at(millis)).unwrap() {
        Effect::End(end) => end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lease_that_is_not_there_is_made() {
    let (election, effect) = after_reading(None);
    let Effect::Write { write: Write::Create(record), by } = effect else { panic!("{effect:?}") };
    assert_eq!((&*record.holder, record.seconds, record.transitions), (ME, 2, 0));
    assert_eq!(record.acquired, record.renewed);
    assert_eq!(by, time(1600));
    assert_eq!(election.standing(), Standing::Candidate { holder: None }, "nothing is known to be ours yet");
}

/// A clean hand-over, ours or client-go's.
#[test]
fn a_lease_without_holder_is_taken_at_once_and_by_its_version() {
    let (_, effect) = after_reading(Some(found(record("", 1), "7")));
    let Effect::Write { write: Write::Update { version, record }, .. } = effect else { panic!("{effect:?}") };
    assert_eq!((&*version, &*record.holder, record.transitions), ("7", ME, 5));
}

/// The record's own duration counts, from when *we* first saw it; where it names none that can be meant, ours does.
#[rstest]
#[case::its_own(9, 9000)]
#[case::missing(0, 2000)]
#[case::negative(-1, 2000)]
#[case::absurd(i32::MAX, 2000)]
fn a_lease_that_is_held_is_taken_when_it_was_silent_for_its_own_duration(
    #[case] seconds: i32,
    #[case] waits: u64,
) {
    let (mut election, effect) = after_reading(Some(found(record(OTHER, seconds), "7")));
    assert_eq!(effect, Effect::Wait(time(1000 + waits)));
    assert_eq!(election.standing(), Standing::Candidate { holder: Some(OTHER) });
    let effect = election.step(Event::Timer, at(1000 + waits)).unwrap();
    assert!(matches!(effect, Effect::Write { write: Write::Update { version, .. }, .. } if &*version == "7"));
}

/// Only the record is a sign of life, not the object around it.
#[test]
fn a_label_buys_the_holder_no_time_but_a_renewal_does() {
    let held = record(OTHER, 9);
    let (mut election, _) = after_reading(Some(found(held.clone(), "7")));
    let labelled = Event::Seen(Some(found(held.clone(), "8")));
    assert_eq!(election.step(labelled, at(2000)).unwrap(), Effect::Wait(time(10_000)));
    let renewed = Record { renewed: Some(at(1).wall), ..held };
    let effect = election.step(Event::Seen(Some(found(renewed, "9"))), at(3000)).unwrap();
    assert_eq!(effect, Effect::Wait(time(12_000)));
    let effect = election.step(Event::Timer, at(12_000)).unwrap();
    assert!(matches!(effect, Effect::Write { write: Write::Update { version, .. }, .. } if &*version == "9"));
}

/// Somebody deletes the Lease: whoever held it may not know yet.
#[test]
fn a_lease_that_vanishes_while_held_is_made_again_only_when_its_holders_time_is_over() {
    let (mut election, _) = after_reading(Some(found(record(OTHER, 9), "7")));
    assert_eq!(election.step(Event::Seen(None), at(4000)).unwrap(), Effect::Wait(time(10_000)));
    assert!(
        matches!(election.step(Event::Timer, at(5000)).unwrap(), Effect::Read { .. }),
        "nothing tells of changes"
    );
    assert_eq!(election.step(Event::Read(Ok(None)), at(5001)).unwrap(), Effect::Wait(time(10_000)));
    let effect = election.step(Event::Timer, at(10_000)).unwrap();
    assert!(matches!(effect, Effect::Write { write: Write::Create(_), .. }));
}

#[test]
fn who_comes_second_reads_and_waits() {
    let (mut election, _) = after_reading(None);
    assert!(matches!(election.step(Event::Wrote(Written::Conflict), at(1100)).unwrap(), Effect::Read { .. }));
    let theirs = Event::Read(Ok(Some(found(record(OTHER, 9), "6"))));
    assert_eq!(election.step(theirs, at(1200)).unwrap(), Effect::Wait(time(10_200)));
}

#[test]
fn a_conflict_that_changed_nothing_is_not_repeated_at_once() {
    let nobodys = found(record("", 1), "7");
    let (mut election, _) = after_reading(Some(nobodys.clone()));
    election.step(Event::Wrote(Written::Conflict), at(1100)).unwrap();
    assert_eq!(election.step(Event::Read(Ok(Some(nobodys))), at(1100)).unwrap(), Effect::Wait(time(1175)));
    let mut election = leader();
    let Effect::Write { write: Write::Update { record, .. }, .. } =
        election.step(Event::Timer, at(1300)).unwrap()
    else {
        panic!("no renewal")
    };
    election.step(Event::Wrote(Written::Conflict), at(1310)).unwrap();
    let same = Event::Read(Ok(Some(found(record, "5"))));
    assert_eq!(election.step(same, at(1320)).unwrap(), Effect::Wait(time(1395)));
}

/// The first write was taken for lost.
#[test]
fn an_own_taking_that_landed_late_counts_only_from_a_write_that_is_known_to_have_succeeded() {
    let (mut election, effect) = after_reading(None);
    let Effect::Write { write: Write::Create(record), .. } = effect else { panic!("{effect:?}") };
    assert_eq!(election.step(Event::Wrote(Written::Unknown), at(1600)).unwrap(), Effect::Wait(time(1900)));
    let landed = Event::Seen(Some(found(record.clone(), "5")));
    let effect = election.step(landed, at(1700)).unwrap();
    let Effect::Write { write: Write::Update { version, record: again }, .. } = effect else {
        panic!("{effect:?}")
    };
    assert_eq!((&*version, again.acquired, again.transitions), ("5", record.acquired, 0));
    assert!(matches!(election.standing(), Standing::Candidate { holder: None }));
    election.step(Event::Wrote(Written::Done(found(again, "6"))), at(1800)).unwrap();
    let Standing::Leading(term) = election.standing() else { panic!("{:?}", election.standing()) };
    assert_eq!((term.since, term.act_until, term.end), (time(1800), time(3200), time(3700)));
}

#[test]
fn a_taking_whose_answer_comes_after_its_term_is_worth_nothing() {
    let (mut election, effect) = after_reading(None);
    let Effect::Write { write: Write::Create(record), .. } = effect else { panic!("{effect:?}") };
    let late = Event::Wrote(Written::Done(found(record, "5")));
    assert_eq!(end_of(&mut election, late, 2500), End::Lost(Loss::NotRenewed));
}

/// R15.
#[test]
fn a_term_counts_from_when_the_renewal_was_sent() {
    let (mut election, record) = renewing();
    assert_eq!(record.transitions, 0);
    let Standing::Leading(before) = election.standing() else { panic!("not leading") };
    assert_eq!(
        (before.act_until, before.end),
        (time(2500), time(3000)),
        "a renewal on its way changes nothing"
    );
    let effect = election.step(Event::Wrote(Written::Done(found(record, "6"))), at(1500)).unwrap();
    assert_eq!(effect, Effect::Wait(time(1600)));
    let Standing::Leading(after) = election.standing() else { panic!("not leading") };
    assert_eq!((after.since, after.act_until, after.end), (time(1100), time(2800), time(3300)));
}

/// R15: paused, starved or cut off, it makes no difference.
#[rstest]
#[case::the_timer(Event::Timer)]
#[case::news(Event::Seen(None))]
fn a_leader_that_wakes_after_its_deadline_has_lost(#[case] event: Event) {
    assert_eq!(end_of(&mut leader(), event, 2500), End::Lost(Loss::NotRenewed));
}

/// Whoever looked at the clock in between has stopped working.
#[test]
fn a_renewal_that_is_answered_after_the_deadline_comes_too_late() {
    let (mut election, record) = renewing();
    let late = Event::Wrote(Written::Done(found(record, "6")));
    assert_eq!(end_of(&mut election, late, 2500), End::Lost(Loss::NotRenewed));
}

#[test]
fn a_renewal_without_certain_outcome_is_looked_into_and_sent_again() {
    let (mut election, record) = renewing();
    assert!(matches!(election.step(Event::Wrote(Written::Unknown), at(1900)).unwrap(), Effect::Read { .. }));
    let landed = Event::Read(Ok(Some(found(record, "6"))));
    let effect = election.step(landed, at(1950)).unwrap();
    let Effect::Write { write: Write::Update { version, .. }, by } = effect else { panic!("{effect:?}") };
    assert_eq!((&*version, by), ("6", time(2500)), "no request outlives the term");
    let Standing::Leading(term) = election.standing() else { panic!("not leading") };
    assert_eq!(term.act_until, time(2500), "that the first one landed is no news of when");
}

#[test]
fn a_leader_that_cannot_reach_the_api_server_tries_until_its_deadline() {
    let (mut election, _) = renewing();
    let mut now = 1350;
    let mut effect = election.step(Event::Wrote(Written::Unknown), at(now)).unwrap();
    let mut tries = 0;
    let end = loop {
        effect = match effect {
            Effect::Read { .. } => {
                tries += 1;
                now += 1;
                election.step(Event::Read(Err(Unreadable)), at(now)).unwrap()
            }
            Effect::Wait(until) => {
                now = u64::try_from(until.since_origin().as_millis()).unwrap();
                election.step(Event::Timer, at(now)).unwrap()
            }
            Effect::End(end) => break end,
            other @ Effect::Write { .. } => panic!("{other:?}"),
        };
    };
    assert_eq!((end, now), (End::Lost(Loss::NotRenewed), 2500));
    assert!((12..20).contains(&tries), "{tries}");
}

#[rstest]
#[case::taken(Some(record(OTHER, 9)), Loss::Taken { by: OTHER.into() })]
#[case::emptied(Some(record("", 1)), Loss::Emptied)]
#[case::deleted(None, Loss::Deleted)]
fn a_leader_that_reads_that_the_lease_is_not_its_own_has_lost_at_once(
    #[case] now: Option<Record>,
    #[case] loss: Loss,
) {
    let lease = now.map(|record| found(record, "9"));
    let mut election = leader();
    // News may be old; so it is read.
    assert!(matches!(election.step(Event::Seen(lease.clone()), at(1200)).unwrap(), Effect::Read { .. }));
    assert_eq!(end_of(&mut election, Event::Read(Ok(lease)), 1210), End::Lost(loss));
}

#[test]
fn a_renewal_that_finds_no_lease_has_lost_it() {
    let (mut election, _) = renewing();
    assert_eq!(end_of(&mut election, Event::Wrote(Written::NotFound), 1400), End::Lost(Loss::Deleted));
}

#[test]
fn old_news_of_own_writes_are_no_news_but_another_duration_is_put_right_at_once() {
    let mut election = leader();
    let old = Event::Seen(Some(found(record(ME, 2), "3")));
    assert_eq!(election.step(old, at(1150)).unwrap(), Effect::Wait(time(1300)));
    let edited = found(record(ME, 1), "9");
    assert!(matches!(
        election.step(Event::Seen(Some(edited.clone())), at(1160)).unwrap(),
        Effect::Read { .. }
    ));
    let effect = election.step(Event::Read(Ok(Some(edited))), at(1170)).unwrap();
    let Effect::Write { write: Write::Update { version, record }, .. } = effect else { panic!("{effect:?}") };
    assert_eq!((&*version, record.seconds), ("9", 2));
}

/// As client-go gives it back, so that its electors take it at once.
#[test]
fn a_clean_stop_empties_the_holder() {
    let mut election = leader();
    let effect = election.step(Event::Stop, at(1200)).unwrap();
    let Effect::Write { write: Write::Update { version, record }, .. } = effect else { panic!("{effect:?}") };
    assert_eq!((&*version, &*record.holder, record.seconds, record.transitions), ("5", "", 1, 0));
    assert_eq!(end_of(&mut election, Event::Wrote(Written::Done(found(record, "6"))), 1250), End::Released);
}

#[rstest]
#[case::lost(Written::Unknown)]
#[case::overtaken(Written::Conflict)]
fn a_giving_back_without_success_is_looked_into_and_repeated(#[case] first: Written) {
    let mut election = leader();
    let Effect::Write { write: Write::Update { record, .. }, .. } =
        election.step(Event::Stop, at(1200)).unwrap()
    else {
        panic!("nothing is given back")
    };
    assert!(matches!(election.step(Event::Wrote(first), at(1250)).unwrap(), Effect::Read { .. }));
    let still_ours = found(Record { holder: ME.into(), ..record }, "8");
    let effect = election.step(Event::Read(Ok(Some(still_ours))), at(1260)).unwrap();
    assert!(matches!(effect, Effect::Write { write: Write::Update { version, .. }, .. } if &*version == "8"));
    assert_eq!(end_of(&mut election, Event::Wrote(Written::NotFound), 1300), End::NotReleased);
}

#[test]
fn who_stands_by_leaves_without_a_word() {
    let (mut election, _) = after_reading(Some(found(record(OTHER, 9), "7")));
    assert_eq!(end_of(&mut election, Event::Stop, 1100), End::Withdrawn);
    assert_eq!(end_of(&mut Election::new(ME, terms()), Event::Stop, 1), End::Withdrawn);
}

#[test]
fn an_event_that_answers_no_effect_is_an_error_and_changes_nothing() {
    let mut election = leader();
    let before = election.standing();
    let before = format!("{before:?}");
    let error = election.step(Event::Wrote(Written::Conflict), at(1200)).unwrap_err();
    assert_eq!(error.to_string(), "event Wrote cannot follow Resting");
    assert_eq!(format!("{:?}", election.standing()), before);
}

#[rstest]
#[case(0, 0, 0, Err(InvalidTerms::Duration))]
#[case(1500, 1000, 100, Err(InvalidTerms::Duration))]
#[case(2_593_000_000, 1000, 100, Err(InvalidTerms::Duration))]
#[case(2000, 2000, 100, Err(InvalidTerms::Deadline))]
#[case(2000, 1200, 1000, Err(InvalidTerms::Retry))]
#[case(2000, 1000, 0, Err(InvalidTerms::Retry))]
#[case(2000, 1201, 1000, Ok(()))]
#[case(15_000, 10_000, 5000, Ok(()))]
fn terms_must_fit_together(
    #[case] duration: u64,
    #[case] deadline: u64,
    #[case] retry: u64,
    #[case] expected: Result<(), InvalidTerms>,
) {
    assert_eq!(Terms::new(ms(duration), ms(deadline), ms(retry)).map(drop), expected);
}
