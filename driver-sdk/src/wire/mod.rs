//! Between the wire's types and the driver's: nothing invalid passes, in either direction.

pub(crate) mod answer;
pub(crate) mod request;
