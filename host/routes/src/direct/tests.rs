//! What is direct, with a driver that does what it is told.

#[allow(dead_code, reason = "others use more of it")]
#[path = "../../../tests/least/mod.rs"]
mod least;

use super::*;
use crate::limits::{Clock, Limits};
use crate::side::Engine;
use least::Least;
use peerlane_host::{Errno, Memory};
use std::time::{Duration, Instant};

/// Memory of the process as a side.
struct Plain(Memory);

impl Plain {
    fn new(bytes: usize) -> Self {
        Self(Memory::new(bytes).unwrap())
    }
}

impl Side for Plain {
    fn name(&self) -> String {
        "memory".into()
    }
    fn length(&self) -> u64 {
        self.0.length() as u64
    }
    fn attach(&self, _: &Memory) -> Result<Box<dyn Engine>> {
        Err(Error::side(self.name(), "it has no engine"))
    }
    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        Ok(Box::new(Self::new(bytes as usize)))
    }
    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let range = range.start as usize..range.end as usize;
        Ok(Reach {
            region: device.register(&self.0, range, permissions)?,
            offset: 0,
        })
    }
}

/// What happens while a device stores.
#[derive(Clone, Copy, PartialEq)]
enum Meanwhile {
    Nothing,
    /// The board is reset and started again.
    Restart,
    /// The same, with its FPGA configured anew.
    Reprogram,
    /// The board has begun to be reset, and its driver has told nobody yet.
    Outage,
    /// The device does not end what it has begun.
    Hang,
    /// The first part of a copy fails, and the board is reset.
    FailInRestart,
}

struct Stores(Least, Meanwhile);

impl Push for Stores {
    fn window(&self) -> u64 {
        4096
    }
    fn place(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
    fn push(&mut self, from: u64, _: u64, _: u64) -> Result<()> {
        let query = &mut *self.0.query.lock().unwrap();
        match self.1 {
            Meanwhile::Restart if from > 0 => query.generation += 1,
            Meanwhile::Reprogram if from > 0 => {
                query.generation += 1;
                query.resets += 1;
            }
            Meanwhile::FailInRestart => {
                query.generation += 1;
                return Err(Error::side("a device", "it fails"));
            }
            _ => {}
        }
        Ok(())
    }
    fn settle(&mut self, limit: Duration) -> Result<bool> {
        if self.1 == Meanwhile::Hang {
            std::thread::sleep(limit);
            return Ok(false);
        }
        Ok(true)
    }
    fn confirm(&mut self) -> Result<()> {
        match self.1 {
            Meanwhile::Outage => Err(peerlane_host::Error::Window {
                base: 0,
                source: Errno::AGAIN,
            }
            .into()),
            _ => Ok(()),
        }
    }
}

fn pushed(meanwhile: Meanwhile) -> Result<u64> {
    let least = Least::new();
    let device = Device::over(least.clone()).unwrap();
    let clock = Clock::Process(Instant::now());
    let limits = Limits::within(Duration::from_millis(200));
    let watch = Watch::new(&clock, &limits, 10_000);
    let side = Plain::new(16 << 10);
    let mut stores = Stores(least, meanwhile);
    by_push(&mut stores, (&device, &side), (0, 0, 10_000), &watch)
}

#[test]
fn stores_to_a_board_that_is_reset_are_not_told_to_have_arrived() {
    assert_eq!(pushed(Meanwhile::Nothing).unwrap(), 10_000);
    for (meanwhile, lost) in [
        (Meanwhile::Restart, false),
        (Meanwhile::Reprogram, true),
        (Meanwhile::Outage, false),
        (Meanwhile::FailInRestart, false),
    ] {
        let error = pushed(meanwhile).unwrap_err();
        let Error::Lost { length, memory, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((length, memory), (10_000, lost));
    }
}

#[test]
fn a_device_that_does_not_end_its_stores_is_told_of() {
    let error = pushed(Meanwhile::Hang).unwrap_err();
    assert!(matches!(error, Error::UnderWay { .. }), "{error}");
    assert!(error.to_string().contains("when the deadline"), "{error}");
}
