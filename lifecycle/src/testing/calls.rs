//! Calls to the driver, and what can become of them.

use std::sync::Arc;

use super::backend::{Work, refused};
use super::{CallFault, Crash, Fault, Kind, Reply, TIMEOUT, World};
use crate::inflight::{DriverCall, Role};
use crate::{Code, Failure, Outcome, Rpc, Uid};

/// A request to the driver.
#[derive(Clone, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) rpc: Rpc,
    pub(crate) role: Role<'a>,
    /// The idempotency key at the backend.
    pub(crate) name: &'a Arc<str>,
    /// For whom.
    pub(crate) by: &'a Uid,
    /// The id that a look is for.
    pub(crate) sought: &'a str,
}

pub(super) type Answer = Result<Reply, Failure>;

pub(super) const fn makes(rpc: Rpc) -> bool {
    matches!(rpc, Rpc::CreateBucket | Rpc::GrantBucketAccess)
}

pub(super) const fn undoes(rpc: Rpc) -> bool {
    !makes(rpc) && !matches!(rpc, Rpc::GetExistingBucket)
}

impl<K: Kind> World<K> {
    /// Calls the driver; a reply may be spoilt by the defect that is named in it.
    pub(crate) fn call(
        &mut self,
        call: &impl DriverCall,
        (name, by): (&Arc<str>, &Uid),
        sought: &str,
        fault: Option<Fault>,
    ) -> Answer {
        let fault = match fault {
            Some(Fault::Call(CallFault::NotSent)) => {
                return Err(Failure::NotSent { message: "no connection".to_owned() });
            }
            Some(Fault::Call(fault)) => Some(fault),
            _ => None,
        };
        self.rpcs += 1;
        let asked = Asked { rpc: call.rpc(), role: call.role(), name, by, sought };
        self.check_sending(&asked);
        let answer = self.answer(&asked, fault);
        self.check_removed();
        self.learn(&asked, &answer);
        answer
    }

    fn answer(&mut self, asked: &Asked<'_>, fault: Option<CallFault>) -> Answer {
        if let Some(CallFault::Code(code)) = fault {
            return refused(code);
        }
        let (answer, work) = self.backend.take(asked);
        let dies = self.plan.iter().find_map(|(at, fault)| match fault {
            Fault::Crash(Crash::During(after)) if at + 1 == self.effects.len() => Some(*after),
            _ => None,
        });
        match (fault, dies) {
            (_, Some(after)) => {
                self.backend.start(asked, work, self.now + after);
                answer
            }
            (Some(fault), None) => self.suffer(asked, fault, answer, work),
            (None, None) => {
                self.backend.land(work);
                answer
            }
        }
    }

    /// The request has arrived, and something goes wrong.
    fn suffer(&mut self, asked: &Asked<'_>, fault: CallFault, answer: Answer, work: Work) -> Answer {
        match fault {
            CallFault::NotSent | CallFault::Code(_) => answer,
            CallFault::Done(code) => {
                self.backend.land(work);
                refused(code)
            }
            CallFault::Half(code) => {
                if let Work::Make(make) = work {
                    self.backend.land(Work::Make(make.broken_off()));
                }
                refused(code)
            }
            CallFault::Later(code, after) => {
                self.backend.start(asked, work, self.now + after);
                refused(code)
            }
            CallFault::NoAnswer => self.no_answer(),
            CallFault::NoAnswerDone => {
                self.backend.land(work);
                self.no_answer()
            }
            CallFault::NoAnswerLater(after) => {
                self.backend.start(asked, work, self.now + TIMEOUT + after);
                self.no_answer()
            }
            defect => {
                self.backend.land(work);
                answer.map(|reply| Reply { defect: Some(defect), ..reply })
            }
        }
    }

    fn no_answer(&mut self) -> Answer {
        self.advance(self.now + TIMEOUT);
        Err(Failure::NoAnswer { code: Code::DeadlineExceeded, message: "deadline".to_owned() })
    }

    /// What the shell remembers of an answer, and the oracles.
    fn learn(&mut self, asked: &Asked<'_>, answer: &Answer) {
        if makes(asked.rpc) {
            let outcome = answer.as_ref().err().map(|f| f.outcome(asked.rpc));
            self.make_failed = outcome.is_some();
            self.make_refused = outcome == Some(Outcome::Refused);
            if matches!(outcome, Some(Outcome::Unknown | Outcome::Busy)) {
                self.saw_unknown.insert(Arc::clone(asked.name));
            }
        }
        match (asked.role, answer) {
            (Role::UndoByName, Err(Failure::Answered { code: Code::Unimplemented, .. })) => {
                self.by_name_missing = true;
            }
            (Role::UndoById(_) | Role::UndoByName, Ok(_)) => {
                self.acknowledged.insert(Arc::clone(asked.by));
            }
            _ => {}
        }
    }
}
