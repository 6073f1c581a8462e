// The receiver, 128 bits, eight tags, in one clock, with an aligner and a memory of data that behave in any way.
//
// A chunk is written at the place of its tag's read, after the chunks before it; a tag that the solver chooses is
// watched. A burst to memory has as many words as it announced and is offered until it is over, also when the block is
// reset and the memory is not: only a reset of the memory ends it. Unbounded.
module proof (
  input wire clock,
  input wire reset,
  input wire other_reset,
  input wire mem_forgets,
  input wire place,
  input wire [2:0] place_tag,
  input wire [39:0] place_local,
  input wire [3:0] place_lane,
  input wire [9:0] place_bytes,
  input wire chunk,
  input wire [2:0] chunk_tag,
  input wire [9:0] chunk_bytes,
  input wire [4:0] chunk_code,
  input wire completion,
  input wire [127:0] completion_data,
  input wire completion_error,
  input wire mem_wait
);
  (* anyconst *) wire [2:0] which;
  wire used, done, stalled, mem_write;
  wire [10:0] unneeded;
  wire [5:0] done_tag;
  wire [4:0] done_code;
  wire [39:0] mem_address;
  wire [4:0] mem_count;
  wire [63:0] mem_enable;
  // The receiver sees a reset of the memory a cycle later than the memory.
  reg forgets_before = 0, forgets_for_long = 0;
  wire mem_reset = forgets_before | other_reset;

  peerlane_receive dut (
    .clock(clock), .reset(reset), .place(place), .place_tag({3'd0, place_tag}), .place_local(place_local),
    .place_lane({1'd0, place_lane}), .place_bytes(place_bytes), .answer_chunk(chunk), .answer_tag({3'd0, chunk_tag}),
    .answer_bytes(chunk_bytes), .answer_code(chunk_code), .answer_beat(completion),
    .answer_data(completion_data), .answer_error(completion_error), .used(used),
    .unneeded(unneeded), .done(done), .done_tag(done_tag), .done_code(done_code), .stalled(stalled),
    .mem_clock(clock), .mem_reset(mem_reset), .mem_forgets(mem_forgets), .mem_wr_address(mem_address),
    .mem_wr_write(mem_write), .mem_wr_burstcount(mem_count), .mem_wr_writedata(),
    .mem_wr_byteenable(mem_enable), .mem_wr_waitrequest(mem_wait)
  );
  (* hierconn, init = 0 *) wire \dut.front_on_q ;
  (* hierconn, init = 0 *) wire [20:0] \dut.front_q ;
  (* hierconn, init = 0 *) wire \dut.found_on_q ;
  (* hierconn, init = 0 *) wire [54:0] \dut.found_q ;
  (* hierconn, init = 0 *) wire \dut.found_bare_q ;
  (* hierconn, init = 0 *) wire \dut.packing_q ;
  (* hierconn, init = 0 *) wire [48:0] \dut.packing_word_q ;
  (* hierconn *) wire \dut.c_take ;
  (* hierconn *) wire [2:0] \dut.places.spy_at ;
  (* hierconn *) wire [54:0] \dut.places.spy ;
  (* hierconn *) wire [20:0] \dut.chunks.data ;
  (* hierconn *) wire \dut.jobs.push ;
  (* hierconn *) wire [19:0] \dut.jobs.data_in ;
  (* hierconn *) wire \dut.commands.push ;
  (* hierconn *) wire [51:0] \dut.commands.data_in ;
  (* hierconn *) wire \dut.commands.valid ;
  (* hierconn *) wire [51:0] \dut.commands.data ;
  (* hierconn *) wire \dut.written.full ;
  (* hierconn *) wire \dut.written.push ;
  (* hierconn, init = 0 *) wire [3:0] \dut.word_count_q ;
  (* hierconn, init = 0 *) wire \dut.command_on_q ;
  (* hierconn, init = 0 *) wire [51:0] \dut.command_q ;
  (* hierconn, init = 0 *) wire \dut.command_writes_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.burst_beat_q ;
  (* hierconn, init = 0 *) wire \dut.ends_burst_q ;
  (* hierconn, init = 0 *) wire \dut.rinsing_q ;
  (* hierconn, init = 0 *) wire \dut.stuck_q ;

  // Chunks into their places. Of the watched tag: the place of its next chunk.
  reg known = 0;
  reg [39:0] local_at = 0;
  reg [3:0] lane = 0;
  reg [9:0] left_of_it = 0;
  wire front_on = \dut.front_on_q ;
  wire [2:0] front_tag = \dut.front_q [2:0];
  wire [9:0] front_bytes = \dut.front_q [15:6];
  wire [4:0] front_code = \dut.front_q [20:16];
  wire taken = \dut.c_take & front_tag == which;
  wire [54:0] its_place = {left_of_it, 1'b0, lane, local_at};
  // The part of the chunk that was taken in the last cycle.
  reg moved = 0;
  reg [48:0] pack = 0;
  always @(posedge clock) begin
    if (place & place_tag == which) begin
      known <= 1;
      local_at <= place_local;
      lane <= place_lane;
      left_of_it <= place_bytes;
    end else if (taken) begin
      local_at <= local_at + front_bytes;
      lane <= lane + front_bytes[3:0];
      left_of_it <= left_of_it - front_bytes;
    end
    moved <= taken & known & !reset;
    pack <= {front_code != 0, front_code, front_code != 0 | front_bytes == left_of_it, 3'd0, which,
             local_at[5:4], local_at[39:6]};
  end
  always @* begin
    assume (\dut.places.spy_at == which);
    // A tag is not used again while it has a chunk in progress: the proof of the read path.
    assume (!(place & front_on & place_tag == front_tag));
    // The FIFO of chunks only shows chunks that were pushed: its own proof.
    assume (\dut.chunks.data [5:3] == 0);
  end
  always @* if (front_on) assert (\dut.front_q [5:3] == 0);
  always @* if (\dut.c_take ) assert (front_on & \dut.found_on_q & !place);
  always @* if (\dut.found_on_q ) assert (front_on & \dut.found_bare_q == (front_code != 0));
  always @* if (known) begin
    assert (\dut.places.spy == its_place);
    if (\dut.found_on_q & front_tag == which) assert (\dut.found_q == its_place);
    if (taken) assert (\dut.jobs.push == (front_code == 0));
    if (taken & \dut.jobs.push ) assert (\dut.jobs.data_in == {front_bytes, 1'b0, local_at[3:0], 1'b0, lane});
  end
  always @* if (moved) assert (\dut.packing_q & \dut.packing_word_q == pack);

  // Bursts to memory: words that memory still waits for, and the word that is offered.
  reg [3:0] left = 0;
  reg [39:0] its_address = 0;
  reg [4:0] its_count = 0;
  reg waits = 0, closed_before = 0;
  reg [63:0] enable_before = 0;
  wire beat = mem_write & !mem_wait;
  always @(posedge clock) begin
    forgets_before <= mem_forgets;
    forgets_for_long <= mem_forgets & forgets_before;
    closed_before <= mem_reset | \dut.rinsing_q ;
    waits <= mem_write & mem_wait;
    enable_before <= mem_enable;
    if (mem_write) begin
      its_address <= mem_address;
      its_count <= mem_count;
    end
    if (beat) left <= (left == 0 ? mem_count : left) - 1;
    if (mem_forgets) begin
      left <= 0;
      waits <= 0;
    end
  end
  // After the first cycle of a reset of the memory.
  wire settled = !forgets_before | forgets_for_long;
  wire [3:0] words = \dut.command_q [37:34];
  wire its_bare = \dut.command_q [50];
  always @* begin
    // Resets are long.
    assume (!forgets_before | forgets_for_long | mem_forgets);
    // A chunk has at most 512 bytes, in nine words.
    assume (\dut.word_count_q <= 8);
    // The FIFO of ends gets full with a push, and a burst that is not over pushes none.
    assume (!(waits & \dut.command_writes_q & \dut.written.full ));
    // The FIFO of commands only shows commands that were pushed: its own proof.
    assume (!\dut.commands.valid | \dut.commands.data [50]
            | (\dut.commands.data [37:34] != 0 & \dut.commands.data [51] == (\dut.commands.data [37:34] == 1)));
    if (\dut.commands.push & !\dut.commands.data_in [50])
      assert (\dut.commands.data_in [37:34] != 0
              & \dut.commands.data_in [51] == (\dut.commands.data_in [37:34] == 1));
  end
  always @* if (settled) begin
    assert (\dut.command_writes_q == (\dut.command_on_q & !its_bare));
    assert (!(\dut.rinsing_q & \dut.command_on_q ));
    if (\dut.rinsing_q | \dut.command_writes_q ) begin
      assert (words != 0 & \dut.burst_beat_q < words);
      assert (\dut.ends_burst_q == (\dut.burst_beat_q + 4'd1 == words));
      assert (left == (\dut.burst_beat_q == 0 ? 4'd0 : words - \dut.burst_beat_q ));
    end else assert (\dut.burst_beat_q == 0 & left == 0);
    if (\dut.rinsing_q ) assert (!\dut.commands.valid & (left != 0 | waits) & closed_before);
    if (closed_before) assert (!\dut.commands.valid & !\dut.command_on_q );
    if (\dut.stuck_q ) assert (\dut.rinsing_q & waits);
    if (left != 0 | waits) assert (its_address == {\dut.command_q [33:0], 6'd0} & its_count == words);
  end
  always @* if (settled & !mem_forgets) begin
    if (mem_write) assert (mem_count != 0 & mem_count <= 15);
    if (mem_write & left != 0) assert (mem_address == its_address & mem_count == its_count);
    // An offered word stays until it is taken, and a burst that has begun is finished.
    if (waits) assert (mem_write & mem_address == its_address & mem_count == its_count);
    if (waits) assert (mem_enable == enable_before);
    if (closed_before & left != 0) assert (mem_write);
    // No byte of a dropped burst is written.
    if (closed_before & mem_write & !waits) assert (mem_enable == 0);
  end
endmodule
