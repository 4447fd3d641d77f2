//! Bugs in what becomes of a Bucket.

use std::sync::Arc;

use cosi_api::names::FINALIZER;
use cosi_lifecycle::bucket::{BucketState, BucketView, Call, CallOk, Effect, Event, StatusWrite};
use cosi_lifecycle::{Outcome, Rpc, Uid, Wake};

use super::seam::{Seam, Stale, refusal, soften};
use super::{Bug, VANISHED, is, seeded};

/// What bugs remember of a Bucket.
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The intent is taken as written.
    intended: bool,
    /// For whom the last Create was sent.
    made_for: Option<Uid>,
    /// The last Create failed.
    failed: bool,
    /// The last Create was refused.
    refused: bool,
    /// The object is let go: nothing is deleted any more.
    let_go: bool,
    last: Last,
    stale: Stale<BucketView>,
}

/// The last effect, as far as it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Create,
    Recording,
}

impl Seam for BucketState {
    const RESTS: bool = true;
    type Memory = Memory;

    fn distort(view: Option<&Arc<BucketView>>, memory: &Memory) -> Option<Arc<BucketView>> {
        if let Some(stale) = memory.stale.shown() {
            return Some(stale);
        }
        let view = view?;
        let mut shown = BucketView::clone(view);
        match seeded()? {
            Bug::NoIntent if memory.intended && !view.deleting => shown.finalizer = true,
            Bug::RecreateVanished if VANISHED.get() && !view.deleting => {
                (shown.ready, shown.bucket_id) = (None, None);
            }
            Bug::DisinheritTheHeir if memory.made_for.as_ref().is_some_and(|uid| *uid != view.uid) => {
                shown.finalizer = false;
            }
            _ => return None,
        }
        Some(Arc::new(shown))
    }

    fn corrupt(&mut self, view: Option<&Arc<BucketView>>, event: Event, memory: &mut Memory) -> Event {
        let event = match event {
            Event::Called(Err(failure)) => Event::Called(Err(soften(failure))),
            event => event,
        };
        if let Some(view) = view.filter(|view| view.finalizer && !view.deleting && view.ready != Some(true)) {
            memory.stale.keep(view);
        }
        memory.stale.acknowledged |= matches!(event, Event::Called(Ok(CallOk::Deleted)));
        if memory.last == Last::Create {
            memory.failed = matches!(event, Event::Called(Err(_)));
            memory.refused = refused(&event);
        }
        let forgets = match seeded() {
            Some(Bug::ForgetOnFailedWrite) => {
                memory.last == Last::Recording && matches!(event, Event::Wrote(Err(_)))
            }
            Some(Bug::ForgetTheGone) => view.is_none(),
            Some(Bug::RefusedIsForgotten) => view.is_none() && memory.refused,
            _ => false,
        };
        if forgets {
            *self = Self::default();
            return Event::Start(Wake::CHANGED);
        }
        if let Event::Called(Ok(CallOk::Deleted)) = &event {
            memory.made_for = None;
        }
        if is(Bug::LetGoThoughUnknown) && lets_go(view, &event, memory) {
            memory.let_go = true;
            let nothing = CallOk::Bucket { id: "nothing".into(), protocols: vec![], info: [].into() };
            return Event::Called(Ok(nothing));
        }
        event
    }

    fn lie(view: Option<&Arc<BucketView>>, effect: &Effect, memory: &mut Memory) -> Option<Event> {
        let going = view.is_none_or(|view| view.deleting);
        let unknown = view.is_none_or(|view| view.bucket_id.is_none());
        let skips = match seeded()? {
            Bug::NoIntent if intends(effect) => {
                memory.intended = true;
                return Some(Event::Wrote(Ok(())));
            }
            Bug::CacheForLiveRead if *effect == Effect::Read => return Some(Event::Read(Ok(()))),
            Bug::CreateFromStaleCache if *effect == Effect::Read && memory.stale.acknowledged => {
                return Some(Event::Read(Ok(())));
            }
            Bug::NothingWithoutId => going && unknown,
            Bug::ReleaseOnFailedCreate => going && memory.failed,
            Bug::LetGoThoughUnknown => memory.let_go,
            _ => false,
        };
        match effect {
            Effect::Call(Call::Delete { .. }) if skips && memory.let_go => {
                Some(Event::Called(Ok(CallOk::Deleted)))
            }
            Effect::Call(Call::DeleteByName(_)) if skips => Some(Event::Called(Ok(CallOk::Deleted))),
            Effect::Call(Call::Create(_)) if skips => Some(Event::Called(Err(refusal()))),
            _ => None,
        }
    }

    fn divert(view: Option<&Arc<BucketView>>, effect: Effect, memory: &mut Memory) -> Effect {
        if matches!(&effect, Effect::Call(Call::Create(_))) {
            memory.made_for = view.map(|view| view.uid.clone());
        }
        memory.last = match &effect {
            Effect::Call(Call::Create(_)) => Last::Create,
            Effect::WriteStatus { status: StatusWrite::Ready(_), .. } => Last::Recording,
            _ => Last::Other,
        };
        effect
    }
}

/// A replayed Create was refused while the Bucket goes: the machine would wait, since the first one's outcome is unknown.
fn lets_go(view: Option<&Arc<BucketView>>, event: &Event, memory: &Memory) -> bool {
    let going = view.is_none_or(|view| view.deleting);
    going && memory.last == Last::Create && refused(event)
}

/// Whether a Create was refused.
fn refused(event: &Event) -> bool {
    matches!(event, Event::Called(Err(failure)) if failure.outcome(Rpc::CreateBucket) == Outcome::Refused)
}

/// The write of the durable intent.
fn intends(effect: &Effect) -> bool {
    matches!(effect, Effect::WriteFinalizers { finalizers, .. } if finalizers.iter().any(|f| f == FINALIZER))
}
