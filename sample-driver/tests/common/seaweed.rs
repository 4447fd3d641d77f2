//! A real service with S3 and IAM APIs: SeaweedFS, built by Go from `tests/seaweedfs`, one server for a test binary.

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use super::client;

/// The operator's key pair, with which drivers work, too.
pub(crate) const ACCESS_KEY: &str = "OPERATOR";
pub(crate) const SECRET_KEY: &str = "operators-secret-canary";

/// It takes about four seconds on two free cores.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// When its stdin ends, which the kernel sees to even if the test is killed, the server ends and its folder goes.
const KEEPER: &str = r#"dir="$1"; shift; "$@" > "$dir/log" 2>&1 & server=$!
cat > /dev/null; kill -KILL $server; wait $server 2> /dev/null; rm -rf "$dir""#;

/// A running server.
pub(crate) struct Seaweed {
    pub(crate) endpoint: String,
    dir: PathBuf,
    /// Holds the pipe whose end is the server's end.
    _keeper: Child,
}

/// The server of this test binary, or `None` after saying that `test` is skipped: there is no Go to build one with.
pub(crate) async fn or_skip(test: &str) -> Option<&'static Seaweed> {
    static SERVER: OnceLock<Option<Seaweed>> = OnceLock::new();
    let server = SERVER.get_or_init(|| go_is_here().then(|| start(&build())));
    let Some(server) = server.as_ref() else {
        report_skipped(test);
        return None;
    };
    server.ready().await;
    Some(server)
}

impl Seaweed {
    pub(crate) fn s3(&self) -> aws_sdk_s3::Client {
        client(&self.endpoint, ACCESS_KEY, SECRET_KEY)
    }

    pub(crate) fn iam(&self) -> aws_sdk_iam::Client {
        let keys = aws_sdk_s3::config::Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "test");
        let config = aws_sdk_iam::Config::builder()
            .behavior_version(aws_sdk_iam::config::BehaviorVersion::v2026_01_12())
            .region(aws_sdk_iam::config::Region::new("us-east-1"))
            .credentials_provider(keys)
            .endpoint_url(&self.endpoint);
        aws_sdk_iam::Client::from_conf(config.build())
    }

    /// Both APIs answer.
    async fn ready(&self) {
        let give_up = Instant::now() + READY_WITHIN;
        while self.s3().list_buckets().send().await.is_err() || self.iam().list_users().send().await.is_err()
        {
            let log = || fs::read_to_string(self.dir.join("log")).unwrap_or_default();
            assert!(Instant::now() < give_up, "SeaweedFS is not ready:\n{}", log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn start(program: &Path) -> Seaweed {
    let dir = tempfile::Builder::new().prefix("cosi-seaweedfs-").tempdir().unwrap().keep();
    let config = serde_json::json!({"identities": [{
        "name": "operator",
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }]});
    fs::write(dir.join("s3.json"), config.to_string()).unwrap();
    let ports = free_ports();
    let mut keeper = Command::new("sh");
    keeper.args(["-c", KEEPER, "keeper"]).arg(&dir).arg(program).args(flags(&dir, &ports));
    keeper.current_dir(&dir).env("HOME", &dir).stdin(Stdio::piped()).stdout(Stdio::null());
    Seaweed { endpoint: format!("http://127.0.0.1:{}", ports[0]), _keeper: keeper.spawn().unwrap(), dir }
}

/// Nothing listens on a well-known port, nothing tells its maker anything, and nothing is left outside the folder.
fn flags(dir: &Path, ports: &[u16; 8]) -> Vec<String> {
    let mut flags = vec!["server".to_owned()];
    let names = ["s3.port", "master.port", "volume.port", "filer.port"];
    for (name, (http, grpc)) in names.iter().zip(ports.iter().zip(&ports[4..])) {
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

fn free_ports() -> [u16; 8] {
    // All at once, so that none is given twice.
    let held = [(); 8].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    held.map(|listener| listener.local_addr().unwrap().port())
}

fn go_is_here() -> bool {
    let mut go = Command::new("go");
    go.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    go.status().is_ok_and(|status| status.success())
}

/// Go knows whether there is anything to do: nothing takes seconds, and everything takes minutes.
fn build() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), |dir| workspace.join(dir));
    let folder = target.join("seaweedfs");
    fs::create_dir_all(&folder).unwrap();
    // Test binaries may come here at once, and none must start a program that is half written.
    let turn = File::create(folder.join("lock")).unwrap();
    turn.lock().unwrap();
    let program = folder.join("weed");
    let mut go = Command::new("go");
    go.current_dir(workspace.join("tests/seaweedfs")).args([
        "build",
        "-buildvcs=false",
        "-ldflags",
        "-s -w",
        "-o",
    ]);
    go.arg(&program).arg("github.com/seaweedfs/seaweedfs/weed").stdin(Stdio::null());
    assert!(go.status().unwrap().success(), "go build failed");
    program
}

/// As all tests of this workspace do that can't run: in CI a skipped test is a failed one, elsewhere the runner lists it.
fn report_skipped(test: &str) {
    let line = format!("SKIPPED: {test}: needs SeaweedFS, and there is no Go on PATH to build it with");
    assert!(!env::var("CI").is_ok_and(|ci| ci == "true"), "{line} (in CI this is a failure)");
    eprintln!("{line}");
    if let Some(path) = env::var_os("TEST_SKIP_LOG") {
        let mut log = File::options().create(true).append(true).open(path).unwrap();
        log.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}
