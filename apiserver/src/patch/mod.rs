//! The ways to change a part of an object.
