//! Stands between a driver and its service, and holds up one request for ever.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

/// A proxy for `service` (host and port) that forwards everything but PUT requests whose target has `held` in it. Each of
/// those is told of and goes nowhere. The proxy ends with the test's runtime.
pub(crate) async fn holding_up(service: &str, held: &str) -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (told, tells) = mpsc::channel(8);
    let (service, held) = (service.to_owned(), held.to_owned());
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(forward(client, service.clone(), held.clone(), told.clone()));
        }
    });
    (endpoint, tells)
}

/// A request here fits into one read, as those of the driver do.
async fn forward(client: TcpStream, service: String, held: String, told: mpsc::Sender<()>) {
    let server = TcpStream::connect(service).await.unwrap();
    let ((mut asks, mut hears), (mut answers, mut gets)) = (client.into_split(), server.into_split());
    tokio::spawn(async move { tokio::io::copy(&mut answers, &mut hears).await });
    let mut request = vec![0; 64 * 1024];
    loop {
        let Ok(length @ 1..) = asks.read(&mut request).await else { return };
        let line = request[..length].split(|byte| *byte == b'\r').next().map(String::from_utf8_lossy);
        if line.is_some_and(|line| line.starts_with("PUT ") && line.contains(&held)) {
            told.send(()).await.unwrap();
            return std::future::pending().await;
        }
        if gets.write_all(&request[..length]).await.is_err() {
            return;
        }
    }
}
