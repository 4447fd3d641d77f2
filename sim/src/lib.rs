//! Test doubles with memory: a scripted driver and a fault-injecting API proxy.
//!
//! Both are real servers in the test's own process, so that the system under test can be a real process on real
//! sockets. Both do the right thing until a *rule* says otherwise, remember everything in order, and can be waited for:
//! no test needs to sleep. What they remember is printed by the errors of their checks and waits, so `unwrap()` is all a
//! test needs.
//!
//! - [`driver::ScriptedDriver`] is the driver: what is really at the backend, whatever was answered.
//! - [`proxy::ApiProxy`] stands before the API server: what was really asked and applied, whatever was answered.
//! - [`Rule`] is what both give back for a rule: how often it acted, when, and the gate of what it holds.
//!
//! # Example: a Create that is done but answered with an error
//! ```
//! # use std::time::Duration;
//! # use cosi_proto::v1alpha2::{DriverCreateBucketRequest, provisioner_client::ProvisionerClient};
//! use cosi_sim::driver::{Abilities, On, ScriptedDriver, Step};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let driver = ScriptedDriver::start(Abilities { by_name: false, ..Abilities::default() })?;
//! let unlucky = driver.rule(On::create().named("bc-1").nth(1), Step::done_but(tonic::Code::Internal));
//!
//! // Here the sidecar would be started with COSI_ENDPOINT = driver.endpoint(). This stands in for it:
//! # let channel = tonic::transport::Endpoint::try_from(driver.endpoint())?.connect_lazy();
//! # let mut client = ProvisionerClient::new(channel);
//! let request = DriverCreateBucketRequest { name: "bc-1".to_owned(), ..Default::default() };
//! assert!(client.driver_create_bucket(request.clone()).await.is_err());
//!
//! unlucky.wait_hit().await?;
//! driver.wait_holds(&["bc-1"]).await?; // I1, against the backend itself
//! driver.check(Duration::ZERO)?; // I2, I4, I8 and R3, with the grace given
//!
//! // The sidecar must not repeat it so soon (R3):
//! client.driver_create_bucket(request).await?;
//! assert_eq!(driver.check(Duration::from_secs(10)).unwrap_err().invariant, "R3");
//! # Ok(()) }
//! ```
//!
//! # Example: the status write is applied, its answer lost, and the Bucket deleted in between
//! ```no_run
//! # async fn delete_bucket(_name: String) {}
//! use cosi_sim::proxy::{Action, ApiProxy, Match, Upstream};
//!
//! # async fn test(url: String, ca_pem: Vec<u8>, token: String) -> Result<(), Box<dyn std::error::Error>> {
//! let proxy = ApiProxy::start(Upstream { url, ca_pem: Some(ca_pem), token: Some(token) }).await?;
//! let unlucky = proxy.rule(
//!     Match::change("buckets/status").named("bc-1").nth(1),
//!     Action::lose_answer().after(|request| delete_bucket(request.name)),
//! );
//!
//! // … start the sidecar with a kubeconfig for proxy.url(), create the Bucket bc-1 …
//! unlucky.wait_hit().await?;
//! let before = proxy.mark();
//! proxy.wait_applied(&Match::change("buckets").named("bc-1"), 2).await?; // finalizer on, finalizer off
//! assert_eq!(proxy.writes_since(before), 1, "{}", proxy.log());
//! # Ok(()) }
//! ```

pub mod driver;
pub mod proxy;
mod rule;

pub use rule::{PATIENCE, Rule, TimedOut};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic elsewhere must not hide what a double remembers: poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
