use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use os2g_wire::{Class, Credentials, PinnedEtags, Target};

use crate::completions::Completions;
use crate::dial::Dialer;
use crate::failure::Failure;
use crate::failures::RecentFailures;
use crate::options::{EngineOptions, Verify};
use crate::pool::Pool;
use crate::regions::Regions;
use crate::sync::lock;
use crate::table::ObjectTable;

/// Credentials, and the number that their user knows them by.
pub(crate) struct Signing {
    pub number: u64,
    pub credentials: Credentials,
}

/// What all threads of one engine share.
pub(crate) struct Shared {
    pub options: EngineOptions,
    pub table: Arc<dyn ObjectTable>,
    pub completions: Completions,
    pub regions: Regions,
    pub dialer: Dialer,
    /// One for each I/O thread.
    pub pools: Vec<Pool>,
    pub pinned: Mutex<PinnedEtags>,
    pub checked: AtomicU64,
    pub unchecked: AtomicU64,
    /// Attempts that run.
    pub running: AtomicUsize,
    failures: Mutex<RecentFailures>,
    notices: Mutex<Vec<String>>,
    refuses_if_match: AtomicBool,
    signing: Mutex<(u64, Option<Arc<Signing>>)>,
}

impl Shared {
    pub fn new(
        options: EngineOptions,
        table: Arc<dyn ObjectTable>,
        completions: Completions,
        dialer: Dialer,
    ) -> Shared {
        Shared {
            pools: (0..options.threads).map(|_| Pool::default()).collect(),
            options,
            table,
            completions,
            regions: Regions::default(),
            dialer,
            pinned: Mutex::new(PinnedEtags::new()),
            checked: AtomicU64::new(0),
            unchecked: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            failures: Mutex::default(),
            notices: Mutex::default(),
            refuses_if_match: AtomicBool::new(false),
            signing: Mutex::default(),
        }
    }

    /// What requests are written for.
    pub fn target(&self) -> Target {
        let options = &self.options;
        let (absolute_prefix, proxy_authorization) = self.dialer.absolute_form().unzip();
        Target {
            host: options.host.clone(),
            path_prefix: options.path_prefix.clone(),
            signing_region: options.signing_region.clone(),
            signing_service: options.signing_service.clone(),
            requester_pays: options.requester_pays,
            ask_checksum: options.verify == Verify::Checksum,
            absolute_prefix,
            proxy_authorization: proxy_authorization.flatten(),
        }
    }

    pub fn signing(&self) -> Option<Arc<Signing>> {
        lock(&self.signing).1.clone()
    }

    /// Returns their number; 0 for none.
    pub fn set_credentials(&self, credentials: Option<Credentials>) -> u64 {
        let mut signing = lock(&self.signing);
        let number = signing.0 + u64::from(credentials.is_some());
        *signing = (
            number,
            credentials.map(|credentials| Arc::new(Signing { number, credentials })),
        );
        signing.1.as_ref().map_or(0, |signing| signing.number)
    }

    pub fn failure(&self, id: u32) -> Option<Failure> {
        lock(&self.failures).get(id).cloned()
    }

    /// These requests begin anew.
    pub fn forget_failures(&self, ids: impl Iterator<Item = u32>) {
        lock(&self.failures).forget(ids);
    }

    /// A cancel says less than the failure of the other attempt that may be why it came.
    pub fn keep_failure(&self, id: u32, failure: Failure) {
        let mut failures = lock(&self.failures);
        if failure.class != Class::Cancelled || failures.get(id).is_none() {
            failures.keep(id, failure);
        }
    }

    pub fn takes_if_match(&self) -> bool {
        !self.refuses_if_match.load(Ordering::Relaxed)
    }

    /// The store has refused If-Match itself: it is left out from now on.
    pub fn do_without_if_match(&self, status: u16) {
        if self.refuses_if_match.swap(true, Ordering::Relaxed) {
            return;
        }
        self.notify_user(format!(
            "the store answers If-Match with status {status}: from now on ETags are compared when the answer comes"
        ));
    }

    /// Keeps what the user should know, once.
    pub fn notify_user(&self, notice: String) {
        let mut notices = lock(&self.notices);
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.notices))
    }
}
