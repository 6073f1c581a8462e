//! The reset that the component of a TLP port gives to the board, from the pins of the hard IP.

use crate::common::streaming;
use peerlane_bsp::generator;
use peerlane_hdl::{Design, Module};
use peerlane_verilated::{Direction, Model, Port};

const TOP: &str = "peerlane_dma_stream";
const BLOCK: &str = "peerlane_dma";

/// Makes the component with an empty block in it, which has no part in the reset.
fn component() -> Design {
    let (config, board) = streaming(128, 0);
    let modules = generator::generate(&config, board).unwrap().into_iter();
    let modules = modules
        .map(|module| {
            let mut verilog = module.text;
            if module.name == BLOCK {
                let ports = verilog.find(");").unwrap();
                verilog = format!("{});\nendmodule\n", &verilog[..ports]);
            }
            Module {
                name: module.name,
                verilog,
            }
        })
        .collect();
    Design {
        modules,
        ports: Vec::new(),
        unread: Vec::new(),
    }
}

struct Rig {
    model: Model,
    clock: Port,
    runs: Port,
}

impl Rig {
    /// Makes a rig in which all is well, with this level of `hotrst_exit`.
    fn new(hotrst_exit: u64) -> Self {
        let library = peerlane_block::library_of(TOP, &component()).unwrap();
        let input = |name| library.port_as(name, Direction::Input, 1).unwrap();
        let mut model = library.instance().unwrap();
        for (name, level) in [
            ("reset_status", 0),
            ("pld_clk_inuse", 1),
            ("dlup", 1),
            ("dlup_exit", 1),
            ("l2_exit", 1),
            ("hotrst_exit", hotrst_exit),
        ] {
            model.set(input(name), level);
        }
        let runs = library
            .port_as("nreset_status", Direction::Output, 1)
            .unwrap();
        Self {
            model,
            clock: input("pcie_clk"),
            runs,
        }
    }

    fn run(&mut self, cycles: u32) {
        for _ in 0..cycles {
            for level in [0, 1] {
                self.model.set(self.clock, level);
                self.model.eval().unwrap();
            }
        }
    }
}

/// No design of Altera's for Stratix V uses `hotrst_exit` of the hard IP. So it may be low for ever, without any sign.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn the_board_leaves_its_reset_whatever_hotrst_exit_says() {
    for hotrst_exit in [0, 1] {
        let mut rig = Rig::new(hotrst_exit);
        rig.run(1000);
        assert_eq!(rig.model.get(rig.runs), 0);
        rig.run(100);
        assert_eq!(rig.model.get(rig.runs), 1, "hotrst_exit = {hotrst_exit}");
    }
}
