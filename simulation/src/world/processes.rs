//! Sidecar processes: they start, stop, stand still, die, and are started again.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use cosi_sidecar::lease::Tenure;
use cosi_sidecar::{RunError, chain, run_in};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::World;
use super::environment::Life;
use crate::Invariant;
use crate::bugs::{Bug, Wrapped, is};
use crate::settings::settings;
use crate::trace::Who;

/// What the host of a process is called.
pub(crate) fn host(process: usize) -> String {
    format!("host-{process}")
}

/// From the end of a process to its next life, as Kubernetes has it.
const RESTART: Duration = Duration::from_secs(1);

/// One sidecar, through all its lives.
#[derive(Debug, Default)]
pub(super) struct Process {
    life: Option<(AbortHandle, CancellationToken)>,
    /// It stands still until then.
    paused: Option<Instant>,
    /// It is to stand still for so long when it next sends something to the driver.
    drowsy: Option<Duration>,
    /// Until when it may act, as it sees it itself.
    tenure: Option<Tenure>,
    /// None of its requests that are about a Lease gets through.
    cut_off: bool,
}

impl Process {
    /// Of one that is dead, nothing is to be feared.
    fn living_tenure(&self) -> Option<Tenure> {
        self.life.as_ref().and(self.tenure.clone())
    }

    fn stands_still(&self) -> bool {
        self.paused.is_some_and(|until| until > Instant::now())
    }
}

impl World {
    /// Starts the sidecar of that number.
    pub(crate) fn start(self: &Arc<Self>, process: usize) {
        let elects = self.schedule.sidecars > 1 && !is(Bug::ActWithoutLease);
        let settings = match settings(elects) {
            Ok(settings) => settings,
            Err(error) => return self.violate(Invariant::Sound, format!("settings are refused: {error}")),
        };
        self.tell(Who::Sidecar(process), format_args!("starts"));
        let stop = CancellationToken::new();
        let env = Arc::new(Life { world: Arc::clone(self), process, started: self.now() });
        let (world, stopping) = (Arc::clone(self), stop.clone());
        let task = tokio::spawn(run_in::<Wrapped>(env, settings, stopping));
        if let Some(process) = self.lock().processes.get_mut(process) {
            *process = Process { life: Some((task.abort_handle(), stop)), ..Process::default() };
        }
        tokio::spawn(async move {
            match task.await {
                Ok(ended) => world.ended(process, ended),
                Err(error) if error.is_panic() => {
                    world.violate(Invariant::Sound, format!("sidecar {process} panics: {error}"));
                }
                // Killed.
                Err(_) => {}
            }
        });
    }

    fn ended(self: &Arc<Self>, process: usize, ended: Result<(), RunError>) {
        match ended {
            Ok(()) => self.tell(Who::Sidecar(process), format_args!("has ended")),
            Err(error) => {
                self.tell(Who::Sidecar(process), format_args!("gives up: {}", chain(&error)));
                // A lost lease and a driver with another name are no defects.
                if matches!(error, RunError::Defect(_) | RunError::TaskEnded(_) | RunError::Election(_)) {
                    self.violate(Invariant::Sound, chain(&error));
                }
            }
        }
        self.lock().facts.process_ended(false);
        self.disturb();
        self.restart(process);
    }

    fn restart(self: &Arc<Self>, process: usize) {
        let world = Arc::clone(self);
        tokio::spawn(async move {
            sleep(RESTART).await;
            world.start(process);
        });
    }

    /// The process dies at once. What it has sent is on its way.
    pub(crate) fn kill(self: &Arc<Self>, process: usize) {
        let life = self.lock().processes.get_mut(process).and_then(|process| process.life.take());
        if let Some((task, _)) = life {
            self.tell(Who::Sidecar(process), format_args!("dies"));
            task.abort();
            self.lock().facts.process_ended(true);
            self.disturb();
            self.restart(process);
        }
    }

    /// The process of that life acts by this.
    pub(super) fn is_given(&self, process: usize, tenure: &Tenure) {
        if let Some(process) = self.lock().processes.get_mut(process) {
            process.tenure = Some(tenure.clone());
        }
    }

    /// At the end: a tenure knows the environment, and so this world.
    pub(super) fn forget_tenures(&self) {
        for process in &mut self.lock().processes {
            process.tenure = None;
        }
    }

    /// R15: a process has taken, renewed or released the Lease; who may act now, and whose calls are still running?
    pub(super) fn check_tenures(&self, process: usize) {
        if is(Bug::ActWithoutLease) {
            return;
        }
        let holder = self.leader().unwrap_or_default();
        if holder.is_empty() {
            if self.lock().facts.is_calling(process) {
                self.violate(
                    Invariant::Lease,
                    format!("sidecar {process} lets the Lease go while its call runs"),
                );
            }
            return;
        }
        let tenures: Vec<Option<Tenure>> = self.lock().processes.iter().map(Process::living_tenure).collect();
        for (other, tenure) in tenures.into_iter().enumerate() {
            if !holder.starts_with(&host(other)) && tenure.is_some_and(|tenure| tenure.may_act()) {
                self.violate(Invariant::Lease, format!("sidecar {other} would act while {holder} leads"));
            }
        }
    }

    /// Whether that process leads. One that is alone needs no Lease.
    fn leads(&self, process: usize) -> bool {
        self.schedule.sidecars == 1 || self.leader().is_some_and(|leader| leader.starts_with(&host(process)))
    }

    /// The leader is told to stop, cleanly; it is started again when it has.
    pub(super) fn stop_leader(&self) {
        for number in 0..self.schedule.sidecars {
            if self.leads(number)
                && let Some((_, stop)) =
                    self.lock().processes.get(number).and_then(|process| process.life.as_ref())
            {
                stop.cancel();
            }
        }
    }

    /// Nobody lets the leader renew its Lease any more.
    pub(crate) fn cut_off_leader(&self) {
        for number in 0..self.schedule.sidecars {
            let leads = self.leads(number);
            if let Some(process) = self.lock().processes.get_mut(number) {
                process.cut_off |= leads;
            }
        }
    }

    pub(super) fn is_cut_off(&self, process: usize) -> bool {
        self.lock().processes.get(process).is_some_and(|process| process.cut_off)
    }

    /// From its next byte to the driver on, the process is to stand still for so long.
    pub(crate) fn make_drowsy(&self, process: usize, pause: Duration) {
        if let Some(process) = self.lock().processes.get_mut(process) {
            process.drowsy = Some(pause);
        }
    }

    /// It is about to send something to the driver. Says whether it falls asleep now.
    pub(super) fn fall_asleep(&self, process: usize) -> bool {
        let mut state = self.lock();
        state.facts.caller = process;
        let pause = state.processes.get_mut(process).and_then(|sleeper| sleeper.drowsy.take());
        drop(state);
        pause.inspect(|pause| self.stand_still(process, *pause)).is_some()
    }

    /// From now on it stands still for so long.
    pub(super) fn stand_still(&self, process: usize, pause: Duration) {
        if let Some(process) = self.lock().processes.get_mut(process) {
            process.paused = Some(Instant::now() + pause);
        }
        self.tell(Who::Sidecar(process), format_args!("stands still for {pause:?}"));
        self.disturb();
    }

    pub(super) fn is_paused(&self, process: usize) -> bool {
        self.lock().processes.get(process).is_some_and(Process::stands_still)
    }

    /// Waits until the process moves.
    pub(super) async fn hold(&self, process: usize) {
        while self.is_paused(process) {
            let until = self.lock().processes.get(process).and_then(|process| process.paused);
            match until {
                Some(until) => {
                    sleep_until(until).await;
                    self.disturb();
                }
                None => pending().await,
            }
        }
    }
}
