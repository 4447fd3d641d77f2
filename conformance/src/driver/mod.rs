//! The driver under test: its calls, each with a deadline, and a memory of all that it ever refused.

pub(crate) mod failure;
pub(crate) mod journal;
pub(crate) mod rpc;

use std::time::{Duration, Instant};

use cosi_proto::NOT_AFTER_KEY;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use self::failure::Failure;
use self::journal::Journal;
use self::rpc::Rpc;

/// What a call ended with.
pub(crate) type Answer<R> = Result<<R as Rpc>::Answer, Failure>;

/// What goes with a call beside the request.
#[derive(Clone, Copy, Default)]
pub(crate) struct How {
    /// Instead of the usual deadline.
    pub(crate) timeout: Option<Duration>,
    /// The last moment at which the work may begin (COSI-GEN-11).
    pub(crate) not_after_ns: Option<u64>,
}

/// A connection to the driver, made when it is needed and again when it broke.
pub(crate) struct Driver {
    channel: Channel,
    timeout: Duration,
    pub(crate) journal: Journal,
}

impl Driver {
    /// Fails on an address that no connection can be made to, whoever listens.
    pub(crate) fn new(endpoint: &str, timeout: Duration) -> Result<Self, tonic::transport::Error> {
        let channel = Endpoint::from_shared(endpoint.to_owned())?.connect_lazy();
        Ok(Self { channel, timeout, journal: Journal::default() })
    }

    /// For services other than COSI's.
    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) async fn ask<R: Rpc>(&self, request: R) -> Answer<R> {
        self.ask_so(request, How::default()).await
    }

    pub(crate) async fn ask_so<R: Rpc>(&self, request: R, how: How) -> Answer<R> {
        let timeout = how.timeout.unwrap_or(self.timeout);
        let mut request = Request::new(request);
        request.set_timeout(timeout);
        if let Some(moment) = how.not_after_ns {
            request.metadata_mut().insert(NOT_AFTER_KEY, moment.into());
        }
        let sent = Instant::now();
        let answer = self.send(request).await.map_err(|status| {
            let failure = Failure::new(R::NAME, &status, sent.elapsed());
            self.journal.refused(&failure);
            failure
        })?;
        self.journal.handed_out(R::secrets(&answer));
        Ok(answer)
    }

    async fn send<R: Rpc>(&self, request: Request<R>) -> Result<R::Answer, Status> {
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
        let path = http::uri::PathAndQuery::from_static(R::PATH);
        let codec = ProstCodec::<R, R::Answer>::default();
        Ok(grpc.unary(request, path, codec).await?.into_inner())
    }
}
