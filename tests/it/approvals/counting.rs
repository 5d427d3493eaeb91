//! What makes an approval count and what voids it: one row a case, with the words that a person reads.
