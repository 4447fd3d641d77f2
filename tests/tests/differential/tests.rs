//! The tests.

use std::{env, fs};

use cosi_apiserver::{ApiServer, Settings};
use cosi_tests::{
    devcluster::{self, DevCluster, ServerOptions},
    skip,
};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::{
    call::Call,
    compare::exempt::EXEMPTIONS,
    controllers::scenarios,
    discovery::differences,
    generate::{MEAN, sequences},
    run::Pair,
    side::Side,
    survey::Survey,
};

/// A server of our own: nobody else writes to it, and what stays behind on it disturbs nobody.
fn server(test: &str) -> Option<DevCluster> {
    if !devcluster::can_start() {
        skip::report(test, "needs Go to build a Kubernetes API server with");
        return None;
    }
    Some(DevCluster::start(&ServerOptions::default()).unwrap())
}

fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name)
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn runner(seed: u64, cases: usize) -> TestRunner {
    let config = Config {
        cases: u32::try_from(cases).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Runs about `calls` calls on both; the first difference, in as few calls as can be, or none.
fn first_difference(runtime: &Runtime, pair: &Pair, seed: u64, calls: usize) -> Option<String> {
    let result = runner(seed, calls.div_ceil(MEAN)).run(&sequences(), |sequence| {
        runtime
            .block_on(pair.run(&sequence))
            .map_err(|difference| TestCaseError::fail(difference.to_string()))
    });
    match result {
        Ok(()) => None,
        Err(TestError::Fail(reason, _)) => Some(reason.to_string()),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Runs about `calls` calls on both, and collects all differences. A sequence ends with its first one.
fn survey(runtime: &Runtime, pair: &Pair, seed: u64, calls: usize) -> Survey {
    let found = std::cell::RefCell::new(Survey::default());
    let result = runner(seed, calls.div_ceil(MEAN)).run(&sequences(), |sequence| {
        if let Err(difference) = runtime.block_on(pair.run(&sequence)) {
            found.borrow_mut().add(difference);
        }
        Ok(())
    });
    result.unwrap();
    found.into_inner()
}

fn embedded() -> kube::Client {
    kube::Client::new(ApiServer::new(Settings::default()).unwrap(), "default")
}

/// Runs as many calls as the environment asks for. Differences are told, and all of them written to a file if that is wanted.
fn compare(runtime: &Runtime, pair: &Pair, calls: u64) {
    let calls = usize::try_from(number("DIFFERENTIAL_CALLS", calls)).unwrap();
    let seed = number("DIFFERENTIAL_SEED", 1);
    let Ok(path) = env::var("DIFFERENTIAL_SURVEY") else {
        let difference = first_difference(runtime, pair, seed, calls);
        assert!(difference.is_none(), "{}", difference.unwrap_or_default());
        return;
    };
    let found = survey(runtime, pair, seed, calls);
    fs::write(path, found.to_string()).unwrap();
    let (differing, all) = (found.differing(), calls.div_ceil(MEAN));
    assert!(differing == 0, "{differing} of {all} sequences end with a difference\n{found}");
}

#[test]
fn the_embedded_server_answers_as_the_real_one_does() {
    let Some(real) = server("the_embedded_server_answers_as_the_real_one_does") else { return };
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let pair = Pair { managed_fields: managed_fields(), ..Pair::new(real.client().unwrap(), embedded()) };
    compare(&runtime, &pair, 12_000);
    println!("{} calls", pair.calls());
    for exemption in &EXEMPTIONS {
        assert!(exemption.used() > 0, "nothing differs any more by {}", exemption.name);
    }
}

#[test]
fn the_embedded_server_tells_of_its_kinds_what_the_real_one_tells() {
    let name = "the_embedded_server_tells_of_its_kinds_what_the_real_one_tells";
    let Some(real) = server(name) else { return };
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let told = runtime.block_on(differences(&real.client().unwrap(), &embedded()));
    assert!(told.is_empty(), "{}", told.join("\n"));
}

fn managed_fields() -> bool {
    number("DIFFERENTIAL_MANAGED", 0) == 1
}

#[test]
fn the_real_server_does_not_differ_from_itself() {
    let name = "the_real_server_does_not_differ_from_itself";
    let (Some(one), Some(other)) = (server(name), server(name)) else { return };
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let pair = Pair { managed_fields: true, ..Pair::new(one.client().unwrap(), other.client().unwrap()) };
    compare(&runtime, &pair, 1000);
}

/// A label that the second server forgets on BucketClaims.
fn forget_label(_: &Call, answer: &mut Value) {
    if answer["body"]["kind"] == "BucketClaim"
        && let Some(labels) = answer.pointer_mut("/body/metadata/labels").and_then(Value::as_object_mut)
        && labels.get("app") == Some(&json!("b"))
    {
        labels.remove("app");
    }
}

#[test]
fn a_planted_difference_is_found_and_told_in_few_calls() {
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let pair = Pair { distortion: Some(forget_label), ..Pair::new(embedded(), embedded()) };
    let told = first_difference(&runtime, &pair, 1, 4000).unwrap();
    assert!(told.contains("/body/metadata/labels/app"), "{told}");
    // The namespace of the sequence, the object with the label, or the object and then its label.
    assert!(told.lines().filter(|line| line.contains(" → ")).count() <= 3, "{told}");
}

#[test]
fn the_real_controllers_do_not_differ_from_themselves() {
    let name = "the_real_controllers_do_not_differ_from_themselves";
    let Some(cluster) = devcluster::with_controllers_or_skip(name) else { return };
    let client = || cluster.client().unwrap();
    controllers(client, client, ['c', 'd'], 12);
}

#[test]
fn the_embedded_controllers_leave_what_the_real_ones_leave() {
    let name = "the_embedded_controllers_leave_what_the_real_ones_leave";
    let Some(cluster) = devcluster::with_controllers_or_skip(name) else { return };
    let model = || {
        let server = ApiServer::new(Settings::default()).unwrap();
        // They end with the runtime.
        tokio::spawn(cosi_apiserver::controllers::run(server.clone(), CancellationToken::new()));
        kube::Client::new(server, "default")
    };
    controllers(|| cluster.client().unwrap(), model, ['e', 'f'], 24);
}

/// Plays `cases` scenarios, each with names of its own.
fn controllers(
    real: impl Fn() -> kube::Client,
    model: impl Fn() -> kube::Client,
    letters: [char; 2],
    cases: usize,
) {
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let (real, model) = (real(), model());
    let mut number = std::process::id() * 1000;
    let number = std::cell::RefCell::new(&mut number);
    let result = runner(crate::tests::number("DIFFERENTIAL_SEED", 1), cases).run(&scenarios(), |scenario| {
        **number.borrow_mut() += 1;
        let prefix = |side: usize| format!("{}{}", letters[side], number.borrow());
        let mut sides =
            [Side::new(real.clone(), &prefix(0), None), Side::new(model.clone(), &prefix(1), None)];
        runtime.block_on(scenario.run(&mut sides)).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
