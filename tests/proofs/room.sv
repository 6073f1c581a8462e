// The slots of the rings of four channels. One channel, which the solver chooses, is watched. As long as software frees
// no more slots than were accepted since its ring was set, never more descriptors are accepted than the ring has slots;
// while a slot is left, no descriptor is refused for lack of slots; and other channels, which may free slots that they
// never had, do not change this. The count of a channel that freed too many is right again when its ring is set again.
// Unbounded.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire reset,
  input wire ring_we,
  input wire [1:0] ring_channel,
  input wire ring_on,
  input wire [3:0] ring_log2,
  input wire [1:0] page,
  input wire doorbell,
  input wire [15:0] freed,
  input wire accept
);
  (* anyconst *) wire [1:0] which;
  wire some, enough;
  // Faults: a doorbell of another channel, an acceptance not seen, a ring that is set and keeps its count,
  // slots that are freed twice.
  wire accepted = doorbell & enough & accept;
  wire [1:0] seen_page = MUTANT == 1 ? {page[1], 1'b0} : page;
  wire seen_accepted = MUTANT == 2 ? accepted & freed != 1 : accepted;
  wire seen_ring_we = MUTANT == 3 ? ring_we & !doorbell : ring_we;
  wire [15:0] seen_freed = MUTANT == 4 ? freed | freed << 1 : freed;

  peerlane_room dut (
    .clock(clock), .reset(reset), .ring_we(seen_ring_we), .ring_channel({4'd0, ring_channel}),
    .ring_on(ring_on), .ring_log2(ring_log2), .page({4'd0, seen_page}), .doorbell(doorbell),
    .freed(seen_freed), .accepted(seen_accepted), .some(some), .enough(enough)
  );
  (* hierconn, init = 0 *) wire [63:0] \dut.bound_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.fresh_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.full_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.rung_before_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.pairs_now ;
  (* hierconn, init = 0 *) wire [15:0] \dut.sum_before_q ;
  (* hierconn, init = 0 *) wire \dut.took_before_q ;
  (* hierconn *) wire [1:0] \dut.rooms.spy_at ;
  (* hierconn *) wire [16:0] \dut.rooms.spy ;
  (* hierconn *) wire [1:0] \dut.sizes.spy_at ;
  (* hierconn *) wire [3:0] \dut.sizes.spy ;

  // The watched channel: its ring, and the slots that accepted descriptors have.
  reg bound = 0;
  reg begins = 0;
  reg [3:0] log2 = 0;
  reg [16:0] taken = 0;
  // The channel freed no more than that since its ring was set.
  reg honest = 0;
  wire counted = bound & honest;
  wire [16:0] slots = 17'd1 << log2;
  wire mine = page == which;
  wire sets = ring_we & ring_channel == which;
  always @(posedge clock) begin
    if (doorbell & mine) begin
      begins <= 0;
      honest <= honest & freed <= taken;
      taken <= taken - freed + accepted;
    end
    if (sets) begin
      bound <= ring_on;
      begins <= 1;
      honest <= 1;
      log2 <= ring_log2;
      taken <= 0;
    end
    if (reset) begin
      bound <= 0;
      begins <= 0;
      taken <= 0;
    end
  end
  always @* begin
    assume (\dut.rooms.spy_at == which & \dut.sizes.spy_at == which);
  end
  always @* if (MUTANT == 0 & counted) begin
    assert (\dut.sizes.spy == log2);
    assert (taken <= slots & (!begins | taken == 0));
    // The slots before the last doorbell, of which the doorbell took one or none.
    if (\dut.rung_before_q [which])
      assert ({\dut.took_before_q , \dut.sum_before_q } == \dut.rooms.spy & !begins);
    // Two or more were left.
    assert (\dut.pairs_now [which] == (slots - taken >= 2));
    if (!begins) assert (\dut.rooms.spy [15:0] - \dut.rooms.spy [16] == slots - taken);
  end
  always @* if (MUTANT == 0) assert (\dut.bound_q [which] == bound & (\dut.fresh_q [which] == begins | !bound));
  always @* if (MUTANT == 0) begin
    if (counted) assert (\dut.full_q [which] == (taken == slots));
    if (!bound) assert (!\dut.full_q [which]);
  end
  always @* if (!reset & mine & (counted | !bound)) begin
    assert (some == (!bound | taken < slots));
    assert (enough == (!bound | taken < slots | freed != 0));
    if (bound) assert (taken <= slots);
  end
endmodule
