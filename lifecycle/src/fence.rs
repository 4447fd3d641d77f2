//! The fence against calls that land late (R3).

use crate::{Context, Rpc, Time};

/// Until when a call for the name may be running or taking effect though it ended here without a certain outcome.
///
/// Nothing is sent for the name before `until`: the call could make a second bucket after a repeat succeeded, or make
/// the bucket after its deletion was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// When the call has certainly ended.
    pub until: Time,
    /// The one call that may be sent sooner: the driver answered ABORTED to it, so it keeps calls for the name apart by
    /// itself.
    pub except: Option<Rpc>,
}

impl Fence {
    /// The fence after a call whose outcome is unknown, or after a NOT_FOUND that is to be asked again.
    pub(crate) fn grace(ctx: &Context<'_>) -> Self {
        Self { until: ctx.now + ctx.settings.late_landing_grace, except: None }
    }

    /// The fence that a predecessor's calls need; none once they have certainly ended.
    pub(crate) fn predecessor(ctx: &Context<'_>) -> Option<Self> {
        (ctx.predecessor_done > ctx.now).then_some(Self { until: ctx.predecessor_done, except: None })
    }

    /// When `rpc` may be sent, if not now.
    pub(crate) fn holds(self, rpc: Rpc, now: Time) -> Option<Time> {
        (self.until > now && self.except != Some(rpc)).then_some(self.until)
    }

    /// This fence on top of an older one: whichever ends later, without an exception that only one of them knew.
    pub(crate) fn on_top_of(self, older: Option<Self>) -> Self {
        match older {
            Some(older) if older.until > self.until => {
                let except = self.except.filter(|rpc| older.except == Some(*rpc));
                Self { until: older.until, except }
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn fence(seconds: u64, except: Option<Rpc>) -> Fence {
        Fence { until: Time::default() + Duration::from_secs(seconds), except }
    }

    #[test]
    fn of_two_fences_the_later_end_counts_and_only_an_exception_of_both() {
        let (delete, create) = (Some(Rpc::DeleteBucket), Some(Rpc::CreateBucket));
        for (older, except) in [(delete, delete), (create, None), (None, None)] {
            assert_eq!(fence(1, delete).on_top_of(Some(fence(2, older))), fence(2, except));
        }
        assert_eq!(fence(2, delete).on_top_of(Some(fence(1, None))), fence(2, delete));
        assert_eq!(fence(1, delete).on_top_of(None), fence(1, delete));
    }
}
