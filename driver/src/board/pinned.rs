// SPDX-License-Identifier: GPL-2.0

//! Other devices' memory that is pinned for a channel counts for the channel's user until it is released. The kernel
//! does not charge the memory that an exporter allocates or pins for an importer.

use super::{explain, Board};
use crate::ffi::Text;
use kernel::{prelude::*, sync::Arc};

/// Bytes that count until this is dropped.
pub(crate) struct Pinned {
    board: Arc<Board>,
    user: Option<u32>,
    bytes: u64,
}

impl Board {
    /// Counts memory that is about to be pinned. `EDQUOT`: the channel's user may not have so much.
    pub(crate) fn pin(self: &Arc<Self>, channel: u32, bytes: u64) -> Result<Pinned> {
        let counted = self.entries.lock().quota.pin(channel, bytes);
        let user = counted.map_err(|error| {
            explain!(self, "channel {}: {}\n", channel, Text(error));
            EDQUOT
        })?;
        Ok(Pinned {
            board: self.clone(),
            user,
            bytes,
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(user) = self.user {
            self.board.entries.lock().quota.unpin(user, self.bytes);
        }
    }
}
