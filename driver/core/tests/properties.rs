// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of the driver's logic, over random inputs.

use peerlane_core::att::{AttAddress, AttAllocator, Entry, PageSize, Permissions, Run};
use peerlane_core::capability::Identity;
use peerlane_core::counters::{self, BlockCounters, ChannelCounters, LinkErrors};
use peerlane_core::descriptor::{Control, Descriptor, Direction, Local, Pieces};
use peerlane_core::fault::Fault;
use peerlane_core::layout::{LayoutError, Page, Segment, layout, pages};
use peerlane_core::named::{Named, Progress};
use peerlane_core::owners::Owners;
use peerlane_core::queue::Occupancy;
use peerlane_core::record::Record;
use peerlane_core::region::Region;
use peerlane_core::regs::{self, csr};
use peerlane_core::ring::{Ring, Slots};
use peerlane_core::steps::{self, Register};
use proptest::prelude::*;
use std::collections::VecDeque;

fn allocator(entries: u32) -> AttAllocator<Vec<u64>> {
    let words = AttAllocator::<Vec<u64>>::words(entries);
    AttAllocator::new(vec![0; words], entries).unwrap()
}

fn page_size() -> impl Strategy<Value = PageSize> {
    prop::sample::select(PageSize::LARGEST_FIRST.to_vec())
}

fn permissions() -> impl Strategy<Value = Permissions> {
    prop::sample::select(vec![
        Permissions::Read,
        Permissions::Write,
        Permissions::ReadWrite,
    ])
}

fn att_address() -> impl Strategy<Value = AttAddress> {
    (page_size(), 0u32..65536, any::<u64>()).prop_map(|(page_size, entry, offset)| {
        AttAddress::new(page_size, entry, offset % page_size.bytes()).unwrap()
    })
}

fn direction() -> impl Strategy<Value = Direction> {
    prop::sample::select(Direction::BOTH.to_vec())
}

/// Actions on an allocator: take a run, or free the n-th one that is held.
#[derive(Debug, Clone)]
enum Step {
    Take(u32),
    Give(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1u32..40).prop_map(Step::Take),
        2 => any::<prop::sample::Index>().prop_map(Step::Give),
    ];
    prop::collection::vec(step, 1..200)
}

/// Values that registers of a board may read as: anything, and more often the value of a lost answer.
fn words() -> impl Strategy<Value = Vec<u32>> {
    let word = prop_oneof![Just(u32::MAX), Just(0), any::<u32>()];
    prop::collection::vec(word, 1..40)
}

/// Makes a board that answers with these words, over and over.
fn says(words: &[u32]) -> impl FnMut(Register) -> Result<u32, ()> {
    let mut words = words.iter().copied().cycle();
    move |_| Ok(words.next().unwrap())
}

proptest! {
    /// No value that a board reports causes a panic.
    #[test]
    fn whatever_a_board_counts_is_taken(words in words(), depth in 1u32..=4096, told in any::<u32>()) {
        let progress = Progress::read(3, says(&words), || Ok(())).unwrap();
        let mut named = Named::new(&progress, depth);
        prop_assert_eq!(named.is_over(), progress.busy == [false; 2]);
        named.look(&progress);
        // Only a count that is already full has gone on.
        let full = |direction: usize| !progress.busy[direction] || progress.ended[direction] == u64::MAX;
        prop_assert_eq!(named.is_over(), full(0) && full(1));
        named.look(&Progress { busy: [false; 2], ended: progress.ended });
        prop_assert!(named.is_over());
        BlockCounters::read(says(&words)).unwrap();
        ChannelCounters::read(3, says(&words)).unwrap();
        let errors = LinkErrors::read(says(&words)).unwrap();
        let (_, told) = counters::given_up(words[0], told);
        prop_assert!(told <= words[0]);
        prop_assert!(LinkErrors::expired_in(words[0]) <= 0xffff && errors.expired <= 0xffff);
    }

    /// A board's description of itself is refused, or consistent.
    #[test]
    fn whatever_a_board_is_makes_sense(words in prop::array::uniform6(any::<u32>())) {
        if let Ok(capabilities) = Identity::new(words).check(words[0], Some(words[1])) {
            prop_assert!((1..=4096).contains(&capabilities.queue_depth()));
            prop_assert!((256..=65536).contains(&capabilities.att_entries()));
            prop_assert!(capabilities.memory_bytes() >= 1 << 20);
        }
    }

    /// One answer that was lost is not taken for a value of a register.
    #[test]
    fn ones_are_believed_when_they_stay(value in any::<u32>(), lost in any::<bool>(), there in any::<bool>()) {
        let register = Register::Csr(csr::WRITE_DESCRIPTORS_LO);
        let mut reads = 0;
        let answer = steps::answer(register, |asked| {
            Ok::<_, ()>(match asked == register {
                _ if !there => u32::MAX,
                false => regs::MAP_ID,
                true => {
                    reads += 1;
                    if lost && reads == 1 { u32::MAX } else { value }
                }
            })
        });
        prop_assert_eq!(answer, Ok(there.then_some(value)));
    }

    #[test]
    fn runs_never_overlap_and_coalesce(entries in 1u32..700, steps in steps()) {
        let mut att = allocator(entries);
        // The model: the run that holds each entry.
        let mut held: Vec<Run> = Vec::new();
        let mut owner = vec![false; entries as usize];
        for step in steps {
            match step {
                Step::Take(count) => {
                    let longest = owner
                        .split(|used| *used)
                        .map(<[bool]>::len)
                        .max()
                        .unwrap_or(0);
                    prop_assert_eq!(att.largest_free() as usize, longest);
                    match att.allocate(count) {
                        Ok(run) => {
                            let range = run.first() as usize..(run.first() + count) as usize;
                            prop_assert_eq!(run.count(), count);
                            prop_assert!(owner[range.clone()].iter().all(|used| !used));
                            owner[range].fill(true);
                            held.push(run);
                        }
                        Err(_) => prop_assert!((count as usize) > longest),
                    }
                }
                Step::Give(index) if !held.is_empty() => {
                    let run = held.swap_remove(index.index(held.len()));
                    owner[run.first() as usize..(run.first() + run.count()) as usize].fill(false);
                    prop_assert!(att.free(run).is_ok());
                }
                Step::Give(_) => {}
            }
            let free = owner.iter().filter(|used| !**used).count();
            prop_assert_eq!(att.free_entries() as usize, free);
        }
        for run in held {
            prop_assert!(att.free(run).is_ok());
        }
        prop_assert_eq!(att.largest_free(), entries);
    }

    #[test]
    fn best_fit_leaves_no_smaller_gap(entries in 64u32..300, steps in steps(), count in 1u32..20) {
        let mut att = allocator(entries);
        let mut held: Vec<Run> = Vec::new();
        let mut used = vec![false; entries as usize];
        for step in steps {
            match step {
                Step::Take(count) => if let Ok(run) = att.allocate(count) { held.push(run) },
                Step::Give(index) if !held.is_empty() => {
                    let run = held.swap_remove(index.index(held.len()));
                    att.free(run).unwrap();
                }
                Step::Give(_) => {}
            }
        }
        for run in &held {
            used[run.first() as usize..(run.first() + run.count()) as usize].fill(true);
        }
        let smallest = used
            .split(|used| *used)
            .map(<[bool]>::len)
            .filter(|length| *length >= count as usize)
            .min();
        if let Ok(run) = att.allocate(count) {
            let end = (run.first()..entries).take_while(|i| !used[*i as usize]).count();
            prop_assert_eq!(Some(end), smallest);
        } else {
            prop_assert_eq!(smallest, None);
        }
    }

    #[test]
    fn entries_round_trip(page in any::<u64>(), page_size in page_size(), permissions in permissions()) {
        let entry = Entry { address: page_size.floor(page), page_size, permissions };
        prop_assert_eq!(Entry::decode(entry.encode().unwrap()), Ok(Some(entry)));
    }

    #[test]
    fn what_decodes_as_an_entry_encodes_to_the_same(raw in any::<u64>()) {
        if let Ok(Some(entry)) = Entry::decode(raw) {
            prop_assert_eq!(entry.encode(), Ok(raw));
        }
    }

    #[test]
    fn att_addresses_round_trip(address in att_address()) {
        prop_assert_eq!(AttAddress::from_raw(address.raw()), Some(address));
    }

    #[test]
    fn raw_att_addresses_do_not_panic(raw in any::<u64>(), more in any::<u64>()) {
        if let Some(address) = AttAddress::from_raw(raw) {
            prop_assert_eq!(address.raw(), raw);
            if let Some(further) = address.checked_add(more) {
                prop_assert_eq!(further.offset_from(address), Some(more));
            }
        }
    }

    #[test]
    fn descriptors_round_trip(
        peer in att_address(),
        local in 0u64..1 << 40,
        stream in any::<bool>(),
        length in any::<u32>(),
        flags in any::<[bool; 6]>(),
        cookie in any::<u32>(),
    ) {
        let [record, interrupt, urgent, no_flush, after_write, after_read] = flags;
        let control = Control { record, interrupt, urgent, no_flush, after_write, after_read };
        let local_end = if stream { Local::Stream(local as u32 & 15) } else { Local::Memory(local) };
        let descriptor = Descriptor { peer, local: local_end, length, control, cookie };
        match descriptor.encode() {
            Ok(dwords) => prop_assert_eq!(Descriptor::decode(&dwords), Ok(descriptor)),
            Err(_) => prop_assert!(
                length == 0
                    || !stream && local + u64::from(length) > 1 << 40
                    || peer.checked_add(u64::from(length) - 1).is_none()
            ),
        }
    }

    #[test]
    fn any_dwords_decode_or_are_refused(dwords in any::<[u32; 7]>()) {
        if let Ok(descriptor) = Descriptor::decode(&dwords) {
            prop_assert_eq!(descriptor.encode(), Ok(dwords));
        }
    }

    #[test]
    fn records_round_trip(
        ids in any::<(u32, u32, u32)>(),
        direction in direction(),
        channel in 0u32..256,
        phase in any::<bool>(),
        fault in prop::option::of(prop::sample::select(Fault::ALL.to_vec())),
        address in prop::option::of(att_address().prop_filter("0 is none", |a| a.raw() != 0)),
        header in any::<u64>(),
    ) {
        let (cookie, bytes_done, sequence) = ids;
        let outcome = fault.map_or(Ok(()), Err);
        let record = Record {
            cookie, direction, channel, phase, outcome, bytes_done, sequence, fault_address: address.filter(|_| fault.is_some()),
            header: if fault.is_some() { 0 } else { header },
        };
        prop_assert_eq!(Record::decode(&record.encode()), Ok(record));
    }

    #[test]
    fn any_record_decodes_or_is_refused(dwords in any::<[u32; 8]>(), status in any::<[u8; 2]>()) {
        let mut dwords = dwords;
        let _ = Record::decode(&dwords);
        // Past the reserved bits.
        dwords[1] = u32::from(status[0] & 0xf) << 16 | u32::from(status[1] & 3);
        let _ = Record::decode(&dwords);
    }

    #[test]
    fn pieces_cover_exactly(
        peer in att_address(),
        length in 0u64..1 << 32,
        piece in prop_oneof![64u32..8192, 4096u32..=u32::MAX],
    ) {
        prop_assume!(length / u64::from(piece) < 20_000);
        let pieces = Pieces::new(peer, length, piece);
        let announced = pieces.remaining();
        let (mut at, mut count) = (0u64, 0u64);
        for cut in pieces {
            prop_assert_eq!(cut.start, at);
            prop_assert!(cut.length >= 1 && cut.length <= piece);
            at += u64::from(cut.length);
            count += 1;
            // Every cut but the end is at a multiple of 4 KiB in the page.
            if piece >= 4096 && at < length {
                prop_assert_eq!((peer.page_offset() + at) % 4096, 0);
            }
        }
        prop_assert_eq!(at, length);
        prop_assert_eq!(count, announced);
    }
}

/// A scatter list made of 4 KiB frames, runs of them next to each other, with a
/// tendency to large alignment.
fn frames() -> impl Strategy<Value = Vec<Segment>> {
    let segment = (
        1u64..64,
        prop::sample::select(vec![12u32, 16, 21]),
        1u64..1200,
    )
        .prop_map(|(place, shift, frames)| Segment {
            address: place << shift,
            length: frames << 12,
        });
    prop::collection::vec(segment, 1..6)
}

/// Returns the bus address of byte `offset` of a list.
fn bus_address(list: &[Segment], mut offset: u64) -> u64 {
    for segment in list {
        if offset < segment.length {
            return segment.address + offset;
        }
        offset -= segment.length;
    }
    panic!("after the list");
}

proptest! {
    #[test]
    fn every_byte_is_mapped_to_its_place(
        list in frames(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        probes in prop::collection::vec(any::<prop::sample::Index>(), 20),
        mixed: bool,
    ) {
        let total: u64 = list.iter().map(|s| s.length).sum();
        let a = from.index(total as usize) as u64;
        let b = to.index(total as usize) as u64;
        let (offset, length) = (a.min(b), a.abs_diff(b) + 1);
        let found = layout(list.iter().copied(), offset, length, mixed.then_some(u32::MAX)).unwrap();
        let pages: Vec<Page> = pages(list.iter().copied(), offset, &found).collect();
        prop_assert_eq!(pages.len(), found.entries as usize);
        if mixed {
            let uniform = layout(list.iter().copied(), offset, length, None).unwrap();
            prop_assert!(found == uniform || found.entries <= uniform.entries / 2);
        }

        let mut att = allocator(8192);
        let _before = att.allocate(77).unwrap();
        let Ok(run) = att.allocate(found.entries) else { return Ok(()) };
        let first = run.first();
        let region = Region::new(run, &found, Permissions::Read, Owners::ALL).unwrap();
        for at in probes.iter().map(|p| p.index(length as usize) as u64).chain([0, length - 1]) {
            let address = region.att_address(at).unwrap();
            let page = pages[(address.entry() - first) as usize];
            prop_assert_eq!(page.size, address.page_size());
            prop_assert_eq!(page.address + address.page_offset(), bus_address(&list, offset + at));
            prop_assert_eq!(page.size.offset(page.address), 0);
            prop_assert_eq!(region.offset_of(address), Some(at));
        }
        // No page opens memory that is not in the list (it is all of 4 KiB frames).
        for Page { address: page, size } in pages {
            for frame in (page..page + size.bytes()).step_by(4096) {
                prop_assert!(list.iter().any(|s| (s.address..s.address + s.length).contains(&frame)));
            }
        }
    }

    #[test]
    fn any_list_is_mapped_or_refused(
        list in prop::collection::vec((any::<u64>(), 0u64..1 << 45), 0..4),
        offset in any::<u64>(),
        length in any::<u64>(),
        mixed: bool,
    ) {
        let list: Vec<Segment> = list
            .into_iter()
            .map(|(address, length)| Segment { address, length })
            .collect();
        let total: u64 = list.iter().map(|s| s.length).sum();
        for (offset, length) in [(offset, length), (offset >> 20, length >> 22)] {
            let result = layout(list.iter().copied(), offset, length, mixed.then_some(u32::MAX));
            if offset.checked_add(length).is_none_or(|end| end > total) && length > 0 {
                let refused = matches!(
                    result,
                    Err(LayoutError::Beyond { .. } | LayoutError::Overflow | LayoutError::Seam { .. })
                );
                prop_assert!(refused);
            }
        }
    }
}

/// A board in miniature: two queues worked through in order, one ring.
struct Board {
    queues: [VecDeque<u32>; 2],
    depth: usize,
    ring: Vec<[u32; 8]>,
    unread: usize,
    /// Slots of the ring that no accepted descriptor has, as far as the doorbells said.
    room: usize,
    sequence: u32,
}

impl Slots for Board {
    fn status(&mut self, index: u32) -> u32 {
        self.ring[index as usize][1]
    }
    fn record(&mut self, index: u32) -> [u32; 8] {
        self.ring[index as usize]
    }
}

proptest! {
    /// Random submissions, completions and polls: no doorbell is refused, no record is
    /// overwritten, every cookie comes back once and in order.
    #[test]
    fn the_account_never_overfills_queue_or_ring(
        queue_log2 in 0u32..5,
        ring_log2 in 1u32..6,
        steps in prop::collection::vec(0u8..6, 1..600),
    ) {
        let depth = 1usize << queue_log2;
        let mut board = Board {
            queues: [VecDeque::new(), VecDeque::new()],
            depth,
            ring: vec![[0; 8]; 1 << ring_log2],
            unread: 0,
            room: 1 << ring_log2,
            sequence: 0,
        };
        let mut occupancy = Occupancy::new(depth as u32, 1 << ring_log2).unwrap();
        let mut ring = Ring::new(ring_log2, 0).unwrap();
        let mut expected = [VecDeque::new(), VecDeque::new()];
        for step in steps {
            let side = usize::from(step & 1);
            let direction = Direction::BOTH[side];
            match step >> 1 {
                0 => if let Some(ticket) = occupancy.submit(direction, 0) {
                    prop_assert!(board.queues[side].len() < board.depth, "doorbell refused");
                    board.room += usize::from(ticket.freed);
                    prop_assert!(board.room > 0, "doorbell refused: no slot");
                    board.room -= 1;
                    prop_assert!(board.room < board.ring.len(), "a slot reported twice");
                    board.queues[side].push_back(ticket.cookie);
                    expected[side].push_back(ticket.cookie);
                },
                1 => if let Some(cookie) = board.queues[side].pop_front() {
                    prop_assert!(board.unread < board.ring.len(), "record overwritten");
                    let record = Record {
                        cookie,
                        direction,
                        channel: 0,
                        phase: board.sequence >> ring_log2 & 1 == 0,
                        outcome: Ok(()),
                        bytes_done: 1,
                        sequence: board.sequence,
                        fault_address: None,
                        header: 0,
                    };
                    let slot = board.sequence as usize % board.ring.len();
                    board.ring[slot] = record.encode();
                    board.unread += 1;
                    board.sequence += 1;
                },
                _ => match ring.poll(&mut board) {
                    Ok(Some(record)) => {
                        board.unread -= 1;
                        let side = usize::from(record.direction == Direction::ToFpga);
                        prop_assert_eq!(Some(record.cookie), expected[side].pop_front());
                        prop_assert_eq!(occupancy.complete(record.direction, record.cookie), Ok(1));
                    }
                    Ok(None) => prop_assert_eq!(board.unread, 0),
                    Err(error) => prop_assert!(false, "{error}"),
                },
            }
        }
    }
}
