//! Cases from the field (C numbers) that this rung can show by themselves.

use std::time::Duration;

use super::scenarios::BASE;
use super::world::{Buckets, Op, Scenario, Spec, World};
use crate::NoteReason;
use crate::bucket::{Call, Effect};
use crate::testing::{
    ApiFault, CallFault, Crash, DriverKind, Fault, Trigger, at_every_point, with_every_lag,
};
use crate::{Code, Rpc};
use Rpc::{CreateBucket, DeleteBucket, DeleteBucketByName, GetExistingBucket};
use Trigger::{AtOnce, Idle, Point};

fn scenario(ops: Vec<(Trigger, Op)>) -> Scenario {
    Scenario { name: "case", ops, ..BASE }
}

fn run(ops: Vec<(Trigger, Op)>, kind: DriverKind, plan: &[(usize, Fault)]) -> World {
    check(World::new(&scenario(ops), kind, plan))
}

fn check(world: World) -> World {
    let world = world.traced().run();
    assert!(world.violations.is_empty(), "{:#?}\n{:#?}", world.violations, world.trace);
    world
}

fn created_then(ops: Vec<(Trigger, Op)>) -> Vec<(Trigger, Op)> {
    [vec![(Idle, Op::Create(Spec::DYNAMIC))], ops].concat()
}

fn deleted(when: Trigger) -> Vec<(Trigger, Op)> {
    created_then(vec![(when, Op::Delete), (AtOnce, Op::ClaimGoes)])
}

fn calls(world: &World) -> Vec<Rpc> {
    let call = |effect: &Effect| if let Effect::Call(call) = effect { Some(call.rpc()) } else { None };
    world.effects.iter().filter_map(call).collect()
}

fn gone(world: &World) -> bool {
    world.api.object.is_none() && world.backend.things.values().all(|made| made.by.is_none())
}

#[test]
fn i9_creation_and_deletion_cost_three_writes_and_two_calls() {
    let created = run(created_then(vec![]), DriverKind::GOOD, &[]);
    assert_eq!((created.writes, created.rpcs), (2, 1));
    let deleted = run(deleted(Idle), DriverKind::GOOD, &[]);
    assert_eq!((deleted.writes, deleted.rpcs), (3, 2));
}

#[test]
fn i9_a_restart_costs_a_ready_bucket_nothing() {
    // Effects 0 to 2 make it Ready; a look at the claim comes next, and the process dies there.
    let ops = created_then(vec![(Idle, Op::Delete)]);
    let world = run(ops, DriverKind::GOOD, &[(3, Fault::Crash(Crash::Before))]);
    assert_eq!((world.writes, world.rpcs), (2, 1));
}

#[test]
fn c1_a_bucket_whose_status_was_never_written_is_deleted_by_the_remembered_id() {
    let world = run(deleted(Point(5)), DriverKind::OPAQUE, &[(2, Fault::Api(ApiFault::Lost))]);
    assert!(gone(&world));
    assert_eq!(calls(&world), [CreateBucket, DeleteBucket]);
}

#[test]
fn c2_without_the_by_name_rpc_a_replayed_create_tells_the_id() {
    let lost = [(1, Fault::Call(CallFault::NoAnswerDone))];
    let world = run(deleted(Point(3)), DriverKind::BARE, &lost);
    assert!(gone(&world));
    assert_eq!(calls(&world), [CreateBucket, DeleteBucketByName, CreateBucket, DeleteBucket]);
}

#[test]
fn c2_a_driver_that_learns_the_by_name_rpc_needs_no_restart() {
    // The replay is refused while nothing is known of the first Create, until a new driver connects.
    let ops = created_then(vec![
        (Point(2), Op::Refuse(Some((CreateBucket, Code::PermissionDenied)))),
        (AtOnce, Op::Delete),
        (AtOnce, Op::ClaimGoes),
        (Idle, Op::Driver { by_name: true }),
    ]);
    let mut blocked = scenario(ops);
    blocked.never_ready = true;
    let world = check(World::new(&blocked, DriverKind::BARE, &[]));
    assert!(gone(&world));
    assert_eq!(calls(&world).last(), Some(&DeleteBucketByName));
}

#[test]
fn c3_a_bucket_deleted_before_its_claim_waits_and_goes_with_the_claim() {
    let waiting = run(created_then(vec![(Idle, Op::Delete)]), DriverKind::GOOD, &[]);
    assert_eq!(calls(&waiting), [CreateBucket]);
    let both = run(created_then(vec![(Idle, Op::Delete), (Idle, Op::ClaimGoes)]), DriverKind::GOOD, &[]);
    assert!(gone(&both));
}

#[test]
fn c4_an_annotation_alone_ends_the_wait_after_a_terminal_error() {
    let ops = created_then(vec![(Idle, Op::Delete), (Idle, Op::ClaimGoes)]);
    let world = run(ops, DriverKind::GOOD, &[(1, Fault::Call(CallFault::Code(Code::InvalidArgument)))]);
    assert!(gone(&world));
}

#[test]
fn c5_a_ready_bucket_that_was_deleted_by_force_is_never_created_again() {
    let base = scenario(created_then(vec![(Idle, Op::Force)]));
    for scenario in with_every_lag(&base).flat_map(|s| at_every_point::<Buckets>(&s)) {
        let world = check(World::new(&scenario, DriverKind::GOOD, &[]));
        assert!(calls(&world).iter().filter(|rpc| **rpc == CreateBucket).count() <= 1, "{:#?}", world.trace);
    }
}

#[test]
fn c7_deletion_ends_though_create_was_refused_for_good() {
    for kind in [DriverKind::GOOD, DriverKind::BARE] {
        for restart in [vec![], vec![(4, Fault::Crash(Crash::Before))]] {
            let ops = vec![
                (Idle, Op::OccupyName),
                (AtOnce, Op::Create(Spec::DYNAMIC)),
                (Idle, Op::Delete),
                (AtOnce, Op::ClaimGoes),
            ];
            let refused = Scenario { never_ready: true, ..scenario(ops) };
            let world = check(World::new(&refused, kind, &restart));
            assert!(gone(&world), "{:#?}", world.trace);
            assert!(kind.by_name || world.told(NoteReason::LetGo));
        }
    }
}

#[test]
fn c12_a_static_bucket_is_asked_for_once_however_often_it_is_seen() {
    let ops =
        vec![(Idle, Op::Create(Spec::STATIC)), (Idle, Op::Touch), (Idle, Op::ClaimGoes), (Idle, Op::Touch)];
    let world = run(ops, DriverKind::GOOD, &[]);
    assert_eq!(calls(&world), [GetExistingBucket]);
}

#[test]
fn c14_a_non_empty_bucket_blocks_visibly_with_bounded_backoff_and_goes_once_emptied() {
    let not_empty = Op::Refuse(Some((DeleteBucket, Code::FailedPrecondition)));
    let ops = created_then(vec![
        (Idle, not_empty),
        (AtOnce, Op::Delete),
        (AtOnce, Op::ClaimGoes),
        (Idle, Op::Refuse(None)),
    ]);
    let blocked = Scenario { never_ready: true, ..scenario(ops) };
    let world = check(World::new(&blocked, DriverKind::GOOD, &[]));
    assert!(gone(&world));
    assert!(world.told(NoteReason::DeletionBlocked));
    // Finalizer, result, one error, removal.
    assert_eq!(world.writes, 4, "{:#?}", world.trace);
}

#[test]
fn c16_not_found_is_believed_the_second_time() {
    let ops = created_then(vec![(Idle, Op::LoseBackend), (AtOnce, Op::Delete), (AtOnce, Op::ClaimGoes)]);
    let world = run(ops, DriverKind::NOT_FOUND, &[]);
    assert!(gone(&world));
    assert!(world.told(NoteReason::NotFoundAtBackend));
    assert_eq!(calls(&world), [CreateBucket, DeleteBucket, DeleteBucket]);
}

#[test]
fn c17_deletes_carry_the_parameters_of_the_object_itself() {
    let world = run(deleted(Idle), DriverKind::GOOD, &[]);
    let of_delete = world.effects.iter().find_map(|effect| match effect {
        Effect::Call(Call::Delete { parameters, .. }) => parameters.clone(),
        _ => None,
    });
    let of_create = world.effects.iter().find_map(|effect| match effect {
        Effect::Call(Call::Create(request)) => request.parameters.clone(),
        _ => None,
    });
    assert_eq!(of_delete.as_ref().and_then(|p| p.get("tier")).map(String::as_str), Some("fast"));
    assert_eq!(of_delete, of_create);
}

#[test]
fn c20_a_create_that_succeeds_at_last_on_a_deleting_bucket_is_undone() {
    let many = (0..3).map(|n| (1 + 4 * n, Fault::Call(CallFault::NoAnswer))).collect::<Vec<_>>();
    let ops = created_then(vec![(Point(20), Op::Delete), (AtOnce, Op::ClaimGoes)]);
    let world = run(ops, DriverKind::OPAQUE_BARE, &many);
    assert!(gone(&world));
}

#[test]
fn c21_a_removal_that_was_throttled_or_lost_is_repeated_without_the_driver() {
    for fault in [ApiFault::Throttled, ApiFault::Lost, ApiFault::AppliedLost, ApiFault::Conflict] {
        let world = run(deleted(Idle), DriverKind::GOOD, &[(5, Fault::Api(fault))]);
        assert!(gone(&world));
        assert_eq!(calls(&world), [CreateBucket, DeleteBucket], "{fault:?}");
    }
}

#[test]
fn c22_deletion_interrupts_a_backoff_at_once() {
    let ops = created_then(vec![
        (AtOnce, Op::Refuse(Some((CreateBucket, Code::InvalidArgument)))),
        (Idle, Op::Delete),
        (AtOnce, Op::ClaimGoes),
    ]);
    let refused = Scenario { never_ready: true, ..scenario(ops) };
    let world = check(World::new(&refused, DriverKind::GOOD, &[]));
    assert!(gone(&world));
    assert!(world.elapsed() < Duration::from_secs(1), "{:#?}", world.trace);
}

#[test]
fn c23_a_failing_bucket_costs_one_call_per_backoff_step_and_one_status_write_in_all() {
    let ops = created_then(vec![
        (AtOnce, Op::Refuse(Some((CreateBucket, Code::PermissionDenied)))),
        (Idle, Op::Refuse(None)),
    ]);
    let failing = Scenario { never_ready: true, ..scenario(ops) };
    let world = check(World::new(&failing, DriverKind::GOOD, &[]));
    // Waits of 1, 2, 4, 8 and then 16 s, until the bound of I6 has passed.
    assert_eq!(world.rpcs, 9, "{:#?}", world.trace);
    assert_eq!(world.writes, 3);
    assert_eq!(world.notes.len(), 1);
}

#[test]
fn c24_a_conflict_on_any_write_leads_to_a_live_read_and_a_new_decision() {
    for write in [0, 2, 5] {
        let world = run(deleted(Idle), DriverKind::GOOD, &[(write, Fault::Api(ApiFault::Overtaken))]);
        assert!(gone(&world));
        assert_eq!((world.writes, world.rpcs), (4, 2));
        assert_eq!(world.effects[write + 1], Effect::Read);
    }
}

#[test]
fn c25_an_error_is_cleared_by_success() {
    let failed = [(1, Fault::Call(CallFault::Code(Code::Internal)))];
    let world = run(created_then(vec![]), DriverKind::GOOD, &failed);
    assert!(world.told(NoteReason::Failing));
    assert_eq!(world.api.object.map(|o| o.error), Some(None));
}

#[test]
fn r14_the_annotation_lets_go_of_a_blocked_bucket_and_says_what_is_left() {
    let ops = created_then(vec![
        (Idle, Op::Refuse(Some((DeleteBucket, Code::Internal)))),
        (AtOnce, Op::Delete),
        (AtOnce, Op::ClaimGoes),
        (Idle, Op::LetGo),
    ]);
    let blocked = Scenario { never_ready: true, ..scenario(ops) };
    let world = check(World::new(&blocked, DriverKind::GOOD, &[]));
    assert_eq!(world.api.object, None);
    let note = world.notes.iter().find(|n| n.reason == NoteReason::LetGo).unwrap();
    for needed in ["driver.example.com", "bc-1", "tier"] {
        assert!(note.text.contains(needed), "{}", note.text);
    }
}

#[test]
fn r13_a_kept_bucket_is_told_of_with_driver_and_id() {
    let ops = vec![(Idle, Op::Create(Spec::RETAIN)), (Idle, Op::Delete), (AtOnce, Op::ClaimGoes)];
    let world = run(ops, DriverKind::OPAQUE, &[]);
    assert_eq!(calls(&world), [CreateBucket]);
    let note = world.notes.iter().find(|n| n.reason == NoteReason::Retained).unwrap();
    assert!(note.text.contains("driver.example.com") && note.text.contains("opaque-1"), "{}", note.text);
}
