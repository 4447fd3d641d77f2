//! A COSI driver with an embedded S3 server.
