//! This process's part in the leader election, as the run sees it.

use std::future::pending;
use std::sync::Arc;

use cosi_lifecycle::lease::{End, Loss, Terms};
use cosi_lifecycle::{Impossible, Time};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::RunError;
use crate::cluster::Clients;
use crate::environment::Env;
use crate::lease::{Elector, Place, Tenure};
use crate::settings::Settings;

/// A candidate, then perhaps a leader; or a process without election, which leads from the start.
pub(super) struct Candidacy {
    tenure: Tenure,
    election: Option<Running>,
    begun: Time,
    env: Env,
}

/// An election under way, in a task of its own: renewals must not wait for anything else.
struct Running {
    task: AbortOnDropHandle<Result<End, Impossible>>,
    resign: CancellationToken,
}

impl Candidacy {
    /// Nothing is asked for yet.
    pub(super) fn new(env: Env, settings: &Settings) -> Self {
        let begun = env.now();
        let tenure = if settings.leader_election { Tenure::candidate } else { Tenure::for_ever };
        Self { tenure: tenure(Arc::clone(&env)), election: None, begun, env }
    }

    /// What says until when this process may act.
    pub(super) const fn tenure(&self) -> &Tenure {
        &self.tenure
    }

    /// Stands for election, if there is one.
    pub(super) fn stand(&mut self, settings: &Settings, terms: Terms, clients: &Clients, driver: &str) {
        if !settings.leader_election {
            tracing::info!(
                driver,
                "--leader-election=false: no other sidecar may run for this driver, elected or not; it would act at the \
                 same time"
            );
            return;
        }
        let client = clients.lease.clone();
        let place = Place::new(namespace(settings, client.default_namespace()), driver);
        let resign = CancellationToken::new();
        let elector =
            Elector::new(Arc::clone(&self.env), client, place, terms, self.tenure.clone(), resign.clone());
        let task = AbortOnDropHandle::new(tokio::spawn(elector.run()));
        self.election = Some(Running { task, resign });
    }

    /// Waits until this process leads, and says since when.
    ///
    /// # Errors
    ///
    /// The election ended without that.
    pub(super) async fn won(&mut self) -> Result<Time, RunError> {
        let Some(running) = &mut self.election else { return Ok(self.begun) };
        tokio::select! {
            biased;
            since = self.tenure.taken() => Ok(since),
            ended = &mut running.task => Err(failed(ended)),
        }
    }

    /// Waits until the lease is lost, and says how.
    pub(super) async fn lost(&mut self) -> RunError {
        match &mut self.election {
            Some(running) => failed((&mut running.task).await),
            None => pending().await,
        }
    }

    /// All that was begun has ended: gives the lease back, if it is ours.
    pub(super) async fn resign(self) {
        if let Some(running) = self.election {
            running.resign.cancel();
            // Whether it could be given back is in the log; nothing depends on it here.
            let _ = running.task.await;
        }
    }
}

/// The namespace of the Lease.
fn namespace(settings: &Settings, of_the_client: &str) -> String {
    // A chart may render a value as empty. That must not lead away from where the others are.
    let told = settings.leader_election_namespace.clone().filter(|name| !name.is_empty());
    let of_the_pod = || std::env::var("POD_NAMESPACE").ok().filter(|name| !name.is_empty());
    told.or_else(of_the_pod).unwrap_or_else(|| of_the_client.to_owned())
}

fn failed(ended: Result<Result<End, Impossible>, tokio::task::JoinError>) -> RunError {
    match ended {
        Ok(Ok(End::Lost(loss))) => RunError::LeaseLost(loss),
        // Nobody told it to give the lease back.
        Ok(Ok(End::Released | End::NotReleased | End::Withdrawn)) => RunError::LeaseLost(Loss::Emptied),
        Ok(Err(impossible)) => RunError::Election(impossible),
        Err(_) => RunError::TaskEnded("leader election"),
    }
}
