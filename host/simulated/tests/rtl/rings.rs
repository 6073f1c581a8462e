//! Rings of streams on the real RTL: blocks, slots, holders and ends.

use crate::{KIB, SECOND, pattern, registered};
use peerlane_hdl::{Input, Output, Params, Streams};
use peerlane_host::driver::{Driver, Options};
use peerlane_host::{Block, Device, Errno, Error, Memory, MemoryKind, Permissions, Ring, Slots};
use peerlane_sim::BoardConfig;
use peerlane_simulated::SimBoard;
use peerlane_verilated::Library;
use std::sync::OnceLock;
use std::time::Duration;

/// A stream of plain words, one of packets, and one that loses words.
const PLAIN: u32 = 0;
const PACKETS: u32 = 1;
const LOSSY: u32 = 2;

/// Bytes and number of the slots.
const SLOT: usize = 1024;
const COUNT: u32 = 4;

/// A time in which many blocks come.
const LONG: Duration = Duration::from_micros(200);

fn open() -> (SimBoard, Driver) {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let stream = |packets, lossy| Input {
            bits: 256,
            packets,
            lossy,
        };
        let inputs = vec![
            stream(false, false),
            stream(true, false),
            stream(false, true),
        ];
        let params = Params {
            queue_log2: 8,
            inputs: Streams::try_from(inputs).unwrap(),
            outputs: Streams::try_from(vec![Output { bits: 256 }]).unwrap(),
            ..Params::default()
        };
        peerlane_block::library(&params).expect("the block as a model")
    });
    let config = BoardConfig::default();
    let board = SimBoard::new(library.instance().unwrap(), config).unwrap();
    let driver = board.drive(&Options::default()).unwrap();
    (board, driver)
}

/// Makes a ring of small slots, with some bytes of the region in front of them.
fn ring(device: &Device, kind: MemoryKind, stream: u32, limit: u16) -> (Memory, Ring) {
    let (memory, region) = registered(device, kind, 16 * KIB, Permissions::ReadWrite);
    let slots = Slots {
        region,
        offset: 64,
        bytes: SLOT as u32,
        count: COUNT,
    };
    let ring = device.ring(stream, slots, limit).unwrap();
    (memory, ring)
}

fn send(board: &SimBoard, stream: u32, bytes: &[u8]) {
    board.with(|board| board.source_mut(stream as usize).send(bytes));
}

fn bytes_of(memory: &Memory, block: &Block) -> Vec<u8> {
    let mut bytes = vec![0; block.bytes() as usize];
    memory.read(block.offset() as usize, &mut bytes).unwrap();
    bytes
}

#[track_caller]
fn refused(result: Result<Ring, Error>, errno: Errno) {
    let error = result.unwrap_err();
    let is_it = matches!(&error, Error::Call { source, .. } if *source == errno);
    assert!(is_it, "{error}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn blocks_come_in_their_order() {
    let (board, driver) = open();
    for (kind, seed) in [(MemoryKind::Host, 1), (MemoryKind::Gpu, 2)] {
        let device = driver.open().unwrap();
        assert_eq!((device.streams().inputs, device.streams().outputs), (3, 1));
        let (memory, mut ring) = ring(&device, kind, PLAIN, 0);
        // More than the queue has descriptors, and more laps than its memory.
        let data = pattern(seed, SLOT * 300);
        send(&board, PLAIN, &data);
        let mut began = 0;
        for (number, sent) in data.chunks(SLOT).enumerate() {
            let block = ring.next(SECOND).unwrap();
            assert_eq!(block.offset(), 64 + (number as u64 % 4) * SLOT as u64);
            assert!(bytes_of(&memory, &block) == sent, "block {number}");
            assert!(block.began() > began && block.lost() == 0 && !block.ends_packet());
            began = block.began();
        }
        assert!(ring.poll().unwrap().is_none());
        // The ring's end frees the stream for the next device.
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn slots_return_in_any_order_and_from_any_thread() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (memory, mut ring) = ring(&device, MemoryKind::Host, PLAIN, 0);
    let data = pattern(3, SLOT * 24);
    send(&board, PLAIN, &data);
    let mut chunks = data.chunks(SLOT);
    for round in 0..6 {
        let mut blocks: Vec<_> = (0..COUNT).map(|_| ring.next(SECOND).unwrap()).collect();
        // The program has all slots: nothing is written.
        assert!(matches!(ring.next(LONG), Err(Error::Timeout { .. })));
        for block in &blocks {
            assert!(Some(&*bytes_of(&memory, block)) == chunks.next());
        }
        match round % 3 {
            0 => blocks.reverse(),
            1 => blocks.rotate_left(1),
            _ => {}
        }
        let last = blocks.pop().unwrap();
        std::thread::spawn(move || drop(blocks)).join().unwrap();
        if round % 3 == 0 {
            // The board gets slots in their order, and the first one is still out.
            assert!(matches!(ring.next(LONG), Err(Error::Timeout { .. })));
        }
        drop(last);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn packets_and_the_time_limit_end_blocks() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (memory, mut packets) = ring(&device, MemoryKind::Host, PACKETS, 0);
    let data = pattern(5, 3000);
    board.with(|board| {
        let source = board.source_mut(PACKETS as usize);
        source.send_packet(&data[..100]);
        source.send_packet(&data[100..]);
    });
    let parts = [0..100, 100..1124, 1124..2148, 2148..3000];
    for (part, ends) in parts.into_iter().zip([true, false, false, true]) {
        let block = packets.next(SECOND).unwrap();
        assert_eq!(
            (block.bytes() as usize, block.ends_packet()),
            (part.len(), ends)
        );
        assert!(bytes_of(&memory, &block) == data[part]);
    }
    // Without a limit, a part of a block waits; with one it comes.
    let other = driver.open().unwrap();
    let (memory, mut plain) = ring(&other, MemoryKind::Host, PLAIN, 4);
    send(&board, PLAIN, &data[..320]);
    let block = plain.next(SECOND).unwrap();
    assert!(bytes_of(&memory, &block) == data[..320]);
    assert!(!block.ends_packet());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn lost_words_are_counted() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (memory, mut ring) = ring(&device, MemoryKind::Host, LOSSY, 1);
    let data = pattern(7, SLOT * 200);
    send(&board, LOSSY, &data);
    // All slots are out while the logic goes on.
    let blocks: Vec<_> = (0..COUNT).map(|_| ring.next(SECOND).unwrap()).collect();
    let mut end = 0;
    for block in &blocks {
        assert_eq!(block.lost(), 0);
        assert!(bytes_of(&memory, block) == data[end..end + SLOT]);
        end += SLOT;
    }
    while board.with(|board| board.source_mut(LOSSY as usize).left()) > 0 {
        assert!(matches!(ring.next(LONG), Err(Error::Timeout { .. })));
    }
    drop(blocks);
    // Words that waited come.
    let mut words = COUNT as usize * SLOT / 32;
    while let Ok(block) = ring.next(LONG) {
        assert_eq!(block.lost(), 0);
        words += block.bytes() as usize / 32;
    }
    // The number of the lost ones comes with the first word after the gap.
    send(&board, LOSSY, &[9; 32]);
    let block = ring.next(SECOND).unwrap();
    assert!(bytes_of(&memory, &block) == [9; 32]);
    assert_eq!(words + usize::from(block.lost()), data.len() / 32);
    assert!(block.lost() > 1000, "{}", block.lost());
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stream_has_one_holder() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (_memory, mut first) = ring(&device, MemoryKind::Host, PLAIN, 0);
    assert!(first.state().unwrap().open);
    let other = driver.open().unwrap();
    let (_, region) = registered(&other, MemoryKind::Host, 16 * KIB, Permissions::ReadWrite);
    let slots = Slots {
        region,
        offset: 0,
        bytes: SLOT as u32,
        count: COUNT,
    };
    refused(other.ring(PLAIN, slots.clone(), 0), Errno::BUSY);
    refused(other.ring(3, slots.clone(), 0), Errno::INVAL);
    for wrong in [
        Slots {
            count: 3,
            ..slots.clone()
        },
        Slots {
            count: 1,
            ..slots.clone()
        },
        Slots {
            count: 1 << 10,
            ..slots.clone()
        },
        Slots {
            bytes: 100,
            ..slots.clone()
        },
        Slots {
            bytes: 0,
            ..slots.clone()
        },
        Slots {
            offset: 4,
            ..slots.clone()
        },
    ] {
        let error = other.ring(PACKETS, wrong, 0).unwrap_err();
        assert!(matches!(error, Error::Course { .. }), "{error}");
    }
    let outside = Slots {
        bytes: 8 << 10,
        ..slots.clone()
    };
    assert!(other.ring(PACKETS, outside, 0).is_err());
    // The failed attempts have left the channel as it was.
    drop(device);
    let blocks = (0..2).map(|_| {
        send(&board, PLAIN, &[1; SLOT]);
        first.next(SECOND).unwrap()
    });
    let blocks: Vec<_> = blocks.collect();
    // A block keeps its ring.
    drop(first);
    refused(other.ring(PLAIN, slots.clone(), 0), Errno::BUSY);
    drop(blocks);
    let mut next = other.ring(PLAIN, slots, 0).unwrap();
    assert!(next.poll().unwrap().is_none());
    send(&board, PLAIN, &[2; SLOT]);
    assert_eq!(next.next(SECOND).unwrap().bytes(), SLOT as u32);
    let error = next.device().queue().unwrap_err();
    assert!(matches!(error, Error::Taken), "{error}");
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stream_without_a_clock_does_not_open() {
    let (board, driver) = open();
    board.with(|board| board.source_mut(0).set_clock_ps(0));
    let device = driver.open().unwrap();
    let (_, region) = registered(&device, MemoryKind::Host, 16 * KIB, Permissions::ReadWrite);
    let slots = Slots {
        region,
        offset: 0,
        bytes: 64,
        count: 2,
    };
    let error = device.ring(PLAIN, slots, 0).unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error}");
    // It was released.
    board.with(|board| board.source_mut(0).set_clock_ps(4000));
    let other = driver.open().unwrap();
    let _ring = ring(&other, MemoryKind::Host, PLAIN, 0);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_restart_ends_a_ring() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (_memory, mut plain) = ring(&device, MemoryKind::Host, PLAIN, 0);
    send(&board, PLAIN, &[1; 3 * SLOT]);
    let block = plain.next(SECOND).unwrap();
    driver.reset().unwrap();
    for _ in 0..2 {
        let error = plain.next(SECOND).unwrap_err();
        assert!(matches!(error, Error::Restarted), "{error}");
    }
    drop((block, plain));
    drop(device);
    let device = driver.open().unwrap();
    let (memory, mut plain) = ring(&device, MemoryKind::Gpu, PLAIN, 0);
    // Words of the time before are gone.
    let data = pattern(11, SLOT);
    send(&board, PLAIN, &data);
    let block = plain.next(SECOND).unwrap();
    assert!(bytes_of(&memory, &block)[SLOT - 64..] == data[SLOT - 64..]);
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_ring_holds_its_region() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (_memory, region) = registered(&device, MemoryKind::Host, 16 * KIB, Permissions::ReadWrite);
    let slots = Slots {
        region: region.clone(),
        offset: 0,
        bytes: SLOT as u32,
        count: 2,
    };
    let mut ring = device.ring(PLAIN, slots, 0).unwrap();
    send(&board, PLAIN, &[1; 2 * SLOT]);
    // No descriptor is under way, but the queue has them.
    let blocks = [ring.next(SECOND).unwrap(), ring.next(SECOND).unwrap()];
    let error = region.clone().forget().unwrap_err();
    assert!(
        matches!(&error, Error::Call { source, .. } if *source == Errno::BUSY),
        "{error}"
    );
    drop((blocks, ring));
    region.forget().unwrap();
    // The channel stays the ring's.
    driver.reset().unwrap();
    assert!(matches!(device.take_back(), Err(Error::Taken)));
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_stop_ends_a_ring() {
    let (board, driver) = open();
    let device = driver.open().unwrap();
    let (_memory, mut plain) = ring(&device, MemoryKind::Host, PLAIN, 0);
    send(&board, PLAIN, &[1; 3 * SLOT]);
    let blocks: Vec<_> = (0..3).map(|_| plain.next(SECOND).unwrap()).collect();
    assert!(device.stop(Duration::ZERO).unwrap());
    drop(blocks);
    for _ in 0..2 {
        let error = plain.next(SECOND).unwrap_err();
        assert!(matches!(error, Error::Stopped), "{error}");
    }
}
