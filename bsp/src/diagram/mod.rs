//! `peerlane diagram`: a board's block diagram, its address map, its interrupts and its clocks; for an extended BSP,
//! before and after the extension.

mod picture;
mod read;
mod tables;

use std::path::Path;

use askama::Template;
use serde::Serialize;

use crate::error::Result;
use picture::Picture;

/// Effect of the extension on a part of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Unchanged.
    Same,
    /// Changed in kind or place.
    Changed,
    /// Added.
    New,
    /// Removed.
    Gone,
}

impl State {
    /// Returns the word for the state; empty for an unchanged part.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "removed",
        }
    }
}

/// Role of an instance in relation to the DMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The PCIe hard IP.
    Host,
    /// A bridge between a BAR and slaves.
    Bridge,
    /// The DMA block.
    Dma,
    /// Another slave in a BAR.
    Slave,
    /// The interface to the OpenCL kernel, or its clock.
    Kernel,
    /// On the way from the DMA to memory, or from the kernel to it.
    Memory,
    /// On the way from the old DMA to PCIe.
    Return,
}

/// An instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Its role in relation to the DMA.
    pub part: Part,
    /// The clocks of its two sides, by number in [`Diagram::clocks`].
    pub clocks: (Option<usize>, Option<usize>),
    /// Numbers of its interrupts.
    pub interrupts: Vec<String>,
    /// Effect of the extension on it.
    pub state: State,
}

/// An Avalon-MM connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Wire {
    /// Master, `instance.interface`.
    pub start: String,
    /// Slave, `instance.interface`.
    pub end: String,
    /// Byte address on the master.
    pub base: u64,
    /// Effect of the extension on it.
    pub state: State,
}

/// A slave at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Address {
    /// The master whose address space it is: `instance.interface`.
    pub master: String,
    /// Byte address.
    pub base: u64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Whether the slave may have fewer bytes: its span is not known, and was assumed to reach up to the next slave.
    pub assumed: bool,
    /// `instance.interface`.
    pub slave: String,
    /// Kind of the instance.
    pub kind: String,
    /// Effect of the extension on it.
    pub state: State,
}

/// An interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Interrupt {
    /// The receiver, `instance.interface`.
    pub receiver: String,
    /// Its number at the receiver.
    pub number: String,
    /// The sender, `instance.interface`.
    pub sender: String,
    /// Effect of the extension on it.
    pub state: State,
}

/// A clock, with the inputs that it drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clock {
    /// The output that makes it, or where it enters the system.
    pub source: String,
    /// Inputs that it drives, with the effect of the extension on each connection.
    pub sinks: Vec<(String, State)>,
}

/// A stream between the block and the FPGA's logic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stream {
    /// Its name.
    pub name: String,
    /// The block's interface, `instance.interface`.
    pub interface: String,
    /// Its direction, in words.
    pub direction: &'static str,
    /// Bits of a word.
    pub bits: u32,
    /// Whether it is an OpenCL channel.
    pub channel: bool,
}

/// A board as its BSP describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagram {
    /// Name of the board, as `board_spec.xml` has it.
    pub board: String,
    /// The system with the DMA, by the name of its file.
    pub system: String,
    /// Whether it is an extended BSP: then the vendor's parts are shown, too.
    pub extended: bool,
    /// Instances between host and memory.
    pub instances: Vec<Instance>,
    /// Connections between them.
    pub wires: Vec<Wire>,
    /// Slaves in the BARs and slaves of the DMA's masters, by master and address.
    pub addresses: Vec<Address>,
    /// Interrupts, by receiver and number.
    pub interrupts: Vec<Interrupt>,
    /// Clocks, in the order of the system's file.
    pub clocks: Vec<Clock>,
    /// Streams of the FPGA's logic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Stream>,
}

#[derive(Template)]
#[template(path = "diagram.svg")]
struct Svg<'a> {
    diagram: &'a Diagram,
    picture: Picture,
}

#[derive(Template)]
#[template(path = "diagram.html")]
struct Html<'a> {
    diagram: &'a Diagram,
    svg: String,
    tables: Vec<tables::Table>,
}

impl Diagram {
    /// Reads a BSP: a vendor's, or one that `peerlane extend` wrote.
    ///
    /// # Errors
    /// Those of [`crate::extend::extend`] for a BSP without a DMA that it finds; those of
    /// [`crate::build::Build::read`].
    pub fn read(bsp: &Path) -> Result<Self> {
        read::diagram(bsp)
    }

    /// Draws the block diagram as SVG.
    pub fn svg(&self) -> String {
        let picture = Picture::of(self);
        let svg = Svg {
            diagram: self,
            picture,
        };
        svg.render().expect("the template renders plain data")
    }

    /// Makes an HTML page with the diagram and the tables.
    pub fn html(&self) -> String {
        let html = Html {
            diagram: self,
            svg: self.svg(),
            tables: tables::of(self),
        };
        html.render().expect("the template renders plain data") + "\n"
    }

    /// Makes the tables, for a terminal.
    pub fn text(&self) -> String {
        let tables = tables::of(self).into_iter().map(|table| table.text());
        format!("{}\n{}", self.title(), tables.collect::<String>())
    }

    /// Makes JSON with everything, for programs.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the diagram holds plain data");
        text.push('\n');
        text
    }

    /// Returns the title, in one line.
    pub fn title(&self) -> String {
        let extended = match self.extended {
            true => ", before and after `peerlane extend`",
            false => "",
        };
        format!("{}: {}{extended}", self.board, self.system)
    }
}
