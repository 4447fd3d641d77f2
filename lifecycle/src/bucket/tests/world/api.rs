//! The API server of one name, with the rules that the real one keeps.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cosi_api::DeletionPolicy;
use cosi_api::names::FINALIZER;

use crate::bucket::{BucketView, Claim, ClaimRef, StatusWrite};
use crate::{Time, Uid, WriteFailure};

/// Whoever else holds on to objects.
pub(crate) const FOREIGN_FINALIZER: &str = "example.com/hold";

/// How a Bucket comes into being.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) policy: DeletionPolicy,
    pub(crate) existing_id: Option<&'static str>,
    /// A claim is bound to it.
    pub(crate) bound: bool,
    /// Somebody copied our finalizer into the new object.
    pub(crate) with_finalizer: bool,
    pub(crate) held_by_others: bool,
}

impl Spec {
    pub(crate) const DYNAMIC: Self = Self {
        policy: DeletionPolicy::Delete,
        existing_id: None,
        bound: true,
        with_finalizer: false,
        held_by_others: false,
    };
    pub(crate) const STATIC: Self =
        Self { existing_id: Some(super::EXISTING), bound: false, ..Self::DYNAMIC };
    pub(crate) const RETAIN: Self = Self { policy: DeletionPolicy::Retain, ..Self::DYNAMIC };
}

/// The object as the API server holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) view: BucketView,
    pub(crate) error: Option<String>,
    pub(crate) labels: u32,
}

/// The API server.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) object: Option<Object>,
    pub(crate) claim: Claim,
    pub(crate) version: u64,
    uids: u32,
    /// What a watch has still to deliver.
    pub(crate) events: VecDeque<WatchEvent>,
    /// Now.
    pub(crate) now: Time,
    /// The last state of objects that are gone.
    pub(crate) gone: BTreeMap<Uid, Object>,
}

/// A change, as a watch tells of it.
#[derive(Debug)]
pub(crate) struct WatchEvent {
    pub(crate) version: u64,
    pub(crate) view: Option<Arc<BucketView>>,
    pub(crate) at: Time,
}

pub(crate) type Written = Result<Arc<BucketView>, WriteFailure>;

impl Api {
    pub(crate) fn new() -> Self {
        let (events, gone) = (VecDeque::new(), BTreeMap::new());
        Self { object: None, claim: Claim::Live, version: 100, uids: 0, events, now: Time::default(), gone }
    }

    pub(crate) fn view(&self) -> Option<Arc<BucketView>> {
        self.object.as_ref().map(|o| Arc::new(o.view.clone()))
    }

    pub(crate) fn create(&mut self, spec: Spec) {
        self.uids += 1;
        self.version += 1;
        let claim = ClaimRef {
            name: "claim".into(),
            namespace: "users".into(),
            uid: spec.bound.then(|| format!("claim-{}", self.uids).into()),
        };
        let view = BucketView {
            name: super::NAME.into(),
            driver: "driver.example.com".into(),
            uid: format!("uid-{}", self.uids).into(),
            resource_version: self.version.to_string().into(),
            deleting: false,
            finalizer: spec.with_finalizer,
            other_finalizers: if spec.held_by_others { [FOREIGN_FINALIZER.into()].into() } else { [].into() },
            claim_deleting: false,
            let_go: false,
            policy: spec.policy,
            claim,
            protocols: [cosi_api::ObjectProtocol::S3].into(),
            parameters: Some(Arc::new([("tier".to_owned(), "fast".to_owned())].into())),
            existing_id: spec.existing_id.map(Into::into),
            ready: None,
            bucket_id: None,
        };
        self.claim = Claim::Live;
        self.object = Some(Object { view, error: None, labels: 0 });
        self.publish();
    }

    fn publish(&mut self) {
        self.events.push_back(WatchEvent { version: self.version, view: self.view(), at: self.now });
    }

    /// A change by whomever. One that changes nothing makes no version and no event; a deleting object without
    /// finalizers is gone.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Object)) -> Option<Arc<BucketView>> {
        let mut object = self.object.clone()?;
        change(&mut object);
        if self.object.as_ref() == Some(&object) {
            return self.view();
        }
        self.version += 1;
        object.view.resource_version = self.version.to_string().into();
        let view = Arc::new(object.view.clone());
        if view.deleting && !view.finalizer && view.other_finalizers.is_empty() {
            self.gone.insert(view.uid.clone(), object);
            self.object = None;
        } else {
            self.object = Some(object);
        }
        self.publish();
        Some(view)
    }

    pub(crate) fn write_finalizers(&mut self, uid: &str, version: Option<&str>, all: &[String]) -> Written {
        let object = self.conditions(version)?;
        if object.view.uid.as_ref() != uid {
            return Err(invalid("uid differs"));
        }
        let ours = all.iter().any(|f| f == FINALIZER);
        let others: Box<[Box<str>]> =
            all.iter().filter(|f| *f != FINALIZER).map(|f| f.as_str().into()).collect();
        let added = (ours && !object.view.finalizer)
            || others.iter().any(|f| !object.view.other_finalizers.contains(f));
        if object.view.deleting && added {
            return Err(invalid("no finalizer can be added to a deleting object"));
        }
        let written = self.change(|o| {
            o.view.finalizer = ours;
            o.view.other_finalizers = others;
        });
        written.ok_or(WriteFailure::NotFound)
    }

    pub(crate) fn write_status(&mut self, version: Option<&str>, status: &StatusWrite) -> Written {
        let object = self.conditions(version)?;
        if let (StatusWrite::Ready(answer), Some(id)) = (status, &object.view.bucket_id)
            && answer.id.as_str() != id.as_ref()
        {
            return Err(invalid("status.bucketID is immutable"));
        }
        let written = self.change(|o| match status {
            StatusWrite::Ready(answer) => {
                o.view.ready = Some(true);
                o.view.bucket_id = Some(answer.id.as_str().into());
                o.error = None;
            }
            StatusWrite::Error { text, first } => {
                o.error = Some(text.clone());
                if *first {
                    o.view.ready = Some(false);
                }
            }
        });
        written.ok_or(WriteFailure::NotFound)
    }

    fn conditions(&self, version: Option<&str>) -> Result<&Object, WriteFailure> {
        let object = self.object.as_ref().ok_or(WriteFailure::NotFound)?;
        match version {
            Some(version) if version != object.view.resource_version.as_ref() => Err(WriteFailure::Conflict),
            _ => Ok(object),
        }
    }
}

pub(crate) fn invalid(message: &str) -> WriteFailure {
    WriteFailure::Invalid { message: message.to_owned() }
}

pub(crate) fn other(message: &str) -> WriteFailure {
    WriteFailure::Other { message: message.to_owned(), retry_after: None }
}
