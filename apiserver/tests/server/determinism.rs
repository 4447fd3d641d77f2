//! The same requests get the same answers.

use std::sync::Arc;

use cosi_apiserver::{ApiServer, Clock, Settings};
use jiff::Timestamp;
use serde_json::json;

use crate::support::{BUCKETS, SECRETS, bucket, delete, get, merge, post};

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Everything that a life of some objects is answered with.
async fn life(seed: u64) -> Vec<String> {
    let server = ApiServer::new(Settings { clock: Arc::new(Stopped), seed, ..Settings::default() }).unwrap();
    let mut answers = Vec::new();
    for name in ["b", "a", "c"] {
        answers.push(post(&server, BUCKETS, &bucket(name)).await);
    }
    answers.push(post(&server, SECRETS, &json!({"metadata": {"generateName": "s-"}})).await);
    answers.push(merge(&server, &format!("{BUCKETS}/a"), &json!({"metadata": {"labels": {"x": "y"}}})).await);
    answers.push(delete(&server, &format!("{BUCKETS}/c"), &json!({"propagationPolicy": "Foreground"})).await);
    server.settle();
    answers.push(get(&server, BUCKETS).await);
    answers.push(get(&server, SECRETS).await);
    answers.iter().map(|answer| format!("{} {}", answer.code, answer.body)).collect()
}

#[tokio::test]
async fn the_same_seed_and_clock_give_the_same_answers() {
    assert_eq!(life(7).await, life(7).await);
}

#[tokio::test]
async fn another_seed_gives_other_uids() {
    assert_ne!(life(7).await, life(8).await);
}
