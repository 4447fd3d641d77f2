use std::{fs, os::unix::fs::PermissionsExt as _};

use rstest::rstest;
use tempfile::TempDir;

use super::{
    tests::{object, open, request},
    *,
};

const BOTH: Scope = Scope { read: true, write: true };
const READ: Scope = Scope { read: true, write: false };
const NONE: Scope = Scope { read: false, write: false };

fn id(text: &str) -> BucketId {
    text.parse().unwrap()
}

fn wish(name: &str, buckets: &[(&str, Scope)]) -> AccountRequest {
    let buckets = buckets.iter().map(|(bucket, scope)| (id(bucket), *scope)).collect();
    AccountRequest { name: name.into(), buckets }
}

/// A store with `bc-1` and `bc-2`.
async fn with_buckets(data: &TempDir) -> Store {
    let store = open(data, "");
    for name in ["bc-1", "bc-2"] {
        store.create(request(name, "true")).await.unwrap();
    }
    store
}

/// What an account with that key may do with `bc-1`.
fn on_bc_1(store: &Store, key: &KeyPair) -> Scope {
    store.scope(&key.access_key, &id("bc-1")).unwrap()
}

fn secret(store: &Store, key: &KeyPair) -> Option<String> {
    store.secret(&key.access_key).unwrap().map(|secret| secret.expose().to_owned())
}

/// COSI-GRANT-1, COSI-GRANT-5.
#[tokio::test]
async fn the_same_grant_answers_the_same_key_also_after_a_restart() {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    let wanted = wish("ba-1", &[("bc-1", BOTH), ("bc-2", READ)]);
    let first = store.grant(wanted.clone()).await.unwrap();
    drop(store);
    let store = open(&data, "");
    let again = store.grant(wanted).await.unwrap();
    assert_eq!(first.access_key, again.access_key);
    assert_eq!(secret(&store, &first).as_deref(), Some(again.secret.expose()));
    assert_eq!(on_bc_1(&store, &first), BOTH);
    assert_eq!(store.scope(&first.access_key, &id("bc-2")).unwrap(), READ);
    assert_eq!(store.scope(&first.access_key, &id("bc-3")).unwrap(), NONE);
    assert_eq!(store.accounts().unwrap(), ["ba-1"]);
}

/// COSI-GRANT-3, COSI-REVNAME-3.
#[rstest]
#[case::mode(wish("ba-1", &[("bc-1", READ)]))]
#[case::more(wish("ba-1", &[("bc-1", BOTH), ("bc-2", BOTH)]))]
#[case::other(wish("ba-1", &[("bc-2", BOTH)]))]
#[case::absent(wish("ba-1", &[("bc-3", BOTH)]))]
#[tokio::test]
async fn another_grant_of_the_name_is_refused_and_changes_nothing(#[case] other: AccountRequest) {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    let key = store.grant(wish("ba-1", &[("bc-1", BOTH)])).await.unwrap();
    let refused = store.grant(other.clone()).await.unwrap_err();
    assert!(matches!(&refused, GrantError::OtherRequest(name) if name == "ba-1"), "{refused:?}");
    let buckets: std::collections::BTreeSet<_> = other.buckets.into_keys().collect();
    if buckets != [id("bc-1")].into() {
        store.revoke_by_name("ba-1", buckets).await.unwrap();
    }
    assert_eq!(secret(&store, &key).as_deref(), Some(key.secret.expose()));
    assert_eq!(on_bc_1(&store, &key), BOTH);
    assert_eq!(store.scope(&key.access_key, &id("bc-2")).unwrap(), NONE);
}

#[tokio::test]
async fn a_grant_for_a_bucket_that_is_not_there_makes_nothing() {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    let refused = store.grant(wish("ba-1", &[("bc-1", BOTH), ("bc-3", BOTH)])).await.unwrap_err();
    assert!(matches!(&refused, GrantError::NoBucket(bucket) if bucket.as_str() == "bc-3"), "{refused:?}");
    assert!(store.accounts().unwrap().is_empty());
}

#[rstest]
#[case::by_id(true)]
#[case::by_name(false)]
#[tokio::test]
async fn a_revoked_account_leaves_nothing_and_revoking_it_again_succeeds(#[case] by_id: bool) {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    let key = store.grant(wish("ba-1", &[("bc-1", BOTH), ("bc-2", READ)])).await.unwrap();
    let other = store.grant(wish("ba-2", &[("bc-1", BOTH)])).await.unwrap();
    for _ in 0..2 {
        if by_id {
            store.revoke("ba-1").await.unwrap();
        } else {
            store.revoke_by_name("ba-1", [id("bc-1"), id("bc-2")].into()).await.unwrap();
        }
        assert_eq!(secret(&store, &key), None);
        assert_eq!(on_bc_1(&store, &key), NONE);
        assert_eq!(store.accounts().unwrap(), ["ba-2"]);
        assert_eq!(on_bc_1(&store, &other), BOTH);
    }
    let anew = store.grant(wish("ba-1", &[("bc-1", READ)])).await.unwrap();
    assert_ne!(anew.access_key, key.access_key);
    assert_eq!(store.scope(&anew.access_key, &id("bc-2")).unwrap(), NONE);
}

/// COSI-GRANT-1, COSI-REVOKE-3.
#[tokio::test]
async fn an_account_outlives_its_bucket_and_can_be_granted_and_revoked_without_it() {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    let wanted = wish("ba-1", &[("bc-1", BOTH)]);
    let key = store.grant(wanted.clone()).await.unwrap();
    store.delete(&id("bc-1"), Contents::Keep).await.unwrap();
    assert_eq!(store.grant(wanted).await.unwrap().access_key, key.access_key);
    assert_eq!(on_bc_1(&store, &key), NONE);
    store.revoke("ba-1").await.unwrap();
    assert!(store.accounts().unwrap().is_empty());
}

/// Trap 9: nothing of a bucket is left to its successor.
#[rstest]
#[case::a_create(true)]
#[case::a_person(false)]
#[tokio::test]
async fn rights_do_not_pass_to_a_later_bucket_of_the_same_id(#[case] by_create: bool) {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    let wanted = wish("ba-1", &[("bc-1", BOTH)]);
    let key = store.grant(wanted.clone()).await.unwrap();
    store.delete(&id("bc-1"), Contents::Keep).await.unwrap();
    if by_create {
        store.create(request("bc-1", "true")).await.unwrap();
    } else {
        fs::create_dir_all(object(&data, "bc-1", "")).unwrap();
    }
    assert_eq!(on_bc_1(&store, &key), NONE);
    assert_eq!(store.grant(wanted).await.unwrap().access_key, key.access_key);
    assert_eq!(on_bc_1(&store, &key), BOTH, "who is granted it anew may use it");
}

#[tokio::test]
async fn rights_on_a_bucket_that_a_person_made_end_with_it_too() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    fs::create_dir_all(object(&data, "bc-1", "")).unwrap();
    let key = store.grant(wish("ba-1", &[("bc-1", READ)])).await.unwrap();
    assert_eq!(on_bc_1(&store, &key), READ);
    store.delete(&id("bc-1"), Contents::Keep).await.unwrap();
    fs::create_dir_all(object(&data, "bc-1", "")).unwrap();
    assert_eq!(on_bc_1(&store, &key), NONE);
}

#[tokio::test]
async fn the_end_of_one_bucket_takes_no_rights_on_another_whose_id_begins_alike() {
    let data = TempDir::new().unwrap();
    let store = with_buckets(&data).await;
    store.create(request("bc-1-2", "true")).await.unwrap();
    store.create(request("bc-11", "true")).await.unwrap();
    let wanted = wish("ba-1", &[("bc-1", BOTH), ("bc-1-2", BOTH), ("bc-11", BOTH)]);
    let key = store.grant(wanted).await.unwrap();
    store.delete(&id("bc-1"), Contents::Keep).await.unwrap();
    for other in ["bc-1-2", "bc-11"] {
        assert_eq!(store.scope(&key.access_key, &id(other)).unwrap(), BOTH, "{other}");
    }
}

/// A grant beside the delete of its bucket: when both have ended, nobody has rights on what is gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_grants_beside_deletes_leave_no_rights_on_a_bucket_that_is_gone() {
    let data = TempDir::new().unwrap();
    let store = Arc::new(open(&data, ""));
    let mut granted = 0;
    for round in 0..200 {
        store.create(request("bc-1", "true")).await.unwrap();
        let (one, two) = (Arc::clone(&store), Arc::clone(&store));
        let grant =
            tokio::spawn(async move { one.grant(wish(&format!("ba-{round}"), &[("bc-1", BOTH)])).await });
        let delete = tokio::spawn(async move { two.delete(&id("bc-1"), Contents::Keep).await });
        delete.await.unwrap().unwrap();
        match grant.await.unwrap() {
            Ok(key) => {
                granted += 1;
                assert_eq!(on_bc_1(&store, &key), NONE, "round {round}");
            }
            Err(e) => assert!(matches!(e, GrantError::NoBucket(_)), "{e:?}"),
        }
    }
    println!("{granted} of 200 grants came before the delete");
}

/// I7.
#[tokio::test]
async fn the_ledger_is_for_its_owner_only_even_if_it_was_not_before() {
    let data = TempDir::new().unwrap();
    drop(open(&data, ""));
    let ledger = data.path().join("ledger.redb");
    let mode = || fs::metadata(&ledger).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&ledger, fs::Permissions::from_mode(0o644)).unwrap();
    drop(open(&data, ""));
    assert_eq!(mode(), 0o600);
}
