//! What a newcomer is told.

use std::fmt;
use std::net::SocketAddr;

use crate::folder::Folder;

/// How to reach everything, and what to try first.
pub(crate) struct Guide<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) s3: SocketAddr,
    pub(crate) has_controller: bool,
}

const BY_CLAIM: &str = "  kubectl apply -f deploy/examples/claim.yaml -f deploy/examples/access.yaml
  kubectl wait bucketaccess example --for=jsonpath='{.status.readyToUse}'=true
  kubectl get secret example-credentials -o yaml     # endpoint, bucket and key pair of an application";

const BY_BUCKET: &str = "  kubectl apply -f deploy/examples/bucket.yaml
  kubectl wait buckets --all --for=jsonpath='{.status.readyToUse}'=true
  kubectl get buckets -o wide";

impl fmt::Display for Guide<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, s3, has_controller } = self;
        writeln!(f, "Try this in another terminal:\n")?;
        // As a shell takes it, whatever the folder's name is.
        let kubeconfig = folder.kubeconfig().display().to_string().replace('\'', r"'\''");
        writeln!(f, "  export KUBECONFIG='{kubeconfig}'")?;
        writeln!(f, "{}\n", if *has_controller { BY_CLAIM } else { BY_BUCKET })?;
        writeln!(f, "driver socket:   unix://{}", folder.socket().display())?;
        writeln!(f, "S3 endpoint:     http://{s3}")?;
        let keys = folder.data().join("operator-credentials");
        writeln!(f, "operator's keys: {} (as AWS_SHARED_CREDENTIALS_FILE)", keys.display())?;
        writeln!(f, "log:             {}\n", folder.log().display())?;
        write!(f, "Everything stays up until Ctrl-C.")
    }
}
