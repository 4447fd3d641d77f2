//! A tiny API server behind the proxy, and a tiny client before it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use cosi_sim::proxy::{ApiProxy, Upstream};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

pub const BUCKETS: &str = "/apis/objectstorage.k8s.io/v1alpha2/buckets";

type Lines = mpsc::Sender<Result<String, Infallible>>;

/// What the API server saw, and its open watches.
#[derive(Clone, Default)]
pub struct Server {
    seen: Arc<Mutex<Vec<(String, HeaderMap)>>>,
    watches: Arc<Mutex<Vec<Lines>>>,
}

impl Server {
    pub async fn start() -> (Self, String) {
        let server = Self::default();
        let router = Router::new().fallback(answer).with_state(server.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, url)
    }

    /// `METHOD path` of each request, in order.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(line, _)| line.clone()).collect()
    }

    pub fn headers_of_last(&self) -> HeaderMap {
        self.seen.lock().unwrap().last().unwrap().1.clone()
    }

    /// Sends the text through every open watch.
    pub async fn emit(&self, text: &str) {
        let watches = self.watches.lock().unwrap().clone();
        for watch in watches {
            let _ = watch.send(Ok(text.to_owned())).await;
        }
    }
}

async fn answer(State(server): State<Server>, request: Request<Body>) -> Response {
    let line = format!("{} {}", request.method(), request.uri().path());
    server.seen.lock().unwrap().push((line.clone(), request.headers().clone()));
    if request.uri().query().is_some_and(|query| query.contains("watch=true")) {
        let (sender, lines) = mpsc::channel(16);
        server.watches.lock().unwrap().push(sender);
        return Body::from_stream(ReceiverStream::new(lines)).into_response();
    }
    (StatusCode::OK, line).into_response()
}

pub async fn start() -> (Server, ApiProxy, Client) {
    let (server, url) = Server::start().await;
    let upstream = Upstream { url, ca_pem: None, token: Some("sesame".to_owned()) };
    let proxy = ApiProxy::start(upstream).await.unwrap();
    let client = Client::new(&proxy.url());
    (server, proxy, client)
}

#[derive(Clone)]
pub struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    base: String,
}

#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Client {
    pub fn new(base: &str) -> Self {
        Self { http: legacy::Client::builder(TokioExecutor::new()).build_http(), base: base.to_owned() }
    }

    async fn begin(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<http::Response<Incoming>, legacy::Error> {
        let uri = format!("{}{path}", self.base);
        let request = Request::builder().method(method).uri(uri).body(Full::from(body.to_owned())).unwrap();
        self.http.request(request).await
    }

    pub async fn send(&self, method: &str, path: &str) -> Result<Answer, legacy::Error> {
        let (head, body) = self.begin(method, path, "{\"secret\":\"canary\"}").await?.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Ok(Answer { code: head.status.as_u16(), headers: head.headers, text })
    }

    pub async fn watch(&self, path: &str) -> Watch {
        let response = self.begin("GET", &format!("{path}?watch=true&resourceVersion=1"), "").await.unwrap();
        assert_eq!(response.status(), 200);
        Watch { body: response.into_body() }
    }
}

pub struct Watch {
    body: Incoming,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Text(String),
    End,
    Broken,
}

impl Watch {
    /// What comes next. Fails the test if nothing does.
    pub async fn next(&mut self) -> Next {
        let frame = tokio::time::timeout(Duration::from_secs(10), self.body.frame()).await;
        match frame.expect("nothing came through the watch") {
            None => Next::End,
            Some(Err(_)) => Next::Broken,
            Some(Ok(frame)) => Next::Text(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()),
        }
    }

    /// Whether nothing comes for a moment.
    pub async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(100), self.body.frame()).await.is_err()
    }
}
