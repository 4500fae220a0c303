//! UCX requests and their callbacks: each operation posted has a ticket, and the tickets that are done queue up.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::Arc;

use crate::library::Ucp;
use crate::sys::{ERR_LAST, OK, SendCallback, Status, StatusPtr};

/// The tickets of one worker. Dropped after the worker, whose end still calls callbacks.
pub struct Requests {
    ucp: Arc<Ucp>,
    /// Boxed one by one: UCX holds their addresses.
    #[allow(clippy::vec_box)] // the vector grows, the tickets must not move
    tickets: Vec<Box<Ticket>>,
    free: Vec<u32>,
    done: Box<Done>,
}

/// Number of a ticket and how its operation ended.
type Done = RefCell<Vec<(u32, Status)>>;

/// What a callback is given.
struct Ticket {
    number: u32,
    done: *const Done,
    release: unsafe extern "C" fn(*mut c_void),
    /// The poster still uses the request: it releases it, not the callback.
    kept: Cell<bool>,
}

/// How posting went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posted {
    /// Done at once; the callback was or will not be called.
    Complete,
    /// Under way; the ticket comes back from [`Requests::take_done`].
    Pending,
    /// Not started.
    Failed(Status),
}

impl Requests {
    /// None yet.
    pub fn new(ucp: &Arc<Ucp>) -> Self {
        Self {
            ucp: Arc::clone(ucp),
            tickets: Vec::new(),
            free: Vec::new(),
            done: Box::default(),
        }
    }

    /// Posts an operation. `post` gets the callback and its argument. Where `look` is given, the request is made not
    /// to complete at once by the caller, and is shown to `look` before it may be released.
    pub fn post(
        &mut self,
        post: impl FnOnce(SendCallback, *mut c_void) -> StatusPtr,
        look: Option<&mut dyn FnMut(*mut c_void)>,
    ) -> (u32, Posted) {
        let number = self.free.pop().unwrap_or_else(|| self.grow());
        let ticket = &self.tickets[number as usize];
        ticket.kept.set(look.is_some());
        let answer = post(complete, (&raw const **ticket).cast_mut().cast());
        let posted = classify(answer);
        if let (Posted::Pending, Some(look)) = (posted, look) {
            look(answer);
            ticket.kept.set(false);
            let already = self.done.borrow().iter().any(|(done, _)| *done == number);
            if already {
                // SAFETY: a request that has completed, and that its callback has left to us.
                unsafe { (ticket.release)(answer) };
            }
        }
        if posted != Posted::Pending {
            self.free.push(number);
        }
        (number, posted)
    }

    /// Takes the tickets whose operations ended since the last call; their numbers are used again after.
    pub fn take_done(&mut self) -> Vec<(u32, Status)> {
        let done = std::mem::take(&mut *self.done.borrow_mut());
        self.free.extend(done.iter().map(|(number, _)| *number));
        done
    }

    /// Operations posted whose end was not taken yet.
    pub fn open(&self) -> usize {
        self.tickets.len() - self.free.len()
    }

    fn grow(&mut self) -> u32 {
        let number = self.tickets.len() as u32;
        self.tickets.push(Box::new(Ticket {
            number,
            done: &raw const *self.done,
            release: self.ucp.call.ucp_request_free,
            kept: Cell::new(false),
        }));
        number
    }
}

/// What a `ucs_status_ptr_t` says.
pub fn classify(answer: StatusPtr) -> Posted {
    let number = answer as isize;
    if number == 0 {
        Posted::Complete
    } else if (isize::from(ERR_LAST)..0).contains(&number) {
        Posted::Failed(number as Status)
    } else {
        Posted::Pending
    }
}

/// The callback of every operation. Runs inside UCX calls of the worker's thread.
unsafe extern "C" fn complete(request: *mut c_void, status: Status, argument: *mut c_void) {
    // SAFETY: `argument` is a ticket of a `Requests`, which outlives the worker that calls this, in its thread.
    let ticket = unsafe { &*argument.cast::<Ticket>() };
    // SAFETY: the list lives as long as the tickets. It is never borrowed during a UCX call.
    unsafe { &*ticket.done }
        .borrow_mut()
        .push((ticket.number, status));
    if !ticket.kept.get() {
        // SAFETY: the request is this operation's, done, and nobody else releases it.
        unsafe { (ticket.release)(request) };
    }
}

/// Where the error handler of an endpoint leaves what it was told. Dropped after the worker.
pub struct Failure(Cell<Status>);

impl Failure {
    /// None yet.
    pub fn new() -> Box<Self> {
        Box::new(Self(Cell::new(OK)))
    }

    /// What the endpoint failed with, if it has.
    pub fn get(&self) -> Option<Status> {
        Some(self.0.get()).filter(|status| *status != OK)
    }

    /// The handler (`ucp_err_handler_cb_t`); its argument is the address of a [`Failure`].
    ///
    /// # Safety
    /// Called by UCX, in the worker's thread, with the argument that the endpoint was made with.
    pub unsafe extern "C" fn handle(argument: *mut c_void, _ep: *mut crate::sys::ucp_ep, status: Status) {
        // SAFETY: `argument` is a `Failure` that outlives the worker.
        unsafe { &*argument.cast::<Failure>() }.0.set(status);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_pointers() {
        let table = [
            (0isize, Posted::Complete),
            (-1, Posted::Failed(-1)),
            (-25, Posted::Failed(-25)),
            (-100, Posted::Failed(-100)),
            (-101, Posted::Pending),
            (0x7f00_0000_1000, Posted::Pending),
        ];
        for (address, posted) in table {
            assert_eq!(classify(address as *mut c_void), posted, "{address}");
        }
    }
}
