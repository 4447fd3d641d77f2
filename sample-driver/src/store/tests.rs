use std::fs;

use tempfile::TempDir;

use super::*;

pub(super) fn request(name: &str, discard: &str) -> Request {
    Request {
        name: name.into(),
        protocols: ["S3".to_owned()].into(),
        parameters: [("deleteNonEmpty".to_owned(), discard.to_owned())].into(),
    }
}

pub(super) fn open(data: &TempDir, prefix: &str) -> Store {
    Store::open(data.path(), prefix.parse().unwrap()).unwrap()
}

pub(super) fn object(data: &TempDir, id: &str, key: &str) -> std::path::PathBuf {
    data.path().join("buckets").join(id).join(OBJECTS).join(key)
}

fn put(data: &TempDir, id: &str, key: &str) {
    let path = object(data, id, key);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "content").unwrap();
}

/// A bucket that a person put there without us.
fn foreign(data: &TempDir, id: &str) {
    fs::create_dir_all(object(data, id, "")).unwrap();
}

#[tokio::test]
async fn the_same_request_finds_the_same_bucket_also_after_a_restart() {
    let data = TempDir::new().unwrap();
    let id = open(&data, "").create(request("bc-1", "false")).await.unwrap();
    put(&data, "bc-1", "kept");
    assert_eq!(open(&data, "").create(request("bc-1", "false")).await.unwrap(), id);
    assert!(object(&data, "bc-1", "kept").exists());
}

#[tokio::test]
async fn another_request_for_the_name_is_refused_and_its_undo_touches_nothing() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    let id = store.create(request("bc-1", "false")).await.unwrap();
    let other = request("bc-1", "true");
    assert!(matches!(store.create(other.clone()).await, Err(CreateError::OtherRequest(_))));
    store.delete_by_name(other, Contents::Discard).await.unwrap();
    assert!(store.exists(&id).unwrap());
    store.delete_by_name(request("bc-1", "false"), Contents::Keep).await.unwrap();
    assert!(!store.exists(&id).unwrap());
}

/// I4.
#[tokio::test]
async fn a_bucket_that_no_create_made_is_refused_on_create_and_untouched_by_its_undo() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    foreign(&data, "bc-1");
    assert!(matches!(store.create(request("bc-1", "true")).await, Err(CreateError::Foreign(_))));
    store.delete_by_name(request("bc-1", "true"), Contents::Discard).await.unwrap();
    assert!(store.exists(&"bc-1".parse().unwrap()).unwrap());
}

#[tokio::test]
async fn a_foreign_bucket_goes_when_its_id_is_given() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    foreign(&data, "static-1");
    store.delete(&"static-1".parse().unwrap(), Contents::Keep).await.unwrap();
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test]
async fn a_changed_prefix_neither_doubles_nor_orphans_a_bucket() {
    let data = TempDir::new().unwrap();
    let id = open(&data, "old-").create(request("bc-1", "false")).await.unwrap();
    let store = open(&data, "new-");
    assert_eq!(store.create(request("bc-1", "false")).await.unwrap(), id);
    store.delete_by_name(request("bc-1", "false"), Contents::Keep).await.unwrap();
    assert_eq!(store.list().unwrap(), []);
    assert_eq!(store.create(request("bc-1", "false")).await.unwrap().as_str(), "new-bc-1");
}

#[tokio::test]
async fn two_names_that_lead_to_one_id_do_not_share_a_bucket() {
    let data = TempDir::new().unwrap();
    open(&data, "").create(request("a-b", "false")).await.unwrap();
    let store = open(&data, "a-");
    assert!(matches!(store.create(request("b", "false")).await, Err(CreateError::Foreign(_))));
    store.delete_by_name(request("b", "false"), Contents::Discard).await.unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
}

#[tokio::test]
async fn deleting_what_is_not_there_succeeds() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    store.delete(&"bc-1".parse().unwrap(), Contents::Keep).await.unwrap();
    store.delete_by_name(request("bc-1", "false"), Contents::Keep).await.unwrap();
    store.delete_by_name(request(&"x".repeat(200), "false"), Contents::Keep).await.unwrap();
}

#[tokio::test]
async fn a_name_that_no_bucket_can_have_is_refused_and_leaves_no_marker() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    let long = request(&"x".repeat(64), "false");
    assert!(matches!(store.create(long.clone()).await, Err(CreateError::NotABucketName(_))));
    assert_eq!(store.disk.ledger.by_name(&long.name).unwrap(), None);
}

/// C14.
#[tokio::test]
async fn a_bucket_with_objects_stays_until_it_is_empty_or_may_be_discarded() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    let id = store.create(request("bc-1", "false")).await.unwrap();
    put(&data, "bc-1", "deep/down/key");
    assert!(matches!(store.delete(&id, Contents::Keep).await, Err(DeleteError::HasObjects(_))));
    let undo = store.delete_by_name(request("bc-1", "false"), Contents::Keep).await;
    assert!(matches!(undo, Err(DeleteError::HasObjects(_))));
    fs::remove_file(object(&data, "bc-1", "deep/down/key")).unwrap();
    store.delete(&id, Contents::Keep).await.unwrap();

    store.create(request("bc-2", "true")).await.unwrap();
    put(&data, "bc-2", "key");
    store.delete(&"bc-2".parse().unwrap(), Contents::Discard).await.unwrap();
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test]
async fn a_bucket_with_an_unfinished_upload_is_not_empty() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    let id = store.create(request("bc-1", "false")).await.unwrap();
    fs::write(data.path().join("buckets/bc-1/.upload-0000.json"), "null").unwrap();
    assert!(matches!(store.delete(&id, Contents::Keep).await, Err(DeleteError::HasUploads(_))));
}

#[tokio::test]
async fn a_delete_leaves_nothing_on_disk_that_a_successor_could_inherit() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    let id = store.create(request("bc-1", "true")).await.unwrap();
    put(&data, "bc-1", "key");
    fs::write(data.path().join("buckets/bc-1/.bucket-x.object-y.metadata.json"), "{}").unwrap();
    store.delete(&id, Contents::Discard).await.unwrap();
    store.create(request("bc-1", "true")).await.unwrap();
    let left: Vec<_> =
        fs::read_dir(data.path().join("buckets/bc-1")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, [OBJECTS]);
    assert_eq!(fs::read_dir(object(&data, "bc-1", "")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_second_process_in_the_data_directory_is_turned_away() {
    let data = TempDir::new().unwrap();
    let _first = open(&data, "");
    let second = Store::open(data.path(), IdPrefix::default());
    assert!(matches!(second, Err(OpenError::InUse(_))), "{second:?}");
}

#[tokio::test]
async fn rooms_of_buckets_that_are_gone_are_forgotten() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    for n in 0..10 {
        let id = store.create(request(&format!("bc-{n}"), "false")).await.unwrap();
        drop(store.enter(&id).await.unwrap());
        store.delete(&id, Contents::Keep).await.unwrap();
    }
    assert_eq!(store.rooms.len(), 0);
}

#[tokio::test]
async fn a_delete_waits_for_requests_inside_and_gives_up_after_a_while() {
    let data = TempDir::new().unwrap();
    let store = open(&data, "");
    let id = store.create(request("bc-1", "false")).await.unwrap();
    let inside = store.enter(&id).await.unwrap().unwrap();
    assert!(matches!(store.delete(&id, Contents::Keep).await, Err(DeleteError::InUse(_))));
    let (deleted, ()) = tokio::join!(store.delete(&id, Contents::Keep), async { drop(inside) });
    deleted.unwrap();
    assert!(store.enter(&id).await.unwrap().is_none());
}

/// The marker and the bucket agree after any interleaving, and one more undo leaves nothing (I1).
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_rounds_of_create_beside_its_undo_leave_marker_and_bucket_agreeing() {
    let data = TempDir::new().unwrap();
    let store = Arc::new(open(&data, ""));
    for round in 0..200 {
        let wanted = request(&format!("bc-{round}"), "false");
        let (one, two) = (Arc::clone(&store), Arc::clone(&store));
        let (ask, undo) = (wanted.clone(), wanted.clone());
        let create = tokio::spawn(async move { one.create(ask).await });
        let undo = tokio::spawn(async move { two.delete_by_name(undo, Contents::Keep).await });
        let id = create.await.unwrap().unwrap();
        undo.await.unwrap().unwrap();
        let marked = store.disk.ledger.by_name(&wanted.name).unwrap().is_some();
        assert_eq!(store.exists(&id).unwrap(), marked, "round {round}");
        store.delete_by_name(wanted, Contents::Keep).await.unwrap();
    }
    assert_eq!(store.list().unwrap(), []);
    assert_eq!(fs::read_dir(data.path().join("work")).unwrap().count(), 0);
}
