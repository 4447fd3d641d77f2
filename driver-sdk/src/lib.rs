//! What a COSI driver author needs: one trait, a server, guards that keep calls for one name apart.
