// The fence: when it is over, every request that was translated before it began has ended, and so have the descriptors
// that these requests ended, and the port has released all that it held. Requests of a direction leave, and end, in
// order; a translated one leaves before the next is translated. A fence that flushes is over when a read that left
// after all those requests has been answered; the flush reads of the write direction, which pass through, each get
// their own answer in the meantime. Unbounded.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire reset,
  input wire start,
  input wire write_looked_up,
  input wire write_issued,
  input wire write_retired,
  input wire read_looked_up,
  input wire read_issued,
  input wire read_retired,
  input wire last,
  input wire ended,
  input wire port_free,
  input wire with_flush,
  input wire [63:0] flush_at,
  input wire path_flush,
  input wire [63:0] path_flush_address,
  input wire port_flush_take,
  input wire port_flushed,
  input wire flush_error
);
  // Requests in progress, and ends that are not yet out.
  reg [7:0] writes = 0, reads = 0;
  reg [8:0] ends = 0;
  // The requests and ends from before the fence, a translated one included.
  reg [7:0] old_writes = 0, old_reads = 0;
  reg [8:0] old_ends = 0;
  reg let_go = 0;
  wire busy, failed;
  // Flush reads at the port that are not answered, the oldest in bit 0: a set bit marks the fence's own.
  reg [15:0] marks = 0;
  reg [3:0] reads_out = 0;
  wire path_flush_take, path_flushed, dut_flush;
  wire [63:0] port_flush_address;
  wire end_pushed = write_retired & last;

  // Faults: a request that is translated and not seen, an end that was not seen, the port not asked.
  wire seen_looked_up = MUTANT == 1 ? 1'b0 : write_looked_up;
  wire [8:0] seen_ends = MUTANT == 2 ? 9'd0 : ends;
  wire seen_free = MUTANT == 3 ? 1'b1 : port_free;
  wire seen_read_retired = MUTANT == 4 ? read_retired | read_issued : read_retired;
  // A read that waits at the port and is not seen; other reads than its own not counted; no flush.
  wire seen_path_flush = MUTANT == 5 ? 1'b0 : path_flush;
  wire seen_take = MUTANT == 6 ? port_flush_take & \dut.own_q : port_flush_take;
  wire seen_flushed = MUTANT == 6 ? port_flushed & (\dut.unanswered_q != 0 | \dut.own_q ) : port_flushed;
  wire seen_with_flush = MUTANT == 7 ? 1'b0 : with_flush;

  peerlane_fence dut (
    .clock(clock), .reset(reset), .start(start), .busy(busy), .write_looked_up(seen_looked_up),
    .write_issued(write_issued), .write_retired(write_retired), .read_looked_up(read_looked_up),
    .read_issued(read_issued), .read_retired(seen_read_retired), .ends_waiting(seen_ends),
    .ended(ended), .port_free(seen_free), .with_flush(seen_with_flush), .flush_at(flush_at),
    .path_valid(seen_path_flush), .path_address(path_flush_address),
    .path_take(path_flush_take), .path_done(path_flushed), .port_valid(dut_flush),
    .port_address(port_flush_address), .port_take(seen_take),
    .port_done(seen_flushed), .flush_error(MUTANT == 8 ? 1'b0 : flush_error), .failed(failed)
  );
  wire port_flush = dut_flush | (MUTANT == 5 & path_flush);
  wire begins = start & !busy;

  reg write_stands = 0, read_stands = 0;
  always @* begin
    // A request is translated before it leaves, and stays translated until then; an end belongs to a request that has
    // left before.
    assume (!write_issued | write_looked_up);
    assume (!read_issued | read_looked_up);
    assume (!write_stands | write_looked_up);
    assume (!read_stands | read_looked_up);
    assume (!write_retired | writes != 0);
    assume (!read_retired | reads != 0);
    assume (!ended | ends != 0);
    // Capacity of the paths.
    assume (writes < 64 | !write_issued);
    assume (reads < 64 | !read_issued);
    assume (ends < 300 | !end_pushed);
    // The port takes the offered read, eight at most, and answers reads that it took in earlier cycles.
    assume (!port_flush_take | (port_flush & reads_out < 8));
    assume (!port_flushed | reads_out != 0);
    // An offered read, and the address that the fence is to read, do not change.
    assume (!path_stands | (path_flush & path_flush_address == path_address));
    assume (!busy | flush_at == flush_address);
  end
  reg path_stands = 0, port_stands = 0, flushing = 0, answered = 0;
  // The fence's own read was given up, or never sent.
  reg unheard = 0;
  reg [63:0] path_address = 0, port_address = 0, flush_address = 0;
  // Whether the read that is taken, or answered, is the fence's own. The port takes the fence's by its address.
  wire own_taken = port_flush_take & \dut.own_q ;
  wire own_answered = port_flushed & marks[0];
  wire [3:0] behind = reads_out - port_flushed;
  always @(posedge clock) begin
    path_stands <= path_flush & !path_flush_take;
    path_address <= path_flush_address;
    port_stands <= port_flush & !port_flush_take;
    port_address <= port_flush_address;
    flush_address <= flush_at;
    reads_out <= reads_out + port_flush_take - port_flushed;
    if (port_flush_take)
      marks <= (marks >> port_flushed) | (own_taken << behind);
    else
      marks <= marks >> port_flushed;
    if (begins) begin
      flushing <= with_flush;
      answered <= 0;
      unheard <= 0;
    end else if (own_answered & let_go) begin
      answered <= 1;
      unheard <= flush_error;
    end
    if (reset) begin
      path_stands <= 0;
      port_stands <= 0;
      reads_out <= 0;
      marks <= 0;
      flushing <= 0;
      answered <= 1;
      unheard <= 0;
    end
  end
  always @(posedge clock) begin
    write_stands <= write_looked_up & !write_issued;
    read_stands <= read_looked_up & !read_issued;
    writes <= writes + write_issued - write_retired;
    reads <= reads + read_issued - read_retired;
    ends <= ends + end_pushed - ended;
    if (begins) begin
      old_writes <= writes + write_looked_up - write_retired;
      old_reads <= reads + read_looked_up - read_retired;
      old_ends <= ends + end_pushed - ended;
      let_go <= 0;
    end else begin
      old_writes <= old_writes - (write_retired & old_writes != 0);
      old_reads <= old_reads - (read_retired & old_reads != 0);
      old_ends <= old_ends + (end_pushed & old_writes != 0) - (ended & old_ends != 0);
      if (port_free & old_writes == 0 & old_reads == 0 & old_ends == 0) let_go <= 1;
    end
    if (reset) begin
      writes <= 0;
      reads <= 0;
      ends <= 0;
      old_writes <= 0;
      old_reads <= 0;
      old_ends <= 0;
      let_go <= 1;
      write_stands <= 0;
      read_stands <= 0;
    end
  end

  // The block's state: 0 idle, 1 requests, 2 ends, 3 port, 4 its read is offered, 5 its read has left.
  (* hierconn, init = 0 *) wire [2:0] \dut.state_q ;
  (* hierconn, init = 0 *) wire \dut.own_q ;
  (* hierconn, init = 0 *) wire \dut.flushes_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.unanswered_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.ahead_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.writes_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.reads_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.writes_left_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.reads_left_q ;
  (* hierconn, init = 0 *) wire [8:0] \dut.ends_left_q ;
  wire [2:0] state = \dut.state_q ;
  always @* if (MUTANT == 0) begin
    assert (\dut.writes_q == writes & \dut.reads_q == reads);
    assert (writes <= 64 & reads <= 64 & ends <= 300);
    assert (old_writes <= writes + write_stands & old_reads <= reads + read_stands);
    assert (old_ends <= ends);
    if (state == 1) assert (\dut.writes_left_q == old_writes & \dut.reads_left_q == old_reads);
    if (state >= 2) assert (old_writes == 0 & old_reads == 0);
    if (state == 2) assert (\dut.ends_left_q >= old_ends);
    if (state >= 3) assert (old_ends == 0);
    if (state >= 4) assert (let_go & flushing);
    assert (state <= 5);
    assert (\dut.unanswered_q == reads_out & reads_out <= 8);
    assert (!\dut.own_q | state == 4);
    assert (port_flush | !port_stands);
    assert (port_flush == (path_flush | \dut.own_q ));
    if (state != 0) assert (\dut.flushes_q == flushing & !failed & !unheard);
    else if (used) assert (failed == unheard & (flushing | !unheard));
    if (state != 5) assert (marks == 0);
    if (state == 5) assert (marks == 1 << \dut.ahead_q & \dut.ahead_q < reads_out);
    if (state == 0 & used) assert (old_writes == 0 & old_reads == 0 & old_ends == 0 & let_go);
  end
  reg used = 0;
  always @(posedge clock) used <= used | begins;

  always @* if (!reset & used & !busy) begin
    assert (old_writes == 0 & old_reads == 0 & old_ends == 0 & let_go);
    assert (!flushing | answered);
    assert (failed == (flushing & unheard));
  end
  // Each answer goes to the owner of its read, each read that is taken has an owner, and none changes while it is
  // offered.
  always @* if (!reset) begin
    assert (path_flushed == (port_flushed & !own_answered));
    assert (path_flush_take == (port_flush_take & !own_taken));
    assert (!own_taken | port_flush_address == flush_address);
    assert (!path_flush_take | port_flush_address == path_flush_address);
    assert (!port_stands | (port_flush & port_flush_address == port_address));
  end
endmodule
