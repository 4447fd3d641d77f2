//! Requests and answers as the wire has them.
