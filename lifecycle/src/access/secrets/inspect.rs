//! Whether the Secrets of a Ready access are as they were written.

use std::sync::Arc;

use super::{Whose, whose};
use crate::access::required::required_keys;
use crate::access::state::Sight;
use crate::access::{AccessState, AccessView, Effect, SecretView};
use crate::{Context, Note, NoteReason};

const GONE: &str = "is gone";
const TAKEN: &str = "was taken by somebody else";

impl AccessState {
    /// Every Secret of a Ready access is as it was written. `None` if so.
    pub(in crate::access) fn inspect(&mut self, view: &Arc<AccessView>, ctx: &Context<'_>) -> Option<Effect> {
        if let Some(at) = self.pace.api_gate(ctx).max(self.secret_gate(ctx)) {
            return Some(Effect::Wait(at));
        }
        let mut failed = false;
        for name in view.secrets() {
            let lost = match self.sight(name) {
                None => return Some(self.look(view, name)),
                Some(Sight::Failed(_)) => {
                    failed = true;
                    None
                }
                Some(Sight::Missing) => Some(GONE),
                Some(Sight::Found(secret)) => unlike_written(view, secret),
            };
            if let Some(why) = lost {
                return Some(self.lost(view, name, why, ctx));
            }
        }
        self.secrets.met = true;
        self.secrets.retry.filter(|_| failed).map(|retry| Effect::Wait(retry.at))
    }

    /// A Secret of a Ready access is not as it was written: the access is not usable, and a person should know why
    /// credentials change.
    fn lost(&mut self, view: &Arc<AccessView>, name: &str, why: &str, ctx: &Context<'_>) -> Effect {
        let then = if why == TAKEN {
            "the access cannot be used before that one is gone"
        } else {
            "the access is granted again, with the same account"
        };
        let text = format!("Secret {name} {why}; {then}");
        self.telling.note_once(Note::warning(view, NoteReason::SecretLost, &text));
        match self.tell_next() {
            Some(tell) => tell,
            None => self.close(view, ctx),
        }
    }
}

/// Why the Secret of a Ready access is not as it was written, if so. Values edited by hand are not compared.
fn unlike_written(view: &AccessView, secret: &SecretView) -> Option<&'static str> {
    if whose(view, secret) != Whose::Ours {
        return Some(TAKEN);
    }
    if secret.deleting {
        return Some("is being deleted");
    }
    let required = required_keys(view.protocol, view.authentication?);
    required.iter().any(|key| !secret.keys.contains(*key)).then_some("lacks a key that it needs")
}
