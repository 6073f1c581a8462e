// SPDX-License-Identifier: GPL-2.0

//! `/proc/PID/fdinfo/FD` of an open board, in the manner of Documentation/gpu/drm-usage-stats.rst:
//! one `key: value` a line, bytes where no unit is said.

use crate::context::Context;
use kernel::{seq_file::SeqFile, seq_print};

impl Context {
    /// Writes the resources of the context.
    pub(crate) fn show_fdinfo(&self, file: &SeqFile) {
        let board = &self.board;
        let seen = self.events.seen();
        let ([regions, kept], [bytes, kept_bytes]) = self.regions.lock().usage();
        seq_print!(file, "peerlane-driver:\tpeerlane\n");
        seq_print!(file, "peerlane-pdev:\t{}\n", board.device().name());
        seq_print!(file, "peerlane-channel:\t{}\n", self.channel);
        seq_print!(file, "peerlane-generation:\t{}\n", seen.generation);
        let state = match seen.gone {
            true => c"gone",
            false => board.hw.state(),
        };
        seq_print!(file, "peerlane-state:\t{}\n", state);
        seq_print!(file, "peerlane-events:\t{}\n", seen.events);
        seq_print!(file, "peerlane-regions:\t{}\n", regions);
        seq_print!(file, "peerlane-memory-regions:\t{}\n", bytes);
        seq_print!(file, "peerlane-kept:\t{}\n", kept);
        seq_print!(file, "peerlane-memory-kept:\t{}\n", kept_bytes);
        let range = board.memory.look(|memory| memory.held(self.channel));
        let bytes = range.map_or(0, |range| range.end - range.start);
        seq_print!(file, "peerlane-memory-fpga:\t{}\n", bytes);
        let entries = board.entries_of(self.channel);
        seq_print!(file, "peerlane-entries:\t{}\n", entries);
    }
}
