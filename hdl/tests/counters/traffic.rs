//! Random events, within the rates that the counters promise to count.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::rig::Inputs;

/// Events of one source: any number at a time, but never more than `burst + n * rate` in `n` cycles.
pub struct Source {
    rate: (u32, u32),
    burst: u32,
    credit: u32,
    /// All the credit is spent at once, then saved again.
    hoards: bool,
    spending: bool,
    /// Part in 256 of the events that the credit allows.
    part: u32,
}

impl Source {
    pub fn new(rate: (u32, u32), burst: u32) -> Self {
        Self {
            rate,
            burst,
            credit: 0,
            hoards: false,
            spending: false,
            part: 256,
        }
    }

    fn fires(&mut self, random: &mut ChaCha8Rng) -> bool {
        let (events, cycles) = self.rate;
        self.credit = (self.credit + events).min(self.burst * cycles);
        if self.hoards {
            self.spending = match self.spending {
                true => self.credit >= cycles,
                false => self.credit == self.burst * cycles,
            };
        }
        let fires = self.credit >= cycles
            && (self.spending || !self.hoards)
            && random.random_range(0..256) < self.part;
        if fires {
            self.credit -= cycles;
        }
        fires
    }
}

/// Traffic on all ports.
pub struct Traffic {
    pub random: ChaCha8Rng,
    /// Requests and ends of both directions.
    pub sources: [Source; 4],
    /// Channels that take part.
    channels: Vec<usize>,
    /// Part in 256 of the cycles in which each level is high.
    levels: [u32; 9],
}

impl Traffic {
    /// Makes the most traffic that the block promises to count.
    pub fn full(channels: usize, seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            sources: std::array::from_fn(|_| Source::new((1, 3), 12)),
            channels: (0..channels).collect(),
            levels: [256; 9],
        }
    }

    /// Changes to another kind of traffic.
    pub fn change(&mut self, channels: usize) {
        let random = &mut self.random;
        for source in &mut self.sources {
            source.part = [8, 64, 200, 256][random.random_range(0..4)];
            source.hoards = random.random();
            source.burst = random.random_range(1..=12);
            source.credit = source.credit.min(source.burst * source.rate.1);
        }
        let few = random.random_range(1..=channels.min(3));
        self.channels = match random.random_range(0..3) {
            0 => (0..few).map(|_| random.random_range(0..channels)).collect(),
            _ => (0..channels).collect(),
        };
        self.levels = std::array::from_fn(|_| [0, 20, 128, 240, 256][random.random_range(0..5)]);
    }

    pub fn next(&mut self) -> Inputs {
        let random = &mut self.random;
        let mut event = |source: usize| {
            self.sources[source]
                .fires(random)
                .then(|| self.channels[random.random_range(0..self.channels.len())])
        };
        let channels: [Option<usize>; 4] = std::array::from_fn(&mut event);
        let mut bytes = |channel| match random.random_range(0..4) {
            0 => (channel, random.random_range(1..512)),
            _ => (channel, 512),
        };
        let requests = [channels[0].map(&mut bytes), channels[1].map(&mut bytes)];
        let mut code = |channel| match random.random_range(0..3) {
            0 => (channel, 0),
            _ => (channel, random.random_range(0..16)),
        };
        let ends = [channels[2].map(&mut code), channels[3].map(&mut code)];
        let levels = (0..9)
            .map(|i| u64::from(random.random_range(0..256) < self.levels[i]) << i)
            .sum();
        Inputs {
            requests,
            ends,
            levels,
            ..Inputs::default()
        }
    }
}
