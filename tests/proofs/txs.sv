// The `Txs` adapter, 128 bits, with a slave that waits, answers and fails to answer in any way.
//
// Part 1: the rules of the bus, also of a port that stalls and is given up, and of one that then continues. Of a burst
// that was stalled there, only its own bytes are written, and a record is right. Part 2: the owner of each completion:
// every read ends once and in order, with its own data or as an error, however late the answers were. Part 3: a port
// that stalls is dead after the time-out, and then everything that is offered is taken, and every flush that is taken
// ends. The port opens when nothing is stalled there any more, between two bursts. Bounded: short bursts, a time-out of
// two cycles, and the number of cycles from reset that the test sets.
// Part 4: the last beat of a read is known before it comes, for reads of any length. Unbounded.
module proof #(
  parameter PART = 1,
  parameter MUTANT = 0
) (
  input wire clock,
  input wire write,
  input wire [63:0] write_address,
  input wire [5:0] write_beats,
  input wire beat,
  input wire [127:0] beat_data,
  input wire [15:0] beat_enable,
  input wire read,
  input wire [63:0] read_address,
  input wire [5:0] read_beats,
  input wire read_mark,
  input wire flush,
  input wire [63:0] flush_address,
  input wire record,
  input wire [63:0] record_address,
  input wire [255:0] record_data,
  input wire message,
  input wire [63:0] message_address,
  input wire [31:0] message_data,
  input wire release_now,
  input wire clear_now,
  input wire waitrequest,
  input wire answer_now,
  input wire choose
);
  (* anyconst *) wire [31:0] timeout;
  (* anyconst *) wire [15:0] pace;
  wire beat_take, write_done, read_take, flush_take, flushed, flush_error, record_take, message_take;
  wire chunk, completion, completion_error, quarantine, reads_down, dead, port_free, stalled;
  wire stalled_tags, tagged, sent, asked, rinses;
  wire [5:0] chunk_tag;
  wire [9:0] chunk_bytes;
  wire [4:0] chunk_code;
  wire [127:0] completion_data;
  wire [63:0] lost, address;
  wire bus_read, bus_write;
  wire [127:0] writedata;
  wire [15:0] byteenable;
  wire [5:0] burstcount;

  // The slave's list of reads: beats of each and whether it is marked, oldest first.
  reg [5:0] list [0:7];
  reg [7:0] list_mark = 0;
  reg [3:0] listed = 0;
  wire answer = answer_now & listed != 0;
  wire mark = list_mark[0];

  // Faults: a wait not seen, a read too many, a wrong byte enable, a burst counted short; a beat not seen, a late beat
  // let through, a beat too many asked for; a port that is given up too late, one that takes nothing; a reset of the
  // engine that drops the record of owed data; a burst that outlives a reset and is not reported; reads that flush
  // reads hold back; a port that does not open, or opens too early; a byte past the end.
  wire seen_wait = MUTANT == 1 ? 1'b0 : waitrequest;
  wire seen_read_write = MUTANT == 2 ? bus_read | bus_write : bus_read;
  wire [15:0] seen_enable = MUTANT == 3 ? byteenable & 16'h7fff
    : MUTANT == 14 & bus_write & burstcount == 3 & !address[63] & byteenable == 16'h000f ? 16'hffff : byteenable;
  wire [5:0] seen_count = MUTANT == 4 ? burstcount + bus_write : burstcount;
  wire seen_answer = MUTANT == 5 ? answer & !choose : answer;
  wire seen_completion = MUTANT == 6 ? completion & !choose : completion;
  wire [5:0] seen_beats = MUTANT == 7 ? read_beats + 1 : read_beats;
  wire [31:0] seen_timeout = MUTANT == 8 ? timeout + 2 : timeout;
  wire seen_take = MUTANT == 9 ? record_take & !dead : record_take;

  reg ever_dead = 0;
  always @(posedge clock) ever_dead <= dead | (ever_dead & !clear_now);
  wire seen_dead = MUTANT == 13 ? dead | ever_dead : MUTANT == 15 ? dead & (bus_read | bus_write) : dead;

  wire seen_rinses = MUTANT == 11 ? rinses & bus_read : rinses;

  wire clear = PART != 3 & clear_now;
  wire seen_reset = MUTANT == 10 & clear;

  peerlane_txs dut (
    .pcie_clk(clock), .port_reset(seen_reset), .port_clear(clear), .port_write_valid(write), .port_write_address(write_address),
    .port_write_beats(write_beats), .port_write_beat(beat), .port_write_data(beat_data),
    .port_write_enable(beat_enable), .port_write_take(beat_take), .port_write_done(write_done),
    .port_read_valid(MUTANT == 12 ? read & !flush : read), .port_read_address(read_address), .port_read_beats(seen_beats),
    .port_read_bytes({read_beats, 4'd0}), .port_read_tag({5'd0, read_mark}),
    .port_read_take(read_take), .port_flush_valid(flush), .port_flush_address(flush_address),
    .port_flush_take(flush_take), .port_flush_done(flushed), .port_flush_error(flush_error),
    .port_record_valid(record), .port_record_address(record_address), .port_record_data(record_data),
    .port_record_take(record_take), .port_message_valid(message),
    .port_message_address(message_address), .port_message_data(message_data),
    .port_message_take(message_take), .port_answer_chunk(chunk), .port_answer_tag(chunk_tag),
    .port_answer_bytes(chunk_bytes), .port_answer_code(chunk_code), .port_answer_beat(completion),
    .port_answer_data(completion_data), .port_answer_error(completion_error),
    .port_lost(lost), .port_timeout(seen_timeout), .port_release(release_now), .port_pace(pace),
    .port_reads_down(reads_down), .port_quarantine(quarantine), .port_dead(dead),
    .port_free(port_free), .port_sent(sent), .port_asked(asked), .port_rinses(rinses), .port_stalled(stalled), .port_stalled_tags(stalled_tags),
    .port_tagged(tagged), .txs_address(address), .txs_read(bus_read), .txs_write(bus_write),
    .txs_writedata(writedata), .txs_byteenable(byteenable), .txs_burstcount(burstcount),
    .txs_waitrequest(seen_wait), .txs_readdata({127'd0, mark}), .txs_readdatavalid(seen_answer)
  );
  (* hierconn, init = 0 *) wire \dut.issue ;
  (* hierconn, init = 0 *) wire \dut.probe ;
  (* hierconn, init = 0 *) wire [5:0] \dut.seen_q ;
  (* hierconn, init = 0 *) wire \dut.begun_q ;
  (* hierconn, init = 0 *) wire \dut.at_last_q ;
  (* hierconn, init = 0 *) wire \dut.arriving ;
  (* hierconn, init = 0 *) wire \dut.finished ;
  (* hierconn, init = 0 *) wire \dut.pending.shown_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.pending.count_q ;
  (* hierconn, init = 0 *) wire [2:0] \dut.pending.head_q ;
  (* hierconn, init = 0 *) wire [2:0] \dut.pending.tail_q ;
  (* hierconn, init = 0 *) wire \dut.pending.any_q ;
  (* hierconn, init = 0 *) wire \dut.pending.at_most_q ;
  (* hierconn, init = 0 *) wire \dut.pending.ram.settling ;
  (* hierconn *) wire [2:0] \dut.pending.ram.recent ;
  (* hierconn *) wire [191:0] \dut.pending.ram.every ;
  (* hierconn *) wire [23:0] \dut.pending.data ;
  wire issue = \dut.issue ;
  wire probe = \dut.probe ;

  // The engine's side of the interface: an offer stays until it is taken.
  reg read_waits = 0, flush_waits = 0, record_waits = 0, message_waits = 0;
  reg in_burst = 0, beat_waits = 0, marked = 0;
  // Beats of the burst that were taken; bytes of the last of every burst of several.
  reg [5:0] taken_beats = 0;
  (* anyconst *) wire [15:0] last_enable;
  function [0:0] begins(input [15:0] mask);
    begins = mask == 16'hffff | mask == 16'hfff0 | mask == 16'hff00 | mask == 16'hf000;
  endfunction
  function [0:0] ends(input [15:0] mask);
    ends = mask == 16'hffff | mask == 16'h0fff | mask == 16'h00ff | mask == 16'h000f;
  endfunction
  // The ten masks that `Txs` takes for a burst of one beat.
  function [0:0] alone(input [15:0] mask);
    alone = begins(mask) | ends(mask) | mask == 16'h00f0 | mask == 16'h0f00 | mask == 16'h0ff0;
  endfunction
  reg [71:0] read_before = 0;
  reg [69:0] write_before = 0;
  reg [319:0] record_before = 0;
  reg [95:0] message_before = 0;
  reg [143:0] beat_before = 0;
  wire [71:0] read_now = {read_mark, read_beats, read_address};
  wire [69:0] write_now = {write_beats, write_address};
  wire [319:0] record_now = {record_address, record_data};
  wire [95:0] message_now = {message_address, message_data};
  wire [143:0] beat_now = {beat_enable, beat_data};
  always @* begin
    assume (read_beats != 0 & read_beats <= (PART == 4 ? 32 : 2) & write_beats != 0 & write_beats <= 3);
    assume (timeout == 2 | (PART != 3 & timeout == 0));
    // Part 2 is about reads; part 1 shows that the other accesses do not mix with them.
    if (PART == 2) assume (!write & !record & !message & !waitrequest);
    if (PART != 2) assume (!read_mark);
    // Addresses are those of beats, also of records and messages. The highest bit distinguishes these from writes.
    // Bursts have whole dwords, from the first to the last.
    assume (!write_address[63] & record_address[63] & message_address[63]);
    assume (write_address[3:0] == 0 & record_address[4:0] == 0 & flush_address[3:0] == 0);
    assume (message_address[1:0] == 0);
    assume (ends(last_enable));
    assume (write_beats == 1 ? alone(beat_enable) : !in_burst ? begins(beat_enable)
          : taken_beats + 6'd1 == write_beats ? beat_enable == last_enable : beat_enable == 16'hffff);
    assume (!read_waits | (read & read_now == read_before));
    assume (!flush_waits | flush);
    assume (!record_waits | (record & record_now == record_before));
    assume (!message_waits | (message & message_now == message_before));
    assume (!beat_waits | (beat & beat_now == beat_before));
    assume (!in_burst | (write & write_now == write_before));
    // One read is marked: the solver chooses it.
    assume (!(read & read_mark & marked));
  end
  always @(posedge clock) begin
    read_waits <= read & !read_take;
    flush_waits <= flush & !flush_take;
    record_waits <= record & !record_take;
    message_waits <= message & !message_take;
    beat_waits <= beat & !beat_take;
    in_burst <= (in_burst | (beat_take & !write_done)) & !write_done;
    if (beat_take) taken_beats <= write_done ? 0 : taken_beats + 1;
    marked <= marked | (read_take & read_mark);
    read_before <= read_now;
    write_before <= write_now;
    record_before <= record_now;
    message_before <= message_now;
    beat_before <= beat_now;
    // The engine is reset.
    if (clear) begin
      read_waits <= 0;
      flush_waits <= 0;
      record_waits <= 0;
      message_waits <= 0;
      beat_waits <= 0;
      in_burst <= 0;
      taken_beats <= 0;
    end
  end

  // The slave. The mark of the command on the bus was given when it was taken.
  reg bus_mark = 0;
  wire read_accepted = bus_read & !waitrequest;
  wire oldest_done = answer & list[0] == 1;
  wire [3:0] place = listed - oldest_done;
  integer i;
  always @(posedge clock) begin
    if (issue) bus_mark <= !probe & read_mark;
    if (answer) list[0] <= list[0] - 1;
    if (oldest_done) begin
      for (i = 0; i < 7; i = i + 1) list[i] <= list[i + 1];
      list_mark <= list_mark >> 1;
    end
    if (read_accepted) begin
      list[place[2:0]] <= burstcount;
      list_mark[place[2:0]] <= bus_mark;
    end
    listed <= listed + read_accepted - oldest_done;
  end

  generate if (PART == 1) begin
    reg held = 0;
    reg [214:0] before = 0;
    wire [214:0] now = {seen_read_write, bus_write, address, writedata, byteenable, seen_count};
    // Beats of the write burst under way that the slave has not yet seen.
    reg [5:0] left = 0;
    reg [63:0] burst_address = 0;
    reg [5:0] burst_beats = 0;
    reg message_taken = 0, dead_before = 0, clear_before = 0;
    // The second half of the record whose first half is offered.
    reg [127:0] half_before = 0;
    wire [127:0] half = held | left != 0 ? half_before : record_before[255:128];
    wire first_beat = left == 0, last_beat = left == 1 | (left == 0 & seen_count == 1);
    // Whether the access at the bus, or its rest, is from before a reset of the engine.
    reg outlives = 0;
    // Reads that have left while a read, or a flush, waits.
    reg [1:0] read_passed = 0, flush_passed = 0;
    wire write_accepted = bus_write & !waitrequest;
    always @(posedge clock) begin
      held <= (seen_read_write | bus_write) & waitrequest;
      before <= now;
      message_taken <= message_take & !dead;
      half_before <= half;
      dead_before <= seen_dead;
      clear_before <= clear;
      outlives <= (outlives | clear) & (((bus_read | bus_write) & waitrequest) | left > write_accepted
                | (write_accepted & left == 0 & seen_count > 1));
      read_passed <= !read | read_take | clear ? 0 : read_passed + issue;
      flush_passed <= !flush | flush_take | clear ? 0 : flush_passed + issue;
      if (write_accepted) begin
        left <= (left == 0 ? seen_count : left) - 1;
        burst_address <= address;
        burst_beats <= seen_count;
      end
    end
    always @* begin
      assert (!(seen_read_write & bus_write));
      if (held) assert (now == before);
      if (bus_read | bus_write) assert (seen_count != 0 & seen_count <= 3 & address[3:0] == 0);
      // Reads have whole beats, and writes have masks that `Txs` takes, also those of a port that was given up. They
      // have no byte past their end. A message is one dword, and records are whole.
      if (bus_read) assert (seen_enable == 16'hffff);
      if (bus_write) begin
        assert (!(first_beat & last_beat) | alone(seen_enable));
        assert (!first_beat | last_beat | begins(seen_enable));
        assert (first_beat | !last_beat | ends(seen_enable));
        assert (first_beat | last_beat | seen_enable == 16'hffff);
        if (!first_beat & last_beat & !address[63]) assert ((seen_enable & ~last_enable) == 0);
        if (seen_count == 2 & address[63]) begin
          assert (seen_enable == 16'hffff);
          if (left == 1) assert (writedata == half);
        end
      end
      // A port opens after the burst that was stalled there.
      if (dead_before & !seen_dead & !clear_before) assert (left == 0 & !held & !in_burst);
      if (message_taken) begin
        assert (bus_write & seen_count == 1 & address == {message_before[95:36], 4'd0});
        assert (seen_enable == 16'hf << message_before[35:32]);
        assert (writedata[31:0] == message_before[31:0] & writedata[127:96] == message_before[31:0]);
      end
      // A burst is not interrupted, and has the number of beats that it announced.
      if (left != 0) begin
        assert (!bus_read);
        if (bus_write) assert (address == burst_address & seen_count == burst_beats);
        if (dead) assert (bus_write);
      end
      if (in_burst & !bus_write & !dead) assert (left != 0);
      if (!in_burst & !record & !bus_write) assert (left == 0);
      // The side that may free memory is notified of an access that is still stalled, or that the port is dead.
      if (outlives) assert (seen_rinses | dead);
      // Reads and flushes take turns.
      assert (read_passed < 2 & flush_passed < 2);
      // The eight reads of `Txs`.
      assert (listed <= 8 & !(bus_read & listed == 8));
    end
  end endgenerate

  generate if (PART == 2) begin
    // Reads and flushes that have left and not ended, oldest first: flush, mark, beats; beats seen of
    // the first.
    reg [7:0] due [0:7];
    reg [3:0] dues = 0;
    reg [5:0] seen = 0;
    wire absorbed = read_take & !(issue & !probe);
    // A flush that fails at once ends a cycle later.
    reg flush_absorbed = 0;
    wire flush_over = flushed & !flush_absorbed;
    wire its_chunk = chunk & !absorbed;
    wire over = flush_over | (its_chunk & chunk_code != 0)
              | (seen_completion & seen + 6'd1 == due[0][5:0]);
    wire [3:0] due_place = dues - over;
    integer k;
    always @(posedge clock) begin
      if (over) for (k = 0; k < 7; k = k + 1) due[k] <= due[k + 1];
      if (issue) due[due_place[2:0]] <= {probe, !probe & read_mark, probe ? 6'd1 : read_beats};
      dues <= dues + issue - over;
      flush_absorbed <= flush_take & !probe & !clear;
      seen <= over ? 0 : seen + seen_completion;
      if (clear) begin
        dues <= 0;
        seen <= 0;
      end
    end
    always @* begin
      // A read ends by a chunk with a code, or by a chunk without and all of its beats, in order; one
      // that is taken while the port is closed ends at once.
      if (absorbed) assert (chunk & chunk_code == 8 & chunk_tag == read_mark & dues == 0);
      if (its_chunk) begin
        assert (dues != 0 & !due[0][7] & seen == 0 & chunk_tag == due[0][6]);
        assert (chunk_code == 0 | (chunk_code == 7 & quarantine));
        assert (chunk_bytes == {due[0][5:0], 4'd0});
        assert ((chunk_code == 0) == seen_completion);
      end
      if (seen_completion) assert (dues != 0 & !due[0][7] & (seen != 0 | its_chunk));
      if (flush_over) assert (dues != 0 & due[0][7]);
      if (flush_absorbed) assert (flushed & dues == 0);
      if (flushed) assert (flush_error == (flush_absorbed | quarantine));
      // Data belong to that very read.
      if (completion & !completion_error) assert (completion_data[0] == due[0][6] & answer);
      // When the slave owes nothing and nothing is being made up, nothing is due.
      if (!quarantine & listed == 0 & !bus_read) assert (dues == 0);
      assert (dues <= 8);
    end
  end endgenerate

  generate if (PART == 3) begin
    reg [3:0] still = 0;
    // Cycles for which a record or a message has waited outside a burst: one until the turn is given, one
    // for another's turn, one for the record's first half.
    reg [2:0] late = 0;
    reg dead_before = 0;
    // Cycles of a dead port without a stalled access, outside a burst.
    reg [2:0] idle = 0;
    wire stands = bus_read | bus_write;
    // A flush that left without a cycle of its own fails in the next cycle.
    reg absorbed = 0;
    always @(posedge clock) begin
      dead_before <= seen_dead;
      idle <= seen_dead & !stands & !in_burst ? idle + 1 : 0;
      absorbed <= flush_take & !probe;
      still <= ((bus_read | bus_write) & waitrequest) ? still + 1 : 0;
      late <= dead & stands & !in_burst & (record ? !seen_take : message & !message_take) ? late + 1 : 0;
    end
    always @* begin
      // Not a cycle longer than the driver's limit.
      assert (dead | still <= timeout);
      if (dead & in_burst) assert (beat_take == beat);
      // The port opens, at the latest when the second half of a record was dropped, and takes nothing new in the cycle
      // before.
      assert (idle <= 3);
      assert (late <= 3);
      if (dead & dead_before & !in_burst & !record & !message & write & beat) assert (beat_take | !stands);
      // Reads end, one a cycle or one beat a cycle, and flushes.
      if (dead & (read | flush)) assert (chunk | completion | flushed | flush_take);
      if (absorbed) assert (flushed & flush_error);
      if (dead) assert (reads_down);
    end
  end endgenerate
  generate if (PART == 4) begin
    wire [5:0] its_last = \dut.pending.data [5:0] + 6'd1;
    wire [3:0] count = \dut.pending.count_q ;
    always @* begin
      // Data that arrive belong to a read that left: the parts above.
      assume (!\dut.arriving | \dut.pending.shown_q );
      assert (\dut.begun_q == (\dut.seen_q != 0));
      if (\dut.begun_q ) begin
        assert (\dut.pending.shown_q & \dut.seen_q <= its_last);
        assert (\dut.at_last_q == (\dut.seen_q == its_last));
      end
      if (\dut.arriving | (\dut.begun_q & \dut.finished )) assert (\dut.finished == (\dut.seen_q == its_last));
      // The reads in flight: this makes the rest inductive.
      assert (count <= 8 & count[2:0] == \dut.pending.tail_q - \dut.pending.head_q );
      assert (\dut.pending.any_q == (count != 0) & \dut.pending.at_most_q == (count == 8));
      assert (\dut.pending.shown_q == (count > \dut.pending.ram.settling ));
      if (\dut.pending.any_q & \dut.pending.ram.settling ) assert (\dut.pending.ram.recent == \dut.pending.tail_q - 3'd1);
    end
    genvar k;
    for (k = 0; k < 8; k = k + 1) begin
      wire [2:0] at = k - \dut.pending.head_q ;
      wire [23:0] word = \dut.pending.ram.every [24 * k +: 24];
      always @* if (at < count) begin
        assert (word[23] == (word[5:0] == 6'h3f) & (word[23] | word[5:0] <= 30));
        // A flush has one beat.
        assert (!word[22] | word[23]);
      end
    end
  end endgenerate
endmodule
