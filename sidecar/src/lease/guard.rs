//! No write reaches the API server from a process that may not act.

use http::{Method, Request};
use tower::filter::FilterLayer;

use super::Tenure;

/// The Lease is lost, so nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process does not hold the leader's Lease any more")]
pub struct LeaseLost;

impl LeaseLost {
    /// Whether that is why a request failed.
    #[must_use]
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// A layer below everything that may hold a request up: of a request that changes something, it asks the tenure when it
/// leaves, not when it was decided on.
#[must_use]
pub fn guard<B>(
    tenure: Tenure,
) -> FilterLayer<impl Fn(Request<B>) -> Result<Request<B>, LeaseLost> + Clone + Send + 'static> {
    FilterLayer::new(move |request: Request<B>| {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if reads || tenure.may_act() { Ok(request) } else { Err(LeaseLost) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Host;
    use std::sync::Arc;
    use tower::{Layer as _, ServiceExt as _};

    async fn passes(tenure: Tenure, method: Method) -> bool {
        let inner = tower::service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(()));
        let request = Request::builder().method(method).body(()).unwrap();
        let result = guard(tenure).layer(inner).oneshot(request).await;
        if let Err(error) = &result {
            assert!(LeaseLost::caused(error.as_ref()));
        }
        result.is_ok()
    }

    #[tokio::test]
    async fn without_the_lease_nothing_is_written_and_everything_can_be_read() {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert!(!passes(Tenure::candidate(Arc::new(Host)), method.clone()).await, "{method}");
            assert!(passes(Tenure::for_ever(Arc::new(Host)), method).await);
        }
        assert!(passes(Tenure::candidate(Arc::new(Host)), Method::GET).await);
    }
}
