//! The one place where effects happen.

mod access;
mod bucket;

use std::fmt;
use std::sync::Arc;

use cosi_lifecycle::{Failure, Machine, Note, Rpc, Severity, Time, WriteFailure};
use tokio::time::Instant;

pub use self::access::AccessEffects;
pub use self::bucket::BucketEffects;
use crate::cluster::{Index, Indexed, Key, Label, Reporter};
use crate::driver::{Call, Driver};

/// What carries out the effects of one kind of machine.
pub trait Effects: Send + Sync + 'static {
    /// The machine.
    type Machine: Machine<View: Send + Sync, Event: Send, Effect: Send + fmt::Debug> + Send;

    /// What the object is called in the log.
    fn label(&self, key: &Key) -> Label;

    /// The newest known version of the object.
    fn view(&self, key: &Key) -> Option<Arc<<Self::Machine as Machine>::View>>;

    /// Whether the driver lacks the by-name RPC that undoes what this kind makes.
    fn by_name_missing(&self) -> bool;

    /// When a call that a predecessor may have sent for the object has certainly ended (R3); the clock's origin if it cannot
    /// have sent any.
    fn predecessor_done(&self, key: &Key) -> Time;

    /// Does what the lifecycle asks for, and says what came of it. `None` ends the pass.
    ///
    /// What the API server returns is folded into the index before anything else (R5).
    fn run(
        &self,
        key: &Key,
        effect: <Self::Machine as Machine>::Effect,
    ) -> impl Future<Output = Option<<Self::Machine as Machine>::Event>> + Send;
}

/// Whom effects speak to, whatever the kind.
#[derive(Clone)]
pub struct Parties {
    /// The driver.
    pub driver: Driver,
    /// Kubernetes Events.
    pub reporter: Reporter,
}

impl Parties {
    /// Log and Event.
    pub async fn tell(&self, note: &Note) {
        let Note { about, reason, text, severity, .. } = note;
        let label = Label::new(about.kind, about.namespace.as_deref(), &about.name);
        let (bucket, access) = (label.bucket(), label.access());
        match severity {
            Severity::Normal => tracing::info!(bucket, access, %reason, "{text}"),
            Severity::Warning => tracing::warn!(bucket, access, %reason, "{text}"),
        }
        self.reporter.tell(note).await;
    }

    async fn call<C: Call>(&self, label: &Label, call: C) -> Result<C::Ok, Failure> {
        let rpc = call.rpc();
        timed(label, rpc, self.driver.call(call)).await
    }

    /// R15: the one call that is sent without the lease.
    async fn last_will<C: Call>(&self, label: &Label, call: C) -> Result<C::Ok, Failure> {
        let (bucket, access) = (label.bucket(), label.access());
        tracing::warn!(
            bucket,
            access,
            "gone, and only this process knows what was made for it: it is taken away"
        );
        let rpc = call.rpc();
        timed(label, rpc, self.driver.last_will(call)).await
    }
}

/// Waits for the end of a call, and logs it.
async fn timed<T>(
    label: &Label,
    rpc: Rpc,
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let begin = Instant::now();
    let result = call.await;
    let seconds = begin.elapsed().as_secs_f64();
    let (bucket, access) = (label.bucket(), label.access());
    match &result {
        Ok(_) => tracing::info!(bucket, access, %rpc, seconds, "OK"),
        Err(failure) => tracing::debug!(bucket, access, %rpc, seconds, ?failure, "failed"),
    }
    result
}

/// Folds in what a live read returned: the object, or that there is none. `known` is what was known when it began.
fn fold_read<V: Indexed>(
    index: &Index<V>,
    key: &Key,
    label: &Label,
    known: Option<&Arc<V>>,
    result: Result<Option<V>, WriteFailure>,
) -> Result<(), WriteFailure> {
    match logged(label, "read", result)? {
        Some(view) => index.fold(view),
        None => index.remove_known(key, known),
    };
    Ok(())
}

/// Folds in what a write returned.
fn fold_written<V: Indexed>(
    index: &Index<V>,
    label: &Label,
    what: &str,
    result: Result<Option<V>, WriteFailure>,
) -> Result<(), WriteFailure> {
    let view = logged(label, what, result)?;
    tracing::debug!(bucket = label.bucket(), access = label.access(), what, "written");
    match view {
        // It is returned as it was before its last finalizer went, in part.
        Some(view) if view.is_gone() => drop(index.remove_written(&view)),
        Some(view) => drop(index.fold(view)),
        None => {}
    }
    Ok(())
}

/// Conflicts and missing objects are everyday life (C10); what needs a person's hand is a warning.
fn logged<T>(label: &Label, what: &str, result: Result<T, WriteFailure>) -> Result<T, WriteFailure> {
    let (bucket, access) = (label.bucket(), label.access());
    match &result {
        Ok(_) => {}
        Err(failure @ (WriteFailure::Conflict | WriteFailure::NotFound)) => {
            tracing::debug!(bucket, access, what, ?failure, "not done");
        }
        Err(WriteFailure::Forbidden { message }) => {
            tracing::warn!(bucket, access, what, "the API server forbids it: {message}");
        }
        Err(WriteFailure::Invalid { message } | WriteFailure::Other { message, .. }) => {
            tracing::warn!(bucket, access, what, "the API server did not take it: {message}");
        }
    }
    result
}
