//! The vendor's functions, and the thread that loads them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::generated::vendor::Vendor;

/// The vendor's functions, once they are loaded or known to be missing.
static VENDOR: OnceLock<Vendor> = OnceLock::new();
/// For calls that need no vendor library.
static NOBODY: Vendor = Vendor::NONE;
/// The thread that loads the vendor library; 0 if none does.
static LOADING: AtomicUsize = AtomicUsize::new(0);

/// Returns the vendor's functions; none before [`load_once`].
#[inline]
pub(crate) fn vendor() -> &'static Vendor {
    VENDOR.get().unwrap_or(&NOBODY)
}

/// Whether a loaded library has called this library.
static NESTED: AtomicBool = AtomicBool::new(false);

/// Records that this thread loads the vendor library.
pub(crate) fn set_loading() {
    // SAFETY: always succeeds.
    LOADING.store(unsafe { libc::pthread_self() } as usize, Relaxed);
}

/// Whether this thread is loading the vendor library: the vendor library has then called a loader of OpenCL, which has
/// called this library.
pub(crate) fn nested() -> bool {
    // SAFETY: always succeeds.
    let nested = LOADING.load(Relaxed) == unsafe { libc::pthread_self() } as usize;
    if nested {
        NESTED.store(true, Relaxed);
    }
    nested
}

/// Whether the loaded library is itself a loader.
pub(crate) fn was_nested() -> bool {
    NESTED.load(Relaxed)
}

/// Returns the vendor's functions. The first call gets them from `load`.
pub(crate) fn load_once(load: impl FnOnce() -> Vendor) -> &'static Vendor {
    VENDOR.get_or_init(|| {
        set_loading();
        let vendor = load();
        LOADING.store(0, Relaxed);
        vendor
    })
}
