// Flush reads of a port with tags. Every flush that is taken has one end, in order; the end reports whether it was
// answered in time and well; a tag is not used again while an answer to it may come; a free tag is found, however many
// others are lost, and only when none is left a flush fails at once. Unbounded.
module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire flush,
  input wire may_leave,
  input wire dead,
  input wire answered,
  input wire [2:0] answered_tag,
  input wire refused,
  input wire let_go,
  input wire clear,
  input wire choose
);
  (* anyconst *) wire [31:0] timeout;
  wire take, leaves, ended, failed, quarantine;
  wire [2:0] tag;
  reg [31:0] now = 0;

  // Faults: a wrong tag, an answer of another, an answer that comes and was not awaited any more, a wrong time-out, an
  // end too many, no flush taken while another is lost, a refusal not seen, a flush that a dead port refuses, a reset
  // of the engine that drops the record of owed answers.
  wire [2:0] seen_tag = MUTANT == 1 ? {tag[2:1], 1'b1} : tag;
  wire [2:0] seen_answered_tag = MUTANT == 2 ? answered_tag ^ 3'd1 : answered_tag;
  wire seen_let_go = MUTANT == 3 ? let_go | choose : let_go;
  wire [31:0] seen_timeout = MUTANT == 4 ? timeout + 2 : timeout;
  wire seen_ended = MUTANT == 5 ? ended | (leaves & choose) : ended;
  wire seen_take = MUTANT == 6 ? take & !quarantine : take;
  wire seen_refused = MUTANT == 7 ? refused & choose : refused;
  wire seen_dead = MUTANT == 8 ? 1'b0 : dead;

  wire seen_reset = MUTANT == 9 & clear;

  peerlane_flushes dut (
    .clock(clock), .reset(seen_reset), .clear(clear), .flush(flush), .take(take), .may_leave(may_leave), .leaves(leaves),
    .tag(tag), .dead(seen_dead), .answered(answered), .answered_tag(seen_answered_tag),
    .refused(seen_refused), .ended(ended), .failed(failed), .now(now), .timeout(seen_timeout),
    .let_go(seen_let_go), .quarantine(quarantine)
  );

  // Reads that have left and not ended, by tag, oldest first. One tag is watched: when its read left.
  (* anyconst *) wire [2:0] watched;
  reg [31:0] since = 0;
  reg [2:0] list [0:7];
  reg [3:0] listed = 0;
  // By tag: it is in the list; an answer may come; one has come to the read in the list, and a bad one.
  reg left_before = 0;
  reg [7:0] under_way = 0, awaited = 0, good = 0, bad = 0;
  wire [7:0] left = leaves ? 8'd1 << seen_tag : 8'd0;
  wire [7:0] answer = answered ? 8'd1 << answered_tag : 8'd0;
  // A flush that fails at once ends a cycle later.
  wire absorbed = seen_take & !leaves;
  reg absorbed_before = 0;
  wire over = seen_ended & !absorbed_before;
  wire [7:0] gone = over ? 8'd1 << list[0] : 8'd0;
  wire [7:0] stay = under_way & ~gone;
  wire [3:0] place = listed - over;
  integer i;
  always @(posedge clock) begin
    now <= now + 1;
    absorbed_before <= absorbed & !clear;
    if (over) for (i = 0; i < 7; i = i + 1) list[i] <= list[i + 1];
    if (leaves) list[place[2:0]] <= seen_tag;
    if (left[watched]) since <= now;
    listed <= listed + leaves - over;
    under_way <= stay | left;
    // Answers that the driver gives up, and only these, do not come.
    left_before <= leaves;
    awaited <= (let_go ? awaited & stay : awaited) & ~answer | left;
    good <= (refused ? good : good | answer) & ~left;
    bad <= (refused ? bad | answer : bad) & ~left;
    // The engine is reset; the answers still come.
    if (clear) begin
      listed <= 0;
      under_way <= 0;
    end
  end

  // Cycles in which the tag was free and a flush could have left.
  reg [3:0] passed = 0;
  wire free = !under_way[watched] & !awaited[watched];
  always @(posedge clock) passed <= flush & may_leave & free & !seen_take ? passed + 1 : 0;

  // The block looks at the oldest from the second cycle on.
  wire seen = listed > left_before;
  wire mine = seen & list[0] == watched;
  // The block's record of when the oldest left; it is right for the watched tag, which is any tag.
  (* hierconn *) wire [34:0] \dut.turns_data ;
  wire [31:0] oldest_since = \dut.turns_data [34:3];
  wire [31:0] age = now - oldest_since;
  wire in_time = timeout == 0 | age < timeout;
  wire has_answer = good[list[0]] | bad[list[0]];
  always @* begin
    assume (!answered | awaited[answered_tag]);
    if (mine) assert (oldest_since == since);
    assume (!may_leave | !(dead | clear));
    assume (!(clear & let_go));
    if (leaves) assert (!awaited[seen_tag] & !under_way[seen_tag] & listed < 8);
    if (over) begin
      assert (listed != 0 & failed == !good[list[0]]);
      assert (has_answer | !in_time);
    end
    // No end is delayed.
    if (listed != 0 & has_answer) assert (over);
    if (seen & !in_time & !answered) assert (over);
    // A flush fails at once only where it cannot leave.
    if (absorbed) assert (flush & listed == 0 & (dead | &awaited));
    if (absorbed_before) assert (seen_ended & failed & listed == 0);
    if (flush & listed == 0 & (dead | &awaited)) assert (seen_take);
    assert (passed < 8);
    assert (quarantine == |(awaited & ~under_way));
  end

  // The block's state.
  (* hierconn, init = 0 *) wire [2:0] \dut.next_tag_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.owed_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.done_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.bad_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.lost_q ;
  (* hierconn, init = 0 *) wire \dut.absorbed_q ;
  (* hierconn, init = 0 *) wire [2:0] \dut.turns.head_q ;
  (* hierconn, init = 0 *) wire [2:0] \dut.turns.tail_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.turns.count_q ;
  (* hierconn, init = 0 *) wire \dut.turns.any_q ;
  (* hierconn, init = 0 *) wire \dut.turns.shown_q ;
  (* hierconn, init = 0 *) wire \dut.turns.ram.settling ;
  (* hierconn, init = 0 *) wire [2:0] \dut.turns.ram.recent ;
  (* hierconn, init = 0 *) wire \dut.turns.at_most_q ;
  (* hierconn, init = 0 *) wire [279:0] \dut.turns.ram.every ;
  wire [279:0] words = \dut.turns.ram.every ;
  wire [2:0] head = \dut.turns.head_q ;
  wire [2:0] ahead = watched - \dut.next_tag_q ;
  integer k, m;
  reg [7:0] in_list;
  reg [2:0] at;
  always @* begin
    in_list = 0;
    for (k = 0; k < 8; k = k + 1) if (k < listed) in_list = in_list | 8'd1 << list[k];
  end
  always @* if (MUTANT == 0) begin
    assert (listed <= 8 & \dut.turns.count_q == listed & \dut.turns.tail_q == head + listed[2:0]);
    assert (\dut.turns.any_q == (listed != 0) & \dut.turns.at_most_q == (listed == 8));
    // A word is visible when it has settled.
    assert (\dut.turns.shown_q == (listed > \dut.turns.ram.settling ));
    if (\dut.turns.shown_q & \dut.turns.ram.settling )
      assert (\dut.turns.ram.recent == \dut.turns.tail_q - 3'd1);
    for (k = 0; k < 8; k = k + 1) if (k < listed) begin
      at = head + k;
      assert (words[35 * at +: 3] == list[k]);
      if (list[k] == watched) assert (words[35 * at + 3 +: 32] == since);
      for (m = 0; m < k; m = m + 1) assert (list[m] != list[k]);
    end
    assert (under_way == in_list & \dut.owed_q == under_way);
    assert (\dut.lost_q == (awaited & ~under_way));
    assert ((good & bad) == 0 & (awaited & (good | bad)) == 0);
    assert ((under_way & ~(awaited | good | bad)) == 0);
    assert ((under_way & (\dut.done_q ^ (good | bad))) == 0);
    assert ((under_way & (good | bad) & (\dut.bad_q ^ bad)) == 0);
    assert (\dut.absorbed_q == absorbed_before);
    if (passed != 0) assert (free & {1'b0, ahead} + passed < 8);
  end
endmodule
