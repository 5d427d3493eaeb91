//! One changed byte in a stored approval voids it, wherever it is.
