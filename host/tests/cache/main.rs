//! The registration cache, over a minimal driver.

#[path = "../least/mod.rs"]
mod least;
mod parts;
mod random;

use least::Least;
use peerlane_host::cache::{Buffer, Cache, Cached, Limits, Registered, Statistics};
use peerlane_host::{Device, Errno, Error, Permissions, Result};
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

const KIB: u64 = 1 << 10;

/// A device, and its driver.
struct Rig {
    least: Least,
    device: Device,
    file: std::fs::File,
}

impl Rig {
    fn new() -> Self {
        let least = Least::new();
        Self {
            device: Device::over(least.clone()).unwrap(),
            least,
            file: std::fs::File::open("/dev/null").unwrap(),
        }
    }

    /// Registers exactly a range, which the driver gets as an offset.
    fn register(&self, range: Range<u64>, permissions: Permissions) -> Result<Registered> {
        let length = range.end - range.start;
        let region = (self.device).register_dmabuf(&self.file, range.start, length, permissions)?;
        Ok(Registered { region, range })
    }

    fn try_get(
        &self,
        cache: &Cache,
        buffer: &Buffer,
        range: Range<u64>,
        permissions: Permissions,
    ) -> Result<Cached> {
        cache.get(buffer, range, permissions, |range| {
            self.register(range, permissions)
        })
    }

    fn get(&self, cache: &Cache, buffer: &Buffer, range: Range<u64>) -> Cached {
        let both = Permissions::ReadWrite;
        self.try_get(cache, buffer, range, both).unwrap()
    }

    /// Returns the regions of the driver: offset and length of each.
    fn known(&self) -> Vec<(u64, u64)> {
        let regions = self.least.regions.lock().unwrap();
        let mut known: Vec<_> = (regions.values())
            .map(|region| (region.address, region.length))
            .collect();
        known.sort_unstable();
        known
    }
}

fn limits(regions: usize, bytes: u64, bar_bytes: u64) -> Limits {
    Limits {
        regions,
        bytes,
        bar_bytes,
    }
}

#[test]
fn memory_is_registered_once() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(7);
    let first = rig.get(&cache, &buffer, 64 * KIB..128 * KIB);
    assert_eq!((first.offset(), first.length()), (0, 64 * KIB));
    let part = rig.get(&cache, &buffer, 65 * KIB..66 * KIB);
    assert_eq!(part.region().handle(), first.region().handle());
    assert_eq!((part.offset(), part.length()), (KIB, KIB));
    let handle = first.region().handle();
    drop((first, part));
    // Also when there are no other references to it.
    let again = rig.get(&cache, &buffer, 127 * KIB..128 * KIB);
    assert_eq!(
        (again.region().handle(), again.offset()),
        (handle, 63 * KIB)
    );
    let statistics = Statistics {
        found: 2,
        registered: 1,
        regions: 1,
        bytes: 64 * KIB,
    };
    assert_eq!(cache.statistics(), statistics);
    drop((again, cache));
    assert_eq!(rig.known(), []);
    assert_eq!(rig.least.kept.load(Ordering::Relaxed), 0);
}

#[test]
fn an_address_that_is_used_again_is_other_memory() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let before = rig.get(&cache, &Buffer::cuda(907), 0..64 * KIB);
    let dead = before.region().handle();
    drop(before);
    let now = rig.get(&cache, &Buffer::cuda(908), 4 * KIB..8 * KIB);
    assert_ne!(now.region().handle(), dead);
    // The dead region went, and the driver did not cache it.
    assert_eq!(rig.known(), [(4 * KIB, 4 * KIB)]);
    assert_eq!(rig.least.kept.load(Ordering::Relaxed), 0);
    // A dma-buf has offsets of its own.
    let files = [(); 2].map(|()| tempfile());
    let [one, other] = [0, 1].map(|index| Buffer::dma_buf(&files[index]).unwrap());
    assert_eq!(one, Buffer::dma_buf(files[0].try_clone().unwrap()).unwrap());
    assert_ne!(one, other);
    let handles = [Buffer::cuda(908), one, other]
        .map(|buffer| rig.get(&cache, &buffer, 4 * KIB..8 * KIB).region().handle());
    assert_eq!(handles[0], now.region().handle());
    assert!(handles[0] != handles[1] && handles[1] != handles[2] && handles[0] != handles[2]);
}

fn tempfile() -> std::fs::File {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    rustix::fs::memfd_create("stands for a dma-buf", flags)
        .unwrap()
        .into()
}

#[test]
fn permissions_are_not_widened() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let get = |permissions| {
        let cached = rig.try_get(&cache, &buffer, 0..4096, permissions).unwrap();
        (cached.region().handle(), cached.region().permissions())
    };
    let read = get(Permissions::Read);
    assert_eq!(read.1, Permissions::Read);
    let write = get(Permissions::Write);
    assert_eq!(write.1, Permissions::Write);
    let both = get(Permissions::ReadWrite);
    assert_eq!(both.1, Permissions::ReadWrite);
    assert!(read.0 != write.0 && write.0 != both.0 && both.0 != read.0);
    assert_eq!(get(Permissions::Read), read);
    // Where there is only one region with both permissions, it serves each.
    cache.clear();
    let both = get(Permissions::ReadWrite);
    assert_eq!(get(Permissions::Read), both);
    assert_eq!(get(Permissions::Write), both);
}

#[test]
fn ranges_that_overlap_become_one() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let first = rig.get(&cache, &buffer, 0..64 * KIB);
    // Neighbouring ranges do not overlap.
    drop(rig.get(&cache, &buffer, 64 * KIB..80 * KIB));
    drop(rig.get(&cache, &buffer, 200 * KIB..204 * KIB));
    let all = rig.get(&cache, &buffer, 60 * KIB..100 * KIB);
    assert_eq!((all.offset(), all.region().length()), (60 * KIB, 100 * KIB));
    assert_eq!(cache.statistics().regions, 2);
    // The first is in use, and goes with its user.
    let one = (0, 100 * KIB);
    assert_eq!(rig.known(), [(0, 64 * KIB), one, (200 * KIB, 4 * KIB)]);
    drop(first);
    assert_eq!(rig.known(), [one, (200 * KIB, 4 * KIB)]);
    assert_eq!(rig.least.kept.load(Ordering::Relaxed), 0);
    // A region that was registered wider than asked for, for example in whole pages, keeps its place next to others.
    let wide = cache.get(
        &buffer,
        110 * KIB..111 * KIB,
        Permissions::ReadWrite,
        |_| rig.register(96 * KIB..256 * KIB, Permissions::ReadWrite),
    );
    let wide = wide.unwrap();
    assert_eq!(wide.offset(), 14 * KIB);
    let beside = rig.get(&cache, &buffer, 120 * KIB..250 * KIB);
    assert_eq!(beside.region().handle(), wide.region().handle());
    // The region begins where it was registered, and not where the other one ends.
    assert_eq!((beside.offset(), beside.length()), (24 * KIB, 130 * KIB));
    assert_eq!(
        rig.get(&cache, &buffer, 99 * KIB..100 * KIB)
            .region()
            .handle(),
        all.region().handle()
    );
    assert_eq!(rig.known(), [one, (96 * KIB, 160 * KIB)]);
}

/// Pages that are wider than the range overlap, though no two callers ask for the same range. While one registers,
/// another has registered some, or all, of the first one's result.
#[test]
fn what_others_have_registered_meanwhile_keeps_its_place() {
    let both = Permissions::ReadWrite;
    let buffer = Buffer::cuda(1);
    // Ranges that the other one asks for and gets, then those of the first one, and the regions that are known after
    // that; in KiB.
    type Case = (
        Range<u64>,
        Range<u64>,
        Range<u64>,
        Range<u64>,
        [Option<(u64, u64)>; 2],
    );
    let cases: [Case; 6] = [
        // Disjoint parts of their own: both stay.
        (
            100..101,
            96..160,
            200..201,
            128..256,
            [Some((96, 64)), Some((128, 128))],
        ),
        (
            200..201,
            128..256,
            100..101,
            96..160,
            [Some((96, 64)), Some((128, 128))],
        ),
        // The other one has all of the first one's region, from the same place on, or from an earlier one.
        (
            100..101,
            96..512,
            110..111,
            96..256,
            [Some((96, 416)), None],
        ),
        (
            100..101,
            64..512,
            110..111,
            96..256,
            [Some((64, 448)), None],
        ),
        // The other one lies within.
        (100..101, 96..104, 110..111, 64..128, [Some((64, 64)), None]),
        // The other one has some of the range that the first one asked for.
        (
            300..301,
            128..384,
            100..200,
            64..256,
            [Some((128, 256)), None],
        ),
    ];
    for (others, others_made, asked, made, known) in cases {
        let rig = Rig::new();
        let cache = Cache::new(Limits::default());
        let kib = |range: &Range<u64>| range.start * KIB..range.end * KIB;
        let first = cache.get(&buffer, kib(&asked), both, |_| {
            // In another thread, as a registration may not use the cache itself.
            std::thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let range = kib(&others);
                    drop(cache.get(&buffer, range, both, |_| {
                        rig.register(kib(&others_made), both)
                    }));
                });
                other.join().unwrap();
            });
            rig.register(kib(&made), both)
        });
        let first = first.unwrap();
        assert_eq!(first.offset(), (asked.start - made.start) * KIB);
        drop(first);
        let known: Vec<_> = (known.into_iter().flatten())
            .map(|(start, length)| (start * KIB, length * KIB))
            .collect();
        let case = (&others_made, &made);
        assert_eq!(rig.known(), known, "{case:?}");
        // The counts match the regions.
        let counted = cache.statistics();
        let bytes: u64 = known.iter().map(|(_, length)| length).sum();
        assert_eq!(
            (counted.regions, counted.bytes),
            (known.len(), bytes),
            "{case:?}"
        );
        // Every page is found where it is.
        for page in 16..128_u64 {
            let page = 4 * page * KIB..(4 * page + 1) * KIB;
            let cached = rig.get(&cache, &buffer, page.clone());
            let region = rig.least.regions.lock().unwrap()[&cached.region().handle()];
            assert_eq!(region.address + cached.offset(), page.start, "{case:?}");
        }
        drop(cache);
        assert_eq!(
            (rig.known(), rig.least.kept.load(Ordering::Relaxed)),
            (Vec::new(), 0)
        );
    }
}

/// A region of which other regions have left only a part is dropped when any of its memory is invalidated.
#[test]
fn what_is_freed_beside_its_part_lets_a_region_go() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let both = Permissions::ReadWrite;
    drop(rig.get(&cache, &buffer, 0..100 * KIB));
    let wide = cache.get(&buffer, 110 * KIB..111 * KIB, both, |_| {
        rig.register(96 * KIB..256 * KIB, both)
    });
    drop(wide.unwrap());
    cache.invalidate_addresses(96 * KIB..97 * KIB);
    assert_eq!(rig.known(), []);
}

/// Results of a program's own way to register.
#[test]
fn what_was_not_asked_for_is_not_kept() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let both = Permissions::ReadWrite;
    let reversed = Range {
        start: 5000,
        end: 4000,
    };
    for range in [0..4096, 8192..8193, reversed] {
        let made = cache.get(&buffer, 4096..8192, both, |asked| {
            let region = rig.register(asked, both)?.region;
            let range = range.clone();
            Ok::<_, Error>(Registered { region, range })
        });
        made.unwrap();
        assert_eq!(cache.statistics().regions, 0);
    }
}

#[test]
fn ranges_that_cannot_be_one_are_registered_apart() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    drop(rig.get(&cache, &buffer, 0..64 * KIB));
    *rig.least.refuse.lock().unwrap() = Some((Errno::INVAL, 1));
    let other = rig.get(&cache, &buffer, 32 * KIB..96 * KIB);
    assert_eq!((other.offset(), other.region().length()), (0, 64 * KIB));
    assert_eq!(rig.known(), [(32 * KIB, 64 * KIB)]);
    // An error that more room would not fix is returned, and leaves everything else.
    *rig.least.refuse.lock().unwrap() = Some((Errno::FAULT, 1));
    let both = Permissions::ReadWrite;
    let error = rig
        .try_get(&cache, &buffer, 100 * KIB..101 * KIB, both)
        .unwrap_err();
    assert!(matches!(
        error,
        Error::Call {
            source: Errno::FAULT,
            ..
        }
    ));
    assert_eq!(cache.statistics().regions, 1);
    // And not permanently.
    rig.get(&cache, &buffer, 100 * KIB..101 * KIB);
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let rig = Rig::new();
    let buffer = Buffer::cuda(1);
    let at = |number: u64| number * 8 * KIB..number * 8 * KIB + 4 * KIB;
    // By count, and by bytes.
    for limits in [limits(2, u64::MAX, 0), limits(9, 8 * KIB, 0)] {
        let cache = Cache::new(limits);
        drop((
            rig.get(&cache, &buffer, at(0)),
            rig.get(&cache, &buffer, at(1)),
        ));
        drop(rig.get(&cache, &buffer, at(0)));
        drop(rig.get(&cache, &buffer, at(2)));
        assert_eq!(
            rig.known(),
            [(0, 4 * KIB), (16 * KIB, 4 * KIB)],
            "{limits:?}"
        );
        // A region in use stays: then there is no room, and no region is cached beyond the limits.
        let used = [0, 2].map(|number| rig.get(&cache, &buffer, at(number)));
        drop(rig.get(&cache, &buffer, at(3)));
        assert_eq!(
            rig.known(),
            [(0, 4 * KIB), (16 * KIB, 4 * KIB)],
            "{limits:?}"
        );
        drop(used);
        drop(rig.get(&cache, &buffer, at(3)));
        assert_eq!(
            rig.known(),
            [(16 * KIB, 4 * KIB), (24 * KIB, 4 * KIB)],
            "{limits:?}"
        );
        // A region that never fits evicts nothing.
        drop(rig.get(&cache, &buffer, 1024 * KIB..1036 * KIB));
        let never = limits.bytes == 8 * KIB;
        assert!(rig.known().contains(&(24 * KIB, 4 * KIB)));
        assert_eq!(cache.statistics().regions, 2);
        assert_eq!(rig.known().contains(&(1024 * KIB, 12 * KIB)), !never);
    }
    // A full BAR evicts nothing from other memory.
    let cache = Cache::new(limits(9, u64::MAX, 8 * KIB));
    let behind = Buffer::cuda(1).behind(0);
    let elsewhere = Buffer::cuda(1).behind(1);
    drop(rig.get(&cache, &buffer, at(0)));
    drop(rig.get(&cache, &elsewhere, at(1)));
    for number in 2..5 {
        drop(rig.get(&cache, &behind, at(number)));
    }
    let left = [at(0), at(1), at(3), at(4)].map(|range| (range.start, 4 * KIB));
    assert_eq!(rig.known(), left);
}

#[test]
fn where_there_is_no_room_what_nobody_uses_is_given_back() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let used = rig.get(&cache, &buffer, 0..4096);
    drop(rig.get(&cache, &buffer, 8192..12_288));
    *rig.least.refuse.lock().unwrap() = Some((Errno::NOSPC, 1));
    rig.get(&cache, &buffer, 16_384..20_480);
    assert_eq!(rig.known(), [(0, 4096), (16_384, 4096)]);
    // Once.
    *rig.least.refuse.lock().unwrap() = Some((Errno::NOSPC, 2));
    let both = Permissions::ReadWrite;
    let error = rig
        .try_get(&cache, &buffer, 8192..12_288, both)
        .unwrap_err();
    assert!(matches!(
        error,
        Error::Call {
            source: Errno::NOSPC,
            ..
        }
    ));
    assert_eq!(rig.known(), [(0, 4096)]);
    drop(used);
}

#[test]
fn what_is_freed_is_let_go_of() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let (one, other) = (Buffer::cuda(1), Buffer::cuda(2));
    let used = rig.get(&cache, &one, 0..4096);
    drop(rig.get(&cache, &one, 8192..12_288));
    drop(rig.get(&cache, &other, 16_384..20_480));
    cache.invalidate(&one);
    assert_eq!(rig.known(), [(0, 4096), (16_384, 4096)]);
    // A look-up does not find it any more, though it exists.
    let again = rig.get(&cache, &one, 0..4096);
    assert_ne!(again.region().handle(), used.region().handle());
    drop((used, again));
    assert_eq!(rig.least.kept.load(Ordering::Relaxed), 0);
    cache.invalidate_addresses(4095..16_384);
    assert_eq!(rig.known(), [(16_384, 4096)]);
    // A dma-buf has no addresses.
    let file = tempfile();
    let buffer = Buffer::dma_buf(&file).unwrap();
    let both = Permissions::ReadWrite;
    drop(
        cache
            .dma_buf(&rig.device, &file, &buffer, 0..512, both)
            .unwrap(),
    );
    cache.invalidate_addresses(0..u64::MAX);
    assert_eq!(rig.known(), [(0, 512)]);
    cache.invalidate(&buffer);
    assert_eq!(rig.known(), []);
}

/// No lock is held during the registration, so that an allocator's hook may come in between.
#[test]
fn what_is_freed_while_it_is_registered_is_not_kept() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let both = Permissions::ReadWrite;
    let frees: [&dyn Fn(); 4] = [
        &|| cache.invalidate(&Buffer::cuda(1)),
        &|| cache.invalidate_addresses(0..1),
        &|| cache.clear(),
        // Another program part has memory at the address already.
        &|| drop(rig.get(&cache, &Buffer::cuda(2), 0..1)),
    ];
    for free in frees {
        let cached = cache.get(&Buffer::cuda(1), 0..4096, both, |range| {
            let made = rig.register(range, both);
            free();
            made
        });
        drop(cached.unwrap());
        assert!(!rig.known().contains(&(0, 4096)));
        cache.clear();
    }
    assert_eq!(rig.least.kept.load(Ordering::Relaxed), 0);
}

/// No lock is held while the driver unregisters a region, for any reason.
#[test]
fn what_goes_goes_without_a_lock() {
    type Reason = fn(&Rig, &Cache, &Buffer);
    let reasons: [(&str, Reason); 7] = [
        ("freed", |_, cache, buffer| cache.invalidate(buffer)),
        ("addresses freed", |_, cache, _| {
            cache.invalidate_addresses(0..1)
        }),
        ("cleared", |_, cache, _| cache.clear()),
        ("other memory", |rig, cache, _| {
            drop(rig.get(cache, &Buffer::cuda(2), 0..1))
        }),
        ("one of two", |rig, cache, buffer| {
            drop(rig.get(cache, buffer, 1..8192))
        }),
        ("used longest ago", |rig, cache, buffer| {
            drop(rig.get(cache, buffer, 8192..8193))
        }),
        ("no room", |rig, cache, _| {
            *rig.least.refuse.lock().unwrap() = Some((Errno::NOSPC, 1));
            drop(rig.get(cache, &Buffer::cuda(3), 1 << 30..1 << 31));
        }),
    ];
    for (name, reason) in reasons {
        let rig = Rig::new();
        let cache = Cache::new(limits(1, u64::MAX, 0));
        let buffer = Buffer::cuda(1);
        drop(rig.get(&cache, &buffer, 0..4096));
        let (other, (tell, told)) = (cache.clone(), std::sync::mpsc::channel());
        *rig.least.in_unregister.lock().unwrap() = Some(Box::new(move || {
            // Another thread, for which a lock would not be free.
            let (done, ended) = std::sync::mpsc::channel();
            std::thread::spawn(move || done.send(other.statistics()));
            let free = ended
                .recv_timeout(std::time::Duration::from_secs(10))
                .is_ok();
            tell.send(free).unwrap();
        }));
        reason(&rig, &cache, &buffer);
        assert!(told.try_recv().expect(name), "{name}: a lock was held");
    }
}

/// After an invalidation the memory is freed. The board may have regions that another thread has begun to drop until
/// that drop has ended.
#[test]
fn an_invalidation_waits_for_what_others_let_go_of() {
    let rig = Rig::new();
    let cache = Cache::new(limits(1, u64::MAX, 0));
    let [first, second] = [1, 2].map(Buffer::cuda);
    drop(rig.get(&cache, &first, 0..4096));
    let (begin, begun) = std::sync::mpsc::channel();
    let (tell, told) = std::sync::mpsc::channel::<()>();
    *rig.least.in_unregister.lock().unwrap() = Some(Box::new(move || {
        begin.send(()).unwrap();
        // Until the other thread has had time to return too early.
        let _ = told.recv_timeout(std::time::Duration::from_secs(10));
    }));
    std::thread::scope(|scope| {
        // There is room for one: the first region goes.
        scope.spawn(|| drop(rig.get(&cache, &second, 0..4096)));
        begun.recv().unwrap();
        let (end, ended) = std::sync::mpsc::channel();
        let (cache, first) = (&cache, &first);
        scope.spawn(move || {
            cache.invalidate(first);
            end.send(()).unwrap();
        });
        let early = ended.recv_timeout(std::time::Duration::from_millis(100));
        tell.send(()).unwrap();
        assert!(early.is_err(), "the board still has the memory");
        ended
            .recv_timeout(std::time::Duration::from_secs(10))
            .unwrap();
    });
}

/// A registration that waits for another one has dropped the dead regions before.
#[test]
fn who_waits_for_a_registration_holds_nothing_back() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let [dead, living] = [1, 2].map(Buffer::cuda);
    drop(rig.get(&cache, &dead, 0..4096));
    let (both, gate) = (Permissions::ReadWrite, Barrier::new(2));
    std::thread::scope(|scope| {
        let (cache, rig, gate, living) = (&cache, &rig, &gate, &living);
        let (go, goes) = std::sync::mpsc::channel::<()>();
        // Registers memory next to it, and takes as long as the test wants.
        scope.spawn(move || {
            let register = |range: Range<u64>| {
                gate.wait();
                goes.recv().unwrap();
                rig.register(range, both)
            };
            drop(cache.get(living, 4096..8192, both, register));
        });
        gate.wait();
        // The buffer at the address of the dead one.
        scope.spawn(move || drop(rig.get(cache, living, 0..8192)));
        let begin = std::time::Instant::now();
        while !rig.known().is_empty() && begin.elapsed() < std::time::Duration::from_secs(5) {
            std::thread::yield_now();
        }
        let known = rig.known();
        go.send(()).unwrap();
        assert!(
            known.is_empty(),
            "{known:?}: the dead one is still the board's"
        );
    });
}

#[test]
fn a_region_that_was_forgotten_is_not_found() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let failed = rig.get(&cache, &buffer, 0..4096);
    failed.region().clone().forget().unwrap();
    let again = rig.get(&cache, &buffer, 0..4096);
    assert_ne!(again.region().handle(), failed.region().handle());
    assert_eq!(cache.statistics().regions, 1);
}

#[test]
fn two_that_want_the_same_register_it_once_and_others_go_on() {
    let rig = Arc::new(Rig::new());
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    drop(rig.get(&cache, &buffer, 1 << 20..1 << 21));
    let both = Permissions::ReadWrite;
    // Both threads come here, and neither before the other one has begun to look.
    let begun = Arc::new(Barrier::new(2));
    let (others, done) = std::sync::mpsc::channel();
    let calls = Arc::new(AtomicU32::new(0));
    let first = {
        let (rig, cache, begun, calls) = (rig.clone(), cache.clone(), begun.clone(), calls.clone());
        std::thread::spawn(move || {
            let cached = cache.get(&buffer, 0..8192, both, |range| {
                calls.fetch_add(1, Ordering::Relaxed);
                begun.wait();
                // While this registration is in progress, others are found and registered.
                let limit = std::time::Duration::from_secs(60);
                done.recv_timeout(limit).expect("they waited");
                rig.register(range, both)
            });
            cached.unwrap().region().handle()
        })
    };
    begun.wait();
    rig.get(&cache, &buffer, 1 << 20..1 << 21);
    rig.get(&cache, &buffer, 1 << 22..1 << 23);
    // The second look-up comes while the first one registers, which goes on for a moment.
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        others.send(()).unwrap();
    });
    let second = cache.get(&buffer, 4096..8192, both, |range| {
        calls.fetch_add(1, Ordering::Relaxed);
        rig.register(range, both)
    });
    assert_eq!(second.unwrap().region().handle(), first.join().unwrap());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn a_registration_that_panics_keeps_nobody_waiting() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let both = Permissions::ReadWrite;
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cache.get(&buffer, 0..4096, both, |_| -> Result<Registered> {
            panic!("as it should")
        })
    }));
    assert!(panics.is_err());
    rig.get(&cache, &buffer, 0..4096);
}

/// In a child no region is found, none is unregistered, and registrations are not cached.
#[test]
fn a_child_has_an_empty_cache() {
    let rig = Rig::new();
    let cache = Cache::new(Limits::default());
    let buffer = Buffer::cuda(1);
    let parents = rig.get(&cache, &buffer, 0..4096).region().handle();
    let (calls, least) = (rig.least.count(), rig.least.clone());
    let (device, inherited) = (rig.device.clone(), cache.clone());
    let file = std::fs::File::open("/dev/null").unwrap();
    let child = move || {
        inherited.clear();
        inherited.invalidate(&buffer);
        if least.count() != calls || inherited.statistics() != Statistics::default() {
            return 1;
        }
        let both = Permissions::ReadWrite;
        let own = inherited.get(&buffer, 0..4096, both, |range| {
            let region = device.register_dmabuf(&file, range.start, 4096, both)?;
            Ok::<_, Error>(Registered { region, range })
        });
        if own.is_ok_and(|own| own.region().handle() == parents) {
            return 2;
        }
        0
    };
    let mut command = std::process::Command::new("true");
    // SAFETY: the closure calls nothing but the allocator, whose state the C library handles across a fork, and locks
    // that no other thread knows.
    unsafe {
        command.pre_exec(move || match child() {
            0 => Ok(()),
            number => Err(std::io::Error::from_raw_os_error(number)),
        });
    }
    assert!(command.status().unwrap().success());
    // The parent's cache is as it was.
    assert_eq!(rig.get(&cache, &buffer, 0..4096).region().handle(), parents);
}
