//! R15: what is still done when the lease is lost.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rstest::rstest;

use super::step::{Answers, answer, any_answers, view};
use super::world::Spec;
use crate::bucket::state::Sent;
use crate::bucket::{BucketState, BucketView, Call, CallOk, Effect, Event};
use crate::{Code, Context, Failure, Machine as _, Settings, Time, Wake, WriteFailure};

const DELETED: Event = Event::Called(Ok(CallOk::Deleted));

fn context(settings: &Settings, may_act: bool) -> Context<'_> {
    Context {
        now: Time::at(Duration::from_secs(100)),
        settings,
        jitter: 0.5,
        by_name_missing: false,
        predecessor_done: Time::default(),
        may_act,
    }
}

fn step(state: &mut BucketState, view: Option<&Arc<BucketView>>, event: Event, may_act: bool) -> Effect {
    state.step(view, event, &context(&Settings::default(), may_act)).unwrap()
}

/// A Bucket for which a Create is under way; the lease is lost meanwhile.
fn creating(spec: Spec) -> (BucketState, Arc<BucketView>) {
    let bucket = Arc::new(BucketView { finalizer: true, ..view(spec) });
    let mut state = BucketState::default();
    state.backend.sent = Sent::Nothing;
    assert_eq!(step(&mut state, Some(&bucket), Event::Start(Wake::CHANGED), true), Effect::Read);
    let effect = step(&mut state, Some(&bucket), Event::Read(Ok(())), true);
    assert!(matches!(effect, Effect::Call(Call::Create(_))), "{effect:?}");
    (state, bucket)
}

fn made(id: &str) -> Event {
    let protocols = vec![cosi_api::ObjectProtocol::S3];
    Event::Called(Ok(CallOk::Bucket { id: id.to_owned(), protocols, info: [].into() }))
}

#[test]
fn what_was_made_for_a_bucket_that_is_gone_is_deleted_by_its_id() {
    let (mut state, bucket) = creating(Spec::DYNAMIC);
    assert_eq!(
        step(&mut state, Some(&bucket), made("id"), false),
        Effect::Read,
        "whether it is gone, a live read says"
    );
    let effect = step(&mut state, None, Event::Read(Ok(())), false);
    assert_eq!(
        effect,
        Effect::LastWill(Call::Delete { id: "id".into(), parameters: bucket.parameters.clone() })
    );
    assert_eq!(step(&mut state, None, DELETED, false), Effect::Done);
}

/// The next leader finds it, and looks after it.
#[test]
fn a_bucket_that_is_still_there_is_left_to_the_next_leader() {
    let (mut state, bucket) = creating(Spec::DYNAMIC);
    step(&mut state, Some(&bucket), made("id"), false);
    assert_eq!(step(&mut state, Some(&bucket), Event::Read(Ok(())), false), Effect::Done);
    // So is one that somebody made anew under the name.
    let (mut state, bucket) = creating(Spec::DYNAMIC);
    step(&mut state, Some(&bucket), made("id"), false);
    let other = Arc::new(BucketView { uid: "other".into(), ..view(Spec::DYNAMIC) });
    assert_eq!(step(&mut state, Some(&other), Event::Read(Ok(())), false), Effect::Done);
}

/// Without an OK there is no id, and by the name a successor may be at work.
#[rstest]
#[case::refused(Failure::Answered { code: Code::InvalidArgument, message: String::new() })]
#[case::unknown(Failure::NoAnswer { code: Code::DeadlineExceeded, message: String::new() })]
#[case::the_lease_was_lost_before_it_left(Failure::NotSent { message: String::new() })]
fn without_an_id_nothing_is_done(#[case] failure: Failure) {
    let (mut state, _) = creating(Spec::DYNAMIC);
    assert_eq!(step(&mut state, None, Event::Called(Err(failure)), false), Effect::Done);
}

#[test]
fn a_bucket_to_be_retained_stays() {
    let (mut state, _) = creating(Spec::RETAIN);
    assert_eq!(step(&mut state, None, made("id"), false), Effect::Done);
}

/// The write that records an id was decided on before the loss, and was not sent any more.
#[test]
fn a_write_that_did_not_leave_is_decided_on_again() {
    let (mut state, bucket) = creating(Spec::DYNAMIC);
    let effect = step(&mut state, Some(&bucket), made("id"), true);
    assert!(matches!(effect, Effect::WriteStatus { .. }), "{effect:?}");
    let refused = Event::Wrote(Err(WriteFailure::Conflict));
    assert_eq!(step(&mut state, Some(&bucket), refused, false), Effect::Read);
    let effect = step(&mut state, None, Event::Read(Ok(())), false);
    assert!(matches!(effect, Effect::LastWill(_)), "{effect:?}");
}

/// A driver that will not delete it is not asked twice.
#[test]
fn it_is_tried_once() {
    let (mut state, bucket) = creating(Spec::DYNAMIC);
    step(&mut state, Some(&bucket), made("id"), false);
    step(&mut state, None, Event::Read(Ok(())), false);
    let failed = Failure::Answered { code: Code::Internal, message: "no".to_owned() };
    assert_eq!(step(&mut state, None, Event::Called(Err(failed)), false), Effect::Read);
    assert_eq!(step(&mut state, None, Event::Read(Ok(())), false), Effect::Done);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was known when the lease was lost: afterwards nothing is written and nobody told, and the one kind of call is
    /// a deletion, by an id of an own answer, of what belonged to a Bucket that a live read has just shown to be gone.
    #[test]
    fn nothing_else_is_done_without_the_lease(
        before in proptest::collection::vec(any_answers(), 1..30),
        after in proptest::collection::vec(any_answers(), 1..12),
    ) {
        let mut state = BucketState::default();
        let mut effect = Effect::Done;
        let mut learnt = Vec::new();
        for with in before {
            let event = answer(&effect, &with);
            learnt.extend(id_of(&event));
            effect = step(&mut state, with.view.as_ref(), event, true);
        }
        for with in after {
            let Answers { view, .. } = &with;
            let event = answer(&effect, &with);
            learnt.extend(id_of(&event));
            let looked = event == Event::Read(Ok(()));
            effect = step(&mut state, view.as_ref(), event, false);
            match &effect {
                Effect::Read | Effect::Done => {}
                Effect::LastWill(Call::Delete { id, .. }) => {
                    prop_assert!(looked && view.is_none(), "it is not known to be gone");
                    prop_assert!(learnt.contains(&id.to_string()), "{} is not from an own answer", id);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}

fn id_of(event: &Event) -> Option<String> {
    match event {
        Event::Called(Ok(CallOk::Bucket { id, .. })) => Some(id.clone()),
        _ => None,
    }
}
