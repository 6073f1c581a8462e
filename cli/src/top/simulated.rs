//! The simulated board under a load: one context writes to the GPU's memory, one reads it.

use super::{Channel, Sample, Source};
use peerlane_demo::error::Error;
use peerlane_demo::progress::Step;
use peerlane_host::driver::{Driver, Options};
use peerlane_host::{Device, Direction, MemoryKind, Permissions, Queue, Region, Transfer};
use peerlane_simulated::named;
use std::collections::VecDeque;
use std::time::Duration;

/// Bytes of a transfer, and number of transfers in progress at a time.
const BYTES: u64 = 16 << 10;
const DEPTH: usize = 8;

/// Simulated time from one sample to the next; it takes about half a second of real time.
const SLICE: Duration = Duration::from_micros(200);

/// The board and its users.
pub struct Simulated {
    driver: Driver,
    users: Vec<User>,
}

/// A context that moves data in one direction endlessly.
struct User {
    direction: Direction,
    device: Device,
    queue: Queue,
    region: Region,
    fpga: u64,
    under_way: VecDeque<Transfer>,
}

fn told(error: &peerlane_host::Error) -> Error {
    Error::new("the simulated board", error.to_string(), error.hint())
}

fn host<T>(result: peerlane_host::Result<T>) -> Result<T, Error> {
    result.map_err(|error| told(&error))
}

impl User {
    fn new(driver: &Driver, direction: Direction) -> peerlane_host::Result<Self> {
        let device = driver.open()?;
        let fpga = device.allocate(BYTES)?.keep().start;
        let memory = device.memory(MemoryKind::Gpu, BYTES as usize)?;
        Ok(Self {
            direction,
            region: device.register_all(&memory, Permissions::ReadWrite)?,
            queue: device.queue()?,
            device,
            fpga,
            under_way: VecDeque::new(),
        })
    }

    /// Removes finished transfers, and starts new ones up to the intended depth.
    fn turn(&mut self) -> peerlane_host::Result<()> {
        while let Some(transfer) = self.under_way.front()
            && transfer.poll()?.is_some()
        {
            self.under_way.pop_front();
        }
        while self.under_way.len() < DEPTH {
            let transfer =
                (self.queue).submit(self.direction, self.region.part(0..BYTES), self.fpga)?;
            self.under_way.push_back(transfer);
        }
        Ok(())
    }
}

impl Simulated {
    /// Compiles the block, or loads it from the cache, and starts the load.
    ///
    /// # Errors
    /// If a tool is missing, or the board reports an error.
    pub fn new() -> Result<Self, Error> {
        let board = host(named::board())?;
        let _step = Step::begin("starting the simulated board");
        let driver = host(board.drive(&Options::default()))?;
        let users = Direction::BOTH.map(|direction| User::new(&driver, direction));
        Ok(Self {
            users: users.into_iter().map(host).collect::<Result<_, _>>()?,
            driver,
        })
    }

    fn work(&mut self) -> peerlane_host::Result<()> {
        let end = self.driver.now() + SLICE;
        while self.driver.now() < end {
            for user in &mut self.users {
                user.turn()?;
            }
            // Simulated time advances during a wait.
            let user = &self.users[0];
            user.device.query()?;
            user.device.poll(Some(SLICE / 50))?;
        }
        Ok(())
    }
}

impl Source for Simulated {
    fn name(&self) -> String {
        "the simulated board, under its own load; simulated time".into()
    }

    fn pass(&mut self) -> Result<(), Error> {
        host(self.work())
    }

    fn sample(&mut self) -> Result<Sample, Error> {
        let counters = host(self.driver.counters())?;
        let status = host(self.driver.status())?;
        let caps = self.driver.capabilities();
        let mut channels: Vec<Channel> = (counters.channels.into_iter())
            .map(|counters| Channel {
                counters,
                under_way: Some([0; 2]),
                ..Channel::default()
            })
            .collect();
        for user in &self.users {
            let number = user.device.info().channel as usize;
            if let Some(channel) = channels.get_mut(number) {
                let (mut both, way) = ([0; 2], user.direction as usize);
                both[way] = user.queue.under_way() as u64;
                channel.under_way = Some(both);
                channel.owner = Some("you".into());
                channel.regions = Some(1);
            }
        }
        let free = channels.len() - self.users.len();
        Ok(Sample {
            at: self.driver.now(),
            state: if status.port_dead {
                "port dead"
            } else {
                "ready"
            }
            .into(),
            facts: vec![
                format!("channels: {free} of {} free", channels.len()),
                format!("ATT entries: {}", caps.att_entries()),
            ],
            block: counters.block,
            link: counters.link,
            channels,
        })
    }
}
