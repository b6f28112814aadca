//! Golden models of the Rondo transport.
