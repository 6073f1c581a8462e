// Posted packets: each has the form that the specification requires, names the bytes of its burst, all of them once,
// and has as many beats as were stored for it. Unbounded. The stores are left open.
module proof #(parameter MUTANT = 0, LANES = 2) (
  input wire clock,
  input wire valid,
  input wire [63:0] address,
  input wire [5:0] beats,
  input wire [64 * LANES - 1:0] data,
  input wire [8 * LANES - 1:0] enable,
  input wire open, head_take, beat_take
);
  localparam BYTES = 8 * LANES;
  (* anyconst *) wire [2:0] limit;
  wire ready, taken, head_valid;
  wire [91:0] head;
  wire [4:0] stored;
  wire [64 * LANES - 1:0] beat;
  reg started = 0;
  always @(posedge clock) started <= 1;

  // Faults: a limit of twice the length; a byte less, or one that is not wanted; a burst that does not exist; another
  // address.
  wire [2:0] seen_limit = MUTANT == 1 ? limit + 1 : limit;
  wire [BYTES - 1:0] seen_enable = MUTANT == 2 ? enable & ~(enable - 1 & ~enable) & enable << 1
    : MUTANT == 3 ? enable | enable >> 1 : enable;
  wire [5:0] seen_beats = MUTANT == 4 & beats[2] ? beats + 1 : beats;
  wire [63:0] seen_address = MUTANT == 5 ? address ^ 64'h100000000 : address;
  peerlane_posts dut (
    .clock(clock), .reset(!started), .valid(valid), .ready(ready), .address(seen_address), .beats(seen_beats),
    .data(data), .enable(seen_enable), .open(open), .payload(seen_limit), .taken(taken), .head_valid(head_valid),
    .head(head), .head_take(head_take), .stored(stored), .beat(beat), .beat_take(beat_take)
  );

  // The burst: where the next beat is, and whether some were accepted.
  reg [5:0] done = 0;
  reg [63:0] from = 0;
  reg [5:0] size = 0;
  wire accept = valid & ready;
  wire [63:0] here = address + done * BYTES;
  wire [63:0] behind = here + BYTES;
  wire [12:0] most = limit == 0 ? 128 : limit == 1 ? 256 : 512;
  wire is_last = done + 1 == beats;
  wire ends = is_last | behind % most == 0;
  wire [6:0] low, high;
  function [6:0] lowest(input [BYTES - 1:0] mask);
    integer i;
    begin
      lowest = 0;
      for (i = BYTES - 1; i >= 0; i = i - 1) if (mask[i]) lowest = i;
    end
  endfunction
  function [6:0] highest(input [BYTES - 1:0] mask);
    integer i;
    begin
      highest = 0;
      for (i = 0; i < BYTES; i = i + 1) if (mask[i]) highest = i;
    end
  endfunction
  assign low = lowest(enable);
  assign high = highest(enable);
  wire [BYTES - 1:0] filled = enable >> low;
  always @* begin
    assume (address % BYTES == 0);
    assume (beats >= 1 & beats <= 32);
    assume ({1'b0, address[11:0]} + beats * BYTES <= 4096);
    // From one byte to another; all bytes if there are several beats.
    assume (enable != 0 & (filled & (filled + 1)) == 0);
    assume (beats == 1 | &enable);
    assume (limit <= 5);
    if (done != 0) assume (address == from & beats == size);
  end

  // The packet: its first and its last byte, and its beats; then the same one, two and three cycles later, as its
  // header is made.
  reg [63:0] first = 0, last = 0, first_2 = 0, last_2 = 0, first_3 = 0, last_3 = 0;
  reg [5:0] count = 0, count_2 = 0, count_3 = 0;
  reg fresh = 1, beat_1 = 0, beat_2 = 0, end_1 = 0, end_2 = 0, end_3 = 0;
  // Beats that were stored.
  (* hierconn *) wire \dut.push_q , \dut.head_push_q ;
  (* hierconn *) wire [91:0] \dut.head_word_q ;
  reg [6:0] words = 0;
  always @(posedge clock) if (started) begin
    beat_1 <= accept;
    beat_2 <= beat_1;
    end_1 <= accept & ends;
    end_2 <= end_1;
    end_3 <= end_2;
    {first_2, last_2, count_2} <= {first, last, count};
    {first_3, last_3, count_3} <= {first_2, last_2, count_2};
    if (accept) begin
      done <= is_last ? 0 : done + 1;
      from <= address;
      size <= beats;
      fresh <= ends;
      count <= fresh ? 1 : count + 1;
      if (fresh) first <= here + low;
      last <= here + high;
    end
    words <= \dut.head_push_q ? 0 : words + \dut.push_q ;
  end

  // Contents of the block's registers.
  (* hierconn, init = 0 *) wire [5:0] \dut.index_q , \dut.number_q , \dut.count_q ;
  (* hierconn, init = 0 *) wire \dut.fresh_q , \dut.gap_q , \dut.in_on_q , \dut.in_last_q , \dut.ends_q , \dut.spills_q ;
  (* hierconn, init = 0 *) wire \dut.wide_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.start_q ;
  (* hierconn, init = 0 *) wire [BYTES - 1:0] \dut.in_enable_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.in_dwords_q ;
  (* hierconn, init = 0 *) wire [91:0] \dut.ends_head_q ;

  // The expected header.
  function [91:0] told(input [63:0] from, input [63:0] to);
    reg [63:0] dwords, qwords, all;
    reg [3:0] begins, finishes;
    begin
      dwords = (to >> 2) - (from >> 2) + 1;
      // The payload begins in the second half of qword 1, after a header of three dwords, or in qword 2.
      qwords = (to >> 3) - (from >> 3) + (from[63:32] == 0 & from[2] ? 2 : 3);
      all = (qwords + LANES - 1) / LANES;
      begins = 4'hF << from[1:0];
      finishes = 4'hF >> (2'd3 - to[1:0]);
      told[61:0] = from[63:2];
      told[69:62] = dwords;
      told[75:70] = (dwords + 3) >> 2;
      told[79:76] = dwords == 1 ? begins & finishes : begins;
      told[83:80] = dwords == 1 ? 4'd0 : finishes;
      told[89:84] = all;
      told[91:90] = all * LANES - qwords;
    end
  endfunction
  wire [91:0] told_2 = told(first_2, last_2);
  wire [91:0] told_3 = told(first_3, last_3);

  // A packet: within one piece of the allowed length, with whole beats, or a single one that begins and ends anywhere.
  function is_packet(input [63:0] from, input [63:0] to, input [5:0] count);
    reg whole;
    begin
      whole = from % BYTES == 0 & to % BYTES == BYTES - 1;
      is_packet = from <= to & from[63:9] == to[63:9] & (limit >= 2 | from[8] == to[8]) & (limit != 0 | from[7] == to[7])
        & to / BYTES - from / BYTES + 1 == count & (count == 1 | whole);
    end
  endfunction
  function [7:0] dwords_of(input [BYTES - 1:0] mask);
    integer i;
    begin
      dwords_of = 0;
      for (i = 0; i < BYTES; i = i + 1) if (mask[i]) dwords_of[i / 4] = 1;
    end
  endfunction
  wire [BYTES - 1:0] had = \dut.in_enable_q >> lowest(\dut.in_enable_q );
  reg spilled = 0;
  always @(posedge clock) if (started) spilled <= \dut.spills_q ;
  wire open_packet = !fresh | end_1;
  wire [8:0] next_place = last[8:0] + 1;
  always @* if (!started) assert (done == 0 & fresh & words == 0 & !{beat_1, beat_2, end_1, end_2, end_3, spilled});
  always @* if (started & MUTANT == 0) begin
    assert (\dut.index_q == done & \dut.number_q == done + 1 & done <= 31);
    assert (\dut.fresh_q == fresh & \dut.in_on_q == beat_1 & \dut.gap_q == end_1);
    assert (\dut.ends_q == end_2 & \dut.push_q == (beat_2 | spilled));
    if (!beat_1) assert (!end_1);
    if (!beat_2) assert (!end_2);
    if (end_1) assert (!end_2 & fresh);
    if (end_2) assert (!end_3 & !beat_1 & fresh);
    if (end_3) assert (!beat_2);
    if (done != 0) begin
      assert (from % BYTES == 0 & size <= 32 & done < size & {1'b0, from[11:0]} + size * BYTES <= 4096);
      if (!fresh) assert (last == from + done * BYTES - 1 & first >= from);
    end
    if (!fresh) assert (done != 0);
    if (open_packet) begin
      assert (is_packet(first, last, count) & \dut.count_q == count);
      assert (\dut.start_q == first / BYTES * BYTES & \dut.wide_q == (first[63:32] != 0));
    end
    // The packet continues, so it is not at its end.
    if (!fresh) assert (first % BYTES == 0 & last % BYTES == BYTES - 1 & (next_place & most - 1) != 0);
    if (beat_1) begin
      assert (open_packet & \dut.in_last_q == end_1);
      assert (\dut.in_enable_q != 0 & (had & (had + 1)) == 0 & \dut.in_dwords_q == dwords_of(\dut.in_enable_q ));
      assert (last % BYTES == highest(\dut.in_enable_q ));
      if (count == 1) assert (first % BYTES == lowest(\dut.in_enable_q ));
      else assert (&\dut.in_enable_q );
    end
    if (end_2) begin
      assert (is_packet(first_2, last_2, count_2) & count == count_2);
      assert (\dut.ends_head_q [69:0] == told_2[69:0] & \dut.ends_head_q [91:76] == told_2[91:76]);
      assert (\dut.spills_q == (told_2[89:84] != count_2));
    end else assert (!\dut.spills_q );
    if (end_3) assert (is_packet(first_3, last_3, count_3) & spilled == (told_3[89:84] != count_3));
    else assert (!spilled);
    // Beats of a packet that were stored, and those that are about to be.
    if (end_3) assert (words == count_3 & (!open_packet | count == beat_1));
    else if (open_packet | end_2) assert (words + beat_1 + beat_2 == count);
    else assert (words == 0 & !beat_1 & !beat_2);
  end

  // As a header is stored.
  always @* if (started) begin
    assert (\dut.head_push_q == end_3);
    if (end_3) begin
      assert (\dut.head_word_q == told_3);
      assert (words + \dut.push_q == told_3[89:84]);
      // The form.
      assert (first_3[63:12] == last_3[63:12]);
      assert (told_3[69:62] >= 1 & {told_3[69:62], 2'd0} <= most);
    end
  end
endmodule
