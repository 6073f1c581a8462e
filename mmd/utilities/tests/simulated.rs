//! `diagnose` on the simulated board: the block's real RTL, Verilated, and its rates in simulated time.

use peerlane_hdl::Params;
use peerlane_host::Device;
use peerlane_host::driver::{Driver, Options};
use peerlane_mmd_core::{Boards, Found, Jtag};
use peerlane_sim::opencl::{Config, Offsets, OpenClSide, Program};
use peerlane_sim::{BoardConfig, BridgeRates};
use peerlane_simulated::{CopyEngine, SimBoard, SimGpu};
use peerlane_utilities::gpus::{Gpus, Memory};
use peerlane_utilities::{Machine, diagnose};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

struct Simulated(Driver);

impl Boards for Simulated {
    fn names(&self) -> Vec<String> {
        vec!["peerlane0".into()]
    }

    fn open(&self, _: &str) -> Result<Found, String> {
        Ok(Found {
            device: self.0.open().map_err(|error| error.to_string())?,
            programmer: Box::new(Jtag::new("peerlane0", true)),
            bus: "0000:01:00.0".into(),
            number: 0,
        })
    }
}

/// The GPU next to the board.
struct Beside(SimBoard);

impl Gpus for Beside {
    fn memories(&self, device: &Device, bytes: u64) -> Result<Vec<Memory>, String> {
        let gpu = SimGpu::new(&self.0, device, bytes, CopyEngine::default());
        Ok(vec![Memory {
            bus: "0000:03:00.0".into(),
            side: Ok(Arc::new(gpu.map_err(|error| error.to_string())?)),
        }])
    }
}

/// Reads a number in a line, before a word.
fn number(line: &str, unit: &str) -> f64 {
    let (before, _) = line.split_once(unit).unwrap();
    before
        .split_whitespace()
        .next_back()
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn rates_stand_beside_what_the_link_carries() {
    let params = Params {
        queue_log2: 8,
        ..Params::default()
    };
    let library = peerlane_block::library(&params).expect("the block as a model");
    let board = SimBoard::new(library.instance().unwrap(), BoardConfig::default()).unwrap();
    let hash = "0123456789abcdef0123456789abcdef01234567";
    let config = Config {
        offsets: Offsets::DE5_NET,
        program: Some(Program::of_all_kinds("sim_board", hash, 2 << 30)),
        ..Config::default()
    };
    board.with(|board| board.attach_opencl(OpenClSide::new(config).unwrap()));
    let boards = Simulated(board.drive(&Options::default()).unwrap());

    // The simulated link, as the driver would report it: Gen2 x8.
    let root = tempfile::tempdir().unwrap();
    let function = root.path().join("sys/bus/pci/devices/0000:01:00.0");
    let node = root.path().join("sys/class/misc/peerlane0");
    fs::create_dir_all(function.join("peerlane")).unwrap();
    fs::create_dir_all(&node).unwrap();
    symlink("../../../bus/pci/devices/0000:01:00.0", node.join("device")).unwrap();
    fs::write(function.join("peerlane/link_speed"), "5.0 GT/s\n").unwrap();
    fs::write(function.join("peerlane/link_width"), "8\n").unwrap();

    let options = diagnose::Options {
        boards: vec!["peerlane0".into()],
        mebibytes: Some(3),
        ..Default::default()
    };
    let mut lines = Vec::new();
    let machine = Machine::tree(root.path());
    let computer = diagnose::Computer {
        machine: &machine,
        platform: None,
        vendors: None,
        boards: &boards,
        gpus: &Beside(board.clone()),
    };
    diagnose::diagnose(&computer, &options, &mut |line| lines.push(line)).unwrap();
    // The limit of `Txs` is the bridge's.
    let bridge = BridgeRates::of(&BoardConfig::default(), 16);
    let limits = [bridge.write(BridgeRates::BURST_BYTES), bridge.read()].map(|rate| rate / 1e9);
    let links = [3.657, 3.710];
    for (index, way) in ["FPGA to host: ", "host to FPGA: "].into_iter().enumerate() {
        let (ceiling, limit) = (links[index], limits[index]);
        let line = lines.iter().find(|line| line.contains(way));
        let line = line.unwrap_or_else(|| panic!("no {way} in {lines:#?}"));
        let rate = number(line, " GB/s, ");
        assert!(rate > 0.9 * limit && rate <= limit + 0.01, "{line}");
        let part = number(line, " % of the link's ");
        assert!((part - 100.0 * rate / ceiling).abs() < 1.0, "{line}");
        assert!(!line.contains("slower"), "{line}");
    }
    // The GPU's memory is reached by the same link.
    for (way, limit) in ["FPGA to GPU: ", "GPU to FPGA: "].into_iter().zip(limits) {
        let line = lines.iter().find(|line| line.contains(way));
        let line = line.unwrap_or_else(|| panic!("no {way} in {lines:#?}"));
        assert!(line.ends_with("directly, the data compared"), "{line}");
        let rate = number(line, " GB/s ");
        assert!(rate > 0.9 * limit && rate <= limit + 0.01, "{line}");
    }
    assert_eq!(lines.last().unwrap(), diagnose::PASSED);
}
