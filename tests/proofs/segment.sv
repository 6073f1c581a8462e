// The request maker, with an environment that does as it likes: any descriptor, any table, any
// back-pressure, abort, port failure and reset at any time. Unbounded.
module proof #(
  parameter READ = 0,        // direction
  parameter BYTES = 16,      // bytes of a beat
  parameter ATT_LOG2 = 4,
  parameter MEMORY_LOG2 = 16,
  parameter PART = 1,        // which assertions: 1 permission and edges, 2 accounting
  parameter MUTANT = 0       // 1..: a fault at the block's pins that an assertion must see
) (
  input wire clock,
  input wire reset,
  input wire enable,
  input wire abort_now,
  input wire port_down,
  input wire valid,
  input wire [31:0] peer_low,
  input wire [31:0] peer_high,
  input wire [31:0] local_low,
  input wire [31:0] local_high,
  input wire [31:0] length,
  input wire [31:0] control,
  input wire [31:0] cookie,
  input wire answer,
  input wire [64:0] entry,
  input wire accept
);
  wire pop, ask, request, last, want_record, want_irq, may_flush, busy;
  wire [15:0] index;
  wire [63:0] bus_pin;
  wire [39:0] local_at;
  wire [9:0] bytes;
  wire [3:0] code;
  wire [31:0] tag;
  wire [38:0] att_address;

  // Faults: an entry bit that the block sees set, an address that moved, a lost request, a byte too many.
  wire [64:0] seen_entry = MUTANT == 1 ? (entry | 65'h1)
                         : MUTANT == 2 ? (entry | 65'h6)
                         : MUTANT == 3 ? (entry | 65'h20) : entry;
  wire [63:0] bus = MUTANT == 4 ? bus_pin + BYTES : bus_pin;
  wire seen_accept = MUTANT == 5 ? 1'b1 : accept;
  wire [31:0] seen_length = MUTANT == 6 ? length + 1 : length;

  peerlane_segment dut (
    .clock(clock), .reset(reset), .enable(enable), .abort_(abort_now), .port_down(port_down),
    .busy(busy), .valid(valid), .pop(pop), .peer_low(peer_low), .peer_high(peer_high),
    .local_low(local_low), .local_high(local_high), .length(seen_length), .control(control),
    .cookie(cookie), .ask(ask), .index(index), .answer(answer), .entry(seen_entry),
    .request(request), .accept(seen_accept), .bus(bus_pin), .local_(local_at), .bytes(bytes),
    .last(last), .code(code), .want_record(want_record), .want_irq(want_irq),
    .may_flush(may_flush), .tag(tag), .att_address(att_address)
  );

  // What the block took, and what it still has to ask for.
  reg open = 0;
  reg [36:0] peer = 0;
  reg [1:0] page_size = 0;
  reg [40:0] local_next = 0;
  reg [31:0] left = 0;
  reg reserved = 0;
  // The table's answer for the request that comes next.
  reg fresh = 0;
  reg [64:0] granted = 0;
  reg [15:0] granted_index = 0;
  // Cycles with nothing on any interface.
  reg [1:0] quiet = 0;

  wire taken = request & accept;
  wire [24:0] page = page_size == 2'd1 ? {4'd0, peer[36:16]}
                   : page_size == 2'd2 ? {9'd0, peer[36:21]} : peer[36:12];
  wire [63:0] translated = page_size == 2'd1 ? {granted[64:17], peer[15:0]}
                         : page_size == 2'd2 ? {granted[64:22], peer[20:0]}
                         : {granted[64:13], peer[11:0]};

  always @(posedge clock) begin
    if (pop) begin
      open <= 1;
      peer <= {peer_high[4:0], peer_low};
      page_size <= peer_high[31:30];
      local_next <= {1'b0, local_high[7:0], local_low};
      left <= length;
      reserved <= (|peer_high[29:5]) | (&peer_high[31:30]) | (|local_high[31:8])
                | (|control[31:3]);
      fresh <= 0;
    end else if (taken) begin
      open <= !last;
      peer <= peer + bytes;
      local_next <= local_next + bytes;
      left <= left - bytes;
      fresh <= 0;
    end else if (ask & answer) begin
      fresh <= 1;
      granted <= entry;
      granted_index <= index;
    end
    quiet <= (open & !ask & !request & !pop) ? quiet + 1 : 0;
    if (reset) begin
      open <= 0;
      fresh <= 0;
      quiet <= 0;
    end
  end

  // What makes the accounting inductive: the block's own count and its next step (state 0 is idle,
  // 1 cuts the request, 2 looks it up, 3 offers it).
  (* hierconn, init = 0 *) wire [1:0] \dut.state_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.remaining_q ;
  (* hierconn, init = 0 *) wire [9:0] \dut.chunk_q ;
  (* hierconn, init = 0 *) wire \dut.final_chunk_q ;
  (* hierconn, init = 0 *) wire \dut.out_of_memory_q ;
  if (PART == 2) always @(posedge clock) begin
    assert (open == (\dut.state_q != 0));
    if (open) assert (\dut.remaining_q == left);
    if (\dut.state_q >= 2) begin
      assert (left != 0 | \dut.out_of_memory_q );
      if (left != 0) begin
        assert (\dut.chunk_q != 0);
        assert (\dut.final_chunk_q ? \dut.chunk_q == left : \dut.chunk_q < left);
      end
    end
  end

  if (PART == 2) always @(posedge clock) if (!reset) begin
    // Every descriptor that is taken gives exactly one last request, after all of its bytes.
    if (pop) assert (valid & enable & !open);
    if (request | ask) assert (open);
    if (request & last & code == 0) assert (bytes == left);
    if (request & !last) assert (code == 0 & bytes < left);
    // With an environment that answers it comes to its end: nothing is waited for but the table and
    // the acceptance, and each request that is not the last moves bytes.
    assert (quiet < 2);
    if (request & code == 0) assert (bytes != 0);
    // A fault takes no bytes.
    if (request & code != 0) assert (bytes == 0 & last);
  end

  if (PART == 1) always @(posedge clock) if (!reset) begin
    if (request & bytes != 0) begin
      // Nothing without permission: the entry was looked up for this very request, and it is
      // valid, owned, permitted, of the right page size and inside the table.
      assert (fresh & !reserved);
      assert (granted_index == page & page < (1 << ATT_LOG2));
      assert (granted[0]);
      assert (READ ? granted[1] : granted[2]);
      assert (granted[5]);
      assert (granted[4:3] == page_size);
      assert (bus == translated);
      assert (!abort_now & !(READ & port_down));
      // No crossing of 512 bytes, so none of 4 KiB and of no page.
      assert (bytes <= 512 & {1'b0, bus[8:0]} + bytes <= 512);
      // A write starts on a beat or stays in one, and is of whole beats or stays in one.
      if (!READ) begin
        assert (bus % BYTES == 0 | (bus % BYTES) + bytes <= BYTES);
        assert (bytes % BYTES == 0 | bytes < BYTES);
      end
      // FPGA memory: in order, inside.
      assert (local_at == local_next & local_next + bytes <= (1 << MEMORY_LOG2));
    end
  end
endmodule
