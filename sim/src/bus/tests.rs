use super::*;
use crate::config::GpuConfig;

fn bus() -> Bus {
    let mut host = HostMemory::default();
    host.add_range(0x1000, 0x1000).unwrap();
    let gpu = Gpu::new(&GpuConfig {
        bytes: 1 << 20,
        bar_base: 0x100_0000,
        bar_bytes: 1 << 20,
        bar_reserved: 0,
        ..GpuConfig::default()
    })
    .unwrap();
    Bus::new(host, gpu)
}

#[test]
fn unmapped_accesses_are_recorded_and_change_nothing() {
    let (mut bus, mut log) = (bus(), Log::default());
    bus.write(0x1FFE, &[1, 2, 3], 0, &mut log);
    let mut data = [7; 4];
    assert!(!bus.read(0x100_0000, &mut data, 0, &mut log));
    assert_eq!(data, [7; 4]);
    assert_eq!(bus.host.slice(0x1FFE, 2).unwrap(), [0, 0]);
    assert_eq!(bus.unsupported_total(), 2);
    assert_eq!(
        bus.unsupported()[0],
        Unsupported {
            access: Access::Write,
            address: 0x1FFE,
            bytes: 3
        }
    );
    assert!(!log.fresh());
}

#[test]
fn strays_are_violations_once_something_is_registered() {
    let (mut bus, mut log) = (bus(), Log::default());
    bus.write(0x1000, &[1], 0, &mut log);
    assert!(!log.fresh());
    let id = bus.allow(0x1100..0x1200, Access::Write);
    bus.write(0x1100, &[1; 256], 1, &mut log);
    assert!(!log.fresh());
    bus.write(0x1101, &[1; 256], 2, &mut log);
    bus.read(0x1100, &mut [0; 4], 3, &mut log);
    bus.revoke(id);
    bus.write(0x1100, &[1], 4, &mut log);
    let Err(crate::Error::Violations { count, list }) = log.take() else {
        panic!("no violations");
    };
    assert_eq!(count, 3);
    let cycles: Vec<_> = list.iter().map(|violation| violation.cycle).collect();
    assert_eq!(cycles, [2, 3, 4]);
    assert!(list.iter().all(|violation| violation.rule == Rule::Stray));
    assert_eq!(bus.stray_total(), 3);
}

#[test]
fn interrupts_are_messages_and_no_strays() {
    let (mut bus, mut log) = (bus(), Log::default());
    bus.allow(0x1000..0x2000, Access::Both);
    bus.write(0xFEE0_1000, &[0x21, 0x43, 0, 1], 9, &mut log);
    assert_eq!(
        bus.take_messages(),
        [Message {
            cycle: 9,
            address: 0xFEE0_1000,
            data: 0x0100_4321
        }]
    );
    // Neither two bytes nor an odd address make an interrupt.
    bus.write(0xFEE0_1000, &[0x21, 0x43], 10, &mut log);
    bus.write(0xFEE0_1002, &[0; 4], 11, &mut log);
    assert_eq!((bus.messages().len(), bus.unsupported_total()), (0, 2));
    assert!(!log.fresh());
    bus.write(0xFEF0_0000, &[0; 4], 12, &mut log);
    assert!(log.fresh());
}

#[test]
fn faults_hit_what_they_name() {
    let mut bus = bus();
    bus.inject(FaultRule {
        hits: Hits::Nth(1),
        answer: Answer::Never,
    });
    bus.inject(FaultRule {
        hits: Hits::Addresses(0x1100..0x1101),
        answer: Answer::Garbage,
    });
    assert_eq!(bus.fault_of_read(), None);
    assert_eq!(bus.fault_of_read(), Some(Answer::Never));
    assert_eq!(bus.fault_of_read(), None);
    assert_eq!(bus.fault_of_request(0x1000, 0x100), None);
    assert_eq!(
        bus.fault_of_request(0x1001, 0x100),
        Some((Answer::Garbage, 0x1100))
    );
    assert_eq!(
        bus.fault_of_request(0x1100, 0x100),
        Some((Answer::Garbage, 0x1100))
    );
    assert_eq!(bus.fault_of_request(0x1101, 0x100), None);
    bus.clear_faults();
    assert_eq!(bus.fault_of_request(0x1100, 1), None);
}

#[test]
fn a_fault_may_hit_some_requests_only() {
    let mut bus = bus();
    bus.inject(FaultRule {
        hits: Hits::Counted {
            addresses: 0x1000..0x2000,
            skip: 1,
            times: 2,
        },
        answer: Answer::Abort,
    });
    let mut hits = |address| bus.fault_of_request(address, 0x100).map(|(_, at)| at);
    let found = [0x1000, 0x3000, 0xF80, 0x1200, 0x1300].map(&mut hits);
    assert_eq!(found, [None, None, Some(0x1000), Some(0x1200), None]);
}

/// Addresses and bytes of writes.
type Writes = std::sync::Mutex<Vec<(u64, Vec<u8>)>>;

/// A page at 0x8000 that may only be written, and belongs to the GPU.
#[derive(Debug, Default)]
struct Page(std::sync::Arc<Writes>);

impl Outside for Page {
    fn target(&self, address: u64) -> Option<Target> {
        (0x8000..0x9000).contains(&address).then_some(Target::Gpu)
    }
    fn read(&mut self, _: u64, _: &mut [u8]) -> bool {
        false
    }
    fn write(&mut self, address: u64, data: &[u8]) -> bool {
        let there = self.target(address).is_some();
        if there {
            self.0.lock().unwrap().push((address, data.to_vec()));
        }
        there
    }
}

#[test]
fn what_is_not_the_boards_own_is_asked_outside() {
    let (mut bus, mut log) = (bus(), Log::default());
    let page = Page::default();
    let seen = page.0.clone();
    bus.attach(Box::new(page));
    bus.write(0x8010, &[1, 2], 0, &mut log);
    bus.write(0x1000, &[3], 1, &mut log);
    assert!(!bus.read(0x8010, &mut [0; 2], 2, &mut log));
    bus.write(0x9000, &[4], 3, &mut log);
    assert_eq!(*seen.lock().unwrap(), [(0x8010, vec![1, 2])]);
    assert_eq!(bus.host.slice(0x1000, 1).unwrap(), [3]);
    assert_eq!((bus.gpu_stats.writes, bus.host_stats.writes), (1, 1));
    assert_eq!(bus.unsupported_total(), 2);
}

#[test]
fn without_bus_mastering_nothing_leaves_the_board() {
    let (mut bus, mut log) = (bus(), Log::default());
    bus.set_master(false);
    bus.write(0x1000, &[5], 0, &mut log);
    bus.write(0xFEE0_0000, &[0; 4], 1, &mut log);
    assert!(!bus.read(0x1000, &mut [0; 4], 2, &mut log));
    assert_eq!(bus.host.slice(0x1000, 1).unwrap(), [0]);
    assert_eq!((bus.messages().len(), bus.unsupported_total()), (0, 0));
    bus.set_master(true);
    assert!(bus.read(0x1000, &mut [0; 4], 3, &mut log));
}

#[test]
fn writes_are_lost_or_garbled_where_a_fault_says_so() {
    let (mut bus, mut log) = (bus(), Log::default());
    bus.inject_write(0x1000..0x1100, WriteFault::Lost);
    bus.inject_write(0x1100..0x1200, WriteFault::Garbled);
    for address in [0x1000, 0x1100, 0x1200] {
        bus.write(address, &[0x5a, 1], 0, &mut log);
    }
    let found = |bus: &Bus, address| bus.host.slice(address, 2).unwrap().to_vec();
    assert_eq!(found(&bus, 0x1000), [0, 0]);
    assert_eq!(found(&bus, 0x1100), [0xa5, 0xfe]);
    assert_eq!(found(&bus, 0x1200), [0x5a, 1]);
    bus.clear_faults();
    bus.write(0x1000, &[7], 1, &mut log);
    assert_eq!(found(&bus, 0x1000), [7, 0]);
}
