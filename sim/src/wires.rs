//! Single inputs of the block that neither a bus nor a memory drives.

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::violation::Result;

/// `msix_enable` and `msix_mask` of the hard IP's configuration space, and the kernel's interrupt.
#[derive(Debug)]
pub(crate) struct Wires {
    ports: [Option<Port>; 3],
    levels: [bool; 3],
}

impl Wires {
    const NAMES: [&'static str; 3] = ["msix_enable", "msix_mask", "kernel_irq"];

    /// The inputs that the design has.
    pub(crate) fn bind(library: &Library) -> Result<Self> {
        let mut ports = [None; 3];
        for (slot, name) in ports.iter_mut().zip(Self::NAMES) {
            if library.ports().iter().any(|port| port.name == name) {
                *slot = Some(library.port_as(name, Direction::Input, 1)?);
            }
        }
        Ok(Self {
            ports,
            levels: [false; 3],
        })
    }

    pub(crate) fn set_msix(&mut self, enable: bool, mask: bool) {
        self.levels[0] = enable;
        self.levels[1] = mask;
    }

    pub(crate) fn set_kernel_irq(&mut self, level: bool) {
        self.levels[2] = level;
    }

    /// Drives them after the edge.
    pub(crate) fn drive(&self, model: &mut Model) {
        for (port, level) in self.ports.iter().zip(self.levels) {
            if let Some(port) = port {
                model.set(*port, level.into());
            }
        }
    }
}
