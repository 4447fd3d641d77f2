//! The fault proxy over real sockets: a tiny API server behind it, a plain HTTP client before it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(unreachable_pub, reason = "shared within this test")]

mod support;
mod watching;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cosi_sim::proxy::{Action, Match, Refusal, Verb};
use support::{BUCKETS, start};

#[tokio::test]
async fn what_no_rule_is_about_goes_through_with_the_token_and_is_counted() {
    let (server, proxy, client) = start().await;
    let answer = client.send("PATCH", &format!("{BUCKETS}/b/status?fieldManager=x")).await.unwrap();
    assert_eq!((answer.code, answer.text), (200, format!("PATCH {BUCKETS}/b/status")));
    client.send("GET", BUCKETS).await.unwrap();
    client.send("POST", "/apis/coordination.k8s.io/v1/namespaces/n/leases").await.unwrap();

    assert_eq!(server.headers_of_last()["authorization"], "Bearer sesame");
    assert_eq!((proxy.writes(), proxy.reads()), (1, 1), "leases are nobody's cost");
    assert_eq!(proxy.count(&Match::patch("buckets/status").named("b")), 1);
    assert_eq!(proxy.count(&Match::patch("buckets")), 0);
    let log = proxy.log();
    assert_eq!(log.entries[0].request.verb, Verb::Patch);
    assert!(log.entries[0].applied());
}

#[tokio::test]
async fn a_refusal_is_a_kubernetes_status_and_the_server_never_hears_of_it() {
    let (server, proxy, client) = start().await;
    for (code, reason) in [
        (409, "Conflict"),
        (422, "Invalid"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ] {
        let rule = proxy.rule(Match::writes().on("buckets").first(1), Action::status(code));
        let answer = client.send("PATCH", &format!("{BUCKETS}/b")).await.unwrap();
        let status: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!((answer.code, rule.hits()), (code, 1));
        assert_eq!((&status["kind"], &status["reason"]), (&"Status".into(), &reason.into()));
        assert_eq!(answer.headers.contains_key("retry-after"), code == 429);
    }
    let slow_down = Refusal::new(429).retry_after(Duration::from_millis(1500)).message("slow down");
    proxy.rule(Match::get("buckets"), Action::refuse(slow_down));
    let answer = client.send("GET", &format!("{BUCKETS}/b")).await.unwrap();
    assert_eq!(answer.headers["retry-after"], "2");
    assert!(answer.text.contains("slow down"));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_cut_request_never_arrives_and_a_lost_answer_was_applied() {
    let (server, proxy, client) = start().await;
    proxy.rule(Match::patch("buckets").nth(1), Action::cut());
    proxy.rule(Match::patch("buckets").nth(2), Action::lose_answer());
    assert!(client.send("PATCH", &format!("{BUCKETS}/b")).await.is_err());
    assert!(server.seen().is_empty());

    assert!(client.send("PATCH", &format!("{BUCKETS}/b")).await.is_err());
    assert_eq!(server.seen().len(), 1);
    proxy.wait_applied(&Match::patch("buckets"), 1).await.unwrap();

    assert_eq!(client.send("PATCH", &format!("{BUCKETS}/b")).await.unwrap().code, 200);
    assert_eq!(proxy.writes(), 3, "nothing was repeated behind our back");
}

#[tokio::test]
async fn a_held_request_goes_on_when_released_even_if_its_client_has_gone() {
    let (server, proxy, client) = start().await;
    let rule = proxy.rule(Match::patch("buckets"), Action::hold());
    let sending = tokio::spawn(async move { client.send("PATCH", &format!("{BUCKETS}/b")).await });
    let request = rule.wait_hit().await.unwrap();
    assert_eq!(request.name, "b");
    sending.abort();
    assert!(sending.await.is_err());
    assert!(server.seen().is_empty());

    rule.release();
    proxy.wait_applied(&Match::patch("buckets"), 1).await.unwrap();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_held_answer_was_applied_before() {
    let (_server, proxy, client) = start().await;
    let rule = proxy.rule(Match::patch("buckets"), Action::hold_answer());
    let sending = tokio::spawn(async move { client.send("PATCH", &format!("{BUCKETS}/b")).await });
    proxy.wait_applied(&Match::patch("buckets"), 1).await.unwrap();
    assert!(!sending.is_finished());
    rule.release();
    assert_eq!(sending.await.unwrap().unwrap().code, 200);
}

#[tokio::test]
async fn callbacks_run_exactly_before_and_after_the_server_does_it() {
    let (server, proxy, client) = start().await;
    let seen_by = Arc::new(Mutex::new(Vec::new()));
    let look = || {
        let (server, seen_by) = (server.clone(), Arc::clone(&seen_by));
        move |_request| {
            seen_by.lock().unwrap().push(server.seen().len());
            std::future::ready(())
        }
    };
    proxy.rule(Match::patch("buckets"), Action::forward().before(look()).after(look()).then_lose_answer());
    assert!(client.send("PATCH", &format!("{BUCKETS}/b")).await.is_err());
    assert_eq!(*seen_by.lock().unwrap(), [0, 1]);
}

#[tokio::test]
async fn a_script_gives_each_request_its_own_fate() {
    let (_server, proxy, client) = start().await;
    proxy.script(Match::patch("buckets"), [Action::status(409), Action::cut(), Action::status(500)]);
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(client.send("PATCH", &format!("{BUCKETS}/b")).await.map_or(0, |answer| answer.code));
    }
    assert_eq!(codes, [409, 0, 500, 200]);
}

#[tokio::test]
async fn a_delay_delays_and_a_hanging_request_never_ends() {
    let (server, proxy, client) = start().await;
    proxy.rule(Match::get("buckets").named("slow"), Action::delay(Duration::from_millis(50)));
    proxy.rule(Match::get("buckets").named("never"), Action::hang());
    let begun = std::time::Instant::now();
    client.send("GET", &format!("{BUCKETS}/slow")).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(50));
    let never = format!("{BUCKETS}/never");
    let hanging = tokio::time::timeout(Duration::from_millis(100), client.send("GET", &never));
    assert!(hanging.await.is_err());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn while_down_nothing_gets_through_and_afterwards_everything_does() {
    let (server, proxy, client) = start().await;
    let mut watch = client.watch(BUCKETS).await;
    proxy.go_down();
    assert_eq!(watch.next().await, support::Next::Broken);
    assert!(client.send("GET", BUCKETS).await.is_err());
    proxy.go_up();
    assert_eq!(client.send("GET", BUCKETS).await.unwrap().code, 200);
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn the_log_tells_the_story_without_anybodys_secrets() {
    let (_server, proxy, client) = start().await;
    proxy.script(Match::any(), [Action::cut(), Action::status(503), Action::lose_answer()]);
    for _ in 0..4 {
        let _ = client.send("PATCH", &format!("{BUCKETS}/b/status")).await;
    }
    let log = proxy.log().to_string();
    let ends = ["not forwarded, cut", "not forwarded, told 503", "upstream 200, cut", "upstream 200\n"];
    for (line, end) in log.split_inclusive('\n').zip(ends) {
        assert!(line.contains("patch  buckets/status b") && line.contains(end), "{line}");
    }
    assert!(!format!("{log} {:?}", proxy.log()).contains("canary"));
}

#[tokio::test]
async fn counts_can_begin_at_a_mark() {
    let (_server, proxy, client) = start().await;
    client.send("PATCH", &format!("{BUCKETS}/b")).await.unwrap();
    let mark = proxy.mark();
    assert_eq!(proxy.writes_since(mark), 0);
    client.send("DELETE", &format!("{BUCKETS}/b")).await.unwrap();
    assert_eq!(proxy.writes_since(mark), 1);
    assert_eq!(proxy.log().since(mark).only(&Match::delete("buckets")).entries.len(), 1);
}

#[tokio::test]
async fn quiet_is_when_nothing_has_come_for_long_enough() {
    let (_server, proxy, client) = start().await;
    let silence = Duration::from_millis(60);
    let sending = tokio::spawn(async move {
        let mut pace = tokio::time::interval(silence / 6);
        for _ in 0..12 {
            pace.tick().await;
            client.send("PATCH", &format!("{BUCKETS}/b")).await.unwrap();
        }
    });
    proxy.wait_count_since(proxy.mark(), &Match::writes(), 1).await.unwrap();
    proxy.wait_quiet(&Match::writes(), silence * 5).await.unwrap();
    assert!(sending.is_finished());
    assert_eq!(proxy.writes(), 12);
}

#[tokio::test]
async fn many_requests_at_once_are_all_forwarded_once() {
    let (server, proxy, client) = start().await;
    let senders = (0..16).map(|sender| {
        let client = client.clone();
        tokio::spawn(async move {
            for n in 0..60 {
                let path = format!("{BUCKETS}/b-{sender}-{n}");
                assert_eq!(client.send("PATCH", &path).await.unwrap().code, 200);
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    assert_eq!((proxy.writes(), server.seen().len()), (960, 960));
}
