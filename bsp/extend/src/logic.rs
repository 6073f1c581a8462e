//! The streams of the FPGA's logic: their ports in the board's systems, the OpenCL channels of `board_spec.xml`, and an
//! example of logic to connect.

use std::fmt::Write as _;
use std::path::Path;

use askama::Template;

use crate::step::{Change, Step, Written};
use peerlane_bsp_design::qsys::{End, System};
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::block::logic::{Names, signals};
use peerlane_bsp_generate::block::{Direction as Way, Port};
use peerlane_bsp_generate::config::{Config, Key};
use peerlane_bsp_generate::logic::{Direction, Stream, numbered};
use peerlane_bsp_generate::verilog;
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Result};
use peerlane_bsp_platform::layout::{EXAMPLES, Layout, with_extension};
use peerlane_bsp_platform::text::{self, render};
use peerlane_bsp_platform::xml::{Document, Edits};

/// The reason for the ports.
pub(crate) const EXPORTED: &str = "a stream of the block leads to logic outside the system";
/// The reason for the connections of a channel.
pub(crate) const CHANNEL: &str = "an OpenCL channel has the clock and the reset of the kernels";

/// Clock and reset of the OpenCL kernels in the system with the block.
#[derive(Debug)]
pub struct Kernels {
    /// The instance of that system, as `board_spec.xml` names it.
    instance: String,
    /// Source of the clock.
    pub(crate) clock: End,
    /// Sources of the reset.
    pub(crate) resets: Vec<End>,
}

/// The ends of the streams outside the block.
#[derive(Debug, Default)]
pub struct Ends {
    /// The kernels, if there is a channel.
    pub(crate) kernels: Option<Kernels>,
}

impl Ends {
    /// Finds the ends, and checks the names of the streams. Without a channel, `board_spec.xml` is not read.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a name that the board has already, and for a board without the kernels' clock.
    pub(crate) fn of(site: &Site<'_>, hardware: &Path, config: &Config) -> Result<Self> {
        for system in systems(site) {
            let is_own = system.kind == site.system.kind;
            for stream in config.streams.iter().filter(|s| is_own || !s.is_channel()) {
                let names = ends_outside(stream);
                let mut all = system.exports.iter();
                if let Some(other) = all.find(|export| names.contains(&export.name)) {
                    return Err(taken(
                        Place::file(&system.document.path),
                        stream,
                        format!("has the interface {}", other.name),
                    ));
                }
            }
        }
        let mut channels = config.streams.iter().filter(|stream| stream.is_channel());
        if channels.clone().next().is_none() {
            return Ok(Self::default());
        }
        let specification = Document::read(&hardware.join("board_spec.xml"))?;
        let known = specification.root.children("channels");
        let known: Vec<_> = known.flat_map(|all| all.children("interface")).collect();
        let has = |name: &str| {
            let mut all = known.iter();
            all.find(|one| one.attribute("chan_id") == Some(name))
                .copied()
        };
        if let Some((stream, other)) = channels.find_map(|s| Some((s, has(&s.name)?))) {
            let place = specification.place(other);
            return Err(taken(place, stream, "has a channel of this name".into()));
        }
        let kernels = Kernels::of(site, &specification)?;
        Ok(Self {
            kernels: Some(kernels),
        })
    }

    /// Adds the channels to `board_spec.xml`.
    pub(crate) fn in_specification(
        &self,
        specification: &Document,
        streams: &[Stream],
        edits: &mut Edits,
    ) -> Option<Change> {
        let kernels = self.kernels.as_ref()?;
        let root = &specification.root;
        let old = root.children("channels").next();
        // Without channels: in front of the interfaces, or at the end.
        let next = root.children("interfaces").next();
        let at = match (old, next) {
            (Some(old), _) => match (old.children.last(), &old.content) {
                (Some(last), _) => last.span.end,
                (None, Some(content)) => content.start,
                (None, None) => old.span.start,
            },
            (None, Some(next)) => specification.whole_lines(&next.span).start,
            (None, None) => root.children.last()?.span.end,
        };
        let eol = specification.line_end_after(at);
        let mut lines = Vec::new();
        for stream in streams.iter().filter(|stream| stream.is_channel()) {
            let name = &stream.name;
            lines.push(format!(
                "    <interface name=\"{}\" port=\"{name}\" type=\"{}\" width=\"{}\" chan_id=\"{name}\"/>",
                kernels.instance,
                channel_type(stream),
                stream.bits
            ));
        }
        let lines = lines.join(eol);
        let whole = format!("<channels>{eol}{lines}{eol}  </channels>");
        match (old, next) {
            (Some(old), _) if old.content.is_none() => edits.replace(old.span.clone(), whole),
            (Some(_), _) => edits.insert(at, format!("{eol}{lines}")),
            (None, Some(_)) => edits.insert(at, format!("  {whole}{eol}")),
            (None, None) => edits.insert(at, format!("{eol}  {whole}")),
        }
        let names = streams.iter().filter(|s| s.is_channel());
        let names: Vec<_> = names.map(|s| s.name.as_str()).collect();
        Some(Change {
            file: specification.path.clone(),
            what: format!("channels added: {}", names.join(", ")),
            why: "aoc connects each to the kernel that names it".into(),
        })
    }
}

/// Returns the type of a channel: `streamsource` gives data to the kernel (Custom Platform Toolkit user guide 683398,
/// "channels").
fn channel_type(stream: &Stream) -> &'static str {
    match stream.direction {
        Direction::FromLogic => "streamsink",
        Direction::ToLogic => "streamsource",
    }
}

/// Returns the names that a stream takes outside the block's system.
fn ends_outside(stream: &Stream) -> Vec<String> {
    let names = stream.exports();
    let count = if stream.is_channel() { 1 } else { names.len() };
    names.into_iter().take(count).collect()
}

fn taken(place: Place, stream: &Stream, what: String) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        place,
        format!(
            "the stream {:?} cannot have this name: the board {what}",
            stream.name
        ),
        "Give the stream another name in the configuration (streams.name).",
    )
    .of_key(Key::Streams)
}

/// Returns the system with the block, and all systems around it.
pub(crate) fn systems<'a>(site: &Site<'a>) -> Vec<&'a System> {
    let mut found = vec![site.system];
    let mut at = 0;
    while let Some(inner) = found.get(at).copied() {
        for outer in site.library.systems() {
            let is_known = found.iter().any(|system| system.kind == outer.kind);
            if !is_known && outer.modules.iter().any(|m| m.kind == inner.kind) {
                found.push(outer);
            }
        }
        at += 1;
    }
    found
}

impl Kernels {
    fn of(site: &Site<'_>, specification: &Document) -> Result<Self> {
        let refuse = |what: String| {
            Err(Error::new(
                ErrorKind::Unsupported,
                Place::file(&specification.path),
                format!("{what}, so the clock of an OpenCL channel is not known"),
                "Set connect = \"export\" for each stream of the configuration.",
            )
            .of_key(Key::Streams))
        };
        let interfaces = specification.root.children("interfaces");
        let mut named = interfaces.flat_map(|all| all.children("kernel_clk_reset"));
        let Some(named) = named.next() else {
            return refuse("there is no <kernel_clk_reset>".into());
        };
        let of = |attribute: &str| {
            let (instance, export) = named.attribute(attribute)?.split_once('.')?;
            Some((instance.to_string(), export.to_string()))
        };
        let (Some((instance, clock)), Some((other, reset))) = (of("clk"), of("reset")) else {
            return refuse("<kernel_clk_reset> names no clock and reset of an instance".into());
        };
        let is_board = |system: &&System| {
            let module = system.module(&instance);
            module.is_some_and(|module| module.kind == site.system.kind)
        };
        if instance != other || !site.library.systems().any(|system| is_board(&system)) {
            return refuse(format!(
                "<kernel_clk_reset> names {instance}, which is not the instance of {}, the system with the block",
                site.system.kind
            ));
        }
        let sources = |export: &str, kind: &'static str, inputs: &[&str]| -> Vec<End> {
            let mut all = site.system.exports.iter();
            let Some(inside) = all
                .find(|e| e.name == export)
                .and_then(|e| e.internal.as_ref())
            else {
                return Vec::new();
            };
            let into = site.system.of_kind(kind).filter(|c| {
                c.end.instance == inside.instance && inputs.contains(&c.end.interface.as_str())
            });
            into.map(|c| c.start.clone()).collect()
        };
        // The export is the output of a clock source or of a bridge: an interface with an export has no connection
        // inside. So the channel gets the input of that instance.
        let clocks = sources(&clock, "clock", &["clk_in", "in_clk"]);
        let resets = sources(&reset, "reset", &["clk_in_reset", "in_reset"]);
        match (clocks.into_iter().next(), resets.as_slice()) {
            (Some(clock), [_, ..]) => Ok(Self {
                instance,
                clock,
                resets,
            }),
            _ => refuse(format!(
                "{clock} and {reset} of {} do not come from a clock source or bridge",
                site.system.kind
            )),
        }
    }
}

/// Adds the exports of streams to a system around the one with the block.
pub(crate) fn export_up(
    site: &Site<'_>,
    system: &System,
    streams: &[Stream],
    edits: &mut Edits,
    changes: &mut Vec<Change>,
) {
    let around = systems(site);
    if system.kind == site.system.kind || !around.iter().any(|one| one.kind == system.kind) {
        return;
    }
    let mut inner = system.modules.iter();
    let Some(inner) = inner.find(|m| around.iter().any(|one| one.kind == m.kind)) else {
        return;
    };
    for stream in streams.iter().filter(|stream| !stream.is_channel()) {
        for (name, kind, dir) in kinds(stream) {
            let internal = End::new(&inner.name, &name);
            system.export(edits, &name, &internal, kind, dir);
            changes.push(Change {
                file: system.document.path.clone(),
                what: format!("export added: {name} is {internal}"),
                why: EXPORTED.into(),
            });
        }
    }
}

/// Returns the exports of a stream, each with type and side.
pub(crate) fn kinds(stream: &Stream) -> Vec<(String, &'static str, &'static str)> {
    let side = match stream.direction {
        Direction::FromLogic => "end",
        Direction::ToLogic => "start",
    };
    let names = ends_outside(stream).into_iter();
    names
        .zip([
            ("avalon_streaming", side),
            ("clock", "end"),
            ("reset", "end"),
        ])
        .map(|(name, (kind, dir))| (name, kind, dir))
        .collect()
}

/// Returns the block's interfaces of each stream with the stream.
pub(crate) fn at_the_block(streams: &[Stream]) -> impl Iterator<Item = (Names, &Stream)> {
    numbered(streams).map(|(number, stream)| (Names::of(number, stream), stream))
}

/// A stream with ports of the top system, for its example.
#[derive(Debug)]
struct Example<'a> {
    stream: &'a Stream,
    number: usize,
    /// The ports of the example, except clock and reset.
    ports: Vec<Port>,
}

impl<'a> Example<'a> {
    fn all(streams: &'a [Stream]) -> Vec<Self> {
        let exported = numbered(streams).filter(|(_, stream)| !stream.is_channel());
        let all = exported.map(|(number, stream)| {
            let ports = signals(stream).into_iter().map(|(name, way, width)| Port {
                name: name.into(),
                // Seen from the logic.
                direction: match way {
                    Way::Input => Way::Output,
                    Way::Output => Way::Input,
                },
                width,
            });
            Self {
                stream,
                number,
                ports: ports.collect(),
            }
        });
        all.collect()
    }

    fn is_input(&self) -> bool {
        self.stream.direction == Direction::FromLogic
    }

    fn module(&self) -> String {
        format!("peerlane_example_{}", self.stream.name)
    }

    /// Returns a port's range with a blank.
    fn range(width: &u32) -> String {
        match width {
            1 => String::new(),
            width => format!("[{}:0] ", width - 1),
        }
    }
}

#[derive(Template)]
#[template(path = "peerlane_streams.v")]
struct Examples<'a> {
    examples: &'a [Example<'a>],
    lines: Vec<String>,
}

/// Returns lines for the top module: wires and an example for each stream, then the ports of the board's system.
fn lines(examples: &[Example<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for example in examples {
        let name = &example.stream.name;
        lines.push(format!("wire {name}_clk = CLOCK;"));
        lines.push(format!("wire {name}_reset = RESET;"));
        let mut ports = vec![format!(".clk({name}_clk), .reset({name}_reset)")];
        for Port {
            name: port, width, ..
        } in &example.ports
        {
            lines.push(format!("wire {}{name}_{port};", Example::range(width)));
            ports.push(format!(".{port}({name}_{port})"));
        }
        lines.push(format!(
            "{} {name}_example ({});",
            example.module(),
            ports.join(", ")
        ));
    }
    lines.push("// In the port list of the system:".into());
    for example in examples {
        let name = &example.stream.name;
        lines.push(format!(".{name}_clk_clk({name}_clk),"));
        lines.push(format!(".{name}_reset_reset({name}_reset),"));
        for Port { name: port, .. } in &example.ports {
            lines.push(format!(".{name}_{port}({name}_{port}),"));
        }
    }
    lines
}

/// Returns the place in a Verilog file of the board where a system is instantiated, from the hardware directory.
fn instantiation(layout: &Layout, kind: &str) -> Result<Option<String>> {
    let hardware = layout.hardware_dir();
    for ending in ["v", "sv"] {
        for path in with_extension(&hardware, ending)? {
            let Some(line) = verilog::instantiation(&text::read(&path)?, kind) else {
                continue;
            };
            let name = path.strip_prefix(&hardware).unwrap_or(&path);
            return Ok(Some(format!("`{}`, line {line}", name.display())));
        }
    }
    Ok(None)
}

/// Adds the examples and the tasks for streams with ports of the top system, and the notes.
///
/// # Errors
/// [`ErrorKind::Io`] for a Verilog file that cannot be read; [`ErrorKind::Unsupported`] if the BSP has a file of the
/// examples' name.
pub(crate) fn step(layout: &Layout, site: &Site<'_>, config: &Config) -> Result<Step> {
    let mut step = Step::default();
    if config.streams.is_empty() {
        return Ok(step);
    }
    step.notes.push(
        "The streams were tried in simulations only: no Quartus has compiled them. Programs in Rust receive the blocks \
         of streams from the logic; streams to the logic have no software yet."
            .into(),
    );
    if config.streams.iter().any(Stream::is_channel) {
        step.notes.push(
            "Channels were made by documents: whether aoc connects them, and accepts a kernel that uses only some of \
             them, was not tried."
                .into(),
        );
    }
    let examples = Example::all(&config.streams);
    if examples.is_empty() {
        return Ok(step);
    }
    let path = layout.hardware_dir().join(EXAMPLES);
    if path.exists() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            Place::file(&path),
            "the examples of the streams would replace this file",
            "Rename it in the vendor's BSP.",
        ));
    }
    let top = systems(site).last().map_or("", |system| &system.kind);
    let place = instantiation(layout, top)?.unwrap_or_else(|| "the top module".into());
    let names: Vec<_> = examples.iter().map(|e| e.stream.name.as_str()).collect();
    step.to_do.push(format!(
        "`{top}.qsys` has ports for the streams {}. Connect them where the system is instantiated ({place}), by \
         the lines at the end of `{EXAMPLES}`: CLOCK is the clock of your logic there, RESET its reset, active high and \
         in that clock. Then name the file in the settings of each revision: `set_global_assignment -name VERILOG_FILE \
         {EXAMPLES}`. It has an example for each stream, to be replaced by your logic. A stream without a clock stays \
         closed, and the block works without it.",
        names.join(", ")
    ));
    step.added.push(Written {
        path: EXAMPLES.into(),
        text: render(&Examples {
            lines: lines(&examples),
            examples: &examples,
        }),
    });
    Ok(step)
}

/// Writes the report's section.
pub(crate) fn section(out: &mut String, streams: &[Stream]) -> std::fmt::Result {
    if streams.is_empty() {
        return Ok(());
    }
    writeln!(out, "## Streams\n")?;
    writeln!(
        out,
        "`docs/fpga/streams.md` of Peerlane explains signals, back-pressure and timing. The numbers are those that \
         software uses.\n\n| name | number | direction | bits | connection |\n| --- | --- | --- | --- | --- |"
    )?;
    for (number, stream) in numbered(streams) {
        let with = |on: bool, words: &'static str| if on { words } else { "" };
        writeln!(
            out,
            "| {} | {number} | {}{}{} | {} | {} |",
            stream.name,
            stream.direction.words(),
            with(stream.packets, ", in packets"),
            with(stream.lossy, ", lossy"),
            stream.bits,
            connection(stream)
        )?;
    }
    writeln!(out)?;
    let examples = Example::all(streams);
    if !examples.is_empty() {
        writeln!(
            out,
            "Lines for the top module, with the examples of `{EXAMPLES}`:\n\n```verilog"
        )?;
        for line in lines(&examples) {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "```\n")?;
    }
    Ok(())
}

/// Describes a stream's other end, for people.
pub(crate) fn connection(stream: &Stream) -> String {
    let name = &stream.name;
    match stream.is_channel() {
        false => format!("ports `{name}_*` of the top system"),
        true => format!("OpenCL channel: `{}`", declaration(stream)),
    }
}

/// Returns a kernel's declaration of a channel: a type of its width.
fn declaration(stream: &Stream) -> String {
    let kind = match stream.bits {
        64 => "ulong",
        128 => "ulong2",
        256 => "ulong4",
        _ => "ulong8",
    };
    let name = &stream.name;
    format!("channel {kind} {name} __attribute__((depth(4))) __attribute__((io(\"{name}\")));")
}
