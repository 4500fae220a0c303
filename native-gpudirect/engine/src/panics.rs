//! Panics, of the caller's code behind a trait or of our own, as values: whoever waits for an attempt is told of them.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// What a piece of work returns; where it panics, what the panic says.
///
/// What the work shares with others must be whole between any two of its statements: all locks of this crate are so.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| text_of(&*panic))
}

/// As [`caught`], of work that waits, which is not to be polled again after a panic. What it held is dropped by the panic.
pub(crate) async fn caught_while<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Result<T, String> {
    poll_fn(|cx| match caught(|| work.as_mut().poll(cx)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(why) => Poll::Ready(Err(why)),
    })
    .await
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it does not say why").to_owned()
}
