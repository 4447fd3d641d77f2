use cosi_driver_sdk::{
    CallContext, DeleteBucketRequest, Driver as _, DriverError, ErrorKind, GetExistingBucketRequest,
    Parameters, Protocol,
};
use rstest::rstest;

use super::{World, create, fake::Fault, uncreate};

/// More calls than any RPC on a bucket makes.
const CALLS: usize = 6;
const FAULTS: [Fault; 3] =
    [Fault::Refused(ErrorKind::Unavailable), Fault::Refused(ErrorKind::PermissionDenied), Fault::Lost];

impl World {
    async fn create(&self, name: &str) -> Result<String, DriverError> {
        let made = self.driver.create_bucket(&CallContext::default(), create(name)).await?;
        Ok(made.id.to_string())
    }

    async fn undo(&self, name: &str) -> Result<(), DriverError> {
        self.driver.delete_bucket_by_name(&CallContext::default(), uncreate(name)).await
    }

    async fn delete(&self, id: &str) -> Result<(), DriverError> {
        let request =
            DeleteBucketRequest { bucket_id: id.parse().unwrap(), parameters: Parameters::default() };
        self.driver.delete_bucket(&CallContext::default(), request).await
    }

    async fn announced(&self, name: &str) -> bool {
        self.ledger.buckets().find(name).await.unwrap().is_some()
    }
}

fn kind<T: std::fmt::Debug>(answer: Result<T, DriverError>) -> ErrorKind {
    answer.unwrap_err().kind()
}

/// I1, I2: wherever a create fails, before or after the service did it, the repeated one makes whole what is there.
#[tokio::test]
async fn a_create_that_fails_anywhere_is_made_whole_by_the_next_one() {
    for (call, fault) in (0..CALLS).flat_map(|call| FAULTS.map(|fault| (call, fault))) {
        let world = World::new();
        world.buckets.fail(Some((call, fault)));
        let _first = world.create("bc-1").await;
        world.buckets.fail(None);
        assert_eq!(world.create("bc-1").await.as_deref(), Ok("bc-1"), "{fault:?} at call {call}");
        assert_eq!(world.buckets.names(), ["bc-1"]);
        assert_eq!(world.buckets.state().things["bc-1"].tags.len(), 3, "marked");
        world.delete("bc-1").await.unwrap();
        assert!(world.buckets.names().is_empty() && !world.announced("bc-1").await);
    }
}

/// I1: the undo finds what a create was cut off in, even if nobody ever asks for it again.
#[tokio::test]
async fn the_undo_of_a_create_that_failed_anywhere_leaves_nothing_even_if_it_fails_itself() {
    for (call, fault) in (0..CALLS).flat_map(|call| FAULTS.map(|fault| (call, fault))) {
        for (undo_call, undo_fault) in (0..CALLS).flat_map(|call| FAULTS.map(|fault| (call, fault))) {
            let world = World::new();
            world.buckets.fail(Some((call, fault)));
            let _first = world.create("bc-1").await;
            world.buckets.fail(Some((undo_call, undo_fault)));
            let _undone = world.undo("bc-1").await;
            world.buckets.fail(None);
            assert_eq!(world.undo("bc-1").await, Ok(()));
            assert!(world.buckets.names().is_empty(), "{fault:?} at {call}, {undo_fault:?} at {undo_call}");
            assert!(!world.announced("bc-1").await);
        }
    }
}

/// I4: with and without tags, and in both manners of a service to say that it is there.
#[rstest]
#[case::untagged(&[])]
#[case::tagged(&[("team", "red")])]
#[case::of_another_driver(&[("cosi_driver", "b.example.com"), ("cosi_name", "bc-1"), ("cosi_request", "1-00112233445566778899aabbccddeeff")])]
#[case::of_another_request(&[("cosi_driver", "s3.example.com"), ("cosi_name", "bc-1"), ("cosi_request", "1-00112233445566778899aabbccddeeff")])]
#[tokio::test]
async fn what_this_request_did_not_make_is_refused_and_left_alone(
    #[case] tags: &[(&str, &str)],
    #[values(false, true)] says_made: bool,
) {
    let world = World::new();
    world.buckets.put("bc-1", tags);
    world.buckets.state().says_made = says_made;
    let before = world.buckets.state().things.clone();
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::AlreadyExists);
    assert_eq!(world.undo("bc-1").await, Ok(()));
    assert_eq!(world.buckets.state().things, before);
    assert!(!world.announced("bc-1").await);
}

#[tokio::test]
async fn a_bucket_that_somebody_makes_between_look_up_and_making_is_not_ours_and_the_ledger_forgets_it() {
    let world = World::new();
    world.buckets.state().rival = Some("bc-1".into());
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::AlreadyExists);
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::AlreadyExists);
    world.undo("bc-1").await.unwrap();
    assert_eq!(world.buckets.names(), ["bc-1"]);
}

/// An earlier call's making may land at any time: no guess, but the next call looks again.
#[tokio::test]
async fn a_bucket_that_appears_under_an_announced_name_is_looked_at_again() {
    let world = World::new();
    world.buckets.fail(Some((1, Fault::Refused(ErrorKind::Unavailable))));
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::Unavailable);
    world.buckets.fail(None);
    world.buckets.state().rival = Some("bc-1".into());
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::Aborted);
    assert_eq!(world.create("bc-1").await.as_deref(), Ok("bc-1"));
}

/// C38: and nothing is announced either.
#[tokio::test]
async fn a_look_up_that_fails_makes_nothing_and_undoes_nothing() {
    let world = World::new();
    world.buckets.fail(Some((0, Fault::Refused(ErrorKind::PermissionDenied))));
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::PermissionDenied);
    assert_eq!(world.buckets.state().calls, ["tags"]);
    assert!(!world.announced("bc-1").await);
    world.buckets.fail(Some((0, Fault::Refused(ErrorKind::Unavailable))));
    assert_eq!(kind(world.undo("bc-1").await), ErrorKind::Unavailable);
}

#[tokio::test]
async fn half_done_work_of_one_request_is_neither_finished_nor_undone_by_another() {
    let world = World::new();
    world.buckets.fail(Some((2, Fault::Refused(ErrorKind::Unavailable))));
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::Unavailable);
    world.buckets.fail(None);
    let mut other = create("bc-1");
    other.protocols.clear();
    let answer = world.driver.create_bucket(&CallContext::default(), other).await;
    assert_eq!(kind(answer), ErrorKind::AlreadyExists);
    let mut other = uncreate("bc-1");
    other.protocols.clear();
    world.driver.delete_bucket_by_name(&CallContext::default(), other).await.unwrap();
    assert_eq!(world.buckets.names(), ["bc-1"]);
    world.undo("bc-1").await.unwrap();
    assert!(world.buckets.names().is_empty());
}

/// Whoever tags all buckets of a company may be there before the driver is back.
#[tokio::test]
async fn tags_of_others_on_a_half_made_bucket_stay_beside_the_mark() {
    let world = World::new();
    world.buckets.fail(Some((2, Fault::Refused(ErrorKind::Unavailable))));
    assert_eq!(kind(world.create("bc-1").await), ErrorKind::Unavailable);
    world.buckets.fail(None);
    world.buckets.put("bc-1", &[("team", "red"), ("aws:system", "x")]);
    world.create("bc-1").await.unwrap();
    let tags = world.buckets.state().things["bc-1"].tags.clone();
    assert_eq!((tags.len(), tags["team"].as_str()), (4, "red"));
}

#[tokio::test]
async fn names_that_no_bucket_can_have_are_refused_by_create_and_nothing_to_the_rest() {
    let world = World::new();
    for name in ["ab", &"x".repeat(64), "10.0.0.1"] {
        assert_eq!(kind(world.create(name).await), ErrorKind::InvalidArgument, "{name}");
        assert_eq!((world.undo(name).await, world.delete(name).await), (Ok(()), Ok(())));
    }
    assert_eq!(world.delete("../Odd/Id").await, Ok(()));
    assert_eq!(world.create(&"x".repeat(63)).await, Ok("x".repeat(63)));
    let mut request = create("bc-1");
    request.protocols.insert(Protocol::Gcs);
    let answer = world.driver.create_bucket(&CallContext::default(), request).await;
    assert_eq!(kind(answer), ErrorKind::InvalidArgument);
    let mut request = create("bc-1");
    request.parameters = [("tpyo", "1")].into_iter().collect();
    let answer = world.driver.create_bucket(&CallContext::default(), request).await;
    assert_eq!(kind(answer), ErrorKind::InvalidArgument);
}

/// C12, C16.
#[tokio::test]
async fn an_existing_bucket_is_described_and_an_absent_one_is_not_found_and_can_be_deleted() {
    let world = World::new();
    world.buckets.put("theirs", &[("team", "red")]);
    let existing = |id: &str| GetExistingBucketRequest {
        bucket_id: id.parse().unwrap(),
        protocols: [Protocol::S3].into(),
        parameters: Parameters::default(),
    };
    let context = CallContext::default();
    let found = world.driver.get_existing_bucket(&context, existing("theirs")).await.unwrap();
    assert_eq!((found.id.as_str(), found.info.s3.unwrap().region.as_str()), ("theirs", "lab-1"));
    for id in ["absent", "Odd/Id"] {
        let answer = world.driver.get_existing_bucket(&context, existing(id)).await;
        assert_eq!(kind(answer), ErrorKind::NotFound);
    }
    assert_eq!(world.delete("absent").await, Ok(()));
    assert_eq!(world.buckets.names(), ["theirs"]);
}
