//! All objects, with their history.
