//! `peerlane diagram`: a board's block diagram, its address map, its interrupts and its clocks; of an extended BSP,
//! before and after.

mod picture;
mod read;
mod tables;

use std::path::Path;

use askama::Template;
use serde::Serialize;

use crate::error::Result;
use picture::Picture;

/// What an extension did to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing.
    Same,
    /// It is another kind, or stands elsewhere.
    Changed,
    /// It was put in.
    New,
    /// It was taken out.
    Gone,
}

impl State {
    /// The word for it; empty for what stays.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "removed",
        }
    }
}

/// What an instance is to the DMA.
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
    /// What it is to the DMA.
    pub part: Part,
    /// The clocks of its two sides, by number in [`Diagram::clocks`].
    pub clocks: (Option<usize>, Option<usize>),
    /// Numbers of its interrupts.
    pub interrupts: Vec<String>,
    /// What an extension did to it.
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
    /// What an extension did to it.
    pub state: State,
}

/// A slave at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Address {
    /// Whose address space: `instance.interface` of the master.
    pub master: String,
    /// Byte address.
    pub base: u64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Whether it may be fewer: the span is not known, and was taken to reach up to the next slave.
    pub assumed: bool,
    /// `instance.interface`.
    pub slave: String,
    /// Kind of the instance.
    pub kind: String,
    /// What an extension did to it.
    pub state: State,
}

/// An interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Interrupt {
    /// Where it arrives, `instance.interface`.
    pub receiver: String,
    /// Its number there.
    pub number: String,
    /// Where it comes from, `instance.interface`.
    pub sender: String,
    /// What an extension did to it.
    pub state: State,
}

/// A clock and what runs in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clock {
    /// Where it is made, or enters the system.
    pub source: String,
    /// Inputs that it drives, with what an extension did to each connection.
    pub sinks: Vec<(String, State)>,
}

/// A board as its BSP describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagram {
    /// Name of the board, as `board_spec.xml` has it.
    pub board: String,
    /// The system with the DMA, by the name of its file.
    pub system: String,
    /// Whether it is an extended BSP: what the vendor had is shown, too.
    pub extended: bool,
    /// Instances between host and memory.
    pub instances: Vec<Instance>,
    /// Connections between them.
    pub wires: Vec<Wire>,
    /// Slaves in the BARs and behind the DMA's masters, by master and address.
    pub addresses: Vec<Address>,
    /// Interrupts, by receiver and number.
    pub interrupts: Vec<Interrupt>,
    /// Clocks, in the order of the system's file.
    pub clocks: Vec<Clock>,
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
    /// As [`crate::extend::extend`] for a BSP that it cannot find the DMA in; those of [`crate::build::Build::read`].
    pub fn read(bsp: &Path) -> Result<Self> {
        read::diagram(bsp)
    }

    /// The block diagram.
    pub fn svg(&self) -> String {
        let picture = Picture::of(self);
        let svg = Svg {
            diagram: self,
            picture,
        };
        svg.render().expect("the template renders plain data")
    }

    /// A page with the diagram and the tables.
    pub fn html(&self) -> String {
        let html = Html {
            diagram: self,
            svg: self.svg(),
            tables: tables::of(self),
        };
        html.render().expect("the template renders plain data") + "\n"
    }

    /// The tables, for a terminal.
    pub fn text(&self) -> String {
        let tables = tables::of(self).into_iter().map(|table| table.text());
        format!("{}\n{}", self.title(), tables.collect::<String>())
    }

    /// Everything, for programs.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the diagram holds plain data");
        text.push('\n');
        text
    }

    /// What is shown, in a line.
    pub fn title(&self) -> String {
        let extended = match self.extended {
            true => ", before and after `peerlane extend`",
            false => "",
        };
        format!("{}: {}{extended}", self.board, self.system)
    }
}
