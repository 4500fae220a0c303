//! A UCX context and its configuration.

use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard};

use os2g_transfer::{Error, Kind, Result};

use crate::library::Ucp;
use crate::settings::Settings;
use crate::status;
use crate::sys::*;

/// A UCX context: its transports and memory domains.
#[derive(Debug)]
pub struct Context {
    ucp: Arc<Ucp>,
    /// For workers and registrations.
    pub(crate) raw: *mut ucp_context,
    /// Held in calls that use the context, since it is made without UCX's own locks (a library built without them
    /// does then, too).
    one_at_a_time: Mutex<()>,
}

// SAFETY: UCX binds a context to no thread.
unsafe impl Send for Context {}
// SAFETY: every use of `raw` that could meet another one holds `one_at_a_time`.
unsafe impl Sync for Context {}

impl Context {
    /// Opens UCX with RMA and wake-up, and the settings given.
    ///
    /// # Errors
    /// `Invalid` for a setting that UCX refuses, `Driver`.
    pub fn open(ucp: &Arc<Ucp>, settings: &Settings) -> Result<Arc<Self>> {
        let config = Config::read(ucp)?;
        if let Some(transports) = &settings.transports {
            config.set("TLS", transports)?;
        }
        for (name, value) in &settings.options {
            config.set(name, value)?;
        }
        let params = Params {
            field_mask: PARAM_FIELD_FEATURES,
            features: FEATURE_RMA | FEATURE_WAKEUP,
            request_size: 0,
            request_init: std::ptr::null(),
            request_cleanup: std::ptr::null(),
            tag_sender_mask: 0,
            mt_workers_shared: 0,
            estimated_num_eps: 0,
            estimated_num_ppn: 0,
            name: std::ptr::null(),
        };
        let mut raw = std::ptr::null_mut();
        let (major, minor) = API_LEVEL;
        // SAFETY: valid parameters at the level that is told, a valid configuration, a place for the result.
        let got = unsafe { (ucp.call.ucp_init_version)(major, minor, &params, config.raw, &mut raw) };
        status::check(ucp, got, "ucp_init_version", "Opening UCX")?;
        Ok(Arc::new(Self {
            ucp: Arc::clone(ucp),
            raw,
            one_at_a_time: Mutex::new(()),
        }))
    }

    /// The library.
    pub fn ucp(&self) -> &Arc<Ucp> {
        &self.ucp
    }

    /// Held in calls that use [`Context::raw`].
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.one_at_a_time
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `open`; workers and memory hold the context, so none is left.
        unsafe { (self.ucp.call.ucp_cleanup)(self.raw) };
    }
}

/// UCX's configuration: its defaults, the user's `UCX_*` variables, then ours.
struct Config<'a> {
    ucp: &'a Ucp,
    raw: *mut ucp_config,
}

impl<'a> Config<'a> {
    fn read(ucp: &'a Ucp) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: null means no further prefix and no file; a place for the result.
        let got = unsafe { (ucp.call.ucp_config_read)(std::ptr::null(), std::ptr::null(), &mut raw) };
        status::check(ucp, got, "ucp_config_read", "Reading UCX's configuration")?;
        Ok(Self { ucp, raw })
    }

    fn set(&self, name: &str, value: &str) -> Result<()> {
        let invalid = |why: String| {
            let what = format!("The UCX setting {name}={value} was refused: {why}.");
            Error::new(
                Kind::Invalid,
                what,
                "See ucx_info -cf for UCX's settings and their values.",
            )
        };
        let (Ok(name), Ok(value)) = (CString::new(name), CString::new(value)) else {
            return Err(invalid("it contains a NUL".into()));
        };
        // SAFETY: a valid configuration and two NUL-terminated strings.
        let got = unsafe { (self.ucp.call.ucp_config_modify)(self.raw, name.as_ptr(), value.as_ptr()) };
        if got == OK {
            Ok(())
        } else {
            Err(invalid(status::name(got)))
        }
    }
}

impl Drop for Config<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `ucp_config_read`, released once; a context keeps a copy of what it needs.
        unsafe { (self.ucp.call.ucp_config_release)(self.raw) };
    }
}
