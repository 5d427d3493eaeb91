//! What lies below an error of an HTTP client: shared by all that say why a server gave no answer.

use std::error::Error;
use std::io;

/// An error, what caused it, and so on down to the root.
pub(crate) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

/// The TLS error that a cause is or hides: they sit inside I/O errors, in each other, where `source`
/// does not look.
pub(crate) fn tls_error<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    if let Some(tls) = cause.downcast_ref() {
        return Some(tls);
    }
    let inner = cause.downcast_ref::<io::Error>()?.get_ref()?;
    inner.downcast_ref().or_else(|| tls_error(inner))
}
