//! What happens around each call: the log, injected errors, the wait for `cuInit`.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::code;
use crate::state::state;

/// An error to inject.
pub struct Fault {
    /// The call of this name to fail, counted from 1 from now on; 0: each of them.
    pub nth: u64,
    pub code: i32,
    pub seen: u64,
}

#[derive(Default)]
pub struct Journal {
    pub faults: HashMap<String, Fault>,
    pub lines: Vec<String>,
    pub file: Option<std::fs::File>,
}

static JOURNAL: LazyLock<Mutex<Journal>> = LazyLock::new(Mutex::default);

pub fn journal() -> MutexGuard<'static, Journal> {
    JOURNAL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal {
    fn write(&mut self, name: &str, answer: i32) {
        let line = format!("{name} {answer}");
        if let Some(file) = &mut self.file {
            // A log that cannot be written must not change what the driver does.
            let _ = writeln!(file, "{line}");
        }
        self.lines.push(line);
    }
}

/// Logs what is no call, for tests that see the log only: `violation`, `pageable`.
pub fn note(name: &str) {
    journal().write(name, 0);
}

/// The error that the test wants here, if any.
pub fn fault(name: &str) -> Option<i32> {
    let mut journal = journal();
    let fault = journal.faults.get_mut(name)?;
    fault.seen += 1;
    (fault.nth == 0 || fault.nth == fault.seen).then_some(fault.code)
}

/// One call. An injected error keeps it from doing anything, save for those that release: they release and then
/// answer so, as the real ones do for errors of earlier work.
pub fn call(name: &'static str, body: impl FnOnce() -> Result<(), i32>) -> i32 {
    let fault = fault(name);
    let releases = [
        "Release",
        "Free",
        "Unmap",
        "Unregister",
        "Destroy",
        "Close",
        "Pop",
    ]
    .iter()
    .any(|part| name.contains(part));
    let ready = name == "cuInit" || name == "cuDriverGetVersion" || state().initialised;
    let answer = match fault {
        Some(code) if !releases => code,
        _ if !ready => code::NOT_INITIALIZED,
        _ => {
            let answer = body().err().unwrap_or(0);
            fault.unwrap_or(answer)
        }
    };
    journal().write(name, answer);
    answer
}

/// Declares exported functions of the driver.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
                $crate::call::call(stringify!($name), || $body)
            }
        )*
    };
}
pub(crate) use exports;

/// Writes an answer where the caller wants it.
pub fn give<T>(place: *mut T, value: T) -> Result<(), i32> {
    if place.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, and by the API's rules valid for one value.
    unsafe { place.write_unaligned(value) };
    Ok(())
}
