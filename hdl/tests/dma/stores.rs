//! Stores of 16 to 64 bytes to a channel's page, aligned or not, as a process makes them with SSE, AVX and `movdir64b`.
//!
//! The hard IP shows such a packet on its master of 128 or 256 bits as a burst, with the bytes that it has. The
//! interconnect cuts that into the slave's dwords, some of them with a part of their bytes, or with none. A block with
//! its own transaction layer gets the packet, and cuts it itself. Attackers that store so are in
//! [`crate::channels::hostile`].

use crate::channels::descriptor;
use crate::host;
use crate::rig::{MIB, RECORD, Rig, library, same};
use peerlane_core::regs::chan;
use peerlane_hdl::{Irq, Params};
use peerlane_sim::{BoardConfig, Space};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DOORBELL: usize = chan::WRITE_DOORBELL;
const BYTES: u32 = 64;

/// Moves data by a descriptor whose last words come by a store of bytes `from..to` of the page. Bytes of dwords that
/// are not whole are garbage, and so are the old values of whole dwords. A store that has no whole doorbell in it is
/// followed by one.
fn stored(rig: &mut Rig, peer: u64, from: usize, to: usize, rng: &mut ChaCha8Rng) {
    let cookie = rng.random();
    let place = rng.random_range(0..100_000);
    let offset = u64::from(cookie % 1000) * 64;
    let mut data = vec![0; BYTES as usize];
    rng.fill_bytes(&mut data);
    rig.board.ddr_mut().write(place, &data).unwrap();
    let right = descriptor(peer + offset, place, BYTES, RECORD, cookie);
    // After the descriptor there is room for more of it, and the doorbell, which frees nothing.
    let mut image = [0; DOORBELL + 4];
    let words = [
        right.peer as u32,
        (right.peer >> 32) as u32,
        right.local as u32,
        (right.local >> 32) as u32,
        right.length,
        right.control,
        right.cookie,
    ];
    for (word, place) in words.iter().zip(image.chunks_exact_mut(4)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    let whole = from.next_multiple_of(4)..to / 4 * 4;
    for (index, word) in words.iter().enumerate() {
        let at = index * 4;
        let value = if whole.contains(&at) {
            rng.random()
        } else {
            *word
        };
        rig.board
            .bar_write32(Space::Chan, at as u64, value)
            .unwrap();
    }
    for byte in (from..to).filter(|byte| !whole.contains(byte)) {
        image[byte] = rng.random();
    }
    rig.board
        .bar_store(Space::Chan, from as u64, &image[from..to])
        .unwrap();
    if !whole.contains(&DOORBELL) {
        rig.board
            .bar_write32(Space::Chan, DOORBELL as u64, 0)
            .unwrap();
    }
    let record = rig.wait(20_000);
    assert_eq!(
        (record.code, record.bytes, record.cookie),
        (0, BYTES, cookie),
        "bytes {from:#x}..{to:#x}"
    );
    let mut got = vec![0; data.len()];
    rig.board.gpu_mut().read(offset, &mut got).unwrap();
    same("data", &got, &data);
    rig.board.run(2000).unwrap();
    assert!(rig.poll().is_none(), "a doorbell in parts took effect");
}

fn all(params: &Params, config: BoardConfig) {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let mut rig = Rig::new(&library(params), config);
    let peer = rig.map_gpu(0, MIB);
    for length in [16, 32, 64] {
        for from in 0..=(DOORBELL + 4 - length).min(33) {
            stored(&mut rig, peer, from, from + length, &mut rng);
        }
    }
    let refused = rig.board.bar_read32(Space::Chan, chan::REFUSED as u64);
    assert_eq!(refused.unwrap(), 0);
    rig.board.check().unwrap();
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_wide_store_is_the_whole_dwords_in_it() {
    all(&Params::default(), BoardConfig::default());
}

/// The packet reaches the block.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_wide_packet_is_the_whole_dwords_in_it() {
    for params in [host::params(128, Irq::Rxm), host::params(256, Irq::Msix)] {
        all(&params, host::board(&params, BoardConfig::default()));
    }
}
