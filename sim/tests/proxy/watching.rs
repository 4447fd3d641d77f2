//! Watches through the proxy.

use serde_json::json;

use crate::support::{BUCKETS, Client, Next, Server, Watch, start};
use cosi_sim::proxy::{ApiProxy, Match};

async fn watching() -> (Server, ApiProxy, Client, Watch) {
    let (server, proxy, client) = start().await;
    let watch = client.watch(BUCKETS).await;
    (server, proxy, client, watch)
}

fn text(text: &str) -> Next {
    Next::Text(text.to_owned())
}

#[tokio::test]
async fn events_come_through_at_once_and_whole() {
    let (server, proxy, _client, mut watch) = watching().await;
    server.emit("{\"type\":\"ADDED\"}\n{\"type\":").await;
    assert_eq!(watch.next().await, text("{\"type\":\"ADDED\"}\n"));
    server.emit("\"DELETED\"}\n").await;
    assert_eq!(watch.next().await, text("{\"type\":\"DELETED\"}\n"));
    assert_eq!(proxy.events("buckets"), [json!({"type": "ADDED"}), json!({"type": "DELETED"})]);
    assert_eq!(proxy.count(&Match::watch("buckets")), 1);
}

#[tokio::test]
async fn a_cut_watch_breaks_in_the_middle() {
    let (_server, proxy, _client, mut watch) = watching().await;
    assert_eq!(proxy.cut_watches("bucketclaims"), 0);
    assert_eq!(proxy.cut_watches("buckets"), 1);
    assert_eq!(watch.next().await, Next::Broken);
    assert_eq!(proxy.cut_watches("buckets"), 0);
}

#[tokio::test]
async fn a_stalled_watch_is_silent_and_later_complete() {
    let (server, proxy, client, mut watch) = watching().await;
    proxy.stall_watches("buckets");
    server.emit("1\n").await;
    assert!(watch.is_silent().await);
    let mut new_one = client.watch(BUCKETS).await;
    server.emit("2\n").await;
    assert!(new_one.is_silent().await);
    proxy.resume_watches("buckets");
    assert_eq!((watch.next().await, watch.next().await), (text("1\n"), text("2\n")));
    assert_eq!(new_one.next().await, text("2\n"));
}

#[tokio::test]
async fn dropped_events_are_lost_until_the_client_lists_again() {
    let (server, proxy, client, mut watch) = watching().await;
    proxy.drop_events("buckets");
    server.emit("{\"type\":\"MODIFIED\"}\n{\"type\":\"BOOKMARK\"}\n").await;
    assert_eq!(watch.next().await, text("{\"type\":\"BOOKMARK\"}\n"));

    client.send("GET", &format!("{BUCKETS}?resourceVersion=0")).await.unwrap();
    server.emit("{\"type\":\"DELETED\"}\n").await;
    assert_eq!(watch.next().await, text("{\"type\":\"DELETED\"}\n"));
}

#[tokio::test]
async fn resuming_a_watch_is_no_relist() {
    let (server, proxy, client, mut watch) = watching().await;
    proxy.drop_events("buckets");
    let _resumed = client.watch(BUCKETS).await;
    server.emit("{\"type\":\"MODIFIED\"}\n").await;
    assert!(watch.is_silent().await);
}

#[tokio::test]
async fn an_expired_watch_says_410_and_ends() {
    let (_server, proxy, _client, mut watch) = watching().await;
    assert_eq!(proxy.expire_watches("buckets"), 1);
    let Next::Text(line) = watch.next().await else { panic!("no event") };
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(watch.next().await, Next::End);
}

#[tokio::test]
async fn an_injected_event_looks_like_the_servers_own() {
    let (_server, proxy, _client, mut watch) = watching().await;
    assert_eq!(proxy.inject_event("buckets", &json!({"type": "MODIFIED"})), 1);
    assert_eq!(watch.next().await, text("{\"type\":\"MODIFIED\"}\n"));
}
