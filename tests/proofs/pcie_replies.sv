// Completions of the target: each piece that the requests push gives one completion, except those after a failure in
// the same request, which give none. Unbounded. The contents of the FIFOs' memories are left open, except the
// properties of the words that went in, below; the small FIFO's proof shows that the FIFOs keep their order. The
// properties of pieces and of data that pcie_requests.sv and pcie_bus.sv assert are assumed.
module proof #(parameter MUTANT = 0, parameter PART = 1, parameter LANES = 2, parameter KEPT = 240) (
  input wire clock,
  input wire push,
  input wire [73:0] piece,
  input wire data_valid,
  input wire [63:0] data,
  input wire down,
  input wire posted, post_sent,
  input wire head_take, beat_take,
  input wire mark
);
  localparam BUS = 0, REFUSED = 1, NOTHING = 2, ABORTED = 3;
  // Beats of the longest completion: 32 qwords after two.
  localparam MOST = (34 + LANES - 1) / LANES;
  wire has_room, idle, live, head_valid, saw_abort;
  wire [79:0] head;
  wire [64 * LANES - 1:0] beat;
  reg begun = 0;
  always @(posedge clock) begun <= 1;
  wire [5:0] need = piece[67:62];

  // Faults: data that no bus brought; a bus that is down; a posted packet not seen; one seen to leave that waits; less
  // room kept than is needed.
  wire seen_valid = MUTANT == 1 ? 1'b1 : data_valid;
  wire seen_down = MUTANT == 2 ? 1'b0 : down;
  wire seen_posted = MUTANT == 3 ? 1'b0 : posted;
  wire seen_sent = MUTANT == 4 ? post_sent | posted : post_sent;
  wire [5:0] seen_need = MUTANT == 5 ? need >> 1 : need;
  peerlane_replies dut (
    .clock(clock), .reset(!begun), .push(push), .piece(piece), .need(seen_need), .has_room(has_room), .idle(idle),
    .live(live), .data_valid(seen_valid), .data(data), .down(seen_down), .posted(seen_posted),
    .post_sent(seen_sent), .head_valid(head_valid), .head(head), .head_take(head_take), .beat(beat),
    .beat_take(beat_take), .saw_abort(saw_abort)
  );

  // Whether the oldest pushed piece is visible, and its fields.
  (* hierconn *) wire \dut.expected_valid , \dut.ends ;
  (* hierconn *) wire [73:0] \dut.expected_data ;
  (* hierconn, init = 0 *) wire [4:0] \dut.expected.count_q , \dut.heads.count_q , \dut.stamps.count_q ;
  wire there = \dut.expected_valid , ends = \dut.ends ;
  wire [73:0] word = \dut.expected_data ;
  wire [4:0] waiting = \dut.expected.count_q , ready = \dut.heads.count_q , stamps = \dut.stamps.count_q ;
  wire [6:0] dwords = word[55:49];
  wire [5:0] qwords = word[61:56], beats = word[67:62];
  wire [1:0] source = word[72:71];
  wire opens = word[70];
  wire [1:0] start = word[44] ? 1 : 2;
  wire [6:0] data_end = start + qwords;

  // A piece that the bus does not fill comes alone, and is gone before the next one comes. Beats of the pieces that
  // wait.
  reg alone = 0, stays = 0;
  reg [1:0] gap = 0;
  reg [73:0] before = 0;
  reg [8:0] waiting_beats = 0, ready_room = 0;
  wire [4:0] on_bus = waiting - alone;
  wire [4:0] aged = on_bus - (gap[0] & !alone);
  always @* begin
    assume (begun | !(push | data_valid | posted | post_sent | head_take | beat_take));
    assume (!push | (has_room & gap == 0 & need >= 1 & need <= MOST));
    assume (!push | piece[72:71] == BUS | idle);
    // The bus brings data that were asked for at least two cycles before.
    assume (!data_valid | down | aged != 0);
    if (there) begin
      assume ((source != BUS) == alone);
      assume (dwords >= 1 & dwords <= 64 & qwords >= 1 & qwords <= 32 & beats == (data_end + LANES - 1) / LANES);
      assume (source != NOTHING | qwords == 1);
      assume (word[73] == (qwords == 1));
      assume (source == BUS | source == ABORTED | opens);
      assume (beats <= waiting_beats & (waiting != 1 | beats == waiting_beats));
    end
    assume (!stays | word == before);
    assume (!head_take | head_valid);
    if (ready != 0) assume (head[79:74] <= ready_room & (ready != 1 | head[79:74] == ready_room));
  end

  // The result of the oldest piece in this cycle.
  reg failed = 0;
  reg [5:0] got = 0;
  wire brings = source == BUS & data_valid & !down | source == NOTHING;
  wire good = there & brings & got + 1 == qwords;
  wire bad = there & (source == REFUSED | source == ABORTED | source == BUS & down);
  wire drops = failed & !opens;
  reg told = 0, told_bad = 0;
  reg [73:0] last = 0;
  always @(posedge clock) begin
    gap <= begun ? {gap[0], push} : 0;
    if (push) alone <= piece[72:71] != BUS;
    else if (ends) alone <= 0;
    stays <= there & !ends;
    before <= word;
    waiting_beats <= waiting_beats + (push ? need : 0) - (ends ? beats : 0);
    ready_room <= ready_room + (told ? last[67:62] : 0) - (head_take ? head[79:74] : 0);
    if (good | bad) got <= 0;
    else if (there & brings) got <= got + 1;
    if ((good | bad) & !drops) failed <= bad;
    told <= (good | bad) & !drops;
    told_bad <= bad;
    last <= word;
  end
  // Room stays until a push takes it, and is not reported in the two cycles after a push.
  reg had_room = 0;
  always @(posedge clock) had_room <= has_room;
  always @* assert (!had_room | gap[1] | has_room);
  always @* if (begun) begin
    assert (ends == (good | bad));
    // No data are lost, and none go to another piece.
    if (data_valid & !down) assert (there & source == BUS);
    assert (idle == (waiting == 0));
    assert (live == (on_bus != 0));
    assert (saw_abort == (bad & !drops & source != REFUSED));
  end

  // One completion for each, with the contents of its piece.
  (* hierconn *) wire \dut.heads.push , \dut.heads.accept , \dut.stamps.push , \dut.stamps.accept , \dut.expected.accept ;
  (* hierconn *) wire [79:0] \dut.heads.data_in ;
  wire [79:0] sends = \dut.heads.data_in ;
  wire [2:0] status = sends[32:30];
  wire [6:0] send_dwords = sends[58:52];
  wire [5:0] units = sends[64:59], send_beats = sends[70:65], room = sends[79:74];
  wire [1:0] empty = sends[72:71];
  wire bare = sends[73];
  wire [6:0] last_units = last[55:49] + 3;
  always @* begin
    assert (\dut.heads.accept == told & \dut.stamps.accept == told);
    assert (\dut.expected.accept == push);
    if (told) begin
      assert (sends[29:0] == last[29:0] & sends[51:33] == last[48:30] & room == last[67:62]);
      if (told_bad) begin
        assert (status == (last[72:71] == REFUSED ? 1 : 4));
        assert (send_dwords == 0 & units == 0 & send_beats == 1 & empty == LANES - 2 & bare);
      end else begin
        assert (status == 0 & send_dwords == last[55:49] & units == last_units >> 2);
        assert (send_beats == last[67:62] & empty == last[69:68]);
        assert (bare == (LANES == 2 & !last[44]));
      end
    end
  end

  // Its data: each qword in its place, and no others; the data of a piece that fails are discarded. `lane` is any lane.
  (* anyconst *) wire [1:0] lane;
  (* hierconn *) wire \dut.store_push , \dut.store_commit ;
  (* hierconn *) wire [64 * LANES - 1:0] \dut.word_now ;
  (* hierconn, init = 0 *) wire [7:0] \dut.store.head_q , \dut.store.tail_q , \dut.store.whole_q ;
  reg [63:0] mine = 0;
  reg [7:0] stored = 0;
  wire [6:0] at = start + got;
  wire [1:0] at_lane = at % LANES;
  wire [63:0] mine_now = at_lane == lane ? (source == BUS ? data : 64'd0) : mine;
  wire full = at_lane == LANES - 1 | good;
  wire stores = there & brings & !drops & full;
  wire [64 * LANES - 1:0] beat_now = \dut.word_now ;
  always @(posedge clock) begin
    if (good | bad) mine <= 0;
    else if (there & brings) mine <= full ? 64'd0 : mine_now;
    if (good | bad) stored <= 0;
    else if (stores) stored <= stored + 1;
  end
  always @* if (begun) begin
    assume (lane < LANES);
    assert (\dut.store_push == stores);
    if (stores) assert (beat_now[64 * lane +: 64] == mine_now);
    assert (\dut.store_commit == (good & !drops));
    if (good & !drops) assert (stored + 1 == beats - (LANES == 2 & start == 2));
    assert (\dut.store.tail_q - \dut.store.whole_q == stored);
  end

  // Room: as much is kept as there are pieces in progress, and beats that are to come or have come for them.
  (* hierconn, init = 0 *) wire [4:0] \dut.pieces_q , \dut.leaves_q , \dut.clear_q ;
  (* hierconn, init = 0 *) wire [8:0] \dut.used_q , \dut.given_q ;
  (* hierconn, init = 0 *) wire \dut.room_q ;
  wire [5:0] kept = waiting + told + ready;
  wire [11:0] kept_beats = waiting_beats + (told ? last[67:62] : 0) + ready_room;
  always @* begin
    assert (\dut.pieces_q == kept + \dut.leaves_q & \dut.pieces_q <= 16);
    assert (\dut.used_q == kept_beats + \dut.given_q & \dut.used_q <= KEPT);
  end

  // Part 2: the store holds the beats that are kept for it, and the rest of the completion that is sent, in a memory of
  // 256 beats; one more beat is visible. The sender takes the first beat with the head, unless the head is bare, and
  // the others at any time before the next head.
  reg [4:0] sending = 0;
  reg [8:0] ready_beats = 0;
  wire [5:0] head_beats = head[70:65] - head[73], head_room = head[79:74];
  wire [5:0] told_beats = told & !told_bad ? last[67:62] - (LANES == 2 & !last[44]) : 0;
  wire [9:0] whole = told_beats + ready_beats + sending;
  wire [9:0] all = whole + stored;
  (* hierconn, init = 0 *) wire \dut.store.held_q ;
  wire [9:0] in_memory = all - \dut.store.held_q ;
  wire [7:0] committed = \dut.store.whole_q - \dut.store.head_q ;
  always @(posedge clock) begin
    sending <= sending + (head_take ? head_beats : 0) - beat_take;
    ready_beats <= ready_beats + told_beats - (head_take ? head_beats : 0);
  end
  always @* if (PART == 2) begin
    assume (!head_take | (sending == 0 & beat_take == !head[73]));
    assume (!beat_take | head_take | sending != 0);
    if (there) assume (waiting_beats - beats <= MOST * (waiting - 1));
    if (ready != 0) begin
      assume (head[70:65] >= 1 & head[70:65] <= head_room & head_room <= MOST);
      assume (LANES == 2 | !head[73] | head_beats == 0);
      assume (head_beats <= ready_beats & (ready != 1 | head_beats == ready_beats));
      assume (ready_beats - head_beats <= ready_room - head_room & ready_room - head_room <= MOST * (ready - 1));
    end
    assert (in_memory <= 255);
    // A beat that is sent exists.
    if (beat_take) assert (\dut.store.held_q );
    assert (sending < MOST);
    if (MUTANT == 0) begin
      assert (committed == whole - \dut.store.held_q & (ready_beats + sending != 0 | !\dut.store.held_q  | told));
      assert (waiting_beats <= MOST * waiting & ready_room <= MOST * ready & ready_beats <= ready_room);
      assert (ready != 0 | ready_beats == 0);
      assert (\dut.store.held_q | ready_beats + sending == 0);
      assert (!told | (last[67:62] <= MOST & told_beats <= last[67:62]));
      assert (stored <= waiting_beats);
      if (!begun) assert (sending == 0 & !\dut.store.held_q );
    end
  end

  // The posted packets that wait to be sent. One completion, any, is `marked`: the number of packets that were accepted
  // before it, and the numbers of completions and stamps before its own.
  reg [6:0] pending = 0, wait_for = 0;
  reg marked = 0;
  reg [4:0] ahead = 0, ahead_stamps = 0;
  reg its_stamp_waits = 0;
  reg [7:0] its_stamp = 0;
  (* hierconn *) wire \dut.clears , \dut.stamps_valid ;
  (* hierconn *) wire [7:0] \dut.stamps_data ;
  (* hierconn, init = 0 *) wire [7:0] \dut.accepted_q , \dut.sent_q ;
  (* hierconn *) wire [7:0] \dut.accepted_now ;
  wire [6:0] pending_now = pending + posted - post_sent;
  wire marks = !marked & told & mark;
  always @* begin
    assume (!post_sent | pending != 0);
    assume (!posted | pending < 100);
    if (its_stamp_waits & ahead_stamps == 0) assume (\dut.stamps_data == its_stamp);
    if (marked & ahead == 0 & head_take) assert (wait_for == 0);
  end
  always @(posedge clock) begin
    pending <= pending_now;
    if (post_sent & wait_for != 0) wait_for <= wait_for - 1;
    if (\dut.clears ) begin
      if (ahead_stamps != 0) ahead_stamps <= ahead_stamps - 1;
      else its_stamp_waits <= 0;
    end
    if (head_take) begin
      if (ahead != 0) ahead <= ahead - 1;
      else marked <= 0;
    end
    if (marks) begin
      marked <= 1;
      wait_for <= pending_now;
      ahead <= ready - head_take;
      ahead_stamps <= stamps - \dut.clears ;
      its_stamp_waits <= 1;
      its_stamp <= \dut.accepted_now ;
    end
  end

  // The block's registers.
  (* hierconn, init = 0 *) wire \dut.failed_q , \dut.told_q , \dut.fresh_q , \dut.at_last_q ;
  (* hierconn, init = 0 *) wire \dut.expected.any_q , \dut.expected.shown_q , \dut.expected.at_most_q ;
  (* hierconn, init = 0 *) wire \dut.heads.any_q , \dut.heads.shown_q , \dut.heads.at_most_q ;
  (* hierconn, init = 0 *) wire \dut.stamps.any_q , \dut.stamps.shown_q , \dut.stamps.at_most_q ;
  (* hierconn, init = 0 *) wire [79:0] \dut.told_head_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.from_bus_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.nth_q ;
  (* hierconn, init = 0 *) wire [1:0] \dut.lane_q ;
  (* hierconn, init = 0 *) wire [64 * LANES - 1:0] \dut.word_q ;
  wire [64 * LANES - 1:0] word_so_far = \dut.word_q ;
  wire [7:0] its_lag = its_stamp - \dut.sent_q ;
  always @* if (MUTANT == 0) begin
    assert (waiting <= 16 & ready <= 16 & stamps <= 16);
    assert (\dut.expected.any_q == (waiting != 0) & \dut.expected.at_most_q == (waiting == 16));
    assert (\dut.heads.any_q == (ready != 0) & \dut.heads.at_most_q == (ready == 16));
    assert (\dut.stamps.any_q == (stamps != 0) & \dut.stamps.at_most_q == (stamps == 16));
    assert (!\dut.heads.shown_q | ready != 0);
    assert (!\dut.stamps.shown_q | stamps != 0);
    // A piece is visible when it has been there for two cycles.
    assert (there == (waiting > gap[0]));
    if (alone) assert (waiting == 1 & gap != 0 & there == gap[1]);
    if (stays) assert (there);
    assert (\dut.from_bus_q == on_bus);
    assert (\dut.failed_q == failed & \dut.told_q == told);
    if (begun) begin
      assert (\dut.nth_q == got + 1 & \dut.fresh_q == (got == 0));
      assert (word_so_far[64 * lane +: 64] == mine);
    end else begin
      assert (!told & !failed & !marked & waiting == 0 & stamps == 0 & got == 0 & pending == 0);
      assert (\dut.pieces_q == 0 & \dut.used_q == 0 & gap == 0 & !\dut.expected.shown_q );
    end
    if (waiting == 0) assert (waiting_beats == 0);
    if (ready == 0) assert (ready_room == 0);
    if (got != 0) assert (stays & there & got < qwords & \dut.lane_q == at_lane);
    if (got != 0 & !drops) assert (stored == at / LANES - (LANES == 2 & start == 2));
    if (got == 0 | drops) assert (stored == 0);
    if (!there) assert (got == 0);
    if (got != 0) assert (\dut.at_last_q == (got + 1 == qwords));
    if (got == 0 | lane >= at_lane) assert (mine == 0);
    assert (\dut.leaves_q <= 2 & \dut.room_q <= (begun));
    // Room was reported in the last cycle; a push may come in between.
    if (\dut.room_q & !gap[0]) assert (\dut.pieces_q < 16 & \dut.used_q <= KEPT - MOST);
    assert (ready == stamps + \dut.clear_q & \dut.clear_q <= ready);
    assert (\dut.accepted_q - \dut.sent_q == pending & pending <= 100);
    if (its_stamp_waits) assert (marked & ahead == ahead_stamps + \dut.clear_q & ahead_stamps < stamps);
    if (its_stamp_waits & wait_for != 0) assert (its_lag == wait_for);
    if (marked) assert (ahead < ready & wait_for <= pending);
    if (marked & !its_stamp_waits) assert (wait_for == 0);
  end
endmodule
