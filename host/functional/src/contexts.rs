//! Contexts, and the resources that belong to them.

use crate::{Bench, PLACE, Work, bytes, done, pattern, same, told};
use anyhow::{Result, ensure};
use peerlane_host::{Direction, Error, MemoryKind, Permissions, Request, Terms, Transfer};

type Asked = std::result::Result<Transfer, Error>;

/// Wrong requests are refused before the board sees them.
pub fn wrong_requests(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    let (memory, region) = work.host(8192)?;
    let (queue, place) = (&work.queue, work.place);
    let before = queue.statistics();
    let outside = |asked: Asked| matches!(asked, Err(Error::Region(_)));
    ensure!(outside(queue.to_fpga(region.part(8192..8193), place)));
    ensure!(outside(queue.to_fpga(region.part(1..8193), place)));
    let wraps = Request {
        offset: u64::MAX,
        ..Request::new(Direction::FromFpga, region.part(0..2), place)
    };
    ensure!(outside(queue.submit_with(&wraps, Terms::default())));
    let nothing = queue.to_fpga(region.part(0..0), place);
    ensure!(matches!(nothing, Err(Error::Empty { what: "a transfer" })));
    let end = work.device.range().end;
    let elsewhere = |asked: Asked| matches!(asked, Err(Error::Local { .. }));
    ensure!(elsewhere(queue.to_fpga(region.part(0..2), end - 1)));
    ensure!(elsewhere(queue.from_fpga(end, region.part(0..1))));
    ensure!(elsewhere(queue.from_fpga(u64::MAX, region.part(0..2))));
    for (permissions, reads) in [(Permissions::Read, true), (Permissions::Write, false)] {
        let half = work
            .device
            .register_all(&memory, permissions)
            .map_err(told)?;
        let [read, write] = [
            queue.to_fpga(half.part(0..64), place),
            queue.from_fpga(place, half.part(0..64)),
        ];
        let (may, may_not) = if reads { (read, write) } else { (write, read) };
        ensure!(outside(may_not));
        done(&may.map_err(told)?)?;
    }
    ensure!(queue.statistics().descriptors - before.descriptors == 2);
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = work.device.register(&memory, 9..5, Permissions::Read);
    ensure!(matches!(backwards, Err(Error::Empty { what: "a region" })));
    for kind in bench.kinds() {
        let none = work.device.memory(*kind, 0);
        ensure!(
            matches!(none, Err(Error::Empty { what: "memory" })),
            "{none:?}"
        );
    }
    let behind = work.device.register(&memory, 5..8193, Permissions::Read);
    ensure!(matches!(behind, Err(Error::Bounds { .. })));
    ensure!(matches!(
        memory.read(8190, &mut [0; 3]),
        Err(Error::Bounds { .. })
    ));
    ensure!(matches!(
        memory.write(usize::MAX, &[0]),
        Err(Error::Bounds { .. })
    ));
    let other = bench.open()?;
    let foreign = other
        .register_all(&memory, Permissions::Read)
        .map_err(told)?;
    let foreign = queue.to_fpga(foreign.part(0..1), place);
    ensure!(matches!(foreign, Err(Error::Foreign)));
    Ok(())
}

/// A device has one queue.
pub fn one_queue(bench: &dyn Bench) -> Result<()> {
    let work = Work::new(bench)?;
    ensure!(matches!(work.device.queue(), Err(Error::Taken)));
    // Nor does it get FPGA memory from then on, or free it.
    let more = work.device.allocate(PLACE);
    ensure!(matches!(more, Err(Error::Memory { .. })), "{more:?}");
    Ok(())
}

/// Two contexts have different channels and different FPGA memory, and move data concurrently.
pub fn apart(bench: &dyn Bench) -> Result<()> {
    let works = [Work::new(bench)?, Work::new(bench)?];
    let [one, other] = &works;
    ensure!(one.device.info().channel != other.device.info().channel);
    let [mine, theirs] = [one.device.range(), other.device.range()];
    ensure!(mine.end <= theirs.start || theirs.end <= mine.start);
    let data = [pattern(1, 64 << 10), pattern(2, 64 << 10)];
    let buffers = [one.host(64 << 10)?, other.host(64 << 10)?];
    let mut transfers = Vec::new();
    for ((work, data), (memory, region)) in works.iter().zip(&data).zip(&buffers) {
        memory.write(0, data).map_err(told)?;
        let length = data.len() as u64;
        transfers.push(
            work.queue
                .to_fpga(region.part(0..length), work.place)
                .map_err(told)?,
        );
    }
    transfers.iter().rev().try_for_each(done)?;
    for (work, data) in works.iter().zip(&data) {
        same("FPGA memory", &work.fpga(work.place, data.len())?, data)?;
    }
    Ok(())
}

/// New FPGA memory is zero, whichever data its previous owner has left there.
pub fn zeros(bench: &dyn Bench) -> Result<()> {
    const BYTES: usize = 128 << 10;
    for _ in 0..2 {
        let work = Work::with(bench, BYTES as u64)?;
        let range = work.device.range();
        ensure!(range.end - range.start == BYTES as u64);
        same(
            "new FPGA memory",
            &work.fpga(work.place, BYTES)?,
            &vec![0; BYTES],
        )?;
        // The next context is likely to get the same memory.
        work.set_fpga(work.place, &pattern(9, BYTES))?;
    }
    Ok(())
}

/// FPGA memory is freed, and taken over with its content. A context that has a queue keeps its memory, so one context
/// fills it, and another one hands it on.
pub fn handed_on(bench: &dyn Bench) -> Result<()> {
    const BYTES: u64 = 64 << 10;
    let owner = bench.open()?;
    let memory = owner.allocate(BYTES).map_err(told)?;
    let place = memory.range();
    let again = owner.allocate(BYTES);
    ensure!(matches!(again, Err(Error::Memory { .. })), "{again:?}");
    let offer = memory.offer().map_err(told)?;
    ensure!(owner.range().is_empty());
    let next = bench.open()?;
    let taken = next.take_over(offer).map_err(told)?;
    ensure!(taken.range() == place && next.range() == place);
    // Only once.
    ensure!(matches!(owner.take_over(offer), Err(Error::Memory { .. })));
    taken.keep();
    let queue = next.queue().map_err(told)?;
    let memory = next
        .memory(MemoryKind::Host, BYTES as usize)
        .map_err(told)?;
    memory.write(0, &vec![1; BYTES as usize]).map_err(told)?;
    let region = next
        .register_all(&memory, Permissions::Write)
        .map_err(told)?;
    done(
        &queue
            .from_fpga(place.start, region.part(0..BYTES))
            .map_err(told)?,
    )?;
    same(
        "the memory that was taken over",
        &bytes(&memory)?,
        &vec![0; BYTES as usize],
    )
}

/// The window into FPGA memory is refused with the error of the window: a context without FPGA memory has no place for
/// it, whether the board has a window or not.
pub fn no_window(bench: &dyn Bench) -> Result<()> {
    let device = bench.open()?;
    let refused = device.window(0);
    ensure!(
        matches!(refused, Err(Error::Window { base: 0, .. })),
        "{refused:?}"
    );
    Ok(())
}
