//! Checks that hold for every board, by the runtime's calls alone.

use crate::Runtime;
use std::thread;

/// First address of the memory tests: the runtime never uses the memory below.
pub const PLACE: usize = 0x400;

/// Returns bytes that depend on their places and on the seed.
pub fn pattern(seed: u8, length: usize) -> Vec<u8> {
    let byte = |i: usize| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed;
    (0..length).map(byte).collect()
}

/// Returns ints as memory has them.
pub fn ints(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Checks that a kernel adds, and that it can be launched again with only the changed arguments.
pub fn launches(runtime: &Runtime) {
    let count = 1000;
    let (a, b) = (0..count, (0..count).map(|i| 5 * i));
    runtime.write_op(1, 0x400, &ints(a));
    runtime.write_op(1, 0x1400, &ints(b));
    let before = runtime.shared.heard.lock().unwrap().finished;
    // With the runtime's bits for a device's memory.
    runtime.launch(count, [0x400 | 1 << 61, 0x1400, 0x2400]);
    runtime.until_finished(before + 1);
    let mut found = vec![0; 4 * count as usize];
    runtime.read_op(2, 0x2400, &mut found);
    assert!(found == ints((0..count).map(|i| 6 * i)));
    // 13 bytes with odd ends: the sum goes to 0x3400, from 0x2400 and 0x1400.
    let mut arguments = [0x400_u64 | 1 << 61, 0x1400, 0x3400]
        .map(u64::to_le_bytes)
        .concat();
    arguments[1] = 0x24;
    runtime.relaunch(1, &arguments[1..14]);
    runtime.until_finished(before + 2);
    runtime.relaunch(17, &arguments[17..18]);
    runtime.until_finished(before + 3);
    runtime.read_op(2, 0x3400, &mut found);
    assert!(found == ints((0..count).map(|i| 16 * i)));
    runtime.read_op(2, 0x2400, &mut found);
    assert!(found == ints((0..count).map(|i| 11 * i)));
}

/// Checks transfers of all alignments, and of sizes up to `longest`, with an operation and without.
pub fn sizes(runtime: &Runtime, longest: usize) {
    let memory = runtime.interfaces[2];
    let all = pattern(5, 4096);
    for shift in 0..64 {
        // 1 byte at 0x403 is one of them.
        let (offset, length) = (PLACE + shift, (shift * 37) % 130);
        let data = &all[shift..shift + length];
        let mut expected = [0xee; 512];
        assert_eq!(runtime.shared.write(memory, PLACE, &expected), 0);
        if shift % 2 == 0 {
            runtime.write_op(7, offset, data);
        } else {
            assert_eq!(runtime.shared.write(memory, offset, data), 0);
        }
        expected[shift..shift + length].copy_from_slice(data);
        let mut found = [0; 512];
        assert_eq!(runtime.shared.read(memory, PLACE, &mut found), 0);
        assert!(found == expected, "{length} bytes written at {offset:#x}");
        let mut found = vec![0xaa; length + 2];
        runtime.read_op(8, offset, &mut found[1..=length]);
        assert!(found[1..=length] == *data && (found[0], found[length + 1]) == (0xaa, 0xaa));
    }
    let lengths = [
        0,
        1,
        4095,
        4096,
        4097,
        16 << 10,
        (16 << 10) + 1,
        (1 << 20) - 3,
        5 << 20,
    ];
    for length in lengths.into_iter().filter(|length| *length <= longest) {
        let data = pattern(length as u8, length);
        runtime.write_op(9, PLACE + 3, &data);
        let mut found = vec![0; length];
        runtime.read_op(10, PLACE + 3, &mut found);
        assert!(found == data, "{length} bytes");
        let mut found = vec![0; length];
        assert_eq!(runtime.shared.read(memory, PLACE + 3, &mut found), 0);
        assert!(found == data, "{length} bytes");
    }
}

/// Checks copies within the board's memory, where source and destination overlap, too.
pub fn copies(runtime: &Runtime, longest: usize) {
    let (place, room) = (0x1000, 2 * longest + 0x2000);
    let data = pattern(6, room);
    for (from, to, length) in [
        (0, longest + 0x1000, longest),
        (3, longest + 0x1001, 1000),
        (0, 1, longest - 1),
        (1, 0, longest - 1),
        (0, longest / 3, longest * 2 / 3),
        (0, 0, 0),
    ] {
        runtime.write_op(11, place, &data);
        runtime.copy_op(12, place + from, place + to, length);
        let mut expected = data.clone();
        expected.copy_within(from..from + length, to);
        let mut found = vec![0; room];
        runtime.read_op(13, place, &mut found);
        assert!(
            found == expected,
            "{length} bytes from {from:#x} to {to:#x}"
        );
    }
}

/// Checks threads that share a board, with transfers of up to `longest`.
pub fn threads(runtime: &Runtime, count: usize, longest: usize) {
    let lengths = [1, 100, 5000, 70_001, 300_000, 600_003];
    thread::scope(|scope| {
        for thread in 0..count {
            scope.spawn(move || {
                let place = (thread + 1) << 20;
                let lengths = lengths.into_iter().filter(|length| *length <= longest);
                for (round, length) in lengths.enumerate() {
                    let data = pattern((8 * thread + round) as u8, length);
                    let mut found = vec![0; length];
                    if round % 2 == 0 {
                        runtime.write_op(0x100 + thread, place + round, &data);
                        runtime.read_op(0x200 + thread, place + round, &mut found);
                    } else {
                        let memory = runtime.interfaces[2];
                        assert_eq!(runtime.shared.write(memory, place + round, &data), 0);
                        assert_eq!(runtime.shared.read(memory, place + round, &mut found), 0);
                    }
                    assert!(found == data, "thread {thread}, round {round}");
                }
            });
        }
    });
}
