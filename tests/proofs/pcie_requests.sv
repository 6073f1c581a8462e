// Requests of the host that need an answer, cut into completions. Unbounded, but for the queue, which is left open: it
// shows any request. The small FIFO's proof shows that it loses none.
//
// "Target reads are answered exactly once" follows from three blocks, each with its proof:
// - here: a request that leaves the queue gives pieces. They ask for each of its dwords once, in order. Only a request
//   that the bus was to fill may stay incomplete, and only while the bus is down.
// - pcie_replies.sv: each piece gives one completion, except those after a failure in the same request, which give
//   none.
// - pcie_bus.sv: the bus stays down until no piece waits for it. So a piece of an incomplete request fails.
// So a request's completions report for each of its bytes once that the byte comes, or for the missing bytes once that
// they do not.
module proof #(parameter MUTANT = 0, parameter PART = 1, parameter LANES = 2) (
  input wire clock,
  input wire valid,
  input wire [79:0] request,
  input wire [2:0] payload,
  input wire down,
  input wire ask_take,
  input wire has_room, idle
);
  wire take, ask_valid, push, saw_refused;
  wire [5:0] level, ask_beats, need;
  wire [28:0] ask_address;
  wire [7:0] ask_enable;
  wire [73:0] piece;

  // Faults: a bus that is down is asked; a longer payload than is allowed; a command is taken for accepted; room that
  // does not exist; a piece that needs no bus does not wait for one that does.
  wire seen_down = MUTANT == 1 ? 1'b0 : down;
  wire [2:0] seen_payload = MUTANT == 2 ? 3'd1 : payload;
  wire seen_take = MUTANT == 3 ? ask_valid : ask_take;
  wire seen_room = MUTANT == 4 ? 1'b1 : has_room;
  wire seen_idle = MUTANT == 5 ? 1'b1 : idle;
  peerlane_requests dut (
    .clock(clock), .reset(1'b0), .valid(valid), .request(request), .take(take), .level(level),
    .payload(seen_payload), .down(seen_down), .ask_valid(ask_valid), .ask_address(ask_address),
    .ask_beats(ask_beats), .ask_enable(ask_enable), .ask_take(seen_take), .push(push), .piece(piece), .need(need),
    .has_room(seen_room), .idle(seen_idle), .saw_refused(saw_refused)
  );
  always @* assume (!ask_take | ask_valid);

  // A piece, its first field lowest.
  wire [11:0] piece_count = piece[41:30];
  wire [6:0] piece_lower = piece[48:42], piece_dwords = piece[55:49];
  wire [5:0] piece_qwords = piece[61:56], piece_beats = piece[67:62];
  wire [1:0] piece_empty = piece[69:68], piece_source = piece[72:71];
  wire piece_opens = piece[70];
  localparam BUS = 0, REFUSED = 1, NOTHING = 2, ABORTED = 3;

  // The request that left the queue last, and its dwords that were not asked for yet.
  (* hierconn *) wire \dut.queue_pop , \dut.queue_valid ;
  (* hierconn *) wire [79:0] \dut.queue_data ;
  wire starts = \dut.queue_pop & \dut.queue_valid ;
  reg [79:0] now = 0;
  wire [9:0] length = now[39:30];
  wire [3:0] first = now[43:40], last = length == 1 ? first : now[47:44];
  wire is_read = now[78], claimed = now[79];
  wire [10:0] total = length == 0 ? 11'd1024 : length;
  wire [1:0] lead = first[0] ? 0 : first[1] ? 1 : first[2] ? 2 : 3;
  wire [1:0] trail = last[3] ? 0 : last[2] ? 1 : last[1] ? 2 : 3;
  wire is_none = is_read & length == 1 & first == 0;
  wire [12:0] bytes = !is_read ? 13'd4 : is_none ? 13'd1 : {total, 2'd0} - lead - trail;
  wire [1:0] kind = !is_read | !claimed ? REFUSED : is_none ? NOTHING : BUS;
  // A request has begun and not ended; its dwords that were asked for; whether there were some; qwords of the last
  // piece that were not asked for yet; whether it ended with a piece that the bus does not fill; whether the bus went
  // down amid a piece.
  reg under_way = 0, begun = 0, ended = 0, abandoned = 0;
  reg [10:0] done = 0;
  reg [5:0] owed = 0;
  
  // The start and the dwords of the piece that is asked for.
  reg [10:0] from = 0;
  reg [6:0] size = 0;
  wire [29:0] address = is_read ? now[29:0] + done : 30'd0;
  wire [10:0] left = total - done;
  wire [12:0] bytes_left = done == 0 ? bytes : {left, 2'd0} - trail;
  wire whole = begun & done == total & owed == 0;
  wire asks = ask_valid & ask_take;
  // The piece that a command belongs to, a new one or the last: its qwords that were not asked for, and those that were
  // asked for.
  wire fresh = owed == 0;
  wire [10:0] its_from = fresh ? done : from;
  wire [6:0] its_size = fresh ? piece_dwords : size;
  wire [29:0] its_address = now[29:0] + its_from;
  wire [5:0] its_qwords = (its_size + its_address[0] + 1) >> 1;
  wire [5:0] its_owed = fresh ? its_qwords : owed;
  wire [5:0] its_next = its_qwords - its_owed;
  reg [1:0] gap = 0;
  reg had_room = 0;
  // pcie_replies.sv asserts it.
  always @* assume (!had_room | gap[1] | has_room);
  always @(posedge clock) begin
    gap <= {gap[0], push};
    had_room <= has_room;
    if (asks) owed <= its_owed - ask_beats;
    else if (down & owed != 0) abandoned <= 1;
    if (starts) begin
      now <= \dut.queue_data ;
      under_way <= 1;
      begun <= 0;
      ended <= 0;
      abandoned <= 0;
      done <= 0;
      owed <= 0;
    end
    if (push) begin
      begun <= 1;
      if (piece_source == BUS) begin
        done <= done + piece_dwords;
        from <= done;
        size <= piece_dwords;
      end else ended <= 1;
    end
  end

  // The next request leaves the queue when this one is finished.
  always @* if (starts & under_way) assert (whole | ended | abandoned);

  // Max Payload Size at the time when the piece was measured.
  reg [6:0] most = 32;
  (* hierconn, init = 0 *) wire [1:0] \dut.state_q ;
  wire [1:0] state = \dut.state_q ;
  always @(posedge clock) if (state == 1) most <= payload == 0 ? 32 : 64;

  // The place of its start in a line of so many dwords.
  wire [6:0] line = most == 32 ? address[4:0] : address[5:0];
  wire [29:0] behind = address + piece_dwords;
  wire [6:0] data_end = (address[0] ? 1 : 2) + piece_qwords;
  // The byte count of a request that is not a read of memory is always 4: a part of its own.
  wire counted = is_read | PART == 2;
  // A piece is pushed, or is ready.
  wire ready = MUTANT == 0 & state == 3 & \dut.ask_opens_q ;
  always @* if (push | ready) begin
    assert (under_way & !ended & !abandoned & owed == 0 & left != 0);
    assert (piece[29:0] == now[77:48]);
    assert (piece_opens == !begun);
    if (counted) assert (piece_count == bytes_left[11:0]);
    assert (piece_lower == (!is_read ? 7'd0 : {address[4:0], begun | is_none ? 2'd0 : lead}));
    assert (piece_source == (kind == BUS & down ? ABORTED : kind));
    assert (need == piece_beats);
    assert (piece_dwords >= 1 & piece_dwords <= left & line + piece_dwords <= most);
    assert (piece_dwords == left | behind[4:0] == 0);
    assert (piece[73] == (piece_qwords == 1));
    assert (piece_qwords <= 32 & piece_qwords == (piece_dwords + address[0] + 1) >> 1);
    assert (piece_beats == (data_end + LANES - 1) / LANES);
    assert (piece_empty == piece_beats * LANES - data_end);
  end
  always @* begin
    assert (saw_refused == (push & piece_source == REFUSED));
    if (push) begin
      assert (has_room & gap == 0);
      // A piece that the bus fills is asked for now; for the others no earlier piece is in progress.
      assert (piece_source == BUS ? asks : idle & !asks);
    end
  end

  // Commands to the bus: the qwords of a piece, one after another, with the bytes that the request names. `any` is one
  // of them.
  (* anyseq *) wire [5:0] any;
  wire [5:0] nth = its_next + any;
  wire [6:0] low = {nth, 1'b0} - its_address[0], high = low + 1;
  wire [10:0] low_dword = its_from + low, high_dword = its_from + high;
  wire low_in = !(nth == 0 & its_address[0]), high_in = high < its_size;
  wire [3:0] low_enable = !low_in ? 0 : low_dword == 0 ? first : low_dword == total - 1 ? last : 4'hF;
  wire [3:0] high_enable = !high_in ? 0 : high_dword == 0 ? first : high_dword == total - 1 ? last : 4'hF;
  always @* begin
    if (ask_valid) assert (!down & under_way & kind == BUS);
    if (asks) begin
      assert (push == fresh);
      assert (ask_address == its_address[29:1] + its_next);
      assert (ask_beats >= 1 & ask_beats <= its_owed);
      if (any < ask_beats) assert (ask_enable == {high_enable, low_enable});
    end
  end

  // The block's state: 0 idle, 1 the end of a piece, 2 its contents, 3 it is asked for.
  (* hierconn, init = 0 *) wire [79:0] \dut.now_q ;
  (* hierconn, init = 0 *) wire [10:0] \dut.left_q , \dut.size_q ;
  (* hierconn, init = 0 *) wire [11:0] \dut.count_q ;
  (* hierconn, init = 0 *) wire [29:0] \dut.at_q ;
  (* hierconn, init = 0 *) wire [1:0] \dut.lead_q , \dut.source_q ;
  (* hierconn, init = 0 *) wire \dut.room_q , \dut.on_bus_q , \dut.opens_q , \dut.part_last_q , \dut.ask_opens_q ;
  (* hierconn, init = 0 *) wire [73:0] \dut.part_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.first_enable_q , \dut.last_enable_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.ask_left_q ;
  (* hierconn, init = 0 *) wire [28:0] \dut.ask_at_q ;
  wire [11:0] count = \dut.count_q ;
  wire [10:0] cut = \dut.size_q ;
  wire [29:0] cut_end = address + cut;
  wire [10:0] its_end = its_from + its_size;
  wire [3:0] begins = its_from == 0 ? first : 4'hF, ends = its_end == total ? last : 4'hF;
  always @* if (MUTANT == 0) begin
    if (state == 0) assert (!under_way | whole | ended | abandoned);
    else assert (under_way & !ended & !abandoned & \dut.now_q == now & \dut.source_q == kind);
    if (kind != BUS & state != 0) assert (done == 0 & owed == 0);
    assert (begun == (done != 0 | ended));
    assert (\dut.room_q == had_room);
    assert (done <= total & (most == 32 | most == 64));
    assert (\dut.on_bus_q == (state == 3 & kind == BUS));
    // Pushes are two cycles apart at least.
    if (gap[0]) assert (state != 2 & (state != 3 | !\dut.ask_opens_q ));
    if (gap[1]) assert (state != 3 | !\dut.ask_opens_q );
    if (state == 1 | state == 2) assert (owed == 0 & left != 0 & \dut.left_q == left & \dut.at_q == address);
    if (state == 1 | state == 2) assert (\dut.opens_q == !begun);
    if (state == 1 & begun) assert (count == bytes_left[11:0] & \dut.lead_q == 0);
    if (state == 2) begin
      if (counted) assert (count == bytes_left[11:0]);
      assert (\dut.lead_q == (begun | is_none | !is_read ? 2'd0 : lead));
      assert (cut >= 1 & cut <= left & line + cut <= most);
      assert (cut == left | cut_end[4:0] == 0);
      assert (\dut.part_last_q == (cut == left));
    end
    if (state == 3) assert (\dut.ask_opens_q == fresh);
    if (state == 3 & kind == BUS) begin
      assert (!\dut.opens_q & \dut.lead_q == 0);
      assert (\dut.left_q == total - its_end & \dut.part_last_q == (its_end == total));
      assert (\dut.at_q == now[29:0] + its_end);
      if (its_end != total) assert (count == {\dut.left_q [9:0], 2'd0} - trail);
      assert (\dut.ask_left_q == its_owed & \dut.ask_at_q == its_address[29:1] + its_next);
      assert (\dut.first_enable_q == (its_address[0] ? {begins, 4'd0} : {4'hF, begins}));
      assert (\dut.last_enable_q == (its_address[0] ^ its_size[0] ? {4'd0, ends} : {ends, 4'hF}));
    end
    if (!fresh) begin
      assert (kind == BUS & from < done & from + size == done & size >= 1 & size <= 64 & owed < its_qwords);
      assert (state == 3 | abandoned);
    end
  end
endmodule
