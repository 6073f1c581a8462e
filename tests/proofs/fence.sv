// The fence: when it is over, every request that was translated before it began has ended, so have the
// descriptors that these requests ended, and the port has let go of what it held. Requests of a
// direction leave, and end, in order; a translated one leaves before the next. Unbounded.
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
  input wire port_free
);
  // Requests under way, and ends that are not yet out.
  reg [7:0] writes = 0, reads = 0;
  reg [8:0] ends = 0;
  // Of these, the ones from before the fence, a translated one included.
  reg [7:0] old_writes = 0, old_reads = 0;
  reg [8:0] old_ends = 0;
  reg let_go = 0;
  wire busy;
  wire end_pushed = write_retired & last;

  // Faults: a request that is translated and not seen, an end that was not seen, the port not asked.
  wire seen_looked_up = MUTANT == 1 ? 1'b0 : write_looked_up;
  wire [8:0] seen_ends = MUTANT == 2 ? 9'd0 : ends;
  wire seen_free = MUTANT == 3 ? 1'b1 : port_free;
  wire seen_read_retired = MUTANT == 4 ? read_retired | read_issued : read_retired;

  peerlane_fence dut (
    .clock(clock), .reset(reset), .start(start), .busy(busy), .write_looked_up(seen_looked_up),
    .write_issued(write_issued), .write_retired(write_retired), .read_looked_up(read_looked_up),
    .read_issued(read_issued), .read_retired(seen_read_retired), .ends_waiting(seen_ends),
    .ended(ended), .port_free(seen_free)
  );
  wire begins = start & !busy;

  reg write_stands = 0, read_stands = 0;
  always @* begin
    // A request is translated before it leaves, and stays so until then; what ends has left before.
    assume (!write_issued | write_looked_up);
    assume (!read_issued | read_looked_up);
    assume (!write_stands | write_looked_up);
    assume (!read_stands | read_looked_up);
    assume (!write_retired | writes != 0);
    assume (!read_retired | reads != 0);
    assume (!ended | ends != 0);
    // What the paths hold.
    assume (writes < 64 | !write_issued);
    assume (reads < 64 | !read_issued);
    assume (ends < 300 | !end_pushed);
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

  // The block's state: 0 idle, 1 requests, 2 ends, 3 port.
  (* hierconn, init = 0 *) wire [1:0] \dut.state_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.writes_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.reads_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.writes_left_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.reads_left_q ;
  (* hierconn, init = 0 *) wire [8:0] \dut.ends_left_q ;
  wire [1:0] state = \dut.state_q ;
  always @* if (MUTANT == 0) begin
    assert (\dut.writes_q == writes & \dut.reads_q == reads);
    assert (writes <= 64 & reads <= 64 & ends <= 300);
    assert (old_writes <= writes + write_stands & old_reads <= reads + read_stands);
    assert (old_ends <= ends);
    if (state == 1) assert (\dut.writes_left_q == old_writes & \dut.reads_left_q == old_reads);
    if (state >= 2) assert (old_writes == 0 & old_reads == 0);
    if (state == 2) assert (\dut.ends_left_q >= old_ends);
    if (state == 3) assert (old_ends == 0);
    if (state == 0 & used) assert (old_writes == 0 & old_reads == 0 & old_ends == 0 & let_go);
  end
  reg used = 0;
  always @(posedge clock) used <= used | begins;

  always @* if (!reset & used & !busy)
    assert (old_writes == 0 & old_reads == 0 & old_ends == 0 & let_go);
endmodule
