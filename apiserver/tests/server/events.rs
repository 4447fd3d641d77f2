//! Events, which are served in two forms and do not stay.

use std::sync::{Arc, Mutex};

use cosi_apiserver::{ApiServer, Clock, Settings};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::support::{get, merge, post};

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

#[derive(Clone, Debug)]
struct Hands(Arc<Mutex<Timestamp>>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

impl Hands {
    fn advance(&self, minutes: i64) {
        *self.0.lock().unwrap() += SignedDuration::from_mins(minutes);
    }
}

fn server() -> (ApiServer, Hands) {
    let hands = Hands(Arc::new(Mutex::new("2026-11-29T10:00:00Z".parse().unwrap())));
    let settings = Settings { clock: Arc::new(hands.clone()), ..Settings::default() };
    (ApiServer::new(settings).unwrap(), hands)
}

fn event(name: &str) -> serde_json::Value {
    json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": name },
        "eventTime": "2026-11-29T10:00:00.000000Z", "reportingController": "example.org/a", "reportingInstance": "a",
        "action": "A", "reason": "R", "type": "Normal", "note": "text",
        "regarding": { "kind": "Secret", "namespace": "default", "name": "s" },
    })
}

#[tokio::test]
async fn an_event_is_the_same_object_in_both_groups() {
    let (server, _) = server();
    let made = post(&server, NEW, &event("a")).await;
    assert_eq!(made.code, 201, "{made:?}");
    let core = get(&server, &format!("{CORE}/a")).await.body;
    assert_eq!((&core["message"], &core["involvedObject"]["name"]), (&json!("text"), &json!("s")));
    assert_eq!(
        (&core["apiVersion"], &core["metadata"]["uid"]),
        (&json!("v1"), &made.body["metadata"]["uid"])
    );
    let changed = merge(&server, &format!("{CORE}/a"), &json!({"message": "other"})).await;
    assert_eq!(changed.code, 200, "{changed:?}");
    assert_eq!(get(&server, &format!("{NEW}/a")).await.body["note"], "other");
    let selected = get(&server, &format!("{CORE}?fieldSelector=involvedObject.name%3Ds")).await.body;
    assert_eq!(selected["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn events_go_an_hour_after_their_last_change() {
    let (server, hands) = server();
    post(&server, NEW, &event("a")).await;
    post(&server, NEW, &event("b")).await;
    hands.advance(40);
    merge(&server, &format!("{CORE}/b"), &json!({"message": "again"})).await;
    hands.advance(40);
    post(&server, NEW, &event("c")).await;
    assert_eq!(get(&server, &format!("{CORE}/a")).await.code, 404);
    assert_eq!(get(&server, &format!("{CORE}/b")).await.code, 200);
    hands.advance(40);
    post(&server, NEW, &event("d")).await;
    assert_eq!(get(&server, &format!("{CORE}/b")).await.code, 404);
}
