// The master of the target's bus: every command of the requests is one read there, and the data that come back are
// counted. The bus goes down when it brings nothing, stays down while a completion waits for it, and is up again when
// it owes nothing: so stale data are not taken for those of a later read. Unbounded. The properties of commands and
// waiting completions that pcie_requests.sv and pcie_replies.sv assert are assumed, and that the bus brings no more
// than it was asked for.
module proof #(parameter MUTANT = 0, parameter PATIENCE = 8) (
  input wire clock,
  input wire write_valid, write_first,
  input wire [28:0] write_address,
  input wire [5:0] write_beats,
  input wire [63:0] write_data,
  input wire [7:0] write_enable,
  input wire ask_valid,
  input wire [28:0] ask_address,
  input wire [5:0] ask_beats,
  input wire [7:0] ask_enable,
  input wire waitrequest,
  input wire [63:0] readdata,
  input wire readdatavalid,
  input wire live
);
  wire write_take, ask_take, read, write, data_valid, down, saw_lost;
  wire [31:0] address;
  wire [5:0] burstcount;
  wire [63:0] writedata, data;
  wire [7:0] byteenable;

  // Faults: a completion that waits and is not seen; data that are lost; a qword less asked for than is reported; a bus
  // that seems to take a command that it does not take.
  wire seen_live = MUTANT == 1 ? 1'b0 : live;
  wire seen_brings = MUTANT == 2 ? 1'b0 : readdatavalid;
  wire [5:0] seen_beats = MUTANT == 3 ? ask_beats - (ask_beats != 1) : ask_beats;
  wire seen_waits = MUTANT == 4 ? 1'b0 : waitrequest;
  peerlane_bus dut (
    .clock(clock), .reset(1'b0), .write_valid(write_valid), .write_first(write_first),
    .write_address(write_address), .write_beats(write_beats), .write_data(write_data),
    .write_enable(write_enable), .write_take(write_take), .ask_valid(ask_valid), .ask_address(ask_address),
    .ask_beats(seen_beats), .ask_enable(ask_enable), .ask_take(ask_take), .address(address),
    .burstcount(burstcount), .read(read), .write(write), .writedata(writedata), .byteenable(byteenable),
    .waitrequest(seen_waits), .readdata(readdata), .readdatavalid(seen_brings), .data_valid(data_valid),
    .data(data), .live(seen_live), .down(down), .saw_lost(saw_lost)
  );

  // Qwords that the bus has accepted and not brought; qwords that completions wait for.
  reg [9:0] accepted = 0, wanted = 0;
  // Of the last cycle.
  reg asked = 0, stood = 0, was_live = 0, was_down = 0, brought = 0;
  reg [28:0] last_address = 0;
  reg [5:0] last_beats = 0;
  reg [7:0] last_enable = 0;
  reg [63:0] last_data = 0;
  // Cycles for which a completion has waited without data.
  reg [4:0] quiet = 0;
  wire accepts = read & !waitrequest;
  wire takes = ask_valid & ask_take;
  always @* begin
    assume (!ask_valid | !down);
    assume (ask_beats >= 1 & ask_beats <= 32);
    // 16 completions of 32 qwords.
    assume (!ask_valid | wanted + ask_beats <= 512);
    assume (!readdatavalid | accepted != 0 | accepts);
    // A completion that waits has asked; while the bus is down they give up, one after another.
    assume (wanted == 0 | down | live);
    assume (!live | was_live | asked);
  end
  always @(posedge clock) begin
    accepted <= accepted + (accepts ? burstcount : 0) - readdatavalid;
    if (down) wanted <= live ? wanted : 0;
    else wanted <= wanted + (takes ? ask_beats : 0) - data_valid;
    asked <= takes;
    stood <= read & waitrequest;
    was_live <= live;
    was_down <= down;
    brought <= readdatavalid;
    last_data <= readdata;
    if (takes) begin
      last_address <= ask_address;
      last_beats <= ask_beats;
      last_enable <= ask_enable;
    end
    quiet <= live & !data_valid & !down ? quiet + 1 : 0;
  end

  always @* begin
    // One read for each command.
    assert (read == (asked | stood));
    assert (!read | !write);
    if (read) assert (address == {last_address, 3'd0} & burstcount == last_beats & byteenable == last_enable);
    // The data that come are those that were brought, in order, and a completion has waited for them for at least two
    // cycles.
    assert (data_valid == brought);
    if (data_valid) assert (data == last_data);
    if (data_valid & !down) assert (wanted > (asked ? last_beats : 0) & live);
    // The bus stays down while any completion waits, and until no data are to come.
    if (was_down & was_live) assert (down);
    if (was_down & !down) assert (wanted == 0 & accepted == 0 & !read & !brought);
    // No completion waits for long.
    assert (quiet <= PATIENCE + 1);
  end

  // The block's registers.
  (* hierconn, init = 0 *) wire [11:0] \dut.owed_q ;
  (* hierconn, init = 0 *) wire [23:0] \dut.silent_q ;
  (* hierconn, init = 0 *) wire [28:0] \dut.place_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.count_q ;
  (* hierconn, init = 0 *) wire \dut.owes_q , \dut.stuck_q , \dut.burst_any_q ;
  wire [11:0] to_come = accepted + (read ? burstcount : 0) + brought;
  always @* if (MUTANT == 0) begin
    assert (\dut.owed_q == to_come & \dut.owes_q == (to_come != 0));
    if (!down) assert (wanted == to_come);
    assert (wanted <= 512 & to_come <= 512);
    assert (last_beats <= 32 & (last_beats >= 1 | !read));
    if (!down) assert (\dut.silent_q == quiet & quiet <= PATIENCE);
    if (down & was_down) assert (\dut.silent_q <= PATIENCE);
  end
endmodule
