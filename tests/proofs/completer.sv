// The completer: one record for each end of a descriptor, at the next place of the ring, with the
// phase of the lap, standing still until it is taken. Rings of up to 2^15 records.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire reset,
  input wire write_end,
  input wire [3:0] write_code,
  input wire [1:0] write_tag,
  input wire write_irq,
  input wire read_end,
  input wire [3:0] read_code,
  input wire [1:0] read_tag,
  input wire read_irq,
  input wire ring_low_we,
  input wire [31:0] ring_data,
  input wire record_take_now
);
  wire busy, write_take, read_take, record, irq, fault, recorded;
  wire [63:0] address_pin;
  wire [255:0] data;
  wire record_take = record & record_take_now;

  // Faults: a record that the port did not take, another's cookie, a place that is off.
  wire seen_take = MUTANT == 1 ? 1'b1 : record_take;
  wire [1:0] seen_tag = MUTANT == 2 ? read_tag : write_tag;
  wire [63:0] address = MUTANT == 3 ? address_pin + 32 : address_pin;

  peerlane_completer dut (
    .clock(clock), .reset(reset), .busy(busy),
    .write_end(write_end), .write_code(write_code), .write_bytes(32'd0), .write_tag({30'd0, seen_tag}),
    .write_fault(64'd0), .write_irq(write_irq), .write_take(write_take),
    .read_end(read_end), .read_code(read_code), .read_bytes(32'd0), .read_tag({30'd0, read_tag}),
    .read_fault(64'd0), .read_irq(read_irq), .read_take(read_take),
    .ring_low_we(ring_low_we), .ring_high_we(1'b0), .ring_data(ring_data),
    .record(record), .record_address(address_pin), .record_data(data), .record_take(seen_take),
    .irq(irq), .fault(fault), .recorded(recorded)
  );

  wire taken = write_take | read_take;
  reg enabled = 0;
  reg [4:0] size = 0;
  reg [19:0] base = 0;
  reg [15:0] place = 0;
  reg phase = 1;
  reg [31:0] sequence_number = 0;
  // The ends of the last cycle, which stand until they are taken.
  reg write_waits = 0;
  reg read_waits = 0;
  reg [6:0] write_before = 0;
  reg [6:0] read_before = 0;
  reg offered = 0;
  reg offered_side = 0;
  reg [2:0] idle = 0;
  wire [6:0] write_now = {write_code, write_tag, write_irq};
  wire [6:0] read_now = {read_code, read_tag, read_irq};
  wire [15:0] next = place + 1;

  always @(posedge clock) begin
    assume (!write_waits | (write_end & write_now == write_before));
    assume (!read_waits | (read_end & read_now == read_before));
    // The driver sets a ring up while the channel is quiet.
    assume (!ring_low_we | !(busy | write_end | read_end));
    assume (ring_data[8:4] < 16);
    write_waits <= write_end & !write_take;
    read_waits <= read_end & !read_take;
    write_before <= write_now;
    read_before <= read_now;
    offered <= record & !record_take;
    offered_side <= data[33];
    idle <= ((write_end | read_end) & !record & !taken) ? idle + 1 : 0;
    if (taken) begin
      sequence_number <= sequence_number + 1;
      place <= next >> size ? 0 : next;
      phase <= next >> size ? !phase : phase;
    end
    if (ring_low_we) begin
      enabled <= ring_data[0];
      size <= ring_data[8:4];
      base <= ring_data[31:12];
      place <= 0;
      phase <= 1;
      sequence_number <= 0;
    end
    if (reset) begin
      enabled <= 0;
      place <= 0;
      phase <= 1;
      sequence_number <= 0;
      write_waits <= 0;
      read_waits <= 0;
      offered <= 0;
      idle <= 0;
    end
  end

  always @(posedge clock) if (!reset) begin
    // An end is taken once, and with a ring only together with its record.
    assert (!(write_take & read_take));
    if (write_take) assert (write_end);
    if (read_take) assert (read_end);
    assert (recorded == (taken & enabled));
    if (enabled) assert (taken == record_take);
    assert (idle < 2);
    if (irq) assert (write_take ? write_irq : read_take & read_irq);
    if (taken) assert (fault == (write_take ? write_code != 0 : read_code != 0));
    // It stands until it is taken: all its fields are those of its side, below.
    if (offered) assert (record & data[33] == offered_side);
    if (record) begin
      assert (enabled & (data[33] ? read_end : write_end));
      assert (data[31:0] == (data[33] ? read_tag : write_tag));
      assert (data[55:48] == (data[33] ? read_code : write_code));
      assert (data[32] == phase);
      assert (data[127:96] == sequence_number);
      assert (address == {base, 12'd0} + {place, 5'd0});
    end
  end
endmodule
