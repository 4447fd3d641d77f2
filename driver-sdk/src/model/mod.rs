//! What a driver is given and gives back: types that can't hold what the protocol doesn't allow.

pub(crate) mod access;
pub(crate) mod answers;
pub(crate) mod credentials;
pub(crate) mod ids;
pub(crate) mod info;
pub(crate) mod parameters;
pub(crate) mod protocol;
pub(crate) mod requests;
pub(crate) mod value;
