//! Requests to the API server, and what can become of them.

use std::time::Duration;

use super::api::{invalid, other};
use super::kind::EffectOf;
use super::{ApiFault, Kind, World};
use crate::WriteFailure;

impl<K: Kind> World<K> {
    /// A write, by `apply`, as the fault lets it happen.
    pub(crate) fn write<T>(
        &mut self,
        fault: Option<ApiFault>,
        write: &EffectOf<K>,
        apply: impl FnOnce(&mut Self) -> Result<T, WriteFailure>,
    ) -> Result<T, WriteFailure> {
        self.writes += 1;
        match fault {
            Some(ApiFault::Overtaken) => K::overtake(self, write),
            Some(ApiFault::LandsLater(after)) => self.late_writes.push((self.now + after, write.clone())),
            _ => {}
        }
        self.meet(fault.filter(|f| *f != ApiFault::AppliedLost))?;
        let written = apply(self);
        if fault == Some(ApiFault::AppliedLost) {
            return Err(other("the answer was lost"));
        }
        written
    }

    /// Writes whose answer came long ago take effect, if their conditions still hold.
    pub(super) fn land_writes(&mut self) {
        while let Some(due) = self.late_writes.iter().position(|(lands, _)| *lands <= self.now) {
            let (_, write) = self.late_writes.remove(due);
            let landed = K::land(self, &write);
            self.log(|| format!("lands late ({landed}): {write:?}"));
            if self.lag.is_none() {
                self.deliver();
            }
        }
    }

    /// A request meets a fault, if there is one.
    pub(crate) fn meet(&mut self, fault: Option<ApiFault>) -> Result<(), WriteFailure> {
        let Some(fault) = fault else { return Ok(()) };
        match fault {
            ApiFault::Lost | ApiFault::AppliedLost | ApiFault::LandsLater(_) => {
                Err(other("the request was lost"))
            }
            ApiFault::Conflict => Err(WriteFailure::Conflict),
            ApiFault::Invalid => Err(invalid("out of the blue")),
            ApiFault::Forbidden => Err(WriteFailure::Forbidden { message: "scripted".to_owned() }),
            ApiFault::Throttled => {
                let retry_after = Some(Duration::from_secs(5));
                Err(WriteFailure::Other { message: "throttled".to_owned(), retry_after })
            }
            ApiFault::Slow => {
                self.advance(self.now + Duration::from_secs(30));
                Ok(())
            }
            ApiFault::Overtaken => Ok(()),
        }
    }
}
