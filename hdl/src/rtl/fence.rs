//! Watches a change of the ATT: when has every request ended that was translated before?

use rust_hdl::prelude::*;

/// How far a fence has come.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FenceState {
    /// No fence.
    Idle,
    /// Requests that were translated before are still under way.
    Requests,
    /// Their descriptors' ends, with reads that flush, are still under way.
    Ends,
    /// The last of it stands at the port.
    Port,
}

/// One fence at a time.
#[derive(LogicBlock, Default)]
pub struct Fence {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    // Of each direction: a request is translated and about to leave the request maker; it has left; it
    // has ended.
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

    state: DFF<FenceState>,
    writes: DFF<Bits<8>>,
    reads: DFF<Bits<8>>,
    writes_left: DFF<Bits<8>>,
    reads_left: DFF<Bits<8>>,
    ends_left: DFF<Bits<9>>,
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
            ends_left
        );
        self.busy.next = self.state.q.val() != FenceState::Idle;
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
        match self.state.q.val() {
            FenceState::Idle => {
                // The counts of the next cycle, and the request that is about to leave. One that
                // leaves in this cycle is counted in both: the sum is right all the same, for it
                // is no longer about to leave then.
                self.writes_left.d.next = self.writes.q.val()
                    + bit_cast::<8, 1>(self.write_looked_up.val().into())
                    - bit_cast::<8, 1>(self.write_retired.val().into());
                self.reads_left.d.next = self.reads.q.val()
                    + bit_cast::<8, 1>(self.read_looked_up.val().into())
                    - bit_cast::<8, 1>(self.read_retired.val().into());
                if self.start.val() {
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
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = FenceState::Idle;
            self.writes.d.next = 0.into();
            self.reads.d.next = 0.into();
        }
    }
}
