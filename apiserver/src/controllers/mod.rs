//! What a cluster's controllers do to objects that lost their owner or their namespace.
//!
//! They follow the store's history like a client that watches everything, and act on what a change may have made
//! necessary. Each act is an ordinary write. Nothing happens by itself: [`ApiServer::settle`] does what there is to do,
//! in an order that depends on nothing but the history, and [`run`] calls it for a server that is in use.

mod garbage;
mod graph;
mod namespace;

use std::pin::pin;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub(crate) use graph::Graph;

use crate::registry::{Part, State, Write, resource};
use crate::schema::Kind;
use crate::service::{ApiServer, Shared};
use crate::status::Refusal;
use graph::Place;

/// Whom the controllers' writes are said to be from.
const MANAGER: &str = "kube-controller-manager";
/// How often old Events are looked for while nothing is written.
const TIDYING: Duration = Duration::from_mins(1);

impl ApiServer {
    /// Lets the controllers do all that there is to do: garbage is collected, and namespaces that are being deleted are
    /// emptied.
    pub fn settle(&self) {
        let shared = self.shared();
        let mut graph = shared.graph();
        loop {
            graph.follow(&shared.lock().store);
            let Some(place) = graph.next() else { return };
            // What cannot be written now is looked at again when it changes.
            let _ = shared.write(|state| attend(shared, state, &graph, &place));
        }
    }
}

/// Lets the controllers work whenever something was written, until `stop`.
pub async fn run(server: ApiServer, stop: CancellationToken) {
    loop {
        // Listening begins before the work does, so that no news gets lost between the two.
        let mut news = pin!(server.shared().news().notified());
        news.as_mut().enable();
        server.settle();
        server.shared().tidy();
        tokio::select! {
            () = stop.cancelled() => return,
            () = news => {}
            () = tokio::time::sleep(TIDYING) => {}
        }
    }
}

fn attend(shared: &Shared, state: &mut State, graph: &Graph, place: &Place) -> Result<(), Refusal> {
    let Some(kind) = kind_of(shared, &place.resource) else { return Ok(()) };
    if kind.builtin && kind.plural == "namespaces" {
        namespace::attend(shared, state, &place.key)?;
    }
    garbage::attend(shared, state, graph, place, kind)
}

/// The kind of the objects that are stored under that name; of Events, that of the core group.
fn kind_of<'a>(shared: &'a Shared, stored_as: &str) -> Option<&'a Kind> {
    let mut kinds = shared.catalogue.kinds().iter();
    kinds.find(|kind| *resource(kind) == *stored_as).map(|kind| &**kind)
}

/// A write of the controllers.
fn write<'a>(
    shared: &'a Shared,
    state: &'a mut State,
    kind: &'a Kind,
    namespace: &'a str,
    part: Part,
) -> Write<'a> {
    Write::new(shared, state, kind, namespace, part, MANAGER)
}

/// Namespace and name in a key.
fn split(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("", key))
}
