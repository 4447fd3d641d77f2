//! Schemas of all kinds as OpenAPI v3 documents.
