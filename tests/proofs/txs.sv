// The `Txs` adapter, 128 bits, against a slave that waits, answers and fails to answer as it likes.
//
// Part 1: the rules of the bus. Part 2: which completion is whose: every beat of a read is
// completed once and in order, with the data of that very read or as an error, whatever was late.
// Bounded: short reads, a time-out of two cycles, so many cycles from reset as the test says.
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
  input wire flush,
  input wire [63:0] flush_address,
  input wire record,
  input wire [63:0] record_address,
  input wire [255:0] record_data,
  input wire release_now,
  input wire waitrequest,
  input wire answer_now,
  input wire choose
);
  (* anyconst *) wire [31:0] timeout;
  wire beat_take, write_done, read_take, flush_take, flushed, flush_error, record_take;
  wire completion, completion_error, quarantine, read_issued;
  wire [127:0] completion_data;
  wire [31:0] address;
  wire bus_read, bus_write;
  wire [127:0] writedata;
  wire [15:0] byteenable;
  wire [5:0] burstcount;

  // The slave's list of reads: beats of each, oldest first, and those of the command now accepted.
  reg [5:0] list [0:7];
  reg [3:0] listed = 0;
  wire answer = answer_now & listed != 0;
  wire tag;

  // Faults: a wait not seen, a read too many, a byte enable off, a burst counted short; a beat not
  // seen, a late beat let through, a beat too many asked for.
  wire seen_wait = MUTANT == 1 ? 1'b0 : waitrequest;
  wire seen_read_write = MUTANT == 2 ? bus_read | bus_write : bus_read;
  wire [15:0] seen_enable = MUTANT == 3 ? byteenable & 16'h7fff : byteenable;
  wire [5:0] seen_count = MUTANT == 4 ? burstcount + bus_write : burstcount;
  wire seen_answer = MUTANT == 5 ? answer & !choose : answer;
  wire seen_completion = MUTANT == 6 ? completion & !choose : completion;
  wire [5:0] seen_beats = MUTANT == 7 ? read_beats + 1 : read_beats;

  peerlane_txs dut (
    .clock(clock), .reset(1'b0), .write(write), .write_address(write_address),
    .write_beats(write_beats), .beat(beat), .beat_data(beat_data), .beat_enable(beat_enable),
    .beat_take(beat_take), .write_done(write_done), .read(read), .read_address(read_address),
    .read_beats(seen_beats), .read_take(read_take), .flush(flush), .flush_address(flush_address),
    .flush_take(flush_take), .flushed(flushed), .flush_error(flush_error), .record(record),
    .record_address(record_address), .record_data(record_data), .record_take(record_take),
    .completion(completion), .completion_data(completion_data),
    .completion_error(completion_error), .timeout(timeout), .release_(release_now),
    .quarantine(quarantine), .read_issued(read_issued), .txs_address(address),
    .txs_read(bus_read), .txs_write(bus_write), .txs_writedata(writedata),
    .txs_byteenable(byteenable), .txs_burstcount(burstcount), .txs_waitrequest(seen_wait),
    .txs_readdata({127'd0, tag}), .txs_readdatavalid(seen_answer)
  );

  // The engine's side keeps its word: what is offered stands until it is taken.
  reg read_waits = 0, flush_waits = 0, record_waits = 0, in_burst = 0, beat_waits = 0;
  reg [5:0] read_beats_before = 0, write_beats_before = 0;
  always @(posedge clock) begin
    assume (read_beats != 0 & read_beats <= 2 & write_beats != 0 & write_beats <= 3);
    assume (timeout == 2 | timeout == 0);
    // Part 2 is about reads; that the others do not mix with them is part 1.
    if (PART == 2) assume (!write & !record & !waitrequest);
    assume (!read_waits | (read & read_beats == read_beats_before));
    assume (!flush_waits | flush);
    assume (!record_waits | record);
    assume (!beat_waits | beat);
    assume (!in_burst | (write & write_beats == write_beats_before));
    // The driver lets go only after a link reset: nothing that was asked for will come.
    assume (!release_now | (listed == 0 & !bus_read));
    read_waits <= read & !read_take;
    flush_waits <= flush & !flush_take;
    record_waits <= record & !record_take;
    beat_waits <= beat & !beat_take;
    in_burst <= (in_burst | (beat_take & !write_done)) & !write_done;
    read_beats_before <= read_beats;
    write_beats_before <= write_beats;
  end

  // The slave.
  wire read_accepted = bus_read & !waitrequest;
  wire oldest_done = answer & list[0] == 1;
  integer i;
  always @(posedge clock) begin
    if (answer) list[0] <= list[0] - 1;
    if (oldest_done) for (i = 0; i < 7; i = i + 1) list[i] <= list[i + 1];
    if (read_accepted) list[listed - oldest_done] <= burstcount;
    listed <= listed + read_accepted - oldest_done;
  end

  generate if (PART == 1) begin
    reg held = 0;
    reg [182:0] before = 0;
    wire [182:0] now = {seen_read_write, bus_write, address, writedata, byteenable, seen_count};
    // Beats of the write burst under way that the slave has not yet seen.
    reg [5:0] left = 0;
    reg [31:0] burst_address = 0;
    reg [5:0] burst_beats = 0;
    wire write_accepted = bus_write & !waitrequest;
    always @(posedge clock) begin
      held <= (seen_read_write | bus_write) & waitrequest;
      before <= now;
      if (write_accepted) begin
        left <= (left == 0 ? seen_count : left) - 1;
        burst_address <= address;
        burst_beats <= seen_count;
      end
    end
    always @(posedge clock) begin
      assert (!(seen_read_write & bus_write));
      if (held) assert (now == before);
      if (bus_read | bus_write) assert (seen_count != 0 & seen_count <= 3);
      if (bus_read) assert (seen_enable == 16'hffff);
      // A burst is not interrupted, and its beats are as many as it said.
      if (left != 0) begin
        assert (!bus_read);
        if (bus_write) assert (address == burst_address & seen_count == burst_beats);
      end
      if (in_burst & !bus_write) assert (left != 0);
      if (!in_burst & !record & !bus_write) assert (left == 0);
      // The eight reads of `Txs`.
      assert (listed <= 8 & !(bus_read & listed == 8));
    end
  end endgenerate

  generate if (PART == 2) begin
    // A read that the solver chooses: its beats on the bus carry tag 1, all others 0.
    reg watching = 0;         // chosen
    reg on_bus = 0;           // issued, beats still to come from the slave
    reg [5:0] bus_ahead = 0;  // beats that the slave owes before it
    reg [5:0] bus_left = 0;
    reg [5:0] ahead = 0;      // completions due before it
    reg [5:0] left = 0;       // completions due of it
    // Beats asked for and not answered, the command on the bus included; completions due.
    reg [5:0] owed = 0;
    reg [5:0] due = 0;
    reg [3:0] flushes = 0;
    wire asked = read_issued;
    wire [5:0] asked_beats = flush_take & read_issued ? 6'd1 : read_beats;
    wire watch = choose & !watching & read_take & read_issued;
    assign tag = on_bus & bus_ahead == 0;

    always @(posedge clock) begin
      owed <= owed + (asked ? asked_beats : 0) - answer;
      due <= due + (read_take ? read_beats : 0) - seen_completion;
      flushes <= flushes + flush_take - flushed;
      if (watch) begin
        watching <= 1;
        on_bus <= 1;
        bus_ahead <= owed - answer;
        bus_left <= read_beats;
        ahead <= due - seen_completion;
        left <= read_beats;
      end else begin
        if (on_bus & answer) begin
          if (bus_ahead != 0) bus_ahead <= bus_ahead - 1;
          else begin
            bus_left <= bus_left - 1;
            if (bus_left == 1) on_bus <= 0;
          end
        end
        if (watching & seen_completion) begin
          if (ahead != 0) ahead <= ahead - 1;
          else if (left != 0) left <= left - 1;
        end
      end
      if (release_now & quarantine) begin
        owed <= 0;
        on_bus <= 0;
      end
    end
    always @(posedge clock) begin
      // Nothing is completed that is not due.
      if (seen_completion) assert (due != 0);
      if (flushed) assert (flushes != 0 | flush_take);
      // The data of the watched read are for it alone, and it gets no other.
      if (completion & !completion_error)
        assert (completion_data[0] == (watching & ahead == 0 & left != 0));
      // When nothing is owed and nothing is being made up, nothing is due.
      if (!quarantine & owed == 0 & !completion) assert (due == 0 & flushes == 0);
    end
  end else assign tag = 0; endgenerate
endmodule
