//! Calls to the driver, and what can become of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::backend::{UNSTORABLE, Work, bucket, refused};
use super::{CallFault, Crash, Fault, TIMEOUT, World};
use crate::bucket::{Call, CallOk};
use crate::{Code, Failure, Outcome};

type Answer = Result<CallOk, Failure>;

impl World {
    pub(super) fn call(&mut self, call: &Call, fault: Option<Fault>) -> Answer {
        let fault = match fault {
            Some(Fault::Call(CallFault::NotSent)) => {
                return Err(Failure::NotSent { message: "no connection".to_owned() });
            }
            Some(Fault::Call(fault)) => Some(fault),
            _ => None,
        };
        let dies = self.plan.iter().find_map(|(at, fault)| match fault {
            Fault::Crash(Crash::During(after)) if at + 1 == self.effects.len() => Some(*after),
            _ => None,
        });
        self.rpcs += 1;
        let by = self.state.backend.owner.as_ref().map_or_else(|| "nobody".into(), |o| Arc::clone(&o.uid));
        self.check_call(call, &by);
        let answer = if let Some(CallFault::Code(code)) = fault {
            refused(code)
        } else {
            let (answer, work) = self.backend.take(call, &by);
            match (fault, dies) {
                (_, Some(after)) => {
                    self.backend.start(call.rpc(), work, self.now + after);
                    answer
                }
                (Some(fault), None) => self.suffer(call, fault, answer, work),
                (None, None) => {
                    self.backend.land(work);
                    answer
                }
            }
        };
        self.check_removed();
        self.learn(call, &answer);
        answer
    }

    /// The request has arrived, and something goes wrong.
    fn suffer(&mut self, call: &Call, fault: CallFault, answer: Answer, work: Work) -> Answer {
        match fault {
            CallFault::NotSent | CallFault::Code(_) => answer,
            CallFault::Done(code) => {
                self.backend.land(work);
                refused(code)
            }
            CallFault::Half(code) => {
                if let Work::Make { id, by, .. } = work {
                    self.backend.land(Work::Make { id, by, half: true });
                }
                refused(code)
            }
            CallFault::Later(code, after) => {
                self.backend.start(call.rpc(), work, self.now + after);
                refused(code)
            }
            CallFault::NoAnswer => self.no_answer(),
            CallFault::NoAnswerDone => {
                self.backend.land(work);
                self.no_answer()
            }
            CallFault::NoAnswerLater(after) => {
                self.backend.start(call.rpc(), work, self.now + TIMEOUT + after);
                self.no_answer()
            }
            CallFault::NoId | CallFault::BadId | CallFault::NoInfo => {
                self.backend.land(work);
                answer.map(|ok| spoil(fault, ok))
            }
        }
    }

    fn no_answer(&mut self) -> Answer {
        self.advance(self.now + TIMEOUT);
        Err(Failure::NoAnswer { code: Code::DeadlineExceeded, message: "deadline".to_owned() })
    }

    /// What the shell remembers of an answer, and the oracles.
    fn learn(&mut self, call: &Call, answer: &Answer) {
        if let Call::Create(_) = call {
            let outcome = answer.as_ref().err().map(|f| f.outcome(call.rpc()));
            self.create_failed = outcome.is_some();
            self.create_refused = outcome == Some(Outcome::Refused);
            self.saw_unknown |= matches!(outcome, Some(Outcome::Unknown | Outcome::Busy));
        }
        match (call, answer) {
            (Call::DeleteByName(_), Err(Failure::Answered { code: Code::Unimplemented, .. })) => {
                self.by_name_missing = true;
            }
            (Call::Delete { .. } | Call::DeleteByName(_), Ok(_)) => {
                let owner = self.state.backend.owner.as_ref().map(|o| Arc::clone(&o.uid));
                self.acknowledged.extend(owner);
            }
            _ => {}
        }
    }
}

/// An OK as a driver with a defect gives it.
fn spoil(defect: CallFault, ok: CallOk) -> CallOk {
    match (defect, ok) {
        (CallFault::NoId, CallOk::Bucket { .. }) => bucket(""),
        (CallFault::BadId, CallOk::Bucket { id, .. }) => bucket(&format!("{id}{UNSTORABLE}")),
        (_, CallOk::Bucket { id, .. }) => CallOk::Bucket { id, protocols: Vec::new(), info: BTreeMap::new() },
        (_, ok) => ok,
    }
}
