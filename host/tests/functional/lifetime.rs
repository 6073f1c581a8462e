//! How channels and regions end: drained, aborted, dropped, revoked, reset.

use crate::common::{MIB, SECOND, fault_of, memory, open, open_two, submit};
use crate::fake::Config;
use peerlane_host::{
    Channel, ChannelOptions, Direction, Error, Fault, MemoryKind, Permissions, Terms,
};
use std::time::Duration;

#[test]
fn a_drain_waits_for_what_was_submitted() {
    let (fake, device) = open(Config::default());
    let channel = device.channel().unwrap();
    let other = device.channel().unwrap();
    let (_memory, region) = memory(&device, MIB);
    channel.drain(Duration::ZERO).unwrap();
    let transfer = submit(
        &channel.queue(),
        Direction::Write,
        &region,
        4096,
        Terms::default(),
    );
    channel.drain(SECOND).unwrap();
    assert_eq!(fake.lock().channels[0].busy(), 0);
    assert_eq!(transfer.poll().unwrap(), Some(MIB));
    // It accepts again.
    assert_eq!(fake.lock().channels[0].control, 0b11);
    fake.lock().tricks.stuck = true;
    let stuck = channel.queue().write(0, &region, 0, 64).unwrap();
    let patience = Duration::from_millis(3);
    let error = channel.drain(patience).unwrap_err();
    assert!(
        matches!(error, Error::NotDrained { channel: 0, waited } if waited == patience),
        "{error}"
    );
    // Nobody else is held up.
    other.drain(Duration::ZERO).unwrap();
    fake.lock().tricks.stuck = false;
    channel.drain(SECOND).unwrap();
    assert_eq!(stuck.poll().unwrap(), Some(64));
}

#[test]
fn an_abort_ends_one_channel_and_no_other() {
    let (fake, device) = open(Config {
        depth_log2: 2,
        ..Config::default()
    });
    let (one, two) = (device.channel().unwrap(), device.channel().unwrap());
    let (_memory, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    // More than the queue holds: what waits off the board ends too.
    let submit = |channel: &Channel, direction| {
        submit(
            &channel.queue(),
            direction,
            &region,
            65536,
            Terms::default(),
        )
    };
    let ended = Direction::BOTH.map(|direction| submit(&one, direction));
    let goes_on = Direction::BOTH.map(|direction| submit(&two, direction));
    one.abort().unwrap();
    for transfer in &ended {
        assert!(matches!(
            transfer.poll(),
            Err(Error::Fault {
                fault: Fault::Aborted,
                bytes_done: 0,
                ..
            })
        ));
    }
    fake.lock().tricks.stuck = false;
    for transfer in &goes_on {
        assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
    }
    assert_eq!(submit(&one, Direction::Read).wait(SECOND).unwrap(), MIB);
}

#[test]
fn a_dropped_channel_ends_its_work() {
    let (fake, device) = open(Config::default());
    let (held, region) = memory(&device, MIB);
    let at_rest = fake.lock().memories();
    device
        .fpga_memory_backdoor_write(0, &[5; MIB as usize])
        .unwrap();
    let channel = device.channel().unwrap();
    drop(submit(
        &channel.queue(),
        Direction::Write,
        &region,
        4096,
        Terms::default(),
    ));
    drop(channel);
    assert_eq!(fake.lock().memories(), at_rest);
    let mut found = vec![0; MIB as usize];
    held.read(0, &mut found).unwrap();
    assert!(found.iter().all(|byte| *byte == 5));
}

#[test]
fn a_dropped_channel_that_hangs_is_aborted_in_time() {
    let (fake, device) = open(Config::default());
    let (_memory, region) = memory(&device, MIB);
    let at_rest = fake.lock().memories();
    let options = ChannelOptions {
        drain: Duration::from_millis(7),
        ..ChannelOptions::default()
    };
    let channel = device.channel_with(&options).unwrap();
    fake.lock().tricks.stuck = true;
    drop(channel.queue().read(&region, 0, 0, MIB).unwrap());
    let start = device.now();
    drop(channel);
    let taken = device.now() - start;
    assert!(taken >= options.drain && taken < options.drain + Duration::from_millis(1));
    assert_eq!(fake.lock().memories(), at_rest);
    assert_eq!(fake.lock().channels[0].ring[0], 0);
    // The region is not in use any more, and can go at once.
    let entries = fake.lock().valid_entries();
    drop(region);
    assert_eq!(fake.lock().valid_entries(), entries - 16);
}

#[test]
fn a_channel_that_does_not_end_keeps_its_ring_until_a_reset() {
    let (fake, device) = open_two();
    let (held, region) = memory(&device, MIB);
    let at_rest = fake.lock().memories();
    let channel = device.channel().unwrap();
    fake.lock().tricks.stuck = true;
    fake.lock().tricks.stubborn = true;
    drop(channel.queue().write(0, &region, 0, MIB).unwrap());
    drop(channel);
    // The board may still write records: the ring stays, and the channel is not given out.
    assert_eq!(fake.lock().memories(), at_rest + 1);
    let other = device.channel().unwrap();
    assert_eq!(other.number(), 1);
    assert!(matches!(device.channel(), Err(Error::ChannelsTaken { .. })));
    // Nor does its descriptor find somebody else's memory where its own was.
    drop((held, region));
    device
        .fpga_memory_backdoor_write(0, &[7; MIB as usize])
        .unwrap();
    let (held, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = false;
    for _ in 0..4 {
        let pause = other.queue().read(&region, 0, MIB, MIB).unwrap();
        assert_eq!(pause.wait(SECOND).unwrap(), MIB);
    }
    assert_eq!(fake.lock().channels[0].busy(), 0);
    let mut found = vec![1; MIB as usize];
    held.read(0, &mut found).unwrap();
    assert!(found.iter().all(|byte| *byte == 0));
    fake.lock().tricks.stubborn = false;
    device.reset().unwrap();
    assert_eq!(fake.lock().memories(), at_rest + 1, "the ring of the other");
    assert_eq!(device.channel().unwrap().number(), 0);
    let transfer = other.queue().read(&region, 0, 0, MIB).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
}

#[test]
fn memory_goes_only_when_the_fence_is_reached() {
    for dead in [false, true] {
        let (fake, device) = open(Config::default());
        let (held, region) = memory(&device, MIB);
        let memories = fake.lock().memories();
        fake.lock().tricks.no_fence = !dead;
        fake.lock().tricks.port_dead = dead;
        drop(region);
        drop(held);
        assert_eq!(fake.lock().valid_entries(), 0);
        assert_eq!(
            fake.lock().memories(),
            memories,
            "the board may still use it"
        );
        assert_eq!(device.status().unwrap().port_dead, dead);
        fake.lock().tricks.no_fence = false;
        fake.lock().tricks.port_dead = false;
        device.reset().unwrap();
        assert_eq!(fake.lock().memories(), memories - 1);
        assert_eq!(fake.lock().valid_entries(), 0);
    }
}

#[test]
fn a_revoked_region_gives_its_memory_back_and_keeps_its_entries() {
    let (fake, device) = open(Config::default());
    let channel = device.channel().unwrap();
    let (held, region) = memory(&device, MIB);
    let memories = fake.lock().memories();
    fake.lock().tricks.stuck = true;
    let transfer = channel.queue().read(&region, 0, 0, MIB).unwrap();
    drop(held);
    fake.lock().tricks.no_fence = true;
    assert!(matches!(region.revoke(), Err(Error::NotReady { .. })));
    assert_eq!(
        fake.lock().memories(),
        memories,
        "the board may still use it"
    );
    fake.lock().tricks.no_fence = false;
    region.revoke().unwrap();
    region.revoke().unwrap();
    assert_eq!(fake.lock().valid_entries(), 0);
    assert_eq!(fake.lock().memories(), memories - 1);
    let refused = channel.queue().read(&region, 0, 0, 1);
    assert!(matches!(refused, Err(Error::Revoked)));
    // The descriptor that is on the board must not find somebody else's memory.
    drop(region);
    let (_next, next) = self::memory(&device, MIB);
    fake.lock().tricks.stuck = false;
    assert_eq!(fault_of(&transfer), Fault::AttInvalid);
    let transfer = channel.queue().read(&next, 0, 0, MIB).unwrap();
    assert_eq!(transfer.wait(SECOND).unwrap(), MIB);
}

#[test]
fn a_dead_port_is_told() {
    let (fake, device) = open(Config::default());
    let channel = device.channel().unwrap();
    let (_memory, region) = memory(&device, MIB);
    fake.lock().tricks.stuck = true;
    let transfer = channel.queue().read(&region, 0, 0, MIB).unwrap();
    fake.lock().tricks.port_dead = true;
    let patience = Duration::from_millis(2);
    let error = transfer.wait(patience).unwrap_err();
    assert!(matches!(error, Error::PortDead));
    assert!(error.remedy().contains("Reset the FPGA"));
    assert!(matches!(channel.drain(patience), Err(Error::PortDead)));
}

#[test]
fn a_reset_keeps_channels_and_regions() {
    let (fake, device) = open(Config::default());
    let options = ChannelOptions {
        range: Some(0..MIB),
        ..ChannelOptions::default()
    };
    let channel = device.channel_with(&options).unwrap();
    let memory = device.allocate(MemoryKind::Gpu, MIB).unwrap();
    let region = channel.register(&memory, Permissions::Read).unwrap();
    fake.lock().tricks.stuck = true;
    let transfer = channel.queue().read(&region, 0, 0, MIB).unwrap();
    device.reset().unwrap();
    assert_eq!(fault_of(&transfer), Fault::Aborted);
    fake.lock().tricks.stuck = false;
    assert_eq!(fake.lock().channels[0].range, [0, 0x100]);
    let again = channel.queue().read(&region, 0, 0, MIB).unwrap();
    assert_eq!(again.wait(SECOND).unwrap(), MIB);
    let outside = channel.queue().read(&region, 0, MIB, 1).unwrap();
    assert_eq!(fault_of(&outside), Fault::LocalRange);
}
