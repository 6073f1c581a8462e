// A descriptor queue of four: refusal, order, and one dword of a descriptor that
// the solver chooses.
module proof #(
  parameter DWORD = 0,       // the dword to watch, one bit of it: the bits of a RAM do not know each other
  parameter MUTANT = 0
) (
  input wire clock,
  input wire reset,
  input wire write,
  input wire [3:0] dword,
  input wire [31:0] data,
  input wire doorbell,
  input wire enable,
  input wire pop,
  input wire choose
);
  wire refused, valid;
  wire [12:0] free;
  wire [31:0] out [0:6];
  // Descriptors accepted and not yet taken.
  reg [3:0] level = 0;

  // Faults: a dword changed, a doorbell lost, a pop lost, a refusal not respected.
  wire [31:0] seen_data = MUTANT == 1 ? data ^ (level == 3) : data;
  wire seen_doorbell = MUTANT == 2 ? doorbell & level != 2 : doorbell;
  wire seen_pop = MUTANT == 3 ? pop & level != 1 : pop;
  wire accepted = doorbell & (MUTANT == 4 ? enable : !refused);
  wire popped = pop & valid;

  peerlane_queue dut (
    .clock(clock), .reset(reset), .write(write), .dword(dword), .data(seen_data),
    .doorbell(seen_doorbell), .enable(enable), .refused(refused), .free(free), .valid(valid),
    .pop(seen_pop), .peer_low(out[0]), .peer_high(out[1]), .local_low(out[2]), .local_high(out[3]),
    .length(out[4]), .control(out[5]), .cookie(out[6])
  );

  wire shown = out[DWORD][0];
  // The dword as software wrote it for the descriptor it prepares.
  reg prepared = 0;
  reg latest = 0;
  reg watching = 0;
  reg word = 0;
  reg [3:0] ahead = 0;
  reg [1:0] hidden = 0;

  always @(posedge clock) begin
    // One access a cycle.
    assume (!(write & doorbell));
    if (write & dword == DWORD & free != 0) begin
      prepared <= 1;
      latest <= data[0];
    end
    if (accepted) prepared <= 0;
    level <= level + accepted - popped;
    if (accepted & prepared & choose & !watching) begin
      watching <= 1;
      word <= latest;
      ahead <= level - popped;
    end else if (watching & popped) begin
      if (ahead == 0) watching <= 0;
      else ahead <= ahead - 1;
    end
    hidden <= (level != 0 & !valid) ? hidden + 1 : 0;
    if (reset) begin
      prepared <= 0;
      level <= 0;
      watching <= 0;
      hidden <= 0;
    end
  end

  always @(posedge clock) if (!reset) begin
    // Four in the ring and one at the output.
    assert (level <= 5);
    assert (free + level - valid == 4);
    assert (refused == (seen_doorbell & (free == 0 | !enable)));
    if (valid) assert (level != 0);
    assert (hidden < 2);
    if (watching) assert (ahead < level);
    if (watching & valid & ahead == 0) assert (shown == word);
  end
endmodule
