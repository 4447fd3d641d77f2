//! Whether the Secrets of a Ready access are as they were written.

use std::sync::Arc;

use super::{Whose, whose};
use crate::access::required::required_keys;
use crate::access::state::Sight;
use crate::access::{AccessState, AccessView, Effect, SecretView};
use crate::{Context, Note, NoteReason};

/// How the Secret of a Ready access is not as it was written.
#[derive(Clone, Copy)]
enum Loss {
    Gone,
    Taken,
    Deleting,
    Incomplete,
}

impl Loss {
    /// What a person is told of it, and of what follows.
    const fn text(self) -> (&'static str, &'static str) {
        let granted_again = "the access is granted again, with the same account";
        match self {
            Self::Gone => ("is gone", granted_again),
            Self::Taken => {
                ("was taken by somebody else", "the access cannot be used before that one is gone")
            }
            Self::Deleting => ("is being deleted", granted_again),
            Self::Incomplete => ("lacks a key that it needs", granted_again),
        }
    }
}

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
                Some(Sight::Missing) => Some(Loss::Gone),
                Some(Sight::Found(secret)) => loss(view, secret),
            };
            if let Some(loss) = lost {
                return Some(self.lost(view, name, loss, ctx));
            }
        }
        self.secrets.met = true;
        self.secrets.retry.filter(|_| failed).map(|retry| Effect::Wait(retry.at))
    }

    /// A Secret of a Ready access is not as it was written: the access is not usable, and a person should know why
    /// credentials change.
    fn lost(&mut self, view: &Arc<AccessView>, name: &str, loss: Loss, ctx: &Context<'_>) -> Effect {
        let (why, then) = loss.text();
        let text = format!("Secret {name} {why}; {then}");
        self.telling.note_once(Note::warning(view, NoteReason::SecretLost, &text));
        match self.tell_next() {
            Some(tell) => tell,
            None => self.close(view, ctx),
        }
    }
}

/// How the Secret of a Ready access is not as it was written, if so. Values edited by hand are not compared.
fn loss(view: &AccessView, secret: &SecretView) -> Option<Loss> {
    if whose(view, secret) != Whose::Ours {
        return Some(Loss::Taken);
    }
    if secret.deleting {
        return Some(Loss::Deleting);
    }
    let required = required_keys(view.protocol, view.authentication?);
    required.iter().any(|key| !secret.keys.contains(*key)).then_some(Loss::Incomplete)
}
