//! What this process knows of an access that the API does not hold (R6).

use std::sync::Arc;

use super::{AccessView, Effect, Event};
use crate::{Context, Impossible, Machine};

/// The in-flight queue's record of one access, and where the current pass stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessState {}

impl Machine for AccessState {
    type View = AccessView;
    type Event = Event;
    type Effect = Effect;

    fn step(
        &mut self,
        _view: Option<&Arc<AccessView>>,
        _event: Event,
        _ctx: &Context<'_>,
    ) -> Result<Effect, Impossible> {
        Ok(Effect::Done)
    }

    fn is_empty(&self) -> bool {
        true
    }

    fn follows_an_object(&self) -> bool {
        false
    }
}
