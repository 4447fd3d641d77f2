//! One call: the request on the wire, its deadline, and what became of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::bucket::{Call, CallOk, Request};
use cosi_lifecycle::{Code, Failure};
use cosi_proto::NOT_AFTER_KEY;
use cosi_proto::v1alpha2 as wire;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use tonic::transport::Channel;
use tonic::{Response, Status};

use super::connection::Spent;
use super::translate;
use crate::clock;

type Parameters = Option<Arc<BTreeMap<String, String>>>;

/// Sends the call and waits for its end, at most until its deadline. The deadline is sent as grpc-timeout, too.
pub(super) async fn send(channel: Channel, call: Call, deadline: Duration) -> Result<CallOk, Failure> {
    let mut client = ProvisionerClient::new(channel);
    let answer = async {
        match call {
            Call::Create(request) => {
                let request = not_after(with_deadline(create(request), deadline), deadline);
                let answer = client.driver_create_bucket(request).await.map(Response::into_inner)?;
                Ok(translate::bucket(answer.bucket_id, answer.protocols))
            }
            Call::GetExisting { id, request } => {
                let request = with_deadline(get_existing(&id, request), deadline);
                let answer = client.driver_get_existing_bucket(request).await.map(Response::into_inner)?;
                Ok(translate::bucket(answer.bucket_id, answer.protocols))
            }
            Call::Delete { id, parameters } => {
                let request =
                    wire::DriverDeleteBucketRequest { bucket_id: id.into(), parameters: owned(parameters) };
                client.driver_delete_bucket(with_deadline(request, deadline)).await.map(|_| CallOk::Deleted)
            }
            Call::DeleteByName(request) => {
                let request = with_deadline(delete_by_name(request), deadline);
                client.driver_delete_bucket_by_name(request).await.map(|_| CallOk::Deleted)
            }
        }
    };
    match tokio::time::timeout(deadline, answer).await {
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

fn create(request: Request) -> wire::DriverCreateBucketRequest {
    wire::DriverCreateBucketRequest {
        name: request.name.to_string(),
        protocols: translate::protocols(&request.protocols),
        parameters: owned(request.parameters),
    }
}

fn get_existing(id: &str, request: Request) -> wire::DriverGetExistingBucketRequest {
    wire::DriverGetExistingBucketRequest {
        existing_bucket_id: id.to_owned(),
        protocols: translate::protocols(&request.protocols),
        parameters: owned(request.parameters),
    }
}

fn delete_by_name(request: Request) -> wire::DriverDeleteBucketByNameRequest {
    wire::DriverDeleteBucketByNameRequest {
        name: request.name.to_string(),
        protocols: translate::protocols(&request.protocols),
        parameters: owned(request.parameters),
    }
}

fn owned(parameters: Parameters) -> BTreeMap<String, String> {
    parameters.map(Arc::unwrap_or_clone).unwrap_or_default()
}
