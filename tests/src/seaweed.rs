//! A real service with S3 and IAM APIs: SeaweedFS, built by Go from `tests/seaweedfs`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use aws_sdk_iam::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::config::retry::RetryConfig;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::sidecar::beside_us;
use crate::{go, object_store, skip};

/// The operator's key pair, with which drivers work, too.
pub const ACCESS_KEY: &str = "OPERATOR";
/// Its secret half.
pub const SECRET_KEY: &str = "operators-secret-canary";

/// It takes about four seconds on two free cores.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// When its stdin ends, which the kernel sees to even if the test is killed, the server ends and its folder goes.
const KEEPER: &str = r#"dir="$1"; shift; "$@" > "$dir/log" 2>&1 & server=$!
cat > /dev/null; kill -KILL $server; wait $server 2> /dev/null; rm -rf "$dir""#;

/// A running server, one for a test binary.
#[derive(Debug)]
pub struct Seaweed {
    /// Where both APIs are.
    pub endpoint: String,
    dir: PathBuf,
    /// Holds the pipe whose end is the server's end.
    _keeper: Child,
}

/// The server of this test binary, or `None` after saying that `test` is skipped: there is no Go to build one with.
///
/// # Panics
/// If there is Go, and there is no server in the end.
#[allow(clippy::panic, reason = "a panic is how a test fails")]
pub async fn or_skip(test: &str) -> Option<&'static Seaweed> {
    static SERVER: OnceLock<Option<Seaweed>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        go::is_here().then(|| {
            let program = go::build("seaweedfs", "github.com/seaweedfs/seaweedfs/weed", "-s -w");
            let program = program.unwrap_or_else(|error| panic!("SeaweedFS: {error:?}"));
            start(&program).unwrap_or_else(|error| panic!("starting SeaweedFS: {error}"))
        })
    });
    match server {
        Some(server) => server.ready().await,
        None => skip::report(test, "needs SeaweedFS, and there is no Go on PATH to build it with"),
    }
    server.as_ref()
}

impl Seaweed {
    /// The operator's S3 client.
    #[must_use]
    pub fn s3(&self) -> aws_sdk_s3::Client {
        s3_client(&self.endpoint, ACCESS_KEY, SECRET_KEY)
    }

    /// The operator's IAM client.
    #[must_use]
    pub fn iam(&self) -> aws_sdk_iam::Client {
        crate::crypto();
        let config = aws_sdk_iam::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "test"))
            .endpoint_url(&self.endpoint);
        aws_sdk_iam::Client::from_conf(config.build())
    }

    /// The command line, for `env`, of the sample driver that makes everything here.
    #[must_use]
    pub fn sample_driver(&self, endpoint: &str, ledger: &Path) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![
            format!("AWS_ACCESS_KEY_ID={ACCESS_KEY}").into(),
            format!("AWS_SECRET_ACCESS_KEY={SECRET_KEY}").into(),
            "AWS_EC2_METADATA_DISABLED=true".into(),
            beside_us("cosi-sample-driver").into(),
        ];
        line.extend(["--backend", "s3", "--s3-path-style", "--s3-endpoint", &self.endpoint].map(Into::into));
        line.extend(["--endpoint", endpoint, "--ledger"].map(Into::into));
        line.push(ledger.into());
        line
    }

    /// Both APIs answer.
    async fn ready(&self) {
        let give_up = Instant::now() + READY_WITHIN;
        while self.s3().list_buckets().send().await.is_err() || self.iam().list_users().send().await.is_err()
        {
            let log = || fs::read_to_string(self.dir.join("log")).unwrap_or_default();
            assert!(Instant::now() < give_up, "SeaweedFS is not ready:\n{}", log());
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A client of the S3 server at `endpoint`, path style, without retries.
#[must_use]
pub fn s3_client(endpoint: &str, access_key: &str, secret: &str) -> aws_sdk_s3::Client {
    crate::crypto();
    let config = object_store::config(endpoint, "anywhere-1", access_key, secret);
    aws_sdk_s3::Client::from_conf(config.retry_config(RetryConfig::disabled()).build())
}

fn start(program: &Path) -> io::Result<Seaweed> {
    let dir = tempfile::Builder::new().prefix("cosi-seaweedfs-").tempdir()?.keep();
    let config = json!({"identities": [{
        "name": "operator",
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }]});
    fs::write(dir.join("s3.json"), config.to_string())?;
    let ports = free_ports()?;
    let mut keeper = Command::new("sh");
    keeper.args(["-c", KEEPER, "keeper"]).arg(&dir).arg(program).args(flags(&dir, &ports));
    keeper.current_dir(&dir).env("HOME", &dir).stdin(Stdio::piped()).stdout(Stdio::null());
    let [s3, ..] = ports;
    Ok(Seaweed { endpoint: format!("http://127.0.0.1:{s3}"), _keeper: keeper.spawn()?, dir })
}

/// Nothing listens on a well-known port, nothing tells its maker anything, and nothing is left outside the folder.
fn flags(dir: &Path, ports: &[u16; 8]) -> Vec<String> {
    let mut flags = vec!["server".to_owned()];
    let names = ["s3.port", "master.port", "volume.port", "filer.port"];
    let (http, grpc) = ports.split_at(names.len());
    for (name, (http, grpc)) in names.iter().zip(http.iter().zip(grpc)) {
        flags.extend([format!("-{name}={http}"), format!("-{name}.grpc={grpc}")]);
    }
    let dir = dir.display();
    flags.extend(["-s3", "-s3.iam.readOnly=false", "-s3.autoCreateBucket=false"].map(str::to_owned));
    flags.extend(["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"].map(str::to_owned));
    flags.extend(["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=100"].map(str::to_owned));
    flags.extend([format!("-dir={dir}"), format!("-s3.config={dir}/s3.json")]);
    flags.extend([format!("-filer.localSocket={dir}/filer.sock"), format!("-s3.localSocket={dir}/s3.sock")]);
    flags
}

fn free_ports() -> io::Result<[u16; 8]> {
    // All at once, so that none is given twice.
    let mut held = vec![];
    let mut ports = [0; 8];
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}
