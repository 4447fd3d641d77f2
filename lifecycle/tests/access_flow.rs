//! The expected flow of an access, effect by effect: what a reader of the machine wants to see first.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use cosi_api::{BucketAccessAuthenticationType, BucketAccessMode, DeletionPolicy, ObjectProtocol};
use cosi_lifecycle::access::{
    AccessState, AccessView, Accessed, Call, CallOk, Effect, Event, GrantedBucket, Owner, Place, SecretData,
    SecretView, StatusWrite, Wish,
};
use cosi_lifecycle::bucket::{BucketView, ClaimRef};
use cosi_lifecycle::{Context, Machine as _, Settings, Time, Wake, WriteFailure};

const KEYS: [&str; 6] = [
    "COSI_S3_BUCKET_ID",
    "COSI_S3_ENDPOINT",
    "COSI_S3_REGION",
    "COSI_S3_ADDRESSING_STYLE",
    "COSI_S3_ACCESS_KEY_ID",
    "COSI_S3_ACCESS_SECRET_KEY",
];

/// An access to two buckets, as the controller hands it over.
fn access() -> AccessView {
    let wish = |n: u32| Wish {
        claim: format!("claim-{n}").into(),
        mode: BucketAccessMode::ReadWrite,
        secret: format!("secret-{n}").into(),
    };
    let accessed = |n: u32| Accessed {
        claim: format!("claim-{n}").into(),
        bucket: format!("bc-{n}").into(),
        id: format!("id-{n}").into(),
    };
    AccessView {
        uid: "u1".into(),
        place: Place { namespace: "app".into(), name: "access".into() },
        resource_version: "1".into(),
        deleting: false,
        finalizer: true,
        other_finalizers: Box::default(),
        let_go: false,
        handed_back: false,
        cleanup_finished: false,
        protocol: ObjectProtocol::S3,
        wishes: [wish(1), wish(2)].into(),
        service_account: None,
        ready: false,
        account_id: None,
        driver: Some("d.example".into()),
        authentication: Some(BucketAccessAuthenticationType::Key),
        parameters: None,
        accessed: [accessed(1), accessed(2)].into(),
    }
}

fn bucket(n: u32) -> BucketView {
    BucketView {
        name: format!("bc-{n}").into(),
        driver: "d.example".into(),
        uid: format!("b{n}").into(),
        resource_version: "1".into(),
        deleting: false,
        finalizer: true,
        other_finalizers: Box::default(),
        claim_deleting: false,
        let_go: false,
        policy: DeletionPolicy::Delete,
        claim: ClaimRef { name: "c".into(), namespace: "app".into(), uid: Some("c".into()) },
        protocols: Box::default(),
        parameters: None,
        existing_id: None,
        ready: Some(true),
        bucket_id: Some(format!("id-{n}").into()),
    }
}

fn secret(keys: &[&str]) -> SecretView {
    SecretView {
        uid: "s".into(),
        resource_version: "1".into(),
        deleting: false,
        finalizer: true,
        other_finalizers: Box::default(),
        owner: Some(Owner { name: "access".into(), uid: "u1".into() }),
        owned: true,
        keys: keys.iter().map(ToString::to_string).collect(),
    }
}

fn granted() -> CallOk {
    let info = |n: u32| {
        let pairs = [
            ("COSI_S3_BUCKET_ID", format!("id-{n}")),
            ("COSI_S3_ENDPOINT", "http://s3".to_owned()),
            ("COSI_S3_REGION", "r".to_owned()),
            ("COSI_S3_ADDRESSING_STYLE", "path".to_owned()),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value)).into()
    };
    let bucket = |n: u32| GrantedBucket { id: format!("id-{n}"), info: vec![(ObjectProtocol::S3, info(n))] };
    let mut credentials = SecretData::default();
    credentials.set("COSI_S3_ACCESS_KEY_ID", "key".to_owned());
    credentials.set("COSI_S3_ACCESS_SECRET_KEY", "canary".to_owned());
    CallOk::Granted {
        id: "account".to_owned(),
        buckets: vec![bucket(1), bucket(2)],
        credentials: vec![(ObjectProtocol::S3, credentials)],
    }
}

/// A pass in the making: the machine, what it is shown, and a clock that stands still.
struct Pass {
    state: AccessState,
    view: Option<Arc<AccessView>>,
    predecessor_done: Time,
    may_act: bool,
}

impl Pass {
    fn new(view: AccessView) -> Self {
        Self {
            state: AccessState::default(),
            view: Some(Arc::new(view)),
            predecessor_done: Time::default(),
            may_act: true,
        }
    }

    fn step(&mut self, event: Event) -> Effect {
        let settings = Settings::default();
        let ctx = Context {
            now: Time::at(Duration::from_secs(1000)),
            settings: &settings,
            jitter: 1.0,
            by_name_missing: false,
            predecessor_done: self.predecessor_done,
            may_act: self.may_act,
        };
        self.state.step(self.view.as_ref(), event, &ctx).unwrap()
    }

    fn start(&mut self) -> Effect {
        self.step(Event::Start(Wake::CHANGED))
    }

    /// Up to the Grant: Buckets are fine, both Secrets are reserved, and the access is still there.
    fn begin_to_grant(&mut self) -> Effect {
        self.start();
        self.step(Event::Buckets(vec![Ok(Some(bucket(1))), Ok(Some(bucket(2)))]));
        self.secret(Some(secret(&[])));
        self.secret(Some(secret(&[])));
        self.step(Event::Read(Ok(())))
    }

    /// A write of the access succeeded, and this is how it is now.
    fn wrote(&mut self, change: impl FnOnce(&mut AccessView)) -> Effect {
        let mut view = AccessView::clone(self.view.as_ref().unwrap());
        change(&mut view);
        self.view = Some(Arc::new(view));
        self.step(Event::Wrote(Ok(())))
    }

    fn secret(&mut self, found: Option<SecretView>) -> Effect {
        self.step(Event::Secret(Ok(found)))
    }
}

fn creates(effect: &Effect, name: &str) -> bool {
    matches!(effect, Effect::CreateSecret { place, data, .. } if &*place.name == name && data.is_empty())
}

#[test]
fn an_access_becomes_ready_by_buckets_secrets_look_grant_secrets_status() {
    let mut pass = Pass::new(access());
    assert_eq!(pass.start(), Effect::ReadBuckets(vec!["bc-1".into(), "bc-2".into()]));
    let effect = pass.step(Event::Buckets(vec![Ok(Some(bucket(1))), Ok(Some(bucket(2)))]));
    assert!(creates(&effect, "secret-1"), "{effect:?}");
    let effect = pass.secret(Some(secret(&[])));
    assert!(creates(&effect, "secret-2"), "{effect:?}");
    assert!(matches!(pass.secret(Some(secret(&[]))), Effect::Read(_)));
    let Effect::Call(Call::Grant(request)) = pass.step(Event::Read(Ok(()))) else { panic!("no Grant") };
    assert_eq!(&*request.account, "ba-u1");
    assert_eq!(request.buckets.len(), 2);
    for name in ["secret-1", "secret-2"] {
        let effect = if name == "secret-1" {
            pass.step(Event::Called(Ok(granted())))
        } else {
            pass.secret(Some(secret(&[&KEYS[..], &["COSI_PROTOCOL"]].concat())))
        };
        let Effect::WriteSecret { secret, data } = &effect else { panic!("{effect:?}") };
        assert_eq!(&*secret.place.name, name);
        assert_eq!(data.get("COSI_S3_ACCESS_SECRET_KEY"), Some("canary"));
        assert!(!format!("{effect:?}").contains("canary"), "I7");
    }
    let effect = pass.secret(Some(secret(&[&KEYS[..], &["COSI_PROTOCOL"]].concat())));
    let Effect::WriteStatus { status: StatusWrite::Ready(account), .. } = effect else {
        panic!("{effect:?}")
    };
    assert_eq!(account.as_str(), "account");
    let effect = pass.wrote(|view| {
        view.ready = true;
        view.account_id = Some("account".into());
    });
    assert!(matches!(effect, Effect::Wait(_)), "{effect:?}");
}

/// A Ready access of an older process.
fn ready() -> AccessView {
    AccessView { ready: true, account_id: Some("account".into()), ..access() }
}

#[test]
fn a_ready_access_costs_a_look_at_each_secret_and_nothing_else() {
    let mut pass = Pass::new(ready());
    assert!(matches!(pass.start(), Effect::ReadSecret(_)));
    assert!(matches!(pass.secret(Some(secret(&KEYS))), Effect::ReadSecret(_)));
    let until_recheck = Effect::Wait(Time::at(Duration::from_secs(1000 + 1800)));
    assert_eq!(pass.secret(Some(secret(&KEYS))), until_recheck);
    // A driver that restarts costs nothing; whoever touches the access has its Secrets looked at.
    assert_eq!(pass.step(Event::Start(Wake::CONNECTED)), until_recheck);
    assert!(matches!(pass.start(), Effect::ReadSecret(_)));
}

#[test]
fn a_deleting_access_is_first_not_ready_then_loses_secrets_account_and_says_so() {
    let mut pass = Pass::new(AccessView { deleting: true, ..ready() });
    let effect = pass.start();
    assert!(matches!(effect, Effect::WriteStatus { status: StatusWrite::NotReady, .. }), "{effect:?}");
    assert!(matches!(pass.wrote(|view| view.ready = false), Effect::ReadSecret(_)));
    for _ in 0..2 {
        let effect = pass.secret(Some(secret(&KEYS)));
        assert!(matches!(effect, Effect::ReleaseSecret { .. }), "{effect:?}");
        let effect = pass.secret(Some(SecretView { finalizer: false, ..secret(&KEYS) }));
        assert!(matches!(effect, Effect::DeleteSecret(_)), "{effect:?}");
        pass.secret(None);
    }
    let effect = pass.step(Event::Read(Ok(())));
    let Effect::Call(Call::Revoke { id, .. }) = &effect else { panic!("{effect:?}") };
    assert_eq!(&**id, "account");
    let effect = pass.step(Event::Called(Ok(CallOk::Revoked)));
    assert!(matches!(effect, Effect::WriteCleanupFinished { finished: true, .. }), "{effect:?}");
    assert_eq!(pass.wrote(|view| view.cleanup_finished = true), Effect::Done);
    assert!(pass.state.is_empty());
}

#[test]
fn a_secret_that_cannot_be_written_does_not_keep_another_from_being_written() {
    let mut pass = Pass::new(access());
    pass.begin_to_grant();
    pass.step(Event::Called(Ok(granted())));
    let forbidden = WriteFailure::Forbidden { message: "no".to_owned() };
    let effect = pass.step(Event::Secret(Err(forbidden)));
    assert!(matches!(&effect, Effect::WriteSecret { secret, .. } if &*secret.place.name == "secret-2"));
    let effect = pass.secret(Some(secret(&[&KEYS[..], &["COSI_PROTOCOL"]].concat())));
    assert!(matches!(effect, Effect::Tell(_)), "{effect:?}");
    let effect = pass.step(Event::Told);
    assert!(matches!(effect, Effect::WriteStatus { status: StatusWrite::Error { .. }, .. }), "{effect:?}");
}

#[test]
fn an_access_that_was_there_before_waits_for_its_predecessors_grant() {
    let mut pass = Pass::new(access());
    pass.predecessor_done = Time::at(Duration::from_secs(1030));
    assert_eq!(pass.start(), Effect::Wait(Time::at(Duration::from_secs(1030))));
}

/// `kubectl delete --cascade=orphan` takes the owner reference off, and leaves our finalizer.
#[test]
fn a_secret_that_lost_its_owner_reference_stays_and_can_be_deleted() {
    let stray = || SecretView { owner: None, owned: false, ..secret(&KEYS) };
    let mut pass = Pass::new(AccessView { deleting: true, account_id: Some("account".into()), ..access() });
    assert!(matches!(pass.start(), Effect::Read(_)));
    assert!(matches!(pass.step(Event::Read(Ok(()))), Effect::ReadSecret(_)));
    for _ in 0..2 {
        let effect = pass.secret(Some(stray()));
        assert!(matches!(effect, Effect::ReleaseSecret { .. }), "{effect:?}");
        let effect = pass.secret(Some(SecretView { finalizer: false, ..stray() }));
        assert!(!matches!(effect, Effect::DeleteSecret(_)), "{effect:?}");
    }
    // One that another kind of object controls is none of ours, whatever finalizer is on it.
    let mut pass = Pass::new(AccessView { deleting: true, account_id: Some("account".into()), ..access() });
    pass.start();
    pass.step(Event::Read(Ok(())));
    let effect = pass.secret(Some(SecretView { owned: true, ..stray() }));
    assert!(matches!(effect, Effect::ReadSecret(_)), "{effect:?}");
    // One that is in the way of another access goes as soon as somebody deletes it.
    let mut pass = Pass::new(access());
    pass.start();
    pass.step(Event::Buckets(vec![Ok(Some(bucket(1))), Ok(Some(bucket(2)))]));
    assert!(matches!(pass.step(Event::Secret(Err(WriteFailure::Conflict))), Effect::ReadSecret(_)));
    let effect = pass.secret(Some(SecretView { deleting: true, ..stray() }));
    assert!(matches!(effect, Effect::ReleaseSecret { .. }), "{effect:?}");
    assert!(creates(&pass.secret(None), "secret-1"));
}

/// A predecessor wrote its keys and died; its status write lands while our Grant makes new keys, which voids them.
#[test]
fn an_access_that_somebody_else_calls_ready_is_not_believed_while_newer_keys_are_on_their_way() {
    let filled = || secret(&[&KEYS[..], &["COSI_PROTOCOL"]].concat());
    let mut pass = Pass::new(access());
    pass.begin_to_grant();
    pass.view = Some(Arc::new(ready()));
    let effect = pass.step(Event::Called(Ok(granted())));
    assert!(matches!(effect, Effect::WriteStatus { status: StatusWrite::NotReady, .. }), "{effect:?}");
    assert!(matches!(pass.wrote(|view| view.ready = false), Effect::WriteSecret { .. }));
    assert!(matches!(pass.secret(Some(filled())), Effect::WriteSecret { .. }));
    // With both written it is true, whoever says so.
    pass.view = Some(Arc::new(ready()));
    assert!(matches!(pass.secret(Some(filled())), Effect::Wait(_)));
}

/// The status was wiped while an answer waited, and filled in for another bucket.
#[test]
fn credentials_for_other_buckets_than_those_that_are_named_now_are_not_handed_out() {
    let mut pass = Pass::new(access());
    pass.begin_to_grant();
    pass.step(Event::Called(Ok(granted())));
    let mut other = access();
    other.accessed[0].id = "id-3".into();
    pass.view = Some(Arc::new(other));
    let effect = pass.secret(Some(secret(&[])));
    assert!(
        !matches!(
            effect,
            Effect::WriteSecret { .. } | Effect::WriteStatus { status: StatusWrite::Ready(_), .. }
        ),
        "{effect:?}"
    );
}

/// Two accesses name one Secret; the one that owns it lost the owner reference, the other one was refused.
#[test]
fn an_access_that_was_never_granted_takes_no_finalizer_off_a_secret_that_another_lives_on() {
    let mut pass = Pass::new(AccessView { deleting: true, ..access() });
    pass.start();
    let effect = pass.secret(Some(SecretView { owner: None, owned: false, ..secret(&KEYS) }));
    assert!(matches!(effect, Effect::ReadSecret(_)), "{effect:?}");
}

/// R15: the lease is lost while the Grant runs, and the access is gone.
#[test]
fn without_the_lease_an_account_of_a_gone_access_is_revoked_by_its_id_and_nothing_else_is_done() {
    for is_gone in [true, false] {
        let mut pass = Pass::new(access());
        pass.begin_to_grant();
        pass.may_act = false;
        assert!(matches!(pass.step(Event::Called(Ok(granted()))), Effect::Read(_)));
        if !is_gone {
            assert_eq!(pass.step(Event::Read(Ok(()))), Effect::Done, "the next leader looks after it");
            continue;
        }
        pass.view = None;
        let effect = pass.step(Event::Read(Ok(())));
        let Effect::LastWill(Call::Revoke { id, .. }) = &effect else { panic!("{effect:?}") };
        assert_eq!(&**id, "account");
        assert_eq!(pass.step(Event::Called(Ok(CallOk::Revoked))), Effect::Done);
    }
}

/// R15: what was decided on before the loss, and did not leave any more.
#[test]
fn without_the_lease_no_secret_and_no_status_is_written() {
    let mut pass = Pass::new(access());
    pass.begin_to_grant();
    let effect = pass.step(Event::Called(Ok(granted())));
    assert!(matches!(effect, Effect::WriteSecret { .. }), "{effect:?}");
    pass.may_act = false;
    assert!(matches!(pass.step(Event::Secret(Err(WriteFailure::Conflict))), Effect::Read(_)));
    let unreadable = WriteFailure::Other { message: String::new(), retry_after: None };
    assert_eq!(pass.step(Event::Read(Err(unreadable))), Effect::Done);
}

/// R6: a new leader, whose predecessor may have sent a Grant, looks at the Secrets; meanwhile the finalizer is stripped.
#[test]
fn an_access_that_is_gone_before_its_secrets_are_is_revoked_all_the_same() {
    let mut pass = Pass::new(AccessView { deleting: true, ..access() });
    pass.predecessor_done = Time::at(Duration::from_secs(10));
    let mut effect = pass.start();
    while !matches!(effect, Effect::ReadSecret(_)) {
        assert!(matches!(effect, Effect::Read(_)), "{effect:?}");
        effect = pass.step(Event::Read(Ok(())));
    }
    // It goes while that read is under way.
    pass.view = None;
    while !matches!(effect, Effect::Call(_) | Effect::Done | Effect::Wait(_)) {
        effect = match effect {
            Effect::Tell(_) => pass.step(Event::Told),
            Effect::Read(_) => pass.step(Event::Read(Ok(()))),
            _ => pass.secret(None),
        };
    }
    assert!(matches!(effect, Effect::Call(Call::RevokeByName(_))), "{effect:?}");
}
