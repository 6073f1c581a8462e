//! The streams of the FPGA's logic: each leads to where the configuration says. A channel has the kernels' clock.

use crate::Findings;
use crate::read::design::{Design, Instance, instance};
use crate::read::{Node, xml};
use crate::result::{Bsp, bad};
use peerlane_bsp_generate::build::Build;
use peerlane_bsp_generate::logic::{Connect, Direction, Stream};
use peerlane_bsp_platform::error::{Place, Result};

const TEST: &str = "streams";

/// Reports whether an end is the reset of a stream at the block, by its name.
pub(super) fn is_reset(end: &str) -> bool {
    let interface = end.split_once('.').map_or(end, |(_, interface)| interface);
    let kind = ["input", "output"].iter();
    let mut rest = kind.filter_map(|kind| interface.strip_prefix(kind)?.strip_suffix("_reset"));
    rest.any(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn check(bsp: &Bsp, build: &Build, findings: &mut Findings) -> Result<()> {
    let streams = &build.config.streams;
    if streams.is_empty() {
        return Ok(());
    }
    let before = findings.found();
    let specification = xml(&bsp.hardware.join("board_spec.xml"))?;
    for (design, block) in bsp.with_block() {
        let (mut inputs, mut outputs) = (0, 0);
        for stream in streams {
            let (kind, number) = match stream.direction {
                Direction::FromLogic => ("input", &mut inputs),
                Direction::ToLogic => ("output", &mut outputs),
            };
            let own = format!("{}.{kind}{number}", block.name);
            *number += 1;
            let one = One {
                bsp,
                design,
                block,
                stream,
                own,
            };
            match stream.connect {
                Connect::Export => one.exported(findings),
                Connect::Channel => one.channel(&specification, findings),
            }
        }
    }
    if findings.unchanged(before) {
        let names: Vec<_> = streams.iter().map(|stream| stream.name.as_str()).collect();
        let what = format!(
            "{} streams lead out of the block as configured: {}",
            names.len(),
            names.join(", ")
        );
        findings.good(TEST, what);
    }
    Ok(())
}

/// A stream in the system with the block.
struct One<'a> {
    bsp: &'a Bsp,
    design: &'a Design,
    block: &'a Instance,
    stream: &'a Stream,
    /// Its interface of words at the block.
    own: String,
}

impl One<'_> {
    fn bad(&self, design: &Design, line: usize, what: String, findings: &mut Findings) {
        bad(findings, TEST, design.place(line), what);
    }

    /// Checks that an interface is exported under a name.
    fn leads_out(&self, design: &Design, name: &str, inside: &str, findings: &mut Findings) {
        let export = design.outside.iter().find(|o| o.name == name);
        let (line, has) = match export {
            Some(export) if export.inside == inside => return,
            Some(export) => (export.line, export.inside.as_str()),
            None => (1, "missing"),
        };
        let what = format!("the export {name} of a stream is {has}; it must be {inside}");
        self.bad(design, line, what, findings);
    }

    /// Checks the exports up to the top.
    fn exported(&self, findings: &mut Findings) {
        for suffix in ["", "_clk", "_reset"] {
            let name = format!("{}{suffix}", self.stream.name);
            let inside = format!("{}{suffix}", self.own);
            self.leads_out(self.design, &name, &inside, findings);
            let mut inner = vec![self.design];
            let mut at = 0;
            while let Some(below) = inner.get(at).copied() {
                let kinds = self.bsp.designs.iter();
                let mut kind = kinds.filter(|(_, all)| all.iter().any(|d| d.path == below.path));
                let kind = kind.next().map_or("", |(kind, _)| kind.as_str());
                for outer in self.bsp.all() {
                    let is_known = inner.iter().any(|known| known.path == outer.path);
                    let mut all = outer.instances.iter();
                    let Some(module) = all.find(|i| i.kind == kind).filter(|_| !is_known) else {
                        continue;
                    };
                    let inside = format!("{}.{name}", module.name);
                    self.leads_out(outer, &name, &inside, findings);
                    inner.push(outer);
                }
                at += 1;
            }
        }
    }

    /// Checks the export, the clock, the reset and the line of `board_spec.xml` of a channel.
    fn channel(&self, specification: &Node, findings: &mut Findings) {
        let name = &self.stream.name;
        self.leads_out(self.design, name, &self.own, findings);
        let interfaces = specification.all("interfaces");
        let kernels = (interfaces.flat_map(|all| all.all("kernel_clk_reset"))).next();
        let of_kernels = |attribute: &str| {
            let (board, export) = kernels?.get(attribute)?.split_once('.')?;
            let mut all = self.design.outside.iter();
            Some((board, all.find(|o| o.name == export)?.inside.as_str()))
        };
        let (Some((board, clock)), Some((_, reset))) = (of_kernels("clk"), of_kernels("reset"))
        else {
            let what = format!("board_spec.xml names no clock and reset for the channel {name}");
            return self.bad(self.design, self.block.line, what, findings);
        };
        let passed = |end: &str, input: &str| format!("{}.{input}", instance(end));
        let has = self.design.clock(&format!("{}_clk", self.own));
        let want = ["clk_in", "in_clk"].map(|input| self.design.clock(&passed(clock, input)));
        if has.is_none() || !want.contains(&has) {
            let what = format!(
                "{}_clk has the clock of {}, not that of the kernels ({clock})",
                self.own,
                has.unwrap_or("nothing")
            );
            self.bad(self.design, self.block.line, what, findings);
        }
        let from = |sinks: &[String]| {
            let into = self.design.resets().filter(|w| sinks.contains(&w.to));
            let mut all: Vec<_> = into.map(|w| w.from.as_str()).collect();
            all.sort_unstable();
            all
        };
        let has = from(&[format!("{}_reset", self.own)]);
        let want = from(&["clk_in_reset", "in_reset"].map(|input| passed(reset, input)));
        if has.is_empty() || has != want {
            let what = format!(
                "{}_reset comes from {}, not from that of the kernels ({})",
                self.own,
                match has.as_slice() {
                    [] => "nothing".into(),
                    has => has.join(", "),
                },
                want.join(", ")
            );
            self.bad(self.design, self.block.line, what, findings);
        }
        let kind = match self.stream.direction {
            Direction::FromLogic => "streamsink",
            Direction::ToLogic => "streamsource",
        };
        let bits = self.stream.bits.to_string();
        let wanted = [
            ("name", board),
            ("port", name),
            ("type", kind),
            ("width", &bits),
        ];
        let all = specification.all("channels");
        let all: Vec<_> = (all.flat_map(|channels| channels.all("interface")))
            .filter(|line| line.get("chan_id") == Some(name))
            .collect();
        let path = self.bsp.hardware.join("board_spec.xml");
        let [line] = all.as_slice() else {
            let what = format!("{} channels are called {name}; one must be", all.len());
            return bad(findings, TEST, Place::file(&path), what);
        };
        for (attribute, want) in wanted {
            let has = line.get(attribute).unwrap_or_default();
            if has != want {
                let what =
                    format!("{attribute} of the channel {name} is {has:?}; it must be {want:?}");
                bad(findings, TEST, Place::line(&path, line.line), what);
            }
        }
    }
}
