//! The layout of the block diagram: the host's bus on the left, the block in the middle, memory on the right, the
//! OpenCL kernel's interface below. All lengths are in pixels.

mod interrupts;

use std::collections::{BTreeMap, BTreeSet};

use crate::diagram::{Diagram, Part, State, Wire};

/// The least width of a box, and the most letters of a name. The longest name determines the width of all boxes.
const LEAST: i32 = 166;
const LETTERS: usize = 40;
/// Average width of a letter of a name or a kind in tenths of a pixel, in the widest usual fonts (DejaVu Sans,
/// Verdana).
const NAME_LETTER: i32 = 80;
const KIND_LETTER: i32 = 67;
const HEIGHT: i32 = 42;
/// Distance between two columns.
const GAP: i32 = 120;
/// Distance from a row to the next.
const ROW: i32 = 64;
/// Distance from a port of the block to the next.
const PORT: i32 = 22;
/// Height of a name with its kind.
const NAME: i32 = 52;
/// Distance between a box and a line that comes from above.
const FRONT: i32 = 14;
/// Distance between the names of ports at one place.
const PORT_LINE: i32 = 11;
const LEFT: i32 = 20;
const TOP: i32 = 112;

/// A box.
pub(super) struct Shape {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) name: String,
    pub(super) kind: String,
    /// Part and state, for the style.
    pub(super) class: String,
    /// Colours of the clocks of both sides.
    pub(super) left: &'static str,
    pub(super) right: &'static str,
    pub(super) interrupts: String,
    /// Middle of its name.
    pub(super) middle: (i32, i32),
}

/// A word; its class says whether it begins or ends at the position.
pub(super) struct Word {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) text: String,
    pub(super) class: String,
}

/// A connection.
pub(super) struct Line {
    pub(super) path: String,
    pub(super) state: &'static str,
}

/// A clock in the legend.
pub(super) struct Colour {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) colour: &'static str,
    pub(super) clock: String,
}

/// The whole picture.
pub(super) struct Picture {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) shapes: Vec<Shape>,
    pub(super) lines: Vec<Line>,
    /// Lines from the sender of an interrupt to the receiver.
    pub(super) interrupts: Vec<Line>,
    pub(super) words: Vec<Word>,
    pub(super) colours: Vec<Colour>,
}

const COLOURS: [&str; 8] = [
    "#2563eb", "#d97706", "#7c3aed", "#0d9488", "#db2777", "#65a30d", "#475569", "#b91c1c",
];
const NO_CLOCK: &str = "#d1d5db";

fn colour(clock: Option<usize>) -> &'static str {
    clock.map_or(NO_CLOCK, |n| COLOURS[n % COLOURS.len()])
}

fn class(state: State) -> &'static str {
    match state {
        State::Same => "same",
        State::Changed => "changed",
        State::New => "new",
        State::Gone => "gone",
    }
}

fn instance(end: &str) -> &str {
    end.split('.').next().unwrap_or(end)
}

/// The content and the position of a box.
struct Node {
    name: String,
    kind: String,
    part: Part,
    clocks: (Option<usize>, Option<usize>),
    interrupts: Vec<String>,
    state: State,
    column: i32,
    row: i32,
    /// Whether only the kernel drives it, on the way to memory.
    port: bool,
}

impl Node {
    /// Returns the width of a box in which name and kind fit.
    fn width(&self) -> i32 {
        let letters = |word: &str| i32::try_from(word.chars().count()).unwrap_or(0);
        let name = letters(&cut(&self.name)) * NAME_LETTER / 10;
        let kind = letters(&shortened(&self.kind)) * KIND_LETTER / 10;
        // The clocks' colours are at both sides.
        LEAST.max(16 + name.max(kind))
    }
}

/// A connection between boxes, by their numbers.
struct Link<'a> {
    from: usize,
    to: usize,
    wire: &'a Wire,
}

struct Layout<'a> {
    nodes: Vec<Node>,
    links: Vec<Link<'a>>,
    host: usize,
    dma: usize,
    /// Ports of the block: inputs and outputs to memory.
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Width of all boxes.
    width: i32,
}

impl Picture {
    /// Lays a diagram out.
    pub(super) fn of(diagram: &Diagram) -> Self {
        let mut layout = Layout::of(diagram);
        layout.columns();
        layout.rows();
        layout.draw(diagram)
    }
}

impl<'a> Layout<'a> {
    fn of(diagram: &'a Diagram) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for i in &diagram.instances {
            nodes.push(Node {
                name: i.name.clone(),
                kind: i.kind.clone(),
                part: i.part,
                clocks: i.clocks,
                interrupts: i.interrupts.clone(),
                state: i.state,
                column: 0,
                row: 0,
                port: false,
            });
        }
        let find = |part| nodes.iter().position(|n| n.part == part).unwrap_or(0);
        let (host, dma) = (find(Part::Host), find(Part::Dma));
        let mut links = Vec::new();
        for wire in &diagram.wires {
            let by_name = |nodes: &[Node], end: &str| nodes.iter().position(|n| n.name == end);
            let (Some(from), Some(mut to)) = (
                by_name(&nodes, instance(&wire.start)),
                by_name(&nodes, instance(&wire.end)),
            ) else {
                continue;
            };
            // The hard IP's own registers are drawn like other slaves.
            if to == host && matches!(nodes[from].part, Part::Bridge | Part::Host) {
                to = by_name(&nodes, &wire.end).unwrap_or_else(|| {
                    nodes.push(Node {
                        name: wire.end.clone(),
                        kind: "registers of the hard IP".into(),
                        part: Part::Slave,
                        clocks: (nodes[host].clocks.0, nodes[host].clocks.0),
                        interrupts: Vec::new(),
                        state: State::Same,
                        column: 0,
                        row: 0,
                        port: false,
                    });
                    nodes.len() - 1
                });
            }
            links.push(Link { from, to, wire });
        }
        let ports = |wires: Vec<&String>| {
            let mut seen = BTreeSet::new();
            let ports = wires.into_iter().filter(|end| seen.insert((*end).clone()));
            ports.cloned().collect()
        };
        let into_dma = links.iter().filter(|l| l.to == dma);
        let mut into_dma: Vec<&Wire> = into_dma.map(|l| l.wire).collect();
        into_dma.sort_by_key(|w| (w.state == State::Gone, w.base));
        let out = links
            .iter()
            .filter(|l| l.from == dma && nodes[l.to].part == Part::Memory);
        Self {
            inputs: ports(into_dma.iter().map(|w| &w.end).collect()),
            outputs: ports(out.map(|l| &l.wire.start).collect()),
            width: nodes.iter().map(Node::width).max().unwrap_or(LEAST),
            nodes,
            links,
            host,
            dma,
        }
    }

    /// Assigns columns by the longest ways from the host to the block, and from the block to memory.
    fn columns(&mut self) {
        let parts: Vec<Part> = self.nodes.iter().map(|n| n.part).collect();
        let hosts = |p: Part| matches!(p, Part::Host | Part::Bridge);
        // One pass for each box: a circle of bridges ends, too.
        for _ in 0..self.nodes.len() {
            for link in &self.links {
                let (from, to) = (parts[link.from], parts[link.to]);
                let ours = hosts(from) && !matches!(to, Part::Memory | Part::Return | Part::Host);
                let least = self.nodes[link.from].column + 1;
                if ours && self.nodes[link.to].column < least {
                    let last = i32::try_from(self.nodes.len()).unwrap_or(i32::MAX);
                    self.nodes[link.to].column = least.min(last);
                }
            }
        }
        let bridges = self.nodes.iter().filter(|n| n.part == Part::Bridge);
        let deepest = bridges.map(|n| n.column).max().unwrap_or(0) + 1;
        let block = self.nodes[self.dma].column.max(deepest);
        self.nodes[self.dma].column = block;
        for _ in 0..self.nodes.len() {
            for link in &self.links {
                let (from, to) = (parts[link.from], parts[link.to]);
                let forth = matches!(from, Part::Dma | Part::Memory) && to == Part::Memory;
                let reached = self.nodes[link.from].column > 0;
                let least = self.nodes[link.from].column + 1;
                if forth && reached && self.nodes[link.to].column < least {
                    let last = block + i32::try_from(self.nodes.len()).unwrap_or(0);
                    self.nodes[link.to].column = least.min(last);
                }
                // Back to the host, one column each.
                let back = matches!(from, Part::Dma | Part::Return) && to == Part::Return;
                if back && self.nodes[link.to].column == 0 {
                    self.nodes[link.to].column = (self.nodes[link.from].column - 1).max(1);
                }
            }
        }
        // A box that only the kernel drives is in the column before its slaves.
        for _ in 0..self.nodes.len() {
            for (at, part) in parts.iter().enumerate() {
                if *part == Part::Memory && self.nodes[at].column == 0 {
                    let links = self.links.iter().filter(|l| l.from == at);
                    let next = links.map(|l| self.nodes[l.to].column).filter(|c| *c > 0);
                    if let Some(next) = next.min() {
                        self.nodes[at].column = (next - 1).max(1);
                        self.nodes[at].part = Part::Kernel;
                        self.nodes[at].port = true;
                    }
                }
            }
        }
    }

    /// Returns the rows that the block takes.
    fn block_rows(&self) -> i32 {
        let ports = self.inputs.len().max(self.outputs.len()).max(1);
        let ports = i32::try_from(ports).unwrap_or(0);
        // The name is below the ports.
        1 + (ports * PORT + NAME).div_euclid(ROW) + 1
    }

    fn rows(&mut self) {
        let block = self.nodes[self.dma].column;
        let below = self.block_rows();
        // Columns that connections to the block cross.
        let passed: BTreeSet<i32> = (self.links.iter())
            .filter(|l| l.to == self.dma && self.nodes[l.from].column < block)
            .flat_map(|l| self.nodes[l.from].column + 1..block)
            .collect();
        let mut next: BTreeMap<i32, i32> = BTreeMap::new();
        let first = |column: i32| match column {
            c if c == block || passed.contains(&c) => below,
            _ => 1,
        };
        let leads = |nodes: &[Node], links: &[Link<'_>], at: usize| {
            links.iter().any(|l| {
                l.from == at && (nodes[l.to].part == Part::Dma || nodes[l.to].part == Part::Bridge)
            })
        };
        let mut order: Vec<usize> = (0..self.nodes.len())
            .filter(|&n| n != self.host && n != self.dma)
            .collect();
        let base = |links: &[Link<'_>], at: usize| {
            let ours = links.iter().filter(|l| l.to == at);
            let key = |l: &Link<'_>| {
                let wire = l.wire;
                (wire.state == State::Gone, wire.base, wire.start.clone())
            };
            ours.map(key).min()
        };
        order.sort_by_key(|&n| {
            let node = &self.nodes[n];
            let leads = !leads(&self.nodes, &self.links, n);
            (
                node.column,
                node.part == Part::Kernel,
                leads,
                base(&self.links, n),
            )
        });
        let mut lowest = 1;
        let mut ports = Vec::new();
        for at in order {
            let (column, part) = (self.nodes[at].column, self.nodes[at].part);
            if part == Part::Return {
                self.nodes[at].row = 0;
            } else if self.nodes[at].port {
                ports.push(at);
            } else {
                // In the row of its masters, if there is room.
                let parents = self
                    .links
                    .iter()
                    .filter(|l| l.to == at && part == Part::Memory);
                let parents = parents.map(|l| self.nodes[l.from].row);
                let row =
                    (*next.get(&column).unwrap_or(&first(column))).max(parents.min().unwrap_or(1));
                self.nodes[at].row = row;
                next.insert(column, row + 1);
                if part == Part::Memory {
                    lowest = lowest.max(row);
                }
            }
        }
        // The boxes between the kernel and memory are below all memory. Those that the host drives as well are also
        // below the block, because their connection passes there.
        for at in ports {
            let column = self.nodes[at].column;
            let mut into = self.links.iter().filter(|l| l.to == at);
            let hosts = into.any(|l| matches!(self.nodes[l.from].part, Part::Host | Part::Bridge));
            let least = if hosts { below } else { 1 };
            let free = *next.get(&column).unwrap_or(&first(column));
            let row = free.max(lowest + 1).max(least);
            self.nodes[at].row = row;
            next.insert(column, row + 1);
        }
    }

    fn left_of(&self, at: usize) -> i32 {
        LEFT + self.nodes[at].column * (self.width + GAP)
    }

    fn top_of(&self, at: usize) -> i32 {
        match at == self.host || at == self.dma {
            true => TOP - 34,
            false => TOP + self.nodes[at].row * ROW,
        }
    }

    fn height_of(&self, at: usize) -> i32 {
        match at == self.host || at == self.dma {
            true => 34 + self.block_rows() * ROW - (ROW - HEIGHT),
            false => HEIGHT,
        }
    }

    /// Returns the height of a port of the block.
    fn port(&self, ports: &[String], end: &str) -> i32 {
        let at = ports.iter().position(|p| p == end).unwrap_or(0);
        TOP + ROW + HEIGHT / 2 + i32::try_from(at).unwrap_or(0) * PORT
    }

    /// Returns where a connection starts and ends.
    fn ends(&self, link: &Link<'_>) -> ((i32, i32), (i32, i32)) {
        let back = link.to == self.host || self.nodes[link.to].part == Part::Return;
        let side = |at: usize, right: bool| self.left_of(at) + if right { self.width } else { 0 };
        let middle = |at: usize| self.top_of(at) + self.height_of(at) / 2;
        // Straight to the host: above the bridges that lead there.
        let lane = match link.from == self.dma && link.to == self.host {
            true => TOP - 16,
            false => TOP + HEIGHT / 2,
        };
        let from = match link.from {
            at if at == self.dma && back => lane,
            at if at == self.dma => self.port(&self.outputs, &link.wire.start),
            at if at == self.host => TOP + ROW + HEIGHT / 2,
            at => middle(at),
        };
        let to = match link.to {
            at if at == self.dma => self.port(&self.inputs, &link.wire.end),
            at if at == self.host => lane,
            at => middle(at),
        };
        ((side(link.from, !back), from), (side(link.to, back), to))
    }

    /// Reports whether a connection leads to the next column.
    fn is_near(&self, link: &Link<'_>) -> bool {
        (self.nodes[link.to].column - self.nodes[link.from].column).abs() <= 1
    }

    fn line(&self, link: &Link<'_>) -> Line {
        let ((x, y), (to_x, to_y)) = self.ends(link);
        let state = class(link.wire.state);
        let straight = y == to_y;
        let near = self.is_near(link);
        let step = 12 + 5 * (self.nodes[link.from].row.rem_euclid(5));
        let away = if to_x > x { step } else { -step };
        let path = if straight && (near || link.to == self.host) {
            format!("M{x},{y} H{to_x}")
        } else if near || link.to == self.dma || link.to == self.host {
            format!("M{x},{y} H{} V{to_y} H{to_x}", x + away)
        } else {
            // Between the rows, past the boxes on the way.
            let lane = self.top_of(link.to) - (ROW - HEIGHT) / 2;
            let in_front = to_x - FRONT * away.signum();
            format!("M{x},{y} H{} V{lane} H{in_front} V{to_y} H{to_x}", x + away)
        };
        Line { path, state }
    }

    fn draw(&self, diagram: &Diagram) -> Picture {
        let mut words = Vec::new();
        self.addresses(&mut words);
        self.ports(&mut words);
        let shapes: Vec<Shape> = (0..self.nodes.len()).map(|at| self.shape(at)).collect();
        let right = shapes.iter().map(|s| s.x + s.width).max().unwrap_or(0) + LEFT;
        let bottom = shapes.iter().map(|s| s.y + s.height).max().unwrap_or(0);
        let used: BTreeSet<usize> = (self.nodes.iter())
            .flat_map(|n| [n.clocks.0, n.clocks.1])
            .flatten()
            .collect();
        let mut colours = Vec::new();
        let (mut x, mut y) = (LEFT, bottom + 40);
        for at in used {
            let clock = diagram.clocks[at].source.clone();
            let width = 40 + 7 * i32::try_from(clock.len()).unwrap_or(0);
            if x + width > right && x > LEFT {
                (x, y) = (LEFT, y + 22);
            }
            colours.push(Colour {
                x,
                y,
                colour: colour(Some(at)),
                clock,
            });
            x += width;
        }
        // Removed connections are drawn first, so new ones cover them.
        let mut links: Vec<&Link<'_>> = self.links.iter().collect();
        links.sort_by_key(|l| match l.wire.state {
            State::Gone => 0,
            State::Same => 1,
            State::Changed => 2,
            State::New => 3,
        });
        Picture {
            width: right,
            height: y + 24,
            lines: links.into_iter().map(|link| self.line(link)).collect(),
            interrupts: self.interrupts(diagram),
            shapes,
            words,
            colours,
        }
    }

    fn shape(&self, at: usize) -> Shape {
        let node = &self.nodes[at];
        let (x, y, height) = (self.left_of(at), self.top_of(at), self.height_of(at));
        let part = match node.part {
            Part::Dma => "dma",
            Part::Host => "host",
            Part::Memory => "memory",
            Part::Kernel => "kernel",
            Part::Bridge | Part::Return | Part::Slave => "other",
        };
        let tall = at == self.host || at == self.dma;
        let interrupts = match node.interrupts.as_slice() {
            [] => String::new(),
            numbers => format!("irq {}", numbers.join(", ")),
        };
        Shape {
            x,
            y,
            width: self.width,
            height,
            name: cut(&node.name),
            kind: shortened(&node.kind),
            class: format!("{part} {}", class(node.state)),
            left: colour(node.clocks.0),
            right: colour(node.clocks.1),
            interrupts,
            middle: match tall {
                true => (x + self.width / 2, y + height - 26),
                false => (x + self.width / 2, y + 17),
            },
        }
    }

    /// Adds the addresses, in front of the ends of connections.
    fn addresses(&self, words: &mut Vec<Word>) {
        for link in &self.links {
            let mut others = self.links.iter();
            let newer = |l: &Link<'_>| l.wire.end == link.wire.end && l.wire.state != State::Gone;
            if link.wire.state == State::Gone && others.any(newer) {
                continue;
            }
            let siblings = self
                .links
                .iter()
                .filter(|l| l.wire.start == link.wire.start);
            if link.wire.base == 0 && siblings.count() == 1 {
                continue;
            }
            let (_, (x, y)) = self.ends(link);
            let back = link.to == self.host || self.nodes[link.to].part == Part::Return;
            let (x, side) = match back {
                true => (x + 10, "start"),
                // Next to the line that comes from above, past other boxes.
                false if !self.is_near(link) && link.to != self.dma => (x - FRONT - 4, "end"),
                false => (x - 8, "end"),
            };
            words.push(Word {
                x,
                y: y - 4,
                text: format!("{:#x}", link.wire.base),
                class: format!("address {side} {}", class(link.wire.state)),
            });
        }
    }

    /// Adds the names of the block's and the hard IP's ports, inside the boxes.
    fn ports(&self, words: &mut Vec<Word>) {
        let mut seen = BTreeSet::new();
        // Removed ports may be at the places of new ones.
        let mut above: BTreeMap<(i32, i32), i32> = BTreeMap::new();
        for link in &self.links {
            let ((x, y), (to_x, to_y)) = self.ends(link);
            let tall = |at: usize| at == self.host || at == self.dma;
            let back = link.to == self.host || self.nodes[link.to].part == Part::Return;
            let ends = [
                (link.from, x, y, &link.wire.start, back),
                (link.to, to_x, to_y, &link.wire.end, !back),
            ];
            for (at, x, y, end, starts) in ends {
                let port = end.split('.').nth(1).unwrap_or_default();
                if tall(at) && seen.insert((x, y, port.to_string())) {
                    let (x, side) = match starts {
                        true => (x + 10, "start"),
                        false => (x - 10, "end"),
                    };
                    let state = match link.wire.state {
                        State::Gone if at == self.dma && self.is_gone(end) => "gone",
                        State::New if at == self.dma && self.is_new(end) => "new",
                        _ => "same",
                    };
                    let others = above.entry((x, y)).or_default();
                    let y = y + 4 - PORT_LINE * *others;
                    *others += 1;
                    words.push(Word {
                        x,
                        y,
                        text: port.into(),
                        class: format!("port {side} {state}"),
                    });
                }
            }
        }
    }

    fn of_port(&self, end: &str) -> impl Iterator<Item = State> {
        let ours = self.links.iter().map(|l| l.wire);
        ours.filter(move |w| w.start == end || w.end == end)
            .map(|w| w.state)
    }

    fn is_gone(&self, end: &str) -> bool {
        self.of_port(end).all(|state| state == State::Gone)
    }

    fn is_new(&self, end: &str) -> bool {
        self.of_port(end).all(|state| state == State::New)
    }
}

/// Returns a kind, cut so that it fits into a box.
fn shortened(kind: &str) -> String {
    let kind = match kind {
        "altera_avalon_mm_clock_crossing_bridge" => "clock crossing bridge",
        "altera_avalon_mm_bridge" => "bridge",
        kind => kind,
    };
    cut(kind)
}

/// Returns a word, cut so that it fits into a box.
fn cut(word: &str) -> String {
    match word.char_indices().nth(LETTERS) {
        Some((at, _)) => format!("{}…", &word[..at]),
        None => word.into(),
    }
}
