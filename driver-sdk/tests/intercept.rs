//! What an interceptor sees, and what it may do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use cosi_driver_sdk::{
    CallContext, CallEnd, CallInfo, CreateBucketRequest, DriverError, GrantAccessRequest, Interceptor, Server,
};
use cosi_proto::v1alpha2::DriverGetInfoRequest;
use rustix::process::{getgid, getpid, getuid};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tonic::{Code, Request};

/// Writes down what it sees, and refuses who doesn't know the word.
struct Notes {
    lines: UnboundedSender<String>,
    word: Option<&'static str>,
}

impl Interceptor for Notes {
    fn before(&self, call: &CallInfo) -> Result<(), DriverError> {
        let peer = call.peer.unwrap();
        assert_eq!((peer.uid, peer.gid), (getuid().as_raw(), getgid().as_raw()));
        assert_eq!(peer.pid, Some(getpid().as_raw_nonzero().get()));
        self.lines.send(format!("before {} {}", call.rpc, call.subject)).unwrap();
        match self.word {
            Some(word) if call.metadata("word") != Some(word) => {
                Err(DriverError::permission_denied("say the word"))
            }
            _ => Ok(()),
        }
    }

    fn after(&self, call: &CallInfo, end: &CallEnd<'_>) {
        let gone = if end.abandoned { " abandoned" } else { "" };
        assert!(end.took < PATIENCE);
        self.lines.send(format!("after {} {} {}{gone}", call.rpc, call.subject, end.code())).unwrap();
    }
}

fn notes(word: Option<&'static str>) -> (Notes, UnboundedReceiver<String>) {
    let (lines, read) = unbounded_channel();
    (Notes { lines, word }, read)
}

async fn read(lines: &mut UnboundedReceiver<String>, number: usize) -> Vec<String> {
    let mut read = Vec::new();
    for _ in 0..number {
        read.push(soon(lines.recv()).await.unwrap());
    }
    assert!(lines.try_recv().is_err(), "more than {read:?}");
    read
}

#[tokio::test]
async fn an_interceptor_sees_each_call_begin_and_end_once() {
    let (notes, mut lines) = notes(None);
    let delete = hook(|_, _| async { Err(DriverError::failed_precondition("not empty")) });
    let driver = Scripted { delete, ..Scripted::default() };
    let served = Served::start_with(Server::new(driver).interceptor(notes)).await;
    served.identity().await.driver_get_info(DriverGetInfoRequest {}).await.unwrap();
    assert_eq!(read(&mut lines, 1).await, ["after DriverGetInfo  OK"]);
    let mut client = served.client().await;
    client.driver_create_bucket(create_request("bc-1")).await.unwrap();
    client.driver_delete_bucket(delete_request("x")).await.unwrap_err();
    client.driver_create_bucket(create_request("")).await.unwrap_err();
    let seen = read(&mut lines, 5).await;
    assert_eq!(
        seen,
        [
            "before DriverCreateBucket bc-1",
            "after DriverCreateBucket bc-1 OK",
            "before DriverDeleteBucket x",
            "after DriverDeleteBucket x FailedPrecondition",
            "after DriverCreateBucket  InvalidArgument",
        ]
    );
}

#[tokio::test]
async fn an_interceptor_can_refuse_a_call_before_the_driver_sees_it() {
    let (notes, mut lines) = notes(Some("please"));
    let create = hook(|context: CallContext, request: CreateBucketRequest| async move {
        assert!(!context.is_abandoned());
        assert_eq!(request.name.as_str(), "bc-2");
        Ok(bucket("bc-2"))
    });
    let driver = Scripted { create, ..Scripted::default() };
    let served = Served::start_with(Server::new(driver).interceptor(notes)).await;
    let mut client = served.client().await;
    let refused = client.driver_create_bucket(create_request("bc-1")).await.unwrap_err();
    assert_eq!((refused.code(), refused.message()), (Code::PermissionDenied, "say the word"));
    let mut request = Request::new(create_request("bc-2"));
    request.metadata_mut().insert("word", "please".parse().unwrap());
    client.driver_create_bucket(request).await.unwrap();
    let seen = read(&mut lines, 4).await;
    assert_eq!(seen[1], "after DriverCreateBucket bc-1 PermissionDenied");
    assert_eq!(seen[3], "after DriverCreateBucket bc-2 OK");
}

/// COSI-GEN-5: the end is the end of the work, not of somebody's patience.
#[tokio::test]
async fn an_interceptor_hears_of_the_end_when_the_work_has_ended_though_the_caller_is_gone() {
    let (notes, mut lines) = notes(None);
    let gate = Gate::default();
    let inner = gate.clone();
    let grant = hook(move |context: CallContext, request: GrantAccessRequest| {
        let gate = inner.clone();
        async move {
            gate.pass().await;
            // The caller gives up first; the server hears of that a moment later.
            context.abandoned().await;
            Ok(granted(&request))
        }
    });
    let driver = Scripted { grant, ..Scripted::default() };
    let served = Served::start_with(Server::new(driver).interceptor(notes)).await;
    let mut request = Request::new(grant_request("ba-1", &["a"]));
    request.set_timeout(Duration::from_millis(200));
    soon(served.client().await.driver_grant_bucket_access(request)).await.unwrap_err();
    assert_eq!(read(&mut lines, 1).await, ["before DriverGrantBucketAccess ba-1"]);
    gate.reached().await;
    gate.open();
    assert_eq!(read(&mut lines, 1).await, ["after DriverGrantBucketAccess ba-1 OK abandoned"]);
}

struct Clumsy(Arc<Mutex<u32>>);

impl Interceptor for Clumsy {
    fn before(&self, call: &CallInfo) -> Result<(), DriverError> {
        assert!(call.subject != "bc-1", "canary");
        Ok(())
    }

    fn after(&self, _: &CallInfo, _: &CallEnd<'_>) {
        *self.0.lock().unwrap() += 1;
        panic!("canary");
    }
}

/// C46.
#[tokio::test]
async fn a_panic_in_an_interceptor_fails_no_other_call() {
    let ended = Arc::default();
    let clumsy = Clumsy(Arc::clone(&ended));
    let served = Served::start_with(Server::new(Scripted::default()).interceptor(clumsy)).await;
    let mut client = served.client().await;
    let failed = client.driver_create_bucket(create_request("bc-1")).await.unwrap_err();
    assert_eq!(failed.code(), Code::Internal);
    assert!(!failed.message().contains("canary"));
    client.driver_create_bucket(create_request("bc-2")).await.unwrap();
    assert_eq!(*ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner), 2);
}

/// I7: a token may be in the metadata.
#[tokio::test]
async fn a_call_does_not_print_its_metadata() {
    struct Printer(UnboundedSender<String>);
    impl Interceptor for Printer {
        fn before(&self, call: &CallInfo) -> Result<(), DriverError> {
            self.0.send(format!("{call:?}")).unwrap();
            Ok(())
        }
    }
    let (lines, mut read) = unbounded_channel();
    let served = Served::start_with(Server::new(Scripted::default()).interceptor(Printer(lines))).await;
    let mut request = Request::new(create_request("bc-1"));
    request.metadata_mut().insert("authorization", "canary".parse().unwrap());
    served.client().await.driver_create_bucket(request).await.unwrap();
    let printed = soon(read.recv()).await.unwrap();
    assert!(printed.contains("bc-1") && !printed.contains("canary"), "{printed}");
}
