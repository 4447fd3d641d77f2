//! One call: the request on the wire, its deadline, and what became of it.

mod access;
mod bucket;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::{Code, Failure, Rpc};
use cosi_proto::NOT_AFTER_KEY;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use tonic::Status;
use tonic::transport::Channel;

use super::connection::Spent;
use crate::clock;

/// A call that the lifecycle asks for.
pub trait Call: Send {
    /// What the driver answers if all is well.
    type Ok: Send;

    /// Which RPC it is.
    fn rpc(&self) -> Rpc;

    /// Puts it on the wire, with its deadline as grpc-timeout, and waits for the answer.
    fn send(
        self,
        client: &mut ProvisionerClient<Channel>,
        deadline: Duration,
    ) -> impl Future<Output = Result<Self::Ok, Status>> + Send;
}

/// Sends the call and waits for its end, at most until its deadline. The deadline is sent as grpc-timeout, too.
pub(super) async fn send<C: Call>(channel: Channel, call: C, deadline: Duration) -> Result<C::Ok, Failure> {
    let mut client = ProvisionerClient::new(channel);
    match tokio::time::timeout(deadline, call.send(&mut client, deadline)).await {
        Ok(Ok(ok)) => Ok(ok),
        Ok(Err(status)) => Err(classify(&status, deadline)),
        Err(_) => Err(too_late(deadline)),
    }
}

/// Whether a status was answered by the driver, made up here because no answer came, or because nothing was sent.
///
/// The code alone does not tell: a lost connection comes as UNKNOWN or UNAVAILABLE, a timeout as CANCELLED
/// (architecture, trap 4). A status that has a source was made here.
fn classify(status: &Status, deadline: Duration) -> Failure {
    // Three timers watch over a call: ours, the client library's and the driver's. Whichever fires first, it is one event.
    if status.message() == TIMEOUT_OF_THE_LIBRARY {
        return too_late(deadline);
    }
    let code = Code::from_number(status.code().into());
    let message = match status.message() {
        "" => "the driver gave no reason".to_owned(),
        message => message.to_owned(),
    };
    let Some(source) = std::error::Error::source(status) else { return Failure::Answered { code, message } };
    let mut cause = Some(source);
    while let Some(error) = cause {
        if error.is::<Spent>() {
            return Failure::NotSent { message: "the connection to the driver is lost".to_owned() };
        }
        cause = error.source();
    }
    Failure::NoAnswer { code, message: innermost(status) }
}

/// What the gRPC library says, on either side, when a call's time is over.
const TIMEOUT_OF_THE_LIBRARY: &str = "Timeout expired";

fn too_late(deadline: Duration) -> Failure {
    let message = format!("none within {}", humantime::format_duration(deadline));
    Failure::NoAnswer { code: Code::DeadlineExceeded, message }
}

/// The cause that all others are about: the libraries between only say that something is wrong.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

fn with_deadline<T>(message: T, deadline: Duration) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.set_timeout(deadline);
    request
}

/// R15: sidecar and driver share one kernel, hence one boot clock. A driver that knows the key refuses a call that was held
/// up on the way until it could do harm.
fn not_after<T>(mut request: tonic::Request<T>, deadline: Duration) -> tonic::Request<T> {
    let latest = clock::since_boot().saturating_add(deadline).as_nanos();
    // Decimal digits are always a valid metadata value.
    if let Ok(value) = latest.to_string().parse() {
        request.metadata_mut().insert(NOT_AFTER_KEY, value);
    }
    request
}

fn owned(parameters: Option<Arc<BTreeMap<String, String>>>) -> BTreeMap<String, String> {
    parameters.map(Arc::unwrap_or_clone).unwrap_or_default()
}
