//! Response bodies.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};

/// The connection to the client ends here, on purpose or because the API server's did.
#[derive(Debug, thiserror::Error)]
#[error("cut")]
pub(super) struct Cut;

pub(super) type Body = UnsyncBoxBody<Bytes, Cut>;

pub(super) fn full(text: String) -> Body {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync()
}

/// Passes on what the API server sends, as it comes.
pub(super) fn passed_on(incoming: hyper::body::Incoming) -> Body {
    incoming.map_err(|_| Cut).boxed_unsync()
}
