use super::*;
use crate::ends::Ends;
use crate::lock_free::Ring as RingMemory;
use crate::terms::Terms;
use Direction::{FromFpga, ToFpga};
use peerlane_core::att::{AttAddress, PageSize};
use peerlane_core::descriptor::{Descriptor, Local};
use peerlane_core::extent::{Extent, Extents};
use peerlane_core::fault::Fault;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const RING_LOG2: u32 = 4;
const CHANNEL: u32 = 3;

/// A board that acts when a test says so: it takes descriptors, and writes records into plain memory. It writes the
/// status last, as the block does.
struct Board {
    taken: [VecDeque<Descriptor>; 2],
    ring: Vec<AtomicU32>,
    sequence: u32,
    /// Slots of the ring that no descriptor has, as reported by the doorbells.
    room: u32,
    /// Every doorbell so far.
    all: Vec<Descriptor>,
    /// Refuses doorbells, as a stopped channel does. The slots that they free count even so.
    closed: bool,
}

impl Post for Board {
    fn post(&mut self, direction: Direction, descriptor: &[u32; DWORDS], freed: u16) {
        self.room += u32::from(freed);
        assert!(
            self.room <= 1 << RING_LOG2,
            "more slots are free than there are"
        );
        if self.closed {
            return;
        }
        self.room = (self.room.checked_sub(1)).expect("no slot is left of the ring");
        let descriptor = Descriptor::decode(descriptor).unwrap();
        self.all.push(descriptor);
        self.taken[direction as usize].push_back(descriptor);
    }
}

impl Board {
    fn new() -> Self {
        Self {
            taken: Default::default(),
            ring: (0..8 << RING_LOG2).map(|_| AtomicU32::new(0)).collect(),
            sequence: 0,
            room: 1 << RING_LOG2,
            all: Vec::new(),
            closed: false,
        }
    }

    fn memory(&self) -> RingMemory<'_> {
        RingMemory(&self.ring)
    }

    /// Ends the oldest descriptor of a direction.
    fn end(
        &mut self,
        direction: Direction,
        bytes_done: Option<u32>,
        outcome: std::result::Result<(), Fault>,
    ) {
        let descriptor = self.taken[direction as usize].pop_front().unwrap();
        let record = Record {
            cookie: descriptor.cookie,
            direction,
            channel: CHANNEL,
            phase: self.sequence >> RING_LOG2 & 1 == 0,
            outcome,
            bytes_done: bytes_done.unwrap_or(descriptor.length),
            sequence: self.sequence,
            fault_address: outcome.err().map(|_| descriptor.peer),
            header: 0,
        };
        let slot = 8 * (self.sequence & ((1 << RING_LOG2) - 1)) as usize;
        let dwords = record.encode();
        for index in (0..8).filter(|index| *index != 1).chain([1]) {
            self.ring[slot + index].store(dwords[index], Ordering::Release);
        }
        self.sequence += 1;
    }
}

impl Keep for () {
    fn stands(&self) -> bool {
        true
    }
}

impl Keep for usize {
    fn stands(&self) -> bool {
        true
    }
}

impl Keep for Arc<AtomicBool> {
    fn stands(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

fn peer(offset: u64) -> AttAddress {
    AttAddress::new(PageSize::Kib64, 7, offset).unwrap()
}

fn request(direction: Direction, length: u64, piece: u32) -> Order {
    Order {
        direction,
        peer: Extents::one(peer(0x100), length),
        local: 0x4000_0000,
        length,
        piece,
        terms: Terms::default(),
        unreadable: false,
        followed: false,
        ends: None,
    }
}

impl<K: Keep + Clone> Flow<K> {
    /// Finishes writes that have no ends.
    fn flush(&mut self, flush: impl FnMut(&K, Unproven) -> Result<()>) {
        self.finish(flush, |_, _| panic!("there are no ends"));
    }
}

/// Returns the result of a transfer, and releases it then. Flushes all writes that need it.
fn take(flow: &mut Flow<()>, id: TransferId) -> Result<Option<u64>> {
    flow.flush(|(), _| Ok(()));
    let result = flow.result(id).transpose();
    if !matches!(result, Ok(None)) {
        flow.release(id);
    }
    result
}

fn flow(slots: u32) -> Flow<()> {
    Flow::new(slots, RING_LOG2, CHANNEL).unwrap()
}

#[test]
fn a_transfer_becomes_descriptors_that_cover_it_once() {
    let (mut board, mut flow) = (Board::new(), flow(8));
    let id = flow.submit(request(FromFpga, 10_000, 4096), ());
    flow.pump(&mut board);
    // Pieces end at multiples of 4 KiB of the peer; only the last flushes and interrupts.
    let lengths: Vec<_> = board.all.iter().map(|one| one.length).collect();
    assert_eq!(lengths, [4096 - 0x100, 4096, 10_000 - 2 * 4096 + 0x100]);
    let mut start = 0;
    for (index, one) in board.all.iter().enumerate() {
        let last = index == 2;
        assert_eq!(one.peer, peer(0x100 + start));
        assert_eq!(one.local, Local::Memory(0x4000_0000 + start));
        assert_eq!(one.control.interrupt, last);
        assert_eq!(one.control.no_flush, !last);
        assert!(one.control.record);
        start += u64::from(one.length);
    }
    assert!(flow.will_interrupt());
    for _ in 0..3 {
        assert_eq!(take(&mut flow, id).unwrap(), None);
        board.end(FromFpga, None, Ok(()));
        assert_eq!(flow.drain(&mut board.memory()).unwrap(), 1);
    }
    // The result can be asked for repeatedly.
    for _ in 0..2 {
        assert_eq!(flow.result(id).unwrap().unwrap(), 10_000);
    }
    assert_eq!(take(&mut flow, id).unwrap(), Some(10_000));
    // Then the place belongs to another transfer.
    flow.submit(request(FromFpga, 64, 4096), ());
    assert!(matches!(flow.result(id), Some(Err(Error::Broken { .. }))));
}

#[test]
fn a_transfer_larger_than_queue_and_ring_goes_on() {
    let (mut board, mut flow) = (Board::new(), flow(64));
    // 2^4 records, half of them for a direction.
    let bytes = 100 * 4096 - 0x100;
    let id = flow.submit(request(ToFpga, bytes, 4096), ());
    let mut rounds = 0;
    let moved = loop {
        flow.pump(&mut board);
        assert!(board.taken[ToFpga as usize].len() <= 8);
        assert!(flow.will_interrupt(), "nothing would wake the caller");
        while !board.taken[ToFpga as usize].is_empty() {
            board.end(ToFpga, None, Ok(()));
        }
        flow.drain(&mut board.memory()).unwrap();
        if let Some(bytes) = take(&mut flow, id).unwrap() {
            break bytes;
        }
        rounds += 1;
    };
    assert_eq!((moved, rounds), (bytes, 12));
    assert_eq!(board.all.len(), 100);
}

/// Extents of a page of 4 KiB, two of 2 MiB and one of 4 KiB, from byte 0xff1 of the first on.
fn mixed(length: u64) -> Extents {
    let extent = |page_size, entry, offset, length| Extent {
        address: AttAddress::new(page_size, entry, offset).unwrap(),
        length,
    };
    let all = Extents::new(
        extent(PageSize::Kib4, 7, 0xff1, 15),
        [
            Some(extent(PageSize::Mib2, 8, 0, 4 << 20)),
            Some(extent(PageSize::Kib4, 10, 0, 4096)),
        ],
    );
    all.part(0, length).unwrap()
}

/// Descriptors end where the size of the pages changes, and with a write's ends.
#[test]
fn no_descriptor_crosses_from_one_extent_to_the_next() {
    let length = 15 + (4 << 20) + 10;
    let (mut board, mut flow) = (Board::new(), flow(8));
    let whole = Order {
        peer: mixed(length),
        ..request(ToFpga, length, 3 << 20)
    };
    let bounce = peer(0x8000);
    let ragged = Order {
        direction: FromFpga,
        ends: Some(Ends::of(whole.peer.first(), length, bounce)),
        ..whole
    };
    let (read, write) = (flow.submit(whole, ()), flow.submit(ragged, ()));
    flow.pump(&mut board);
    let places = |direction: Direction| {
        let taken = board.taken[direction as usize].iter();
        let places = taken.map(|one| match one.local {
            Local::Memory(local) => (one.peer, local - 0x4000_0000, one.length),
            Local::Stream(_) => panic!("{one:?}"),
        });
        places.collect::<Vec<_>>()
    };
    let at = |offset: u64| mixed(length).from(offset).unwrap().address;
    let middle = [
        (at(15), 15, 3 << 20),
        (at(15 + (3 << 20)), 15 + (3 << 20), 1 << 20),
    ];
    let parts = [
        &[(at(0), 0, 15)],
        &middle[..],
        &[(at(15 + (4 << 20)), 15 + (4 << 20), 10)],
    ];
    assert_eq!(places(ToFpga), parts.concat());
    let parts = [
        &[(bounce, 0, 4), (peer(0x8008), (15 + (4 << 20) + 8) & !3, 8)][..],
        &[(at(3), 3, 12)],
        &middle[..],
        &[(at(15 + (4 << 20)), 15 + (4 << 20), 8)],
    ];
    assert_eq!(places(FromFpga), parts.concat());
    // A fault is reported at its place in the transfer, with the bytes before it.
    board.end(ToFpga, None, Ok(()));
    board.end(ToFpga, None, Ok(()));
    board.end(ToFpga, Some(64), Err(Fault::ReadTimeout));
    for _ in 0..board.taken[FromFpga as usize].len() {
        board.end(FromFpga, None, Ok(()));
    }
    board.end(ToFpga, None, Err(Fault::Aborted));
    flow.drain(&mut board.memory()).unwrap();
    let mut placed = Vec::new();
    flow.finish(
        |(), _| panic!("the board has flushed it"),
        |(), scrap| {
            placed.push((scrap.to, scrap.start));
            Ok(())
        },
    );
    assert_eq!(placed, [(at(0), 0), (at(length - 2), length - 2)]);
    assert_eq!(flow.result(write).unwrap().unwrap(), length);
    let done = 15 + (3 << 20);
    assert!(matches!(
        flow.result(read),
        Some(Err(Error::Fault { bytes_done, offset, .. }))
            if bytes_done == done + 64 && offset == Some(done)
    ));
}

/// The board is done with the ends of a write long before they are in place.
#[test]
fn what_comes_behind_ends_waits_for_them() {
    let (mut board, mut flow) = (Board::new(), flow(8));
    let bounce = peer(0x8000);
    let ragged = Order {
        peer: Extents::one(peer(0x101), 13),
        local: 0x4000_0006,
        ends: Some(Ends::of(peer(0x101), 13, bounce)),
        ..request(FromFpga, 13, 4096)
    };
    let behind = Terms {
        after_from_fpga: true,
        ..Terms::default()
    };
    let read = |terms| Order {
        terms,
        ..request(ToFpga, 64, 4096)
    };
    let before = flow.submit(read(behind), ());
    let first = flow.submit(ragged, ());
    let free = flow.submit(read(Terms::default()), ());
    let chained = flow.submit(read(behind), ());
    let second = flow.submit(ragged, ());
    let last = flow.submit(request(FromFpga, 64, 4096), ());
    flow.pump(&mut board);
    let written = |board: &Board| {
        let writes = board.taken[FromFpga as usize].iter();
        let places = writes.map(|one| match one.local {
            Local::Memory(local) => (one.peer, local, one.length),
            Local::Stream(_) => panic!("{one:?}"),
        });
        places.collect::<Vec<_>>()
    };
    // Head of 3 bytes, tail of 2, both in whole dwords of FPGA memory, and 8 bytes between.
    let parts = [
        (bounce, 0x4000_0004, 8),
        (peer(0x8008), 0x4000_0010, 4),
        (peer(0x104), 0x4000_0009, 8),
    ];
    assert_eq!(written(&board), parts);
    let flushes = board.all.iter().filter(|one| !one.control.no_flush);
    assert_eq!(flushes.filter(|one| one.peer == peer(0x104)).count(), 1);
    assert_eq!(
        board.taken[ToFpga as usize].len(),
        2,
        "the chained one waits"
    );
    for _ in 0..2 {
        board.end(ToFpga, None, Ok(()));
    }
    for _ in 0..3 {
        board.end(FromFpga, None, Ok(()));
    }
    flow.drain(&mut board.memory()).unwrap();
    flow.pump(&mut board);
    let ended = |flow: &Flow<()>, id| flow.result(id).is_some();
    assert!(ended(&flow, before) && ended(&flow, free) && !ended(&flow, first));
    assert!(written(&board).is_empty() && board.taken[ToFpga as usize].is_empty());
    let mut placed = Vec::new();
    flow.finish(
        |(), _| panic!("the board has flushed it"),
        |(), scrap| {
            placed.push((scrap.to, scrap.start));
            Ok(())
        },
    );
    assert_eq!(placed, [(peer(0x101), 0), (peer(0x10c), 11)]);
    assert_eq!(flow.result(first).unwrap().unwrap(), 13);
    flow.pump(&mut board);
    assert_eq!(written(&board), parts);
    assert_eq!(board.taken[ToFpga as usize].len(), 1);
    // A transfer that is called off delays no other.
    flow.cancel(second);
    assert!(!ended(&flow, last) && !ended(&flow, chained));
    for _ in 0..3 {
        board.end(FromFpga, None, Err(Fault::Aborted));
    }
    flow.drain(&mut board.memory()).unwrap();
    flow.flush(|(), _| Ok(()));
    assert!(matches!(flow.result(second), Some(Err(Error::Stopped))));
    flow.pump(&mut board);
    assert_eq!(written(&board).len(), 1);
}

/// Makes a write that begins at byte 1 of a dword. It uses the queue's memory where the board does not write its bytes.
fn ragged(length: u64, terms: Terms) -> Order {
    let first = peer(0x101);
    Order {
        peer: Extents::one(first, length),
        terms,
        ends: Some(Ends::of(first, length, self::peer(0x8000))),
        ..request(FromFpga, length, 4096)
    }
}

/// Data of an earlier write do not arrive after the copy of an end.
#[test]
fn an_end_is_copied_behind_all_earlier_data() {
    let (usual, lazy) = (
        Terms::default(),
        Terms {
            no_flush: true,
            ..Terms::default()
        },
    );
    let whole = |terms| Order {
        terms,
        ..request(FromFpga, 64, 4096)
    };
    let failed = Err(Fault::AttBounds);
    // The first write, its result, whether its flush succeeds; the write after it; flushes and copies, by the write.
    let cases: [(_, _, bool, _, &[(&str, usize)]); 8] = [
        (whole(usual), Ok(()), true, ragged(2, usual), &[("copy", 1)]),
        (
            whole(usual),
            failed,
            true,
            ragged(2, usual),
            &[("flush", 0), ("copy", 1)],
        ),
        (
            whole(usual),
            failed,
            false,
            ragged(2, usual),
            &[("flush", 0), ("flush", 1), ("copy", 1)],
        ),
        (
            whole(lazy),
            Ok(()),
            true,
            ragged(2, usual),
            &[("flush", 1), ("copy", 1)],
        ),
        // No flush was asked for.
        (whole(lazy), Ok(()), true, ragged(2, lazy), &[("copy", 1)]),
        // The board has flushed its middle.
        (whole(lazy), Ok(()), true, ragged(7, usual), &[("copy", 1)]),
        (
            whole(usual),
            failed,
            false,
            ragged(7, usual),
            &[("flush", 0), ("copy", 1)],
        ),
        (whole(usual), failed, true, whole(usual), &[("flush", 0)]),
    ];
    for (index, (first, outcome, proven, second, expected)) in cases.into_iter().enumerate() {
        let (mut board, mut flow) = (Board::new(), Flow::new(4, RING_LOG2, CHANNEL).unwrap());
        let first = flow.submit(first, 0_usize);
        let second = flow.submit(second, 1);
        flow.pump(&mut board);
        board.end(FromFpga, None, outcome);
        while !board.taken[FromFpga as usize].is_empty() {
            board.end(FromFpga, None, Ok(()));
        }
        flow.drain(&mut board.memory()).unwrap();
        let calls = std::cell::RefCell::new(Vec::new());
        flow.finish(
            |keep, _| {
                calls.borrow_mut().push(("flush", *keep));
                match proven || *keep == 1 {
                    true => Ok(()),
                    false => Err(Error::PortDead),
                }
            },
            |keep, _| {
                calls.borrow_mut().push(("copy", *keep));
                Ok(())
            },
        );
        assert_eq!(calls.into_inner(), expected, "{index}");
        assert_eq!(flow.result(first).unwrap().is_ok(), outcome.is_ok());
        assert!(flow.result(second).unwrap().is_ok(), "{index}");
    }
    // While the board is being restarted both wait, and nothing is copied before its turn.
    let (mut board, mut flow) = (Board::new(), Flow::new(4, RING_LOG2, CHANNEL).unwrap());
    flow.submit(whole(usual), 0_usize);
    flow.submit(ragged(2, usual), 1);
    flow.pump(&mut board);
    board.end(FromFpga, None, failed);
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    let mut asked = Vec::new();
    for _ in 0..2 {
        flow.finish(
            |keep, _| {
                asked.push(*keep);
                Err(Error::Call {
                    call: "FLUSH",
                    source: Errno::AGAIN,
                })
            },
            |_, _| panic!("an earlier write is not proven"),
        );
    }
    assert_eq!((asked, flow.under_way()), (vec![0, 0], 2));
}

/// The bytes of a head count as done when they were copied.
#[test]
fn a_failed_write_says_what_is_in_place() {
    type Finish = fn(&mut Flow<()>);
    // Head of 3 bytes, 8 bytes of middle, of which the board moves 4.
    let cases: [(Finish, u64); 3] = [
        (|flow| flow.finish(|(), _| Ok(()), |(), _| Ok(())), 3 + 4),
        (
            |flow| {
                let unproven = |(): &(), _| Err(Error::PortDead);
                flow.finish(unproven, |(), _| panic!("its place is not proven"));
            },
            0,
        ),
        (|flow| flow.renew(4).unwrap(), 0),
    ];
    for (finish, expected) in cases {
        let (mut board, mut flow) = (Board::new(), flow(4));
        let id = flow.submit(ragged(11, Terms::default()), ());
        flow.pump(&mut board);
        board.end(FromFpga, None, Ok(()));
        board.end(FromFpga, Some(4), Err(Fault::AttBounds));
        flow.drain(&mut board.memory()).unwrap();
        assert!(flow.result(id).is_none(), "its head is to be copied");
        finish(&mut flow);
        let ended = flow.result(id).unwrap();
        let told = matches!(ended, Err(Error::Fault { bytes_done, fault: Fault::AttBounds, .. }) if bytes_done == expected);
        assert!(told, "{expected}: {ended:?}");
    }
}

#[test]
fn both_directions_go_on_their_own() {
    let (mut board, mut flow) = (Board::new(), flow(2));
    let write = flow.submit(request(FromFpga, 64, 4096), ());
    let reads: Vec<_> = (0..4)
        .map(|_| flow.submit(request(ToFpga, 64, 4096), ()))
        .collect();
    flow.pump(&mut board);
    assert_eq!(board.all.len(), 3);
    board.end(ToFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert_eq!(take(&mut flow, reads[0]).unwrap(), Some(64));
    assert_eq!(take(&mut flow, write).unwrap(), None);
    assert_eq!(flow.under_way(), 4);
}

fn on(terms: Terms, direction: Direction) -> Order {
    Order {
        terms,
        ..request(direction, 8 * 4096 - 0x100, 4096)
    }
}

#[test]
fn a_chained_transfer_waits_until_the_board_has_what_it_waits_for() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    let after_to_fpga = Terms {
        after_to_fpga: true,
        ..Terms::default()
    };
    let after_both = Terms {
        after_from_fpga: true,
        after_to_fpga: true,
        ..Terms::default()
    };
    // 8 pieces each, through queues of 4.
    let ids = [
        flow.submit(on(Terms::default(), ToFpga), ()),
        flow.submit(on(after_to_fpga, FromFpga), ()),
        flow.submit(on(after_both, ToFpga), ()),
    ];
    while flow.under_way() > 0 {
        flow.pump(&mut board);
        // The board keeps the order of its descriptors; here one direction after the other has some.
        let has = |of: Direction| !board.taken[of as usize].is_empty();
        let chained = |of: Direction| {
            let first = board.taken[of as usize].front().unwrap().control;
            first.after_write || first.after_read
        };
        let direction = match [has(FromFpga), has(ToFpga)] {
            [true, true] if chained(FromFpga) => ToFpga,
            [true, _] => FromFpga,
            _ => ToFpga,
        };
        board.end(direction, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
    }
    for id in ids {
        assert_eq!(take(&mut flow, id).unwrap(), Some(8 * 4096 - 0x100));
    }
    let chains: Vec<_> = (board.all.iter())
        .map(|one| (one.control.after_write, one.control.after_read))
        .collect();
    // The bits are on the first pieces alone; the board's order makes the rest wait.
    let mut expected = [(false, false); 24];
    expected[8] = (false, true);
    expected[16] = (true, true);
    assert_eq!(chains, expected);
}

#[test]
fn terms_are_on_the_pieces_that_they_are_for() {
    let (mut board, mut flow) = (Board::new(), flow(16));
    let terms = Terms {
        urgent: true,
        no_flush: true,
        ..Terms::default()
    };
    flow.submit(on(terms, FromFpga), ());
    flow.pump(&mut board);
    assert!(board.all.iter().all(|one| one.control.no_flush));
    let urgent: Vec<_> = board.all.iter().map(|one| one.control.urgent).collect();
    let interrupts: Vec<_> = board.all.iter().map(|one| one.control.interrupt).collect();
    assert_eq!(urgent, interrupts);
    assert_eq!(urgent, [[false; 7].as_slice(), &[true]].concat());
}

#[test]
fn what_the_block_cannot_flush_has_not_ended_before_it_is_flushed() {
    let unreadable = |direction| Order {
        unreadable: true,
        ..request(direction, 64, 4096)
    };
    let lazy = Terms {
        no_flush: true,
        ..Terms::default()
    };
    let cases = [
        (request(FromFpga, 64, 4096), Ok(()), false),
        (unreadable(FromFpga), Ok(()), true),
        (unreadable(ToFpga), Ok(()), false),
        (request(FromFpga, 64, 4096), Err(Fault::AttBounds), true),
        (request(ToFpga, 64, 4096), Err(Fault::AttBounds), false),
        (
            Order {
                terms: lazy,
                ..unreadable(FromFpga)
            },
            Ok(()),
            false,
        ),
    ];
    let (mut board, mut flow) = (Board::new(), Flow::new(4, RING_LOG2, CHANNEL).unwrap());
    for (index, (order, outcome, flushed)) in cases.into_iter().enumerate() {
        let id = flow.submit(order, index);
        flow.pump(&mut board);
        board.end(order.direction, None, outcome);
        flow.drain(&mut board.memory()).unwrap();
        assert_eq!(flow.result(id).is_none(), flushed, "{index}");
        assert_eq!(
            (flow.left(u64::MAX), flow.under_way()),
            [(0, 0), (1, 1)][usize::from(flushed)]
        );
        let mut told = Vec::new();
        for _ in 0..2 {
            flow.flush(|keep, why| {
                told.push(*keep);
                let unread = order.unreadable && outcome.is_ok();
                assert_eq!(why == Unproven::Unread, unread, "{index}");
                Ok(())
            });
        }
        assert_eq!(told, if flushed { vec![index] } else { vec![] });
        assert_eq!(flow.result(id).unwrap().is_ok(), outcome.is_ok());
        assert_eq!((flow.take_ended(), flow.take_ended()), (Some(index), None));
    }
}

#[test]
fn a_write_that_cannot_be_flushed_fails() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    let order = Order {
        unreadable: true,
        ..request(FromFpga, 64, 4096)
    };
    let ids = [(); 3].map(|()| flow.submit(order, ()));
    flow.pump(&mut board);
    board.end(FromFpga, None, Ok(()));
    board.end(FromFpga, None, Err(Fault::AttBounds));
    flow.drain(&mut board.memory()).unwrap();
    flow.flush(|(), _| Err(Error::PortDead));
    assert!(matches!(flow.result(ids[0]), Some(Err(Error::PortDead))));
    // Its own fault is more precise.
    assert!(matches!(
        flow.result(ids[1]),
        Some(Err(Error::Fault { .. }))
    ));
    // A reset comes before any flush.
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    flow.renew(4).unwrap();
    flow.flush(|(), _| panic!("it is lost"));
    assert!(matches!(flow.result(ids[2]), Some(Err(Error::Restarted))));
    assert_eq!(flow.under_way(), 0);
}

#[test]
fn each_direction_has_an_interrupt_of_its_own() {
    let (mut board, mut flow) = (Board::new(), flow(8));
    assert!(!flow.will_interrupt());
    // 12 pieces; every second one has an interrupt, for not all of them fit.
    flow.submit(request(FromFpga, 12 * 4096 - 0x100, 4096), ());
    flow.submit(request(ToFpga, 64, 4096), ());
    flow.pump(&mut board);
    assert!(flow.will_interrupt());
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    flow.pump(&mut board);
    // The fault prevents the piece with the next interrupt; the board has the silent one before it.
    board.end(FromFpga, Some(0), Err(Fault::AttBounds));
    for _ in 2..8 {
        board.end(FromFpga, None, Ok(()));
    }
    flow.drain(&mut board.memory()).unwrap();
    flow.pump(&mut board);
    let left: Vec<bool> = (board.taken.iter().flatten())
        .map(|one| one.control.interrupt)
        .collect();
    assert_eq!(left, [false, true], "a write and a read");
    assert!(!flow.will_interrupt(), "no completion reports the write");
}

#[test]
fn no_piece_goes_out_for_a_region_that_was_forgotten() {
    let (mut board, mut flow) = (Board::new(), Flow::new(4, RING_LOG2, CHANNEL).unwrap());
    let stands = Arc::new(AtomicBool::new(true));
    let long = flow.submit(request(ToFpga, 8 * 4096, 4096), Arc::clone(&stands));
    let next = flow.submit(request(ToFpga, 64, 4096), Arc::new(AtomicBool::new(true)));
    flow.pump(&mut board);
    assert_eq!(board.all.len(), 4);
    stands.store(false, Ordering::Relaxed);
    let late = flow.submit(request(ToFpga, 64, 4096), Arc::clone(&stands));
    for _ in 0..4 {
        board.end(ToFpga, None, Ok(()));
    }
    flow.drain(&mut board.memory()).unwrap();
    flow.pump(&mut board);
    // Its entries may belong to another region by now.
    assert_eq!(board.all.len(), 5);
    let moved = 4 * 4096 - 0x100;
    assert!(matches!(
        flow.result(long),
        Some(Err(Error::Fault { fault: Fault::AttInvalid, bytes_done, .. })) if bytes_done == moved
    ));
    assert!(matches!(
        flow.result(late),
        Some(Err(Error::Fault {
            fault: Fault::AttInvalid,
            bytes_done: 0,
            ..
        }))
    ));
    board.end(ToFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert_eq!(flow.result(next).unwrap().unwrap(), 64);
}

#[test]
fn places_of_transfers_are_used_again() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    for round in 0..100 {
        let ids = [FromFpga, ToFpga].map(|direction| flow.submit(request(direction, 64, 4096), ()));
        // A handle may go before the transfer has ended.
        flow.release(ids[round % 2]);
        flow.pump(&mut board);
        board.end(FromFpga, None, Ok(()));
        board.end(ToFpga, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
        assert_eq!(take(&mut flow, ids[1 - round % 2]).unwrap(), Some(64));
        assert_eq!((flow.under_way(), flow.table.len()), (0, 2));
    }
}

#[test]
fn a_fault_ends_the_transfer_and_no_other() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    let bad = flow.submit(request(ToFpga, 8 * 4096, 4096), ());
    let good = flow.submit(request(ToFpga, 64, 4096), ());
    flow.pump(&mut board);
    board.end(ToFpga, None, Ok(()));
    board.end(ToFpga, Some(512), Err(Fault::Unsupported));
    flow.drain(&mut board.memory()).unwrap();
    flow.pump(&mut board);
    // The board had 4 of its 9 pieces; none but the other transfer's follows.
    assert_eq!(board.all.len(), 5);
    for _ in 0..2 {
        assert_eq!(take(&mut flow, bad).unwrap(), None);
        board.end(ToFpga, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
    }
    match take(&mut flow, bad) {
        Err(Error::Fault {
            fault,
            bytes_done,
            length,
            offset,
            ..
        }) => {
            assert_eq!(fault, Fault::Unsupported);
            let first = 4096 - 0x100;
            assert_eq!(bytes_done, first + 512);
            assert_eq!((length, offset), (8 * 4096, Some(first)));
        }
        other => panic!("{other:?}"),
    }
    board.end(ToFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert_eq!(take(&mut flow, good).unwrap(), Some(64));
}

#[test]
fn a_reset_ends_everything_and_the_ring_starts_anew() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    let transfer = |flow: &mut Flow<()>| flow.submit(request(FromFpga, 64, 4096), ());
    let ended = transfer(&mut flow);
    flow.pump(&mut board);
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    let lost = transfer(&mut flow);
    flow.pump(&mut board);
    // Refused: the reset is not known yet.
    let unknowing = transfer(&mut flow);
    flow.pump(&mut Board::new());
    flow.renew(4).unwrap();
    let mut board = Board::new();
    assert_eq!(take(&mut flow, ended).unwrap(), Some(64));
    for id in [lost, unknowing] {
        assert!(matches!(take(&mut flow, id), Err(Error::Restarted)));
    }
    let next = transfer(&mut flow);
    flow.pump(&mut board);
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert_eq!(take(&mut flow, next).unwrap(), Some(64));
}

#[test]
fn what_is_abandoned_ends_with_what_the_board_has() {
    let (mut board, mut flow) = (Board::new(), flow(2));
    let long = flow.submit(request(FromFpga, 4 * 4096, 4096), ());
    let never = flow.submit(request(FromFpga, 64, 4096), ());
    let whole = flow.submit(request(ToFpga, 64, 4096), ());
    flow.pump(&mut board);
    flow.abandon(u64::MAX);
    assert!(matches!(take(&mut flow, never), Err(Error::Stopped)));
    for direction in [FromFpga, FromFpga, ToFpga] {
        board.end(direction, None, Ok(()));
    }
    flow.drain(&mut board.memory()).unwrap();
    assert!(matches!(take(&mut flow, long), Err(Error::Stopped)));
    assert_eq!(take(&mut flow, whole).unwrap(), Some(64));
    assert_eq!(flow.under_way(), 0);
    flow.pump(&mut board);
    assert_eq!(board.all.len(), 3);
}

#[test]
fn what_was_refused_fails_and_nothing_else() {
    // Over several laps of the ring: each slot of it is reported as free exactly once.
    let (mut board, mut flow) = (Board::new(), flow(4));
    let one = |flow: &mut Flow<()>, board: &mut Board, direction, closed| {
        board.closed = closed;
        let id = flow.submit(request(direction, 64, 4096), ());
        flow.pump(board);
        id
    };
    for _ in 0..12 {
        let first = one(&mut flow, &mut board, FromFpga, false);
        let refused = one(&mut flow, &mut board, FromFpga, true);
        let last = one(&mut flow, &mut board, FromFpga, false);
        let alone = one(&mut flow, &mut board, ToFpga, true);
        board.end(FromFpga, None, Ok(()));
        board.end(FromFpga, None, Ok(()));
        // The record after the refused descriptor shows it.
        for _ in 0..2 {
            let error = flow.drain(&mut board.memory()).unwrap_err();
            assert!(error.to_string().contains("refused"), "{error}");
        }
        flow.salvage(u64::MAX, &mut board.memory()).unwrap();
        for id in [first, last] {
            assert_eq!(take(&mut flow, id).unwrap(), Some(64));
        }
        for id in [refused, alone] {
            assert!(matches!(take(&mut flow, id), Err(Error::Stopped)));
        }
        assert_eq!(flow.under_way(), 0);
        let next = one(&mut flow, &mut board, ToFpga, false);
        board.end(ToFpga, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
        assert_eq!(take(&mut flow, next).unwrap(), Some(64));
    }
}

#[test]
fn what_does_not_fit_the_account_is_an_error() {
    // A record of a descriptor that was not submitted, and one that ends short without a fault.
    type Case = fn(&mut Flow<()>, &mut Board);
    let cases: BTreeMap<&str, Case> = BTreeMap::from([
        (
            "not outstanding",
            (|_, board| {
                let mut other = Flow::new(4, RING_LOG2, CHANNEL).unwrap();
                other.submit(request(FromFpga, 1, 1), ());
                other.pump(board);
                board.end(FromFpga, None, Ok(()));
            }) as Case,
        ),
        ("ended without an error after 63", |flow, board| {
            flow.submit(request(FromFpga, 64, 4096), ());
            flow.pump(board);
            board.end(FromFpga, Some(63), Ok(()));
        }),
        ("channel 3 lies in the ring of channel 4", |flow, board| {
            *flow = Flow::new(4, RING_LOG2, 4).unwrap();
            flow.submit(request(FromFpga, 64, 4096), ());
            flow.pump(board);
            board.end(FromFpga, None, Ok(()));
        }),
    ]);
    for (text, case) in cases {
        let (mut board, mut flow) = (Board::new(), flow(4));
        case(&mut flow, &mut board);
        // Until the error is handled.
        for _ in 0..3 {
            let error = flow.drain(&mut board.memory()).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}

#[test]
fn a_short_record_fails_its_transfer_and_no_other() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    let ids = [(); 2].map(|()| flow.submit(request(ToFpga, 64, 4096), ()));
    flow.pump(&mut board);
    board.end(ToFpga, Some(63), Ok(()));
    board.end(ToFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap_err();
    let error = flow.result(ids[0]).unwrap().unwrap_err();
    assert!(error.to_string().contains("after 63"), "{error}");
    assert_eq!(flow.result(ids[1]).unwrap().unwrap(), 64);
    flow.forgive();
    assert_eq!(flow.drain(&mut board.memory()).unwrap(), 0);
}

/// At unbind a page of zeros takes the ring's place.
#[test]
fn a_ring_of_zeros_never_gives_a_record() {
    let (mut board, mut flow) = (Board::new(), flow(8));
    for _ in 0..16 {
        assert_eq!(flow.drain(&mut RingMemory(&[])).unwrap(), 0);
        flow.submit(request(FromFpga, 64, 4096), ());
        flow.pump(&mut board);
        board.end(FromFpga, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
    }
    // On the second lap the phase bit of a record is 0.
    let zeros: Vec<_> = (0..8 << RING_LOG2).map(|_| AtomicU32::new(0)).collect();
    assert!(flow.drain(&mut RingMemory(&zeros)).is_err());
}

/// Descriptors of a called-off transfer that the board does not have are not posted; others take their place.
#[test]
fn a_transfer_that_is_called_off_goes_no_further() {
    let (mut board, mut flow) = (Board::new(), flow(2));
    let first = flow.submit(request(FromFpga, 10 * 256, 256), ());
    let behind = flow.submit(request(FromFpga, 256, 256), ());
    flow.pump(&mut board);
    assert_eq!(board.all.len(), 2);
    flow.cancel(first);
    flow.pump(&mut board);
    assert!(
        matches!(take(&mut flow, first), Ok(None)),
        "the board has two pieces"
    );
    board.end(FromFpga, None, Ok(()));
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert!(matches!(take(&mut flow, first), Err(Error::Stopped)));
    flow.pump(&mut board);
    assert_eq!(board.all.len(), 3);
    board.end(FromFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert!(matches!(take(&mut flow, behind), Ok(Some(256))));
    assert_eq!(flow.under_way(), 0);

    // The board has all of this transfer: it ends as the board reports.
    let all = flow.submit(request(ToFpga, 256, 256), ());
    flow.pump(&mut board);
    flow.cancel(all);
    board.end(ToFpga, None, Ok(()));
    flow.drain(&mut board.memory()).unwrap();
    assert!(matches!(take(&mut flow, all), Ok(Some(256))));
    // The board has nothing of this transfer: it ends at once.
    let none = flow.submit(request(ToFpga, 256, 256), ());
    flow.cancel(none);
    assert!(matches!(take(&mut flow, none), Err(Error::Stopped)));
    // A released transfer whose place another one has.
    flow.cancel(none);
    assert_eq!(flow.under_way(), 0);
}

/// An abort of a called-off transfer by the channel's stop is not a fault of the board. For other transfers it is.
#[test]
fn what_was_called_off_is_stopped_and_not_aborted() {
    for direction in Direction::BOTH {
        let (mut board, mut flow) = (Board::new(), flow(4));
        let [off, other, faulty] = [(); 3].map(|()| flow.submit(request(direction, 64, 64), ()));
        flow.pump(&mut board);
        flow.cancel(off);
        flow.cancel(faulty);
        let aborted = Err(Fault::Aborted);
        for outcome in [aborted, aborted, Err(Fault::Unsupported)] {
            board.end(direction, Some(16), outcome);
        }
        flow.drain(&mut board.memory()).unwrap();
        assert!(matches!(take(&mut flow, off), Err(Error::Stopped)));
        for (id, expected) in [(other, Fault::Aborted), (faulty, Fault::Unsupported)] {
            let ended = take(&mut flow, id);
            let told = matches!(&ended, Err(Error::Fault { fault, bytes_done: 16, .. }) if *fault == expected);
            assert!(told, "{ended:?}");
        }
    }
}

/// A caller that calls a write off gets its memory back. So all data that the board sent there have arrived, also those
/// of an earlier write that had left the flush to it.
#[test]
fn what_is_called_off_is_flushed_first() {
    let silent = |direction| Order {
        terms: Terms {
            no_flush: true,
            ..Terms::default()
        },
        ..request(direction, 64, 64)
    };
    let flushes = |flow: &mut Flow<usize>| {
        let mut told = Vec::new();
        flow.flush(|keep, why| {
            assert_eq!(why, Unproven::BrokenOff);
            told.push(*keep);
            Ok(())
        });
        told
    };
    // A write that the board was not given yet, after one that has ended without a flush; by both ways.
    for whole_queue in [false, true] {
        let (mut board, mut flow) = (Board::new(), Flow::new(1, RING_LOG2, CHANNEL).unwrap());
        let first = flow.submit(silent(FromFpga), 1);
        let behind = flow.submit(request(FromFpga, 64, 64), 2);
        flow.pump(&mut board);
        board.end(FromFpga, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
        assert!(matches!(flow.result(first), Some(Ok(64))));
        match whole_queue {
            false => flow.cancel(behind),
            true => flow.abandon(u64::MAX),
        }
        assert!(flow.result(behind).is_none(), "it is not flushed yet");
        assert_eq!(flushes(&mut flow), [2]);
        assert!(matches!(flow.result(behind), Some(Err(Error::Stopped))));
    }
    // Writes that the board has: without a flush, and one that the board flushes itself. Reads need no flush.
    let (mut board, mut flow) = (Board::new(), Flow::new(4, RING_LOG2, CHANNEL).unwrap());
    let orders = [
        silent(FromFpga),
        request(FromFpga, 64, 64),
        silent(ToFpga),
        request(ToFpga, 64, 64),
    ];
    for (index, order) in orders.into_iter().enumerate() {
        let id = flow.submit(order, index);
        flow.pump(&mut board);
        flow.cancel(id);
        board.end(order.direction, None, Ok(()));
        flow.drain(&mut board.memory()).unwrap();
        let flushed: &[usize] = if index == 0 { &[0] } else { &[] };
        assert_eq!(flushes(&mut flow), flushed, "{index}");
        assert!(matches!(flow.result(id), Some(Ok(64))));
    }
}

/// While the board is being restarted nothing is proven: the flush is requested again. An end that was requested but
/// cannot be proven does not count.
#[test]
fn a_flush_that_has_to_wait_is_asked_for_again() {
    let (mut board, mut flow) = (Board::new(), flow(4));
    let ids = [(); 2].map(|()| flow.submit(request(FromFpga, 512, 64), ()));
    flow.pump(&mut board);
    for id in ids {
        flow.cancel(id);
    }
    for _ in 0..4 {
        board.end(FromFpga, None, Ok(()));
    }
    flow.drain(&mut board.memory()).unwrap();
    let again = || {
        Err(Error::Call {
            call: "FLUSH",
            source: Errno::AGAIN,
        })
    };
    let mut asked = 0;
    for _ in 0..3 {
        flow.flush(|(), _| {
            asked += 1;
            again()
        });
    }
    assert_eq!((asked, flow.under_way()), (3, 2));
    let mut answers = vec![Ok(()), Err(Error::Gone)];
    flow.flush(|(), _| answers.pop().unwrap());
    let mut results = ids.map(|id| flow.result(id).unwrap());
    results.sort_by_key(|result| matches!(result, Err(Error::Stopped)));
    assert!(matches!(results, [Err(Error::Gone), Err(Error::Stopped)]));
    assert_eq!(flow.under_way(), 0);
}
