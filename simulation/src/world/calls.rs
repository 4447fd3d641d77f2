//! Calls that reach the driver.

use std::sync::Arc;
use std::time::Duration;

use cosi_sim::driver::{Call, End, Event, Nonsense, Rpc, Step};
use tokio::time::sleep;

use super::{Sort, World};
use crate::schedule::{CallFault, Death, Fault};
use crate::settings::TIMEOUT;
use crate::trace::Who;

/// From the driver's death to its next life.
const RESTART: Duration = Duration::from_secs(1);

impl World {
    /// From now on the driver asks the schedule what to do with each call, and everything it does is seen.
    pub(super) fn listen_to_the_driver(self: &Arc<Self>) {
        let world = Arc::downgrade(self);
        self.driver.direct(move |call| world.upgrade()?.direct(call));
        let world = Arc::downgrade(self);
        self.driver.testify_to(move |event| {
            if let Some(world) = world.upgrade() {
                world.witness(event);
            }
        });
        let world = Arc::downgrade(self);
        self.driver.set_clock(move || world.upgrade().map_or(0, |world| world.boot_nanos()));
    }

    fn direct(self: &Arc<Self>, call: &Call) -> Option<Step> {
        if call.rpc == Rpc::GetInfo {
            return None;
        }
        self.before_call(call);
        let fault = self.step(Sort::Call);
        if self.runs_in_circles() {
            return Some(Step::hang());
        }
        let fault = fault?;
        match fault {
            Fault::Call(fault) => Some(self.fail(fault, call.number)),
            Fault::Death(death) => {
                // Whose call it is, the driver cannot know; only one acts at a time.
                let process = self.lock().facts.caller;
                self.kill(process);
                Some(match death {
                    Death::Before => Step::hang(),
                    Death::After => Step::do_then_hang(),
                    Death::During(later) => Step::hang_then_land(later),
                })
            }
            Fault::Api(_) | Fault::Pause(_) | Fault::Freeze(_) => None,
        }
    }

    fn fail(self: &Arc<Self>, fault: CallFault, call: usize) -> Step {
        let crashes = matches!(fault, CallFault::Crash | CallFault::DoneAndCrash | CallFault::Replaced);
        // The work of another call would have to end within the grace of the crash, and scripted landings do not.
        if crashes && self.lock().facts.runs_another(call) {
            return Step::hang();
        }
        match fault {
            CallFault::Fails(code) => Step::fail(code.number()),
            CallFault::DoneBut(code) => Step::done_but(code.number()),
            CallFault::Half(code) => Step::half_done(code.number()),
            CallFault::Later(code, after) => Step::fail_then_land(code.number(), after),
            CallFault::Hangs => Step::hang(),
            CallFault::DoneAndHangs => Step::do_then_hang(),
            CallFault::LandsLate(after) => Step::hang_then_land(TIMEOUT + after),
            CallFault::Cut => Step::cut(),
            CallFault::DoneAndCut => Step::do_then_cut(),
            CallFault::Crash => {
                self.revive_driver(false);
                Step::crash()
            }
            CallFault::DoneAndCrash => {
                self.revive_driver(false);
                Step::do_then_crash()
            }
            CallFault::Replaced => {
                self.revive_driver(true);
                Step::crash()
            }
            CallFault::NoId => Step::nonsense(Nonsense::EmptyId),
            CallFault::NoInfo => Step::nonsense(Nonsense::NoProtocolInfo),
        }
    }

    /// The driver comes back in a while, perhaps as one with other abilities.
    fn revive_driver(self: &Arc<Self>, replaced: bool) {
        let world = Arc::clone(self);
        tokio::spawn(async move {
            sleep(RESTART).await;
            if replaced {
                world.driver.set(|abilities| abilities.by_name = !abilities.by_name);
            }
            world.tell(Who::Driver, format_args!("starts again"));
            world.disturb();
            // In memory nothing can keep it from that.
            let _ = world.driver.restart();
        });
    }

    fn witness(self: &Arc<Self>, event: &Event) {
        if let Event::Arrived(call) = event
            && call.rpc == Rpc::GetInfo
        {
            self.lock().facts.greetings.insert(call.number);
        }
        if let Event::Arrived(Call { number, .. }) | Event::Ended { call: number, .. } = event
            && self.lock().facts.greetings.contains(number)
        {
            return;
        }
        let caller = Who::Sidecar(self.lock().facts.caller);
        match event {
            Event::Arrived(_) => self.tell_of(caller, Who::Driver, format_args!("{event}")),
            Event::Ended { end: End::Answered { .. }, .. } => {
                self.tell_of(Who::Driver, caller, format_args!("{event}"));
            }
            _ => self.tell(Who::Driver, format_args!("{event}")),
        }
        match event {
            Event::Did { effect, .. } => self.after_effect(effect),
            Event::Arrived(call) => self.lock().facts.call_arrived(call.number),
            Event::Ended { call, end } => {
                self.lock().facts.call_ended(*call);
                self.after_call(*call, end);
            }
            Event::Note(_) => {}
        }
    }
}
