//! By chance: the ledger against a model of it, and whole lives of buckets against a backend that fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::collections::BTreeMap;

use common::shop::{Fault, Shop, quick_folder};
use cosi_driver_sdk::{
    BucketId, CreateBucketRequest, DeleteBucketByNameRequest, DriverInfo, Fingerprint, LedgerError,
    NameLedger, Protocol,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const NAMES: u8 = 3;
const REQUESTS: u8 = 2;

fn request(name: u8, tier: u8) -> CreateBucketRequest {
    CreateBucketRequest {
        name: format!("bc-{name}").parse().unwrap(),
        protocols: [Protocol::S3].into(),
        parameters: [("tier", tier.to_string())].into_iter().collect(),
    }
}

fn undo(name: u8, tier: u8) -> DeleteBucketByNameRequest {
    let CreateBucketRequest { name, protocols, parameters } = request(name, tier);
    DeleteBucketByNameRequest { name, protocols, parameters }
}

fn open(folder: &TempDir) -> NameLedger {
    let info = DriverInfo::new("lives.example.com", [Protocol::S3]).unwrap();
    NameLedger::open(folder.path().join("ledger.redb"), &info).unwrap()
}

fn run<T: std::fmt::Debug>(
    cases: u32,
    strategy: &impl Strategy<Value = Vec<T>>,
    test: impl Fn(Vec<T>) -> Result<(), TestCaseError>,
) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(strategy, test).unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    Announce(u8, u8),
    Record(u8, u8),
    Forget(u8),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..NAMES, 0..REQUESTS).prop_map(|(name, request)| Step::Announce(name, request)),
        4 => (0..NAMES, 0..NAMES).prop_map(|(name, id)| Step::Record(name, id)),
        2 => (0..NAMES).prop_map(Step::Forget),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..25)
}

/// What a ledger is: by name, the request and perhaps an id.
type Model = BTreeMap<String, (Fingerprint, Option<String>)>;

async fn step_agrees(ledger: &NameLedger, model: &mut Model, step: &Step) -> Result<(), TestCaseError> {
    let buckets = ledger.buckets();
    match *step {
        Step::Announce(name, tier) => {
            let request = request(name, tier);
            let wanted = Fingerprint::from(&request);
            let known = model.entry(request.name.to_string()).or_insert((wanted.clone(), None)).clone();
            match buckets.announce(&request.name, &request).await {
                Ok(entry) => prop_assert_eq!((entry.request, entry.id.map(String::from)), known),
                Err(LedgerError::OtherRequest { .. }) => prop_assert!(!known.0.matches(&wanted)),
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            }
        }
        Step::Record(name, id) => {
            let (name, id) = (format!("bc-{name}"), id.to_string());
            let taken = model.iter().any(|(other, (_, found))| *other != name && found.as_ref() == Some(&id));
            match (buckets.record(&name, &id.parse().unwrap()).await, model.get_mut(&name)) {
                (Ok(()), Some(entry)) if !taken => entry.1 = Some(id),
                (Err(LedgerError::NoEntry { .. }), None) => {}
                (Err(LedgerError::IdTaken { .. }), Some(_)) if taken => {}
                (outcome, _) => return Err(TestCaseError::fail(format!("{outcome:?}, taken: {taken}"))),
            }
        }
        Step::Forget(name) => {
            let name = format!("bc-{name}");
            buckets.forget(&name).await.unwrap();
            model.remove(&name);
        }
        Step::Reopen => {}
    }
    Ok(())
}

async fn all_agrees(ledger: &NameLedger, model: &Model) -> Result<(), TestCaseError> {
    let buckets = ledger.buckets();
    for name in (0..NAMES).map(|name| format!("bc-{name}")) {
        let found =
            buckets.find(&name).await.unwrap().map(|entry| (entry.request, entry.id.map(String::from)));
        prop_assert_eq!(found.as_ref(), model.get(&name));
    }
    for id in (0..NAMES).map(|id| id.to_string()) {
        let owner = model.iter().find(|(_, (_, found))| found.as_ref() == Some(&id));
        let found = buckets.name_of(&id.parse().unwrap()).await.unwrap();
        prop_assert_eq!(found.as_ref(), owner.map(|(name, _)| name));
    }
    Ok(())
}

#[test]
fn a_ledger_does_what_a_map_in_memory_would_do_and_keeps_it() {
    let runtime = Runtime::new().unwrap();
    run(100, &steps(), |steps| {
        runtime.block_on(async {
            let (folder, mut model) = (quick_folder(), Model::new());
            let mut ledger = Some(open(&folder));
            for step in &steps {
                if matches!(step, Step::Reopen) {
                    ledger = None;
                }
                let ledger = ledger.get_or_insert_with(|| open(&folder));
                step_agrees(ledger, &mut model, step).await?;
                all_agrees(ledger, &model).await?;
            }
            Ok(())
        })
    });
}

#[derive(Debug, Clone)]
enum Event {
    Make(u8, u8),
    Unmake(u8, u8),
    /// The bucket that the last good make of this name answered.
    Delete(u8),
    /// What is late happens, and nothing else.
    Land,
}

/// Each with what goes wrong at one of its calls to the backend.
fn events() -> impl Strategy<Value = Vec<(Event, Option<(usize, Fault)>)>> {
    let event = prop_oneof![
        4 => (0..NAMES, 0..REQUESTS).prop_map(|(name, tier)| Event::Make(name, tier)),
        2 => (0..NAMES, 0..REQUESTS).prop_map(|(name, tier)| Event::Unmake(name, tier)),
        2 => (0..NAMES).prop_map(Event::Delete),
        1 => Just(Event::Land),
    ];
    let fault = proptest::option::of((0..4_usize, proptest::sample::select(Fault::ALL.to_vec())));
    proptest::collection::vec((event, fault), 1..20)
}

/// I1, I2, I4: whatever failed before, after a good undo of every request nothing of ours is left and nothing foreign is
/// gone; and a make never answers an id of another name.
#[test]
fn after_any_life_the_undo_of_every_request_leaves_nothing_but_what_is_foreign() {
    let runtime = Runtime::new().unwrap();
    run(200, &events(), |events| {
        runtime.block_on(async {
            let (folder, shop) = (quick_folder(), Shop::default());
            shop.put_foreign("foreign");
            let mut answered: BTreeMap<u8, BucketId> = BTreeMap::new();
            let mut ledger = None;
            for (event, fault) in events {
                shop.fail(fault.into_iter().collect());
                // As a sidecar does, which undoes nothing before a lost call has certainly ended (R3).
                if !matches!(event, Event::Make(..)) {
                    shop.land();
                }
                let buckets = ledger.get_or_insert_with(|| open(&folder)).buckets();
                let died = match event {
                    Event::Make(name, tier) => {
                        let request = request(name, tier);
                        let made = shop.unless_dead(buckets.make(&request.name, &request, &shop)).await;
                        if let Some(Ok(id)) = made.clone() {
                            prop_assert!(shop.ids().contains(&id.to_string()), "{id} is not there");
                            let twice = answered.iter().any(|(other, known)| *other != name && *known == id);
                            prop_assert!(!twice, "{id} is another name's");
                            answered.insert(name, id);
                            false
                        } else {
                            made.is_none()
                        }
                    }
                    Event::Unmake(name, tier) => {
                        let undo = undo(name, tier);
                        shop.unless_dead(buckets.unmake(&undo.name, &undo, &shop)).await.is_none()
                    }
                    Event::Delete(name) => match answered.get(&name) {
                        Some(id) => shop.unless_dead(buckets.delete(id, &shop)).await.is_none(),
                        None => false,
                    },
                    Event::Land => false,
                };
                if died {
                    ledger = None;
                }
            }
            shop.mend();
            shop.land();
            drop(ledger);
            let buckets = open(&folder).buckets();
            for (name, tier) in (0..NAMES).flat_map(|name| (0..REQUESTS).map(move |tier| (name, tier))) {
                let undo = undo(name, tier);
                buckets.unmake(&undo.name, &undo, &shop).await.unwrap();
            }
            prop_assert_eq!(shop.ids(), ["foreign"]);
            Ok(())
        })
    });
}
