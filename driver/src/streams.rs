// SPDX-License-Identifier: GPL-2.0

//! The streams of the FPGA's logic: each is held by one context at a time.

use crate::{
    context::Context,
    hw::Failure,
    logic::{
        capability::Capabilities,
        regs::csr,
        streams::{self, Counts, Holders, Order, Status, StreamError},
        uapi,
    },
};
use kernel::{new_mutex, prelude::*, sync::Mutex};

/// The streams of a board.
#[pin_data]
pub(crate) struct Streams {
    #[pin]
    holders: Mutex<Holders>,
}

fn refused(error: StreamError) -> Error {
    match error {
        StreamError::Missing => EINVAL,
        StreamError::Held => EBUSY,
        StreamError::NotHeld => EPERM,
    }
}

impl Streams {
    /// Makes the streams of a block, all of them free.
    pub(crate) fn new(capabilities: &Capabilities) -> impl PinInit<Self> {
        let holders = Holders::new(capabilities.streams);
        pin_init!(Self { holders <- new_mutex!(holders) })
    }
}

impl Context {
    /// Opens, closes or inspects a stream.
    pub(crate) fn stream(&self, call: &mut uapi::Stream) -> Result {
        let board = &self.board;
        if board.capabilities.streams == Counts::default() {
            return Err(EOPNOTSUPP);
        }
        let (stream, order) = Order::of(call).ok_or(EINVAL)?;
        // Held up to the last step: another context opens the stream after it was closed here.
        let mut holders = board.streams.holders.lock();
        match order {
            Order::Open(limit) => {
                let held = holders.check(stream, self.channel).is_ok();
                holders.take(stream, self.channel).map_err(refused)?;
                let opened = board.hw.run(streams::open(stream, self.channel, limit));
                if opened.is_err() && !held {
                    // The start that follows closes it.
                    holders.free(stream);
                }
                opened?;
            }
            Order::Close => {
                holders.check(stream, self.channel).map_err(refused)?;
                let closed = board.hw.run([streams::close(stream)]);
                holders.free(stream);
                match closed {
                    // Its start closes all streams.
                    Err(Failure::Away | Failure::Silent) => return Ok(()),
                    closed => closed?,
                }
            }
            Order::Look => holders.check(stream, self.channel).map_err(refused)?,
        }
        Status::new(board.hw.read(stream.register(csr::STREAM_STATUS))?).report(call);
        Ok(())
    }

    /// Closes and frees the streams of the context, whose channel is idle and is not started any more. A board that is
    /// not there loses them at its next start.
    pub(crate) fn close_streams(&self) {
        let mut holders = self.board.streams.holders.lock();
        let held = holders.of(self.channel);
        if held.clone().next().is_none() {
            return;
        }
        self.board.settle(|| held.clone().map(streams::close));
        for stream in held {
            holders.free(stream);
        }
    }
}
