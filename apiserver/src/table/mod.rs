//! Objects as rows, for people.
