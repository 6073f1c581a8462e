//! Execution of descriptors by the fake.

use super::{Queued, State};
use peerlane_core::layout::Segment;
use std::time::Duration;

impl State {
    /// Returns the bus address of an ATT address, and the bytes to the end of its page; or a status code.
    fn translate(&self, channel: usize, side: usize, peer: u64) -> Result<(u64, u64), u32> {
        let page_size = peer >> 62;
        let shift = [12, 16, 21][page_size as usize];
        let linear = peer & ((1 << 62) - 1);
        let index = (linear >> shift) as usize;
        let (raw, owners) = *self.att.get(index).ok_or(2u32)?;
        if raw & 1 == 0 {
            return Err(3);
        }
        if owners >> channel & 1 == 0 {
            return Err(4);
        }
        // A write needs bit 2, a read bit 1.
        if raw & [4, 2][side] == 0 {
            return Err(5);
        }
        if raw >> 3 & 3 != page_size {
            return Err(6);
        }
        let offset = linear & ((1 << shift) - 1);
        Ok(((raw & !0xfff) + offset, (1 << shift) - offset))
    }

    fn allocated(&self, address: u64) -> bool {
        let inside = |s: &Segment| (s.address..s.address + s.length).contains(&address);
        self.memories.values().flat_map(|m| &m.segments).any(inside)
    }

    /// Moves the bytes of a descriptor. Returns bytes done, code and fault address.
    fn execute(&mut self, channel: usize, side: usize, d: [u32; 7]) -> (u32, u32, u64) {
        let peer = u64::from(d[1]) << 32 | u64::from(d[0]);
        let local = u64::from(d[3]) << 32 | u64::from(d[2]);
        let (mut length, mut code) = (d[4], 0);
        let range = self.channels[channel]
            .range
            .map(|page| u64::from(page) << 12);
        if local < range[0] || local + u64::from(length) > range[1] {
            return (0, 12, 0);
        }
        let granularity = u64::from(self.config.write_granularity);
        let aligned = |place: u64| place.is_multiple_of(granularity);
        if side == 0 && !(aligned(peer) && aligned(u64::from(length))) {
            return (0, 16, 0);
        }
        if let Some((which, after, fault, bytes)) = &mut self.tricks.fault
            && *which == side
        {
            if *after == 0 {
                (length, code) = (*bytes, *fault);
                if !self.tricks.fault_stays {
                    self.tricks.fault = None;
                }
            } else {
                *after -= 1;
            }
        }
        let mut done = 0;
        while done < length {
            let at = peer + u64::from(done);
            let (address, room) = match self.translate(channel, side, at) {
                Ok(found) => found,
                Err(code) => return (done, code, at),
            };
            let n = u64::from(length - done).min(room).min(1 << 16) as u32;
            assert!(
                self.allocated(address) && self.allocated(address + u64::from(n) - 1),
                "the board reached {address:#x}, which nobody owns"
            );
            let mut bytes = vec![0; n as usize];
            let local = local + u64::from(done);
            if side == 0 {
                self.fpga.read(local, &mut bytes);
                let arrive = self.tricks.first_bytes.unwrap_or(length);
                let arrive = arrive.saturating_sub(done).min(n);
                self.bus.write(address, &bytes[..arrive as usize]);
            } else {
                self.bus.read(address, &mut bytes);
                self.fpga.write(local, &bytes);
            }
            done += n;
        }
        let fault = if code == 0 { 0 } else { peer + u64::from(done) };
        (done, code, fault)
    }

    /// Returns whether a channel has a descriptor of a direction that can start.
    fn ready(&self, channel: usize, side: usize) -> bool {
        let state = &self.channels[channel];
        let Some(first) = state.queues[side].front() else {
            return false;
        };
        // Bit 4 is "after writes", bit 5 "after reads". Descriptors of its own direction have ended when it is the
        // first.
        let chained = first.words[5] >> (4 + (side ^ 1)) & 1 == 1;
        let ended = state.accepted[side ^ 1] - state.queues[side ^ 1].len();
        state.control & 2 != 0 && (!chained || ended >= first.behind)
    }

    /// Executes one descriptor. Returns whether there was one.
    pub(super) fn step(&mut self) -> bool {
        let silent = self.tricks.gone && !self.tricks.goes_on;
        if self.cut_off || self.tricks.stuck || silent || self.control & 1 == 0 {
            return false;
        }
        let lanes = 2 * self.channels.len();
        let next = (1..=lanes)
            .map(|i| (self.turn + i) % lanes)
            .filter(|lane| self.tricks.stuck_side != Some(lane % 2))
            .find(|lane| self.ready(lane / 2, lane % 2));
        let Some(lane) = next else {
            return false;
        };
        self.turn = lane;
        let (channel, side) = (lane / 2, lane % 2);
        let Some(words) = self.channels[channel].queues[side]
            .front()
            .map(|queued| queued.words)
        else {
            return false;
        };
        std::thread::sleep(self.tricks.takes);
        let (done, code, fault) = self.execute(channel, side, words);
        // About 3.2 GB/s, and some time for each descriptor.
        self.now += Duration::from_nanos(u64::from(done) * 5 / 16 + 500);
        self.end(channel, side, (done, code, fault));
        true
    }

    pub(super) fn abort(&mut self, channel: usize) {
        if self.tricks.stubborn {
            return;
        }
        for side in 0..2 {
            while !self.channels[channel].queues[side].is_empty() {
                self.end(channel, side, (0, 9, 0));
            }
        }
    }

    /// Ends the oldest descriptor of a queue.
    fn end(&mut self, channel: usize, side: usize, how: (u32, u32, u64)) {
        let (done, code, _) = how;
        let state = &mut self.channels[channel];
        let Some(Queued { words, .. }) = state.queues[side].pop_front() else {
            return;
        };
        let counts = &mut state.counts[side];
        counts[0] += u64::from(done);
        counts[1] += u64::from(done).div_ceil(512);
        counts[2] += 1;
        counts[3] += u64::from(code != 0);
        counts[4] += u64::from((2..=6).contains(&code));
        counts[5] += u64::from(code == 7);
        self.seen.ended.push((channel, words[6]));
        // A record for an interrupt and for a fault, whether requested or not.
        if words[5] & 3 != 0 || code != 0 {
            self.record(channel, side, words[6], how);
        }
        if words[5] & 2 != 0 {
            self.completion(channel, words[5] & 8 != 0);
        }
        if code != 0 {
            self.raise(2);
        }
    }

    fn record(&mut self, number: usize, side: usize, cookie: u32, how: (u32, u32, u64)) {
        let (done, code, fault) = how;
        let copies = if std::mem::take(&mut self.tricks.lose_record) {
            0
        } else if std::mem::take(&mut self.tricks.repeat_record) {
            2
        } else {
            1
        };
        let channel = &mut self.channels[number];
        let sequence = channel.sequence;
        channel.sequence += 1;
        self.records[0] += 1;
        let log2 = channel.ring[0] >> 4 & 0x1f;
        let base = u64::from(channel.ring[1]) << 32 | u64::from(channel.ring[0] & !0xfff);
        for _ in 0..copies {
            let phase = !(channel.position >> log2) & 1;
            let status = phase | (side as u32) << 1 | (number as u32) << 8 | code << 16;
            let words = [cookie, status, done, sequence];
            let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            bytes.extend(fault.to_le_bytes());
            bytes.extend([0; 8]);
            let slot = u64::from(channel.position & ((1 << log2) - 1));
            if channel.ring[0] & 1 == 1 {
                self.bus.write(base + 32 * slot, &bytes);
            }
            channel.position += 1;
        }
    }
}
