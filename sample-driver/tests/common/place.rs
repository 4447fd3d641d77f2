//! The driver as a process of its own.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use aws_sdk_s3::Client;
use cosi_proto::v1alpha2::{
    DriverCreateBucketRequest, DriverGetInfoRequest, ObjectProtocol, S3BucketInfo,
    identity_client::IdentityClient, object_protocol::Type, provisioner_client::ProvisionerClient,
};
use cosi_sample_driver::store::{BucketId, IdPrefix, Store};
use tempfile::TempDir;
use tonic::{Code, Status, transport::Channel};

use cosi_tests::seaweed;

use super::client;

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A folder for data and socket, in which drivers run one after the other.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("socket")).unwrap();
        Self(folder)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.0.path().join("socket/cosi.sock")
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.0.path().join("log")).unwrap()
    }

    pub(crate) fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cosi-sample-driver"));
        let log = File::options().create(true).append(true).open(self.0.path().join("log")).unwrap();
        command.env_clear().stderr(log).stdout(Stdio::null());
        command.arg("--endpoint").arg(format!("unix://{}", self.socket().display()));
        if !flags.contains(&"--data-dir") {
            command.arg("--data-dir").arg(self.data());
        }
        if !flags.contains(&"--s3-listen") && !flags.contains(&"s3") {
            command.args(["--s3-listen", "127.0.0.1:0"]);
        }
        // From the standard chain, which must not look for a cloud's metadata service here.
        command.env("AWS_EC2_METADATA_DISABLED", "true");
        command
            .env("AWS_ACCESS_KEY_ID", seaweed::ACCESS_KEY)
            .env("AWS_SECRET_ACCESS_KEY", seaweed::SECRET_KEY);
        command.args(flags);
        command
    }

    pub(crate) async fn start(&self, flags: &[&str]) -> Driver {
        self.start_with(flags, &[]).await
    }

    pub(crate) async fn start_with(&self, flags: &[&str], env: &[(&str, &str)]) -> Driver {
        let process = self.command(flags).envs(env.iter().copied()).spawn().unwrap();
        let driver = Driver { process, socket: self.socket() };
        let give_up = Instant::now() + PATIENCE;
        while driver.info().await.is_err() {
            assert!(Instant::now() < give_up, "the driver doesn't answer:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        driver
    }

    /// What a driver that refuses to start says, and how it ends.
    pub(crate) fn refusal(&self, flags: &[&str]) -> (ExitStatus, String) {
        let status = wait(&mut self.command(flags).spawn().unwrap());
        (status, self.log())
    }

    pub(crate) fn operator(&self, info: &S3BucketInfo) -> Client {
        let text = std::fs::read_to_string(self.data().join("operator-credentials")).unwrap();
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ")).unwrap();
        client(&info.endpoint, value("aws_access_key_id"), value("aws_secret_access_key"))
    }

    /// Buckets on disk, while no driver runs.
    pub(crate) fn buckets(&self) -> Vec<BucketId> {
        Store::open(&self.data(), IdPrefix::default()).unwrap().list().unwrap()
    }
}

/// A running driver; killed when dropped.
pub(crate) struct Driver {
    process: Child,
    pub(crate) socket: PathBuf,
}

impl Driver {
    pub(crate) async fn channel(&self) -> Result<Channel, tonic::transport::Error> {
        connect(&self.socket).await
    }

    pub(crate) async fn info(&self) -> Result<String, Status> {
        let channel = self.channel().await.map_err(|e| Status::unavailable(e.to_string()))?;
        let info = IdentityClient::new(channel).driver_get_info(DriverGetInfoRequest::default()).await?;
        Ok(info.into_inner().name)
    }

    pub(crate) async fn rpc(&self) -> ProvisionerClient<Channel> {
        ProvisionerClient::new(self.channel().await.unwrap())
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    pub(crate) fn ended(mut self) -> ExitStatus {
        wait(&mut self.process)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

pub(crate) fn wait(process: &mut Child) -> ExitStatus {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > give_up {
            process.kill().unwrap();
            panic!("the driver goes on");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) async fn connect(socket: &Path) -> Result<Channel, tonic::transport::Error> {
    tonic::transport::Endpoint::from_shared(format!("unix://{}", socket.display()))?.connect().await
}

pub(crate) fn s3() -> Vec<ObjectProtocol> {
    vec![ObjectProtocol { r#type: Type::S3.into() }]
}

pub(crate) fn parameters(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

pub(crate) fn create(name: &str, pairs: &[(&str, &str)]) -> DriverCreateBucketRequest {
    DriverCreateBucketRequest { name: name.into(), protocols: s3(), parameters: parameters(pairs) }
}

pub(crate) async fn make(driver: &Driver, name: &str, pairs: &[(&str, &str)]) -> S3BucketInfo {
    let made = driver.rpc().await.driver_create_bucket(create(name, pairs)).await.unwrap().into_inner();
    let info = made.protocols.unwrap().s3.unwrap();
    assert_eq!(info.bucket_id, made.bucket_id);
    info
}

pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, words: &str) {
    let status = answer.unwrap_err();
    assert_eq!(status.code(), code, "{status:?}");
    assert!(status.message().contains(words), "{status:?}");
    assert!(status.details().is_empty());
}
