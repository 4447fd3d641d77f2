//! As much of S3 as it takes to try a key. It looks at who signed, not at the signature: that a real server is for.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::any;
use tokio::net::TcpListener;

use super::driver::Core;
use super::vice::Vice;

pub(crate) async fn serve(core: Arc<Core>, listener: TcpListener) {
    let router = Router::new().route("/{bucket}/{key}", any(answer)).with_state(core);
    axum::serve(listener, router).await.unwrap();
}

async fn answer(
    State(core): State<Arc<Core>>,
    Path((bucket, key)): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Vec<u8>) {
    let signer = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let signer = signer.split_once("Credential=").map_or("", |(_, after)| after);
    let signer = signer.split('/').next().unwrap_or_default();
    let mut backend = core.backend();
    let Some(reach) = backend.reach_of(signer) else { return (StatusCode::FORBIDDEN, vec![]) };
    let mode = match reach.buckets.get(&bucket) {
        None if core.vice == Vice::KeyOpensAllBuckets => 1,
        None => return (StatusCode::FORBIDDEN, vec![]),
        Some(_) if core.vice == Vice::ModeIgnored => 1,
        Some(mode) => *mode,
    };
    let allowed = if method == Method::GET { mode != 3 } else { mode != 2 };
    if !allowed {
        return (StatusCode::FORBIDDEN, vec![]);
    }
    let Some(bucket) = backend.buckets.get_mut(&bucket) else { return (StatusCode::NOT_FOUND, vec![]) };
    match method {
        Method::GET => match bucket.objects.get(&key) {
            Some(object) => (StatusCode::OK, object.clone()),
            None => (StatusCode::NOT_FOUND, vec![]),
        },
        Method::PUT => {
            bucket.objects.insert(key, body.to_vec());
            (StatusCode::OK, vec![])
        }
        _ => {
            bucket.objects.remove(&key);
            (StatusCode::NO_CONTENT, vec![])
        }
    }
}
