//! The record of how the block was built.

use std::collections::BTreeSet;

use crate::generated::Block;
use crate::rewrite::Rewritten;
use crate::step::{Step, Written};
use peerlane_bsp_generate::build::{Build, Program};
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_platform::hash;
use peerlane_bsp_platform::kept::{self, Tree};
use peerlane_bsp_platform::layout::BUILD_FILE;

/// Facts about the input, for the record.
pub(crate) struct Input<'a> {
    /// Files that the BSP names but does not have.
    pub(crate) missing: &'a [String],
    /// Kinds of components that neither the BSP nor Quartus defines.
    pub(crate) unresolved: &'a BTreeSet<String>,
    /// The vendor's tree.
    pub(crate) vendor: &'a Tree,
}

/// Adds the record. `files` are the files of the block.
pub(crate) fn step(
    config: &Config,
    new: &Rewritten,
    block: &Block,
    files: &[Written],
    input: &Input<'_>,
) -> Step {
    let Program { version, commit } = Program::this();
    let digest = |file: &Written| {
        let path = file.path.display().to_string();
        (path, hash::digest(file.text.as_bytes()))
    };
    let build = Build {
        version,
        commit,
        config: config.clone(),
        port_bits: block.board.port_bits,
        memory_log2: block.board.memory_log2,
        map_id: block.ids.map,
        build_id: block.ids.build,
        instance: new.instance.clone(),
        bar: new.bar_after.bar,
        bar_log2: new.bar_log2,
        clock_mhz: block.board.clock_mhz,
        shell: block.board.shell,
        slaves: block.places.clone(),
        generated: files.iter().map(digest).collect(),
        missing_in_input: input.missing.to_vec(),
        unresolved_in_input: input.unresolved.clone(),
        vendor: kept::digest_of_tree(input.vendor),
    };
    Step {
        added: vec![Written {
            path: BUILD_FILE.into(),
            text: build.json(),
        }],
        ..Step::default()
    }
}
