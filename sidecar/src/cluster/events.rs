//! Kubernetes Events: best effort, for what a person should know (R16).

use std::time::Duration;

use cosi_api::{Bucket, BucketAccess, BucketClaim};
use cosi_lifecycle::{Kind, Note, ObjectRef, Severity};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, Resource};

use crate::environment::Env;

/// The API server refuses longer texts, in bytes.
const LONGEST_TEXT: usize = 1024;

/// An Event that cannot be delivered in this time is dropped; the log has it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes Events.
#[derive(Clone)]
pub struct Reporter {
    env: Env,
    client: Client,
    instance: String,
}

impl Reporter {
    /// A reporter that signs as `cosi-sidecar` of this host.
    #[must_use]
    pub fn new(env: Env, client: Client) -> Self {
        let instance = env.host();
        Self { env, client, instance }
    }

    /// Tells of `note` on its object and on whatever gets a copy, each in its own namespace (C26). Those on cluster-scoped
    /// objects go to `default`, as Kubernetes does.
    pub async fn tell(&self, note: &Note) {
        for object in std::iter::once(&note.about).chain(&note.copy) {
            let namespace = object.namespace.as_deref().unwrap_or("default");
            self.create(namespace, note, reference(object)).await;
        }
    }

    async fn create(&self, namespace: &str, note: &Note, regarding: ObjectReference) {
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let event = self.event(namespace, note, regarding);
        match tokio::time::timeout(PATIENCE, api.create(&PostParams::default(), &event)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::debug!(%namespace, error = crate::chain(&error), "Event not delivered");
            }
            Err(_) => tracing::debug!(%namespace, "Event not delivered in time"),
        }
    }

    fn event(&self, namespace: &str, note: &Note, regarding: ObjectReference) -> Event {
        let now = self.env.wall();
        let type_ = match note.severity {
            Severity::Normal => "Normal",
            Severity::Warning => "Warning",
        };
        // An Event's name is a DNS subdomain of at most 253 characters, and the object's may use all of them.
        let prefix: String = regarding.name.iter().flat_map(|n| n.chars()).take(200).collect();
        let unique = format!("{:x}{:04x}", now.as_nanosecond(), self.env.random() & 0xffff);
        Event {
            metadata: ObjectMeta {
                name: Some(format!("{}.{unique}", prefix.trim_end_matches(['.', '-']))),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            },
            type_: Some(type_.to_owned()),
            reason: Some(note.reason.to_string()),
            action: Some("Reconcile".to_owned()),
            note: Some(cut(&note.text)),
            event_time: Some(MicroTime(now)),
            reporting_controller: Some("objectstorage.k8s.io/cosi-sidecar".to_owned()),
            reporting_instance: Some(self.instance.clone()),
            regarding: Some(regarding),
            ..Event::default()
        }
    }
}

fn reference(object: &ObjectRef) -> ObjectReference {
    let (api_version, kind) = match object.kind {
        Kind::Bucket => (Bucket::api_version(&()), Bucket::kind(&())),
        Kind::BucketClaim => (BucketClaim::api_version(&()), BucketClaim::kind(&())),
        Kind::BucketAccess => (BucketAccess::api_version(&()), BucketAccess::kind(&())),
    };
    ObjectReference {
        api_version: Some(api_version.into_owned()),
        kind: Some(kind.into_owned()),
        name: Some(object.name.to_string()),
        namespace: object.namespace.as_deref().map(str::to_owned),
        uid: Some(object.uid.to_string()),
        ..ObjectReference::default()
    }
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = format!("a{}", "ü".repeat(600));
        let cut = cut(&text);
        assert!(cut.len() <= LONGEST_TEXT && text.starts_with(&cut) && cut.len() > LONGEST_TEXT - 3);
    }
}
