//! Tests of the promises of [`peerlane_host`], through its public interface and nothing else. The same tests run on the
//! simulated board, on the kernel's device, and on a fake of the block's registers.
//!
//! FPGA memory is only checked by transfers, not by a look into a model.

mod contexts;
mod copies;
mod data;
mod ends;
mod lists;
mod order;
mod ragged;
mod restarts;
mod stops;
mod streams;
mod tasks;

use anyhow::{Context, Result, bail, ensure};
use peerlane_host::{
    Device, Error, Fault, Memory, MemoryKind, Permissions, Queue, Region, Transfer,
};
use std::time::Duration;

/// Longer than any transfer of the tests takes, in the board's time.
pub const LIMIT: Duration = Duration::from_secs(60);

/// FPGA memory that most tests have.
const PLACE: u64 = 512 << 10;

/// Environment of the tests.
pub trait Bench {
    /// Opens a new context of the board.
    fn open(&self) -> Result<Device>;

    /// Returns the kinds of memory that the device can allocate.
    fn kinds(&self) -> &[MemoryKind] {
        &[MemoryKind::Host]
    }

    /// Returns whether memory of the process is registered by its address.
    fn takes_addresses(&self) -> bool {
        false
    }

    /// Returns whether huge pages of the process are contiguous on the bus, too.
    fn shows_huge_pages(&self) -> bool {
        false
    }

    /// Resets and restarts the board, where this environment supports it. Returns whether it does.
    fn reset(&self) -> Result<bool> {
        Ok(false)
    }
}

/// A test.
pub type Test = fn(&dyn Bench) -> Result<()>;

/// All tests, by name.
pub const ALL: &[(&str, Test)] = &[
    ("every_alignment", data::every_alignment),
    ("every_length", data::every_length),
    ("ranges_keep_their_offset", data::ranges_keep_their_offset),
    ("pages_of_two_sizes", data::pages_of_two_sizes),
    ("writes_with_every_end", ragged::every_end),
    ("ragged_writes_around_a_page", ragged::around_a_page),
    ("ragged_writes_in_order", ragged::in_order),
    ("ragged_writes_have_neighbours", ragged::neighbours),
    ("ragged_lists_and_streams", ragged::lists_and_streams),
    ("however_a_ragged_write_ends", ragged::however_it_ends),
    ("ragged_writes_to_addresses", ragged::by_its_address),
    ("larger_than_the_queue", data::larger_than_the_queue),
    ("both_directions_at_once", data::both_directions_at_once),
    ("threads_share_a_queue", data::threads_share_a_queue),
    ("chained", order::chained),
    ("urgent_in_spite_of_moderation", order::urgent),
    ("without_a_flush", order::without_a_flush),
    ("one_descriptor_takes_few_stores", order::stores),
    ("handles_may_go", ends::handles_may_go),
    ("results_stay", ends::results_stay),
    ("restarted", ends::restarted),
    ("stopped_by_its_device", ends::stopped),
    ("drained", ends::drained),
    ("a_forgotten_region", ends::a_forgotten_region),
    ("a_restart_ends_transfers", restarts::under_way),
    ("a_query_beside_a_queue", restarts::query_beside_a_queue),
    ("queues_after_a_restart", restarts::queues_after),
    ("forgotten_while_queued", ends::forgotten_while_queued),
    ("scatter_lists", lists::both_directions),
    ("a_list_with_a_wrong_part", lists::wrong_part),
    ("copies_in_windows", copies::there_and_back),
    ("wrong_copies", copies::wrong),
    ("a_stream_from_the_fpga", streams::from_the_fpga),
    ("a_stream_to_the_fpga", streams::to_the_fpga),
    ("a_stream_without_an_end", streams::without_an_end),
    ("called_off", stops::called_off),
    ("a_deadline_leaves_nothing_under_way", stops::deadline),
    ("awaited_by_tasks", tasks::awaited),
    ("an_executor_that_turns", tasks::turned),
    ("a_task_hears_of_a_fault", tasks::fails),
    ("wrong_requests", contexts::wrong_requests),
    ("one_queue_a_device", contexts::one_queue),
    ("no_window_without_fpga_memory", contexts::no_window),
    ("contexts_are_apart", contexts::apart),
    ("fpga_memory_is_zero_at_first", contexts::zeros),
    ("fpga_memory_is_handed_on", contexts::handed_on),
];

/// Runs one test; the error names it.
pub fn run(bench: &dyn Bench, name: &str, test: Test) -> Result<()> {
    test(bench).with_context(|| format!("functional test {name}"))
}

/// Converts the library's error, with its hint.
fn told(error: Error) -> anyhow::Error {
    let hint = error.hint();
    anyhow::Error::new(error).context(hint)
}

/// A context with a queue and some FPGA memory.
struct Work {
    device: Device,
    queue: Queue,
    /// Its first byte of FPGA memory.
    place: u64,
}

impl Work {
    fn new(bench: &dyn Bench) -> Result<Self> {
        Self::with(bench, PLACE)
    }

    fn with(bench: &dyn Bench, bytes: u64) -> Result<Self> {
        let device = bench.open()?;
        let place = device.allocate(bytes).map_err(told)?.keep().start;
        let queue = device.queue().map_err(told)?;
        Ok(Self {
            device,
            queue,
            place,
        })
    }

    /// Allocates memory of a kind, registered for both directions.
    fn buffer(&self, kind: MemoryKind, length: usize) -> Result<(Memory, Region)> {
        let memory = self.device.memory(kind, length).map_err(told)?;
        let region = self.device.register_all(&memory, Permissions::ReadWrite);
        Ok((memory, region.map_err(told)?))
    }

    /// Allocates host memory, registered for both directions.
    fn host(&self, length: usize) -> Result<(Memory, Region)> {
        self.buffer(MemoryKind::Host, length)
    }

    /// Reads FPGA memory.
    fn fpga(&self, address: u64, length: usize) -> Result<Vec<u8>> {
        let (memory, region) = self.host(length)?;
        // Shows bytes that the transfer does not write.
        memory.write(0, &vec![0xee; length]).map_err(told)?;
        done(
            &self
                .queue
                .from_fpga(address, region.part(0..length as u64))
                .map_err(told)?,
        )?;
        bytes(&memory)
    }

    /// Writes FPGA memory.
    fn set_fpga(&self, address: u64, bytes: &[u8]) -> Result<()> {
        let (memory, region) = self.host(bytes.len())?;
        memory.write(0, bytes).map_err(told)?;
        let length = bytes.len() as u64;
        done(
            &self
                .queue
                .to_fpga(region.part(0..length), address)
                .map_err(told)?,
        )
    }
}

/// Waits for a transfer, which must move all of its bytes.
fn done(transfer: &Transfer) -> Result<()> {
    let moved = transfer.wait(LIMIT).map_err(told)?;
    ensure!(moved == transfer.length(), "{moved} bytes were moved");
    Ok(())
}

/// Waits for a transfer, which must end with a fault of the board.
fn fault_of(transfer: &Transfer) -> Result<Fault> {
    match transfer.wait(LIMIT) {
        Err(Error::Fault { fault, .. }) => Ok(fault),
        other => bail!("no fault: {other:?}"),
    }
}

/// Returns all bytes of a memory.
fn bytes(memory: &Memory) -> Result<Vec<u8>> {
    let mut bytes = vec![0; memory.length()];
    memory.read(0, &mut bytes).map_err(told)?;
    Ok(bytes)
}

/// Returns bytes that differ at every place and for every seed.
fn pattern(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] ^ seed)
        .collect()
}

/// Compares bytes, and reports the first difference.
fn same(what: &str, found: &[u8], expected: &[u8]) -> Result<()> {
    ensure!(found.len() == expected.len(), "{what}: lengths differ");
    match expected.iter().zip(found).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => bail!(
            "{what}: byte {at:#x} is {:#04x}, not {:#04x}",
            found[at],
            expected[at]
        ),
    }
}
