// The descriptor queues of four channels, of 64 descriptors each: refusal, order, counts, and one dword
// of one descriptor of one channel, which the solver chooses. Unbounded.
module proof #(
  parameter DWORD = 0,       // the dword to watch
  parameter MUTANT = 0
) (
  input wire clock,
  input wire reset,
  input wire sweep,
  input wire [1:0] sweep_channel,
  input wire [1:0] channel,
  input wire write,
  input wire [3:0] dword,
  input wire [31:0] data,
  input wire doorbell,
  input wire accept,
  input wire [12:0] other_number,
  input wire [1:0] select,
  input wire fetch,
  input wire take,
  input wire end_now,
  input wire [1:0] end_channel,
  input wire [1:0] other_select,
  input wire sent
);
  localparam DEPTH = 64;
  (* anyconst *) wire [1:0] which;
  wire refused;
  wire [12:0] free, next_number, number, ended, ended_for_other, stamp;
  wire [63:0] queued, awakened, busy;
  wire end_seen;
  wire [5:0] end_seen_channel;
  wire [31:0] out [0:6];

  // Faults: a dword of another channel, a doorbell lost, a start lost, a refusal not respected, an end of
  // another channel, an end that the port has not sent.
  wire [1:0] seen_channel = MUTANT == 1 ? channel & {1'b1, !write} : channel;
  wire seen_doorbell = MUTANT == 2 ? doorbell & free != 62 : doorbell;
  wire seen_take = MUTANT == 3 ? take & !sweep_channel[0] : take;
  wire accepted = doorbell & (MUTANT == 4 ? free != 0 : !refused);
  wire [1:0] seen_end_channel = MUTANT == 5 ? 0 : end_channel;
  wire seen_sent = MUTANT == 6 ? 1'b1 : sent;

  peerlane_queue dut (
    .clock(clock), .reset(reset), .sweep(sweep), .sweep_channel({4'd0, sweep_channel}),
    .channel({4'd0, seen_channel}), .write(write), .dword(dword), .data(data),
    .doorbell(seen_doorbell), .accept(accept), .refused(refused), .free(free),
    .next_number(next_number), .other_number(other_number), .engine_queued(queued), .engine_awakened(awakened),
    .busy(busy), .engine_select({4'd0, select}), .engine_fetch(fetch), .engine_peer_low(out[0]), .engine_peer_high(out[1]),
    .engine_local_low(out[2]), .engine_local_high(out[3]), .engine_length(out[4]), .engine_control(out[5]), .engine_cookie(out[6]),
    .engine_stamp(stamp), .engine_number(number), .engine_take(seen_take), .engine_ended(ended), .end_(end_now),
    .end_channel({4'd0, seen_end_channel}), .engine_end(end_seen), .engine_end_channel(end_seen_channel),
    .other_select({4'd0, other_select}), .sent(seen_sent),
    .ended_for_other(ended_for_other)
  );
  // One bit of each: the bits of a RAM are independent.
  wire shown = out[DWORD][0];

  // The watched channel: descriptors accepted, started and ended since the sweep.
  reg swept = 0;
  reg [12:0] tail = 0, head = 0, finished = 0;
  wire [12:0] level = tail - head;
  // One descriptor to watch, by its number, and its dword as software wrote it.
  (* anyconst *) wire [12:0] place;
  reg prepared = 0;
  reg watching = 0;
  reg word = 0;
  reg its_stamp = 0;
  reg shows = 0;
  // The watched channel's ends in the last two cycles, and the channel that was selected in the last one.
  reg end_1 = 0, end_2 = 0;
  reg [1:0] select_before = 0, select_earlier = 0;
  reg take_before = 0, accepted_before = 0, queued_before = 0;
  reg take_earlier = 0, accepted_earlier = 0, queued_earlier = 0;
  // The sweep is over, and its writes have settled.
  reg over = 0, over_before = 0, over_earlier = 0;

  // All descriptors have ended, and the port may still hold the last one.
  reg leaving = 0;
  (* hierconn, init = 0 *) wire [63:0] \dut.unended_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.leaving_q ;
  wire unended = \dut.unended_q [which];
  always @(posedge clock) leaving <= !reset & ((\dut.ended_last_q & \dut.ended_channel_q == which) | (leaving & !sent));

  // An end counts a cycle later.
  wire [12:0] counted = finished - end_1;
  wire mine = channel == which;
  wire sweeps = sweep & sweep_channel == which;
  always @(posedge clock) begin
    if (mine & write & dword == DWORD & level != DEPTH & tail == place) begin
      prepared <= 1;
      word <= data[0];
    end
    if (mine & accepted & tail == place) begin
      prepared <= 0;
      watching <= prepared;
      its_stamp <= other_number[0];
    end
    if (mine & accepted) tail <= tail + 1;
    if (take & select == which) begin
      head <= head + 1;
      if (head == place) watching <= 0;
    end
    if (end_now & end_channel == which) finished <= finished + 1;
    end_1 <= end_now & end_channel == which;
    end_2 <= end_1;
    over <= over | swept & !sweep;
    over_before <= over;
    over_earlier <= over_before;
    accepted_before <= mine & accepted;
    select_before <= select;
    queued_before <= queued[select];
    take_before <= take;
    accepted_earlier <= accepted_before;
    select_earlier <= select_before;
    queued_earlier <= queued_before;
    take_earlier <= take_before;
    if (fetch) shows <= watching & select == which & head == place;
    if (take & select == which & head == place) shows <= 0;
    if (sweeps) begin
      swept <= 1;
      tail <= 0;
      head <= 0;
      finished <= 0;
    end
    if (reset) begin
      swept <= 0;
      prepared <= 0;
      watching <= 0;
      shows <= 0;
      end_1 <= 0;
      end_2 <= 0;
      over <= 0;
      over_before <= 0;
      over_earlier <= 0;
      accepted_before <= 0;
      take_before <= 0;
      queued_before <= 0;
      accepted_earlier <= 0;
      take_earlier <= 0;
      queued_earlier <= 0;
    end
  end

  (* hierconn, init = 0 *) wire \dut.ending_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.ending_channel_q ;
  (* hierconn, init = 0 *) wire \dut.ended_last_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.ended_channel_q ;
  (* hierconn, init = 0 *) wire \dut.is_last_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.arrived_before_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.arrived_lately_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.filled_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.grew_q ;
  (* hierconn, init = 0 *) wire \dut.last_left_q ;
  (* hierconn, init = 0 *) wire [12:0] \dut.head_before_q ;
  (* hierconn, init = 0 *) wire \dut.head_engine.settling ;
  (* hierconn, init = 0 *) wire [1:0] \dut.head_engine.recent ;
  (* hierconn, init = 0 *) wire \dut.ended_own.settling ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_own.recent ;
  (* hierconn, init = 0 *) wire \dut.ended_other.settling ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_other.recent ;
  (* hierconn, init = 0 *) wire \dut.newest_engine.settling ;
  (* hierconn, init = 0 *) wire [1:0] \dut.newest_engine.recent ;
  (* hierconn, init = 0 *) wire \dut.newest_ends.settling ;
  (* hierconn, init = 0 *) wire [1:0] \dut.newest_ends.recent ;
  (* hierconn, init = 0 *) wire [1:0] \dut.tail_software.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.newest_engine.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.newest_ends.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.head_software.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.head_engine.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_ends.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_own.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_other.spy_at ;
  (* hierconn, init = 0 *) wire [12:0] \dut.tail_software.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.newest_engine.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.newest_ends.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.head_software.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.head_engine.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.ended_ends.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.ended_own.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.ended_other.spy ;
  (* hierconn, init = 0 *) wire [7:0] \dut.bank_0.spy_at ;
  (* hierconn, init = 0 *) wire [7:0] \dut.bank_6.spy_at ;
  (* hierconn, init = 0 *) wire [8:0] \dut.stamps.spy_at ;
  (* hierconn, init = 0 *) wire [31:0] \dut.bank_0.spy ;
  (* hierconn, init = 0 *) wire [31:0] \dut.bank_6.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.stamps.spy ;
  // A write takes a cycle to arrive.
  (* hierconn, init = 0 *) wire [6:0] \dut.writes_q ;
  (* hierconn, init = 0 *) wire [11:0] \dut.write_slot_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.write_data_q ;
  wire there = \dut.write_slot_q [7:0] == {which, place[5:0]};
  wire cell_writes = there & \dut.writes_q [DWORD];
  wire cell_now = cell_writes ? \dut.write_data_q [0] : DWORD == 0 ? \dut.bank_0.spy [0] : \dut.bank_6.spy [0];
  always @* begin
    assume (\dut.tail_software.spy_at == which & \dut.newest_engine.spy_at == which);
    assume (\dut.newest_ends.spy_at == which & \dut.head_software.spy_at == which);
    assume (\dut.head_engine.spy_at == which & \dut.ended_ends.spy_at == which);
    assume (\dut.ended_own.spy_at == which & \dut.ended_other.spy_at == which);
    assume (\dut.bank_0.spy_at == {which, place[5:0]} & \dut.bank_6.spy_at == {which, place[5:0]});
    assume (\dut.stamps.spy_at == {which, place[6:0]});
    // One access a cycle. The sweep comes after each reset, over each channel any number of times; while it lasts no
    // doorbell is accepted, and nothing is in progress.
    assume (!(write & doorbell));
    assume (!(sweep & (over | doorbell & accept | take | end_now | end_seen)));
    assume (swept | !((doorbell & accept | write) & mine | (take | fetch) & select == which
            | end_now & end_channel == which));
    // The request maker starts queued descriptors, the paths end started ones.
    assume (!take | queued[select]);
    assume (!(end_now & end_channel == which) | head != finished);
    // A descriptor that is started was queued and selected in the two cycles before, and no other was started then; it
    // is read after the previous start, when it has been queued (segment.sv proves both).
    assume (!take | select == select_before & queued_before & !take_before);
    assume (!take | select == select_earlier & queued_earlier & !take_earlier);
    assume (head - finished < 1024);
    assume (!fetch | !take & !take_before & (select != which | over));
  end

  always @* if (MUTANT == 0) begin
    if (swept) begin
      assert (\dut.tail_software.spy == tail);
      assert (\dut.head_software.spy == head);
      if (tail != head) assert (\dut.newest_engine.spy == tail - 13'd1);
      if (tail != counted) assert (\dut.newest_ends.spy == tail - 13'd1);
      assert (\dut.head_engine.spy == head & \dut.ended_ends.spy == counted);
      assert (\dut.ended_own.spy == counted & \dut.ended_other.spy == counted);
      assert (head - finished <= 1024 & level <= DEPTH);
      assert (queued[which] == (level != 0));
      assert (tail == finished | unended);
      assert (tail != finished | !unended | end_1 | end_2);
      if (\dut.ended_last_q & \dut.ended_channel_q == which) assert (tail == finished | accepted_before | accepted_earlier);
      if (over_before & select_before == which & !take_before & !take_earlier) begin
        assert (\dut.head_before_q == head);
        if (!accepted_before & !accepted_earlier & level != 0)
          assert (\dut.is_last_q == (head + 13'd1 == tail));
      end
      if (over_before & select_before == which & !take_before & queued_before)
        assert (level > accepted_before);
      if (over_before & select_before == which & select_earlier == which & !take_before
          & !take_earlier & queued_before & queued_earlier)
        assert (level > accepted_before + accepted_earlier);
      assert (!(accepted_before | accepted_earlier) | (level != 0 & tail != finished));
      // A word that settles was written in the cycle before.
      if (\dut.ended_own.settling & \dut.ended_own.recent == which) assert (end_2 | !over);
      if (\dut.ended_other.settling & \dut.ended_other.recent == which) assert (end_2 | !over);
      if (\dut.head_engine.settling & \dut.head_engine.recent == which)
        assert (take_before & select_before == which | !over);
      if (\dut.newest_engine.settling & \dut.newest_engine.recent == which)
        assert (accepted_before | !over);
      if (\dut.newest_ends.settling & \dut.newest_ends.recent == which)
        assert (accepted_before | !over);
      if (end_2 & !end_1 & tail == finished) assert (\dut.ended_last_q );
      if (watching) begin
        assert (place - head < level);
        assert (\dut.stamps.spy [0] == its_stamp);
      end
      if (prepared) assert (level != DEPTH & tail == place & !watching);
      if (prepared | watching) assert (cell_now == word);
      if (watching) assert (!cell_writes);
    end else assert (!end_1 & !end_2 & !watching & !prepared & !queued[which] & !unended
                 & !shows & !accepted_before & !accepted_earlier);
    assert ((\dut.filled_q [which] | \dut.grew_q [which] & \dut.last_left_q ) == (over & level == DEPTH));
    assert (\dut.grew_q [which] == (accepted_before & !(take_before & select_before == which)));
    assert (\dut.arrived_before_q [which] == accepted_before);
    assert (\dut.arrived_lately_q [which] == (accepted_before | accepted_earlier));
    assert (busy[which] == (unended | leaving) & \dut.leaving_q [which] == leaving);
    assert (end_1 == (\dut.ending_q & \dut.ending_channel_q == which));
    assert (!end_2 | \dut.ended_channel_q == which);
    assert (!\dut.ended_last_q | \dut.ended_channel_q != which | end_2);
    assert (!over | swept);
    assert (!over_before | over);
    assert (!over_earlier | over_before);
    if (!over)
      assert (!queued[which] & !unended & !end_1 & !end_2 & !accepted_before & (!swept | tail == 0
              & head == 0 & finished == 0));
    assert (over_before | select_before != which | !queued_before);
    assert (over_earlier | select_earlier != which | !queued_earlier);
    assert (\dut.ending_channel_q < 4 & \dut.ended_channel_q < 4);
    if (shows) assert (watching & head == place & shown == word & stamp[0] == its_stamp);
  end

  always @* if (!reset & swept & !sweep) begin
    assert (level <= DEPTH);
    if (mine) begin
      assert (refused == (seen_doorbell & (level == DEPTH | !accept)));
      assert (free == DEPTH - level & next_number == tail);
      assert (awakened[which] == (doorbell & !refused & !unended));
    end
    // An end, or a start, is still on its way into the memories in its own cycle and in the next.
    if (select == which & !end_1 & !end_2 & over) assert (ended == counted);
    if (select == which & !take & !take_before & over) assert (number == head);
    if (other_select == which & !end_1 & !end_2 & over) assert (ended_for_other == counted);
    assert (queued[which] == (level != 0));
    // A channel with a descriptor in progress is busy; also when all have ended, until the port has sent the end.
    assert (tail == finished | busy[which]);
    assert (tail != finished | !busy[which] | end_1 | end_2 | leaving);
    if (leaving) assert (busy[which]);
    // The oldest descriptor, once it was read, is the one that software wrote.
    if (shows) assert (shown == word & stamp[0] == its_stamp);
  end
endmodule
