//! Buckets: requests, and making them so that they will be gone.

use std::collections::BTreeMap;

use cosi_proto::v1alpha2 as wire;

use super::{Bench, Stop, Tried, wire_protocol};
use crate::driver::failure::Failure;
use crate::driver::rpc::{Create, Delete, DeleteByName, Existing};
use crate::driver::{Answer, How};

/// A parameter that no driver knows.
pub(crate) const UNKNOWN_PARAMETER: &str = "cosi-conformance-unknown-parameter";

/// A bucket, and what it was made by.
#[derive(Clone)]
pub(crate) struct Bucket {
    pub(crate) id: String,
    pub(crate) request: Create,
}

pub(crate) fn undo(request: &Create) -> DeleteByName {
    DeleteByName {
        name: request.name.clone(),
        protocols: request.protocols.clone(),
        parameters: request.parameters.clone(),
    }
}

impl Bench {
    pub(crate) fn name(&self) -> String {
        self.shared.names.name()
    }

    /// A request for a bucket with a new name.
    pub(crate) fn create_request(&self) -> Create {
        Create {
            name: self.name(),
            protocols: vec![wire_protocol(self.shared.protocol())],
            parameters: self.settings().parameters(),
        }
    }

    /// Another request for the same name: with the parameters that were given for it, or else without protocols.
    pub(crate) fn other_request(&self, request: &Create) -> Create {
        let mut other = request.clone();
        match self.settings().other_parameters() {
            given if given.is_empty() => other.protocols.clear(),
            given => other.parameters = given,
        }
        other
    }

    pub(crate) fn existing_request(&self, id: &str) -> Existing {
        Existing {
            existing_bucket_id: id.to_owned(),
            protocols: vec![wire_protocol(self.shared.protocol())],
            parameters: BTreeMap::new(),
        }
    }

    /// Whatever this makes will be gone when the check is over.
    pub(crate) async fn create(&self, request: &Create) -> Answer<Create> {
        self.create_so(request, How::default()).await
    }

    pub(crate) async fn create_so(&self, request: &Create, how: How) -> Answer<Create> {
        self.made.bucket_asked(request);
        let answer = self.driver().ask_so(request.clone(), how).await;
        self.made.bucket_answered(request, &answer);
        answer
    }

    /// A new bucket to try something with.
    pub(crate) async fn bucket(&self) -> Tried<Bucket> {
        let request = self.create_request();
        let made = self.create(&request).await.map_err(unprepared)?;
        Ok(Bucket { id: made.bucket_id, request })
    }

    pub(crate) async fn delete(&self, bucket: &Bucket) -> Answer<Delete> {
        let request = Delete { bucket_id: bucket.id.clone(), parameters: bucket.request.parameters.clone() };
        let answer = self.ask(request).await;
        if answer.is_ok() {
            self.made.bucket_gone(&bucket.request, &bucket.id);
        }
        answer
    }

    /// Deletes by name until the driver is not busy with that name any more.
    pub(crate) async fn delete_by_name(&self, request: &Create) -> Answer<DeleteByName> {
        let answer = self.patiently(|| self.ask(undo(request))).await;
        if answer.is_ok() {
            self.made.bucket_undone(request);
        }
        answer
    }

    /// Takes a bucket away that the check needs no more.
    pub(crate) async fn away(&self, bucket: &Bucket) -> Tried {
        self.patiently(|| self.delete(bucket)).await.map(drop).map_err(unprepared)
    }

    /// Repeats a call that finds the driver busy (COSI-ERR-7), for as long as a call may take.
    pub(crate) async fn patiently<T, F>(&self, call: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        patiently(self.driver().timeout(), call).await
    }
}

/// Repeats a call that finds the driver busy, for so long.
pub(crate) async fn patiently<T, F>(limit: std::time::Duration, call: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let begun = tokio::time::Instant::now();
    let mut pause = std::time::Duration::from_millis(2);
    loop {
        match call().await {
            Err(busy) if busy.is(tonic::Code::Aborted) && begun.elapsed() < limit => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(std::time::Duration::from_millis(200));
            }
            answer => return answer,
        }
    }
}

/// A step that leads up to what is to be tried has failed.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn unprepared(failure: Failure) -> Stop {
    Stop::Fail(format!("what leads up to this check failed: {failure}"))
}

/// What is wrong with an id, if anything (COSI-GEN-10).
pub(crate) fn wrong_id(id: &str) -> Option<String> {
    let odd = |c: &char| !c.is_ascii_alphanumeric() && !"/._-".contains(*c);
    match id.chars().find(odd) {
        _ if id.is_empty() => Some("it is empty".to_owned()),
        _ if id.len() > 2048 => Some(format!("it has {} bytes; 2048 are allowed", id.len())),
        Some(odd) => Some(format!("{odd:?} is in it; letters, digits and / . _ - are allowed")),
        None => None,
    }
}

/// The protocols that the info is for.
pub(crate) fn protocols_of(info: &wire::ObjectProtocolAndBucketInfo) -> Vec<wire::object_protocol::Type> {
    use wire::object_protocol::Type;
    let there =
        [(Type::S3, info.s3.is_some()), (Type::Azure, info.azure.is_some()), (Type::Gcs, info.gcs.is_some())];
    there.into_iter().filter(|(_, there)| *there).map(|(protocol, _)| protocol).collect()
}
