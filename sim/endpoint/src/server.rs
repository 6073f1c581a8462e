//! The vfio-user side: makes the requests of a client into commands for the machine.
//!
//! Peculiarities of the supported clients, from QEMU's sources (`hw/vfio/pci.c`, `hw/vfio-user/`): configuration writes
//! are all passed on, also those that QEMU emulates; BARs and the MSI-X table are QEMU's own, but its pending bits are
//! read from the device; a function reset comes as a configuration write and leaves QEMU's descriptors as they are;
//! `VFIO_USER_DEVICE_RESET` comes when the machine is reset.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD,
    VFIO_IRQ_SET_DATA_NONE, VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_ERR_IRQ_INDEX, VFIO_PCI_MSI_IRQ_INDEX, VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_NUM_IRQS,
    VFIO_PCI_NUM_REGIONS, VFIO_PCI_REQ_IRQ_INDEX, VFIO_REGION_INFO_FLAG_READ,
    VFIO_REGION_INFO_FLAG_WRITE, vfio_region_info,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, ServerBackend, ServerRegion};

use crate::config_space::{self, ConfigSpace, Messages, Resets};
use crate::layout::Layout;
use crate::machine::{Command, Machine};
use crate::memory::{Memory, Rights};
use crate::programming::Programming;
use crate::stall::Stall;

/// Returns the regions of the function.
pub(crate) fn regions(layout: &Layout) -> Vec<ServerRegion> {
    let bar = VFIO_PCI_BAR0_REGION_INDEX + u32::from(layout.bar);
    let region = |index| {
        let size = match index {
            VFIO_PCI_CONFIG_REGION_INDEX => config_space::SIZE as u64,
            _ if index == bar => layout.size,
            _ => 0,
        };
        let flags = match size {
            0 => 0,
            _ => VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE,
        };
        ServerRegion {
            region_info: vfio_region_info {
                argsz: size_of::<vfio_region_info>() as u32,
                flags,
                index,
                size,
                ..Default::default()
            },
            sparse_areas: Vec::new(),
            mmap_fd: None,
        }
    };
    (0..VFIO_PCI_NUM_REGIONS).map(region).collect()
}

/// Returns the kinds of interrupts of the function.
pub(crate) fn irqs(messages: Messages) -> Vec<IrqInfo> {
    let info = |index| {
        let count = match (index, messages) {
            (VFIO_PCI_MSI_IRQ_INDEX, Messages::Msi) => 1,
            (VFIO_PCI_MSIX_IRQ_INDEX, Messages::MsiX(vectors)) => vectors,
            // Accepted, but never signalled.
            (VFIO_PCI_ERR_IRQ_INDEX | VFIO_PCI_REQ_IRQ_INDEX, _) => 1,
            _ => 0,
        };
        let flags = if count > 0 { VFIO_IRQ_INFO_EVENTFD } else { 0 };
        IrqInfo {
            index,
            flags,
            count,
        }
    };
    (0..VFIO_PCI_NUM_IRQS).map(info).collect()
}

/// The state that serves a client.
pub(crate) struct Backend {
    pub(crate) config: ConfigSpace,
    pub(crate) memory: Memory,
    pub(crate) commands: SyncSender<Command>,
    pub(crate) stall: Arc<Stall>,
    pub(crate) bar: u32,
    pub(crate) bar_bytes: u64,
    /// Index of the function's interrupts.
    pub(crate) irq_index: u32,
    /// Effect of resets of the function.
    pub(crate) resets: Resets,
    /// The registers by which the FPGA is configured.
    pub(crate) programming: Option<Programming>,
}

fn gone<T>(_: T) -> Error {
    Error::from(ErrorKind::BrokenPipe)
}

impl Backend {
    fn send(&self, command: Command) -> Result<()> {
        self.commands.send(command).map_err(gone)
    }

    /// Returns whether an access lies in the BAR.
    fn in_bar(&self, offset: u64, bytes: usize) -> bool {
        (offset.checked_add(bytes as u64)).is_some_and(|end| end <= self.bar_bytes)
    }

    /// Reads the BAR. The machine decides whether the function answers at all: it knows the command register at the
    /// time of the access.
    fn read_bar(&self, offset: u64, data: &mut [u8]) -> Result<()> {
        self.stall.read();
        if self
            .programming
            .as_ref()
            .is_some_and(Programming::takes_read)
        {
            data.fill(0xFF);
            return Ok(());
        }
        let (reply, answer) = sync_channel(1);
        self.send(Command::Read {
            offset,
            bytes: data.len(),
            reply,
        })?;
        data.copy_from_slice(&answer.recv().map_err(gone)?);
        Ok(())
    }

    fn write_bar(&self, offset: u64, data: &[u8]) -> Result<()> {
        let programming = self.programming.as_ref();
        if programming.is_some_and(|programming| programming.takes_write(offset, data)) {
            return self.follow_core();
        }
        self.send(Command::Write {
            offset,
            data: data.into(),
        })
    }

    fn read_config(&self, offset: u64, data: &mut [u8]) -> Result<()> {
        self.config.read(offset, data);
        if let Some(programming) = &self.programming {
            programming.read(offset, data);
        }
        self.follow_core()
    }

    /// Sets a core that has disappeared, or has come, to its state after power-up.
    fn follow_core(&self) -> Result<()> {
        if self
            .programming
            .as_ref()
            .is_some_and(Programming::take_changed)
        {
            self.send(Command::Call(Box::new(Machine::configure)))?;
            self.flush()?;
        }
        Ok(())
    }

    fn write_config(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        if self.programming.as_ref().is_some_and(Programming::is_gone) {
            return Ok(());
        }
        let before = self.config.function();
        let reset = self.config.write(offset, data);
        let after = self.config.function();
        if let Some(programming) = &self.programming {
            programming.write(offset, data);
        }
        if reset {
            self.reset_programming();
            // The link is not reset.
            let reaches = match self.resets {
                Resets::Fabric => Resets::Fabric,
                Resets::Link | Resets::Configuration => Resets::Configuration,
            };
            self.send(Command::Reset(reaches))?;
        }
        if reset || before != after {
            self.send(Command::Function(after))?;
            self.flush()?;
        }
        Ok(())
    }

    fn reset_programming(&self) {
        if let Some(programming) = &self.programming {
            programming.reset();
        }
    }

    /// Waits until the machine has executed all commands: actions that the guest has switched off must not continue
    /// after its write has ended.
    fn flush(&self) -> Result<()> {
        let (reply, answer) = sync_channel(1);
        let call = move |_: &mut Machine| {
            // The server waits for it.
            let _ = reply.send(());
        };
        self.send(Command::Call(Box::new(call)))?;
        answer.recv().map_err(gone)
    }

    /// Sets all registers to their state after power-up, and the block if `resets` reaches it.
    fn power_up(&mut self, resets: Resets) -> Result<()> {
        self.config.power_up();
        self.reset_programming();
        self.send(Command::Reset(resets))?;
        self.send(Command::Function(self.config.function()))?;
        self.flush()
    }

    /// Handles the end of a client.
    pub(crate) fn disconnected(&mut self) -> Result<()> {
        self.send(Command::Left)?;
        self.power_up(Resets::Fabric)?;
        self.memory.unmap_all();
        Ok(())
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> Result<()> {
        if region == VFIO_PCI_CONFIG_REGION_INDEX {
            self.read_config(offset, data)
        } else if region == self.bar && self.in_bar(offset, data.len()) {
            self.read_bar(offset, data)
        } else {
            Err(ErrorKind::InvalidInput.into())
        }
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<()> {
        if region == VFIO_PCI_CONFIG_REGION_INDEX {
            self.write_config(offset, data)
        } else if region == self.bar && self.in_bar(offset, data.len()) {
            self.write_bar(offset, data)
        } else {
            // Posted: no reply is possible.
            Ok(())
        }
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> Result<()> {
        let rights = Rights {
            read: flags.contains(DmaMapFlags::READ),
            write: flags.contains(DmaMapFlags::WRITE),
        };
        let file = fd.map(|file| (file, offset));
        self.memory.map(address, size, rights, file)
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> Result<()> {
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            self.memory.unmap_all();
        } else {
            self.memory.unmap(address, size);
        }
        Ok(())
    }

    /// Handles a reset of the bus, or of the machine.
    fn reset(&mut self) -> Result<()> {
        self.power_up(self.resets)
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> Result<()> {
        if index != self.irq_index {
            return Ok(());
        }
        if flags & VFIO_IRQ_SET_ACTION_TRIGGER == 0 {
            return Err(ErrorKind::InvalidInput.into());
        }
        if flags & VFIO_IRQ_SET_DATA_EVENTFD != 0 {
            if let Some(programming) = self.programming.as_ref().filter(|_| !fds.is_empty()) {
                programming.note_table_write();
            }
            // No descriptor at all means that so many are removed.
            let mut events: Vec<_> = fds.into_iter().map(Some).collect();
            events.resize_with(count as usize, || None);
            return self.send(Command::Events { start, events });
        }
        if flags & VFIO_IRQ_SET_DATA_NONE != 0 && count == 0 {
            return self.send(Command::NoEvents);
        }
        (start..start.saturating_add(count))
            .try_for_each(|vector| self.send(Command::Trigger(vector)))
    }
}
