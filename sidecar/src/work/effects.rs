//! The one place where effects happen.

use std::sync::Arc;

use cosi_lifecycle::bucket::{BucketView, Call, Effect, Event};
use cosi_lifecycle::{Note, Severity, WriteFailure};
use tokio::time::Instant;

use crate::cluster::{Buckets, Index, Reporter};
use crate::driver::Driver;

/// What effects act upon.
pub struct Effects {
    /// The API server.
    pub buckets: Buckets,
    /// What is known of it.
    pub index: Arc<Index>,
    /// The driver.
    pub driver: Driver,
    /// Kubernetes Events.
    pub reporter: Reporter,
}

impl Effects {
    /// Does what the lifecycle asks for, and says what came of it. `None` ends the pass.
    ///
    /// What the API server returns is folded into the index before anything else (R5).
    pub async fn run(&self, name: &Arc<str>, effect: Effect) -> Option<Event> {
        match effect {
            Effect::Wait(_) | Effect::Done => None,
            Effect::Read => Some(Event::Read(self.read(name).await)),
            Effect::ReadClaim(claim) => Some(Event::Claim(self.buckets.read_claim(&claim).await)),
            Effect::WriteFinalizers { uid, resource_version, finalizers } => {
                let result = self.buckets.write_finalizers(name, &uid, &resource_version, &finalizers).await;
                Some(Event::Wrote(self.written(name, "finalizers", result)))
            }
            Effect::WriteStatus { resource_version, status } => {
                let result = self.buckets.write_status(name, &resource_version, &status).await;
                Some(Event::Wrote(self.written(name, "status", result)))
            }
            Effect::Call(call) => Some(self.call(name, call).await),
            Effect::Tell(note) => {
                self.tell(&note).await;
                Some(Event::Told)
            }
        }
    }

    /// Log and Event.
    pub async fn tell(&self, note: &Note) {
        let Note { about, reason, text, severity, .. } = note;
        match severity {
            Severity::Normal => tracing::info!(bucket = %about.name, %reason, "{text}"),
            Severity::Warning => tracing::warn!(bucket = %about.name, %reason, "{text}"),
        }
        self.reporter.tell(note).await;
    }

    async fn read(&self, name: &Arc<str>) -> Result<(), WriteFailure> {
        let known = self.index.get(name);
        let result = self.buckets.read(name).await;
        match result {
            Ok(Some(view)) => {
                self.index.fold(view);
                Ok(())
            }
            Ok(None) => {
                self.index.remove_known(name, known.as_ref());
                Ok(())
            }
            Err(failure) => {
                log_failure(name, "read", &failure);
                Err(failure)
            }
        }
    }

    fn written(
        &self,
        name: &Arc<str>,
        what: &str,
        result: Result<Option<BucketView>, WriteFailure>,
    ) -> Result<(), WriteFailure> {
        match result {
            Ok(view) => {
                tracing::debug!(bucket = %name, what, "written");
                match view {
                    // The API server deletes such an object in the same step, and returns it as it was before, in part.
                    Some(view) if view.deleting && !view.is_held() => {
                        self.index.remove(name, &view.resource_version);
                    }
                    Some(view) => {
                        self.index.fold(view);
                    }
                    None => {}
                }
                Ok(())
            }
            Err(failure) => {
                log_failure(name, what, &failure);
                Err(failure)
            }
        }
    }

    async fn call(&self, name: &Arc<str>, call: Call) -> Event {
        let rpc = call.rpc();
        let begin = Instant::now();
        let result = self.driver.call(call).await;
        let seconds = begin.elapsed().as_secs_f64();
        match &result {
            Ok(_) => tracing::info!(bucket = %name, %rpc, seconds, "OK"),
            Err(failure) => tracing::debug!(bucket = %name, %rpc, seconds, ?failure, "failed"),
        }
        Event::Called(result)
    }
}

/// Conflicts and missing objects are everyday life (C10); what needs a person's hand is a warning.
fn log_failure(name: &str, what: &str, failure: &WriteFailure) {
    match failure {
        WriteFailure::Conflict | WriteFailure::NotFound => {
            tracing::debug!(bucket = %name, what, ?failure, "not written");
        }
        WriteFailure::Forbidden { message } => {
            tracing::warn!(bucket = %name, what, "RBAC forbids it: {message}");
        }
        WriteFailure::Invalid { message } | WriteFailure::Other { message, .. } => {
            tracing::warn!(bucket = %name, what, "the API server did not take it: {message}");
        }
    }
}
