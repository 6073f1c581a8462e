// The ATT with four entries for two channels: an answer is the driver's last write, or zero if nothing was written
// since reset, with the owners at the moment of the write. The block RAM returns anything when a word is read in the
// cycle in which it is written, so the block must not look up in such a cycle.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire reset,
  input wire write,
  input wire [16:0] address,
  input wire [31:0] data,
  input wire [63:0] owner,
  input wire write_ask,
  input wire [15:0] write_index,
  input wire read_ask,
  input wire [15:0] read_index
);
  wire sweeping, write_answer, read_answer;
  wire [5:0] sweep_at;
  wire [120:0] entry;

  // Faults: an owner that is not the driver's, a lost write, an index that is off.
  wire [63:0] seen_owner = MUTANT == 1 ? owner | 64'd2 : owner;
  wire seen_write = MUTANT == 2 ? write & !data[7] : write;
  wire [15:0] seen_index = MUTANT == 3 ? write_index ^ 1 : write_index;

  peerlane_att dut (
    .clock(clock), .reset(reset), .write(seen_write), .address(address), .data(data),
    .owner(seen_owner), .sweeping(sweeping), .sweep_at(sweep_at), .for_writes_ask(write_ask),
    .for_writes_index(seen_index), .for_writes_answer(write_answer), .for_reads_ask(read_ask),
    .for_reads_index(read_index), .for_reads_answer(read_answer), .entry(entry)
  );

  // One entry to watch.
  (* anyconst *) wire [1:0] which;
  reg [31:0] low = 0;
  reg [120:0] expected = 0;
  reg [120:0] before = 0;
  reg [15:0] write_index_before = 0;
  reg [15:0] read_index_before = 0;
  reg asked_write = 0;
  reg asked_read = 0;
  reg [2:0] sweep_age = 0;
  // Consecutive cycles of waiting in which the driver did not write.
  reg [2:0] slot_passed = 0;
  wire commit = write & !sweeping & address[0] & address[2:1] == which;

  always @* assume (address < 8 & write_index < 4 & read_index < 4);
  always @(posedge clock) begin
    if (write & !sweeping & !address[0]) low <= data;
    before <= expected;
    if (commit) expected <= {62'd0, owner[1:0], data, low[31:12], low[4:0]};
    write_index_before <= write_index;
    read_index_before <= read_index;
    asked_write <= write_ask & !sweeping;
    asked_read <= read_ask & !sweeping;
    sweep_age <= sweeping ? sweep_age + 1 : 0;
    slot_passed <= write_ask & !write_answer & !sweeping & !(write & address[0])
                 ? slot_passed + 1 : 0;
    if (reset) begin
      expected <= 0;
      asked_write <= 0;
      asked_read <= 0;
      sweep_age <= 0;
      slot_passed <= 0;
    end
  end

  always @* if (!reset) begin
    assert (!(write_answer & read_answer));
    if (write_answer) assert (asked_write);
    if (read_answer) assert (asked_read);
    // An entry that is not valid has no other meaning.
    if (write_answer & write_index_before == which) assert (entry == before | !(entry[0] | before[0]));
    if (read_answer & read_index_before == which) assert (entry == before | !(entry[0] | before[0]));
    // Channels' memories are cleared together with the first entries.
    if (sweeping) assert (sweep_at == sweep_age);
    // Four entries are cleared in four cycles. Where the driver leaves two cycles, an engine has its turn.
    if (sweeping) assert (sweep_age < 4);
    assert (slot_passed < 3);
  end
endmodule
