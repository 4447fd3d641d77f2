//! The step by itself: events that cannot be, and properties over random events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rstest::rstest;

use super::world::Spec;
use crate::bucket::state::{Awaiting, Purpose, Sent};
use crate::bucket::{BucketAnswer, BucketState, BucketView, Call, CallOk, Claim, Effect, Event, StatusWrite};
use crate::inflight::Sending;
use crate::testing::Api;
use crate::{Code, Context, Failure, Machine as _, Settings, Time, Wake, WriteFailure};

pub(super) fn view(spec: Spec) -> BucketView {
    let mut api = Api::new();
    api.create(spec);
    (*api.view().unwrap()).clone()
}

fn call() -> Call {
    Call::Delete { id: "id".into(), parameters: None }
}

fn all_awaiting() -> Vec<Awaiting> {
    vec![
        Awaiting::Nothing,
        Awaiting::Read,
        Awaiting::Claim,
        Awaiting::Intent,
        Awaiting::Removal,
        Awaiting::Recording,
        Awaiting::Reporting,
        Awaiting::Call(Sending { call: call(), before: Sent::Nothing, purpose: Purpose::Undo }),
        Awaiting::Tell,
    ]
}

fn all_events() -> Vec<Event> {
    vec![
        Event::Start(Wake::CHANGED.and(Wake::CONNECTED)),
        Event::Read(Ok(())),
        Event::Claim(Claim::Leaving),
        Event::Wrote(Ok(())),
        Event::Called(Ok(CallOk::Deleted)),
        Event::Told,
    ]
}

fn fits(awaiting: &Awaiting, event: &Event) -> bool {
    matches!(
        (awaiting, event),
        (Awaiting::Nothing, Event::Start { .. })
            | (Awaiting::Read, Event::Read(_))
            | (Awaiting::Claim, Event::Claim(_))
            | (Awaiting::Call(_), Event::Called(_))
            | (Awaiting::Tell, Event::Told)
            | (
                Awaiting::Intent | Awaiting::Removal | Awaiting::Recording | Awaiting::Reporting,
                Event::Wrote(_)
            )
    )
}

fn context(settings: &Settings, now: u64) -> Context<'_> {
    let now = Time::at(Duration::from_secs(now));
    Context {
        now,
        settings,
        jitter: 0.5,
        by_name_missing: false,
        predecessor_done: Time::default(),
        may_act: true,
    }
}

#[test]
fn an_event_that_answers_no_effect_is_an_error_and_changes_nothing() {
    let view = Arc::new(view(Spec::DYNAMIC));
    let settings = Settings::default();
    for awaiting in all_awaiting() {
        for event in all_events() {
            let mut state = BucketState::default();
            state.pass.awaiting = awaiting.clone();
            state.backend.ids.push("id".into());
            let before = state.clone();
            let result = state.step(Some(&view), event.clone(), &context(&settings, 1));
            assert_eq!(result.is_ok(), fits(&awaiting, &event), "{awaiting:?} {event:?}");
            if let Err(error) = result {
                assert_eq!(state, before);
                assert!(error.to_string().starts_with("event "), "{error}");
            }
        }
    }
}

#[rstest]
#[case::c19_after_its_deletion(true)]
#[case::never_seen_before(false)]
fn c19_a_stale_event_of_a_bucket_that_is_gone_creates_nothing(#[case] deleted_by_us: bool) {
    let stale = Arc::new(BucketView { finalizer: true, ..view(Spec::DYNAMIC) });
    let settings = Settings::default();
    let ctx = context(&settings, 1);
    let mut state = BucketState::default();
    if deleted_by_us {
        state.backend.owner = Some(Arc::clone(&stale));
        state.backend.gone = true;
        state.pass.awaiting = Awaiting::Removal;
        state.step(None, Event::Wrote(Ok(())), &ctx).unwrap();
    }
    let first = state.step(Some(&stale), Event::Start(Wake::CHANGED), &ctx).unwrap();
    assert_eq!(first, Effect::Read);
    assert_eq!(state.step(None, Event::Read(Ok(())), &ctx).unwrap(), Effect::Done);
    assert!(state.is_empty());
}

/// R9: the watch showed a wiped status before the write of it was answered, so no event comes any more. The answer is still
/// known, and is recorded once more after the backoff of that write; nothing is asked for.
#[test]
fn a_status_that_was_wiped_before_its_write_was_answered_is_recorded_once_more() {
    let wiped = Arc::new(BucketView { finalizer: true, ..view(Spec::DYNAMIC) });
    let settings = Settings::default();
    let answer = BucketAnswer {
        id: "id".to_owned().try_into().unwrap(),
        protocols: Vec::new(),
        info: BTreeMap::new(),
    };
    let mut state = BucketState::default();
    state.backend.owner = Some(Arc::clone(&wiped));
    state.backend.sent = Sent::Maybe;
    state.backend.answer = Some(answer.clone());
    state.pass.awaiting = Awaiting::Recording;
    let ctx = context(&settings, 1);
    let Effect::Wait(until) = state.step(Some(&wiped), Event::Wrote(Ok(())), &ctx).unwrap() else {
        panic!("it waits")
    };
    assert!(until > ctx.now && until <= ctx.now + Duration::from_secs(5), "{until:?}");
    let ctx = Context { now: until, ..ctx };
    let again = state.step(Some(&wiped), Event::Start(Wake::default()), &ctx).unwrap();
    let resource_version = wiped.resource_version.clone();
    assert_eq!(again, Effect::WriteStatus { resource_version, status: StatusWrite::Ready(answer) });
}

/// A view as different histories leave it.
fn any_view() -> impl Strategy<Value = Option<Arc<BucketView>>> {
    let spec = prop_oneof![Just(Spec::DYNAMIC), Just(Spec::STATIC), Just(Spec::RETAIN)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let status = prop_oneof![Just((None, None)), Just((Some(false), None)), Just((Some(true), Some("id")))];
    let some =
        (spec, flags, status, 0..2).prop_map(|(spec, (deleting, finalizer, claim, let_go), status, uid)| {
            Arc::new(BucketView {
                uid: format!("uid-{uid}").into(),
                deleting,
                finalizer,
                claim_deleting: claim,
                let_go: let_go && deleting,
                ready: status.0,
                bucket_id: status.1.map(Into::into),
                ..view(spec)
            })
        });
    proptest::option::weighted(0.85, some)
}

fn any_write_failure() -> impl Strategy<Value = WriteFailure> {
    let message = String::new;
    prop_oneof![
        Just(WriteFailure::Conflict),
        Just(WriteFailure::NotFound),
        Just(WriteFailure::Invalid { message: message() }),
        Just(WriteFailure::Forbidden { message: message() }),
        (0u64..100).prop_map(|s| WriteFailure::Other {
            message: String::new(),
            retry_after: Some(Duration::from_secs(s))
        }),
    ]
}

fn any_failure() -> impl Strategy<Value = Failure> {
    let code = || proptest::sample::select(Code::ALL.to_vec());
    prop_oneof![
        ".{0,9}".prop_map(|message| Failure::NotSent { message }),
        (code(), ".{0,9}").prop_map(|(code, message)| Failure::NoAnswer { code, message }),
        (code(), ".{0,9}").prop_map(|(code, message)| Failure::Answered { code, message }),
    ]
}

fn any_ok() -> impl Strategy<Value = CallOk> {
    let protocols = prop_oneof![Just(vec![]), Just(vec![cosi_api::ObjectProtocol::S3])];
    let bucket = ("[a-z ]{0,3}", protocols);
    prop_oneof![
        Just(CallOk::Deleted),
        bucket.prop_map(|(id, protocols)| CallOk::Bucket { id, protocols, info: [].into() })
    ]
}

/// An answer of each kind; the one that fits is taken.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    pub(super) view: Option<Arc<BucketView>>,
    write: Result<(), WriteFailure>,
    claim: Claim,
    call: Result<CallOk, Failure>,
    start: (bool, bool),
    passed: u64,
}

pub(super) fn any_answers() -> impl Strategy<Value = Answers> {
    let write = prop_oneof![2 => Just(Ok(())), 1 => any_write_failure().prop_map(Err)];
    let claim = prop_oneof![Just(Claim::Live), Just(Claim::Leaving), Just(Claim::Unreadable)];
    let call = prop_oneof![any_ok().prop_map(Ok), any_failure().prop_map(Err)];
    let start = (any::<bool>(), any::<bool>());
    (any_view(), write, claim, call, start, 0u64..700).prop_map(
        |(view, write, claim, call, start, passed)| Answers { view, write, claim, call, start, passed },
    )
}

pub(super) fn answer(effect: &Effect, with: &Answers) -> Event {
    match effect {
        Effect::Read => Event::Read(with.write.clone()),
        Effect::ReadClaim(_) => Event::Claim(with.claim),
        Effect::WriteFinalizers { .. } | Effect::WriteStatus { .. } => Event::Wrote(with.write.clone()),
        Effect::Call(_) | Effect::LastWill(_) => Event::Called(with.call.clone()),
        Effect::Tell(_) => Event::Told,
        Effect::Wait(_) | Effect::Done => {
            Event::Start(Wake { changed: with.start.0, connected: with.start.1, prerequisite: false })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever objects and answers come in whatever order: each step has an effect, nothing is called on an object that
    /// was not looked at, no Create is sent for a Ready Bucket, and an empty state may be dropped.
    #[test]
    fn random_answers_never_lead_astray(steps in proptest::collection::vec(any_answers(), 1..60)) {
        let settings = Settings::default();
        let mut state = BucketState::default();
        let mut effect = Effect::Done;
        let mut now = 1;
        let mut looked = false;
        for with in steps {
            if matches!(effect, Effect::Wait(_) | Effect::Done) {
                now += with.passed;
                prop_assert!(!state.is_calling());
            }
            let event = answer(&effect, &with);
            looked = match &event {
                Event::Read(Ok(())) | Event::Wrote(Ok(())) => true,
                Event::Claim(_) | Event::Read(Err(_)) | Event::Wrote(Err(_)) => looked,
                Event::Start { .. } | Event::Called(_) | Event::Told => false,
            };
            let ctx = context(&settings, now);
            if state.is_empty() && matches!(event, Event::Start { .. }) {
                let fresh = BucketState::default().step(with.view.as_ref(), event.clone(), &ctx).unwrap();
                let kept = state.clone().step(with.view.as_ref(), event.clone(), &ctx).unwrap();
                prop_assert_eq!(fresh, kept);
            }
            effect = state.step(with.view.as_ref(), event, &ctx).unwrap();
            prop_assert_eq!(matches!(effect, Effect::Call(_)), state.is_calling());
            if let Effect::Call(call) = &effect {
                prop_assert!(looked, "{:?} without a look", call);
                let ready = with.view.as_ref().is_some_and(|v| v.finalizer && v.is_ready() && !v.deleting);
                let create = matches!(call, Call::Create(_) | Call::GetExisting { .. });
                prop_assert!(!(create && ready), "{:?} for a Ready Bucket", call);
            }
        }
    }
}

#[test]
fn a_new_leader_that_waits_for_the_claim_knows_that_something_may_be_there() {
    let settings = Settings::default();
    let bucket = Arc::new(BucketView { finalizer: true, deleting: true, ..view(Spec::DYNAMIC) });
    let mut state = BucketState::default();
    let mut step =
        |view: Option<&Arc<BucketView>>, event| state.step(view, event, &context(&settings, 100)).unwrap();
    assert_eq!(step(Some(&bucket), Event::Start(Wake::CHANGED)), Effect::Read);
    assert!(matches!(step(Some(&bucket), Event::Read(Ok(()))), Effect::ReadClaim(_)));
    assert!(matches!(step(Some(&bucket), Event::Claim(Claim::Live)), Effect::Wait(_)));
    // The finalizer is stripped, and the object gone.
    let mut effect = step(None, Event::Start(Wake::CHANGED));
    while !matches!(effect, Effect::Call(_) | Effect::Done) {
        let event = if matches!(effect, Effect::Tell(_)) { Event::Told } else { Event::Read(Ok(())) };
        effect = step(None, event);
    }
    assert!(matches!(effect, Effect::Call(Call::DeleteByName(_))), "{effect:?}");
}
