//! The simulated board as a PCIe device for QEMU, over vfio-user.
//!
//! [`Endpoint`] listens at a socket for a vfio-user client (QEMU 10.1 or later: device `vfio-user-pci`) and shows it a
//! PCIe function: configuration space, one BAR with the block's slaves, MSI-X or MSI, DMA into the guest's memory and
//! into the BARs of its other devices. The function is the Verilog of `peerlane_dma`, Verilated, with the models of
//! [`peerlane_sim`] for the hard IP, the link and FPGA memory. A [`Handle`] controls it from another thread: faults,
//! counters, a record of every address that the block accessed, access to FPGA memory.
//!
//! These parts are models, not the block's Verilog:
//!
//! - the configuration space ([`Ids`], and the effects of writes to it), resets of the function, and the rule that
//!   nothing leaves the board while it is not bus master: writes are dropped, reads end as unsupported requests;
//! - the addresses and data in the block's MSI-X table, which the client does not share;
//! - the parts of the board next to the block, in a layout that has them ([`peerlane_sim::opencl`]);
//! - the rest of the BAR: reads give 0, writes do nothing;
//! - time: the clock runs only while something can happen, and as fast as this machine can simulate it.
//!
//! A register read ends when the block has answered, or after a million cycles with all-ones. An unanswered access to
//! the other parts holds up all later accesses to the BAR, as on the hard IP's one port for them: reads give ones and
//! writes are lost until the FPGA is configured, or reset. Before the answer, everything that the block sent earlier
//! has arrived: its writes in memory, its messages as interrupts.
//!
//! ```no_run
//! use peerlane_endpoint::{Config, Endpoint};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = Endpoint::start(&Config::default(), "/tmp/board.sock".as_ref())?;
//! let handle = endpoint.handle();
//! // Start QEMU with -device '{"driver":"vfio-user-pci","socket":{"type":"unix","path":"/tmp/board.sock"}}'
//! handle.write_fpga(0, b"from the board")?;
//! println!("{:?}", handle.status()?);
//! # Ok(())
//! # }
//! ```

mod config_space;
mod connection;
mod endpoint;
mod error;
mod interrupts;
mod layout;
mod ledger;
mod machine;
mod memory;
mod patience;
mod pieces;
mod programming;
mod ranges;
mod server;
mod settings;
mod stall;
mod status;

pub use config_space::{Function, Ids, Resets};
pub use endpoint::{Config, Endpoint, Handle};
pub use error::{Error, Result};
pub use layout::{Layout, OpenClLayout};
pub use ledger::{Access, Touched, Traffic};
pub use memory::Mapped;
pub use peerlane_hdl::{Input, Irq, Params, Port, Streams};
pub use peerlane_sim::{Answer, opencl};
pub use ranges::Ranges;
pub use status::{Accesses, Status};
