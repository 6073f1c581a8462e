//! Changes of the host's bus: addresses, clock crossings, more slaves, more interrupts.

use super::design::{Design, System, number};
use super::random::Random;

const CROSSING: &str = "altera_avalon_mm_clock_crossing_bridge";
const BRIDGE: &str = "altera_avalon_mm_bridge";

/// The widest address of a BAR that is made here, in bits.
const MOST_BITS: u64 = 29;

/// Returns the bytes of a slave, a power of two: from the public BAR map of these BSPs, or more.
fn span(system: &System, end: &str) -> u64 {
    let (instance, interface) = end.split_once('.').unwrap();
    let module = system.module(instance).unwrap();
    match (module.get("kind"), interface) {
        (BRIDGE | CROSSING, "s0") => 1 << number(module.parameter("ADDRESS_WIDTH").unwrap()),
        ("altera_avalon_onchip_memory2", _) => number(module.parameter("memorySize").unwrap()),
        (_, "Cra" | "kernel_cntrl") => 0x4000,
        ("acl_dma", "csr") => 0x400,
        ("acl_dma", "s_nondma") => 0x1_0000,
        ("acl_kernel_clk", _) => 0x800,
        ("version_id", _) => 0x20,
        ("uniphy_status" | "temperature", _) => 0x10,
        ("board_status", _) => 0x100,
        ("peerlane_net_flash", _) => 1 << 28,
        _ => 0x100,
    }
}

/// Returns the master of the host's slaves.
fn host(design: &mut Design) -> String {
    let hip = design.hip();
    let system = design.main();
    let links = system.links("avalon");
    let cra = format!("{hip}.Cra");
    let (master, _) = links.iter().find(|(_, end)| *end == cra).unwrap();
    master.clone()
}

/// Returns everything on a master: address, bytes, slave.
fn slaves(system: &System, master: &str) -> Vec<(u64, u64, String)> {
    let links = system.links("avalon").into_iter();
    let ours = links.filter(|(start, _)| start == master);
    let one = |end: String| (system.base(master, &end), span(system, &end), end);
    let mut all: Vec<_> = ours.map(|(_, end)| one(end)).collect();
    all.sort();
    all
}

/// Returns the bytes of a bridge's master.
fn room(system: &System, master: &str) -> u64 {
    let bridge = master.split('.').next().unwrap();
    let bits = system.module(bridge).unwrap().parameter("ADDRESS_WIDTH");
    1 << number(bits.unwrap())
}

/// Returns a free place, at a multiple of the size.
fn place(system: &System, master: &str, bytes: u64, but: &str, random: &mut Random) -> Option<u64> {
    let all = slaves(system, master);
    let taken = |base: u64| {
        let others = all.iter().filter(|(.., end)| end != but);
        let mut meets = others.filter(|(b, n, _)| base < b + n && *b < base + bytes);
        meets.next().is_some()
    };
    let room = room(system, master);
    let places = usize::try_from(room / bytes).unwrap();
    (0..64)
        .filter(|_| places > 0)
        .map(|_| random.below(places) as u64 * bytes)
        .find(|&base| !taken(base))
}

fn set_base(system: &mut System, start: &str, end: &str, base: u64) {
    system.touched = true;
    let mut all = system.root.children.iter_mut();
    let link = all.find(|n| n.get("start") == start && n.get("end") == end);
    link.unwrap()
        .set_parameter("baseAddress", &format!("{base:#010x}"));
}

/// Moves slaves of the host's bus to other places.
pub fn addresses(design: &mut Design, random: &mut Random) -> Option<String> {
    let master = host(design);
    let system = design.main();
    let mut all: Vec<String> = slaves(system, &master).into_iter().map(|s| s.2).collect();
    random.shuffle(&mut all);
    all.truncate(1 + random.below(all.len()));
    let mut said = Vec::new();
    for end in all {
        let bytes = span(system, &end);
        // A bridge that grows with the extension stays in its place.
        if let Some(base) = place(system, &master, bytes, &end, random) {
            set_base(system, &master, &end, base);
            said.push(format!("{end} at {base:#x}"));
        }
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// Returns the bridges from the BAR to the host's slaves, and the BAR.
fn way(design: &mut Design) -> (Vec<String>, String) {
    let hip = design.hip();
    let mut master = host(design);
    let system = design.main();
    let mut bridges = Vec::new();
    while !master.starts_with(&format!("{hip}.Rxm_BAR")) {
        let bridge = master.split('.').next().unwrap().to_string();
        master = system.driver("avalon", &format!("{bridge}.s0")).unwrap();
        bridges.push(bridge);
    }
    (bridges, master)
}

/// Makes the BAR larger, and the bridges with it.
pub fn larger_bar(design: &mut Design, random: &mut Random) -> Option<String> {
    let (bridges, master) = way(design);
    let more = 1 + random.below(2) as u64;
    let hip = design.hip();
    let system = design.main();
    let bits = |system: &System, instance: &str, name: &str| {
        number(system.module(instance).unwrap().parameter(name).unwrap())
    };
    // A bridge that is not at 0, or has neighbours, would overlap them.
    let alone =
        |end: &str, start: &str| system.base(start, end) == 0 && slaves(system, start).len() == 1;
    for bridge in &bridges {
        let end = format!("{bridge}.s0");
        let start = system.driver("avalon", &end).unwrap();
        if !alone(&end, &start) || bits(system, bridge, "ADDRESS_WIDTH") + more > MOST_BITS {
            return None;
        }
    }
    for bridge in &bridges {
        let wider = bits(system, bridge, "ADDRESS_WIDTH") + more;
        system
            .module_mut(bridge)
            .set_parameter("ADDRESS_WIDTH", &wider.to_string());
    }
    let name = master.split("Rxm_BAR").nth(1).unwrap();
    let name = format!("SLAVE_ADDRESS_MAP_{name}");
    let wider = bits(system, &hip, &name) + more;
    system
        .module_mut(&hip)
        .set_parameter(&name, &wider.to_string());
    Some(format!("{name} = {wider}"))
}

/// The clocks and resets of the two sides: the host's, and the old DMA's.
struct Sides {
    host: (String, Vec<String>),
    dma: (String, Vec<String>),
}

fn sides(design: &mut Design) -> Sides {
    let dma = design.dma();
    let bridge = way(design).0[0].clone();
    let system = design.main();
    let of = |instance: &str| {
        let clock = system.driver("clock", &format!("{instance}.clk")).unwrap();
        let resets = system.links("reset").into_iter();
        let end = format!("{instance}.reset");
        let ours = resets.filter(|(_, e)| *e == end).map(|(start, _)| start);
        (clock, ours.collect())
    };
    Sides {
        host: of(&bridge),
        dma: of(&dma),
    }
}

fn bridge_parameters(bits: u64, width: u64) -> Vec<(&'static str, String)> {
    vec![
        ("DATA_WIDTH", width.to_string()),
        ("SYMBOL_WIDTH", "8".into()),
        ("ADDRESS_WIDTH", bits.to_string()),
        ("ADDRESS_UNITS", "SYMBOLS".into()),
        ("MAX_BURST_SIZE", "1".into()),
    ]
}

/// Adds a clock crossing from the host's clock to the DMA's.
fn crossing(design: &mut Design, bits: u64, random: &mut Random) -> String {
    let sides = sides(design);
    let system = design.main();
    let name = system.fresh(random);
    system.instance(CROSSING, &name, &bridge_parameters(bits, 32));
    for (side, (clock, resets)) in [("s0", &sides.host), ("m0", &sides.dma)] {
        system.connect("clock", clock, &format!("{name}.{side}_clk"), None);
        for reset in resets {
            system.connect("reset", reset, &format!("{name}.{side}_reset"), None);
        }
    }
    name
}

/// Puts a clock crossing in front of the registers or the window.
pub fn cross(design: &mut Design, random: &mut Random) -> Option<String> {
    let dma = design.dma();
    let slave = *random.pick(&["csr", "s_nondma"]);
    let end = format!("{dma}.{slave}");
    let start = design.main().driver("avalon", &end)?;
    let bytes = span(design.main(), &end);
    let base = design.main().base(&start, &end);
    let name = crossing(design, bytes.ilog2().into(), random);
    let system = design.main();
    system.take_out(|n| n.get("start") == start && n.get("end") == end);
    system.connect("avalon", &start, &format!("{name}.s0"), Some(base));
    system.connect("avalon", &format!("{name}.m0"), &end, Some(0));
    design.idle.insert(name.clone());
    Some(format!("{name} in front of {end}"))
}

/// Makes registers and window share a clock crossing; sometimes with a slave that stays on it.
pub fn shared_crossing(design: &mut Design, random: &mut Random) -> Option<String> {
    let dma = design.dma();
    let master = host(design);
    let ends = [format!("{dma}.csr"), format!("{dma}.s_nondma")];
    for end in &ends {
        // Instead of their own.
        let driver = design.main().driver("avalon", end)?;
        let bridge = driver.split('.').next().unwrap();
        if design.idle.contains(bridge) {
            dissolve(design, bridge)?;
        }
    }
    let system = design.main();
    let direct = |end: &String| system.driver("avalon", end).as_ref() == Some(&master);
    if !ends.iter().all(direct) {
        return None;
    }
    let bits = 17;
    let base = place(system, &master, 1 << bits, "", random)?;
    let name = crossing(design, bits, random);
    let system = design.main();
    for end in &ends {
        system.take_out(|n| n.get("start") == master && n.get("end") == *end);
    }
    let inner = format!("{name}.m0");
    system.connect("avalon", &master, &format!("{name}.s0"), Some(base));
    system.connect(
        "avalon",
        &inner,
        &ends[0],
        Some(0x400 * random.below(4) as u64),
    );
    system.connect("avalon", &inner, &ends[1], Some(0x1_0000));
    let mut said = format!("{name} at {base:#x} in front of csr and s_nondma");
    if random.one_in(2) {
        let memory = memory_behind(design, &inner, 0x2000, random);
        said += &format!(" and of {memory}, which stays");
    } else {
        design.idle.insert(name);
    }
    Some(said)
}

/// Adds a memory in the DMA's clock, or the host's, on a master.
fn memory_behind(design: &mut Design, master: &str, base: u64, random: &mut Random) -> String {
    let sides = sides(design);
    let host = host(design);
    let (clock, resets) = match master == host {
        true => sides.host,
        false => sides.dma,
    };
    let system = design.main();
    let name = system.fresh(random);
    let parameters = [
        ("dataWidth", "32".to_string()),
        ("memorySize", "4096".to_string()),
    ];
    system.instance("altera_avalon_onchip_memory2", &name, &parameters);
    system.connect("clock", &clock, &format!("{name}.clk1"), None);
    for reset in &resets {
        system.connect("reset", reset, &format!("{name}.reset1"), None);
    }
    system.connect("avalon", master, &format!("{name}.s1"), Some(base));
    name
}

/// Removes a bridge that only the old DMA needs.
pub fn uncross(design: &mut Design, random: &mut Random) -> Option<String> {
    let idle: Vec<String> = design.idle.iter().cloned().collect();
    if idle.is_empty() {
        return None;
    }
    let name: &String = random.pick(&idle);
    dissolve(design, name)
}

/// Connects the driver of a bridge directly to the bridge's slave.
fn dissolve(design: &mut Design, name: &str) -> Option<String> {
    let system = design.main();
    let (inner, outer) = (format!("{name}.m0"), format!("{name}.s0"));
    let links = system.links("avalon");
    let behind: Vec<_> = links.iter().filter(|(start, _)| *start == inner).collect();
    let [(_, end)] = behind.as_slice() else {
        return None;
    };
    let end = end.clone();
    let start = system.driver("avalon", &outer)?;
    let base = system.base(&start, &outer) + system.base(&inner, &end);
    system.drop_instance(name);
    system.connect("avalon", &start, &end, Some(base));
    design.idle.remove(name);
    Some(format!("{name}: {start} drives {end} now"))
}

/// Adds a slave on the host's bus.
pub fn slave(design: &mut Design, random: &mut Random) -> Option<String> {
    let master = host(design);
    let base = place(design.main(), &master, 0x1000, "", random)?;
    let name = memory_behind(design, &master, base, random);
    Some(format!("{name} at {base:#x} of {master}"))
}

/// Adds a slave on the BAR itself, or on a BAR of its own.
pub fn bar_slave(design: &mut Design, random: &mut Random) -> Option<String> {
    let (_, master) = way(design);
    let (hip, sides) = (design.hip(), sides(design));
    let own = random.one_in(2);
    let system = design.main();
    let used = |bar: &str| system.links("avalon").iter().any(|(start, _)| start == bar);
    let master = match own {
        true => format!("{hip}.Rxm_BAR4"),
        false => master,
    };
    if own == used(&master) {
        return None;
    }
    let bits = 12 + random.below(6) as u64;
    let all = slaves(system, &master);
    // The bridge to the registers grows with the block's slaves; a slave that it would overlap is refused.
    let first = all.iter().map(|(base, bytes, _)| (*base, 4 * bytes)).min();
    let first = first.map_or(0, |(base, bytes)| base + bytes);
    let free = |base: &u64| {
        let mut others = all.iter();
        !others.any(|(b, n, _)| *base < b + n && *b < base + (1 << bits))
    };
    let start = first.next_multiple_of(1 << bits);
    let base = (start..1 << MOST_BITS).step_by(1 << bits).find(free)?;
    let name = system.fresh(random);
    let bar = format!(
        "SLAVE_ADDRESS_MAP_{}",
        master.split("Rxm_BAR").nth(1).unwrap()
    );
    let needs = u64::from((base + (1 << bits)).next_power_of_two().ilog2());
    let has = system
        .module(&hip)
        .unwrap()
        .parameter(&bar)
        .map_or(0, number);
    if needs > MOST_BITS {
        return None;
    }
    system
        .module_mut(&hip)
        .set_parameter(&bar, &needs.max(has).to_string());
    system.instance(BRIDGE, &name, &bridge_parameters(bits, 32));
    system.connect("clock", &sides.host.0, &format!("{name}.clk"), None);
    for reset in &sides.host.1 {
        system.connect("reset", reset, &format!("{name}.reset"), None);
    }
    system.connect("avalon", &master, &format!("{name}.s0"), Some(base));
    let inner = format!("{name}.m0");
    let memory = memory_behind(design, &inner, 0, random);
    Some(format!("{name} with {memory} at {base:#x} of {master}"))
}

/// Adds an interrupt.
pub fn interrupt(design: &mut Design, random: &mut Random) -> Option<String> {
    let master = host(design);
    let hip = design.hip();
    let sides = sides(design);
    let system = design.main();
    let base = place(system, &master, 0x100, "", random)?;
    let name = system.fresh(random);
    system.instance("altera_avalon_pio", &name, &[("width", "8".to_string())]);
    system.connect("clock", &sides.host.0, &format!("{name}.clk"), None);
    for reset in &sides.host.1 {
        system.connect("reset", reset, &format!("{name}.reset"), None);
    }
    system.connect("avalon", &master, &format!("{name}.s1"), Some(base));
    let receiver = format!("{hip}.RxmIrq");
    let others = system.links("interrupt").len();
    system.connect("interrupt", &receiver, &format!("{name}.irq"), None);
    let link = system.root.children.last_mut().unwrap();
    link.set_parameter("irqNumber", &others.to_string());
    Some(format!("{name}.irq, number {others}"))
}

/// Changes the numbers of the interrupts.
pub fn interrupt_numbers(design: &mut Design, random: &mut Random) -> Option<String> {
    let system = design.main();
    system.touched = true;
    let all = system.root.children.iter_mut();
    let links: Vec<_> = all
        .filter(|n| n.name == "connection" && n.get("kind") == "interrupt")
        .collect();
    let mut numbers: Vec<usize> = (0..16).collect();
    random.shuffle(&mut numbers);
    let said: Vec<_> = links
        .iter()
        .zip(&numbers)
        .map(|(_, n)| n.to_string())
        .collect();
    for (link, number) in links.into_iter().zip(numbers) {
        link.set_parameter("irqNumber", &number.to_string());
    }
    Some(said.join(", "))
}

/// Uses MSI-X instead of the hard IP's interrupt input.
pub fn msix(design: &mut Design, _: &mut Random) -> Option<String> {
    // The block has a vector for one interrupt in addition to its own.
    let senders = design.main().links("interrupt").len();
    (senders == 2).then(|| {
        design.msix = true;
        "irq = \"msix\"".into()
    })
}

/// Adds a disabled instance, with connections.
pub fn disabled(design: &mut Design, random: &mut Random) -> Option<String> {
    let master = host(design);
    let dma = design.dma();
    let name = memory_behind(design, &master, 0, random);
    let system = design.main();
    system.module_mut(&name).set("enabled", "0");
    let start = format!("{dma}.m");
    if random.one_in(2) {
        system.connect("avalon", &start, &format!("{name}.s2"), Some(1 << 35));
    }
    Some(format!("{name}, not enabled"))
}

/// Makes a bridge that derives its address width from its slaves.
pub fn automatic(design: &mut Design, random: &mut Random) -> Option<String> {
    let (bridges, _) = way(design);
    let bridge = random.pick(&bridges).clone();
    // Its width has to be the one that follows from its slaves, since the host sees that much.
    design
        .main()
        .module_mut(&bridge)
        .set_parameter("USE_AUTO_ADDRESS_WIDTH", "1");
    Some(bridge)
}
