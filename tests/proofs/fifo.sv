// A FIFO of one-bit words (the bits of a RAM do not know each other): order and content of a word that the solver chooses, and the level.
module proof #(
  parameter CAPACITY = 4,
  parameter TWO_CLOCKS = 0,  // the FIFO between two clocks, both driven by one
  parameter MUTANT = 0
) (
  input wire clock,
  input wire reset_now,
  input wire push,
  input wire data_in,
  input wire pop,
  input wire choose
);
  wire full, valid;
  wire data;
  // Words accepted and not yet taken.
  reg [2:0] level = 0;
  reg pushed_before = 0;
  wire reset = TWO_CLOCKS ? 1'b0 : reset_now;

  // Faults: a word changed, a push lost, a pop lost, `full` not respected.
  wire seen_data = MUTANT == 1 ? data_in ^ (level == 3) : data_in;
  wire seen_push = MUTANT == 2 ? push & level != 2 : push;
  wire seen_pop = MUTANT == 3 ? pop & level != 1 : pop;
  wire pushed = push & (MUTANT == 4 | !full);
  wire popped = pop & valid;

  generate
    if (TWO_CLOCKS)
      peerlane_fifo dut (
        .write_clock(clock), .write_reset(reset), .push(seen_push), .data_in(seen_data),
        .full(full), .read_clock(clock), .read_reset(reset), .valid(valid), .data(data),
        .pop(seen_pop)
      );
    else
      peerlane_fifo dut (
        .clock(clock), .reset(reset), .push(seen_push), .data_in(seen_data), .full(full),
        .valid(valid), .data(data), .pop(seen_pop)
      );
  endgenerate

  // One word to watch, and the words before it.
  reg watching = 0;
  reg word = 0;
  reg [2:0] ahead = 0;
  // Cycles in which a word should come out or room should show, and does not.
  reg [3:0] hidden = 0;
  reg [3:0] shut = 0;

  always @(posedge clock) begin
    level <= level + pushed - popped;
    pushed_before <= pushed;
    if (pushed & choose & !watching) begin
      watching <= 1;
      word <= data_in;
      ahead <= level - popped;
    end else if (watching & popped) begin
      if (ahead == 0) watching <= 0;
      else ahead <= ahead - 1;
    end
    hidden <= (level != 0 & !valid) ? hidden + 1 : 0;
    shut <= (level != CAPACITY & full & !pop) ? shut + 1 : 0;
    if (reset) begin
      level <= 0;
      watching <= 0;
      hidden <= 0;
      shut <= 0;
    end
  end

  always @(posedge clock) if (!reset) begin
    assert (level <= CAPACITY);
    if (valid) assert (level != 0);
    if (watching & valid & ahead == 0) assert (data == word);
    if (watching) assert (ahead < level);
    if (TWO_CLOCKS) begin
      // The pointers take some cycles to cross.
      assert (hidden < 6);
      assert (shut < 8);
    end else begin
      // A word shows in the second cycle.
      assert (valid == (level > pushed_before));
      assert (full == (level == CAPACITY));
    end
  end
endmodule
