//! Answers to the requests of the programs in a machine.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use peerlane_endpoint::opencl::{Contents, CvpFault, Program, Timing, cvp_image};
use peerlane_endpoint::{Handle, Ranges, Touched};
use peerlane_guest::{
    Allowed, Answer, Counters, Fault, Figure, PERIPHERY, Programmed, Programming, Reply, Request,
    Stretch, pattern,
};
use peerlane_vm::Qmp;
use serde_json::{Value, json};

/// The outside of a machine, which its programs cannot reach by themselves.
pub(crate) struct Outside {
    board: Handle,
    /// The board, as QEMU takes it.
    device: Value,
    watching: bool,
    second: Option<Box<Outside>>,
    /// The number of times that the board was taken out and put in again.
    removals: u64,
}

/// The longest time from the moment when the guest has switched the slot off until QEMU has removed the board.
const REMOVED: Duration = Duration::from_secs(30);

impl Outside {
    /// Makes the outside of a board that is this device for QEMU, and of the machine's second board, if there is one.
    pub(crate) fn new(board: Handle, device: Value, second: Option<Self>) -> Self {
        Self {
            board,
            device,
            watching: false,
            second: second.map(Box::new),
            removals: 0,
        }
    }

    pub(crate) fn answer(&mut self, qmp: &mut Qmp, request: &Request) -> Reply {
        self.try_answer(qmp, request)
            .unwrap_or_else(|error| Reply::Failed(error.to_string()))
    }

    fn try_answer(&mut self, qmp: &mut Qmp, request: &Request) -> Result<Reply, Box<dyn Error>> {
        Ok(match request {
            Request::FpgaWrite(stretch) => {
                self.board.write_fpga(stretch.address, &bytes(stretch))?;
                Reply::Done {}
            }
            Request::Feed {
                stream,
                seed,
                length,
            } => {
                let (number, mut words) = (*stream as usize, vec![0; *length as usize]);
                pattern(*seed, &mut words);
                (self.board).with_board(move |board| board.source_mut(number).send(&words))?;
                Reply::Done {}
            }
            Request::FpgaCheck(stretch) => {
                let expected = bytes(stretch);
                let found = self.board.read_fpga(stretch.address, expected.len())?;
                let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
                Reply::Compared {
                    differs: differs.map(|byte| byte as u64),
                }
            }
            Request::Fault(fault) => {
                self.fault(fault)?;
                Reply::Done {}
            }
            Request::TakeOut {} => {
                // QEMU pushes the slot's button; the guest's kernel does the rest.
                qmp.execute("device_del", json!({ "id": self.device["id"] }))?;
                Reply::Done {}
            }
            Request::PutIn {} => {
                self.await_removal()?;
                qmp.device_add(self.device.clone())?;
                Reply::Done {}
            }
            Request::BusError(name) => {
                let slot = self.device["bus"].as_str().ok_or("the board has no slot")?;
                qmp.inject_aer(slot, name)?;
                Reply::Done {}
            }
            Request::Second(request) => match &mut self.second {
                Some(second) => second.try_answer(qmp, request)?,
                None => Reply::Failed("the machine has one board".into()),
            },
            Request::Program(program) => self.program(program)?,
            Request::Status {} => Reply::Status(self.counters()?),
            Request::Settings {} => Reply::Settings(self.board.settings()?),
            Request::Programmed { seed, length } => {
                Reply::Programmed(self.programmed(*seed, *length))
            }
            Request::Allow(ranges) => self.allow(ranges)?,
            Request::Log(text) => {
                println!("{text}");
                Reply::Done {}
            }
            Request::Figure(figure) => {
                let Figure { name, value, unit } = figure;
                println!("{name}: {value} {unit}");
                Reply::Done {}
            }
        })
    }

    /// Waits until QEMU has closed its connection to the board that was taken out. It would otherwise wait for a reply on
    /// the next connection, which the board takes only then, and close neither.
    fn await_removal(&mut self) -> Result<(), Box<dyn Error>> {
        let begin = Instant::now();
        while self.board.status()?.left <= self.removals {
            if begin.elapsed() > REMOVED {
                return Err("QEMU does not remove the board".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.removals += 1;
        Ok(())
    }

    fn fault(&self, fault: &Fault) -> Result<(), peerlane_endpoint::Error> {
        match *fault {
            Fault::Reads {
                answer,
                skip,
                times,
            } => {
                let answer = match answer {
                    Answer::Never {} => peerlane_endpoint::Answer::Never,
                    Answer::Late { ns } => peerlane_endpoint::Answer::Late(ns),
                    Answer::Unsupported {} => peerlane_endpoint::Answer::Unsupported,
                    Answer::Abort {} => peerlane_endpoint::Answer::Abort,
                    Answer::Poisoned {} => peerlane_endpoint::Answer::Poisoned,
                };
                self.board.fail_reads(answer, 0..u64::MAX, skip, times)
            }
            Fault::StickPort { after } => self.board.stick_port(after),
            Fault::SlowPort {} => self.board.slow_port(),
            Fault::StallRegisters { skip, times, ms } => {
                let length = Duration::from_millis(ms);
                self.board.stall_reads(skip, times, length);
                Ok(())
            }
            Fault::Configure {} => self.board.configure(),
            Fault::ConfigureOther { build_id } => self.board.configure_other(build_id),
            Fault::RingWithoutEnd { channel } => self.board.ring_without_end(channel),
            Fault::Programming(fault) => {
                self.programming_fault(fault);
                Ok(())
            }
            Fault::LostAtReset {} => {
                self.board.lose_at_reset();
                Ok(())
            }
            Fault::ResetMemorySide {} => self.board.reset_memory_side(),
            Fault::EndlessKernels {} => self.time_kernels(Timing {
                start: u64::MAX,
                ..Timing::default()
            }),
            Fault::Calibration { after } => self.calibrate(after),
            Fault::Absent {} => self.board.hide_bar(),
            Fault::Kill {} => self.board.kill(),
            Fault::Clear {} => {
                self.time_kernels(Timing::default())?;
                self.calibrate(Some(0))?;
                self.board.hide_function(false);
                self.board.with_cvp(|cvp| cvp.set_fault(None));
                self.board.clear_faults()
            }
        }
    }

    /// Sets the time that kernels take from now on.
    fn time_kernels(&self, timing: Timing) -> Result<(), peerlane_endpoint::Error> {
        self.board.with_board(move |board| {
            if let Some(side) = board.opencl_mut() {
                side.set_timing(timing);
            }
        })
    }

    /// Calibrates FPGA memory after so many cycles, or never.
    fn calibrate(&self, after: Option<u64>) -> Result<(), peerlane_endpoint::Error> {
        self.board.with_board(move |board| {
            if let Some(side) = board.opencl_mut() {
                side.set_calibrates(after);
            }
        })
    }

    /// Configures the FPGA, if the text is a program.
    fn program(&self, program: &str) -> Result<Reply, peerlane_endpoint::Error> {
        match serde_json::from_str::<Program>(program) {
            Ok(program) => {
                self.board.reprogram(program, Contents::Lost)?;
                self.board.configure()?;
                Ok(Reply::Done {})
            }
            Err(error) => Ok(Reply::Failed(error.to_string())),
        }
    }

    fn programming_fault(&self, fault: Programming) {
        let fault = match fault {
            Programming::NeverReady {} => CvpFault::NeverReady,
            Programming::Error { after } => CvpFault::Error(after as usize),
            Programming::StaysReady {} => CvpFault::StaysReady,
            Programming::NoUserMode {} => CvpFault::NoUserMode,
            Programming::Gone {} => return self.board.hide_function(true),
        };
        self.board.with_cvp(|cvp| cvp.set_fault(Some(fault)));
    }

    fn programmed(&self, seed: u64, length: u64) -> Programmed {
        let record = self.board.with_cvp(|cvp| cvp.record().clone());
        let record = record.unwrap_or_default();
        let mut content = vec![0; length as usize];
        pattern(seed, &mut content);
        let arrived = record.words.iter().flat_map(|word| word.to_le_bytes());
        Programmed {
            transfers: record.transfers,
            configured: record.configured,
            same: arrived.eq(cvp_image(&content, PERIPHERY)),
            violation: record.first_violation,
        }
    }

    fn counters(&self) -> Result<Counters, peerlane_endpoint::Error> {
        let status = self.board.status()?;
        let page = status.mmio.get("chan").copied().unwrap_or_default();
        let others = || status.mmio.iter().filter(|(slave, _)| **slave != "chan");
        Ok(Counters {
            page_writes: page.writes,
            page_reads: page.reads,
            other_writes: others().map(|(_, mmio)| mmio.writes).sum(),
            other_reads: others().map(|(_, mmio)| mmio.reads).sum(),
            interrupts: status.interrupts.iter().sum(),
            resets: status.resets,
            bytes_written: status.host.bytes_written + status.gpu.bytes_written,
            bytes_read: status.host.bytes_read + status.gpu.bytes_read,
        })
    }

    fn allow(&mut self, ranges: &[Allowed]) -> Result<Reply, peerlane_endpoint::Error> {
        let status = self.board.status()?;
        let access = match self.watching {
            true => status.first_stray.map(|stray| format!("{stray:?}")),
            false => None,
        };
        let with = |right: char| -> Ranges {
            let allowed = ranges.iter().filter(|range| range.2.contains(right));
            allowed.map(|range| range.0..range.0 + range.1).collect()
        };
        self.watching = !ranges.is_empty();
        self.board.allow_only(self.watching.then(|| Touched {
            read: with('r'),
            written: with('w'),
        }));
        Ok(Reply::Strayed { access })
    }
}

/// Returns the content of a stretch of FPGA memory.
fn bytes(stretch: &Stretch) -> Vec<u8> {
    let mut bytes = vec![0; stretch.length as usize];
    pattern(stretch.seed, &mut bytes);
    bytes
}
