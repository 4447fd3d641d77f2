//! Bad input over a real socket: there is always an answer, and the server lives on.

use std::time::Duration;

use cosi_apiserver::{Server, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{BUCKETS, SECRETS, server};

const JSON: &str = "content-type: application/json\r\n";

async fn listening() -> Server {
    serve(server(), "127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// Sends bytes, and reads until the server has nothing more to say.
async fn raw(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    // The server may answer and hang up before it has read all.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(10), read).await.expect("an answer in time");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn request(server: &Server, line: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    let text = format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    raw(server, text.as_bytes()).await
}

fn code(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {answer:?}")).parse().unwrap()
}

#[tokio::test]
async fn what_is_no_object_is_refused_as_a_real_api_server_does() {
    let server = listening().await;
    let deep = "[".repeat(100_000);
    for (line, headers, body, wanted) in [
        (format!("POST {BUCKETS}"), JSON, "{\"a\":", 400),
        (format!("POST {BUCKETS}"), JSON, "", 400),
        (format!("POST {BUCKETS}"), JSON, "[]", 400),
        (format!("POST {BUCKETS}"), JSON, "\u{0}", 400),
        (format!("POST {BUCKETS}"), JSON, deep.as_str(), 400),
        (format!("POST {BUCKETS}"), JSON, "{\"metadata\":{\"name\":5}}", 400),
        (format!("POST {BUCKETS}"), "content-type: text/html\r\n", "<p>", 415),
        (format!("PATCH {BUCKETS}/a"), JSON, "{}", 415),
        (format!("PATCH {BUCKETS}/a"), "content-type: application/merge-patch+json\r\n", "{", 404),
        (format!("PUT {SECRETS}"), JSON, "{}", 405),
        (format!("DELETE {SECRETS}/a"), JSON, "{", 400),
        (format!("GET {SECRETS}"), "accept: text/html\r\n", "", 406),
        (format!("GET {SECRETS}?limit=x"), "", "", 400),
        (format!("GET {SECRETS}?continue=x"), "", "", 400),
        (format!("GET {SECRETS}?labelSelector=a%20b"), "", "", 400),
        (format!("GET {SECRETS}?resourceVersion=-1"), "", "", 400),
    ] {
        let answer = request(&server, &line, headers, body).await;
        assert_eq!(code(&answer), wanted, "{line}: {answer}");
        assert!(answer.contains("\"status\":\"Failure\""), "{line}: {answer}");
    }
    assert_eq!(code(&request(&server, "GET /readyz", "", "").await), 200);
}

#[tokio::test]
async fn paths_that_are_tricks_get_an_answer() {
    let server = listening().await;
    let long = format!("GET /{}", "a".repeat(60_000));
    for (line, wanted) in [
        (format!("GET {SECRETS}/.."), 400),
        (format!("GET {SECRETS}/%2e%2e"), 400),
        (format!("GET {SECRETS}/a%2fb"), 404),
        (format!("GET {SECRETS}/a%00b"), 404),
        (format!("GET {SECRETS}/%ff"), 404),
        ("GET /api//v1/secrets".to_owned(), 404),
        ("GET /api/v1/../v1/secrets".to_owned(), 404),
        ("GET //".to_owned(), 404),
        ("OPTIONS *".to_owned(), 404),
        (long, 404),
    ] {
        let answer = request(&server, &line, "", "").await;
        assert_eq!(code(&answer), wanted, "{line}");
    }
    assert_eq!(code(&request(&server, "GET /readyz", "", "").await), 200);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read_to_the_end() {
    let server = listening().await;
    let body = "a".repeat(3 * 1024 * 1024 + 1);
    let answer =
        request(&server, &format!("POST {BUCKETS}"), "content-type: application/json\r\n", &body).await;
    assert_eq!(code(&answer), 413);
    assert!(answer.contains("RequestEntityTooLarge"), "{answer}");
}

#[tokio::test]
async fn what_is_no_http_ends_the_connection_and_nothing_else() {
    let server = listening().await;
    for bytes in
        [&b"\x16\x03\x01\x00\x01\x00"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0\0\0\0\r\n\r\n"]
    {
        let answer = raw(&server, bytes).await;
        assert!(answer.is_empty() || code(&answer) == 400, "{answer}");
    }
    assert_eq!(code(&request(&server, "GET /readyz", "", "").await), 200);
}

#[tokio::test]
async fn a_name_that_points_here_from_the_web_gets_nothing() {
    let server = listening().await;
    let text = format!("GET {SECRETS} HTTP/1.1\r\nhost: rebound.example.org\r\nconnection: close\r\n\r\n");
    let answer = raw(&server, text.as_bytes()).await;
    assert_eq!(code(&answer), 421);
    assert!(answer.contains("\"kind\":\"Status\"") && answer.contains("loopback"), "{answer}");
    let nameless = format!("GET {SECRETS} HTTP/1.0\r\n\r\n");
    assert_eq!(code(&raw(&server, nameless.as_bytes()).await), 421);
}

#[tokio::test]
async fn a_watch_ends_when_the_server_does() {
    let server = listening().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let text = format!("GET {SECRETS}?watch=1 HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut first = [0; 15];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    tokio::time::timeout(Duration::from_secs(10), server.stop()).await.expect("it ends");
}
