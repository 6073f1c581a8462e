// Read requests: each has the form that the specification requires, a tag that is not in use, and room for its
// completions; none passes a posted packet that was accepted before it; together they ask for every byte once, in
// order. Unbounded. The queue of waiting reads is left open: it shows any read, with any number of packets before it.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire valid,
  input wire [63:0] address,
  input wire [9:0] bytes,
  input wire [6:0] tag,
  input wire extended,
  input wire master,
  input wire posted, post_sent,
  input wire credit,
  input wire closes,
  input wire [5:0] closes_tag,
  input wire closes_bad,
  input wire [4:0] freed,
  input wire arrives,
  input wire head_take,
  input wire awaits,
  input wire refuses_take
);
  (* anyconst *) wire [2:0] limit;
  (* anyconst *) wire [7:0] space;
  wire ready, sent, opens, head_valid, stalled, crowded, refuses, refuses_lost;
  wire [6:0] refuses_tag;
  reg [5:0] last_tag = 0;
  wire [5:0] opens_tag;
  wire [23:0] opens_word;
  wire [83:0] head;
  reg [63:0] busy = 0;
  // A tag whose read has left may look free for four cycles: a completion may be that long before it.
  (* anyseq *) wire late;
  reg [2:0] recent = 0;
  // A read may end before its tag is free.
  (* anyseq *) wire keeps;
  (* anyseq *) wire [63:0] gone;
  wire [63:0] hidden = late & recent != 0 ? 64'd1 << last_tag : 64'd0;

  // Faults: a used tag taken for free; room that was not freed; a limit of twice the length; a posted packet not seen;
  // a failed part that is not reported; a credit that does not exist; a request for other bytes; Bus Master Enable
  // ignored.
  wire [63:0] seen_busy = (MUTANT == 1 ? busy & 64'hFFFFFFFFFEFFFFFF : busy) & ~hidden;
  wire [4:0] seen_freed = MUTANT == 2 ? freed | {4'd0, closes} : freed;
  wire [2:0] seen_limit = MUTANT == 3 ? limit + 1 : limit;
  wire seen_posted = MUTANT == 4 ? 1'b0 : posted;
  wire seen_bad = MUTANT == 5 ? 1'b0 : closes_bad;
  wire seen_credit = MUTANT == 6 ? 1'b1 : credit;
  wire [63:0] seen_address = MUTANT == 7 ? address ^ 64'd64 : address;
  wire seen_master = MUTANT == 8 ? 1'b1 : master;
  peerlane_asks dut (
    .clock(clock), .reset(1'b0), .valid(valid), .ready(ready), .address(seen_address), .bytes(bytes), .tag(tag),
    .request(seen_limit), .extended(extended), .master(seen_master), .space(space), .freed(seen_freed),
    .posted(seen_posted), .post_sent(post_sent), .credit(seen_credit), .sent(sent), .busy(seen_busy), .closes(closes),
    .closes_tag(closes_tag), .closes_bad(seen_bad), .opens(opens), .opens_tag(opens_tag),
    .opens_word(opens_word), .head_valid(head_valid), .head(head), .head_take(head_take), .stalled(stalled),
    .awaits(awaits), .refuses_lost(refuses_lost), .refuses(refuses), .refuses_tag(refuses_tag), .refuses_take(refuses_take), .arrives(arrives), .crowded(crowded)
  );
  // Words, their first field lowest.
  wire [6:0] word_tag = opens_word[6:0];
  wire [9:0] word_bytes = opens_word[16:7];
  wire [6:0] word_at = opens_word[23:17];
  wire [61:0] head_address = head[61:0];
  wire [7:0] head_dwords = head[69:62];
  wire [3:0] head_first = head[73:70], head_last = head[77:74];
  wire [5:0] head_tag = head[83:78];

  // The block's state: 0 idle, 1 the end of a part, 2 its size, 3 checked, 4 ready to leave, 5 another part to come, 6
  // refused.
  (* hierconn, init = 0 *) wire [2:0] \dut.state_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.from_q ;
  (* hierconn, init = 0 *) wire [9:0] \dut.left_q , \dut.part_q ;
  (* hierconn, init = 0 *) wire [6:0] \dut.name_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.dwords_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.first_q , \dut.last_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.lines_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.chosen_q , \dut.next_tag_q , \dut.given_q ;
  (* hierconn, init = 0 *) wire \dut.tag_ok_q , \dut.of_all_q , \dut.room_ok_q , \dut.in_order_q ;
  (* hierconn, init = 0 *) wire \dut.ended_q , \dut.ended_bad_q , \dut.stands_q , \dut.leaves_q ;
  (* hierconn, init = 0 *) wire \dut.fresh_q , \dut.looked_q , \dut.off_q ;
  (* hierconn, init = 0 *) wire [8:0] \dut.used_q , \dut.spare_q ;
  wire [2:0] state = \dut.state_q ;
  wire [9:0] part = \dut.part_q ;
  wire [1:0] offset = \dut.from_q [1:0];
  wire [10:0] span = offset + part;
  wire [10:0] most = limit == 0 ? 128 : limit == 1 ? 256 : 512;
  wire [10:0] in_lines = \dut.from_q [5:0] + part + 11'd63;

  // The queue, and the read that leaves it.
  (* hierconn *) wire \dut.waiting_full , \dut.waiting_some , \dut.waiting_valid , \dut.waiting_push ;
  (* hierconn *) wire [112:0] \dut.waiting_data ;
  wire [63:0] word_from = \dut.waiting_data [63:0];
  wire [9:0] word_left = \dut.waiting_data [73:64];
  wire [6:0] word_name = \dut.waiting_data [80:74];
  wire [31:0] word_stamp = \dut.waiting_data [112:81];
  wire direct = state == 0 & !\dut.waiting_some & valid;
  wire starts = state == 0 & (\dut.waiting_valid | direct);

  // The engine, the completions and the writes. A request that leaves takes its tag in the next cycle.
  wire leaves = head_valid & head_take;
  reg took = 0, stood = 0, had_credit = 0, had_all = 0;
  // Whether requests were allowed in the cycle before; whether they became forbidden since the read in progress began.
  reg was_master = 1, doomed = 0;
  reg [23:0] took_word = 0;
  reg [5:0] took_tag = 0;
  reg [8:0] promised = 0;
  reg [6:0] pending = 0, before = 0;
  reg under_way = 0, waits = 0, done = 0, done_bad = 0;
  reg [63:0] next = 0;
  reg [9:0] left = 0;
  reg [6:0] name = 0;
  // Free lines, without those that the block keeps free, and the block's own count of them.
  wire signed [10:0] free = {3'd0, space} - {2'd0, promised} - (name[6] ? 11'd0 : 11'd3);
  wire signed [10:0] spare = {{2{\dut.spare_q [8]}}, \dut.spare_q };
  wire [10:0] touched = word_at[5:0] + word_bytes + 11'd63;
  wire [4:0] lines = touched[10:6];
  wire [6:0] pending_now = pending + posted - post_sent;
  (* hierconn, init = 0 *) wire [31:0] \dut.accepted_q , \dut.gone_q , \dut.stamp_q ;
  wire [31:0] word_after = word_stamp - \dut.gone_q - post_sent;
  wire [31:0] since = \dut.gone_q - \dut.stamp_q ;
  always @* begin
    assume (bytes >= 1 & bytes <= 512);
    assume (address[11:0] + bytes <= 4096);
    assume (word_left >= 1 & word_left <= 512);
    assume (word_from[11:0] + word_left <= 4096);
    assume (!\dut.waiting_valid | \dut.waiting_some );
    assume (!\dut.waiting_full | \dut.waiting_some );
    // Of the packets before the read, not more are pending than exist; none waits for 2^31 of them.
    assume (word_after[31] | word_after <= pending_now);
    assume (state == 0 | !since[31] | before != 0);
    assume (limit <= 5);
    assume (!post_sent | pending != 0);
    assume (!posted | pending < 100);
    assume (!closes | busy[closes_tag]);
    assume (freed <= promised);
    assume (!head_take | head_valid);
  end
  always @(posedge clock) begin
    busy <= (busy & ~(closes & !keeps ? 64'd1 << closes_tag : 64'd0) & ~(gone & ~(64'd1 << last_tag)))
      | (opens ? 64'd1 << opens_tag : 64'd0);
    recent <= opens ? 4 : recent - (recent != 0);
    promised <= promised - freed + (opens ? lines : 0);
    took <= leaves;
    stood <= head_valid;
    had_credit <= credit & was_master & !doomed;
    was_master <= master;
    doomed <= state != 0 & (doomed | !was_master);
    if (refuses & refuses_take) under_way <= 0;
    had_all <= extended;
    if (leaves) begin
      took_word <= opens_word;
      took_tag <= head_tag;
    end
    pending <= pending_now;
    if (post_sent & before != 0) before <= before - 1;
    if (starts) begin
      under_way <= 1;
      waits <= 0;
      before <= pending_now;
      next <= address;
      left <= bytes;
      name <= tag;
      if (\dut.waiting_valid ) begin
        before <= word_after[31] ? 0 : word_after;
        next <= word_from;
        left <= word_left;
        name <= word_name;
      end
    end
    if (leaves) begin
      next <= next + word_bytes;
      left <= left - word_bytes;
      last_tag <= head_tag;
      waits <= 1;
    end
    // It is reported a cycle later.
    done <= waits & !done & closes & closes_tag == last_tag;
    if (done) begin
      waits <= 0;
      if (done_bad) under_way <= 0;
    end
    done_bad <= closes_bad;
    if (leaves & left == word_bytes) begin
      under_way <= 0;
      waits <= 0;
    end
  end

  always @* if (MUTANT == 0) begin
    assert (state <= 6);
    assert (\dut.off_q | (was_master & !doomed));
    assert (refuses == (state == 6));
    if (refuses) assert (refuses_tag == name & !head_valid & !waits);
    assert (under_way == (state != 0));
    assert (\dut.stands_q == (state == 4));
    assert (\dut.used_q == promised & promised <= {1'b0, space});
    assert (\dut.accepted_q - \dut.gone_q == pending & before <= pending & pending <= 100);
    assert (\dut.next_tag_q < 56);
    assert (\dut.ended_q == done & (!done | \dut.ended_bad_q == done_bad));
    if (state != 0) begin
      assert (\dut.name_q == name);
      assert (\dut.left_q >= 1 & \dut.left_q <= 512 & \dut.from_q [11:0] + \dut.left_q <= 4096);
      if (before != 0) assert (\dut.stamp_q - \dut.gone_q == before);
    end
    if (state >= 2) begin
      assert (!\dut.in_order_q | before == 0);
      assert (part >= 1 & part <= \dut.left_q );
      assert (\dut.from_q [8:0] % most + part <= most);
    end
    if (state == 2) assert (!\dut.tag_ok_q );
    if (state >= 3 & state <= 5) begin
      assert (\dut.dwords_q == (span + 3) >> 2);
      assert (\dut.first_q == (4'hF << offset));
      assert (\dut.last_q == (span[1:0] == 0 ? 4'hF : 4'hF >> (3'd4 - span[1:0])));
      assert (\dut.lines_q == in_lines[10:6]);
    end
    // The results of the cycle before still hold.
    if ((state == 3 | state == 4) & \dut.tag_ok_q ) begin
      assert (!busy[\dut.chosen_q ]);
      if (name[6]) assert (\dut.chosen_q [5:3] == {\dut.of_all_q , 2'b11});
      else assert (\dut.chosen_q < (\dut.of_all_q ? 56 : 24));
    end
    if (state >= 2 & state <= 4) assert (spare <= free);
    if (state == 4) assert (\dut.tag_ok_q );
    if (state <= 2 | state == 5) assert (!\dut.room_ok_q );
    if ((state == 3 & \dut.room_ok_q ) | state == 4) assert (promised + \dut.lines_q + (name[6] ? 0 : 3) <= space);
    if (state >= 1 & state <= 4) assert (\dut.from_q == next & \dut.left_q == left & !waits);
    if (state == 4) assert (!busy[\dut.chosen_q ] & before == 0);
    if (state == 5) begin
      assert (\dut.from_q + part == next & \dut.left_q - part == left & left != 0);
      assert (waits & (done | took | busy[\dut.chosen_q ]) & last_tag == \dut.chosen_q );
    end
    assert (\dut.leaves_q == took);
    if (took) begin
      assert ((state == 0 | state == 5) & recent == 0 & !done);
      assert (\dut.lines_q == lines & last_tag == opens_tag);
    end
    if (state == 3 & !\dut.looked_q ) assert (!\dut.room_ok_q );
    if (recent == 4) assert (!done);
    // The time has passed when a tag is looked for again, or the tag is remembered.
    assert (recent <= 4);
    if (recent != 0) assert (\dut.fresh_q & \dut.given_q == last_tag);
    if (recent >= 3) assert (state != 3);
    if (recent >= 2) assert (!\dut.looked_q );
    if (recent == 4) assert (state != 2);
    if (recent != 0 & state == 4) assert (0);
    if (done) assert (state == 5);
    if (waits) assert (state == 5);
  end

  // A tag; and room.
  always @* begin
    assert (opens == took & sent == took);
    if (opens) begin
      assert (!busy[opens_tag]);
      assert (opens_tag == took_tag & opens_word == took_word);
      assert (promised + lines <= space);
    end
    // When it is ready to leave.
    if (head_valid & !stood) begin
      assert (had_credit);
      if (name[6]) assert (head_tag[5:3] == {had_all, 2'b11});
      else assert (head_tag < (had_all ? 56 : 24));
    end
    if (leaves) begin
      assert (!busy[head_tag]);
      if (!name[6]) assert (promised + lines + 3 <= space);
      // The bytes.
      assert (word_tag == name);
      assert (under_way & word_at == next[6:0] & word_bytes >= 1 & word_bytes <= left);
      // No write before it.
      assert (before == 0);
    end
    // A read that is accepted begins or waits.
    if (valid & ready) assert (direct ^ \dut.waiting_push );
  end

  // The form of a request that leaves.
  wire [12:0] long = {3'd0, head_dwords, 2'd0};
  always @* if (head_valid) begin
    assert (head_dwords >= 1 & long <= most);
    assert ({head_address[9:0], 2'd0} + long <= 4096);
    if (head_dwords == 1) assert (head_last == 0 & head_first != 0);
    else begin
      assert (head_first == 8 | head_first == 12 | head_first == 14 | head_first == 15);
      assert (head_last == 1 | head_last == 3 | head_last == 7 | head_last == 15);
    end
  end
endmodule
