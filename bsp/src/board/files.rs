//! The files of a board without the block, from templates.

use askama::Template;

use crate::board::design;
use crate::board::model::{Bank, Board, FAMILY};
use crate::board::ports::Port;
use crate::board::system::System;
use crate::config::Config;
use crate::extend::component::Written;
use crate::xml::escape;

/// The board's instance in the top system, which `aoc` connects kernels to.
const BOARD: &str = "board";

#[derive(Template)]
#[template(path = "board/system.qsys")]
struct Qsys<'a> {
    board: &'a Board,
    family: &'a str,
    title: String,
    system: &'a System,
}

#[derive(Template)]
#[template(path = "board/board_spec.xml")]
struct Specification<'a> {
    board: &'a Board,
    instance: &'a str,
    bandwidth: u64,
    banks: Vec<(u64, &'a Bank)>,
}

#[derive(Template)]
#[template(path = "board/board_env.xml")]
struct Environment<'a> {
    board: &'a Board,
}

#[derive(Template)]
#[template(path = "board/top.v")]
struct Top<'a> {
    board: &'a Board,
    ports: &'a [Port],
    /// Signals of the system's instance, each with the signal that it is connected to.
    signals: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "board/top.qsf")]
struct Settings<'a> {
    board: &'a Board,
    family: &'a str,
}

#[derive(Template)]
#[template(path = "board/top.sdc")]
struct Clocks<'a> {
    board: &'a Board,
    /// Ports with periods in nanoseconds.
    clocks: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "board/top_post.sdc")]
struct Groups<'a> {
    board: &'a Board,
    instance: &'a str,
}

#[derive(Template)]
#[template(path = "board/README.md")]
struct Readme<'a> {
    board: &'a Board,
    /// PCIe generation of the link.
    generation: u32,
    /// The name of the board after the extension.
    name: String,
}

/// Makes the files; their paths are relative to the BSP's root.
pub(crate) fn files(
    board: &Board,
    ports: &[Port],
    pins: &str,
    description: &str,
    config: &Config,
) -> Vec<Written> {
    let inner = design::board(board);
    let outer = design::top(&inner);
    let qsys = |title: &str, system| {
        render(&Qsys {
            board,
            family: FAMILY,
            title: escape(&format!("{}: {title}", board.title)),
            system,
        })
    };
    let banks: Vec<_> = (0..)
        .zip(&board.memory)
        .map(|(n, bank)| (n * bank.bytes, bank))
        .collect();
    let bandwidth = |bank: &Bank| 2 * bank.clock_hz / 1_000_000 * u64::from(bank.width / 8);
    let hardware = [
        ("board.qsys", qsys("everything but the kernels", &inner)),
        (
            "system.qsys",
            qsys("the board and, from aoc, the kernels", &outer),
        ),
        (
            "board_spec.xml",
            render(&Specification {
                board,
                instance: BOARD,
                bandwidth: board.memory.iter().map(bandwidth).sum(),
                banks,
            }),
        ),
        (
            "top.v",
            render(&Top {
                board,
                ports,
                signals: signals(board, ports),
            }),
        ),
        (
            "top.qpf",
            include_str!("../../templates/board/top.qpf").into(),
        ),
        (
            "top.qsf",
            render(&Settings {
                board,
                family: FAMILY,
            }),
        ),
        (
            "top.sdc",
            render(&Clocks {
                board,
                clocks: clocks(board),
            }),
        ),
        (
            "top_post.sdc",
            render(&Groups {
                board,
                instance: BOARD,
            }),
        ),
        ("pins.tcl", pins.into()),
        (
            "README.md",
            render(&Readme {
                board,
                generation: config.port.generation.unwrap_or(board.pcie.generation),
                name: format!("{}{}", board.name, config.identity.board_suffix),
            }),
        ),
        ("board.toml", description.into()),
        (
            "opencl.ipx",
            include_str!("../../templates/board/opencl.ipx").into(),
        ),
        (
            "ip_include.tcl",
            include_str!("../../templates/board/ip_include.tcl").into(),
        ),
        (
            "scripts/pre_flow.tcl",
            include_str!("../../templates/board/pre_flow.tcl").into(),
        ),
        (
            "scripts/post_flow.tcl",
            include_str!("../../templates/board/post_flow.tcl").into(),
        ),
    ];
    let environment = ("board_env.xml".to_string(), render(&Environment { board }));
    let hardware = hardware.map(|(name, text)| (format!("hardware/{}/{name}", board.name), text));
    let all = std::iter::once(environment).chain(hardware);
    all.map(|(path, text)| Written {
        path: path.into(),
        text,
    })
    .collect()
}

/// Returns the signals of the system, named as Platform Designer names them: interface and port.
fn signals(board: &Board, ports: &[Port]) -> Vec<(String, String)> {
    let own = [
        ("board_reset_reset_n", "reset_n"),
        ("pcie_npor_npor", "pcie_perst_n & reset_n"),
        ("pcie_control_test_in", "TEST_IN"),
        ("pcie_control_simu_mode_pipe", "1'b0"),
    ];
    let mut signals: Vec<_> = own.map(|(s, to)| (s.to_string(), to.to_string())).into();
    for lane in 0..board.pcie.lanes {
        signals.push((
            format!("pcie_serial_rx_in{lane}"),
            format!("pcie_rx[{lane}]"),
        ));
        signals.push((
            format!("pcie_serial_tx_out{lane}"),
            format!("pcie_tx[{lane}]"),
        ));
    }
    let plain = ports
        .iter()
        .filter_map(|port| Some((port.signal.clone()?, port.name.clone())));
    signals.extend(plain);
    signals
}

/// Returns the clocks from pins, with their periods in nanoseconds.
fn clocks(board: &Board) -> Vec<(String, String)> {
    let fixed = [
        ("board_clk", board.board_hz),
        ("kernel_refclk", board.kernel_hz),
        ("pcie_refclk", board.pcie.reference_hz),
    ];
    let fixed = fixed.map(|(name, hz)| (name.to_string(), hz));
    let banks = board
        .memory
        .iter()
        .map(|bank| (format!("{}_refclk", bank.name), bank.reference_hz));
    let all = fixed.into_iter().chain(banks);
    all.map(|(name, hz)| {
        // Rounded down to a picosecond: the constraint is never slower than the oscillator.
        let picoseconds = 1_000_000_000_000 / hz;
        (
            name,
            format!("{}.{:03}", picoseconds / 1000, picoseconds % 1000),
        )
    })
    .collect()
}

fn render(template: &impl Template) -> String {
    let mut text = template.render().expect("templates write to memory");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
