//! Watches that run through the proxy: passed on line by line, and cut, stalled or falsified on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};

use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use super::body::{Body, Cut};
use crate::lock;

/// How many events are remembered for each resource.
const REMEMBERED: usize = 10_000;

/// Resources whose watches are out of order.
#[derive(Default)]
struct Disorder {
    stalled: BTreeSet<String>,
    dropping: BTreeSet<String>,
}

#[derive(Clone)]
pub(super) enum Order {
    /// The connection ends in the middle.
    Cut,
    /// These lines, and then a clean end.
    EndWith(Bytes),
    /// These lines in between.
    Inject(Bytes),
}

struct Running {
    resource: String,
    orders: mpsc::UnboundedSender<Order>,
}

/// All watches of one proxy.
#[derive(Default)]
pub(super) struct Watches {
    disorder: watch::Sender<Disorder>,
    running: Mutex<Vec<Running>>,
    events: Mutex<BTreeMap<String, Vec<Bytes>>>,
}

impl Watches {
    pub(super) fn stall(&self, resource: &str) {
        self.disorder.send_if_modified(|d| d.stalled.insert(resource.to_owned()));
    }

    pub(super) fn resume(&self, resource: &str) {
        self.disorder.send_if_modified(|d| d.stalled.remove(resource));
    }

    pub(super) fn drop_events(&self, resource: &str) {
        self.disorder.send_if_modified(|d| d.dropping.insert(resource.to_owned()));
    }

    pub(super) fn relisted(&self, resource: &str) {
        self.disorder.send_if_modified(|d| d.dropping.remove(resource));
    }

    fn is_stalled(&self, resource: &str) -> bool {
        self.disorder.borrow().stalled.contains(resource)
    }

    fn is_dropping(&self, resource: &str) -> bool {
        self.disorder.borrow().dropping.contains(resource)
    }

    /// Gives the order to each running watch of the resource, and says how many there are.
    pub(super) fn order(&self, resource: &str, order: &Order) -> usize {
        let mut running = lock(&self.running);
        running.retain(|watch| !watch.orders.is_closed());
        let told = running.iter().filter(|watch| watch.resource == resource);
        told.filter(|watch| watch.orders.send(order.clone()).is_ok()).count()
    }

    pub(super) fn events(&self, resource: &str) -> Vec<Value> {
        let events = lock(&self.events);
        let lines = events.get(resource).into_iter().flatten();
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    fn remember(&self, resource: &str, line: &Bytes) {
        let mut events = lock(&self.events);
        let lines = events.entry(resource.to_owned()).or_default();
        if lines.len() < REMEMBERED {
            lines.push(line.clone());
        }
    }

    /// The body that the client gets in place of the API server's.
    pub(super) fn body(self: &Arc<Self>, resource: &str, incoming: Incoming) -> Body {
        let (orders, ordered) = mpsc::unbounded_channel();
        lock(&self.running).push(Running { resource: resource.to_owned(), orders });
        let (out, body) = mpsc::channel(1);
        let pump = Pump {
            watches: Arc::downgrade(self),
            resource: resource.to_owned(),
            disorder: self.disorder.subscribe(),
            ordered,
            incoming,
            partial: BytesMut::new(),
            out,
        };
        tokio::spawn(pump.run());
        StreamBody::new(ReceiverStream::new(body).map(|bytes: Result<Bytes, Cut>| bytes.map(Frame::data)))
            .boxed_unsync()
    }
}

/// One watch on its way through.
struct Pump {
    watches: Weak<Watches>,
    resource: String,
    disorder: watch::Receiver<Disorder>,
    ordered: mpsc::UnboundedReceiver<Order>,
    incoming: Incoming,
    partial: BytesMut,
    out: mpsc::Sender<Result<Bytes, Cut>>,
}

/// The watch has come to its end.
struct End;

impl Pump {
    async fn run(mut self) {
        while self.step().await.is_ok() {}
    }

    async fn step(&mut self) -> Result<(), End> {
        let stalled = self.watches.upgrade().ok_or(End)?.is_stalled(&self.resource);
        let out = self.out.clone();
        tokio::select! {
            () = out.closed() => Err(End),
            changed = self.disorder.changed() => changed.map_err(|_| End),
            order = self.ordered.recv() => self.obey(order.ok_or(End)?).await,
            frame = self.incoming.frame(), if !stalled => match frame {
                None => Err(End),
                Some(Err(_)) => self.obey(Order::Cut).await,
                Some(Ok(frame)) => self.pass_on(&frame.into_data().unwrap_or_default()).await,
            },
        }
    }

    async fn obey(&mut self, order: Order) -> Result<(), End> {
        match order {
            Order::Inject(lines) => self.send(Ok(lines)).await,
            Order::EndWith(lines) => self.send(Ok(lines)).await.and(Err(End)),
            Order::Cut => self.send(Err(Cut)).await.and(Err(End)),
        }
    }

    async fn pass_on(&mut self, data: &[u8]) -> Result<(), End> {
        self.partial.extend_from_slice(data);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line = self.partial.split_to(end + 1).freeze();
            let watches = self.watches.upgrade().ok_or(End)?;
            watches.remember(&self.resource, &line);
            if !watches.is_dropping(&self.resource) || is_bookmark(&line) {
                self.send(Ok(line)).await?;
            }
        }
        Ok(())
    }

    async fn send(&self, bytes: Result<Bytes, Cut>) -> Result<(), End> {
        self.out.send(bytes).await.map_err(|_| End)
    }
}

fn is_bookmark(line: &[u8]) -> bool {
    const MARK: &[u8] = br#""type":"BOOKMARK""#;
    line.windows(MARK.len()).take(8).any(|window| window == MARK)
}
