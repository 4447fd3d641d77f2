//! What a world is made of.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use cosi_sim::driver::{Abilities, ScriptedDriver};
use cosi_sim::proxy::{ApiProxy, Upstream};
use cosi_tests::devcluster::{self, DevCluster};
use cosi_tests::sidecar::Sidecar;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};
use serde_json::json;

use super::World;

/// The sidecar's `--timeout`, unless a test wants another.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
/// The sidecar's `--late-landing-grace`, unless a test wants another.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// The sidecar's flags and the driver's abilities.
#[derive(Clone)]
pub(crate) struct Setup {
    abilities: Abilities,
    timeout: Duration,
    grace: Duration,
    retry_start: Duration,
    retry_max: Duration,
    recheck: Duration,
    args: Vec<OsString>,
    log_level: &'static str,
    tell_driver_name: bool,
    start: bool,
    driver_runs: bool,
    election: Option<Election>,
}

/// The durations of a leader election.
#[derive(Clone, Copy)]
pub(crate) struct Election {
    pub(crate) lease: Duration,
    pub(crate) deadline: Duration,
    pub(crate) retry: Duration,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            abilities: Abilities::default(),
            timeout: TIMEOUT,
            grace: GRACE,
            retry_start: Duration::from_millis(50),
            retry_max: Duration::from_millis(400),
            recheck: Duration::from_secs(3),
            args: vec![],
            log_level: "debug",
            tell_driver_name: false,
            start: true,
            driver_runs: true,
            election: None,
        }
    }
}

impl Setup {
    /// For tests of accesses: everything is logged, so that a secret that gets into the log is found (I7).
    pub(crate) fn traced() -> Self {
        Self { log_level: "trace", ..Self::default() }
    }

    /// Another `--log-level`.
    pub(crate) fn log_level(self, log_level: &'static str) -> Self {
        Self { log_level, ..self }
    }

    /// Changes what the driver can do. Its name is always the world's own.
    pub(crate) fn driver(mut self, change: impl FnOnce(&mut Abilities)) -> Self {
        change(&mut self.abilities);
        self
    }

    pub(crate) fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub(crate) fn grace(self, grace: Duration) -> Self {
        Self { grace, ..self }
    }

    pub(crate) fn retry(self, retry_start: Duration, retry_max: Duration) -> Self {
        Self { retry_start, retry_max, ..self }
    }

    pub(crate) fn recheck(self, recheck: Duration) -> Self {
        Self { recheck, ..self }
    }

    /// With leader election.
    pub(crate) fn elects(self, election: Election) -> Self {
        Self { election: Some(election), ..self }
    }

    /// One more flag.
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// With `--driver-name`.
    pub(crate) fn tell_driver_name(self) -> Self {
        Self { tell_driver_name: true, ..self }
    }

    /// The sidecar waits for `world.sidecar.start()`.
    pub(crate) fn sidecar_not_started(self) -> Self {
        Self { start: false, ..self }
    }

    /// The driver waits for `world.driver.restart()`.
    pub(crate) fn driver_not_started(self) -> Self {
        Self { driver_runs: false, ..self }
    }

    /// Makes the world; `None` after saying that there is no cluster.
    pub(crate) async fn start(self) -> Option<World> {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        let cluster = devcluster::or_skip(&test)?;
        let client = cluster.client().unwrap();
        let driver_name = fresh_name("d");
        let abilities = Abilities { name: driver_name.clone(), ..self.abilities.clone() };
        let driver = if self.driver_runs {
            ScriptedDriver::start(abilities).unwrap()
        } else {
            ScriptedDriver::not_started(abilities).unwrap()
        };
        let proxy = ApiProxy::start(upstream(&cluster)).await.unwrap();
        let kubeconfig = devcluster::plain_kubeconfig(&proxy.url(), None).unwrap();
        let mut sidecar = Sidecar::new(self.flags(&driver, kubeconfig.path())).unwrap();
        if self.tell_driver_name {
            sidecar.add_args(["--driver-name", &driver_name]);
        }
        let namespace = namespace(&client).await;
        if self.election.is_some() {
            sidecar.add_args(["--leader-election-namespace", &namespace]);
        }
        let begin = proxy.mark();
        if self.start {
            sidecar.start().unwrap();
        }
        Some(World {
            begin,
            cluster,
            client,
            proxy,
            driver,
            driver_name,
            sidecar,
            namespace,
            reuses_names: false,
            grace: self.grace,
            scripted: true,
            made: std::sync::Mutex::default(),
            accesses: std::sync::Mutex::default(),
            left: std::sync::Mutex::default(),
            _kubeconfig: kubeconfig,
        })
    }

    fn flags(&self, driver: &ScriptedDriver, kubeconfig: &std::path::Path) -> Vec<OsString> {
        let millis = |duration: Duration| format!("{}ms", duration.as_millis()).into();
        let mut args: Vec<OsString> = vec![
            "--driver-endpoint".into(),
            driver.endpoint().into(),
            "--kubeconfig".into(),
            kubeconfig.into(),
            "--timeout".into(),
            millis(self.timeout),
            "--late-landing-grace".into(),
            millis(self.grace),
            "--retry-interval-start".into(),
            millis(self.retry_start),
            "--retry-interval-max".into(),
            millis(self.retry_max),
            "--recheck-interval".into(),
            millis(self.recheck),
            "--log-level".into(),
            self.log_level.into(),
        ];
        match self.election {
            // A world has one sidecar, and counts writes; a killed one's successor needs not wait for its lease.
            None => args.push("--leader-election=false".into()),
            Some(Election { lease, deadline, retry }) => args.extend([
                "--leader-election-lease-duration".into(),
                millis(lease),
                "--leader-election-renew-deadline".into(),
                millis(deadline),
                "--leader-election-retry-period".into(),
                millis(retry),
            ]),
        }
        args.extend(self.args.iter().cloned());
        args
    }
}

/// A name that nobody had before, short enough for a driver.
pub(crate) fn fresh_name(prefix: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = jiff::Timestamp::now().as_microsecond();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}{now:x}-{:x}-{count:x}.sim", std::process::id())
}

pub(super) fn upstream(cluster: &DevCluster) -> Upstream {
    let pem = |der: Vec<u8>| {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", BASE64_STANDARD.encode(der))
    };
    let ca: String = cluster.ca_certificates().into_iter().map(pem).collect();
    Upstream { url: cluster.url(), ca_pem: Some(ca.into_bytes()), token: cluster.token() }
}

async fn namespace(client: &kube::Client) -> String {
    let wanted = serde_json::from_value(json!({ "metadata": { "generateName": "e2e-" } })).unwrap();
    let api: Api<Namespace> = Api::all(client.clone());
    api.create(&PostParams::default(), &wanted).await.unwrap().metadata.name.unwrap()
}
