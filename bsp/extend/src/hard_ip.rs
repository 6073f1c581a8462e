//! Replaces the hard IP with Avalon-MM ports by the one with an Avalon-ST interface: its parameters.
//!
//! The table ([`hip_parameters`](peerlane_bsp_generate::hip_parameters)) knows every parameter of the Avalon-MM variant
//! in Quartus 13.0 to 18.1. An unknown parameter is left out if its value switches nothing on. With any other value it
//! is refused, because its effect on the hardware is not known.

use peerlane_bsp_design::kinds::OWN_HIP;
use peerlane_bsp_design::qsys::{Module, System, number};
use peerlane_bsp_generate::config::Config;
use peerlane_bsp_generate::hip_parameters::{BUFFER, Fate, fate};
use peerlane_bsp_platform::error::{Error, ErrorKind, Place, Problems, Result};
use peerlane_bsp_platform::hint::Hint;
use peerlane_bsp_platform::key::Key;
use peerlane_bsp_platform::text::either;
use peerlane_bsp_platform::xml::Element;

/// Kinds of the hard IP that are replaced: that of Stratix V, and that of Arria V GZ, which has the same parameters,
/// interfaces and Verilog under its own name (component descriptions of ACDS 13.1).
pub const FROM: [&str; 2] = ["altera_pcie_sv_hip_avmm", "altera_pcie_avgz_hip_avmm"];

/// The top module of the new component, which is also the entity of the instance.
pub const ENTITY: &str = "altpcie_sv_hip_ast_hwtcl";

/// The largest BAR of the block, log2: its own slaves lie below 2 GiB.
const MOST_BITS: u64 = 31;
/// BARs of a function.
const BARS: u32 = 6;

/// Requirements on the new hard IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The BAR by which the host reaches the board.
    pub bar: u32,
    /// Bytes of that BAR, log2: enough for the board's slaves and the block's.
    pub bar_log2: u64,
    /// Another generation of PCIe: 1 to 3.
    pub generation: Option<u32>,
    /// Another width of the stream in bits.
    pub port_bits: Option<u32>,
}

/// A parameter with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Reason for this value, or for its removal; empty for an unchanged value.
    pub why: &'static str,
}

impl Value {
    /// Makes a parameter with a value and its reason.
    pub fn new(name: impl Into<String>, value: impl Into<String>, why: &'static str) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            why,
        }
    }
}

/// The new hard IP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HardIp {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// All parameters to write: unchanged ones in the file's order, then those that are set.
    pub parameters: Vec<Value>,
    /// Parameters of the old one that it does not have.
    pub dropped: Vec<Value>,
    /// Parameters of the old one that no known description has; their values switch nothing on.
    pub unknown: Vec<String>,
    /// Width of the stream in bits.
    pub port_bits: u32,
    /// Its clock in MHz, before and after.
    pub clock: (u32, u32),
    /// Bytes of the host's BAR, log2.
    pub bar_log2: u32,
    /// The generation of PCIe, before and after.
    pub generation: (u32, u32),
    /// Interfaces of the transceivers' reconfiguration, before and after.
    pub reconfiguration: (u32, u32),
    /// Whether the FPGA's configuration over PCIe is lost.
    pub loses_cvp: bool,
    /// Whether it has the soft reset controller instead of the hard one.
    pub soft_reset: bool,
}

/// The parameter of Peerlane's own component that replaces `in_cvp_mode_hwtcl`.
pub const OWN_CVP: &str = "CONFIGURATION_OVER_PCIE";
/// The parameter for the FPGA's configuration over PCIe.
const CVP: &str = "in_cvp_mode_hwtcl";

/// Widths in bits, each with its clock in MHz.
type Widths = &'static [(u32, u32)];

/// Widths of the interface with their clocks, by lanes and generation. Widths that the block does not have are left out
/// (parameter validation of `altera_pcie_sv_hip_ast`, ACDS 13.1; Stratix V Avalon-ST Interface for PCIe 683093).
const LINKS: [(&str, u32, Widths); 5] = [
    ("x8", 1, &[(128, 125)]),
    ("x8", 2, &[(128, 250), (256, 125)]),
    ("x4", 2, &[(128, 125)]),
    ("x4", 3, &[(128, 250), (256, 125)]),
    ("x8", 3, &[(256, 250)]),
];

/// Rates as the hard IP names them, Gen1 first.
const RATES: [&str; 3] = ["Gen1 (2.5 Gbps)", "Gen2 (5.0 Gbps)", "Gen3 (8.0 Gbps)"];

/// The parameter that has the rate.
const RATE_NAME: &str = "gen123_lane_rate_mode_hwtcl";

/// Returns the lanes of a hard IP, as it names them.
fn lanes(hip: &Module) -> &str {
    hip.parameter("lane_mask_hwtcl").unwrap_or("x4").trim()
}

fn rate(hip: &Module) -> &str {
    hip.parameter(RATE_NAME).unwrap_or(RATES[0]).trim()
}

/// Returns the generation of PCIe of a hard IP; `None` for an unknown rate.
fn generation(hip: &Module) -> Option<u32> {
    let at = RATES.iter().position(|known| *known == rate(hip))?;
    Some(at as u32 + 1)
}

/// Returns the place of a parameter, or of the instance if the parameter is missing.
pub(super) fn place_of(system: &System, hip: &Module, name: &str) -> Place {
    let mut all = hip.element.children("parameter");
    all.find(|element| element.attribute("name") == Some(name))
        .map_or_else(
            || system.place(hip),
            |element| system.document.place(element),
        )
}

/// Returns the hint for a port `Txs` of another width than 128 bits. The Gen1 and Gen2 links with 128 bits at `Txs` are
/// those that have this width at the TLP port, too (Stratix V Avalon-MM user guide 683411, "System Settings": the HIP
/// modes).
pub(super) fn to_128_bits(hip: &Module) -> String {
    const WHY: &str = "The block drives Txs with 128 bits. A width adapter between them would break the rules of Txs \
                       for byte enables, so Peerlane adds no adapter.";
    let links = LINKS.iter().filter(|(_, generation, widths)| {
        *generation < 3 && widths.iter().any(|(bits, _)| *bits == 128)
    });
    let is_this =
        |link: &&(&str, u32, Widths)| link.0 == lanes(hip) && Some(link.1) == generation(hip);
    if links.clone().any(|link| is_this(&link)) {
        return format!(
            "{WHY} Set avmm_width_hwtcl to 128 in Platform Designer, which this link permits: everything in the hard \
             IP's clock domain then has the clock of the new width."
        );
    }
    let links: Vec<_> = links
        .map(|(lanes, generation, _)| format!("Gen{generation} {lanes}"))
        .collect();
    format!(
        "{WHY} If the device and the board allow one of these links, set the hard IP to it and avmm_width_hwtcl to \
         128, in Platform Designer: {}. A board that has none of them cannot be extended by this version.",
        links.join(", ")
    )
}

/// Parameters that are always written, with the default of the Avalon-MM variant.
const DEFAULTS: [(&str, &str); 9] = [
    ("lane_mask_hwtcl", "x4"),
    ("max_payload_size_hwtcl", "128"),
    ("rxbuffer_rxreq_hwtcl", "Low"),
    ("vendor_id_hwtcl", "0"),
    ("device_id_hwtcl", "1"),
    ("revision_id_hwtcl", "1"),
    ("class_code_hwtcl", "0"),
    ("subsystem_vendor_id_hwtcl", "0"),
    ("subsystem_device_id_hwtcl", "0"),
];

/// Returns the value that a parameter has after the extension if the vendor's file does not set it.
pub(super) fn default(name: &str) -> Option<&'static str> {
    let mut all = DEFAULTS.iter();
    all.find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

/// Forces the hard reset controller.
const HARD_RESET: &str = "force_hrc";
const SOFT_RESET: &str = "at Gen3 Quartus uses the soft reset controller; the hard one is forced only for \
                          configuration over PCIe, which Gen3 does not have";
const CVP_NAME: &str = "Peerlane's component of the hard IP calls it CONFIGURATION_OVER_PCIE";
const CVP_LOST: &str = "there is no configuration over PCIe at Gen3";
const DEFAULT: &str = "it is the default of the Avalon-MM variant, on which the file relied";
const TAGS: &str = "the block has up to 56 reads and 8 flushes in progress, each with a tag";
const WIDTH: &str = "it is the width of the block's port";
const SPECIFICATION: &str = "it depends on the generation";
const TIMEOUT: &str = "with an Avalon-ST interface the block has the timeout, which is fixed: the function must not \
                       offer other timeouts";
const CREDITS: &str = "the block counts credits from the number that the hard IP has used";
const RATE: &str = "it is the generation of the configuration's port.gen, or the vendor's";
const SIZE: &str =
    "Platform Designer derived the size from the slaves on Rxm_BAR, which does not exist any more";
const ONE_BAR: &str = "the block serves one BAR";
const UNKNOWN: &str =
    "no description that Peerlane knows has it, and its value switches nothing on";

/// Returns the settings that the receive buffer of a hard IP needs if its ports stay: name, value, and the reason.
pub fn receive_buffer(hip: &Module) -> Vec<(&'static str, &'static str, &'static str)> {
    if !FROM.contains(&hip.kind.as_str()) {
        // The bridge of Arria V and Cyclone V waits for buffer space by itself (RTL that Quartus 17.0 generates for
        // `altera_pcie_cv_hip_avmm`).
        return Vec::new();
    }
    let setting = |name: &'static str| {
        let value = hip.parameter(name)?.trim();
        match fate(name)? {
            Fate::KeepOr(possible, otherwise, why) if !is_one_of(possible, value) => {
                Some((name, otherwise, why))
            }
            _ => None,
        }
    };
    BUFFER.into_iter().filter_map(setting).collect()
}

/// Refuses a hard IP without a known TLP port.
///
/// # Errors
/// [`ErrorKind::Unsupported`] with its place.
pub fn is_known(system: &System, hip: &Module) -> Result<()> {
    if FROM.contains(&hip.kind.as_str()) {
        return Ok(());
    }
    let what = format!(
        "{} is a {}, but Peerlane knows a TLP port of {} only, the hard IP of Stratix V and Arria V GZ",
        hip.name,
        hip.kind,
        either(&FROM)
    );
    Err(Old { system, hip }.refuse(system.place(hip), what, Hint::without_tlp("")))
}

/// Returns the hard IP with an Avalon-ST interface that replaces one with Avalon-MM ports, which [`is_known`].
///
/// Returns `None` if something prevents that. All reasons are added to the problems: [`ErrorKind::Unsupported`] with
/// the place, for an unknown parameter and for a value that the other variant or the block cannot have;
/// [`ErrorKind::Config`] for a requested link or width that does not exist.
pub fn streaming(
    system: &System,
    hip: &Module,
    wanted: Wanted,
    problems: &mut Problems,
) -> Option<HardIp> {
    let old = Old { system, hip };
    let before = problems.count();
    let mut parameters = Vec::new();
    let mut dropped = Vec::new();
    let mut unknown = Vec::new();
    for element in hip.element.children("parameter") {
        let name = element.attribute("name").unwrap_or_default();
        let value = element.attribute("value").unwrap_or(&element.text).trim();
        match fate(name) {
            None if old.is_off(name, value) => {
                unknown.push(format!("{name} = {value}"));
                dropped.push(Value::new(name, value, UNKNOWN));
            }
            None => problems.add(old.unknown(element, name)),
            Some(Fate::Keep) => parameters.push(Value::new(name, value, "")),
            Some(Fate::KeepOnly(possible, why)) => match is_one_of(possible, value) {
                true => parameters.push(Value::new(name, value, "")),
                false => problems.add(old.value(element, possible, why)),
            },
            Some(Fate::KeepOr(possible, otherwise, why)) => {
                parameters.push(match is_one_of(possible, value) {
                    true => Value::new(name, value, ""),
                    false => Value::new(name, otherwise, why),
                });
            }
            Some(Fate::Decided) => {}
            Some(Fate::Drop(why)) => dropped.push(Value::new(name, value, why)),
            Some(Fate::DropOnly(only, why)) => match same(only, value) {
                true => dropped.push(Value::new(name, value, why_dropped(only))),
                false => problems.add(old.value(element, &[only], why)),
            },
        }
    }
    for (name, value) in DEFAULTS {
        if hip.parameter(name).is_none() {
            parameters.push(Value::new(name, value, DEFAULT));
        }
    }
    let link = problems.take(old.link(wanted));
    let bars = old.bars(wanted, problems);
    let (Some(link), true) = (link, problems.count() == before) else {
        return None;
    };
    if link.generation.1 == 3 {
        let forced = |one: &&mut Value| one.name == HARD_RESET && !same("0", &one.value);
        for one in parameters.iter_mut().filter(forced) {
            *one = Value::new(HARD_RESET, "0", SOFT_RESET);
        }
    }
    let cvp = hip.parameter(CVP).is_some_and(|on| same("1", on.trim()));
    // Gen3 does not have it (Configuration via Protocol in V-series FPGA devices user guide 683889, 1.3).
    let keeps_cvp = cvp && link.generation.1 < 3;
    let why = if cvp && !keeps_cvp {
        CVP_LOST
    } else {
        CVP_NAME
    };
    let on = u32::from(keeps_cvp).to_string();
    parameters.push(Value::new(OWN_CVP, on, why));
    let was = hip.parameter(CVP);
    dropped.extend(was.map(|was| Value::new(CVP, was.trim(), why)));
    let (before, generation) = link.generation;
    let specification = if generation == 3 { "3.0" } else { "2.1" };
    parameters.extend([
        Value::new(
            "gen123_lane_rate_mode_hwtcl",
            RATES[generation as usize - 1],
            RATE,
        ),
        Value::new("pcie_spec_version_hwtcl", specification, SPECIFICATION),
        Value::new(
            "ast_width_hwtcl",
            format!("Avalon-ST {}-bit", link.port_bits),
            WIDTH,
        ),
        Value::new("extend_tag_field_hwtcl", "64", TAGS),
        // One of the values of ACDS 13.1 (pcie_sv_parameters.tcl). It must still say that the timeout can be disabled:
        // Quartus refuses an endpoint that does not.
        Value::new("completion_timeout_hwtcl", "NONE", TIMEOUT),
        Value::new("use_tx_cons_cred_sel_hwtcl", "1", CREDITS),
    ]);
    parameters.extend(bars);
    let soft_reset = has_soft_reset(&parameters, generation);
    let lanes = old.lanes();
    Some(HardIp {
        name: hip.name.clone(),
        kind: OWN_HIP,
        parameters,
        dropped,
        unknown,
        port_bits: link.port_bits,
        clock: link.clock,
        // At most 31: larger BARs were refused above.
        bar_log2: old.bits(wanted) as u32,
        generation: link.generation,
        reconfiguration: (
            reconfiguration(lanes, before),
            reconfiguration(lanes, generation),
        ),
        loses_cvp: cvp && !keeps_cvp,
        soft_reset,
    })
}

/// Reports whether a value is one of several.
fn is_one_of(possible: &[&str], value: &str) -> bool {
    possible.iter().any(|one| same(one, value))
}

/// Reports whether Quartus takes the soft reset controller (`update_default_value_hidden_parameter_common`, ACDS 13.1).
fn has_soft_reset(parameters: &[Value], generation: u32) -> bool {
    let on = |name: &str| {
        let mut all = parameters.iter();
        all.any(|one| one.name == name && same("1", &one.value))
    };
    match () {
        () if on("use_atx_pll_hwtcl") => true,
        () if on(HARD_RESET) => false,
        () if on("force_src") => true,
        () => generation > 1,
    }
}

/// Returns the number of reconfiguration interfaces of the transceivers: one for each lane and one for each transmit
/// PLL. Gen3 has one PLL more (parameter validation of ACDS 13.1).
fn reconfiguration(lanes: &str, generation: u32) -> u32 {
    let lanes: u32 = lanes.trim_start_matches('x').parse().unwrap_or(8);
    let plls = match (lanes, generation) {
        (8, 1 | 2) => 2,
        (8, _) => 3,
        (_, 1 | 2) => 1,
        _ => 2,
    };
    lanes + plls
}

/// Returns the reason why a parameter with its only possible value is not needed any more.
fn why_dropped(only: &str) -> &'static str {
    match only {
        "0" => "no bridge would add it to the host's addresses",
        _ => "the transaction layer is always in use",
    }
}

/// Reports whether two values are the same, in any spelling of a number.
fn same(a: &str, b: &str) -> bool {
    match (plain(a), plain(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Reads a number as Platform Designer or, in old versions, Verilog writes it.
fn plain(text: &str) -> Option<u64> {
    match text.split_once("'h") {
        Some((_, digits)) => u64::from_str_radix(digits, 16).ok(),
        None => number(text),
    }
}

/// The new link.
struct Link {
    /// Before and after.
    generation: (u32, u32),
    port_bits: u32,
    clock: (u32, u32),
}

/// The hard IP to replace.
struct Old<'a> {
    system: &'a System,
    hip: &'a Module,
}

impl Old<'_> {
    fn refuse(&self, place: Place, what: String, hint: impl Into<Hint>) -> Error {
        Error::new(ErrorKind::Unsupported, place, what, hint).of_a_value()
    }

    /// Makes the error for a parameter that the table does not have.
    fn unknown(&self, element: &Element, name: &str) -> Error {
        self.refuse(
            self.system.document.place(element),
            format!(
                "{} has the parameter {name} with a value that may switch something on, but the hard IP of Quartus \
                 13.0 to 18.1 does not have it: its effect in {OWN_HIP} is not known",
                self.hip.name
            ),
            Hint::without_tlp(
                "Report it to Peerlane's project, with the version of Quartus. Until a new version knows it, ",
            ),
        )
    }

    /// Reports whether an unknown parameter switches nothing on: by its value, or because advanced parameters have no
    /// effect unless they are enabled (`update_default_value_hidden_parameter_common`, ACDS 13.1).
    fn is_off(&self, name: &str, value: &str) -> bool {
        const WORDS: [&str; 5] = ["", "false", "disable", "disabled", "none"];
        let off = |part: &str| {
            let part = part.trim();
            part.parse::<f64>() == Ok(0.0)
                || same("0", part)
                || WORDS.iter().any(|word| word.eq_ignore_ascii_case(part))
        };
        let counts = self.hip.number("advanced_default_parameter_override");
        value.split(',').all(off)
            || name.starts_with("advanced_default_hwtcl_") && counts.unwrap_or(0) == 0
    }

    /// Makes the error for a value that is not possible.
    fn value(&self, element: &Element, possible: &[&str], why: &str) -> Error {
        let name = element.attribute("name").unwrap_or_default();
        let value = element.attribute("value").unwrap_or(&element.text).trim();
        self.refuse(
            self.system.document.place(element),
            format!(
                "{name} of {} is {value}, which a TLP port cannot have: {why}",
                self.hip.name
            ),
            Hint::without_tlp(format!(
                "Set it to {} in Platform Designer, or ",
                either(possible)
            )),
        )
    }

    fn place(&self, name: &str) -> Place {
        place_of(self.system, self.hip, name)
    }

    /// Returns its lanes, as it names them.
    fn lanes(&self) -> &str {
        lanes(self.hip)
    }

    /// Returns the link, its width and its clock.
    fn link(&self, wanted: Wanted) -> Result<Link> {
        let lanes = self.lanes();
        let Some(before) = generation(self.hip) else {
            return Err(self.refuse(
                self.place(RATE_NAME),
                format!(
                    "{RATE_NAME} of {} is {}, which is not a rate of PCIe",
                    self.hip.name,
                    rate(self.hip)
                ),
                format!("Set it to {} in Platform Designer.", either(&RATES)),
            ));
        };
        let width = self.hip.number("avmm_width_hwtcl").unwrap_or(64);
        let clock = |generation, bits| {
            let widths = widths(lanes, generation)?;
            widths.iter().find(|(width, _)| u64::from(*width) == bits)
        };
        // Bits that a lane carries in a microsecond (683093, table of coreclkout_hip).
        let lane = [2000, 4000, 8000][before as usize - 1];
        let count: u64 = lanes.trim_start_matches('x').parse().unwrap_or(0);
        let clock_before = u32::try_from(count * lane / width.max(1)).unwrap_or(0);
        let generation = wanted.generation.unwrap_or(before);
        let says_more = wanted.generation.is_some() || wanted.port_bits.is_some();
        if clock(before, width).is_none() && !says_more {
            return Err(self.width(width, (lanes, before)));
        }
        let asked = |key, what: String, hint: String| {
            let place = self.system.place(self.hip);
            Err(Error::new(ErrorKind::Config, place, what, hint).of_key(key))
        };
        if generation != before && generation != 3 {
            return asked(
                Key::Generation,
                format!(
                    "port.gen = {generation}, but {} is Gen{before}",
                    self.hip.name
                ),
                format!(
                    "Use {before}, as it is, or 3, or leave port.gen out of the configuration."
                ),
            );
        }
        let Some(possible) = widths(lanes, generation) else {
            if wanted.generation.is_none() {
                return Err(self.width(width, (lanes, before)));
            }
            return asked(
                Key::Generation,
                format!(
                    "port.gen = {generation}, but {} has {lanes} lanes, for which there is no TLP port of 128 or 256 \
                     bits",
                    self.hip.name
                ),
                "Leave port.gen out of the configuration.".into(),
            );
        };
        let found = match wanted.port_bits {
            Some(bits) => possible.iter().find(|(width, _)| *width == bits),
            None => clock(generation, width).or(possible.first()),
        };
        let Some((port_bits, clock_after)) = found else {
            let widths: Vec<String> = possible
                .iter()
                .map(|(width, _)| width.to_string())
                .collect();
            return asked(
                Key::PortBits,
                format!(
                    "port_bits = {}, but a TLP port of {lanes} Gen{generation} has {} bits",
                    wanted.port_bits.unwrap_or_default(),
                    either(&widths)
                ),
                format!(
                    "Set port_bits = {} in the configuration, or leave the key out.",
                    either(&widths)
                ),
            );
        };
        Ok(Link {
            generation: (before, generation),
            port_bits: *port_bits,
            clock: (clock_before, *clock_after),
        })
    }

    /// Makes the error for a width that a TLP port of this link does not have.
    fn width(&self, width: u64, (lanes, generation): (&str, u32)) -> Error {
        let name = &self.hip.name;
        let has = format!(
            "the ports of {name} have {width} bits, with a link of {lanes} Gen{generation}"
        );
        let place = self.place("avmm_width_hwtcl");
        let Some(possible) = widths(lanes, generation) else {
            let links = LINKS
                .iter()
                .map(|(lanes, generation, _)| format!("Gen{generation} {lanes}"));
            let links: Vec<_> = links.collect();
            let or = match widths(lanes, 3) {
                Some(_) => {
                    " Or set gen = 3 below [port] of the configuration, if the board carries 8 GT/s."
                }
                None => "",
            };
            return self.refuse(
                place,
                format!("{has}, for which there is no TLP port of 128 or 256 bits"),
                format!(
                    "Set the hard IP to one of these links in Platform Designer: {}.{or}",
                    links.join(", ")
                ),
            );
        };
        let bits: Vec<String> = possible.iter().map(|(bits, _)| bits.to_string()).collect();
        let clocks: Vec<String> = (possible.iter())
            .map(|(bits, mhz)| format!("{bits} bits at {mhz} MHz"))
            .collect();
        self.refuse(
            place,
            format!("{has}; a TLP port of this link has {}", either(&clocks)),
            format!(
                "Set port_bits = {} in the configuration: everything in the hard IP's clock domain then has the clock \
                 of the new width.",
                either(&bits)
            ),
        )
    }

    /// Returns types and sizes of the BARs: the host's, and no other.
    fn bars(&self, wanted: Wanted, problems: &mut Problems) -> Vec<Value> {
        let mut values = Vec::new();
        problems.take(self.size(wanted));
        for bar in 0..BARS {
            let name = format!("bar{bar}_type_hwtcl");
            // The default of the Avalon-MM variant is BAR 0, with 64 bits.
            let usual = if bar == 0 { "1" } else { "0" };
            let kind = self.hip.parameter(&name).unwrap_or(usual).trim();
            let own = bar == wanted.bar;
            let possible: &[&str] = if own { &["1", "2", "3"] } else { &["0"] };
            if !is_one_of(possible, kind) {
                problems.add(self.bar(bar, kind, wanted.bar));
            }
            let size = if own { self.bits(wanted) } else { 0 };
            values.push(Value::new(name, kind, if own { "" } else { ONE_BAR }));
            values.push(Value::new(
                format!("bar{bar}_size_mask_hwtcl"),
                size.to_string(),
                if own { SIZE } else { ONE_BAR },
            ));
        }
        values
    }

    /// Makes the error for a BAR of an impossible kind.
    fn bar(&self, bar: u32, kind: &str, own: u32) -> Error {
        let name = format!("bar{bar}_type_hwtcl");
        let place = self.place(&name);
        let hip = &self.hip.name;
        if bar == own {
            let what = format!(
                "{name} of {hip} is {kind}, but Rxm_BAR{bar} leads the host to the board: it must be a BAR in memory"
            );
            return self.refuse(place, what, "Set it to 1, 2 or 3 in Platform Designer.");
        }
        self.refuse(
            place,
            format!(
                "{hip} has a second BAR in use ({name} is {kind}): with a TLP port the block serves only one, BAR {own}"
            ),
            Hint::without_tlp(format!(
                "Move the slaves of Rxm_BAR{bar} to Rxm_BAR{own} in Platform Designer and disable BAR {bar}, or "
            )),
        )
    }

    /// Returns the size of the host's BAR, log2.
    fn bits(&self, wanted: Wanted) -> u64 {
        let before = self.hip.number(&map_of(wanted.bar)).unwrap_or(0);
        before.max(wanted.bar_log2)
    }

    /// Refuses a size that the BAR cannot have.
    fn size(&self, wanted: Wanted) -> Result<()> {
        let size = self.bits(wanted);
        if (12..=MOST_BITS).contains(&size) {
            return Ok(());
        }
        Err(self.refuse(
            self.place(&map_of(wanted.bar)),
            format!(
                "BAR {} of {} would have 2^{size} bytes; with a TLP port it can have 4 KiB to 2 GiB",
                wanted.bar, self.hip.name
            ),
            "Move the slaves on the host's bus closer together in Platform Designer.",
        ))
    }
}

/// Returns the parameter of the Avalon-MM variant for the size of a BAR.
fn map_of(bar: u32) -> String {
    format!("SLAVE_ADDRESS_MAP_{bar}")
}

/// Returns the widths that a link can have, with their clocks.
fn widths(lanes: &str, generation: u32) -> Option<Widths> {
    let mut links = LINKS.iter();
    links
        .find(|(of, with, _)| *of == lanes && *with == generation)
        .map(|(_, _, widths)| *widths)
}

impl HardIp {
    /// Reports whether it changes to Gen3.
    pub fn becomes_gen_3(&self) -> bool {
        self.generation.0 != 3 && self.generation.1 == 3
    }

    /// Returns the configuration with the vendor's generation, if that is Gen3: the block's interfaces and the check
    /// depend on it.
    pub fn settle(&self, config: &Config) -> Config {
        let mut config = config.clone();
        if self.generation.1 == 3 {
            config.port.generation = Some(3);
        }
        config
    }

    /// Describes the link, for people.
    pub fn link(&self) -> String {
        let (generation, bits, mhz) = (self.generation.1, self.port_bits, self.clock.1);
        format!("Gen{generation}, {bits} bits at {mhz} MHz")
    }

    /// Returns the removed parameters, by the reason.
    pub fn gone(&self) -> Vec<(&'static str, Vec<&str>)> {
        let mut reasons: Vec<(&'static str, Vec<&str>)> = Vec::new();
        for value in &self.dropped {
            match reasons.iter_mut().find(|(why, _)| *why == value.why) {
                Some((_, names)) => names.push(&value.name),
                None => reasons.push((value.why, vec![&value.name])),
            }
        }
        reasons
    }

    /// Returns notes about the removed parameters. The changes name them.
    pub fn notes(&self) -> Vec<String> {
        let count = self.dropped.len();
        let mut notes = vec![format!(
            "{count} parameters of {} were removed, which {} does not have; the changes name each with the reason.",
            self.name, self.kind
        )];
        if !self.unknown.is_empty() {
            notes.push(format!(
                "{} has parameters that no description known to Peerlane has ({}). Their values switch nothing on, so \
                 they were left out, and {} uses Quartus's own values where it has them.",
                self.name,
                self.unknown.join(", "),
                self.kind
            ));
        }
        notes
    }
}

#[cfg(test)]
#[path = "hard_ip/tests.rs"]
mod tests;
