//! Memory of the host's as an end of routes.

use crate::error::Result;
use crate::side::{Engine, Pending, Piece, Reach, Residence, Side, Way, check};
use peerlane_host::{Device, Memory, MemoryKind, Permissions};
use std::ops::Range;
use std::time::Duration;

/// Memory of the host's with the processor as its engine, in place of a GPU on a computer without one. Clones are the
/// same memory.
#[derive(Debug, Clone)]
pub struct HostMemory {
    device: Device,
    memory: Memory,
}

impl HostMemory {
    /// Allocates memory that the device takes, all zero.
    ///
    /// # Errors
    /// As [`Device::memory`].
    pub fn new(device: &Device, bytes: u64) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            memory: device.memory(MemoryKind::Host, bytes as usize)?,
        })
    }

    /// Returns the memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Side for HostMemory {
    fn name(&self) -> String {
        "memory of the host's".into()
    }

    fn length(&self) -> u64 {
        self.memory.length() as u64
    }

    fn attach(&self, staging: &Memory) -> Result<Box<dyn Engine>> {
        Ok(Box::new(Processor {
            side: self.clone(),
            staging: staging.clone(),
        }))
    }

    fn another(&self, bytes: u64) -> Result<Box<dyn Side>> {
        Ok(Box::new(Self::new(&self.device, bytes)?))
    }

    fn reach(&self, device: &Device, range: Range<u64>, permissions: Permissions) -> Result<Reach> {
        let range = range.start as usize..range.end as usize;
        Ok(Reach {
            region: device.register(&self.memory, range, permissions)?,
            offset: 0,
        })
    }

    /// The memory is the processor's, which takes part from the beginning.
    fn residence(&self) -> Residence {
        Residence::Device
    }
}

/// The processor copies within the call that begins a copy.
struct Processor {
    side: HostMemory,
    staging: Memory,
}

/// A copy that has ended.
struct Ended;

impl Engine for Processor {
    fn begin(&mut self, piece: Piece) -> Result<Box<dyn Pending>> {
        check(&self.side, piece.at, piece.length)?;
        let (at, staged) = (piece.at as usize, piece.staged as usize);
        let mut bytes = vec![0; piece.length as usize];
        match piece.way {
            Way::Out => {
                self.side.memory.read(at, &mut bytes)?;
                self.staging.write(staged, &bytes)?;
            }
            Way::In => {
                self.staging.read(staged, &mut bytes)?;
                self.side.memory.write(at, &bytes)?;
            }
        }
        Ok(Box::new(Ended))
    }
}

impl Pending for Ended {
    fn wait(&mut self, _: Duration) -> Result<bool> {
        Ok(true)
    }
}
