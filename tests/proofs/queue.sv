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
  input wire [1:0] other_select
);
  localparam DEPTH = 64;
  (* anyconst *) wire [1:0] which;
  wire refused;
  wire [12:0] free, next_number, number, ended, ended_for_other, stamp;
  wire [63:0] queued, awakened, busy;
  wire [31:0] out [0:6];

  // Faults: a dword of another channel, a doorbell lost, a start lost, a refusal not respected, an end of
  // another channel.
  wire [1:0] seen_channel = MUTANT == 1 ? channel & {1'b1, !write} : channel;
  wire seen_doorbell = MUTANT == 2 ? doorbell & free != 62 : doorbell;
  wire seen_take = MUTANT == 3 ? take & !sweep_channel[0] : take;
  wire accepted = doorbell & (MUTANT == 4 ? free != 0 : !refused);
  wire [1:0] seen_end_channel = MUTANT == 5 ? 0 : end_channel;

  peerlane_queue dut (
    .clock(clock), .reset(reset), .sweep(sweep), .sweep_channel({4'd0, sweep_channel}),
    .channel({4'd0, seen_channel}), .write(write), .dword(dword), .data(data),
    .doorbell(seen_doorbell), .accept(accept), .refused(refused), .free(free),
    .next_number(next_number), .other_number(other_number), .queued(queued), .awakened(awakened),
    .busy(busy), .select({4'd0, select}), .fetch(fetch), .peer_low(out[0]), .peer_high(out[1]),
    .local_low(out[2]), .local_high(out[3]), .length(out[4]), .control(out[5]), .cookie(out[6]),
    .stamp(stamp), .number(number), .take(seen_take), .ended(ended), .end_(end_now),
    .end_channel({4'd0, seen_end_channel}), .other_select({4'd0, other_select}),
    .ended_for_other(ended_for_other)
  );
  // One bit of each: the bits of a RAM do not know each other.
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
    end
  end

  (* hierconn, init = 0 *) wire [1:0] \dut.tail_software.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.tail_engine.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.tail_ends.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.head_software.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.head_engine.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_ends.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_own.spy_at ;
  (* hierconn, init = 0 *) wire [1:0] \dut.ended_other.spy_at ;
  (* hierconn, init = 0 *) wire [12:0] \dut.tail_software.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.tail_engine.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.tail_ends.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.head_software.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.head_engine.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.ended_ends.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.ended_own.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.ended_other.spy ;
  (* hierconn, init = 0 *) wire [7:0] \dut.bank_0.spy_at ;
  (* hierconn, init = 0 *) wire [7:0] \dut.bank_6.spy_at ;
  (* hierconn, init = 0 *) wire [7:0] \dut.stamps.spy_at ;
  (* hierconn, init = 0 *) wire [31:0] \dut.bank_0.spy ;
  (* hierconn, init = 0 *) wire [31:0] \dut.bank_6.spy ;
  (* hierconn, init = 0 *) wire [12:0] \dut.stamps.spy ;
  wire cell_now = DWORD == 0 ? \dut.bank_0.spy [0] : \dut.bank_6.spy [0];
  always @* begin
    assume (\dut.tail_software.spy_at == which & \dut.tail_engine.spy_at == which);
    assume (\dut.tail_ends.spy_at == which & \dut.head_software.spy_at == which);
    assume (\dut.head_engine.spy_at == which & \dut.ended_ends.spy_at == which);
    assume (\dut.ended_own.spy_at == which & \dut.ended_other.spy_at == which);
    assume (\dut.bank_0.spy_at == {which, place[5:0]} & \dut.bank_6.spy_at == {which, place[5:0]});
    assume (\dut.stamps.spy_at == {which, place[5:0]});
    // One access a cycle. The sweep comes once after each reset, with the queue at rest.
    assume (!(write & doorbell));
    assume (!(sweep & (swept & sweeps | write | doorbell | take | end_now)));
    assume (swept | !((doorbell & accept | write) & mine | fetch & select == which));
    // The request maker starts what is queued, the paths end what was started.
    assume (!take | queued[select]);
    assume (!end_now | busy[end_channel]);
    assume (!(end_now & end_channel == which) | head != finished);
    assume (head - finished < 1024);
    // It reads only where something is queued.
    assume (!fetch | queued[select]);
  end

  always @* if (MUTANT == 0) begin
    if (swept) begin
      assert (\dut.tail_software.spy == tail & \dut.tail_engine.spy == tail);
      assert (\dut.tail_ends.spy == tail & \dut.head_software.spy == head);
      assert (\dut.head_engine.spy == head & \dut.ended_ends.spy == finished);
      assert (\dut.ended_own.spy == finished & \dut.ended_other.spy == finished);
      assert (head - finished <= 1024 & level <= DEPTH);
      assert (queued[which] == (level != 0) & busy[which] == (tail != finished));
      if (watching) begin
        assert (place - head < level);
        assert (\dut.stamps.spy [0] == its_stamp);
      end
      if (prepared) assert (level != DEPTH & tail == place & !watching);
      if (prepared | watching) assert (cell_now == word);
    end else assert (!watching & !prepared & !queued[which] & !busy[which] & !shows);
    if (shows) assert (watching & head == place & shown == word & stamp[0] == its_stamp);
  end

  always @* if (!reset & swept & !sweep) begin
    assert (level <= DEPTH);
    if (mine) begin
      assert (refused == (seen_doorbell & (level == DEPTH | !accept)));
      assert (free == DEPTH - level & next_number == tail);
      assert (awakened[which] == (doorbell & !refused & tail == finished));
    end
    if (select == which) assert (number == head & ended == finished);
    if (other_select == which) assert (ended_for_other == finished);
    assert (queued[which] == (level != 0));
    assert (busy[which] == (tail != finished));
    // The oldest, once it was read, is what software wrote for it.
    if (shows) assert (shown == word & stamp[0] == its_stamp);
  end
endmodule
