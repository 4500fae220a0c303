//! What `os2g doctor` says of UCX.

use std::os::unix::net::UnixStream;

use os2g_transfer::{Backend, Error, Kind, Probe, Result};

use crate::backend::{NAME, Ucx};
use crate::library;
use crate::settings::Settings;
use crate::target::{Event, LandingMemory, Progress, Target};

/// Bytes of the landing memory that is tried.
const TRIED_BYTES: usize = 2 << 20;

/// Looks for UCX, and tries it: a target of this process, and puts into it while its thread sleeps. That shows
/// that the library works; between machines, the check of each connection decides.
pub fn probe(settings: &Settings) -> Probe {
    let ucp = match library::load(&settings.places) {
        Ok(ucp) => ucp,
        Err(error) => {
            let found = error.kind != Kind::MissingLibrary;
            return Probe::failed(NAME, found, None, &error);
        }
    };
    match try_here(settings) {
        Ok((path, transports)) => Probe {
            name: NAME,
            found: true,
            version: Some(ucp.version.clone()),
            works: true,
            why: format!("A put within this machine arrived while its target slept ({path})."),
            mend: String::new(),
            details: vec![
                format!("library {}", ucp.path),
                format!("transports {}", transports.join(", ")),
            ],
        },
        Err(error) => Probe::failed(NAME, true, Some(ucp.version.clone()), &error),
    }
}

fn try_here(settings: &Settings) -> Result<(String, Vec<String>)> {
    let target = Target::new(
        settings,
        vec![LandingMemory::Allocate(TRIED_BYTES)],
        Progress::Never,
    )?;
    let (ours, theirs) = UnixStream::pair().map_err(|error| {
        Error::from_io(
            &error,
            "socketpair",
            "Trying UCX",
            "Raise the limit on open files.",
        )
    })?;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| target.accept(theirs).and_then(|mut link| link.wait()));
        let mut backend = Ucx::open(settings.clone())?;
        // Moved in, so that the target's thread ends whatever comes out.
        let landings = backend.connect(ours)?;
        let report = landings
            .first()
            .and_then(|landing| backend.report(landing.handle))
            .cloned();
        backend.close()?;
        match waiting.join() {
            Ok(Ok(Event::Bye)) => (),
            Ok(Err(error)) => return Err(error),
            _ => return Err(Error::closed(NAME)),
        }
        let report = report.ok_or_else(|| Error::closed(NAME))?;
        Ok((report.path(), report.transports))
    })
}
