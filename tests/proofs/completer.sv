// The completer with two channels: one record for each end of a descriptor, at the next place of its channel's ring,
// with the phase of the lap, stable until it is taken. One channel, which the solver chooses, is watched. Unbounded;
// rings of up to 2^15 records.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire reset,
  input wire write_end,
  input wire write_channel,
  input wire [4:0] write_code,
  input wire [1:0] write_tag,
  input wire write_irq,
  input wire write_urgent,
  input wire read_end,
  input wire read_channel,
  input wire [4:0] read_code,
  input wire [1:0] read_tag,
  input wire read_irq,
  input wire read_urgent,
  input wire ring_low_we,
  input wire ring_high_we,
  input wire ring_channel,
  input wire [31:0] ring_data,
  input wire sweep,
  input wire sweep_channel,
  input wire record_take_now,
  input wire sent
);
  (* anyconst *) wire which;
  wire busy, write_take, read_take, record, irq, irq_urgent, fault, recorded;
  wire [5:0] irq_channel;
  wire [63:0] address_pin;
  wire [255:0] data;
  wire record_take = record & record_take_now;

  // Faults: a record that the port did not take, another's cookie, a place that is off, another channel, a
  // record that the port has not sent.
  wire seen_take = MUTANT == 1 ? 1'b1 : record_take;
  wire [1:0] seen_tag = MUTANT == 2 ? read_tag : write_tag;
  wire [63:0] address = MUTANT == 3 ? address_pin + 32 : address_pin;
  wire seen_channel = MUTANT == 4 ? 1'b0 : write_channel;
  wire seen_sent = MUTANT == 5 ? 1'b1 : sent;

  peerlane_completer dut (
    .clock(clock), .reset(reset), .busy(busy),
    .write_valid(write_end), .write_channel({5'd0, seen_channel}), .write_code(write_code),
    .write_bytes(32'd0), .write_tag({30'd0, seen_tag}), .write_fault(64'd0),
    .write_irq(write_irq), .write_urgent(write_urgent), .write_take(write_take),
    .read_valid(read_end), .read_channel({5'd0, read_channel}), .read_code(read_code),
    .read_bytes(32'd0), .read_tag({30'd0, read_tag}), .read_fault(64'd0), .read_irq(read_irq),
    .read_urgent(read_urgent), .read_take(read_take), .ring_low_we(ring_low_we),
    .ring_high_we(ring_high_we), .ring_channel({5'd0, ring_channel}), .ring_data(ring_data),
    .sweep(sweep), .sweep_channel({5'd0, sweep_channel}), .record_valid(record),
    .record_address(address_pin), .record_data(data), .record_take(seen_take), .sent(seen_sent), .irq(irq),
    .irq_channel(irq_channel), .irq_urgent(irq_urgent), .fault(fault), .recorded(recorded)
  );

  wire taken = write_take | read_take;
  wire taken_channel = write_take ? write_channel : read_channel;
  // The watched channel's ring.
  reg swept = 0;
  reg enabled = 0;
  reg [3:0] size = 0;
  reg [19:0] base = 0;
  reg high_known = 0;
  reg [31:0] high = 0;
  reg [31:0] sequence_number = 0;
  reg ring_set = 0;
  reg set_channel = 0;
  // Channels whose ring was set in the last cycles.
  reg [1:0] set_1 = 0, set_2 = 0, set_3 = 0;
  wire [1:0] set_lately = set_1 | set_2 | set_3;
  // The ends of the last cycle, which stay until they are taken.
  reg write_waits = 0;
  reg read_waits = 0;
  reg [9:0] write_before = 0;
  reg [9:0] read_before = 0;
  reg offered = 0;
  reg record_taken = 0;
  reg offered_side = 0;
  reg [2:0] idle = 0;
  wire [9:0] write_now = {write_channel, write_urgent, write_code, write_tag, write_irq};
  wire [9:0] read_now = {read_channel, read_urgent, read_code, read_tag, read_irq};
  wire [31:0] place = sequence_number & ((32'd1 << size) - 1);
  wire [31:0] lap = sequence_number >> size;

  // The end that was taken last: it is reported once, when the port has sent its record.
  reg gone = 0, gone_irq = 0, gone_urgent = 0, gone_fault = 0, fired = 0;
  reg gone_channel = 0;
  wire fires = gone & sent & !fired;
  always @(posedge clock) begin
    fired <= fires;
    if (fires) gone <= 0;
    if (taken) begin
      gone <= 1;
      gone_irq <= write_take ? write_irq : read_irq;
      gone_urgent <= write_take ? write_urgent : read_urgent;
      gone_fault <= write_take ? write_code != 0 : read_code != 0;
      gone_channel <= taken_channel;
    end
    if (reset) begin
      gone <= 0;
      fired <= 0;
    end
  end
  (* hierconn, init = 0 *) wire \dut.gone_q ;
  (* hierconn, init = 0 *) wire \dut.gone_irq_q ;
  (* hierconn, init = 0 *) wire \dut.gone_urgent_q ;
  (* hierconn, init = 0 *) wire \dut.gone_fault_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.gone_channel_q ;
  (* hierconn, init = 0 *) wire \dut.fired_q ;
  (* hierconn, init = 0 *) wire \dut.chosen_q ;
  (* hierconn, init = 0 *) wire \dut.found_q ;
  (* hierconn, init = 0 *) wire \dut.over_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.end_channel_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.code_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.tag_q ;
  (* hierconn, init = 0 *) wire \dut.wants_irq_q ;
  (* hierconn, init = 0 *) wire \dut.wants_urgent_q ;
  (* hierconn, init = 0 *) wire \dut.offering_q ;
  (* hierconn, init = 0 *) wire \dut.is_read_q ;
  (* hierconn, init = 0 *) wire \dut.has_ring_q ;
  (* hierconn, init = 0 *) wire \dut.phase_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.sequence_q ;
  (* hierconn, init = 0 *) wire [23:0] \dut.ring_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.ring_top_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.address_q ;
  (* hierconn, init = 0 *) wire \dut.restart_q ;
  (* hierconn, init = 0 *) wire \dut.ring_low.settling ;
  (* hierconn, init = 0 *) wire \dut.ring_high.settling ;
  (* hierconn, init = 0 *) wire \dut.sequences.settling ;
  (* hierconn, init = 0 *) wire \dut.ring_low.recent ;
  (* hierconn, init = 0 *) wire \dut.ring_high.recent ;
  (* hierconn, init = 0 *) wire \dut.sequences.recent ;
  wire its_channel = \dut.is_read_q ? read_channel : write_channel;
  (* hierconn, init = 0 *) wire [5:0] \dut.restart_channel_q ;
  (* hierconn, init = 0 *) wire \dut.ring_low.spy_at ;
  (* hierconn, init = 0 *) wire [24:0] \dut.ring_low.spy ;
  (* hierconn, init = 0 *) wire \dut.ring_high.spy_at ;
  (* hierconn, init = 0 *) wire [31:0] \dut.ring_high.spy ;
  (* hierconn, init = 0 *) wire \dut.sequences.spy_at ;
  (* hierconn, init = 0 *) wire [31:0] \dut.sequences.spy ;
  wire its_end = \dut.is_read_q ? read_end & read_channel == which
                                : write_end & write_channel == which;

  always @(posedge clock) begin
    write_waits <= write_end & !write_take;
    read_waits <= read_end & !read_take;
    write_before <= write_now;
    read_before <= read_now;
    offered <= record & !record_take;
    record_taken <= record_take;
    offered_side <= data[33];
    // An end without a record waits for the record before it.
    idle <= ((write_end | read_end) & !record & !taken & !gone) ? idle + 1 : 0;
    ring_set <= ring_low_we;
    set_1 <= {1'b0, ring_low_we} << ring_channel;
    set_2 <= set_1;
    set_3 <= set_2;
    set_channel <= ring_channel;
    if (recorded & taken_channel == which) sequence_number <= sequence_number + 1;
    if (ring_low_we & ring_channel == which) begin
      enabled <= ring_data[0];
      size <= ring_data[7:4];
      base <= ring_data[31:12];
      sequence_number <= 0;
    end
    if (ring_high_we & ring_channel == which) begin
      high_known <= 1;
      high <= ring_data;
    end
    if (sweep & sweep_channel == which) begin
      swept <= 1;
      enabled <= 0;
      sequence_number <= 0;
    end
    if (reset) begin
      swept <= 0;
      write_waits <= 0;
      read_waits <= 0;
      offered <= 0;
      record_taken <= 0;
      idle <= 0;
      ring_set <= 0;
      set_1 <= 0;
      set_2 <= 0;
      set_3 <= 0;
    end
  end

  always @* begin
    assume (!write_waits | (write_end & write_now == write_before));
    assume (!read_waits | (read_end & read_now == read_before));
    // The driver sets a ring up while the channel is quiet, and selects another channel between two setups.
    assume (!(ring_low_we | ring_high_we) | !(write_end & write_channel == ring_channel
            | read_end & read_channel == ring_channel | sweep | ring_set));
    // Its next descriptor ends five cycles later at the earliest: it is queued for two cycles before it is started, and
    // asked for three cycles after that (segment.sv).
    assume (!(write_end & set_lately[write_channel] | read_end & set_lately[read_channel]));
    // The sweep is over before a descriptor ends.
    assume (!sweep | !(write_end | read_end | ring_low_we | \dut.restart_q ));
    assume (swept | !(write_end & write_channel == which | read_end & read_channel == which
            | ring_low_we & ring_channel == which));
    assume (\dut.ring_low.spy_at == which & \dut.ring_high.spy_at == which);
    assume (\dut.sequences.spy_at == which);
    // The port takes a record when it has sent the one that it took before.
    assume (!record_taken | sent);
  end

  always @* if (MUTANT == 0) begin
    if (swept) begin
      assert (\dut.ring_low.spy [0] == enabled);
      if (enabled) assert (\dut.ring_low.spy [24:1] == {base, size});
      if (\dut.restart_q & \dut.restart_channel_q [0] == which) assert (sequence_number == 0);
      else assert (\dut.sequences.spy == sequence_number);
    end
    if (high_known) assert (\dut.ring_high.spy == high);
    assert (!\dut.restart_q | \dut.restart_channel_q < 2);
    if (\dut.offering_q | \dut.over_q ) assert (\dut.chosen_q & \dut.found_q );
    assert (!(\dut.offering_q & \dut.over_q ));
    if (\dut.over_q & \dut.has_ring_q ) assert (record_taken);
    if (\dut.over_q & !\dut.has_ring_q ) assert (!gone);
    assert (!(gone & fired & \dut.over_q ));
    assert (\dut.gone_q == gone & \dut.fired_q == fired);
    if (gone)
      assert ({\dut.gone_irq_q , \dut.gone_urgent_q , \dut.gone_fault_q , \dut.gone_channel_q }
              == {gone_irq, gone_urgent, gone_fault, 5'd0, gone_channel});
    if (\dut.chosen_q & \dut.found_q )
      assert ({\dut.end_channel_q , \dut.wants_urgent_q , \dut.code_q , \dut.tag_q , \dut.wants_irq_q }
              == (\dut.is_read_q ? {5'd0, read_before[9:3], 30'd0, read_before[2:0]}
                                  : {5'd0, write_before[9:3], 30'd0, write_before[2:0]}));
    if (\dut.chosen_q ) assert (\dut.is_read_q ? read_waits : write_waits);
    assert (idle <= 4 & (\dut.chosen_q | idle == 0));
    if (\dut.chosen_q & !\dut.over_q ) assert (idle <= 1 + \dut.found_q + \dut.offering_q );
    // The words that are copied have settled.
    if (\dut.chosen_q & !\dut.found_q ) begin
      if (\dut.ring_low.settling ) assert (\dut.ring_low.recent != its_channel);
      if (\dut.ring_high.settling ) assert (\dut.ring_high.recent != its_channel);
      if (\dut.sequences.settling ) assert (\dut.sequences.recent != its_channel);
    end
    assert (set_1 == (ring_set ? set_channel ? 2'd2 : 2'd1 : 2'd0));
    if (\dut.restart_q ) assert (set_1[\dut.restart_channel_q [0]] | set_2[\dut.restart_channel_q [0]]);
    // A restart that had to wait did so for a record of another channel, and only as long as that took.
    if (\dut.restart_q & !ring_set) assert (!\dut.chosen_q );
    if (ring_set) assert (\dut.restart_q & \dut.restart_channel_q [0] == set_channel);
    if (\dut.restart_q & ring_set & \dut.chosen_q )
      assert (\dut.restart_channel_q [0] != (\dut.is_read_q ? read_channel : write_channel));
    if (\dut.chosen_q & \dut.found_q & its_end) begin
      assert (\dut.has_ring_q == enabled);
      if (enabled) begin
        assert (\dut.ring_q == {base, size} & \dut.sequence_q == sequence_number);
        if (high_known) assert (\dut.ring_top_q == high);
      end
    end
    if ((\dut.offering_q | \dut.over_q ) & its_end) begin
      if (enabled) begin
        assert (\dut.phase_q == !lap[0]);
        if (high_known) assert (\dut.address_q == {high, base, 12'd0} + {place, 5'd0});
      end
    end
  end

  always @* if (!reset) begin
    // An end is taken once, and with a ring only directly after its record.
    assert (!(write_take & read_take));
    if (write_take) assert (write_end);
    if (read_take) assert (read_end);
    if (taken & taken_channel == which) begin
      assert (recorded == enabled);
      if (enabled) assert (record_taken);
    end
    assert (idle <= 4);
    assert (irq == (fires & gone_irq) & fault == (fires & gone_fault));
    if (irq) assert (irq_channel == gone_channel & irq_urgent == gone_urgent);
    // No end is dropped, and no two ends are reported in consecutive cycles.
    assert (!(taken & gone) | fires);
    assert (!fired | !(irq | fault));
    if (gone) assert (busy);
    // A record stays until it is taken: all its fields are those of its side, below.
    if (offered) assert (record & data[33] == offered_side);
    if (record) begin
      assert (data[33] ? read_end : write_end);
      assert (data[31:0] == (data[33] ? read_tag : write_tag));
      assert (data[45:40] == (data[33] ? read_channel : write_channel));
      assert (data[55:48] == (data[33] ? read_code : write_code));
      if (data[40] == which) begin
        assert (enabled & data[32] == !lap[0]);
        assert (data[127:96] == sequence_number);
        if (high_known) assert (address == {high, base, 12'd0} + {place, 5'd0});
      end
    end
  end
endmodule
