//! The S3 server in the test's own process.

use std::sync::Arc;

use aws_sdk_s3::{
    Client,
    error::{ProvideErrorMetadata, SdkError},
    primitives::ByteStream,
};
use cosi_sample_driver::{
    backend::{S3Server, serve},
    store::{AccountRequest, BucketId, IdPrefix, KeyPair, Request, Scope, Store},
};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::client;

/// A server with buckets `own-bucket` and `other-bucket`, and an account on the former; it ends with this.
pub(crate) struct World {
    pub(crate) store: Arc<Store>,
    pub(crate) account: KeyPair,
    pub(crate) endpoint: String,
    _stop: tokio_util::sync::DropGuard,
    pub(crate) data: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let data = TempDir::new().unwrap();
        let store = Arc::new(Store::open(data.path(), IdPrefix::default()).unwrap());
        for name in ["own-bucket", "other-bucket"] {
            store.create(request(name)).await.unwrap();
        }
        let account = store.grant(on_own("account", true, true)).await.unwrap();
        let operator = KeyPair { access_key: "OPERATOR".into(), secret: "secret".into() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, S3Server::new(Arc::clone(&store), operator), stop.clone()));
        Self { store, account, endpoint, _stop: stop.drop_guard(), data }
    }

    pub(crate) fn operator(&self) -> Client {
        client(&self.endpoint, "OPERATOR", "secret")
    }

    pub(crate) fn account(&self) -> Client {
        self.client(&self.account)
    }

    pub(crate) fn client(&self, key: &KeyPair) -> Client {
        client(&self.endpoint, &key.access_key, key.secret.expose())
    }

    /// A further account on `own-bucket`.
    pub(crate) async fn granted(&self, name: &str, read: bool, write: bool) -> Client {
        self.client(&self.store.grant(on_own(name, read, write)).await.unwrap())
    }
}

pub(crate) fn request(name: &str) -> Request {
    Request { name: name.into(), protocols: ["S3".into()].into(), parameters: [].into() }
}

pub(crate) fn on_own(name: &str, read: bool, write: bool) -> AccountRequest {
    AccountRequest { name: name.into(), buckets: [(id("own-bucket"), Scope { read, write })].into() }
}

pub(crate) fn id(text: &str) -> BucketId {
    text.parse().unwrap()
}

/// The S3 error code of a refused request.
pub(crate) fn code<T: std::fmt::Debug, E: ProvideErrorMetadata + std::fmt::Debug>(
    answer: Result<T, SdkError<E>>,
) -> String {
    let error = answer.expect_err("a refusal");
    error.code().map_or_else(|| format!("{error:?}"), str::to_owned)
}

pub(crate) async fn put(client: &Client, bucket: &str, key: &str, body: &'static str) {
    client
        .put_object()
        .bucket(bucket)
        .key(key)
        .body(ByteStream::from_static(body.as_bytes()))
        .send()
        .await
        .unwrap();
}

pub(crate) async fn get(client: &Client, bucket: &str, key: &str) -> Vec<u8> {
    let object = client.get_object().bucket(bucket).key(key).send().await.unwrap();
    object.body.collect().await.unwrap().to_vec()
}
