//! I7: what a server writes to its log, whatever the level.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::io::Write;
use std::sync::{Arc, Mutex};

use common::*;
use cosi_driver_sdk::{CreateBucketRequest, DriverError};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// All on one thread, so that the thread's own subscriber hears everything.
#[tokio::test(flavor = "current_thread")]
async fn a_call_is_traced_with_what_it_was_about_and_without_any_secret() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    let delete = hook(|_, _| async { Err(DriverError::failed_precondition("the bucket is not empty")) });
    let served = Served::start(Scripted { delete, ..Scripted::default() }).await;
    let mut client = served.client().await;
    let mut grant = grant_request("ba-1", &["a"]);
    grant.parameters.insert("key".into(), "canary-parameter".into());
    let answer = client.driver_grant_bucket_access(grant.clone()).await.unwrap();
    assert!(!format!("{answer:?} {grant:?}").contains("canary"));
    client.driver_delete_bucket(delete_request("x")).await.unwrap_err();
    client.driver_delete_bucket(delete_request("")).await.unwrap_err();
    let text = log.text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains(" call ")).collect();
    let [granted, failed, refused] = lines[..] else { panic!("{lines:#?}") };
    for part in ["rpc=\"DriverGrantBucketAccess\"", "name=\"ba-1\"", "code=\"Ok\"", "duration_ms="] {
        assert!(granted.contains(part), "{granted}");
    }
    for part in
        ["rpc=\"DriverDeleteBucket\"", "name=\"x\"", "code=FailedPrecondition", "the bucket is not empty"]
    {
        assert!(failed.contains(part), "{failed}");
    }
    assert!(refused.contains("code=InvalidArgument") && refused.contains("bucket_id is empty"), "{refused}");
    assert!(!text.contains("canary"), "a secret is in the log");
}

/// What a driver writes to the log while it works can be told apart by call.
#[tokio::test(flavor = "current_thread")]
async fn the_drivers_own_lines_bear_the_rpc_and_the_name_of_the_call() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(log.clone());
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    let create = hook(|_, request: CreateBucketRequest| async move {
        tokio::task::yield_now().await;
        tracing::info!("asking the backend");
        Ok(bucket(request.name.as_str()))
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let client = served.client().await;
    let call = |name: &'static str| {
        let mut client = client.clone();
        async move {
            let mut request = create_request(name);
            request.parameters.insert("key".into(), "canary".into());
            client.driver_create_bucket(request).await.unwrap()
        }
    };
    tokio::join!(call("bc-1"), call("bc-2"));
    let text = log.text();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("asking the backend")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for name in ["bc-1", "bc-2"] {
        let span = format!("call{{rpc=\"DriverCreateBucket\" name={name}}}");
        assert!(lines.iter().any(|line| line.contains(&span)), "{lines:#?}");
    }
    assert!(!text.contains("canary"), "{text}");
}
