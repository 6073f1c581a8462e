// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unit tests of a channel's sequences: against a model of the registers that checks the map's rules about their use,
//! with offsets and bits by hand.

use super::*;
use crate::steps::{Bus, Stopped, run};
use core::convert::Infallible;
use std::vec::Vec;

const SETTINGS: Settings = Settings {
    ring: 0x12_3456_7000,
    ring_log2: 8,
    range: LocalRange {
        base: 0x1_0000_2000,
        end: 1 << 40,
    },
    moderation: Moderation {
        count: 16,
        age: 1000,
    },
};

/// One channel, and the work of the engines for it.
#[derive(Default)]
struct Model {
    accept: bool,
    run: bool,
    abort: bool,
    /// Descriptors in progress.
    work: u32,
    /// The engines make no progress without an abort.
    hangs: bool,
    ring_high: Option<u32>,
    ring: Option<u32>,
    range: [Option<u32>; 2],
    moderation: Option<u32>,
    refused: u32,
    patience: u32,
}

impl Model {
    fn new() -> Self {
        Self {
            refused: 3,
            patience: 100,
            ..Self::default()
        }
    }
}

impl Bus for Model {
    type Error = Infallible;

    fn write(&mut self, register: Register, value: u32) -> Result<(), Infallible> {
        let offset = match register {
            Register::Channel { channel: 6, offset } => offset,
            Register::Page {
                channel: 6,
                offset: 0x104,
            } => {
                self.refused &= !value;
                return Ok(());
            }
            other => panic!("{other:?} is not the channel's"),
        };
        if offset != 0x84 {
            assert!(!self.accept, "changed while doorbells are accepted");
            assert_eq!(self.work, 0, "changed with work under way");
        }
        match offset {
            0x84 => {
                assert_eq!(value & !7, 0);
                self.accept = value & 1 != 0;
                self.run = value & 2 != 0;
                self.abort = value & 4 != 0;
                if self.accept {
                    assert!(self.ring.is_some(), "no ring");
                    assert!(self.range.iter().all(Option::is_some), "no range");
                    assert!(self.moderation.is_some(), "another context's moderation");
                    assert_eq!(self.refused, 0, "another context's refusals");
                }
            }
            0x90 => {
                assert!(value & 1 == 0 || self.ring_high.is_some());
                self.ring = Some(value);
            }
            0x94 => self.ring_high = Some(value),
            0x98 => self.range[0] = Some(value),
            0x9c => self.range[1] = Some(value),
            0x8c => self.moderation = Some(value),
            other => panic!("nothing to write at {other:#x}"),
        }
        Ok(())
    }

    fn read(&mut self, register: Register) -> Result<u32, Infallible> {
        let status = Register::Channel {
            channel: 6,
            offset: 0x88,
        };
        assert_eq!(register, status);
        Ok(if self.work > 0 {
            1 + (self.work & 2)
        } else {
            0
        })
    }

    fn pause(&mut self, _: Register) -> Result<bool, Infallible> {
        if self.abort {
            self.work = 0;
        } else if self.run && !self.hangs {
            self.work = self.work.saturating_sub(1);
        }
        self.patience -= 1;
        Ok(self.patience > 0)
    }
}

#[test]
fn an_open_channel_has_all_it_was_given() {
    let mut model = Model::new();
    // An earlier user has left work and settings.
    model.work = 2;
    model.run = true;
    model.hangs = false;
    let opened = run(&mut model, open(6, &SETTINGS));
    assert!(matches!(opened, Err(Stopped::Late { value: 3, .. })));
    assert!(!model.accept && model.ring.is_none());

    let mut model = Model::new();
    assert_eq!(run(&mut model, open(6, &SETTINGS)), Ok(()));
    assert!(model.accept && model.run && !model.abort);
    assert_eq!(model.ring_high, Some(0x12));
    assert_eq!(model.ring, Some(0x3456_7081));
    assert_eq!(model.range, [Some(0x10_0002), Some(0x1000_0000)]);
    assert_eq!(model.moderation, Some(0x03e8_0010));
}

fn opened() -> Model {
    let mut model = Model::new();
    run(&mut model, open(6, &SETTINGS)).unwrap();
    model.work = 7;
    model
}

#[test]
fn a_drained_channel_has_ended_its_work() {
    let mut model = opened();
    assert_eq!(run(&mut model, drain(6)), Ok(()));
    assert_eq!(model.work, 0);
    assert!(!model.accept && model.patience == 100 - 7);
    assert_eq!(run(&mut model, [resume(6)]), Ok(()));
    assert!(model.accept && model.run);
    assert_eq!(run(&mut model, drain(6)), Ok(()));
    assert_eq!(run(&mut model, close(6)), Ok(()));
    assert!(!model.accept && !model.run);
    assert_eq!(model.ring, Some(0));
    assert_eq!(model.range, [Some(0), Some(0)]);
}

#[test]
fn an_abort_ends_what_a_drain_does_not() {
    let mut model = opened();
    model.hangs = true;
    assert!(matches!(
        run(&mut model, drain(6)),
        Err(Stopped::Late { .. })
    ));
    assert_eq!((model.accept, model.work), (false, 7));
    model.patience = 100;
    assert_eq!(run(&mut model, abort(6)), Ok(()));
    assert_eq!(model.work, 0);
    assert!(!model.accept && !model.run && !model.abort);
    // It can be opened again, on a new lap.
    assert_eq!(run(&mut model, open(6, &SETTINGS)), Ok(()));
    assert!(model.accept);
}

#[test]
fn ranges_are_of_whole_pages_inside_the_memory() {
    let memory = 1 << 32;
    let range = LocalRange::new(0x1000..0x3000, memory).unwrap();
    assert_eq!(range.bytes(), 0x1000..0x3000);
    assert!(range.contains(0x1000, 0x2000) && range.contains(0x2fff, 1));
    assert!(!range.contains(0xfff, 1) && !range.contains(0x2fff, 2));
    assert!(!range.contains(u64::MAX, 2));
    assert_eq!(
        LocalRange::new(0..memory, memory).unwrap().registers(),
        [0, 0x10_0000]
    );
    assert_eq!(
        LocalRange::new(0x1000..0x1000, memory)
            .unwrap()
            .bytes()
            .count(),
        0
    );
    let refused: Vec<_> = [0x1000..0x1800, 0x10..0x1000, 0..memory + 0x1000]
        .map(|range| LocalRange::new(range, memory).unwrap_err())
        .into();
    assert_eq!(
        refused,
        [
            LocalRangeError::Unaligned { address: 0x1800 },
            LocalRangeError::Unaligned { address: 0x10 },
            LocalRangeError::Range {
                base: 0,
                end: 0x1_0000_1000,
                memory
            },
        ]
    );
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = LocalRange::new(0x2000..0x1000, memory);
    assert!(matches!(backwards, Err(LocalRangeError::Range { .. })));
    // No descriptor reaches 2^40 or more.
    assert!(LocalRange::new(0..1 << 41, 1 << 41).is_err());
}

#[test]
fn room_of_both_queues() {
    assert_eq!(queue_free(0x0123_0080), [0x80, 0x123]);
}
