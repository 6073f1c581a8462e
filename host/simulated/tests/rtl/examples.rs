//! The examples that take a device as it is, on the simulated board and its GPU.

use super::open;
use peerlane_host::driver::Options;
use peerlane_host::{Device, MemoryKind};
use peerlane_routes::Side;
use peerlane_simulated::{CopyEngine, SimBoard, SimGpu};
use std::sync::Arc;

#[path = "../../../../examples/03-acquisition/acquisition.rs"]
mod acquisition;
#[path = "../../../../examples/04-inference-feed/inference_feed.rs"]
mod inference_feed;
#[path = "../../../../examples/06-processes/processes.rs"]
mod processes;

/// The error with which an example ends has a hint.
#[test]
fn examples_tell_the_librarys_hint() {
    let error = peerlane_host::Error::Gone;
    for with_hint in [
        super::process::hello::with_hint,
        acquisition::with_hint,
        inference_feed::with_hint,
        processes::with_hint,
    ] {
        // As `main` prints it.
        let told = format!("{:?}", with_hint(error.clone().into()));
        assert!(told.starts_with(error.hint()), "{told}");
        assert!(told.contains(&error.to_string()), "{told}");
        let other = with_hint(anyhow::anyhow!("something else"));
        assert_eq!(other.to_string(), "something else");
    }
    for with_hint in [acquisition::with_hint, inference_feed::with_hint] {
        let told = with_hint(peerlane_gpu::Error::NoCuda.into()).to_string();
        assert_eq!(told, peerlane_gpu::Error::NoCuda.hint());
    }
    let error = peerlane_routes::Error::Cancelled { done: 1, length: 2 };
    let told = inference_feed::with_hint(error.clone().into()).to_string();
    assert_eq!(told, error.hint());
}

/// The processor works on the blocks that the board writes into the GPU's memory, and into the host's.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn acquisition() {
    for kind in [MemoryKind::Gpu, MemoryKind::Host] {
        let (_board, driver) = open(&Options::default());
        let device = driver.open().unwrap();
        let mut ring = acquisition::OnProcessor::new(&device, kind).unwrap();
        acquisition::run(&device, &mut ring).unwrap();
    }
}

/// Batches in the simulated GPU's memory.
struct OnSimulatedGpu(SimGpu);

impl OnSimulatedGpu {
    fn new(board: &SimBoard, device: &Device) -> Self {
        Self(SimGpu::new(board, device, 128 << 10, CopyEngine::default()).unwrap())
    }
}

impl inference_feed::Maker for OnSimulatedGpu {
    fn side(&self) -> Arc<dyn Side> {
        Arc::new(self.0.clone())
    }

    fn begin(&mut self, batch: u64, at: u64) -> anyhow::Result<()> {
        Ok(self
            .0
            .memory()
            .write(at as usize, &inference_feed::bytes(batch))?)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn inference_feed() {
    let (board, driver) = open(&Options::default());
    let device = driver.open().unwrap();
    inference_feed::run(&device, &mut OnSimulatedGpu::new(&board, &device)).unwrap();
    let (_board, driver) = open(&Options::default());
    let device = driver.open().unwrap();
    let mut maker = inference_feed::OnProcessor::new(&device).unwrap();
    inference_feed::run(&device, &mut maker).unwrap();
}

/// Contexts in threads replace those in processes, because the simulated board lives in one process.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn processes() {
    let (_board, driver) = open(&Options::default());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|number| {
                let device = driver.open().unwrap();
                scope.spawn(move || processes::work(&device, number))
            })
            .collect();
        for worker in workers {
            worker.join().unwrap().unwrap();
        }
    });
}
