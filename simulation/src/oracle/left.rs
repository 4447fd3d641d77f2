//! What is left in the end, for people.

use serde_json::Value;

use super::{finalizers, is_deleting, is_ready, text};
use crate::world::World;

impl World {
    /// The object, its Secret, and what the backend holds.
    pub(crate) fn what_is_left(&self) -> Vec<String> {
        let object = self.object().map(|object| described(&object));
        let mut left = vec![format!("the object: {}", object.unwrap_or_else(|| "gone".to_owned()))];
        left.extend(self.stored_secret().map(|secret| format!("a Secret of {}", owner(&secret))));
        for bucket in self.driver.buckets() {
            let half = if bucket.half { ", half-made" } else { "" };
            let whose = if bucket.foreign {
                "somebody else's".to_owned()
            } else {
                format!("made for {}", bucket.name)
            };
            left.push(format!("at the backend: bucket {}, {whose}{half}", bucket.id));
        }
        for account in self.driver.accounts() {
            left.push(format!("at the backend: account {}, made for {}", account.id, account.name));
        }
        left
    }
}

fn described(object: &Value) -> String {
    let mut words = vec![if is_ready(object) { "Ready" } else { "not Ready" }.to_owned()];
    if is_deleting(object) {
        words.push("deleting".to_owned());
    }
    words.push(format!("finalizers {:?}", finalizers(object)));
    for field in ["bucketID", "accountID"] {
        let id = text(object, &format!("/status/{field}"));
        if !id.is_empty() {
            words.push(format!("{field} {id}"));
        }
    }
    let error = text(object, "/status/error/message");
    if !error.is_empty() {
        words.push(format!("error {error:?}"));
    }
    words.join(", ")
}

fn owner(secret: &Value) -> String {
    let owner = text(secret, "/metadata/ownerReferences/0/name");
    if owner.is_empty() { "somebody else's".to_owned() } else { owner.to_owned() }
}
