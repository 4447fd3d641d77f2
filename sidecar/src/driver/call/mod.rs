//! One call: the request on the wire, its deadline, and what became of it.

mod access;
mod bucket;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::{Code, Failure, Rpc, Time};
use cosi_proto::NOT_AFTER_KEY;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use tonic::Status;
use tonic::transport::Channel;

use super::connection::Spent;

/// A call that the lifecycle asks for.
pub trait Call: Send {
    /// What the driver answers if all is well.
    type Ok: Send;

    /// Which RPC it is.
    fn rpc(&self) -> Rpc;

    /// Puts it on the wire, with its limits, and waits for the answer.
    fn send(
        self,
        client: &mut ProvisionerClient<Channel>,
        limits: Limits,
    ) -> impl Future<Output = Result<Self::Ok, Status>> + Send;
}

/// What a call carries of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long the caller waits.
    deadline: Duration,
    /// The driver must not begin after that (R15).
    not_after: Time,
}

impl Limits {
    /// A call that begins at `now`, by a caller whose lease ends at `lease_end`.
    pub(super) fn new(deadline: Duration, now: Time, lease_end: Time) -> Self {
        Self { deadline, not_after: lease_end.min(now + deadline) }
    }

    /// The request, with its deadline as grpc-timeout and the moment after which it must not begin.
    ///
    /// Sidecar and driver share one kernel, hence one boot clock. A driver that knows the key refuses a call that was held up
    /// on the way until it could do harm.
    fn put_on<T>(self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        request.set_timeout(self.deadline);
        // Decimal digits are always a valid metadata value.
        if let Ok(value) = self.not_after.since_origin().as_nanos().to_string().parse() {
            request.metadata_mut().insert(NOT_AFTER_KEY, value);
        }
        request
    }
}

/// Sends the call and waits for its end, at most until its deadline.
pub(super) async fn send<C: Call>(channel: Channel, call: C, limits: Limits) -> Result<C::Ok, Failure> {
    let mut client = ProvisionerClient::new(channel);
    let deadline = limits.deadline;
    match tokio::time::timeout(deadline, call.send(&mut client, limits)).await {
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

fn owned(parameters: Option<Arc<BTreeMap<String, String>>>) -> BTreeMap<String, String> {
    parameters.map(Arc::unwrap_or_clone).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// R15.
    #[test]
    fn a_call_must_begin_before_its_deadline_and_before_the_lease_ends() {
        let now = Time::at(100 * SECOND);
        for (lease_end, not_after) in
            [(now + SECOND, 101), (now + 9 * SECOND, 105), (Time::at(Duration::MAX), 105)]
        {
            let request = Limits::new(5 * SECOND, now, lease_end).put_on(());
            let sent = request.metadata().get(NOT_AFTER_KEY).unwrap().to_str().unwrap();
            assert_eq!(sent, format!("{not_after}000000000"));
            assert!(request.metadata().contains_key("grpc-timeout"));
        }
    }
}
