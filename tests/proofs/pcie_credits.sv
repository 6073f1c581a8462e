// Credits of packets that are sent to the link: no packet of any type leaves without them, for all grants of the other
// end, for all packets that the hard IP sends itself, and for all initial counter values. No packet leaves without a
// link either: whenever the link comes up, both ends count from the beginning. Unbounded.

// Credits of one kind that the other end has granted, and those that are left. Never more than half of the numbers. A
// packet takes at most MOST.
module account #(parameter N = 8, parameter SPARE = 4, parameter MOST = 1) (
  input wire clock,
  input wire up,
  input wire [N-1:0] grant,
  input wire own,
  input wire [N-1:0] ours,
  input wire endless,
  output wire [N-1:0] limit,
  output wire [N-1:0] consumed,
  output wire [N-1:0] left,
  output reg [N-1:0] last,
  output reg took
);
  (* anyconst *) wire [N-1:0] from;
  reg [N-1:0] granted = 0, used = 0;
  // Of the last cycle: the credits that were granted, those that the hard IP took, and the rest of those that it
  // started with.
  reg [N-1:0] kept = 0;
  initial last = 0;
  initial took = 0;
  assign limit = from + granted;
  assign consumed = from + used;
  assign left = granted - used;
  localparam HALF = 1 << (N - 1);
  always @* begin
    assume (up | !own & grant == 0);
    assume (endless | {1'b0, left} + {1'b0, grant} <= HALF);
    // The hard IP leaves the last ones to packets in progress: one that leaves now, and one that was allowed to leave.
    assume (endless | !own | left >= SPARE);
    assert (endless | left <= HALF);
    assert (endless | left >= ours);
    assert (left == kept + last - took);
    assert (endless | {1'b0, kept} + {1'b0, last} <= HALF);
    assert (endless | !took | kept >= SPARE - MOST);
  end
  always @(posedge clock) begin
    last <= grant;
    took <= own;
    kept <= up ? left - ours : 0;
    granted <= up ? granted + grant : 0;
    used <= up ? used + own + ours : 0;
  end
endmodule

module proof #(parameter MUTANT = 0) (
  input wire clock,
  input wire up,
  input wire [7:0] grant_ph, grant_nh, grant_ch,
  input wire [11:0] grant_pd, grant_cd,
  input wire [5:0] own,
  input wire [5:0] post_need, reply_need,
  input wire want_post, want_read, want_reply
);
  (* anyconst *) wire [5:0] infinite;
  wire post_ok, read_ok, reply_ok, select;
  // A sender only uses an answer for the same packet, and not one of a cycle in which a packet left.
  reg post_seen = 0, read_seen = 0, reply_seen = 0;
  reg [5:0] post_before = 0, reply_before = 0;
  wire post_sent = want_post & post_ok & (post_seen | MUTANT == 4) & post_before == post_need;
  wire read_sent = want_read & read_ok & read_seen;
  wire reply_sent = want_reply & reply_ok & reply_seen & reply_before == reply_need;
  always @(posedge clock) begin
    post_seen <= !post_sent;
    read_seen <= !read_sent;
    reply_seen <= !reply_sent;
    post_before <= post_need;
    reply_before <= reply_need;
  end

  wire [7:0] limit_ph, limit_nh, limit_ch, used_ph, used_nh, used_ch, left_ph, left_nh, left_ch, last_ph, last_nh, last_ch;
  wire [5:0] took;
  assign took[2] = \dut.pulses_q [2];
  wire [11:0] limit_pd, limit_cd, used_pd, used_cd, left_pd, left_cd, last_pd, last_cd;
  account #(8) ph(clock, up, grant_ph, own[5], {7'd0, post_sent}, infinite[5], limit_ph, used_ph, left_ph, last_ph, took[5]);
  account #(12, 128, 63) pd(clock, up, grant_pd, own[4], post_sent ? {6'd0, post_need} : 12'd0, infinite[4], limit_pd, used_pd, left_pd, last_pd, took[4]);
  account #(8) nh(clock, up, grant_nh, own[3], {7'd0, read_sent}, infinite[3], limit_nh, used_nh, left_nh, last_nh, took[3]);
  account #(8) ch(clock, up, grant_ch, own[1], {7'd0, reply_sent}, infinite[1], limit_ch, used_ch, left_ch, last_ch, took[1]);
  account #(12, 128, 63) cd(clock, up, grant_cd, own[0], reply_sent ? {6'd0, reply_need} : 12'd0, infinite[0], limit_cd, used_cd, left_cd, last_cd, took[0]);

  // Faults: the hard IP's own packets not seen; one granted too many; data of a write not counted in full; an answer
  // that is used twice; types exchanged; a read not counted; a new link that is not seen.
  wire [5:0] seen_own = MUTANT == 1 ? 6'd0 : own;
  wire [7:0] seen_nh = (select ? used_nh : limit_nh) + (MUTANT == 2 & !select);
  wire [5:0] seen_need = MUTANT == 3 ? post_need >> 1 : post_need;
  wire [5:0] seen_infinite = MUTANT == 5 ? {infinite[5:2], infinite[0], infinite[1]} : infinite;
  wire seen_read = MUTANT == 6 ? 1'b0 : read_sent;
  peerlane_credits dut (
    .clock(clock), .reset(1'b0), .up(up | MUTANT == 7),
    .posted_headers(select ? used_ph : limit_ph),
    .posted_data(select ? used_pd : limit_pd),
    .read_headers(seen_nh),
    .reply_headers(select ? used_ch : limit_ch),
    .reply_data(select ? used_cd : limit_cd),
    .hip_consumed(seen_own), .infinite(seen_infinite), .select_consumed(select),
    .post_need(seen_need), .post_ok(post_ok), .post_sent(post_sent),
    .read_ok(read_ok), .read_sent(seen_read),
    .reply_need(reply_need), .reply_ok(reply_ok), .reply_sent(reply_sent)
  );

  // The block's knowledge: the consumed credits except the last cycle's pulses, and the limits of the last cycle.
  (* hierconn, init = 0 *) wire [4:0] \dut.age_q ;
  (* hierconn, init = 0 *) wire \dut.ready_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.pulses_q , \dut.endless_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.limit_ph_q , \dut.limit_nh_q , \dut.limit_ch_q ;
  (* hierconn, init = 0 *) wire [11:0] \dut.limit_pd_q , \dut.limit_cd_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.used_ph_q , \dut.used_nh_q , \dut.used_ch_q ;
  (* hierconn, init = 0 *) wire [11:0] \dut.used_pd_q , \dut.used_cd_q ;
  (* hierconn, init = 0 *) wire \dut.may_post_q , \dut.may_read_q , \dut.may_reply_q ;
  wire [4:0] age = \dut.age_q ;
  wire [5:0] pulses = \dut.pulses_q ;
  wire counts = \dut.ready_q | age >= 16;
  wire limits = \dut.ready_q | age >= 17;
  reg begun = 0, had_link = 0;
  always @(posedge clock) begun <= 1;
  always @(posedge clock) had_link <= up;
  // The search for this fault is long where all types are in use.
  always @* if (MUTANT == 6) assume (!want_post & !want_reply & own == 0);
  always @* assert (had_link | !post_ok & !read_ok & !reply_ok);
  always @* if (MUTANT == 0) begin
    assert (pulses == took);
    assert (begun ? \dut.endless_q == infinite : age == 0 & !\dut.ready_q );
    if (begun & age >= 1 & age <= 16 & !\dut.ready_q ) begin
      assert (\dut.limit_ph_q + pulses[5] == used_ph);
      assert (\dut.limit_pd_q + pulses[4] == used_pd);
      assert (\dut.limit_nh_q + pulses[3] == used_nh);
      assert (\dut.limit_ch_q + pulses[1] == used_ch);
      assert (\dut.limit_cd_q + pulses[0] == used_cd);
    end
    if (begun) assert (had_link ? \dut.ready_q | age >= 1 : !\dut.ready_q & age == 0);
    if (counts) begin
      assert (\dut.used_ph_q + pulses[5] == used_ph);
      assert (\dut.used_pd_q + pulses[4] == used_pd);
      assert (\dut.used_nh_q + pulses[3] == used_nh);
      assert (\dut.used_ch_q + pulses[1] == used_ch);
      assert (\dut.used_cd_q + pulses[0] == used_cd);
    end
    if (limits) begin
      assert (\dut.limit_ph_q + last_ph == limit_ph);
      assert (\dut.limit_pd_q + last_pd == limit_pd);
      assert (\dut.limit_nh_q + last_nh == limit_nh);
      assert (\dut.limit_ch_q + last_ch == limit_ch);
      assert (\dut.limit_cd_q + last_cd == limit_cd);
    end
    if (!\dut.ready_q ) assert (!post_ok & !read_ok & !reply_ok);
    // An answer is that of the last cycle, without the packets that left in it and those that the hard IP sent since
    // then.
    if (post_ok & post_seen & !infinite[5]) assert (left_ph >= 1);
    if (post_ok & post_seen & post_before == post_need & !infinite[4]) assert (left_pd >= post_need);
    if (read_ok & read_seen & !infinite[3]) assert (left_nh >= 1);
    if (reply_ok & reply_seen & !infinite[1]) assert (left_ch >= 1);
    if (reply_ok & reply_seen & reply_before == reply_need & !infinite[0]) assert (left_cd >= reply_need);
  end
endmodule
