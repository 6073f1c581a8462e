//! The fence of an ATT change. It is reached when every request that was translated before the change has
//! ended, and when the data of those requests have arrived at the peer.
//!
//! The flush reads of the write direction pass through this block, so that a flush read of the fence can be
//! placed between two of them. Answers come in the order of the reads.

use super::ports::{FlushSink, FlushSource};
use peerlane_language::*;
use peerlane_verilog::DocBlock;

/// How far a fence has come.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FenceState {
    /// No fence.
    Idle,
    /// Requests that were translated before are still under way.
    Requests,
    /// Their descriptors' ends, with reads that flush, are still under way.
    Ends,
    /// The last request waits at the port.
    Port,
    /// A read of its own is to follow it.
    Flush,
    /// That read has left.
    Answer,
}

/// One fence at a time.
#[derive(DocBlock, Default)]
pub struct Fence {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    /// With `start`: the fence reads from `flush_at` after all of them. `flush_at` stays until the end.
    pub with_flush: Signal<In, Bit>,
    pub flush_at: Signal<In, Bits<64>>,
    pub busy: Signal<Out, Bit>,
    /// The last fence that read was not answered: its read was given up, or never sent.
    pub failed: Signal<Out, Bit>,
    /// Of each direction: a request is translated and about to leave the request maker; it has left; it
    /// has ended.
    pub write_looked_up: Signal<In, Bit>,
    pub write_issued: Signal<In, Bit>,
    pub write_retired: Signal<In, Bit>,
    pub read_looked_up: Signal<In, Bit>,
    pub read_issued: Signal<In, Bit>,
    pub read_retired: Signal<In, Bit>,
    /// Ends of write descriptors that are not yet out, and one that leaves.
    pub ends_waiting: Signal<In, Bits<9>>,
    pub ended: Signal<In, Bit>,
    /// The port holds nothing that it took before.
    pub port_free: Signal<In, Bit>,
    /// Flush reads of the write direction.
    pub path: FlushSink,
    /// All flush reads, to the port; each stays until taken, and is answered later than in that cycle.
    pub port: FlushSource,
    /// With the port's `done`: the read was not answered.
    pub flush_error: Signal<In, Bit>,

    state: DFF<FenceState>,
    writes: DFF<Bits<8>>,
    reads: DFF<Bits<8>>,
    writes_left: DFF<Bits<8>>,
    reads_left: DFF<Bits<8>>,
    ends_left: DFF<Bits<9>>,
    flushes: DFF<Bit>,
    /// The read at the port is the fence's.
    own: DFF<Bit>,
    /// The fence's own read was not answered.
    failing: DFF<Bit>,
    /// Flush reads that are not answered; of these, the ones before the fence's.
    unanswered: DFF<Bits<4>>,
    ahead: DFF<Bits<4>>,
    own_taken: Signal<Local, Bit>,
    own_answered: Signal<Local, Bit>,
}

impl Logic for Fence {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            writes,
            reads,
            writes_left,
            reads_left,
            ends_left,
            flushes,
            own,
            failing,
            unanswered,
            ahead
        );
        self.busy.next = self.state.q.val() != FenceState::Idle;
        self.failed.next = self.failing.q.val();
        // Requests under way.
        if self.write_issued.val() & !self.write_retired.val() {
            self.writes.d.next = self.writes.q.val() + 1;
        } else if self.write_retired.val() & !self.write_issued.val() {
            self.writes.d.next = self.writes.q.val() - 1;
        }
        if self.read_issued.val() & !self.read_retired.val() {
            self.reads.d.next = self.reads.q.val() + 1;
        } else if self.read_retired.val() & !self.read_issued.val() {
            self.reads.d.next = self.reads.q.val() - 1;
        }
        // Flush reads. A read stays at the port until it is taken, so the fence's comes after it.
        self.port.valid.next = self.path.valid.val() | self.own.q.val();
        self.port.address.next = self.path.address.val();
        if self.own.q.val() {
            self.port.address.next = self.flush_at.val();
        }
        self.path.take.next = self.port.take.val() & !self.own.q.val();
        self.own_taken.next = self.port.take.val() & self.own.q.val();
        if self.port.take.val() & !self.port.done.val() {
            self.unanswered.d.next = self.unanswered.q.val() + 1;
        } else if self.port.done.val() & !self.port.take.val() {
            self.unanswered.d.next = self.unanswered.q.val() - 1;
        }
        // No port answers in the cycle in which it takes.
        self.own_answered.next = self.port.done.val()
            & (self.state.q.val() == FenceState::Answer)
            & !self.ahead.q.val().any();
        self.path.done.next = self.port.done.val() & !self.own_answered.val();
        match self.state.q.val() {
            FenceState::Idle => {
                self.flushes.d.next = self.with_flush.val();
                // The counts of the next cycle, and the request that is about to leave. A request that leaves in this
                // cycle is counted in both. The sum is right all the same, because the request is then no longer about
                // to leave.
                self.writes_left.d.next = self.writes.q.val()
                    + bit_cast::<8, 1>(self.write_looked_up.val().into())
                    - bit_cast::<8, 1>(self.write_retired.val().into());
                self.reads_left.d.next = self.reads.q.val()
                    + bit_cast::<8, 1>(self.read_looked_up.val().into())
                    - bit_cast::<8, 1>(self.read_retired.val().into());
                if self.start.val() {
                    self.failing.d.next = false;
                    self.state.d.next = FenceState::Requests;
                }
            }
            FenceState::Requests => {
                if self.write_retired.val() & self.writes_left.q.val().any() {
                    self.writes_left.d.next = self.writes_left.q.val() - 1;
                }
                if self.read_retired.val() & self.reads_left.q.val().any() {
                    self.reads_left.d.next = self.reads_left.q.val() - 1;
                }
                self.ends_left.d.next =
                    self.ends_waiting.val() - bit_cast::<9, 1>(self.ended.val().into());
                if !self.writes_left.q.val().any() & !self.reads_left.q.val().any() {
                    self.state.d.next = FenceState::Ends;
                }
            }
            FenceState::Ends => {
                if self.ended.val() & self.ends_left.q.val().any() {
                    self.ends_left.d.next = self.ends_left.q.val() - 1;
                }
                if !self.ends_left.q.val().any() {
                    self.state.d.next = FenceState::Port;
                }
            }
            FenceState::Port => {
                if self.port_free.val() {
                    self.state.d.next = FenceState::Idle;
                    if self.flushes.q.val() {
                        self.state.d.next = FenceState::Flush;
                    }
                }
            }
            FenceState::Flush => {
                if !self.path.valid.val() | self.port.take.val() {
                    self.own.d.next = true;
                }
                self.ahead.d.next = self.unanswered.q.val();
                if self.port.done.val() {
                    self.ahead.d.next = self.unanswered.q.val() - 1;
                }
                if self.own_taken.val() {
                    self.own.d.next = false;
                    self.state.d.next = FenceState::Answer;
                }
            }
            FenceState::Answer => {
                if self.port.done.val() {
                    self.ahead.d.next = self.ahead.q.val() - 1;
                }
                if self.own_answered.val() {
                    self.failing.d.next = self.flush_error.val();
                    self.state.d.next = FenceState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = FenceState::Idle;
            self.writes.d.next = 0.into();
            self.reads.d.next = 0.into();
            self.own.d.next = false;
            self.failing.d.next = false;
            self.unanswered.d.next = 0.into();
        }
    }
}
