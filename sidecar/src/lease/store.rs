//! The one Lease at the API server.

use std::fmt;

use cosi_lifecycle::lease::{Found, Record, Stamp, Write, Written};
use futures::Stream;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Patch, WatchEvent, WatchParams};
use kube::core::Status;
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::cluster::{creation, parameters, says_gone};

/// Where the Lease is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    namespace: String,
    name: String,
}

impl Place {
    /// The Lease that sidecars of that driver share – those of other make, too.
    #[must_use]
    pub fn new(namespace: String, driver: &str) -> Self {
        Self { namespace, name: format!("cosi-sidecar-leader-{driver}") }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A request that brought no news, with what a person can do about it.
#[derive(Debug)]
pub(super) struct Trouble(pub(super) String);

/// Reads, writes and watches the Lease.
pub(super) struct Store {
    api: Api<Lease>,
    place: Place,
}

impl Store {
    pub(super) fn new(client: Client, place: Place) -> Self {
        Self { api: Api::namespaced(client, &place.namespace), place }
    }

    /// A live read. `None`: there is no Lease.
    pub(super) async fn read(&self) -> Result<Option<Found>, Trouble> {
        match self.api.get(&self.place.name).await {
            Ok(lease) => Ok(Some(found(&lease))),
            Err(kube::Error::Api(status)) if says_gone(&status, &self.place.name) => Ok(None),
            Err(error) => Err(self.trouble(&error)),
        }
    }

    /// Only the record is written, on condition of the version: whatever else is in the Lease stays.
    pub(super) async fn write(&self, write: Write) -> Result<Written, Trouble> {
        let name = &self.place.name;
        let result = match write {
            Write::Create(record) => {
                let lease = json!({ "metadata": { "name": name }, "spec": spec(&record) });
                let lease = serde_json::from_value(lease).map_err(kube::Error::SerdeError);
                match lease {
                    Ok(lease) => self.api.create(&creation(), &lease).await,
                    Err(error) => Err(error),
                }
            }
            Write::Update { version, record } => {
                let patch = json!({ "metadata": { "resourceVersion": version }, "spec": spec(&record) });
                self.api.patch(name, &parameters(), &Patch::Merge(&patch)).await
            }
        };
        match result {
            Ok(lease) => Ok(Written::Done(found(&lease))),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(Written::Conflict),
            Err(kube::Error::Api(status)) if says_gone(&status, name) => Ok(Written::NotFound),
            Err(error) => Err(self.trouble(&error)),
        }
    }

    /// Changes of the Lease after that version.
    pub(super) async fn watch(
        &self,
        version: &str,
    ) -> kube::Result<impl Stream<Item = kube::Result<WatchEvent<Lease>>> + Send + use<>> {
        let options = WatchParams::default().fields(&format!("metadata.name={}", self.place.name));
        self.api.watch(&options, version).await
    }

    fn trouble(&self, error: &kube::Error) -> Trouble {
        let why = match error {
            kube::Error::Api(status) => status.message.clone(),
            other => crate::chain(other),
        };
        let place = &self.place;
        Trouble(match error {
            kube::Error::Api(status) if namespace_ends(status) => format!(
                "the namespace of the leader's Lease {place} is being deleted; make it again when it is gone, or name \
                 another one with --leader-election-namespace: {why}"
            ),
            kube::Error::Api(status) if status.code == 403 => format!(
                "RBAC forbids the leader's Lease {place}; allow create, get, watch and patch on \
                 leases.coordination.k8s.io in that namespace, or name another one with \
                 --leader-election-namespace: {why}"
            ),
            kube::Error::Api(status) if status.code == 404 => format!(
                "there is no place for the leader's Lease {place}; make its namespace, or name another one with \
                 --leader-election-namespace: {why}"
            ),
            _ => format!("the leader's Lease {place} cannot be reached; trying again: {why}"),
        })
    }
}

/// A namespace that is being deleted takes nothing new. That, too, is told as forbidden.
fn namespace_ends(status: &Status) -> bool {
    let causes = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    status.code == 403 && causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// What a Lease says, in the election's terms.
pub(super) fn found(lease: &Lease) -> Found {
    let spec = lease.spec.clone().unwrap_or_default();
    let stamp = |time: Option<MicroTime>| time.map(|time| Stamp::of_micros(time.0.as_microsecond()));
    let record = Record {
        holder: spec.holder_identity.unwrap_or_default().into(),
        seconds: spec.lease_duration_seconds.unwrap_or_default(),
        acquired: stamp(spec.acquire_time),
        renewed: stamp(spec.renew_time),
        transitions: spec.lease_transitions.unwrap_or_default(),
    };
    Found { record, version: lease.metadata.resource_version.clone().unwrap_or_default().into() }
}

fn spec(record: &Record) -> Value {
    let time = |stamp: Option<Stamp>| {
        let time = stamp.and_then(|stamp| jiff::Timestamp::from_microsecond(stamp.micros()).ok());
        time.map(MicroTime)
    };
    json!({
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.seconds,
        "acquireTime": time(record.acquired),
        "renewTime": time(record.renewed),
        "leaseTransitions": record.transitions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(spec: &Value) -> Lease {
        serde_json::from_value(json!({ "metadata": { "name": "x", "resourceVersion": "7" }, "spec": spec }))
            .unwrap()
    }

    /// As client-go writes it.
    #[test]
    fn a_record_is_read_as_it_is_written() {
        let written = json!({
            "holderIdentity": "host_1", "leaseDurationSeconds": 15, "leaseTransitions": 3,
            "acquireTime": "2026-01-02T03:04:05.000006Z", "renewTime": "2026-01-02T03:04:06.000007Z",
        });
        let found = found(&lease(&written));
        assert_eq!((&*found.version, &*found.record.holder, found.record.seconds), ("7", "host_1", 15));
        assert_eq!(spec(&found.record), written);
    }

    #[test]
    fn a_lease_that_says_nothing_is_nobodys() {
        assert_eq!(found(&lease(&json!({}))).record, Record::default());
    }

    #[tokio::test]
    async fn each_trouble_is_told_with_what_to_do_and_without_the_librarys_own_words() {
        let client = Client::new(
            tower::service_fn(async |_| {
                Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
            }),
            "n",
        );
        let store = Store::new(client, Place::new("n".to_owned(), "d.example"));
        let trouble = |status: Value| {
            let status = serde_json::from_value(status).unwrap();
            store.trouble(&kube::Error::Api(Box::new(status))).0
        };
        let ending = json!({ "code": 403, "reason": "Forbidden", "message": "it is being terminated",
            "details": { "causes": [{ "reason": "NamespaceTerminating", "message": "x", "field": "y" }] } });
        let ending = trouble(ending);
        assert!(
            ending.contains("is being deleted") && ending.ends_with(": it is being terminated"),
            "{ending}"
        );
        let forbidden = trouble(json!({ "code": 403, "reason": "Forbidden", "message": "no" }));
        assert!(forbidden.starts_with("RBAC forbids") && forbidden.ends_with(": no"), "{forbidden}");
        let absent = trouble(json!({ "code": 404, "reason": "NotFound", "message": "no" }));
        assert!(absent.contains("make its namespace"), "{absent}");
    }

    #[test]
    fn the_lease_is_named_as_upstreams() {
        let place = Place::new("n".to_owned(), "d.example");
        assert_eq!(place.to_string(), "n/cosi-sidecar-leader-d.example");
    }
}
