//! How the thread of a connection sleeps.

use std::sync::atomic::Ordering;
use std::time::Duration;

use os2g_transfer::Result;

use super::Driver;
use crate::completions::lock;
use crate::frame::refused;

/// The longest sleep while puts are under way, in case a transport wakes nobody.
const NAP: Duration = Duration::from_millis(100);

impl Driver {
    /// Sleeps until UCX, a command or the control socket has something.
    pub(super) fn sleep(&mut self) -> Result<()> {
        let waiting = self.session.outstanding() > 0;
        let armed = self.session.worker().arm()?;
        if !armed && waiting {
            return Ok(());
        }
        self.queue.asleep.store(true, Ordering::SeqCst);
        // A command that came before the line above did not see a sleeper.
        if lock(&self.queue.state).commands.is_empty() {
            let nap = (waiting || self.closing.is_some()).then_some(NAP);
            let limits = [
                nap,
                self.announce_in(),
                (!armed).then_some(Duration::from_millis(1)),
            ];
            self.poll(limits.into_iter().flatten().min())?;
        }
        self.queue.asleep.store(false, Ordering::SeqCst);
        self.queue.wake.clear();
        Ok(())
    }

    fn poll(&self, limit: Option<Duration>) -> Result<()> {
        let entry = |fd, events| libc::pollfd {
            fd,
            events,
            revents: 0,
        };
        // A negative descriptor is passed over.
        let (control, events) = match &self.control {
            Some(control) if control.has_unsent() => (control.raw(), libc::POLLIN | libc::POLLOUT),
            Some(control) => (control.raw(), libc::POLLIN),
            None => (-1, 0),
        };
        let mut entries = [
            entry(self.session.worker().event_fd()?, libc::POLLIN),
            entry(self.queue.wake.raw(), libc::POLLIN),
            entry(control, events),
        ];
        let milliseconds = limit.map_or(-1, |limit| {
            i32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
        });
        // SAFETY: three valid entries. Whatever the answer, the next turn looks at everything.
        unsafe { libc::poll(entries.as_mut_ptr(), 3, milliseconds) };
        let said = entries[2].revents & libc::POLLIN != 0;
        if said && self.control.as_ref().is_some_and(|control| !control.has_ended()) {
            return Err(refused("sent a message when nothing was asked of it"));
        }
        Ok(())
    }
}
