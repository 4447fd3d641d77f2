//! The process dies after the k-th step of a create or delete, for every k: nothing looks foreign, nothing is orphaned, and
//! repeating the call ends as if nothing had happened.

use tempfile::TempDir;

use super::{
    decide::Step,
    tests::{object, open, request},
    *,
};

/// A data directory in which `prepare` was done, and then the first `k` of the steps that `plan` wants.
fn crashed(k: usize, prepare: fn(&TempDir), plan: fn(&Disk) -> Vec<Step>) -> (TempDir, usize) {
    let data = TempDir::new().unwrap();
    prepare(&data);
    let disk = Disk::open(data.path()).unwrap();
    let steps = plan(&disk);
    disk.run(&steps[..k.min(steps.len())]).unwrap();
    (data, steps.len())
}

/// What must hold at any moment: a bucket that is there has the marker of the request that it was made for.
fn no_bucket_without_marker(data: &TempDir) {
    let disk = Disk::open(data.path()).unwrap();
    for id in disk.folders.list().unwrap() {
        let marker = disk.ledger.by_id(&id).unwrap().expect("a bucket without a marker");
        assert!(marker.answers(&request("bc-1", "true")));
    }
}

fn nothing(_: &TempDir) {}

fn made_and_filled(data: &TempDir) {
    let disk = Disk::open(data.path()).unwrap();
    disk.run(&create_steps(&disk)).unwrap();
    std::fs::write(object(data, "bc-1", "key"), "content").unwrap();
}

fn create_steps(disk: &Disk) -> Vec<Step> {
    let id = "bc-1".parse().unwrap();
    decide::create(&disk.look_for_create("bc-1", &id).unwrap(), &request("bc-1", "true"), &id).unwrap()
}

fn delete_steps(disk: &Disk) -> Vec<Step> {
    let id = "bc-1".parse().unwrap();
    let seen = disk.look_for_delete(disk.ledger.by_id(&id).unwrap(), &id).unwrap();
    decide::delete(&seen, &id, Contents::Discard).unwrap()
}

/// Runs `check` on a directory for each number of steps done.
async fn at_every_step<F: Future>(
    prepare: fn(&TempDir),
    plan: fn(&Disk) -> Vec<Step>,
    expected_steps: usize,
    check: impl Fn(TempDir) -> F,
) {
    for k in 0..=expected_steps {
        let (data, steps) = crashed(k, prepare, plan);
        assert_eq!(steps, expected_steps);
        no_bucket_without_marker(&data);
        check(data).await;
    }
}

#[tokio::test]
async fn a_create_that_died_at_any_step_is_finished_by_its_repeat() {
    at_every_step(nothing, create_steps, 2, async |data| {
        let store = open(&data, "");
        let id = store.create(request("bc-1", "true")).await.unwrap();
        assert!(store.exists(&id).unwrap());
    })
    .await;
}

/// R10 d: the sidecar never learnt an id.
#[tokio::test]
async fn a_create_that_died_at_any_step_is_undone_by_name() {
    at_every_step(nothing, create_steps, 2, async |data| {
        let store = open(&data, "");
        store.delete_by_name(request("bc-1", "true"), Contents::Discard).await.unwrap();
        assert_eq!(store.list().unwrap(), []);
        assert_eq!(store.disk.ledger.by_name("bc-1").unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_create_that_died_at_any_step_is_undone_by_name_under_another_prefix() {
    at_every_step(nothing, create_steps, 2, async |data| {
        let store = open(&data, "new-");
        store.delete_by_name(request("bc-1", "true"), Contents::Discard).await.unwrap();
        assert_eq!(store.list().unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_delete_that_died_at_any_step_is_finished_by_its_repeat() {
    at_every_step(made_and_filled, delete_steps, 3, async |data| {
        let store = open(&data, "");
        store.delete(&"bc-1".parse().unwrap(), Contents::Discard).await.unwrap();
        assert_eq!(store.list().unwrap(), []);
        assert_eq!(store.disk.ledger.by_name("bc-1").unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_delete_that_died_at_any_step_is_finished_by_name() {
    at_every_step(made_and_filled, delete_steps, 3, async |data| {
        let store = open(&data, "");
        store.delete_by_name(request("bc-1", "true"), Contents::Discard).await.unwrap();
        assert_eq!(store.list().unwrap(), []);
        assert_eq!(store.disk.ledger.by_name("bc-1").unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn after_a_delete_that_died_a_new_bucket_of_the_name_is_empty_once_the_old_one_was_gone() {
    at_every_step(made_and_filled, delete_steps, 3, async |data| {
        let gone = !object(&data, "bc-1", "key").exists();
        let store = open(&data, "");
        store.create(request("bc-1", "true")).await.unwrap();
        assert_eq!(object(&data, "bc-1", "key").exists(), !gone);
    })
    .await;
}

fn made_and_granted(data: &TempDir) {
    made_and_filled(data);
    let disk = Disk::open(data.path()).unwrap();
    disk.ledger.grant(&account(), |id| disk.folders.exists(id)).unwrap();
}

fn account() -> AccountRequest {
    let scope = Scope { read: true, write: true };
    AccountRequest { name: "ba-1".into(), buckets: [("bc-1".parse().unwrap(), scope)].into() }
}

/// Rights end with the bucket, wherever a delete died, and whoever makes the next bucket of that id.
#[tokio::test]
async fn after_a_delete_that_died_nobody_has_rights_on_the_next_bucket_once_the_old_one_was_gone() {
    for by_create in [true, false] {
        at_every_step(made_and_granted, delete_steps, 3, async |data| {
            let gone = !object(&data, "bc-1", "key").exists();
            let store = open(&data, "");
            if by_create {
                store.create(request("bc-1", "true")).await.unwrap();
            } else {
                std::fs::create_dir_all(object(&data, "bc-1", "")).unwrap();
            }
            let (bucket, before) = ("bc-1".parse().unwrap(), Scope { read: !gone, write: !gone });
            let rights = |key: &KeyPair| store.scope(&key.access_key, &bucket).unwrap();
            // The ledger itself, as a grant would give the rights anew.
            let key = store.disk.ledger.key_of("ba-1").unwrap().unwrap();
            assert_eq!(rights(&key), before);
            store.grant(account()).await.unwrap();
            assert_eq!(rights(&key), Scope { read: true, write: true });
        })
        .await;
    }
}

/// The folder was moved, but the call failed before the ledger was told; the process lives on.
#[tokio::test]
async fn a_create_after_a_delete_that_failed_half_way_gives_nobody_the_old_rights() {
    let data = TempDir::new().unwrap();
    made_and_granted(&data);
    let store = open(&data, "");
    let (bucket, key) = ("bc-1".parse().unwrap(), store.disk.ledger.key_of("ba-1").unwrap().unwrap());
    store.disk.folders.take_away(&bucket).unwrap();
    store.create(request("bc-1", "true")).await.unwrap();
    assert_eq!(store.scope(&key.access_key, &bucket).unwrap(), Scope::default());
}

/// A crash in the middle of a step leaves things in `work` only.
#[tokio::test]
async fn what_a_crash_left_in_the_work_folder_is_gone_after_a_restart() {
    let data = TempDir::new().unwrap();
    drop(open(&data, ""));
    std::fs::create_dir_all(data.path().join("work/bc-1").join(OBJECTS).join("half")).unwrap();
    let store = open(&data, "");
    assert_eq!(std::fs::read_dir(data.path().join("work")).unwrap().count(), 0);
    assert_eq!(store.list().unwrap(), []);
}
