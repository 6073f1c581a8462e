//! The board's interconnect, for a design through which the host accesses its slaves: a slave of 64 bits for its
//! `board` master, with the memory window and the OpenCL side. Elsewhere a read returns 0 and a write does nothing, as
//! in an Avalon interconnect without a slave there. One access is made at a time.

use std::ops::Range;

use peerlane_sim_opencl::OpenClSide;
use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    avalon::{Checker, Enables, Event, Request, Rules},
    violation::{Clock, Log, Result},
    window::Window,
};

#[derive(Debug)]
struct Ports {
    address: Port,
    burstcount: Port,
    read: Port,
    write: Port,
    writedata: Port,
    byteenable: Port,
    waitrequest: Port,
    readdata: Port,
    readdatavalid: Port,
}

/// A beat that is being moved, and the later beats of a read.
#[derive(Debug, Clone, Copy)]
struct Beat {
    write: bool,
    at: u64,
    data: u64,
    enable: u64,
    left: u32,
    /// Whether the window has been asked; and the halves that the OpenCL side has done.
    begun: bool,
    halves: u32,
}

#[derive(Debug)]
pub(crate) struct Interconnect {
    ports: Ports,
    checker: Checker,
    window: Range<u64>,
    beat: Option<Beat>,
    waits: bool,
    shown: Option<u64>,
}

impl Interconnect {
    /// Returns the slave, if the design has its master.
    pub(crate) fn bind(library: &Library, window: Range<u64>) -> Result<Option<Self>> {
        if !has_master(library) {
            return Ok(None);
        }
        let output = |name, bits| library.port_as(name, Direction::Output, bits);
        let input = |name, bits| library.port_as(name, Direction::Input, bits);
        Ok(Some(Self {
            ports: Ports {
                address: output("board_address", 32)?,
                burstcount: output("board_burstcount", 6)?,
                read: output("board_read", 1)?,
                write: output("board_write", 1)?,
                writedata: output("board_writedata", 64)?,
                byteenable: output("board_byteenable", 8)?,
                waitrequest: input("board_waitrequest", 1)?,
                readdata: input("board_readdata", 64)?,
                readdatavalid: input("board_readdatavalid", 1)?,
            },
            checker: Checker::new(Rules {
                name: "board",
                clock: Clock::Pcie,
                width: 8,
                max_burst: 256,
                enables: Enables::Any,
                forbid_4k: true,
            }),
            window,
            beat: None,
            waits: true,
            shown: None,
        }))
    }

    /// Returns whether nothing is in progress.
    pub(crate) fn idle(&self) -> bool {
        self.beat.is_none() && self.shown.is_none()
    }

    pub(crate) fn reset(&mut self) {
        self.checker.reset();
        self.beat = None;
        self.shown = None;
        self.waits = true;
    }

    /// Handles an edge of `pcie_clk`: takes a command, and moves it on.
    pub(crate) fn sample(
        &mut self,
        model: &Model,
        cycle: u64,
        window: &mut Window,
        side: Option<&mut OpenClSide>,
        log: &mut Log,
    ) {
        let ports = &self.ports;
        let data = model.get(ports.writedata);
        let request = Request {
            read: model.get(ports.read) != 0,
            write: model.get(ports.write) != 0,
            address: model.get(ports.address),
            burst: model.get(ports.burstcount) as u32,
            enable: model.get(ports.byteenable),
            data: &[data as u32, (data >> 32) as u32],
            wait: self.waits,
        };
        let new = |write, at, enable, left| Beat {
            write,
            at,
            data: if write { data } else { 0 },
            enable,
            left,
            begun: false,
            halves: 0,
        };
        match self.checker.step(cycle, &request, log) {
            Event::None => {}
            Event::Read {
                address,
                burst,
                enable,
            } => self.beat = Some(new(false, address, enable, burst)),
            Event::Write {
                address, enable, ..
            } => self.beat = Some(new(true, address, enable, 1)),
        }
        self.shown = None;
        if let Some(mut beat) = self.beat.take() {
            let done = if self.window.contains(&beat.at) {
                let offset = beat.at - self.window.start;
                Self::through_window(&mut beat, offset, window)
            } else {
                Self::through_side(&mut beat, side)
            };
            if done && !beat.write {
                self.shown = Some(beat.data);
            }
            if !done {
                self.beat = Some(beat);
            } else if beat.left > 1 {
                self.beat = Some(Beat {
                    at: beat.at + 8,
                    data: 0,
                    enable: 0xFF,
                    left: beat.left - 1,
                    begun: false,
                    halves: 0,
                    ..beat
                });
            }
        }
        self.waits = self.beat.is_some();
    }

    /// Moves a beat through the window; returns whether that is done.
    fn through_window(beat: &mut Beat, offset: u64, window: &mut Window) -> bool {
        let lane = (offset % 64) as usize;
        if !beat.begun {
            let mut word = [0; 64];
            word[lane..lane + 8].copy_from_slice(&beat.data.to_le_bytes());
            window.access(offset / 64, beat.write, beat.enable << lane, word);
            beat.begun = true;
            return false;
        }
        if !window.idle() {
            return false;
        }
        if let Some(word) = window.answer().filter(|_| !beat.write) {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&word[lane..lane + 8]);
            beat.data = u64::from_le_bytes(bytes);
        }
        true
    }

    /// Moves a beat to the OpenCL side, whose words have 32 bits and which may hold an access; returns whether that is
    /// done.
    fn through_side(beat: &mut Beat, side: Option<&mut OpenClSide>) -> bool {
        let Some(side) = side else {
            return true;
        };
        while beat.halves < 2 {
            let shift = 32 * beat.halves;
            let at = beat.at + 4 * u64::from(beat.halves);
            let enable = (beat.enable >> (4 * beat.halves)) as u8 & 0xF;
            if enable != 0 {
                let held = if beat.write {
                    side.write(at, (beat.data >> shift) as u32, enable).is_err()
                } else {
                    let value = side.read(at);
                    beat.data |= u64::from(value.as_ref().copied().unwrap_or(0)) << shift;
                    value.is_err()
                };
                if held {
                    return false;
                }
            }
            beat.halves += 1;
        }
        true
    }

    /// Drives the slave after the edge.
    pub(crate) fn drive(&self, model: &mut Model) {
        let ports = &self.ports;
        model.set(ports.waitrequest, self.waits.into());
        model.set(ports.readdatavalid, self.shown.is_some().into());
        model.set(ports.readdata, self.shown.unwrap_or(0x0BAD_F00D_5EED_BEEF));
    }
}

/// Returns whether the host accesses the design's slaves through the design.
pub(crate) fn has_master(library: &Library) -> bool {
    library
        .ports()
        .iter()
        .any(|port| port.name == "board_address")
}
