//! Checks of the routes between the block's RTL and a real GPU's memory.

use crate::Bench;
use crate::board::library;
use crate::cuda::{Kernels, pattern};
use crate::peers::Peers;
use anyhow::{Context as _, Result, ensure};
use peerlane_gpu::{GpuBuffer, GpuMemory};
use peerlane_host::driver::{Driver, Options as DriverOptions};
use peerlane_host::{Device, Direction, Memory, Permissions};
use peerlane_routes::{
    Board, Engine, Limits, Options, Order, Push, Reach, Residence, Route, Routes, Side, Staging,
    Verdict,
};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Memory on either side.
const BYTES: u64 = MIB;

/// Time limit of a copy, in the board's time.
const LIMIT: Duration = Duration::from_secs(1);

/// A board, its driver, and its context with CUDA's memory.
pub struct Rig {
    pub board: SimBoard,
    pub peers: Peers,
    pub device: Device,
    _driver: Driver,
}

impl Rig {
    pub fn new(bench: &Bench<'_>) -> Result<Self> {
        let board = SimBoard::new(library(bench)?.instance()?, BoardConfig::default())?;
        let driver = board.drive(&DriverOptions::default())?;
        let peers = Peers::new((&bench.gpu, &bench.context), &board, &driver)?;
        Ok(Self {
            device: peers.device()?,
            board,
            peers,
            _driver: driver,
        })
    }

    /// Checks that no access was without a registration, or to memory that was freed.
    pub fn nothing_is_lost(&self) -> Result<()> {
        let [dead, stray] = self.peers.lost();
        ensure!(
            dead == 0 && stray == 0,
            "{dead} accesses to memory that was freed, {stray} to nothing"
        );
        Ok(())
    }
}

/// GPU memory whose stores to the window are carried to the board's window. The GPU stores to host memory, because
/// there is no board whose registers it could map.
struct Carried {
    gpu: Arc<dyn Side>,
    peers: Peers,
}

impl Side for Carried {
    fn name(&self) -> String {
        self.gpu.name()
    }
    fn length(&self) -> u64 {
        self.gpu.length()
    }
    fn staging(&self, bytes: usize) -> peerlane_routes::Result<Option<Staging>> {
        self.gpu.staging(bytes)
    }
    fn attach(&self, staging: &Memory) -> peerlane_routes::Result<Box<dyn Engine>> {
        self.gpu.attach(staging)
    }
    fn another(&self, bytes: u64) -> peerlane_routes::Result<Box<dyn Side>> {
        Ok(Box::new(Self {
            gpu: Arc::from(self.gpu.another(bytes)?),
            peers: self.peers.clone(),
        }))
    }
    fn reach(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> peerlane_routes::Result<Reach> {
        self.gpu.reach(device, range, permissions)
    }
    fn residence(&self) -> Residence {
        self.gpu.residence()
    }
    fn arrived(&self) -> peerlane_routes::Result<()> {
        self.gpu.arrived()
    }
    fn pusher(&self, device: &Device) -> peerlane_routes::Result<Box<dyn Push>> {
        Ok(Box::new(CarriedStores {
            stores: self.gpu.pusher(device)?,
            peers: self.peers.clone(),
            parts: Vec::new(),
        }))
    }
}

struct CarriedStores {
    stores: Box<dyn Push>,
    peers: Peers,
    /// Ranges that were stored to and not carried yet.
    parts: Vec<Range<u64>>,
}

impl Push for CarriedStores {
    fn window(&self) -> u64 {
        self.stores.window()
    }
    fn place(&mut self, fpga: u64) -> peerlane_routes::Result<()> {
        self.stores.place(fpga)
    }
    fn push(&mut self, from: u64, to: u64, length: u64) -> peerlane_routes::Result<()> {
        self.stores.push(from, to, length)?;
        self.parts.push(to..to + length);
        Ok(())
    }
    fn settle(&mut self, limit: Duration) -> peerlane_routes::Result<bool> {
        if !self.stores.settle(limit)? {
            return Ok(false);
        }
        for part in self.parts.drain(..) {
            let carried = self.peers.carry(part);
            carried.map_err(|error| peerlane_routes::Error::side("the window", error))?;
        }
        Ok(true)
    }
    fn confirm(&mut self) -> peerlane_routes::Result<()> {
        self.stores.confirm()
    }
}

/// Fills both memories, makes a copy, and compares every byte of both. A kernel also compares the data that came to the
/// GPU.
fn round(
    (bench, kernels): (&Bench<'_>, &Kernels),
    (rig, routes, buffer): (&Rig, &Routes, &GpuBuffer),
    order: &Order,
    route: Route,
) -> Result<Route> {
    let base = routes.board().memory().start;
    let size = BYTES as usize;
    let (mut fpga, mut gpu) = (pattern(size, 5), pattern(size, 9));
    rig.board.fpga_write(base, &fpga)?;
    kernels.fill(buffer, BYTES, 9)?;
    let moved = routes.transfer(order, route, &Limits::within(LIMIT))?;
    ensure!(moved.bytes == order.length, "{moved:?}");
    let fpga_part = order.fpga as usize..(order.fpga + order.length) as usize;
    let gpu_part = order.at as usize..(order.at + order.length) as usize;
    match order.direction {
        Direction::FromFpga => gpu[gpu_part].copy_from_slice(&fpga[fpga_part]),
        Direction::ToFpga => fpga[fpga_part].copy_from_slice(&gpu[gpu_part]),
    }
    let (mut fpga_now, mut gpu_now) = (vec![0; size], vec![0; size]);
    rig.board.fpga_read(base, &mut fpga_now)?;
    buffer.read(0, &mut gpu_now)?;
    ensure!(fpga_now == fpga, "FPGA memory holds other bytes");
    ensure!(gpu_now == gpu, "GPU memory holds other bytes");
    if order.direction == Direction::FromFpga && order.length == BYTES {
        let wrong = kernels.wrong(buffer, BYTES, 5)?;
        ensure!(
            wrong == 0,
            "a kernel on {} sees {wrong} wrong words",
            bench.gpu.bus()
        );
    }
    Ok(moved.route)
}

/// Checks all routes in both directions, with sizes and places that are not multiples of anything, and the automatic
/// choice.
pub fn all(bench: &Bench<'_>) -> Result<String> {
    let kernels = Kernels::load(bench)?;
    let mut found = Vec::new();
    for (kind, buffer) in [
        ("plain", bench.gpu.plain_buffer(BYTES)?),
        ("shared", bench.gpu.buffer(BYTES)?),
    ] {
        let rig = Rig::new(bench)?;
        let buffer = Arc::new(buffer);
        let side = Carried {
            gpu: Arc::new(GpuMemory::new(Arc::clone(&buffer))?),
            peers: rig.peers.clone(),
        };
        let board = Board::new(&rig.device, BYTES)?;
        let options = Options {
            staging: 256 << 10,
            measured: 128 * KIB,
            ..Options::default()
        };
        let routes = Routes::new(&board, Arc::new(side), options);
        let findings = routes.findings()?;
        let verdicts = [&findings.write, &findings.read, &findings.push];
        ensure!(
            verdicts.iter().all(|verdict| **verdict == Verdict::Works),
            "{kind}: {findings:?}"
        );
        let mut copies = 0;
        for direction in Direction::BOTH {
            for route in Route::ALL.into_iter().chain([Route::Auto]) {
                if !route.goes(direction) {
                    continue;
                }
                for (fpga, at, length) in [
                    (0, 0, 1),
                    (4093, 127, 4099),
                    (65_535, 65_530, 65_540),
                    (12_345, 54_321, 700_001),
                    (0, 0, BYTES),
                ] {
                    // Each store takes the simulation a hundred cycles.
                    if route == Route::Push && length > 64 * KIB + 4 {
                        continue;
                    }
                    let order = Order {
                        direction,
                        fpga,
                        at,
                        length,
                    };
                    round((bench, &kernels), (&rig, &routes, &buffer), &order, route)
                        .with_context(|| format!("{kind}, {route}, {order:?}"))?;
                    copies += 1;
                }
            }
        }
        rig.nothing_is_lost()?;
        found.push(format!(
            "{kind}: {copies} copies by 5 routes and by choice, data right"
        ));
        if kind == "plain" {
            for direction in Direction::BOTH {
                let way = match direction {
                    Direction::FromFpga => "FPGA to GPU",
                    Direction::ToFpga => "GPU to FPGA",
                };
                let choice = routes.choose(direction, 16 * MIB)?;
                found.push(format!("{way}, in the board's time: {choice}"));
            }
        }
    }
    Ok(found.join("; "))
}
