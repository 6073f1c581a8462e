//! The window into FPGA memory, which one context at a time has.

use super::Inner;
use super::context::Held;
use crate::context::BoardWindow;
use crate::error::{Error, Result};
use crate::mapping::Mapping;
use peerlane_core::uapi::{self, window};
use peerlane_core::window::{Window, WindowError};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// The context that has the window, and the window's place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lease {
    channel: u32,
    window: Window,
}

impl BoardWindow for Held {
    fn place(&self, place: &uapi::Window) -> Result<()> {
        let mut inner = self.present()?;
        let refused = |source| Error::window(place.base, source);
        let channel = self.number();
        let has = inner.window.map(|lease| lease.channel);
        match (place.flags, place.base) {
            (window::RELEASE, 0) if has == Some(channel) => {
                inner.window = None;
                Ok(())
            }
            (window::RELEASE, 0) => Err(refused(Errno::NOENT)),
            (0, _) if has.is_some_and(|other| other != channel) => Err(refused(Errno::BUSY)),
            (0, base) => {
                let range = inner.channel(channel)?.range;
                let window = Window::new(base, &range).map_err(|error| {
                    refused(match error {
                        WindowError::Unaligned { .. } => Errno::INVAL,
                        WindowError::Outside { .. } => Errno::PERM,
                    })
                })?;
                inner.board.run("moved the window", window.place())?;
                inner.window = Some(Lease { channel, window });
                Ok(())
            }
            _ => Err(refused(Errno::INVAL)),
        }
    }

    fn map(&self) -> Result<Mapping> {
        Ok(self.present()?.board.backend.window()?)
    }

    fn export(&self) -> Result<OwnedFd> {
        let exported = self.present()?.board.backend.export_window();
        let source = match exported {
            Some(Ok(file)) => return Ok(file),
            // The kernel does not know the call.
            Some(Err(error)) => error.errno().filter(|errno| *errno != Errno::NOTTY),
            None => None,
        };
        let source = source.unwrap_or(Errno::OPNOTSUPP);
        Err(Error::Export { source })
    }
}

impl Inner {
    /// Returns whether a channel has the window.
    pub(super) fn has_window(&self, channel: u32) -> bool {
        self.window.is_some_and(|lease| lease.channel == channel)
    }

    /// Releases the window of a channel that is being closed.
    pub(super) fn forget_window(&mut self, channel: u32) {
        self.window.take_if(|lease| lease.channel == channel);
    }

    /// Moves the window to its place again, which a new configuration of the FPGA does not have.
    pub(super) fn replace_window(&mut self) -> Result<()> {
        match self.window {
            Some(lease) => self.board.run("moved the window", lease.window.place()),
            None => Ok(()),
        }
    }
}
