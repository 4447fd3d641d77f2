//! The two gRPC services, on a UNIX socket, one task per connection.

use std::path::Path;
use std::sync::Arc;

use cosi_proto::v1alpha2 as wire;
use cosi_proto::v1alpha2::identity_server::{Identity, IdentityServer};
use cosi_proto::v1alpha2::provisioner_server::{Provisioner, ProvisionerServer};
use http::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::{Request, Status, body::Body};
use tower::ServiceExt as _;

use super::answer::Answer;
use super::call;
use super::core::{Core, RAW_CODE};

/// Binds the socket, over a stale file if there is one, and serves until the process is killed.
pub(super) fn listen(core: Arc<Core>, socket: &Path) -> std::io::Result<()> {
    if let Err(error) = std::fs::remove_file(socket)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let listener = UnixListener::bind(socket)?;
    let process = core.process();
    let services = Services { core };
    tokio::spawn(async move { process.run_until_cancelled(services.accept(listener)).await });
    Ok(())
}

/// How many bytes are on their way at most.
const PIPE: usize = 64 << 10;

/// A new connection, without a socket, to the process that runs.
pub(super) fn connect(core: &Arc<Core>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let services = Services { core: Arc::clone(core) };
    core.connected();
    tokio::spawn(connection(theirs, services.routes(), core.connections()));
    ours
}

#[derive(Clone)]
struct Services {
    core: Arc<Core>,
}

impl Services {
    async fn accept(self, listener: UnixListener) {
        let routes = self.routes();
        loop {
            // An error here is about that one connection.
            let Ok((stream, _)) = listener.accept().await else { continue };
            self.core.connected();
            tokio::spawn(connection(stream, routes.clone(), self.core.connections()));
        }
    }

    fn routes(&self) -> Routes {
        Routes::new(IdentityServer::new(self.clone()))
            .add_service(ProvisionerServer::new(self.clone()))
            .prepare()
    }

    async fn serve<T>(
        &self,
        request: Request<T>,
        wrap: impl FnOnce(T) -> call::Request,
    ) -> Result<Answer, Status> {
        let (metadata, _, message) = request.into_parts();
        self.core.serve(wrap(message), &metadata).await
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    routes: Routes,
    cut: CancellationToken,
) {
    let service = service_fn(move |request: http::Request<Incoming>| {
        let routes = routes.clone();
        async move {
            let response = routes.oneshot(request.map(Body::new)).await;
            response.map(|response: Response<Body>| with_raw_code(response))
        }
    });
    let serving = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service);
    if let Some(Err(error)) = cut.run_until_cancelled(serving).await {
        tracing::debug!(%error, "a connection to the scripted driver ended");
    }
}

/// Puts a code that tonic has no words for where the client looks for it.
fn with_raw_code<B>(mut response: Response<B>) -> Response<B> {
    if let Some(code) = response.headers_mut().remove(RAW_CODE) {
        response.headers_mut().insert("grpc-status", code);
    }
    response
}

type Reply<T> = Result<tonic::Response<T>, Status>;

fn unfit(answer: &Answer) -> Status {
    Status::internal(format!("the double mixed up its answers: {answer:?}"))
}

fn done<T: Default>(answer: Answer) -> Reply<T> {
    match answer {
        Answer::Done => Ok(tonic::Response::new(T::default())),
        other => Err(unfit(&other)),
    }
}

#[tonic::async_trait]
impl Identity for Services {
    async fn driver_get_info(
        &self,
        request: Request<wire::DriverGetInfoRequest>,
    ) -> Reply<wire::DriverGetInfoResponse> {
        match self.serve(request, call::Request::GetInfo).await? {
            Answer::GetInfo(info) => Ok(tonic::Response::new(info)),
            other => Err(unfit(&other)),
        }
    }
}

#[tonic::async_trait]
impl Provisioner for Services {
    async fn driver_create_bucket(
        &self,
        request: Request<wire::DriverCreateBucketRequest>,
    ) -> Reply<wire::DriverCreateBucketResponse> {
        match self.serve(request, call::Request::Create).await? {
            Answer::Bucket { id, info } => {
                Ok(tonic::Response::new(wire::DriverCreateBucketResponse { bucket_id: id, protocols: info }))
            }
            other => Err(unfit(&other)),
        }
    }

    async fn driver_get_existing_bucket(
        &self,
        request: Request<wire::DriverGetExistingBucketRequest>,
    ) -> Reply<wire::DriverGetExistingBucketResponse> {
        match self.serve(request, call::Request::GetExisting).await? {
            Answer::Bucket { id, info } => Ok(tonic::Response::new(wire::DriverGetExistingBucketResponse {
                bucket_id: id,
                protocols: info,
            })),
            other => Err(unfit(&other)),
        }
    }

    async fn driver_delete_bucket(
        &self,
        request: Request<wire::DriverDeleteBucketRequest>,
    ) -> Reply<wire::DriverDeleteBucketResponse> {
        done(self.serve(request, call::Request::Delete).await?)
    }

    async fn driver_delete_bucket_by_name(
        &self,
        request: Request<wire::DriverDeleteBucketByNameRequest>,
    ) -> Reply<wire::DriverDeleteBucketByNameResponse> {
        done(self.serve(request, call::Request::DeleteByName).await?)
    }

    async fn driver_grant_bucket_access(
        &self,
        request: Request<wire::DriverGrantBucketAccessRequest>,
    ) -> Reply<wire::DriverGrantBucketAccessResponse> {
        match self.serve(request, call::Request::Grant).await? {
            Answer::Grant(grant) => Ok(tonic::Response::new(grant)),
            other => Err(unfit(&other)),
        }
    }

    async fn driver_revoke_bucket_access(
        &self,
        request: Request<wire::DriverRevokeBucketAccessRequest>,
    ) -> Reply<wire::DriverRevokeBucketAccessResponse> {
        done(self.serve(request, call::Request::Revoke).await?)
    }

    async fn driver_revoke_bucket_access_by_name(
        &self,
        request: Request<wire::DriverRevokeBucketAccessByNameRequest>,
    ) -> Reply<wire::DriverRevokeBucketAccessByNameResponse> {
        done(self.serve(request, call::Request::RevokeByName).await?)
    }
}
