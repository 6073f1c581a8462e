//! Several contexts: each has a channel, and they are separated, moderated and counted.

use crate::common::{
    MIB, SECOND, drive, fault_of, memory, open, open_at, open_with, registered, submit,
};
use crate::fake::Config;
use peerlane_host::{
    Device, Direction, Error, Fault, MemoryKind, Moderation, Permissions, Request, Terms,
};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn every_channel_is_given_out_once() {
    let (fake, driver) = drive(Config::default());
    let mut devices: Vec<Device> = (0..8).map(|_| driver.open().unwrap()).collect();
    let channels = devices.iter().map(|device| device.info().channel);
    assert!(channels.eq(0..8));
    let error = driver.open().unwrap_err();
    assert!(matches!(error, Error::ChannelsTaken { channels: 8 }));
    assert!(error.to_string().contains("8 channels"));
    // Regions, queues and transfers keep the channel as well as the handle does.
    let five = devices.remove(5);
    let (_memory, region) = memory(&five, MIB);
    five.allocate(MIB).unwrap().keep();
    let queue = five.queue().unwrap();
    let place = five.range().start;
    let transfer = queue.from_fpga(place, region.part(0..1)).unwrap();
    drop(five);
    drop(region);
    drop(queue);
    assert!(driver.open().is_err());
    assert_eq!(transfer.wait(SECOND).unwrap(), 1);
    drop(transfer);
    assert_eq!(fake.lock().channels[5].control, 0);
    assert_eq!(driver.open().unwrap().info().channel, 5);
}

#[test]
fn a_channel_is_opened_with_what_it_was_given() {
    let (fake, driver) = drive(Config::default());
    let device = driver.open().unwrap();
    let (range, control) = {
        let state = &fake.lock().channels[0];
        (state.range, state.control)
    };
    assert_eq!((range, control), ([0, 0], 0), "it reaches memory, or runs");
    let moderation = Moderation { count: 9, age: 77 };
    device.moderate(moderation).unwrap();
    let place = device.allocate(MIB).unwrap().keep();
    let _queue = device.queue().unwrap();
    let state = &fake.lock().channels[0];
    assert_eq!(state.control, 0b11);
    let pages = [place.start, place.end].map(|address| (address >> 12) as u32);
    assert_eq!(state.range, pages);
    assert_eq!(state.moderation, 77 << 16 | 9);
    // A record for each descriptor of both queues: 1024.
    assert_eq!(state.ring[0] & 0x1ff, 10 << 4 | 1);
}

#[test]
fn the_board_is_told_of_a_contexts_range_and_regions() {
    let (fake, driver) = drive(Config::default());
    let (one, queue, place) = open_with(&driver, MIB);
    let (two, others, theirs) = open_with(&driver, MIB);
    let (_memory, mine) = memory(&one, MIB);
    let (_memory, region) = memory(&two, MIB);
    // Requests that the library would refuse by itself: the range, and the owner of the entries.
    fake.lock().channels[0].range[1] -= 1;
    let write = queue.from_fpga(place + MIB - 64, mine.part(0..64)).unwrap();
    assert_eq!(fault_of(&write), Fault::LocalRange);
    let owners: BTreeSet<u64> = (fake.lock().att.iter())
        .filter(|(raw, _)| raw & 1 == 1)
        .map(|(_, owners)| *owners)
        .collect();
    assert_eq!(owners, BTreeSet::from([0b01, 0b10]));
    let write = others.from_fpga(theirs, region.part(0..64)).unwrap();
    assert_eq!(write.wait(SECOND).unwrap(), 64);
}

#[test]
fn each_channel_has_its_own_ring() {
    let (fake, driver) = drive(Config::default());
    let contexts: Vec<_> = (0..4).map(|_| open_with(&driver, MIB)).collect();
    let buffers: Vec<_> = contexts
        .iter()
        .map(|(device, ..)| memory(device, MIB))
        .collect();
    let mut transfers = Vec::new();
    for round in 0..40u64 {
        for ((device, queue, place), (_, region)) in contexts.iter().zip(&buffers) {
            let fpga = place + round * 512;
            fake.fpga_write(fpga, &[device.info().channel as u8 + 1; 512]);
            transfers.push(
                queue
                    .from_fpga(fpga, region.part(round * 512..round * 512 + 512))
                    .unwrap(),
            );
        }
    }
    // The last ones first: a wait for their records does not block the others' rings.
    for transfer in transfers.iter().rev() {
        assert_eq!(transfer.wait(SECOND).unwrap(), 512);
    }
    for ((device, ..), (memory, _)) in contexts.iter().zip(&buffers) {
        let mut found = vec![0; 40 * 512];
        memory.read(0, &mut found).unwrap();
        assert!(found.iter().all(|b| *b == device.info().channel as u8 + 1));
    }
    let rings: BTreeSet<_> = (fake.lock().channels.iter())
        .map(|c| (c.ring[1], c.ring[0] & !0xfff))
        .collect();
    assert_eq!(rings.len(), 5, "four rings, and none");
}

#[test]
fn trouble_of_one_channel_is_not_the_others() {
    let (fake, driver) = drive(Config::default());
    let (one, queue, place) = open_with(&driver, MIB);
    let (two, others, theirs) = open_with(&driver, MIB);
    let (_memory, region) = memory(&one, MIB);
    let (_theirs, of_theirs) = memory(&two, MIB);
    fake.lock().tricks.lose_record = true;
    let lost = queue.to_fpga(region.part(0..64), place).unwrap();
    let _next = queue.to_fpga(region.part(0..64), place).unwrap();
    let fine = others.to_fpga(of_theirs.part(0..64), theirs).unwrap();
    let error = lost.wait(SECOND).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }));
    assert_eq!(fine.wait(SECOND).unwrap(), 64);
}

#[test]
fn the_board_keeps_the_order_of_chained_transfers() {
    let (fake, _driver, device, queue) = open(Config {
        depth_log2: 2,
        ..Config::default()
    });
    let (_memory, region) = memory(&device, 64 << 10);
    let after_to_fpga = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let after_both = Terms {
        after_from_fpga: true,
        after_to_fpga: true,
        urgent: true,
        ..Terms::default()
    };
    // 16 pieces each, through queues of 4: chained pieces are not on the board yet when the transfer is submitted.
    let plain = Terms::default();
    let read = submit(&queue, Direction::ToFpga, &region, 4096, plain);
    let write = submit(&queue, Direction::FromFpga, &region, 4096, after_to_fpga);
    let last = submit(&queue, Direction::ToFpga, &region, 4096, after_both);
    for transfer in [&last, &read, &write] {
        assert_eq!(transfer.wait(SECOND).unwrap(), 64 << 10);
    }
    let state = fake.lock();
    let order: Vec<usize> = state.seen.descriptors.iter().map(|d| d.1).collect();
    let expected = [[1; 16], [0; 16], [1; 16]].concat();
    assert_eq!(order, expected);
    // The bits are on the first pieces alone; the board's order makes the rest wait.
    let chains: Vec<u32> = (state.seen.descriptors.iter())
        .map(|(_, _, words)| words[5] & 0b11_0000)
        .collect();
    let mut wanted = [0; 48];
    wanted[16] = 0b10_0000;
    wanted[32] = 0b11_0000;
    assert_eq!(chains, wanted);
    // Only a descriptor that raises an interrupt is urgent.
    let urgent = |d: &&(usize, usize, [u32; 7])| d.2[5] & 8 != 0;
    let of_last = &state.seen.descriptors[32..];
    assert!(of_last.iter().filter(urgent).all(|d| d.2[5] & 2 != 0));
    assert_eq!(of_last[15].2[5] & 0b1010, 0b1010);
    assert!(!state.seen.descriptors[..32].iter().any(|d| urgent(&d)));
}

#[test]
fn a_chain_goes_on_behind_a_fault() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = memory(&device, 64 << 10);
    fake.lock().tricks.fault = Some((1, 3, 7, 0));
    let read = submit(&queue, Direction::ToFpga, &region, 4096, Terms::default());
    let after = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let write = submit(&queue, Direction::FromFpga, &region, 4096, after);
    assert_eq!(write.wait(SECOND).unwrap(), 64 << 10);
    assert_eq!(fault_of(&read), Fault::ReadTimeout);
    let state = fake.lock();
    let first_write = state.seen.descriptors.iter().position(|d| d.1 == 0);
    assert_eq!(first_write, Some(16));
}

#[test]
fn moderated_interrupts_come_when_enough_have_ended() {
    let (fake, _driver, device, queue) = open(Config::default());
    let moderation = Moderation { count: 4, age: 10 };
    device.moderate(moderation).unwrap();
    let (_memory, region) = memory(&device, MIB);
    let before = fake.lock().seen.interrupts;
    let transfers: Vec<_> = (0..8)
        .map(|_| queue.from_fpga(0, region.part(0..64)).unwrap())
        .collect();
    for transfer in &transfers {
        transfer.wait(SECOND).unwrap();
    }
    assert_eq!(fake.lock().seen.interrupts - before, 2);
    let urgent = Terms {
        urgent: true,
        ..Terms::default()
    };
    let start = device.now();
    let transfer = submit(&queue, Direction::FromFpga, &region, 1 << 20, urgent);
    transfer.wait(SECOND).unwrap();
    assert_eq!(fake.lock().seen.interrupts - before, 3);
    assert!(device.now() - start < Duration::from_millis(1));
}

#[test]
fn counters_are_of_one_moment() {
    let (fake, driver) = drive(Config::default());
    let (two, others, theirs) = open_with(&driver, MIB);
    let (one, queue) = open_at(&driver);
    let (_memory, region) = memory(&one, MIB);
    let (_theirs, of_theirs) = memory(&two, MIB);
    let before = driver.counters().unwrap();
    let write = queue.from_fpga(0, region.part(0..3 * 4096)).unwrap();
    write.wait(SECOND).unwrap();
    fake.lock().tricks.fault = Some((1, 0, 7, 1024));
    let read = others.to_fpga(of_theirs.part(0..4096), theirs).unwrap();
    assert_eq!(fault_of(&read), Fault::ReadTimeout);
    let counters = driver.counters().unwrap();
    assert_eq!(counters.channels.len(), 8);
    let writes = counters.channels[1].write;
    assert_eq!((writes.bytes, writes.requests), (12288, 24));
    assert_eq!((writes.descriptors, writes.faults), (1, 0));
    let [was, reads] = [&before, &counters].map(|counters| counters.channels[0].read);
    assert_eq!(reads.bytes - was.bytes, 1024);
    assert_eq!(reads.descriptors - was.descriptors, 1);
    assert_eq!((reads.faults, reads.att_faults, reads.timeouts), (1, 0, 1));
    assert_eq!(counters.block.records - before.block.records, 2);
    assert_eq!(counters.channels[2], Default::default());
}

#[test]
fn memory_of_others_is_filled_with_zeros_and_what_is_held_by_all_is_not() {
    let (fake, driver) = drive(Config {
        fpga_bytes: 2 << 20,
        ..Config::default()
    });
    fake.fpga_write(0, &vec![7; 2 << 20]);
    let (device, _queue, place) = open_with(&driver, MIB);
    assert_eq!(device.range(), MIB..2 * MIB);
    let mut found = vec![1; MIB as usize];
    fake.fpga_read(place, &mut found);
    assert!(found.iter().all(|byte| *byte == 0));
    let all = driver.open().unwrap();
    assert_eq!(all.allocate_all(0).unwrap().keep(), 0..MIB);
    fake.fpga_read(0, &mut found);
    assert!(found.iter().all(|byte| *byte == 7), "it was filled");
    // No memory is left.
    let error = driver.open().unwrap().allocate(MIB).unwrap_err();
    assert!(error.hint().contains("Ask for less"), "{error:?}");
}

#[test]
fn memory_that_cannot_be_filled_is_not_given() {
    let (fake, driver) = drive(Config::default());
    let device = driver.open().unwrap();
    fake.lock().tricks.fault = Some((1, 0, 7, 0));
    let error = device.allocate(MIB).unwrap_err();
    assert!(matches!(error, Error::Fault { .. }), "{error}");
    assert!(device.range().is_empty());
    assert_eq!(fake.lock().valid_entries(), 0);
    // The next memory is.
    assert_eq!(device.allocate(MIB).unwrap().length(), MIB);
    // A board that does not even abort the transfer keeps the memory, and no context gets it. The fake checks that a
    // channel with transfers is left alone.
    let (stuck, other) = (driver.open().unwrap(), driver.open().unwrap());
    let place = other.allocate(MIB).unwrap().keep();
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.stubborn = true;
    let error = stuck.allocate(MIB).unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error}");
    assert!(stuck.range().is_empty());
    fake.lock().tricks.stuck = false;
    fake.lock().tricks.stubborn = false;
    let next = driver.open().unwrap().allocate(MIB).unwrap().keep();
    assert!(next.end <= place.start - MIB, "{next:?}");
}

#[test]
fn terms_of_one_transfer_are_not_the_next_ones() {
    let (fake, _driver, device, queue) = open(Config::default());
    let (_memory, region) = registered(&device, MemoryKind::Gpu, MIB, Permissions::ReadWrite);
    let request = Request {
        direction: Direction::FromFpga,
        region: &region,
        offset: 0,
        fpga_address: 0,
        length: 64,
        piece: None,
    };
    let no_flush = Terms {
        no_flush: true,
        ..Terms::default()
    };
    for terms in [no_flush, Terms::default()] {
        let transfer = queue.submit_with(&request, terms).unwrap();
        assert_eq!(transfer.wait(SECOND).unwrap(), 64);
    }
    let control = |d: &(usize, usize, [u32; 7])| d.2[5];
    let control: Vec<u32> = fake.lock().seen.descriptors.iter().map(control).collect();
    // Record and interrupt; bit 2 means no flush.
    assert_eq!(control, [0b111, 0b011]);
}
