//! The generated block.

use std::collections::BTreeMap;

use crate::component;
use crate::resources::{self, Resources};
use crate::rewrite::Rewritten;
use crate::step::{Step, Written};
use peerlane_bsp_design::shell::{self, Shell};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block::{self, MEM_ADDR_BITS};
use peerlane_bsp_generate::build;
use peerlane_bsp_generate::config::{Config, Key};
use peerlane_bsp_generate::generator::{self, Ids, VerilogModule};
use peerlane_bsp_generate::logic::{Direction, Stream};
use peerlane_bsp_generate::memory_blocks::Blocks;
use peerlane_bsp_platform::error::{Error, ErrorKind, Result};
use peerlane_bsp_platform::layout::{BOARD_FILE, OWN_DIR};
use peerlane_bsp_platform::xml::Document;

/// The generated block.
pub(crate) struct Block {
    modules: Vec<VerilogModule>,
    /// Its hashes.
    pub(crate) ids: Ids,
    /// Facts that the board determines.
    pub(crate) board: generator::Board,
    /// Byte offset in the BAR of each slave, by the name of the interface.
    pub(crate) places: BTreeMap<String, u64>,
    /// The rest of the board, which its description has.
    shell: Shell,
}

impl Block {
    /// Generates the block for a system, and for the memory blocks of the device, if they are known.
    ///
    /// # Errors
    /// [`ErrorKind::Inconsistent`] if the host would not reach a slave of the block; those of
    /// [`resources::memory_log2`] and of the generator.
    pub(crate) fn generate(
        site: &Site<'_>,
        new: &Rewritten,
        config: &Config,
        specification: &Document,
        memory: Option<Blocks>,
    ) -> Result<Self> {
        let port_bits = new.port_bits;
        let memory_log2 = resources::memory_log2(specification)?;
        if memory_log2 >= MEM_ADDR_BITS && config.streams.iter().any(is_to_logic) {
            let error = Error::new(
                ErrorKind::Unsupported,
                specification.place(&specification.root),
                "the board has 512 GiB of memory or more, for which the block needs all address bits; a stream to the \
                 logic needs one of them",
                "Leave out the streams with direction = \"to_logic\".",
            );
            return Err(config.places.point(error.of_key(Key::Streams)));
        }
        // `BUILD_ID` covers the places, so they are decided before the block is generated.
        let places = new.bar_after.slaves_of(&new.instance);
        let slaves = build::slaves(new.bar_after.bar, &places)
            .map_err(|slave| unreached(site, new.bar_after.bar, slave))?;
        if let Some(offset) = slaves
            .window
            .filter(|offset| offset % u64::from(block::WINDOW_BYTES) != 0)
        {
            return Err(site.unsupported(
                site.system.place(site.dma),
                format!(
                    "s_nondma is at {offset:#x} of the BAR, not at a multiple of its size, 64 KiB"
                ),
                "Move it in Platform Designer.",
            ));
        }
        // `BUILD_ID` covers the rest of the board, too.
        let shell = Shell {
            memory: resources::memory_bytes(specification)?,
            clock: new.clock,
            line: new.line,
            opencl: shell::opencl(&new.bar_after),
        };
        let board = generator::Board {
            port_bits,
            memory_log2,
            slaves,
            bar_log2: new.bar_log2,
            clock_mhz: (new.hip.as_ref()).map_or(build::USUAL_CLOCK, |hip| hip.clock.1),
            shell: Some(peerlane_hdl::shell_hash(&shell)),
        };
        let mut modules = generator::generate(config, board)?;
        if let Some(memory) = memory {
            generator::name_memory(&mut modules, memory);
        }
        let ids = generator::agree(config, board, &modules)?;
        tracing::info!(modules = modules.len(), port_bits, "Verilog generated");
        Ok(Self {
            modules,
            ids,
            board,
            places,
            shell,
        })
    }

    /// Estimates the block's resources. Unknown memory blocks count as the smaller ones.
    ///
    /// # Errors
    /// Those of [`resources::estimate`].
    pub(crate) fn resources(&self, config: &Config, memory: Option<Blocks>) -> Result<Resources> {
        let memory = memory.unwrap_or(Blocks::M10k);
        resources::estimate(&self.modules, block::top(config), memory)
    }

    /// Adds the block's Verilog, component and constraints, those of the hard IP, and the description of the board.
    pub(crate) fn step(&self, config: &Config, new: &Rewritten, name: &str) -> Step {
        let hip = new.hip.as_ref();
        let mut added = component::ip_files(OWN_DIR, config, &self.board, self.ids, &self.modules);
        let own = hip.map(|hip| component::hip_files(OWN_DIR, hip.soft_reset));
        added.extend(own.into_iter().flatten());
        let description = shell::Board {
            name: &name.replace(char::is_control, "?"),
            ids: new.ids,
            map_id: self.ids.map,
            block: &generator::params(config, self.board).canonical(),
            build_id: self.ids.build,
            shell: self.shell,
        };
        added.push(Written {
            path: BOARD_FILE.into(),
            text: description.to_string(),
        });
        Step {
            added,
            ..Step::default()
        }
    }
}

fn is_to_logic(stream: &Stream) -> bool {
    stream.direction == Direction::ToLogic
}

fn unreached(site: &Site<'_>, bar: u32, slave: &str) -> Error {
    Error::new(
        ErrorKind::Inconsistent,
        site.system.place(site.dma),
        format!("the host would not reach {slave} of the block in BAR {bar}"),
        "This is a defect of Peerlane; report it with the BSP.",
    )
}
