//! The memory window: the way of the host to FPGA memory.

use std::collections::VecDeque;

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::violation::Result;

#[derive(Debug, Clone, Copy)]
struct WindowPorts {
    address: Port,
    read: Port,
    write: Port,
    writedata: Port,
    byteenable: Port,
    readdata: Port,
    readdatavalid: Port,
    waitrequest: Port,
    bytes: u64,
}

/// An access to the memory window.
#[derive(Debug, Clone, Copy)]
struct WindowAccess {
    word: u64,
    write: bool,
    enable: u64,
    data: [u8; 64],
}

/// The memory window (`s_nondma`), which handles one access at a time.
#[derive(Debug)]
pub(crate) struct Window {
    ports: Option<WindowPorts>,
    queue: VecDeque<WindowAccess>,
    driving: Option<WindowAccess>,
    clear: bool,
    awaiting: bool,
    answer: Option<[u8; 64]>,
}

impl Window {
    pub(crate) fn bind(library: &Library) -> Result<Self> {
        let name = "s_nondma_address";
        let mut ports = None;
        if let Some(info) = library.ports().iter().find(|port| port.name == name) {
            let input = |suffix: &str, bits| {
                library.port_as(&format!("s_nondma_{suffix}"), Direction::Input, bits)
            };
            let output = |suffix: &str, bits| {
                library.port_as(&format!("s_nondma_{suffix}"), Direction::Output, bits)
            };
            ports = Some(WindowPorts {
                address: input("address", info.width)?,
                read: input("read", 1)?,
                write: input("write", 1)?,
                writedata: input("writedata", 512)?,
                byteenable: input("byteenable", 64)?,
                readdata: output("readdata", 512)?,
                readdatavalid: output("readdatavalid", 1)?,
                waitrequest: output("waitrequest", 1)?,
                bytes: 64 << info.width.min(40),
            });
        }
        Ok(Self {
            ports,
            queue: VecDeque::new(),
            driving: None,
            clear: false,
            awaiting: false,
            answer: None,
        })
    }

    /// Returns the size in bytes; 0 if the design has no window.
    pub(crate) fn size(&self) -> u64 {
        self.ports.map_or(0, |ports| ports.bytes)
    }

    /// Requests an access to the 64-byte word at `word`.
    pub(crate) fn access(&mut self, word: u64, write: bool, enable: u64, data: [u8; 64]) {
        self.answer = None;
        self.queue.push_back(WindowAccess {
            word,
            write,
            enable,
            data,
        });
    }

    pub(crate) fn idle(&self) -> bool {
        self.queue.is_empty() && self.driving.is_none() && !self.awaiting
    }

    pub(crate) fn answer(&self) -> Option<[u8; 64]> {
        self.answer
    }

    pub(crate) fn reset(&mut self) {
        self.queue.clear();
        self.clear = self.driving.take().is_some();
        self.awaiting = false;
    }

    /// Handles an edge of `clk`.
    pub(crate) fn sample(&mut self, model: &Model) {
        let Some(ports) = &self.ports else {
            return;
        };
        if self.awaiting && model.get(ports.readdatavalid) != 0 {
            let mut data = [0; 64];
            model.get_bytes(ports.readdata, &mut data);
            self.answer = Some(data);
            self.awaiting = false;
        }
        if let Some(access) = self.driving
            && model.get(ports.waitrequest) == 0
        {
            self.driving = None;
            self.clear = true;
            self.awaiting = !access.write;
        }
        if self.driving.is_none() && !self.awaiting {
            self.driving = self.queue.pop_front();
        }
    }

    /// Drives the slave after the edge.
    pub(crate) fn drive(&mut self, model: &mut Model) {
        let Some(ports) = self.ports else {
            return;
        };
        if std::mem::take(&mut self.clear) {
            model.set(ports.read, 0);
            model.set(ports.write, 0);
        }
        if let Some(access) = &self.driving {
            model.set(ports.address, access.word);
            model.set(ports.byteenable, access.enable);
            model.set(ports.read, u64::from(!access.write));
            model.set(ports.write, u64::from(access.write));
            model.set_bytes(ports.writedata, &access.data);
        }
    }
}
