//! Cases from the field (C numbers) that this rung can show by themselves.

use std::time::Duration;

use cosi_api::{BucketAccessMode, keys};

use super::scenarios::BASE;
use super::world::{Accesses, BUCKETS, Op, Reachable, SECRETS, Scenario, Spec, World};
use crate::access::{Call, Effect, Request, StatusWrite};
use crate::testing::Keys::{Piling, Rotating};
use crate::testing::Trigger::{self, AtOnce, Idle, Point};
use crate::testing::{ApiFault, CallFault, Crash, DriverKind, Fault, at_every_point};
use crate::{Code, NoteReason, Rpc};
use Rpc::{GrantBucketAccess as Grant, RevokeBucketAccess as Revoke};

fn scenario(ops: Vec<(Trigger, Op)>) -> Scenario {
    Scenario { name: "case", ops, ..BASE }
}

fn check(world: World) -> World {
    let world = world.traced().run();
    assert!(world.violations.is_empty(), "{:#?}\n{:#?}", world.violations, world.trace);
    world
}

fn run(ops: Vec<(Trigger, Op)>, kind: DriverKind, plan: &[(usize, Fault)]) -> World {
    check(World::new(&scenario(ops), kind, plan))
}

fn created_then(ops: Vec<(Trigger, Op)>) -> Vec<(Trigger, Op)> {
    [vec![(Idle, Op::Create(Spec::TWO))], ops].concat()
}

fn calls(world: &World) -> Vec<Rpc> {
    let call = |effect: &Effect| if let Effect::Call(call) = effect { Some(call.rpc()) } else { None };
    world.effects.iter().filter_map(call).collect()
}

fn granted(world: &World) -> &Request {
    let call = world.effects.iter().find_map(|effect| match effect {
        Effect::Call(Call::Grant(request)) => Some(request),
        _ => None,
    });
    call.expect("there is a Grant")
}

fn gone(world: &World) -> bool {
    let secrets = world.known.secrets.values().all(|secret| secret.view.owner.is_none());
    world.api.object.is_none() && world.backend.things.is_empty() && secrets
}

fn is_ready(world: &World) -> bool {
    world.api.object.as_ref().is_some_and(|o| o.view.is_ready())
}

#[test]
fn i9_grant_and_revoke_of_one_bucket_cost_seven_writes_and_two_calls() {
    let create = (Idle, Op::Create(Spec::ONE));
    let made = run(vec![create.clone()], DriverKind::GOOD, &[]);
    assert_eq!((made.writes, made.rpcs), (3, 1));
    let revoked = run(vec![create, (Idle, Op::Delete)], DriverKind::GOOD, &[]);
    assert_eq!((revoked.writes, revoked.rpcs), (7, 2));
}

#[test]
fn i9_a_restart_costs_a_ready_access_no_write_and_no_call() {
    // Effects 0 to 7 make it Ready; the next look at a Secret comes with the re-check, and the process dies there.
    let world = run(created_then(vec![]), DriverKind::GOOD, &[(8, Fault::Crash(Crash::Before))]);
    assert!(is_ready(&world));
    assert_eq!((world.writes, world.rpcs), (5, 1));
}

#[test]
fn c6_an_access_is_revocable_though_its_buckets_are_gone() {
    let ops =
        created_then(vec![(Idle, Op::Bucket(BUCKETS[0], Some(Reachable::Missing))), (AtOnce, Op::Delete)]);
    let world = run(ops, DriverKind::OPAQUE, &[]);
    assert!(gone(&world));
    assert_eq!(calls(&world), [Grant, Revoke]);
}

#[test]
fn c8_an_access_deleted_while_its_grant_fails_goes_and_leaves_no_account() {
    let ops = created_then(vec![
        (AtOnce, Op::Refuse(Some((Grant, Code::Internal)))),
        (Idle, Op::Refuse(None)),
        (AtOnce, Op::Delete),
    ]);
    for kind in [DriverKind::GOOD, DriverKind::OPAQUE_BARE] {
        let failing = Scenario { never_ready: true, ..scenario(ops.clone()) };
        assert!(gone(&check(World::new(&failing, kind, &[]))));
    }
}

#[test]
fn c11_deletion_ends_though_a_secret_was_deleted_by_hand() {
    for secret in [Op::DeleteSecret(SECRETS[0]), Op::StripSecret(SECRETS[0])] {
        let ops =
            created_then(vec![(Idle, secret), (AtOnce, Op::DeleteSecret(SECRETS[0])), (AtOnce, Op::Delete)]);
        let world = run(ops, DriverKind::GOOD, &[]);
        assert!(gone(&world));
        assert_eq!(calls(&world), [Grant, Revoke]);
    }
}

#[test]
fn c18_a_secret_that_others_hold_is_not_waited_for() {
    let ops = created_then(vec![(Idle, Op::HoldSecret(SECRETS[0], true)), (AtOnce, Op::Delete)]);
    let world = run(ops, DriverKind::GOOD, &[]);
    assert!(world.api.object.is_none() && world.backend.things.is_empty());
    assert!(world.known.secrets.values().all(|s| s.view.deleting && !s.view.finalizer));
}

#[test]
fn c19_an_old_event_of_a_gone_access_brings_no_grant_back() {
    // A new process, one Grant without answer and one refused: that leaves a status write whose event is still to come when
    // the access has gone by force and its account was revoked.
    let plan = [
        (0, Fault::Crash(Crash::Before)),
        (5, Fault::Call(CallFault::NoAnswer)),
        (12, Fault::Call(CallFault::Code(Code::PermissionDenied))),
    ];
    let lag = Some(Duration::from_secs(3));
    let forced = Scenario { lag, ..scenario(created_then(vec![(Point(39), Op::Force)])) };
    let world = check(World::new(&forced, DriverKind::BARE, &plan));
    assert_eq!(calls(&world), [Grant, Grant, Grant, Revoke]);
    assert!(gone(&world));
}

#[test]
fn c22_a_bucket_that_comes_back_is_granted_at_once() {
    let ops = vec![
        (Idle, Op::Bucket(BUCKETS[1], Some(Reachable::NoId))),
        (AtOnce, Op::Create(Spec::TWO)),
        (Idle, Op::Bucket(BUCKETS[1], None)),
    ];
    let world = run(ops, DriverKind::GOOD, &[]);
    assert!(is_ready(&world));
    let trace = world.trace.unwrap();
    let since_it_came = trace.iter().rev().take_while(|line| !line.contains("user:"));
    let until_ready = since_it_came.skip_while(|line| !line.contains("Ready(")).collect::<Vec<_>>();
    assert!(until_ready.iter().all(|line| !line.contains("Idle(")), "{trace:#?}");
}

/// R12: it was not Ready, so a Grant may have been under way.
#[test]
fn the_account_of_an_access_that_goes_by_force_while_it_is_not_ready_goes_too() {
    let lost = vec![(Idle, Op::TakeSecret(SECRETS[0])), (Idle, Op::Force)];
    let world = run(created_then(lost), DriverKind::GOOD, &[]);
    assert_eq!(calls(&world), [Grant, Revoke]);
    assert!(world.api.object.is_none() && world.backend.things.is_empty());
}

#[test]
fn c31_a_secret_of_somebody_else_is_left_alone_and_nothing_is_granted() {
    let ops = vec![(Idle, Op::TakeSecret(SECRETS[0])), (AtOnce, Op::Create(Spec::TWO)), (Idle, Op::Delete)];
    let world = run(ops, DriverKind::GOOD, &[]);
    assert!(world.told(NoteReason::Refused));
    assert_eq!(calls(&world), []);
    assert!(world.known.secrets[SECRETS[0]].data.is_empty());
}

#[test]
fn c31_two_claims_with_one_secret_are_refused() {
    let shared = Scenario { never_ready: true, ..scenario(vec![(Idle, Op::Create(Spec::SHARED))]) };
    let world = check(World::new(&shared, DriverKind::GOOD, &[]));
    assert!(world.told(NoteReason::Refused));
    assert_eq!(calls(&world), []);
    assert!(world.known.secrets.is_empty());
}

#[test]
fn c32_a_renewed_grant_updates_the_other_secrets_in_place() {
    let other = SECRETS[1];
    let before = run(created_then(vec![]), DriverKind::GOOD.with(Rotating), &[]);
    let ops = created_then(vec![(Idle, Op::DeleteSecret(SECRETS[0]))]);
    let after = run(ops, DriverKind::GOOD.with(Rotating), &[]);
    assert!(is_ready(&after) && after.told(NoteReason::SecretLost));
    let (before, after) = (&before.known.secrets[other], &after.known.secrets[other]);
    assert_eq!(before.view.uid, after.view.uid);
    assert_ne!(before.data, after.data);
}

#[test]
fn c33_a_service_account_is_on_the_wire_and_no_keys_are_needed() {
    let world = run(vec![(Idle, Op::Create(Spec::SERVICE))], DriverKind::GOOD, &[]);
    assert!(is_ready(&world));
    assert_eq!(granted(&world).service_account.as_deref(), Some("app"));
    let with_keys = run(created_then(vec![]), DriverKind::GOOD, &[]);
    assert_eq!(granted(&with_keys).service_account, None);
}

#[test]
fn c34_the_mode_of_every_bucket_is_on_the_wire() {
    let world = run(created_then(vec![]), DriverKind::GOOD, &[]);
    let reach: Vec<_> = granted(&world).buckets.iter().map(|b| (b.id.as_ref(), b.mode)).collect();
    let (write, read) = (BucketAccessMode::ReadWrite, BucketAccessMode::ReadOnly);
    assert_eq!(reach, [("id-of-bc-a", write), ("id-of-bc-b", read)]);
}

#[test]
fn c35_a_driver_that_cannot_do_several_buckets_is_asked_once_and_quoted() {
    let ops = created_then(vec![(AtOnce, Op::Refuse(Some((Grant, Code::OutOfRange))))]);
    let refused = Scenario { never_ready: true, ..scenario(ops) };
    let world = World::new(&refused, DriverKind::GOOD, &[]).run();
    assert!(world.told(NoteReason::Refused));
    let error = world.api.object.and_then(|o| o.error).unwrap();
    assert!(error.contains("OUT_OF_RANGE"), "{error}");
}

#[test]
fn c36_an_answer_with_an_empty_value_reaches_no_secret() {
    let ops = created_then(vec![(Point(11), Op::Refuse(Some((Grant, Code::Internal))))]);
    let spoilt = Scenario { never_ready: true, ..scenario(ops) };
    let world = World::new(&spoilt, DriverKind::GOOD, &[(4, Fault::Call(CallFault::EmptyValue))]).run();
    assert!(world.known.secrets.values().all(|secret| secret.data.is_empty()));
    let error = world.api.object.and_then(|o| o.error).unwrap();
    assert!(!error.contains("key-"), "{error}");
}

#[test]
fn c37_lost_answers_and_restarts_leave_one_account_and_its_key() {
    for fault in [Fault::Call(CallFault::NoAnswerDone), Fault::Crash(Crash::After)] {
        let world = run(created_then(vec![]), DriverKind::OPAQUE, &[(4, fault)]);
        assert_eq!(world.backend.things.len(), 1);
        assert!(world.backend.things.values().all(|account| account.keys.len() == 1));
        // A driver that makes a key with every Grant piles them up: that is its own breach, and the access works.
        let piling = run(created_then(vec![]), DriverKind::OPAQUE.with(Piling), &[(4, fault)]);
        assert!(is_ready(&piling));
    }
}

#[test]
fn r8_each_secret_is_written_though_another_cannot_be() {
    for (jammed, other) in [(SECRETS[0], SECRETS[1]), (SECRETS[1], SECRETS[0])] {
        // From the Grant on.
        let ops = created_then(vec![(Point(9), Op::JamSecret(jammed, true))]);
        let jam = Scenario { never_ready: true, ..scenario(ops) };
        let world = check(World::new(&jam, DriverKind::GOOD, &[]));
        assert!(world.known.secrets[jammed].data.is_empty());
        assert!(world.known.secrets[other].data.contains_key(keys::s3::ACCESS_SECRET_KEY));
        assert!(!is_ready(&world));
    }
}

#[test]
fn r7_a_failed_write_is_repeated_with_the_remembered_credentials() {
    for write in [5, 6, 7] {
        for fault in [ApiFault::Lost, ApiFault::AppliedLost, ApiFault::Overtaken] {
            let world =
                run(created_then(vec![]), DriverKind::GOOD.with(Rotating), &[(write, Fault::Api(fault))]);
            assert!(is_ready(&world));
            assert_eq!(calls(&world), [Grant], "effect {write}, {fault:?}");
        }
    }
}

#[test]
fn r14_the_annotation_skips_the_driver_only() {
    let ops = created_then(vec![
        (Idle, Op::Refuse(Some((Revoke, Code::Internal)))),
        (AtOnce, Op::Delete),
        (Idle, Op::LetGo),
    ]);
    let blocked = Scenario { never_ready: true, ..scenario(ops) };
    let world = check(World::new(&blocked, DriverKind::GOOD, &[]));
    assert!(world.api.object.is_none() && world.known.secrets.is_empty());
    let note = world.notes.iter().find(|n| n.reason == NoteReason::LetGo).unwrap();
    for needed in ["driver.example.com", "ba-uid-1", "tier"] {
        assert!(note.text.contains(needed), "{}", note.text);
    }
}

#[test]
fn a_secret_of_a_gone_access_with_this_name_is_released_and_made_again() {
    let world =
        run(vec![(Idle, Op::Leftover(SECRETS[0])), (AtOnce, Op::Create(Spec::TWO))], DriverKind::GOOD, &[]);
    assert!(is_ready(&world));
}

#[test]
fn a_deleting_access_is_not_ready_before_its_first_secret_goes() {
    let world = run(created_then(vec![(Idle, Op::Delete)]), DriverKind::GOOD, &[]);
    let closed = |e: &Effect| matches!(e, Effect::WriteStatus { status: StatusWrite::NotReady, .. });
    let goes = |e: &Effect| matches!(e, Effect::ReleaseSecret { .. } | Effect::DeleteSecret(_));
    let first = |which: fn(&Effect) -> bool| world.effects.iter().position(which).unwrap();
    assert!(first(closed) < first(goes));
}

/// A deleting Secret that others hold is polled for as long as they hold it: too long a life for the sweeps.
#[test]
fn a_deleting_secret_that_others_hold_is_replaced_once_they_let_go() {
    let ops = created_then(vec![
        (Idle, Op::HoldSecret(SECRETS[0], true)),
        (AtOnce, Op::DeleteSecret(SECRETS[0])),
        (Idle, Op::HoldSecret(SECRETS[0], false)),
        (Idle, Op::Delete),
    ]);
    for scenario in at_every_point::<Accesses>(&scenario(ops)) {
        assert!(gone(&check(World::new(&scenario, DriverKind::GOOD.with(Rotating), &[]))));
    }
}
