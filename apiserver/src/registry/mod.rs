//! What a write may do to an object of a kind, and how it is stored.
