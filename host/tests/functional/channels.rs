//! Several channels: given out once each, kept apart, chained, moderated, counted.

use crate::common::{MIB, SECOND, fault_of, memory, open, open_two, submit};
use crate::fake::Config;
use peerlane_host::{
    Channel, ChannelOptions, Direction, Error, Fault, MemoryKind, Moderation, Owners, Permissions,
    Region, Terms,
};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn every_channel_is_given_out_once() {
    let (fake, device) = open(Config::default());
    let mut channels: Vec<Channel> = (0..8).map(|_| device.channel().unwrap()).collect();
    let numbers: Vec<u32> = channels.iter().map(Channel::number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
    let error = device.channel().unwrap_err();
    assert!(matches!(error, Error::ChannelsTaken { channels: 8 }));
    assert!(error.to_string().contains("8 channels"));
    // The device's own queue needs one too.
    let (_memory, region) = memory(&device, MIB);
    assert!(matches!(
        device.queue().write(0, &region, 0, 1),
        Err(Error::ChannelsTaken { .. })
    ));
    // A queue and a transfer keep it as well as the handle does.
    let five = channels.remove(5);
    let queue = five.queue();
    let transfer = queue.write(0, &region, 0, 1).unwrap();
    drop(five);
    assert!(device.channel().is_err());
    drop(queue);
    assert!(device.channel().is_err());
    assert_eq!(transfer.wait(SECOND).unwrap(), 1);
    drop(transfer);
    assert_eq!(fake.lock().channels[5].control, 0);
    assert_eq!(device.channel().unwrap().number(), 5);
    // The own channel stays with the device.
    device.queue().write(0, &region, 0, 1).unwrap();
    assert!(device.channel().is_err());
}

#[test]
fn a_channel_is_opened_with_what_it_was_given() {
    let (fake, device) = open(Config::default());
    let options = ChannelOptions {
        range: Some(0x10_0000..0x20_0000),
        moderation: Moderation { count: 9, age: 77 },
        ..ChannelOptions::default()
    };
    let channel = device.channel_with(&options).unwrap();
    {
        let state = &fake.lock().channels[channel.number() as usize];
        assert_eq!(state.control, 0b11);
        assert_eq!(state.range, [0x100, 0x200]);
        assert_eq!(state.moderation, 77 << 16 | 9);
        // A record for each descriptor of both queues: 1024.
        assert_eq!(state.ring[0] & 0x1ff, 10 << 4 | 1);
    }
    let all = device.channel().unwrap();
    assert_eq!(
        fake.lock().channels[all.number() as usize].range,
        [0, 1 << 28]
    );
    let odd = ChannelOptions {
        range: Some(0x800..0x20_0000),
        ..ChannelOptions::default()
    };
    let error = device.channel_with(&odd).unwrap_err();
    assert!(matches!(error, Error::LocalRange(_)));
    assert!(error.to_string().contains("0x800"));
}

#[test]
fn channels_reach_their_own_and_nothing_else() {
    let (_, device) = open(Config::default());
    let options = ChannelOptions {
        range: Some(0x10_0000..0x20_0000),
        ..ChannelOptions::default()
    };
    let one = device.channel_with(&options).unwrap();
    let two = device.channel().unwrap();
    let three = device.channel().unwrap();
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let ones = one.register(&memory, Permissions::ReadWrite).unwrap();
    assert_eq!(ones.owners(), Owners::channel(one.number()));
    let shared = device
        .register_for(&memory, 0..MIB, Permissions::ReadWrite, &[&one, &two])
        .unwrap();
    let from = 0x10_0000;
    let moved = |channel: &Channel, region: &Region, fpga| {
        channel.queue().write(fpga, region, 0, 64).unwrap()
    };
    assert_eq!(moved(&one, &ones, from).wait(SECOND).unwrap(), 64);
    assert_eq!(fault_of(&moved(&two, &ones, from)), Fault::AttOwner);
    for channel in [&one, &two] {
        assert_eq!(moved(channel, &shared, from).wait(SECOND).unwrap(), 64);
    }
    assert_eq!(fault_of(&moved(&three, &shared, from)), Fault::AttOwner);
    // The range: its edges, and one byte more.
    for (address, inside) in [
        (0x10_0000, true),
        (0x0f_ffff, false),
        (0x20_0000 - 64, true),
        (0x20_0000 - 63, false),
    ] {
        let transfer = moved(&one, &ones, address);
        match inside {
            true => assert_eq!(transfer.wait(SECOND).unwrap(), 64),
            false => assert_eq!(fault_of(&transfer), Fault::LocalRange),
        }
        assert_eq!(moved(&two, &shared, address).wait(SECOND).unwrap(), 64);
    }
}

#[test]
fn owners_are_checked_before_anything_is_registered() {
    let (_, device) = open(Config::default());
    let (_, other) = open(Config::default());
    let memory = device.allocate(MemoryKind::Host, 4096).unwrap();
    let foreign = other.channel().unwrap();
    let refused = |result: Result<Region, Error>| result.unwrap_err();
    let permissions = Permissions::Read;
    assert!(matches!(
        refused(device.register_for(&memory, 0..1, permissions, &[&foreign])),
        Error::Foreign { what: "channel" }
    ));
    assert!(matches!(
        refused(device.register_for(&memory, 0..1, permissions, &[])),
        Error::NoOwner
    ));
    assert!(matches!(
        refused(foreign.register(&memory, permissions)),
        Error::Foreign { what: "memory" }
    ));
}

#[test]
fn what_was_a_channels_does_not_become_the_next_ones() {
    let (fake, device) = open_two();
    let (_kept, for_all) = memory(&device, MIB);
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let channel = device.channel().unwrap();
    let other = device.channel().unwrap();
    let alone = channel.register(&memory, Permissions::Write).unwrap();
    let both = device
        .register_for(&memory, 0..MIB, Permissions::Write, &[&channel, &other])
        .unwrap();
    assert_eq!(fake.lock().valid_entries(), 48);
    let fences = fake.lock().seen.fences;
    drop(channel);
    // The fence comes after the entries, before the ring's memory goes.
    assert_eq!(fake.lock().seen.fences, fences + 1);
    assert_eq!(fake.lock().valid_entries(), 32);
    let next = device.channel().unwrap();
    assert_eq!(next.number(), 0);
    let write = |channel: &Channel, region| channel.queue().write(0, region, 0, 1).unwrap();
    assert_eq!(fault_of(&write(&next, &alone)), Fault::AttInvalid);
    assert_eq!(fault_of(&write(&next, &both)), Fault::AttOwner);
    assert_eq!(write(&other, &both).wait(SECOND).unwrap(), 1);
    assert_eq!(write(&next, &for_all).wait(SECOND).unwrap(), 1);
}

#[test]
fn each_channel_has_its_own_ring() {
    let (fake, device) = open(Config::default());
    let channels: Vec<Channel> = (0..4).map(|_| device.channel().unwrap()).collect();
    let regions: Vec<_> = channels.iter().map(|_| memory(&device, MIB)).collect();
    let mut transfers = Vec::new();
    for round in 0..40u64 {
        for (channel, (memory, region)) in channels.iter().zip(&regions) {
            let fpga = (u64::from(channel.number()) << 24) + round * 512;
            let data = [channel.number() as u8 + 1; 512];
            device.fpga_memory_backdoor_write(fpga, &data).unwrap();
            let offset = round * 512;
            let queue = channel.queue();
            transfers.push(queue.write(fpga, region, offset, 512).unwrap());
            memory.write(512 * 1024 + offset, &data).unwrap();
        }
    }
    // The last ones first: their records are not waited for in the others' rings.
    for transfer in transfers.iter().rev() {
        assert_eq!(transfer.wait(SECOND).unwrap(), 512);
    }
    for (channel, (memory, _)) in channels.iter().zip(&regions) {
        let mut found = vec![0; 40 * 512];
        memory.read(0, &mut found).unwrap();
        assert!(found.iter().all(|b| *b == channel.number() as u8 + 1));
    }
    let rings: BTreeSet<_> = (fake.lock().channels.iter())
        .map(|c| (c.ring[1], c.ring[0] & !0xfff))
        .collect();
    assert_eq!(rings.len(), 5, "four rings, and none");
}

#[test]
fn trouble_of_one_channel_is_not_the_others() {
    let (fake, device) = open(Config::default());
    let (one, two) = (device.channel().unwrap(), device.channel().unwrap());
    let (_memory, region) = memory(&device, MIB);
    fake.lock().tricks.lose_record = true;
    let lost = one.queue().read(&region, 0, 0, 64).unwrap();
    let _next = one.queue().read(&region, 0, 0, 64).unwrap();
    let fine = two.queue().read(&region, 0, 0, 64).unwrap();
    let error = lost.wait(SECOND).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }));
    assert!(error.to_string().contains("channel 0"), "{error}");
    assert!(error.remedy().contains("Abort the channel"));
    assert_eq!(fine.wait(SECOND).unwrap(), 64);
    assert!(matches!(
        one.queue().read(&region, 0, 0, 64),
        Err(Error::Broken { .. })
    ));
    one.abort().unwrap();
    assert_eq!(fault_of(&lost), Fault::Aborted);
    let again = one.queue().read(&region, 0, 0, 64).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), 64);
}

#[test]
fn a_chained_transfer_starts_when_the_other_direction_has_ended() {
    let (fake, device) = open(Config {
        depth_log2: 2,
        ..Config::default()
    });
    let channel = device.channel().unwrap();
    let queue = channel.queue();
    let (_memory, region) = memory(&device, 64 << 10);
    let after_reads = Terms {
        after_reads: true,
        ..Terms::default()
    };
    let after_both = Terms {
        after_writes: true,
        after_reads: true,
        urgent: true,
    };
    // 16 pieces each, through queues of 4: the chain is with pieces that are not on the
    // board when the transfer is submitted.
    let plain = Terms::default();
    let read = submit(&queue, Direction::Read, &region, 4096, plain);
    let write = submit(&queue, Direction::Write, &region, 4096, after_reads);
    let last = submit(&queue, Direction::Read, &region, 4096, after_both);
    for transfer in [&last, &read, &write] {
        assert_eq!(transfer.wait(SECOND).unwrap(), 64 << 10);
    }
    let state = fake.lock();
    let order: Vec<usize> = state.seen.descriptors.iter().map(|d| d.1).collect();
    let expected = [[1; 16], [0; 16], [1; 16]].concat();
    assert_eq!(order, expected);
    // The bits are on the first pieces alone; the board's order does the rest.
    let chains: Vec<u32> = (state.seen.descriptors.iter())
        .map(|(_, _, words)| words[5] & 0b11_0000)
        .collect();
    let mut wanted = [0; 48];
    wanted[16] = 0b10_0000;
    wanted[32] = 0b11_0000;
    assert_eq!(chains, wanted);
    // Urgent is what raises an interrupt, and nothing else.
    let urgent = |d: &&(usize, usize, [u32; 7])| d.2[5] & 8 != 0;
    let of_last = &state.seen.descriptors[32..];
    assert!(of_last.iter().filter(urgent).all(|d| d.2[5] & 2 != 0));
    assert_eq!(of_last[15].2[5] & 0b1010, 0b1010);
    assert!(!state.seen.descriptors[..32].iter().any(|d| urgent(&d)));
}

#[test]
fn a_chain_goes_on_behind_a_fault() {
    let (fake, device) = open(Config::default());
    let queue = device.channel().unwrap().queue();
    let (_memory, region) = memory(&device, 64 << 10);
    fake.lock().tricks.fault = Some((1, 3, 7, 0));
    let read = submit(&queue, Direction::Read, &region, 4096, Terms::default());
    let after = Terms {
        after_reads: true,
        ..Terms::default()
    };
    let write = submit(&queue, Direction::Write, &region, 4096, after);
    assert_eq!(write.wait(SECOND).unwrap(), 64 << 10);
    assert_eq!(fault_of(&read), Fault::ReadTimeout);
    let state = fake.lock();
    let first_write = state.seen.descriptors.iter().position(|d| d.1 == 0);
    assert_eq!(first_write, Some(16));
}

#[test]
fn moderated_interrupts_come_when_enough_have_ended() {
    let (fake, device) = open(Config::default());
    let options = ChannelOptions {
        moderation: Moderation { count: 4, age: 10 },
        ..ChannelOptions::default()
    };
    let channel = device.channel_with(&options).unwrap();
    let (_memory, region) = memory(&device, MIB);
    let queue = channel.queue();
    let before = fake.lock().seen.interrupts;
    let transfers: Vec<_> = (0..8)
        .map(|_| queue.write(0, &region, 0, 64).unwrap())
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
    let transfer = submit(&queue, Direction::Write, &region, 1 << 20, urgent);
    transfer.wait(SECOND).unwrap();
    assert_eq!(fake.lock().seen.interrupts - before, 3);
    assert!(device.now() - start < Duration::from_millis(1));
}

#[test]
fn counters_are_of_one_moment() {
    let (fake, device) = open(Config::default());
    let (one, two) = (device.channel().unwrap(), device.channel().unwrap());
    let (_memory, region) = memory(&device, MIB);
    let write = one.queue().write(0, &region, 0, 3 * 4096).unwrap();
    write.wait(SECOND).unwrap();
    fake.lock().tricks.fault = Some((1, 0, 7, 1024));
    let read = two.queue().read(&region, 0, 0, 4096).unwrap();
    assert_eq!(fault_of(&read), Fault::ReadTimeout);
    let counters = device.counters().unwrap();
    assert_eq!(counters.channels.len(), 8);
    let writes = counters.channels[0].write;
    assert_eq!((writes.bytes, writes.requests), (12288, 24));
    assert_eq!((writes.descriptors, writes.faults), (1, 0));
    let reads = counters.channels[1].read;
    assert_eq!((reads.bytes, reads.descriptors), (1024, 1));
    assert_eq!((reads.faults, reads.att_faults, reads.timeouts), (1, 0, 1));
    assert_eq!(counters.block.records, 2);
    assert_eq!(counters.channels[2], Default::default());
    // One's own, and later.
    one.queue()
        .write(0, &region, 0, 1)
        .unwrap()
        .wait(SECOND)
        .unwrap();
    assert_eq!(one.counters().unwrap().write.bytes, 12289);
    assert_eq!(counters.channels[0].write.bytes, 12288);
}
