//! The streams of the FPGA's logic: each is held by one channel.

use super::Inner;
use super::context::Held;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::sys::Argument;
use peerlane_core::regs::csr;
use peerlane_core::streams::{self, Order, Status, StreamError};
use peerlane_core::uapi;
use rustix::io::Errno;

fn refused(error: StreamError) -> Error {
    let source = match error {
        StreamError::Missing => Errno::INVAL,
        StreamError::Held => Errno::BUSY,
        StreamError::NotHeld => Errno::PERM,
    };
    Error::call(uapi::Stream::NAME, source)
}

impl Held {
    /// Implements [`Context::stream`].
    pub(super) fn order(&self, call: &mut uapi::Stream) -> Result<()> {
        let invalid = || Error::call(uapi::Stream::NAME, Errno::INVAL);
        if self.info().caps3 == 0 {
            return Err(Error::call(uapi::Stream::NAME, Errno::OPNOTSUPP));
        }
        let (stream, order) = Order::of(call).ok_or_else(invalid)?;
        let number = self.number();
        let mut inner = self.present()?;
        let Inner {
            board,
            streams: holders,
            ..
        } = &mut *inner;
        match order {
            Order::Open(limit) => {
                let held = holders.check(stream, number).is_ok();
                holders.take(stream, number).map_err(refused)?;
                let opened = board.run("opened a stream", streams::open(stream, number, limit));
                if opened.is_err() && !held {
                    // The board is lost. Its start closes all streams.
                    holders.free(stream);
                }
                opened?;
            }
            Order::Close => {
                holders.check(stream, number).map_err(refused)?;
                holders.free(stream);
                board.run("closed a stream", [streams::close(stream)])?;
            }
            Order::Look => holders.check(stream, number).map_err(refused)?,
        }
        let status = board.read(stream.register(csr::STREAM_STATUS))?;
        Status::new(status).report(call);
        Ok(())
    }
}

impl Inner {
    /// Closes and frees the streams of a channel, which is idle.
    pub(super) fn close_streams(&mut self, number: u32) -> Result<()> {
        for stream in self.streams.of(number) {
            (self.board).run("closed a stream", [streams::close(stream)])?;
            self.streams.free(stream);
        }
        Ok(())
    }
}
