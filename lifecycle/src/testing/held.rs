//! Objects that finalizers hold.

use std::fmt::Debug;

use crate::Uid;
use crate::access::{AccessView, SecretView};
use crate::bucket::BucketView;

/// The metadata that all kinds have.
pub(crate) trait Held: Clone + Debug + PartialEq {
    fn uid(&self) -> &Uid;
    fn version(&self) -> &str;
    fn set_version(&mut self, version: u64);
    fn is_deleting(&self) -> bool;
    fn begin_deletion(&mut self);
    /// Whether our finalizer is on it.
    fn ours(&self) -> bool;
    fn others(&self) -> &[Box<str>];
    fn set_finalizers(&mut self, ours: bool, others: Box<[Box<str>]>);

    /// A deleting object that nothing holds is gone.
    fn is_gone(&self) -> bool {
        self.is_deleting() && !self.ours() && self.others().is_empty()
    }
}

macro_rules! held {
    ($($view:ty),*) => {$(
        impl Held for $view {
            fn uid(&self) -> &Uid {
                &self.uid
            }

            fn version(&self) -> &str {
                &self.resource_version
            }

            fn set_version(&mut self, version: u64) {
                self.resource_version = version.to_string().into();
            }

            fn is_deleting(&self) -> bool {
                self.deleting
            }

            fn begin_deletion(&mut self) {
                self.deleting = true;
            }

            fn ours(&self) -> bool {
                self.finalizer
            }

            fn others(&self) -> &[Box<str>] {
                &self.other_finalizers
            }

            fn set_finalizers(&mut self, ours: bool, others: Box<[Box<str>]>) {
                self.finalizer = ours;
                self.other_finalizers = others;
            }
        }
    )*};
}

held!(BucketView, AccessView, SecretView);
