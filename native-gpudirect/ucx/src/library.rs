//! Finding libucp, loading it, and its functions by name.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use os2g_transfer::{Error, Kind, Result};

use crate::sys::*;

/// The oldest UCX that is taken.
pub const OLDEST: (u32, u32) = (1, 16);
/// Names the library (`.../libucp.so.0`) where the loader does not find it, or finds another one.
pub const LIBRARY_VARIABLE: &str = "OS2G_UCX_LIBRARY";
/// What the loader is asked for.
const SONAME: &str = "libucp.so.0";
const GET_UCX: &str = "Install UCX >= 1.16 (its libucp.so.0 where the loader finds it), or name the file with \
    OS2G_UCX_LIBRARY; the Python wheel libucx-cu13 has one for tests on one machine.";

/// Declares the table of functions and how it is filled: one line a function, so that names cannot drift apart.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of libucp (and `ucs_status_string` of libucs) that are used.
        #[allow(missing_docs)] // the C header documents them
        pub struct Functions { $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Functions {
            /// Looks every function up.
            fn load(library: &Library, path: &str) -> Result<Self> {
                Ok(Self { $($name: {
                    let name = concat!(stringify!($name), "\0");
                    // SAFETY: the type is that of the C header's declaration of this name.
                    let found = unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(name.as_bytes())
                    };
                    *found.map_err(|_| missing_symbol(stringify!($name), path))?
                },)* })
            }
        }
    };
}

functions! {
    ucp_get_version(*mut c_uint, *mut c_uint, *mut c_uint);
    ucp_get_version_string() -> *const c_char;
    ucp_config_read(*const c_char, *const c_char, *mut *mut ucp_config) -> Status;
    ucp_config_modify(*mut ucp_config, *const c_char, *const c_char) -> Status;
    ucp_config_release(*mut ucp_config);
    ucp_init_version(c_uint, c_uint, *const Params, *const ucp_config, *mut *mut ucp_context) -> Status;
    ucp_cleanup(*mut ucp_context);
    ucp_worker_create(*mut ucp_context, *const WorkerParams, *mut *mut ucp_worker) -> Status;
    ucp_worker_destroy(*mut ucp_worker);
    ucp_worker_query(*mut ucp_worker, *mut WorkerAttr) -> Status;
    ucp_worker_release_address(*mut ucp_worker, *mut ucp_address);
    ucp_worker_progress(*mut ucp_worker) -> c_uint;
    ucp_worker_get_efd(*mut ucp_worker, *mut i32) -> Status;
    ucp_worker_arm(*mut ucp_worker) -> Status;
    ucp_ep_create(*mut ucp_worker, *const EpParams, *mut *mut ucp_ep) -> Status;
    ucp_ep_close_nbx(*mut ucp_ep, *const RequestParam) -> StatusPtr;
    ucp_ep_flush_nbx(*mut ucp_ep, *const RequestParam) -> StatusPtr;
    ucp_ep_query(*mut ucp_ep, *mut EpAttr) -> Status;
    ucp_ep_rkey_unpack(*mut ucp_ep, *const c_void, *mut *mut ucp_rkey) -> Status;
    ucp_rkey_destroy(*mut ucp_rkey);
    ucp_rkey_pack(*mut ucp_context, *mut ucp_mem, *mut *mut c_void, *mut usize) -> Status;
    ucp_rkey_buffer_release(*mut c_void);
    ucp_mem_map(*mut ucp_context, *const MemMapParams, *mut *mut ucp_mem) -> Status;
    ucp_mem_unmap(*mut ucp_context, *mut ucp_mem) -> Status;
    ucp_mem_query(*mut ucp_mem, *mut MemAttr) -> Status;
    ucp_put_nbx(*mut ucp_ep, *const c_void, usize, u64, *mut ucp_rkey, *const RequestParam) -> StatusPtr;
    ucp_request_query(*mut c_void, *mut RequestAttr) -> Status;
    ucp_request_check_status(*mut c_void) -> Status;
    ucp_request_free(*mut c_void);
    ucs_status_string(Status) -> *const c_char;
}

/// A loaded libucp of a version that does.
pub struct Ucp {
    /// Its functions.
    pub call: Functions,
    /// Its version, as it says itself.
    pub version: String,
    /// The file that was loaded, or the name that the loader was asked for.
    pub path: String,
    /// Never closed: UCX leaves hooks and a thread behind that would run in unmapped code.
    _library: ManuallyDrop<Library>,
}

impl std::fmt::Debug for Ucp {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "UCX {} ({})", self.version, self.path)
    }
}

/// Where to look for libucp. A place that is named must do: it is never passed over for another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The library's file. Comes before [`LIBRARY_VARIABLE`] and the loader's search.
    pub library: Option<PathBuf>,
    /// The folder of the Python wheel (`.../site-packages/libucx`), tried last.
    pub wheel: Option<PathBuf>,
}

/// Finds and loads libucp: the named file, else the one that [`LIBRARY_VARIABLE`] names, else the loader's own
/// search for `libucp.so.0`, else the wheel.
///
/// # Errors
/// `MissingLibrary`, `MissingSymbol`, and `Unsupported` for a version that is too old.
pub fn load(places: &Places) -> Result<Arc<Ucp>> {
    if let Some(path) = &places.library {
        return open(&path.to_string_lossy());
    }
    if let Some(path) = std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        return open(&path.to_string_lossy());
    }
    let searched = open(SONAME);
    let absent = matches!(&searched, Err(error) if error.kind == Kind::MissingLibrary);
    match places.wheel.as_deref().and_then(in_wheel) {
        Some(path) if absent => open(&path.to_string_lossy()),
        _ => searched,
    }
}

/// The library inside the wheel's folder, or inside `site-packages`.
fn in_wheel(folder: &Path) -> Option<PathBuf> {
    let candidates = [
        folder.join("lib").join(SONAME),
        folder.join("libucx/lib").join(SONAME),
    ];
    candidates.into_iter().find(|path| path.exists())
}

fn open(path: &str) -> Result<Arc<Ucp>> {
    // Somebody else in this process may use UCX already: then its log and its signals are left to them.
    // SAFETY: RTLD_NOLOAD runs no initialiser; it only asks whether the library is there.
    let ours = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NOLOAD) }.is_err();
    // SAFETY: libucp's initialisers set up its own state only; the file is one that the user or the system named.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        let what = format!("UCX was not found: {path} does not load: {error}.");
        Error::new(Kind::MissingLibrary, what, GET_UCX)
    })?;
    let library = ManuallyDrop::new(library);
    let call = Functions::load(&library, path)?;
    let (mut major, mut minor, mut release) = (0, 0, 0);
    // SAFETY: three valid places for three numbers.
    unsafe { (call.ucp_get_version)(&mut major, &mut minor, &mut release) };
    check_version((major, minor, release), path)?;
    // SAFETY: returns a string that lives as long as the library, which is never closed.
    let version = unsafe { text((call.ucp_get_version_string)()) };
    if ours {
        quiet(&library);
    }
    Ok(Arc::new(Ucp {
        call,
        version,
        path: path.to_owned(),
        _library: library,
    }))
}

/// Takes UCX's log messages over (they would go to standard output) and gives the signal handlers back that UCX
/// replaced when it loaded. Both functions are outside UCX's documented interface, so a library without them does.
fn quiet(library: &Library) {
    // SAFETY: `void ucs_debug_disable_signals(void)`.
    if let Ok(disable) = unsafe { library.get::<unsafe extern "C" fn()>(b"ucs_debug_disable_signals\0") } {
        // SAFETY: takes nothing; puts back the handlers that were there before.
        unsafe { disable() };
    }
    // SAFETY: `void ucs_log_push_handler(ucs_log_func_t)`, of which `log::handle` has the type.
    if let Ok(push) = unsafe { library.get::<crate::log::Push>(b"ucs_log_push_handler\0") } {
        crate::log::install(*push);
    }
}

/// Refuses a library that is too old.
fn check_version(version: (u32, u32, u32), path: &str) -> Result<()> {
    let (major, minor, release) = version;
    if (major, minor) >= OLDEST && major == OLDEST.0 {
        return Ok(());
    }
    let why = if major > OLDEST.0 {
        "is of another generation than the 1.x known here"
    } else {
        "is older than 1.16"
    };
    Err(Error::new(
        Kind::Unsupported,
        format!("UCX {major}.{minor}.{release} ({path}) {why}."),
        GET_UCX,
    ))
}

fn missing_symbol(name: &'static str, path: &str) -> Error {
    Error::new(
        Kind::MissingSymbol(name),
        format!("{path} has no function {name}, so it is not a UCX that can be used."),
        GET_UCX,
    )
}

/// A C string as text; empty for null.
///
/// # Safety
/// Null, or a NUL-terminated string that nothing changes during the call.
pub unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let table = [
            ((1, 13, 1), false),
            ((1, 15, 9), false),
            ((1, 16, 0), true),
            ((1, 22, 0), true),
        ];
        for (version, accepted) in table {
            assert_eq!(check_version(version, "x").is_ok(), accepted, "{version:?}");
        }
        let error = check_version((1, 13, 1), "/lib/libucp.so.0").unwrap_err();
        assert_eq!(error.kind, Kind::Unsupported);
        assert_eq!(error.what, "UCX 1.13.1 (/lib/libucp.so.0) is older than 1.16.");
        assert!(check_version((2, 0, 0), "x").is_err());
    }

    #[test]
    fn what_is_missing_is_named() {
        let at = |path: &str| Places {
            library: Some(path.into()),
            wheel: None,
        };
        let error = load(&at("/nonexistent/libucp.so.0")).unwrap_err();
        assert_eq!(error.kind, Kind::MissingLibrary);
        assert!(error.what.contains("/nonexistent/libucp.so.0"), "{error}");
        // A real library that is not UCX.
        let error = load(&at("libc.so.6")).unwrap_err();
        assert_eq!(error.kind, Kind::MissingSymbol("ucp_get_version"));
        assert!(error.what.contains("ucp_get_version"), "{error}");
    }
}
