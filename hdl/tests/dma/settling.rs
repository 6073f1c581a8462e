//! Words of small memories that are read in the cycle in which they are written, or in the next, before they have
//! settled. Each memory that such reads reach also keeps the written word in registers. The test removes these
//! registers from the Verilog of the block, and that fault has to be found.

use crate::rig::{Descriptor, MIB, RECORD, Rig, library, library_of, near, same};
use crate::stream;
use peerlane_core::regs::{chan, csr};
use peerlane_hdl::{Params, Port, generate};
use peerlane_sim::{BoardConfig, Space};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An action of the block, with checks of its result.
type Course = fn(&mut Rig);

/// Descriptors that the default build gives to a channel.
const DEPTH: u32 = 128;
const ACCEPTS: u32 = 0b001;

fn ring() -> (Space, u64, u32) {
    (Space::Chan, chan::WRITE_DOORBELL as u64, 0)
}

/// Writes in consecutive cycles, and returns the room for writes in the cycle after them.
fn room_after(rig: &mut Rig, writes: &[(Space, u64, u32)]) -> u32 {
    let at = chan::QUEUE_FREE as u64;
    rig.board.bar_write_read(writes, Space::Chan, at).unwrap() & 0xFFFF
}

/// Rings doorbells in every cycle, and checks the room immediately after them.
fn doorbells(rig: &mut Rig) {
    rig.csr(csr::CHANNEL_CONTROL, ACCEPTS);
    let mut left = DEPTH;
    for burst in [1, 2, 3, 1, 7, 2] {
        left -= burst;
        let writes = vec![ring(); burst as usize];
        assert_eq!(room_after(rig, &writes), left);
        rig.board.run(u64::from(burst)).unwrap();
    }
}

/// Checks the room while a descriptor starts, in every cycle of its way.
fn starts(rig: &mut Rig) {
    let peer = rig.map_gpu(0, MIB);
    let mut seen = [0; 2];
    for cycles in 0..60 {
        rig.queue(false, short(peer));
        rig.board.drain_host().unwrap();
        rig.board.run(cycles).unwrap();
        let room = room_after(rig, &[]);
        assert!(room == DEPTH || room == DEPTH - 1, "{room}");
        seen[(DEPTH - room) as usize] += 1;
        rig.wait(2000);
    }
    assert!(seen[0] > 3 && seen[1] > 3, "{seen:?}");
}

/// Checks the bytes of a descriptor of many requests, which leave one immediately after the other.
fn bytes_that_left(rig: &mut Rig) {
    let peer = rig.map_gpu(0, MIB);
    for length in [4, 36, 256, 260, 5000] {
        rig.transfer(false, peer + 4, 0, length);
    }
}

/// Checks places of data that come in small pieces.
fn places(rig: &mut Rig) {
    let peer = rig.map_gpu(0, MIB);
    for length in [1, 600, 5000] {
        let data: Vec<u8> = (0..length).map(|at| ((at * 7) >> 3) as u8).collect();
        rig.board.gpu_mut().write(3, &data).unwrap();
        rig.transfer(true, peer + 3, 0x4000, length);
        let mut there = vec![0; data.len()];
        rig.board.ddr_mut().read(0x4000, &mut there).unwrap();
        same("data", &there, &data);
    }
}

/// Sets a ring, and rings doorbells immediately after it: not more are accepted than it has slots for.
fn slots(rig: &mut Rig) {
    let at = csr::CHANNEL_RING_LO as u64;
    rig.csr(csr::CHANNEL_CONTROL, ACCEPTS);
    let mut left = DEPTH;
    for log2 in [1u32, 3, 2, 4, 1, 3] {
        let slots = 1 << log2;
        let mut writes = vec![(Space::Csr, at, log2 << 4 | 1)];
        writes.resize(slots, ring());
        left -= slots as u32 - 1;
        assert_eq!(room_after(rig, &writes), left);
        left -= 1;
        assert_eq!(room_after(rig, &[ring()]), 0);
        assert_eq!(room_after(rig, &[(Space::Csr, at, 10 << 4 | 1)]), left);
    }
}

fn short(peer: u64) -> Descriptor {
    Descriptor {
        peer,
        local: 0,
        length: 16,
        control: RECORD,
        cookie: 1,
    }
}

/// Returns the block with one memory of one module replaced by its plain cells.
fn without_forwarding(params: &Params, module: &str, memory: &str) -> peerlane_hdl::Design {
    let mut design = generate(params).unwrap();
    let user = format!("peerlane_engine_{module}");
    let user = design.modules.iter_mut().find(|m| m.name == user).unwrap();
    let instance = format!(" {memory} (");
    let line = (user.verilog.lines())
        .find(|line| line.ends_with(&instance))
        .unwrap_or_else(|| panic!("{module} has no {memory}"))
        .to_owned();
    let kind = line.trim().split(' ').next().unwrap().to_owned();
    let plain = format!("{kind}_plain");
    user.verilog = user.verilog.replace(&line, &line.replace(&kind, &plain));
    let mut copy = design
        .modules
        .iter()
        .find(|m| m.name == kind)
        .unwrap()
        .clone();
    let forwards = "is_writing ? writing_data : is_settling ? settling_data : settled";
    assert!(copy.verilog.contains(forwards), "{kind} forwards nothing");
    copy.verilog = (copy.verilog)
        .replace(forwards, "settled")
        .replace(&format!("module {kind} "), &format!("module {plain} "));
    copy.name = plain;
    design.modules.push(copy);
    design
}

/// Module and memory of which a word is read as it is written, and the action that does so.
const FORWARDED: [(&str, &str, Course); 6] = [
    ("write_queue", "tail_software", doorbells),
    ("write_queue", "head_software", starts),
    ("write_path", "done", bytes_that_left),
    ("receive", "places", places),
    ("ring_room", "rooms", slots),
    ("ring_room", "sizes", slots),
];

/// Returns the build and the board for a memory.
fn setting(memory: &str) -> (Params, BoardConfig) {
    let mut config = near();
    let mut params = Params::default();
    if memory == "places" {
        // On this port alone a read's data come in pieces.
        params = stream::params(256);
        config.stream.short_completions = 100;
    } else if memory == "done" {
        // On this port the ends of a descriptor are bursts of their own, and follow each other at once.
        params.port = Port::Stream;
    }
    (params, config)
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_word_may_be_read_as_it_is_written() {
    for (_, memory, course) in FORWARDED {
        let (params, config) = setting(memory);
        course(&mut Rig::new(&library(&params), config));
    }
}

/// Six models are compiled for this one.
#[test]
#[ignore = "external tools: cargo xtask test pcie"]
fn a_planted_memory_that_forwards_nothing_is_found() {
    for (module, memory, course) in FORWARDED {
        let (params, config) = setting(memory);
        let plain = library_of(&without_forwarding(&params, module, memory));
        let found = catch_unwind(AssertUnwindSafe(|| course(&mut Rig::new(&plain, config))));
        assert!(found.is_err(), "{memory} need not forward anything");
    }
}
