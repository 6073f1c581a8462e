//! An open device: one context, one channel.

use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::submitted::deadline;
use crate::sys::{self, Argument};
use peerlane_core::capability::{Capabilities, Identity};
use peerlane_core::channel::Moderation;
use peerlane_core::regs::MAP_ID;
use peerlane_core::uapi;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::ProtFlags;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An open device. Clones are the same context; it is closed when the last one is dropped
/// and all regions, queues and transfers of it are.
#[derive(Debug, Clone)]
pub struct Device(pub(crate) Arc<Context>);

/// What the clones share.
#[derive(Debug)]
pub(crate) struct Context {
    file: OwnedFd,
    path: PathBuf,
    info: uapi::Info,
    capabilities: Capabilities,
    range: Mutex<Range<u64>>,
    /// Whether somebody reads the ring, and so knows where it stands.
    pub(crate) has_queue: AtomicBool,
    /// Whether somebody holds the board's window by this value.
    pub(crate) has_window: AtomicBool,
}

impl Device {
    /// Opens a device node: a new context on a channel that is free.
    ///
    /// # Errors
    /// [`Error::Open`] with `EBUSY` if no channel is free, with
    /// `EDQUOT` if the user has as many as one may; [`Error::Version`] and
    /// [`Error::Identity`] if driver, board and library do not go together.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(file) => Self::from_file(file, path),
            Err(source) => Err(Error::Open { path, source }),
        }
    }

    /// Opens the first device, by number, that has a free channel.
    pub fn first() -> Result<Self> {
        let mut numbers: Vec<u32> = std::fs::read_dir("/dev")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                entry
                    .file_name()
                    .to_str()?
                    .strip_prefix("peerlane")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        let mut failed = Error::None;
        for number in numbers {
            match Self::open(format!("/dev/peerlane{number}")) {
                Ok(device) => return Ok(device),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Takes a file over that is open already: inherited, or sent by another process. The
    /// context is then one for both; they must agree who uses it. `path` is for messages.
    pub fn from_file(file: OwnedFd, path: impl Into<PathBuf>) -> Result<Self> {
        Self::from_file_with(file, path, 0)
    }

    /// The same for who cannot do without some features: bits of [`uapi::feature`].
    ///
    /// # Errors
    /// [`Error::Features`] if one is missing.
    pub fn from_file_with(file: OwnedFd, path: impl Into<PathBuf>, required: u64) -> Result<Self> {
        let path = path.into();
        let ask = |version, required| {
            let mut info = uapi::Info {
                version,
                required,
                ..Default::default()
            };
            sys::call(&file, &mut info).map(|()| info)
        };
        // Why it was refused says what a driver answers to everybody.
        let any = || ask(0, 0).map_err(|source| Error::call(uapi::Info::NAME, source));
        let info = match ask(uapi::VERSION, required) {
            Ok(info) => info,
            Err(Errno::PROTO) => {
                let uapi::Info {
                    version, oldest, ..
                } = any()?;
                return Err(Error::Version {
                    path,
                    driver: oldest..=version,
                });
            }
            Err(Errno::OPNOTSUPP) => {
                return Err(Error::Features {
                    path,
                    missing: required & !any()?.features,
                });
            }
            Err(source) => return Err(Error::call(uapi::Info::NAME, source)),
        };
        let [caps0, caps1, caps2] = info.caps;
        let identity = Identity::new([info.map_id, info.build_id, caps0, caps1, caps2]);
        match identity.check(MAP_ID, None) {
            Ok(capabilities) => Ok(Self(Arc::new(Context {
                file,
                path,
                info,
                capabilities,
                range: Mutex::new(info.local_base..info.local_end),
                has_queue: AtomicBool::new(false),
                has_window: AtomicBool::new(false),
            }))),
            Err(source) => Err(Error::Identity { path, source }),
        }
    }

    /// The device node.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// What the driver said of board and context when it was opened.
    pub fn info(&self) -> &uapi::Info {
        &self.0.info
    }

    /// Whether driver and board have all of these features: bits of [`uapi::feature`]. What an
    /// NVIDIA driver brings may have come, or gone, since the device was opened.
    pub fn has(&self, features: u64) -> bool {
        features & !self.0.info.features == 0
    }

    /// What the board can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.0.capabilities
    }

    /// The state of the context. It acknowledges its events: `poll` says nothing more until
    /// the next one.
    pub fn query(&self) -> Result<uapi::Query> {
        let mut query = uapi::Query::default();
        self.0.call(&mut query)?;
        Ok(query)
    }

    /// Waits for an event of the context; `None`: for as long as it takes. `false`: none has
    /// come in time. Look at the ring, or at [`query`](Self::query), for what has happened.
    pub fn poll(&self, limit: Option<Duration>) -> Result<bool> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let mut files = [PollFd::new(&self.0.file, PollFlags::IN)];
        match rustix::event::poll(&mut files, limit.as_ref()) {
            Ok(0) => Ok(false),
            Ok(_) if files[0].revents().contains(PollFlags::HUP) => Err(Error::Gone),
            // A signal: the caller looks, and waits again.
            Ok(_) | Err(Errno::INTR) => Ok(true),
            Err(source) => Err(Error::call("poll", source)),
        }
    }

    /// Names an eventfd that each event of the context adds 1 to, or none any more.
    pub fn set_eventfd(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        let fd = eventfd.map_or(-1, |fd| fd.as_raw_fd());
        self.0.call(&mut uapi::EventFd { fd, flags: 0 })
    }

    /// Ends what the channel was given: what has not ended by itself after `drain` is aborted.
    /// Says whether something had to be. Meanwhile the board refuses the doorbells of a
    /// [`Queue`](crate::Queue), which has to be [restarted](crate::Queue::restart) then: who shares a
    /// device agrees on who stops it.
    pub fn stop(&self, drain: Duration) -> Result<bool> {
        let mut stop = uapi::Stop {
            deadline_ns: deadline(Some(drain)),
            ..Default::default()
        };
        self.0.call(&mut stop)?;
        Ok(stop.aborted != 0)
    }

    /// FPGA memory that the context has ([`allocate`](Self::allocate)); none at first.
    pub fn range(&self) -> Range<u64> {
        self.0.range()
    }

    /// How the channel's interrupts are held back.
    pub fn moderate(&self, moderation: Moderation) -> Result<()> {
        self.0.call(&mut uapi::Moderate {
            count: moderation.count.into(),
            age: moderation.age.into(),
        })
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.file.as_fd()
    }
}

impl Context {
    /// Calls the driver.
    pub(crate) fn call<T: Argument>(&self, argument: &mut T) -> Result<()> {
        self.try_call(argument)
            .map_err(|source| Error::call(T::NAME, source))
    }

    /// Calls the driver; the error number as it is.
    pub(crate) fn try_call<T: Argument>(&self, argument: &mut T) -> Result<(), Errno> {
        sys::call(&self.file, argument)
    }

    /// Maps one of the context's mappings.
    pub(crate) fn map(
        &self,
        what: &'static str,
        offset: u64,
        bytes: u64,
        protection: ProtFlags,
    ) -> Result<Mapping> {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        Mapping::file(what, self.file.as_fd(), offset, length, protection)
    }

    /// Takes note of the context's FPGA memory.
    pub(crate) fn set_range(&self, range: Range<u64>) {
        *self.range.lock().unwrap_or_else(PoisonError::into_inner) = range;
    }

    fn range(&self) -> Range<u64> {
        (self.range.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }

    /// Checks a range of FPGA memory. The board checks it too.
    pub(crate) fn check_local(&self, address: u64, length: u64) -> Result<()> {
        let Range { start: base, end } = self.range();
        match address.checked_add(length) {
            _ if length == 0 => Err(Error::Empty),
            Some(last) if address >= base && last <= end => Ok(()),
            _ => Err(Error::Local {
                address,
                length,
                base,
                end,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_device_is_refused() {
        let error = Device::open("/dev/no such peerlane").unwrap_err();
        assert!(matches!(
            &error,
            Error::Open { source, .. } if *source == Errno::NOENT
        ));
        // It opens, but knows no such ioctl.
        let error = Device::open("/dev/null").unwrap_err();
        assert_eq!(
            error.to_string(),
            "INFO failed: Inappropriate ioctl for device (os error 25)"
        );
    }
}
