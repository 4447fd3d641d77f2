use cosi_driver_sdk::{
    Authentication, CallContext, Credentials, Driver as _, DriverError, ErrorKind, RevokeAccessRequest,
};
use rstest::rstest;

use super::{World, fake::Fault, grant, ungrant};

/// More calls than any RPC on a user makes.
const CALLS: usize = 10;
const FAULTS: [Fault; 2] = [Fault::Refused(ErrorKind::Unavailable), Fault::Lost];

impl World {
    fn with_bucket() -> Self {
        let world = Self::new();
        world.buckets.put("bc-1", &[]);
        world
    }

    /// The id of the key.
    async fn grant(&self, name: &str) -> Result<String, DriverError> {
        let granted = self.driver.grant_access(&CallContext::default(), grant(name, "bc-1")).await?;
        assert_eq!(granted.account_id.as_str(), name);
        assert_eq!(
            granted.buckets.keys().map(cosi_driver_sdk::BucketId::as_str).collect::<Vec<_>>(),
            ["bc-1"]
        );
        let Credentials::S3(key) = granted.credentials else { panic!("no S3 key") };
        Ok(key.access_key_id.expose().to_owned())
    }

    async fn ungrant(&self, name: &str) -> Result<(), DriverError> {
        self.driver.revoke_access_by_name(&CallContext::default(), ungrant(name, "bc-1")).await
    }

    async fn revoke(&self, id: &str) -> Result<(), DriverError> {
        let wanted = grant("unused", "bc-1");
        let request = RevokeAccessRequest {
            account_id: id.parse().unwrap(),
            protocol: wanted.protocol,
            authentication: wanted.authentication,
            parameters: wanted.parameters,
            buckets: vec![],
        };
        self.driver.revoke_access(&CallContext::default(), request).await
    }

    async fn knows(&self, user: &str) -> bool {
        self.ledger.accounts().find(user).await.unwrap().is_some()
    }
}

/// C37.
#[tokio::test]
async fn a_grant_that_fails_anywhere_is_made_whole_by_the_next_one_with_one_live_key() {
    for (call, fault) in (0..CALLS).flat_map(|call| FAULTS.map(|fault| (call, fault))) {
        let world = World::with_bucket();
        world.users.fail(Some((call, fault)));
        let _first = world.grant("ba-1").await;
        world.users.fail(None);
        let key = world.grant("ba-1").await.unwrap();
        assert_eq!(world.users.names(), ["ba-1"]);
        let user = world.users.state().things["ba-1"].clone();
        assert_eq!((user.keys, user.tags.len()), (vec![key], 3), "{fault:?} at call {call}");
        assert!(user.policy.contains("arn:aws:s3:::bc-1/*"));
        assert!(world.users.state().most_keys <= 2);
        world.revoke("ba-1").await.unwrap();
        assert!(world.users.names().is_empty() && !world.knows("ba-1").await);
    }
}

/// C8, I1.
#[tokio::test]
async fn the_undo_of_a_grant_that_failed_anywhere_leaves_nothing() {
    for (call, fault) in (0..CALLS).flat_map(|call| FAULTS.map(|fault| (call, fault))) {
        let world = World::with_bucket();
        world.users.fail(Some((call, fault)));
        let _first = world.grant("ba-1").await;
        world.users.fail(None);
        assert_eq!(world.ungrant("ba-1").await, Ok(()));
        assert!(world.users.names().is_empty(), "{fault:?} at call {call}");
        assert!(!world.knows("ba-1").await);
        assert_eq!((world.ungrant("ba-1").await, world.revoke("ba-1").await), (Ok(()), Ok(())));
    }
}

/// I4: an account id is text in a status. It must not delete the administrator.
#[tokio::test]
async fn a_user_that_the_driver_did_not_make_is_neither_granted_nor_revoked() {
    let world = World::with_bucket();
    world.users.put("admin", &[("team", "red")]);
    let before = world.users.state().things.clone();
    assert_eq!(world.grant("admin").await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(world.ungrant("admin").await, Ok(()));
    let error = world.revoke("admin").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FailedPrecondition);
    assert!(error.message().contains("admin"), "{error}");
    assert_eq!(world.users.state().things, before);
}

/// C6: a revoke by id knows nothing but the id; a half-made user is in the ledger.
#[tokio::test]
async fn a_user_without_a_mark_can_be_revoked_by_id_if_it_is_in_the_ledger() {
    let world = World::with_bucket();
    world.users.fail(Some((2, Fault::Refused(ErrorKind::Unavailable))));
    assert!(world.grant("ba-1").await.is_err());
    world.users.fail(None);
    assert_eq!(world.users.names(), ["ba-1"]);
    world.revoke("ba-1").await.unwrap();
    assert!(world.users.names().is_empty());
}

#[rstest]
#[case::service_account(|asked: &mut cosi_driver_sdk::GrantAccessRequest| {
    asked.authentication = Authentication::ServiceAccount { name: "app".into() };
}, ErrorKind::InvalidArgument, "authentication type ServiceAccount isn't supported")]
#[case::protocol(|asked: &mut cosi_driver_sdk::GrantAccessRequest| {
    asked.protocol = cosi_driver_sdk::Protocol::Azure;
}, ErrorKind::InvalidArgument, "Azure")]
#[case::parameter(|asked: &mut cosi_driver_sdk::GrantAccessRequest| {
    asked.parameters = [("tpyo", "1")].into_iter().collect();
}, ErrorKind::InvalidArgument, "tpyo")]
#[case::long_name(|asked: &mut cosi_driver_sdk::GrantAccessRequest| {
    asked.account_name = "u".repeat(65).parse().unwrap();
}, ErrorKind::InvalidArgument, "64")]
#[case::no_bucket_name(|asked: &mut cosi_driver_sdk::GrantAccessRequest| {
    asked.buckets[0].bucket_id = "Not/A_Name".parse().unwrap();
}, ErrorKind::InvalidArgument, "Not/A_Name")]
#[case::absent_bucket(|asked: &mut cosi_driver_sdk::GrantAccessRequest| {
    asked.buckets[0].bucket_id = "absent".parse().unwrap();
}, ErrorKind::FailedPrecondition, "absent")]
#[tokio::test]
async fn a_grant_that_cannot_be_is_refused_in_words_and_makes_nothing(
    #[case] change: fn(&mut cosi_driver_sdk::GrantAccessRequest),
    #[case] kind: ErrorKind,
    #[case] words: &str,
) {
    let world = World::with_bucket();
    let mut asked = grant("ba-1", "bc-1");
    change(&mut asked);
    let error = world.driver.grant_access(&CallContext::default(), asked).await.unwrap_err();
    assert_eq!(error.kind(), kind);
    assert!(error.message().contains(words), "{error}");
    assert!(world.users.state().calls.is_empty());
}

/// The longest name that IAM takes is taken, and ids that no user can have name nothing.
#[tokio::test]
async fn the_longest_user_name_works_and_odd_ids_are_nothing_to_revoke() {
    let world = World::with_bucket();
    world.grant(&"u".repeat(64)).await.unwrap();
    world.users.fail(None);
    for id in ["a/b", "Admin", &"u".repeat(65)] {
        assert_eq!(world.revoke(id).await, Ok(()));
    }
    assert_eq!(world.ungrant(&"u".repeat(65)).await, Ok(()));
    assert!(world.users.state().calls.is_empty());
}
