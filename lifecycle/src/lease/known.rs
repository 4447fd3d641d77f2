//! What a candidate knows of the Lease.

use super::{Found, Terms};
use crate::Time;

/// What a candidate knows of the Lease, and since when on its own clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Known {
    /// Nothing yet.
    #[default]
    Nothing,
    /// There is no Lease. A holder of one that vanished may act until its time is over.
    Absent {
        /// When it is.
        free: Time,
    },
    /// There is one.
    There {
        /// As it was last seen.
        found: Found,
        /// When this record – not only this version of the object – was first seen.
        since: Time,
    },
}

impl Known {
    /// Folds in what was seen at `now`.
    pub(super) fn saw(self, found: Option<Found>, me: &str, terms: &Terms, now: Time) -> Self {
        match (self, found) {
            (Self::There { found: before, since }, Some(found)) if before.record == found.record => {
                Self::There { found, since }
            }
            (_, Some(found)) => Self::There { found, since: now },
            (Self::Absent { free }, None) => Self::Absent { free },
            (before, None) => Self::Absent { free: before.free(me, terms).unwrap_or(now) },
        }
    }

    /// Whether that is what is known already.
    pub(super) fn is_same(&self, found: Option<&Found>) -> bool {
        match (self, found) {
            (Self::There { found: known, .. }, Some(found)) => known.version == found.version,
            (Self::Absent { .. }, None) => true,
            _ => false,
        }
    }

    /// From when on the Lease may be taken; `None` if that is not known.
    pub(super) fn free(&self, me: &str, terms: &Terms) -> Option<Time> {
        match self {
            Self::Nothing => None,
            Self::Absent { free } => Some(*free),
            Self::There { found, since } => {
                let record = &found.record;
                let nobody = record.holder.is_empty();
                // An own write that was taken for lost has landed.
                let ourselves = *record.holder == *me;
                Some(if nobody || ourselves { *since } else { *since + record.patience(terms.duration()) })
            }
        }
    }

    /// Who holds it.
    pub(super) fn holder(&self) -> Option<&str> {
        match self {
            Self::There { found, .. } if !found.record.holder.is_empty() => Some(&found.record.holder),
            _ => None,
        }
    }
}
