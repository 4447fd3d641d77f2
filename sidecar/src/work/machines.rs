//! What decides.

use cosi_lifecycle::Machine;
use cosi_lifecycle::access::{self, AccessState, AccessView};
use cosi_lifecycle::bucket::{self, BucketState, BucketView};

/// The machines that decide, one for each kind.
///
/// Users run [`Lifecycle`]. Others wrap it: the simulation seeds defects so, to see that it finds them.
pub trait Machines: 'static {
    /// Of Buckets.
    type Bucket: Machine<View = BucketView, Event = bucket::Event, Effect = bucket::Effect> + Send + 'static;
    /// Of accesses.
    type Access: Machine<View = AccessView, Event = access::Event, Effect = access::Effect> + Send + 'static;
}

/// The lifecycle's own.
#[derive(Clone, Copy, Debug)]
pub struct Lifecycle;

impl Machines for Lifecycle {
    type Bucket = BucketState;
    type Access = AccessState;
}
