//! A board as systems of Platform Designer, in the shape of the BSPs that `peerlane extend` takes: with the OpenCL
//! SDK's `acl_dma`, which the extension replaces by Peerlane's block.
//!
//! Interfaces and parameters of the SDK's and of Quartus's components are those of public BSPs of AOCL 13.1.

use crate::board::model::{Bank, Board, FAMILY};
use crate::board::system::{Export, Module, QUARTUS, System};

/// The value that the board's version component reads until the extension gives the board its own.
const VERSION_ID: u32 = 0xa0c7_c1e0;

/// Addresses of the slaves in the BAR, as in public BSPs.
mod map {
    pub(crate) const CRA: u64 = 0;
    pub(crate) const KERNELS: u64 = 0x4000;
    pub(crate) const KERNEL_CLOCK: u64 = 0xc000;
    pub(crate) const DMA: u64 = 0xc800;
    pub(crate) const VERSION: u64 = 0xcfc0;
    pub(crate) const MEMORY_STATUS: u64 = 0xcfe0;
    pub(crate) const WINDOW: u64 = 0x1_0000;
    /// Address bits up to the end of the window.
    pub(crate) const BITS: u32 = 17;
}

/// Makes the board: everything but the kernels.
pub(crate) fn board(board: &Board) -> System {
    let mut system = System {
        // With a stage in front of the memory's arbiter, a write that is chained to a read could be too early.
        stages: 0,
        ..System::default()
    };
    inputs(&mut system, board);
    link(&mut system, board);
    kernels(&mut system, board);
    dma(&mut system, board);
    for (number, bank) in board.memory.iter().enumerate() {
        memory(&mut system, board, number, bank);
    }
    system
}

/// Adds clocks and resets from the pins.
fn inputs(system: &mut System, board: &Board) {
    system.quartus(
        "reset_in",
        "altera_reset_bridge",
        &[
            ("ACTIVE_LOW_RESET", "1"),
            ("SYNCHRONOUS_EDGES", "none"),
            ("NUM_RESET_OUTPUTS", "1"),
        ],
    );
    system.quartus(
        "board_clk",
        "altera_clock_bridge",
        &[
            ("EXPLICIT_CLOCK_RATE", &board.board_hz.to_string()),
            ("NUM_CLOCK_OUTPUTS", "1"),
        ],
    );
    system.export("board_reset", "reset_in.in_reset", "reset", "end");
    system.export("board_clk", "board_clk.in_clk", "clock", "end");
}

/// Adds the hard IP, its calibration, and the bridge to all registers.
fn link(system: &mut System, board: &Board) {
    let pcie = &board.pcie;
    let bar_bits = pcie.bar_bits.unwrap_or(map::BITS);
    let rate = match pcie.generation {
        1 => "Gen1 (2.5 Gbps)",
        _ => "Gen2 (5.0 Gbps)",
    };
    system.quartus(
        "pcie",
        "altera_pcie_sv_hip_avmm",
        &[
            ("INTENDED_DEVICE_FAMILY", FAMILY),
            ("lane_mask_hwtcl", &format!("x{}", pcie.lanes)),
            ("gen123_lane_rate_mode_hwtcl", rate),
            ("port_type_hwtcl", "Native endpoint"),
            ("rxbuffer_rxreq_hwtcl", "Low"),
            (
                "pll_refclk_freq_hwtcl",
                &format!("{} MHz", pcie.reference_hz / 1_000_000),
            ),
            ("set_pld_clk_x1_625MHz_hwtcl", "0"),
            ("in_cvp_mode_hwtcl", "0"),
            ("use_atx_pll_hwtcl", "0"),
            ("SLAVE_ADDRESS_MAP_0", &bar_bits.to_string()),
            ("NUM_PREFETCH_MASTERS", "1"),
            ("bar0_type_hwtcl", "1"),
            ("vendor_id_hwtcl", &pcie.vendor.to_string()),
            ("device_id_hwtcl", &pcie.device.to_string()),
            ("revision_id_hwtcl", "1"),
            ("class_code_hwtcl", "16711680"),
            (
                "subsystem_vendor_id_hwtcl",
                &pcie.subsystem_vendor.to_string(),
            ),
            ("subsystem_device_id_hwtcl", "0"),
            ("max_payload_size_hwtcl", "256"),
            ("extend_tag_field_hwtcl", "32"),
            ("completion_timeout_hwtcl", "ABCD"),
            ("use_aer_hwtcl", "0"),
            ("msi_multi_message_capable_hwtcl", "4"),
            ("msi_64bit_addressing_capable_hwtcl", "true"),
            ("msi_support_hwtcl", "true"),
            ("enable_function_msix_support_hwtcl", "0"),
            ("CG_COMMON_CLOCK_MODE", "1"),
            ("avmm_width_hwtcl", "128"),
            ("AVALON_ADDR_WIDTH", "32"),
            ("CB_PCIE_MODE", "0"),
            ("CG_RXM_IRQ_NUM", "16"),
            ("CG_IMPL_CRA_AV_SLAVE_PORT", "1"),
            ("CG_ENABLE_ADVANCED_INTERRUPT", "0"),
            ("TX_S_ADDR_WIDTH", "32"),
            ("BYPASSS_A2P_TRANSLATION", "0"),
            ("CB_A2P_ADDR_MAP_IS_FIXED", "0"),
            ("CB_A2P_ADDR_MAP_NUM_ENTRIES", "256"),
            ("CB_A2P_ADDR_MAP_PASS_THRU_BITS", "12"),
        ],
    );
    system.export("pcie_refclk", "pcie.refclk", "clock", "end");
    system.export("pcie_serial", "pcie.hip_serial", "conduit", "end");
    system.export("pcie_npor", "pcie.npor", "conduit", "end");
    system.export("pcie_control", "pcie.hip_ctrl", "conduit", "end");
    calibration(system, board);

    system.reset_controller("pcie_reset", 2);
    system.clock("pcie.coreclkout", &["pcie_reset.clk"]);
    system.reset("reset_in.out_reset", &["pcie_reset.reset_in0"]);
    system.reset("pcie.nreset_status", &["pcie_reset.reset_in1"]);

    system.bridge("host_bridge", 32, bar_bits, 1);
    system.module(
        "version",
        "version_id",
        "10.0",
        &[
            ("WIDTH", "32"),
            ("VERSION_ID", &VERSION_ID.cast_signed().to_string()),
        ],
    );
    let banks = board.memory.len().to_string();
    let status = [("WIDTH", "32"), ("NUM_UNIPHYS", banks.as_str())];
    system.module("memory_status", "uniphy_status", "10.0", &status);
    system.clock(
        "pcie.coreclkout",
        &["host_bridge.clk", "version.clk", "memory_status.clk"],
    );
    system.reset(
        "pcie_reset.reset_out",
        &[
            "host_bridge.reset",
            "version.clk_reset",
            "memory_status.clk_reset",
        ],
    );
    system.slave("pcie.Rxm_BAR0", "host_bridge.s0", 0);
    system.slave("host_bridge.m0", "pcie.Cra", map::CRA);
    system.slave("host_bridge.m0", "version.s", map::VERSION);
    system.slave("host_bridge.m0", "memory_status.s", map::MEMORY_STATUS);
}

/// Adds the transceivers' calibration. Its clock is a free-running one of 100 to 125 MHz (Stratix V Avalon-ST user
/// guide 683093, "Connecting the Transceiver Reconfiguration Controller IP Core").
///
/// It has a logical interface for each channel and one for each PLL, and links of eight lanes take an extra channel for
/// the clocks of the PCS (683093, 5.14.1). Gen1 and Gen2 have one TX PLL, so Gen2 x8 has 8 + 1 + 1 = 10. By the same
/// rule Gen3, with a second PLL, has 11; the guide's table of numbers (table 43) was not at hand.
fn calibration(system: &mut System, board: &Board) {
    let lanes = board.pcie.lanes;
    let interfaces = lanes + if lanes == 8 { 2 } else { 1 };
    system.quartus(
        "pcie_calibration",
        "alt_xcvr_reconfig",
        &[
            ("device_family", FAMILY),
            ("number_of_reconfig_interfaces", &interfaces.to_string()),
            ("enable_offset", "1"),
        ],
    );
    let mut clock = "board_clk.out_clk";
    if !(100_000_000..=125_000_000).contains(&board.board_hz) {
        system.quartus(
            "calibration_pll",
            "altera_pll",
            &[
                ("device_family", FAMILY),
                (
                    "gui_device_speed_grade",
                    &board.device.core_grade.to_string(),
                ),
                ("gui_reference_clock_frequency", &mhz(board.board_hz)),
                ("gui_operation_mode", "direct"),
                ("gui_use_locked", "false"),
                ("gui_number_of_clocks", "1"),
                ("gui_output_clock_frequency0", "100.0"),
            ],
        );
        system.clock("board_clk.out_clk", &["calibration_pll.refclk"]);
        system.reset("reset_in.out_reset", &["calibration_pll.reset"]);
        clock = "calibration_pll.outclk0";
    }
    system.clock(clock, &["pcie_calibration.mgmt_clk_clk"]);
    system.reset("reset_in.out_reset", &["pcie_calibration.mgmt_rst_reset"]);
    for bus in ["reconfig_to_xcvr", "reconfig_from_xcvr"] {
        system.connect(
            "conduit",
            &format!("pcie.{bus}"),
            &[&format!("pcie_calibration.{bus}")],
        );
    }
}

/// Adds the interfaces that `aoc` connects kernels to.
fn kernels(system: &mut System, board: &Board) {
    system.module("kernel_interface", "acl_kernel_interface", "1.0", &[]);
    let reference = (board.kernel_hz / 1_000_000).to_string();
    system.module(
        "kernel_clock",
        "acl_kernel_clk",
        "1.0",
        &[("REF_CLK_RATE", &reference)],
    );
    system.quartus(
        "kernel_clock_out",
        "clock_source",
        &[
            ("clockFrequency", "50000000"),
            ("clockFrequencyKnown", "false"),
            ("resetSynchronousEdges", "DEASSERT"),
        ],
    );
    system.clock("pcie.coreclkout", &["kernel_interface.clk"]);
    system.clock("board_clk.out_clk", &["kernel_clock.clk"]);
    system.clock(
        "kernel_clock.kernel_clk",
        &["kernel_interface.kernel_clk", "kernel_clock_out.clk_in"],
    );
    system.reset(
        "pcie_reset.reset_out",
        &[
            "kernel_interface.reset",
            "kernel_interface.sw_reset_in",
            "kernel_clock.reset",
        ],
    );
    system.reset(
        "kernel_interface.kernel_reset",
        &["kernel_clock_out.clk_in_reset"],
    );
    system.slave(
        "host_bridge.m0",
        "kernel_interface.kernel_cntrl",
        map::KERNELS,
    );
    system.slave("host_bridge.m0", "kernel_clock.ctrl", map::KERNEL_CLOCK);
    system.interrupt("pcie.RxmIrq", "kernel_interface.kernel_irq_to_host", 0);
    system.export("kernel_refclk", "kernel_clock.pll_refclk", "clock", "end");
    system.export("kernel_clk", "kernel_clock_out.clk", "clock", "start");
    system.export(
        "kernel_clk2x",
        "kernel_clock.kernel_clk2x",
        "clock",
        "start",
    );
    system.export(
        "kernel_reset",
        "kernel_clock_out.clk_reset",
        "reset",
        "start",
    );
    system.export(
        "kernel_cra",
        "kernel_interface.kernel_cra",
        "avalon",
        "start",
    );
    system.export(
        "kernel_irq",
        "kernel_interface.kernel_irq_from_kernel",
        "interrupt",
        "start",
    );
    system.export(
        "acl_internal_memorg_kernel",
        "kernel_interface.acl_bsp_memorg_kernel",
        "conduit",
        "end",
    );
    system.export(
        "acl_internal_snoop",
        "memory_split.acl_bsp_snoop",
        "avalon_streaming",
        "start",
    );
}

/// Adds the SDK's DMA, between the memory and the hard IP, in the first bank's clock.
fn dma(system: &mut System, board: &Board) {
    let first = &board.memory[0];
    let width = first.port_bits();
    let memory_bits = board.memory_bytes().ilog2();
    // The hard IP's addresses follow the memory's, at a multiple of the table's 2^20 bytes.
    let to_pcie = board.memory_bytes();
    system.module(
        "dma",
        "acl_dma",
        "1.0",
        &[
            ("BYTE_ADDR_WIDTH", &(memory_bits + 1).to_string()),
            ("DATA_WIDTH", &width.to_string()),
            ("BURST_SIZE", "16"),
        ],
    );
    system.crossing("dma_to_pcie", width, 20, 64);
    system.module(
        "memory_split",
        "acl_memory_bank_divider",
        "1.0",
        &[
            ("NUM_BANKS", &board.memory.len().to_string()),
            ("DATA_WIDTH", &width.to_string()),
            ("ADDRESS_WIDTH", &memory_bits.to_string()),
            ("BURST_SIZE", "16"),
            ("MAX_PENDING_READS", "64"),
        ],
    );
    let clock = format!("{}.afi_clk", first.name);
    let reset = format!("{}_reset.reset_out", first.name);
    system.clock(
        &clock,
        &["dma.clk", "dma_to_pcie.s0_clk", "memory_split.clk"],
    );
    system.clock("pcie.coreclkout", &["dma_to_pcie.m0_clk"]);
    system.clock("kernel_clock.kernel_clk", &["memory_split.kernel_clk"]);
    system.reset(
        &reset,
        &["dma.reset", "dma_to_pcie.s0_reset", "memory_split.reset"],
    );
    system.reset("pcie_reset.reset_out", &["dma_to_pcie.m0_reset"]);
    system.reset(
        "kernel_interface.kernel_reset",
        &["memory_split.kernel_reset"],
    );
    system.slave("host_bridge.m0", "dma.csr", map::DMA);
    system.slave("host_bridge.m0", "dma.s_nondma", map::WINDOW);
    system.slave("dma.m", "memory_split.s", 0);
    system.slave("dma.m", "dma_to_pcie.s0", to_pcie);
    system.slave("dma_to_pcie.m0", "pcie.Txs", 0);
    system.interrupt("pcie.RxmIrq", "dma.dma_irq", 1);
    system.connect(
        "conduit",
        "kernel_interface.acl_bsp_memorg_host",
        &["memory_split.acl_bsp_memorg_host"],
    );
}

/// Adds a bank's controller, with the paths to it from the DMA and from kernels.
fn memory(system: &mut System, board: &Board, number: usize, bank: &Bank) {
    let name = bank.name.as_str();
    let of = |suffix: &str| format!("{name}{suffix}");
    let (width, bits) = (bank.port_bits(), bank.bytes.ilog2());
    controller(system, board, bank);
    system.export(&of("_memory"), &of(".memory"), "conduit", "end");
    system.export(&of("_oct"), &of(".oct"), "conduit", "end");
    system.export(&of("_refclk"), &of(".pll_ref_clk"), "clock", "end");

    system.reset_controller(&of("_reset"), 1);
    system.bridge(&of("_bridge"), width, bits, 16);
    system.crossing(&of("_from_kernels"), width, bits, 512);
    system.clock(
        &of(".afi_clk"),
        &[
            &of("_reset.clk"),
            &of("_bridge.clk"),
            &of("_from_kernels.m0_clk"),
        ],
    );
    system.clock("kernel_clock.kernel_clk", &[&of("_from_kernels.s0_clk")]);
    system.reset(
        "pcie_reset.reset_out",
        &[
            &of("_reset.reset_in0"),
            &of(".global_reset"),
            &of(".soft_reset"),
        ],
    );
    system.reset(
        &of("_reset.reset_out"),
        &[&of("_bridge.reset"), &of("_from_kernels.m0_reset")],
    );
    system.reset(
        "kernel_interface.kernel_reset",
        &[&of("_from_kernels.s0_reset")],
    );
    system.export(
        &format!("kernel_mem{number}"),
        &of("_from_kernels.s0"),
        "avalon",
        "end",
    );

    let port = format!("memory_split.bank{}", number + 1);
    if number == 0 {
        system.slave(&port, &of("_bridge.s0"), 0);
    } else {
        let first = &board.memory[0].name;
        system.crossing(&of("_from_dma"), width, bits, 64);
        system.clock(&format!("{first}.afi_clk"), &[&of("_from_dma.s0_clk")]);
        system.clock(&of(".afi_clk"), &[&of("_from_dma.m0_clk")]);
        system.reset(
            &format!("{first}_reset.reset_out"),
            &[&of("_from_dma.s0_reset")],
        );
        system.reset(&of("_reset.reset_out"), &[&of("_from_dma.m0_reset")]);
        system.slave(&port, &of("_from_dma.s0"), 0);
        system.slave(&of("_from_dma.m0"), &of("_bridge.s0"), 0);
    }
    system.slave(&of("_from_kernels.m0"), &of("_bridge.s0"), 0);
    system.slave(&of("_bridge.m0"), &of(".avl"), 0);
    let status = format!("memory_status.mem{number}_status");
    system.connect("conduit", &of(".status"), &[&status]);
}

/// Adds UniPHY's controller.
fn controller(system: &mut System, board: &Board, bank: &Bank) {
    let number = |n: u32| n.to_string();
    let fixed = [
        ("MEM_FORMAT", bank.format.to_string()),
        ("MEM_DQ_WIDTH", number(bank.width)),
        ("MEM_DQ_PER_DQS", number(8)),
        ("MEM_ROW_ADDR_WIDTH", number(bank.row_bits)),
        ("MEM_COL_ADDR_WIDTH", number(bank.column_bits)),
        ("MEM_BANKADDR_WIDTH", number(bank.bank_bits)),
        ("MEM_NUMBER_OF_DIMMS", number(1)),
        ("MEM_NUMBER_OF_RANKS_PER_DIMM", number(bank.ranks)),
        ("MEM_CK_WIDTH", number(bank.clock_pairs)),
        ("MEM_CS_WIDTH", number(bank.ranks)),
        ("MEM_CLK_EN_WIDTH", number(bank.ranks)),
        ("MEM_IF_DM_PINS_EN", "true".into()),
        ("MEM_IF_DQSN_EN", "true".into()),
        ("MEM_CLK_FREQ", mhz(bank.clock_hz)),
        ("REF_CLK_FREQ", mhz(bank.reference_hz)),
        ("RATE", "Quarter".into()),
        ("SYS_INFO_DEVICE_FAMILY", FAMILY.into()),
        ("SPEED_GRADE", board.device.core_grade.to_string()),
        ("POWER_OF_TWO_BUS", "true".into()),
        ("BYTE_ENABLE", "true".into()),
        ("AVL_MAX_SIZE", number(16)),
        ("CTL_ECC_ENABLED", "false".into()),
        ("PLL_SHARING_MODE", "None".into()),
        ("DLL_SHARING_MODE", "None".into()),
        ("OCT_SHARING_MODE", "None".into()),
    ];
    let fixed = fixed
        .into_iter()
        .map(|(name, value)| (name.to_string(), value));
    system.modules.push(Module {
        name: bank.name.clone(),
        kind: "altera_mem_if_ddr3_emif",
        version: QUARTUS,
        parameters: fixed.chain(bank.uniphy.iter().cloned()).collect(),
    });
}

/// Makes the top system, which has the board and, from `aoc`, the kernels.
pub(crate) fn top(board: &System) -> System {
    let mut system = System {
        // As in public BSPs: this system has no part of the block.
        stages: 2,
        ..System::default()
    };
    system.module("board", "board", "1.0", &[]);
    // `aoc` connects the exports that lead to kernels.
    let own = |export: &&Export| {
        export.name == "kernel_refclk"
            || !export.name.starts_with("kernel_") && !export.name.starts_with("acl_")
    };
    for export in board.exports.iter().filter(own) {
        system.export(
            &export.name,
            &format!("board.{}", export.name),
            export.kind,
            export.dir,
        );
    }
    system
}

/// Formats MHz as UniPHY spells them: with a point.
fn mhz(hz: u64) -> String {
    let fraction = format!("{:06}", hz % 1_000_000);
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{}.{fraction}", hz / 1_000_000)
}
