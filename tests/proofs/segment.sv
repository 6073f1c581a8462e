// The request maker of four channels, in an environment that behaves in any way: any descriptors, any table, any
// window, back-pressure, chains, aborts, port failure and reset at any time. One channel, which the solver chooses, is
// watched: the descriptor that it took, and the part that it still has to ask for. Unbounded.
module proof #(
  parameter READ = 0,        // direction
  parameter BYTES = 16,      // bytes of a beat
  parameter ATT_LOG2 = 8,
  parameter MEMORY_LOG2 = 20,
  parameter PART = 1,        // which assertions: 1 permission and edges, 2 accounting, 3 turns
  parameter MUTANT = 0       // 1..: a fault at the block's pins that an assertion must see
) (
  input wire clock,
  input wire reset,
  input wire enable,
  input wire port_down,
  input wire abort_all,
  input wire [3:0] run,
  input wire [3:0] abort_channels,
  input wire [3:0] queued,
  input wire [3:0] awakened,
  input wire [31:0] peer_low,
  input wire [31:0] peer_high,
  input wire [31:0] local_low,
  input wire [31:0] local_high,
  input wire [31:0] length,
  input wire [31:0] control,
  input wire [31:0] cookie,
  input wire [12:0] stamp,
  input wire [12:0] number,
  input wire [12:0] ended_own,
  input wire [12:0] ended_other,
  input wire end_own,
  input wire [5:0] end_own_channel,
  input wire end_other,
  input wire [5:0] end_other_channel,
  input wire window_base_we,
  input wire window_end_we,
  input wire [1:0] window_channel,
  input wire [31:0] window_data,
  input wire sweep,
  input wire [1:0] sweep_channel,
  input wire answer,
  input wire [120:0] entry,
  input wire accept,
  input wire halted,
  input wire [1:0] longest
);
  wire looked_up, fetch, take_pin, ask, request, last_pin, want_record, want_irq, urgent;
  wire may_flush;
  wire [5:0] select, channel, descriptor;
  wire [15:0] index;
  wire [63:0] bus_pin;
  wire [39:0] local_at;
  wire [9:0] bytes;
  wire [4:0] code;
  wire [31:0] tag;
  wire [39:0] att_address;
  wire has_data;
  wire [9:0] span;

  (* anyconst *) wire [1:0] which;
  // A port of bytes, where ends that are not whole beats go alone, or a port of whole dwords.
  (* anyconst *) wire any_dwords;
  wire dwords = !READ & any_dwords;
  wire split = !READ & !any_dwords;
  // Bytes of the longest request, which may change at any time; a request is cut by the value at that time.
  wire [10:0] most_now = 11'd128 << longest;
  reg [10:0] most = 512;
  wire [10:0] most_mask = most - 1;
  always @* begin
    assume (longest != 3);
    assert (most == 128 | most == 256 | most == 512);
  end

  // Faults: an entry bit that the block sees set (valid, permissions, all owners), an address that moved, a window that
  // the driver did not set, a lost request, a byte too many, another channel's descriptor, a start lost, a turn lost; a
  // port that does not say that it has whole dwords, or that ends go alone.
  wire [120:0] seen_entry = MUTANT == 1 ? (entry | 121'h1)
                          : MUTANT == 2 ? (entry | 121'h6)
                          : MUTANT == 3 ? (entry | (121'hf << 57)) : entry;
  wire [63:0] bus = MUTANT == 4 ? bus_pin + BYTES : bus_pin;
  wire seen_window_end_we = MUTANT == 5 ? window_end_we | window_base_we : window_end_we;
  wire seen_accept = MUTANT == 6 ? 1'b1 : accept;
  wire [31:0] seen_length = MUTANT == 7 ? length + 1 : length;
  wire [5:0] seen_select = MUTANT == 8 ? select ^ 1 : select;
  wire take = MUTANT == 9 ? take_pin & !abort_all : take_pin;
  wire [3:0] seen_queued = MUTANT == 10 ? queued & ~(4'd1 << which) : queued;

  peerlane_segment dut (
    .clock(clock), .reset(reset), .enable(enable), .port_down(port_down), .longest(most_now[9:0] - 10'd1),
    .whole_dwords(MUTANT == 11 ? 1'b0 : dwords), .split_ends(MUTANT == 12 ? 1'b0 : split), .abort_all(abort_all),
    .run({60'd0, run}), .abort_({60'd0, abort_channels}), .looked_up(looked_up),
    .queue_queued({60'd0, seen_queued}), .queue_awakened({60'd0, awakened}), .queue_select(select), .queue_fetch(fetch),
    .queue_take(take_pin), .queue_peer_low(peer_low), .queue_peer_high(peer_high), .queue_local_low(local_low),
    .queue_local_high(local_high), .queue_length(seen_length), .queue_control(control), .queue_cookie(cookie),
    .queue_stamp(stamp), .queue_number(number), .queue_ended(ended_own), .ended_other(ended_other),
    .queue_end(end_own), .queue_end_channel(end_own_channel), .end_other(end_other),
    .end_other_channel(end_other_channel), .window_base_we(window_base_we),
    .window_end_we(seen_window_end_we), .window_channel({4'd0, window_channel}),
    .window_data(window_data), .sweep(sweep), .sweep_channel({4'd0, sweep_channel}), .look_up_ask(ask),
    .look_up_index(index), .look_up_answer(answer), .entry(seen_entry), .request_valid(request), .request_accept(seen_accept),
    .request_bus(bus_pin), .att_address(att_address), .request_local(local_at), .request_bytes(bytes), .request_last(last_pin),
    .request_code(code), .request_want_record(want_record), .request_want_irq(want_irq), .request_urgent(urgent),
    .may_flush(may_flush), .request_tag(tag), .request_channel(channel), .descriptor(descriptor), .halted(halted),
    .request_has_data(has_data), .request_span(span),
    .flow_exists(1'b0), .flow_granted(1'b0), .flow_held(13'd0), .flow_sealed(1'b0), .flow_wake(64'd0), .flow_place(40'd0)
  );
  wire last = last_pin;

  // The block's own state: 0 idle, 1 fetches, 2 loads, 3 measures, 4 cuts the request, 5 looks it up,
  // 6 judges, 7 offers it.
  (* hierconn, init = 0 *) wire [2:0] \dut.state_q ;
  (* hierconn, init = 0 *) wire \dut.fed_q ;
  (* hierconn, init = 0 *) wire \dut.starving_q ;
  (* hierconn, init = 0 *) wire \dut.doomed_q ;
  (* hierconn, init = 0 *) wire \dut.streams_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.hungry_q ;
  (* hierconn, init = 0 *) wire \dut.issuing_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.serving_q ;
  (* hierconn, init = 0 *) wire \dut.begins_q ;
  (* hierconn, init = 0 *) wire \dut.malformed_q ;
  (* hierconn, init = 0 *) wire \dut.bad_peer_q ;
  (* hierconn, init = 0 *) wire \dut.bad_local_q ;
  (* hierconn, init = 0 *) wire \dut.bad_control_q ;
  (* hierconn, init = 0 *) wire \dut.bad_ends_q ;
  (* hierconn, init = 0 *) wire \dut.unaligned_q ;
  (* hierconn, init = 0 *) wire [27:0] \dut.low_q ;
  (* hierconn, init = 0 *) wire [28:0] \dut.high_q ;
  (* hierconn, init = 0 *) wire [37:0] \dut.peer_q ;
  (* hierconn, init = 0 *) wire [1:0] \dut.page_size_q ;
  (* hierconn, init = 0 *) wire [39:0] \dut.local_at_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.remaining_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.cookie_at_q ;
  (* hierconn, init = 0 *) wire [3:0] \dut.flags_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.number_at_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.pick_q ;
  (* hierconn, init = 0 *) wire \dut.pick_any_q ;
  (* hierconn, init = 0 *) wire \dut.pick_saved_q ;
  (* hierconn, init = 0 *) wire \dut.pick_jumps_q ;
  (* hierconn, init = 0 *) wire \dut.jumped_q ;
  (* hierconn, init = 0 *) wire \dut.own_ready_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.waiting_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.blocked_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.newcomers_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.ready_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.above_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.pool_q ;
  (* hierconn, init = 0 *) wire \dut.pool_jumps_q ;
  (* hierconn, init = 0 *) wire \dut.fails_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.judged_q ;
  (* hierconn, init = 0 *) wire [9:0] \dut.reach_q ;
  (* hierconn, init = 0 *) wire \dut.is_ragged_q ;
  (* hierconn, init = 0 *) wire [40:0] \dut.local_end_q ;
  (* hierconn, init = 0 *) wire [9:0] \dut.chunk_q ;
  (* hierconn, init = 0 *) wire \dut.final_chunk_q ;
  (* hierconn, init = 0 *) wire \dut.out_of_memory_q ;
  (* hierconn, init = 0 *) wire \dut.out_of_window_q ;
  (* hierconn, init = 0 *) wire \dut.aborted_q ;
  (* hierconn, init = 0 *) wire \dut.out_of_table_q ;
  (* hierconn, init = 0 *) wire \dut.invalid_q ;
  (* hierconn, init = 0 *) wire \dut.not_owner_q ;
  (* hierconn, init = 0 *) wire \dut.not_permitted_q ;
  (* hierconn, init = 0 *) wire \dut.wrong_size_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.target_q ;
  (* hierconn, init = 0 *) wire [1:0] \dut.saved.spy_at ;
  (* hierconn, init = 0 *) wire [158:0] \dut.saved.spy ;
  (* hierconn, init = 0 *) wire [1:0] \dut.window_base.spy_at ;
  (* hierconn, init = 0 *) wire [27:0] \dut.window_base.spy ;
  (* hierconn, init = 0 *) wire [1:0] \dut.window_end.spy_at ;
  (* hierconn, init = 0 *) wire [28:0] \dut.window_end.spy ;
  (* hierconn, init = 0 *) wire \dut.saved.settling ;
  (* hierconn, init = 0 *) wire \dut.window_base.settling ;
  (* hierconn, init = 0 *) wire \dut.window_end.settling ;
  (* hierconn, init = 0 *) wire [1:0] \dut.window_unsure_q ;
  (* hierconn, init = 0 *) wire \dut.own_abort_q ;
  (* hierconn, init = 0 *) wire \dut.may_begin_q ;
  (* hierconn, init = 0 *) wire \dut.woken_before_q ;
  (* hierconn, init = 0 *) wire [1:0] \dut.waits_q ;
  // A build without streams.
  always @* assert (!\dut.streams_q & !\dut.fed_q & !\dut.starving_q & !\dut.doomed_q & \dut.hungry_q == 0);
  reg ask_before = 0, take_before = 0, reset_before = 0, reset_earlier = 0;
  reg [3:0] queued_before = 0;
  reg [1:0] select_before = 0, select_earlier = 0;
  reg [3:0] queued_earlier = 0;
  reg take_earlier = 0;
  // Something was queued for the watched channel.
  reg been = 0;
  // An end of the channel was counted in the last cycle. The way in which its chain was checked, and whether it has
  // one.
  wire woken = end_own & end_own_channel == which | end_other & end_other_channel == which;
  reg woken_before = 0, settled_look = 0, aborts_anyway = 0;
  reg [1:0] loaded_waits = 0;
  always @(posedge clock) begin
    ask_before <= ask;
    take_before <= take_pin;
    reset_before <= reset;
    reset_earlier <= reset_before;
    queued_before <= queued;
    select_before <= select[1:0];
    select_earlier <= select_before;
    queued_earlier <= queued_before;
    take_earlier <= take_before;
    been <= !reset & (been | queued[which]);
    woken_before <= woken;
    if (state == 3) begin
      settled_look <= !woken & !woken_before;
      aborts_anyway <= \dut.own_abort_q ;
    end
    if (state == 2) loaded_waits <= control[5:4];
    if (state == 3) most <= most_now;
  end
  wire [2:0] state = \dut.state_q ;
  wire serves = \dut.serving_q == which;
  wire waits = \dut.waiting_q [which];
  wire picks = \dut.pick_q == which;
  always @* begin
    assume (\dut.saved.spy_at == which);
    assume (\dut.window_base.spy_at == which);
    assume (\dut.window_end.spy_at == which);
    // The table answers the request of the cycle before. A reset lasts more than one cycle, and empties the queues,
    // from which only a start takes.
    assume (!answer | ask_before);
    assume (!reset_before | reset_earlier | reset);
    assume (!reset_before | queued == 0);
    assume (reset_before | !(queued_before & ~queued & ~((4'd0 | take_before) << select_before)));
  end

  // The channel whose descriptor is at the pins, and the one that the block loaded.
  reg fetched_any = 0;
  reg [5:0] fetched = 0;
  reg loaded_any = 0;
  reg [5:0] loaded = 0;
  reg [37:0] loaded_peer = 0;
  reg [1:0] loaded_size = 0;
  reg [39:0] loaded_local = 0;
  reg [31:0] loaded_length = 0;
  reg [31:0] loaded_cookie = 0;
  reg [3:0] loaded_flags = 0;
  reg [5:0] loaded_number = 0;
  reg loaded_reserved = 0, loaded_unaligned = 0;
  always @(posedge clock) begin
    // It belongs to one channel until the next is fetched.
    fetched_any <= fetch;
    fetched <= seen_select;
    if (state == 2) begin
      loaded_any <= fetched_any;
      loaded <= fetched;
      loaded_peer <= {peer_high[4:0], peer_low};
      loaded_size <= peer_high[31:30];
      loaded_local <= {local_high[7:0], local_low};
      loaded_length <= length;
      loaded_cookie <= cookie;
      loaded_flags <= control[3:0];
      loaded_number <= number[5:0];
      loaded_reserved <= (|peer_high[29:5]) | (&peer_high[31:30]) | (|local_high[31:8])
                       | (|control[31:6]);
      loaded_unaligned <= dwords & (peer_low % 4 != 0 | (peer_low + length) % 4 != 0);
    end
  end

  // The watched channel: its descriptor in progress, and its window.
  reg open = 0;
  reg [37:0] peer = 0;
  reg [1:0] page_size = 0;
  reg [39:0] local_next = 0;
  reg [31:0] left = 0;
  reg [31:0] its_cookie = 0;
  reg [3:0] its_flags = 0;
  reg [5:0] its_number = 0;
  reg reserved = 0, unaligned = 0;
  reg [27:0] base = 0;
  reg [28:0] limit = 0;
  reg base_known = 0, limit_known = 0;
  // Its window at the last time when none had been written for two cycles, and the same in the cycles before.
  reg [27:0] stood_base = 0, stood_base_1 = 0, stood_base_2 = 0;
  reg [28:0] stood_limit = 0, stood_limit_1 = 0, stood_limit_2 = 0;
  reg stood_base_known = 0, stood_limit_known = 0, stood_known_1 = 0, stood_known_2 = 0;
  wire window_write = window_base_we | seen_window_end_we | sweep;
  reg window_write_1 = 0;
  // The port in the last cycle.
  reg down_1 = 0;
  // Whether an abort was there when the request was cut, and the table's answer for it.
  reg cut_aborted = 0;
  reg fresh = 0;
  reg [120:0] granted = 0;
  reg [15:0] granted_index = 0;

  wire taken = request & accept;
  wire mine = channel == which;
  wire [25:0] page = page_size == 2'd1 ? {4'd0, peer[37:16]}
                   : page_size == 2'd2 ? {9'd0, peer[37:21]} : peer[37:12];
  wire [25:0] loaded_page = loaded_size == 2'd1 ? {4'd0, loaded_peer[37:16]}
                          : loaded_size == 2'd2 ? {9'd0, loaded_peer[37:21]} : loaded_peer[37:12];
  wire [63:0] translated = page_size == 2'd1 ? {granted[56:9], peer[15:0]}
                         : page_size == 2'd2 ? {granted[56:14], peer[20:0]}
                         : {granted[56:5], peer[11:0]};
  wire aborting = abort_all | abort_channels[which];

  always @(posedge clock) begin
    if (take & select == which) begin
      open <= 1;
      peer <= loaded_peer;
      page_size <= loaded_size;
      local_next <= loaded_local;
      left <= loaded_length;
      its_cookie <= loaded_cookie;
      its_flags <= loaded_flags;
      its_number <= loaded_number;
      reserved <= loaded_reserved;
      unaligned <= loaded_unaligned;
    end else if (taken & mine) begin
      open <= !last;
      peer <= peer + bytes;
      local_next <= local_next + bytes;
      left <= left - bytes;
    end
    if (state == 3) begin
      cut_aborted <= aborting | halted;
      fresh <= 0;
    end else if (ask & answer) begin
      fresh <= 1;
      granted <= entry;
      granted_index <= index;
    end
    window_write_1 <= window_write;
    if (!window_write & !window_write_1) begin
      stood_base <= base;
      stood_limit <= limit;
      stood_base_known <= base_known;
      stood_limit_known <= limit_known;
    end
    stood_base_1 <= stood_base;
    stood_base_2 <= stood_base_1;
    stood_limit_1 <= stood_limit;
    stood_limit_2 <= stood_limit_1;
    stood_known_1 <= stood_base_known & stood_limit_known;
    stood_known_2 <= stood_known_1;
    down_1 <= port_down;
    if (window_base_we & window_channel == which) begin base <= window_data; base_known <= 1; end
    if (window_end_we & window_channel == which) begin limit <= window_data; limit_known <= 1; end
    if (sweep) begin
      if (window_base_we & window_channel == which) begin base <= base; base_known <= base_known; end
      if (window_end_we & window_channel == which) begin limit <= limit; limit_known <= limit_known; end
      if (sweep_channel == which) begin
        base <= 0;
        limit <= 0;
        base_known <= 1;
        limit_known <= 1;
      end
    end
    if (reset) begin
      open <= 0;
      fresh <= 0;
    end
  end

  // The block's state says the same: this makes the rest inductive.
  wire starting = state == 2 | ((state == 3 | state == 4) & \dut.begins_q );
  wire under_way = serves & (state >= 5 | ((state == 3 | state == 4) & !\dut.begins_q ));
  wire settled = !reset_before | reset_earlier;
  always @* if (MUTANT == 0) begin
    assert (\dut.serving_q < 4 & \dut.pick_q < 4);
    assert (\dut.issuing_q == (state == 7));
    if (state == 7 & !\dut.pick_any_q ) assert (!\dut.pick_saved_q );
    assert (open == (waits | under_way) & !(waits & under_way));
    if (reset_before) assert (state == 0 & !waits);
    assert (!\dut.begins_q | state == 3 | state == 4);
    if (state == 7 & picks & \dut.pick_any_q ) begin
      assert (\dut.pick_saved_q == waits & (waits | queued[which]));
      if (serves) assert (\dut.final_chunk_q );
    end
    if (state == 1 & picks) assert (\dut.pick_saved_q == waits & (waits | queued[which]));
    // The block's two checks for ready channels: a channel that they find can be served, and is not served already.
    if (\dut.ready_q [which] & (!serves | state <= 1)) assert (waits | queued[which]);
    if (\dut.pool_q [which] & (!serves | state <= 1)) assert (waits | queued[which]);
    if (serves & (state >= 4 | state == 3 & \dut.begins_q )) assert (!\dut.ready_q [which]);
    if (serves & (state >= 5 | state == 4 & \dut.begins_q )) assert (!\dut.pool_q [which]);
    if (serves & state >= 6 & \dut.own_ready_q ) assert (\dut.final_chunk_q & queued[which]);
    if (waits & !serves & state != 2 & !(state == 3 & !\dut.begins_q )) assert (\dut.ready_q [which]);
    if (waits & (state == 0 | state >= 5 | state == 4 & \dut.begins_q )) assert (\dut.pool_q != 0);
    if (starting) begin
      assert (\dut.pick_q == \dut.serving_q );
      if (serves) assert (!waits & queued[which]);
    end
    if (state == 2) assert (fetched_any & fetched == \dut.pick_q );
    if (starting & state != 2) begin
      assert (loaded_any & loaded == \dut.pick_q );
      if (state == 3) begin
        assert ((\dut.bad_peer_q | \dut.bad_local_q | \dut.bad_control_q ) == loaded_reserved);
        assert (\dut.bad_ends_q == loaded_unaligned);
      end else assert (\dut.malformed_q == loaded_reserved & \dut.unaligned_q == loaded_unaligned);
      assert (loaded_unaligned == (dwords & (loaded_peer % 4 != 0 | loaded_length % 4 != 0)));
      assert (\dut.peer_q == loaded_peer & \dut.page_size_q == loaded_size);
      assert (\dut.local_at_q == loaded_local);
      assert (\dut.remaining_q == loaded_length);
      assert (\dut.cookie_at_q == loaded_cookie & \dut.flags_q == loaded_flags);
      assert (\dut.number_at_q == loaded_number);
    end
    assert (loaded_reserved | loaded_size != 3);
    if (open) assert (reserved | page_size != 3);
    // A channel that is checked had something queued.
    if (open | \dut.ready_q [which] | \dut.pool_q [which] | (state == 1 | state == 7) & picks
        | serves & state >= 2) assert (been);
    // The counts of ends are read when they have settled.
    if (starting & state != 2) begin
      assert (\dut.waits_q == loaded_waits);
      if (serves & state == 3) assert (\dut.woken_before_q == woken_before);
      if (serves & state == 4 & \dut.may_begin_q )
        assert (settled_look | loaded_waits == 0 | aborts_anyway);
    end
    // A word that settles is not read, and no request is judged until all words have been read.
    assert (window_write_1 == (\dut.window_unsure_q == 3));
    assert (window_write_1 | !(\dut.window_base.settling | \dut.window_end.settling ));
    if (serves & state >= 4 & (state == 7 | \dut.window_unsure_q <= 1)) begin
      if (stood_base_known) assert (\dut.low_q == stood_base);
      if (stood_limit_known) assert (\dut.high_q == stood_limit);
    end
    assert (!take_before | state == 5 | state == 0 & reset_before);
    assert (!take_earlier | state == 5 | state == 6 | state == 0 & reset_before
            | state <= 1 & reset_earlier);
    if (state == 3 & \dut.begins_q | state == 4 & \dut.begins_q ) begin
      assert (select_before == \dut.pick_q & (!serves | queued_before[which]));
      if (state == 4) assert (select_earlier == \dut.pick_q & (!serves | queued_earlier[which]));
    end
    assert (!\dut.saved.settling | state == 0 | state == 2 | state == 3);
    if (base_known) assert (\dut.window_base.spy == base);
    if (limit_known) assert (\dut.window_end.spy == limit);
    if (waits) begin
      assert (!reserved & !unaligned & left != 0);
      assert (!\dut.saved.spy [154] & \dut.saved.spy [153:0] == {its_number, its_flags, page_size, its_cookie, left, local_next, peer});
    end
    if (under_way) begin
      assert (\dut.peer_q == peer & \dut.page_size_q == page_size);
      assert (\dut.local_at_q == local_next);
      assert (\dut.remaining_q == left);
      assert (\dut.cookie_at_q == its_cookie & \dut.flags_q == its_flags);
      assert (\dut.number_at_q == its_number);
      if (state <= 4) assert (!reserved & !unaligned & left != 0);
      if (state >= 5 & reserved) assert (\dut.malformed_q );
      if (state >= 5 & unaligned) assert (\dut.unaligned_q );
    end
    if (open & dwords & !unaligned) assert (peer % 4 == 0 & left % 4 == 0);
    // The results, step by step: of the request in progress, or of the descriptor that starts.
    if (state == 4) begin
      assert (\dut.reach_q != 0 & \dut.reach_q <= most);
      assert ((\dut.peer_q & most_mask) + \dut.reach_q <= most);
      if (dwords & \dut.peer_q % 4 == 0) assert (\dut.reach_q % 4 == 0);
      if (split) begin
        assert (\dut.peer_q % BYTES == 0 | (\dut.peer_q % BYTES) + \dut.reach_q == BYTES);
        assert (\dut.reach_q % BYTES == 0 | \dut.reach_q < BYTES);
        assert (\dut.is_ragged_q == (\dut.remaining_q % BYTES != 0 & \dut.remaining_q > BYTES));
        if (\dut.peer_q % BYTES == 0) assert (\dut.reach_q % BYTES == 0);
      end else assert (!\dut.is_ragged_q );
    end
    if (state >= 4) begin
      assert (\dut.local_end_q == \dut.local_at_q + {9'd0, \dut.remaining_q });
      if (serves) assert (!cut_aborted | \dut.aborted_q );
    end
    if (serves & state >= 5) begin
      assert (\dut.out_of_memory_q == (left == 0 | local_next + {9'd0, left} > (1 << MEMORY_LOG2)));
      if (left != 0) begin
        assert (\dut.chunk_q != 0);
        assert (\dut.final_chunk_q ? \dut.chunk_q == left : \dut.chunk_q < left);
      end
      assert (\dut.chunk_q <= most & (peer & most_mask) + \dut.chunk_q <= most);
      if (dwords & !unaligned) assert (\dut.chunk_q % 4 == 0);
      if (split) begin
        assert (peer % BYTES == 0 | (peer % BYTES) + \dut.chunk_q <= BYTES);
        assert (\dut.chunk_q % BYTES == 0 | \dut.chunk_q < BYTES);
      end
      if (stood_known_1 & (state == 7 | \dut.window_unsure_q == 0) & !\dut.out_of_window_q )
        assert (local_next[39:12] >= stood_base_1
                & {1'b0, local_next} + left <= {stood_limit_1, 12'd0});
      if (stood_known_2 & state == 7 & !\dut.fails_q )
        assert (local_next[39:12] >= stood_base_2
                & {1'b0, local_next} + left <= {stood_limit_2, 12'd0});
    end
    if (serves & state >= 4) begin
      if (!\dut.begins_q )
        assert (index == page[15:0] & \dut.out_of_table_q == (page >= (1 << ATT_LOG2)));
      else assert (index == loaded_page[15:0]
                   & \dut.out_of_table_q == (loaded_page >= (1 << ATT_LOG2)));
    end
    if (state >= 6) begin
      assert (fresh);
      if (serves) begin
        assert (granted_index == page[15:0]);
        if (!\dut.invalid_q ) assert (granted[0]);
        if (!\dut.not_owner_q ) assert (granted[57 + which]);
        if (!\dut.not_permitted_q ) assert (READ ? granted[1] : granted[2]);
        if (!\dut.wrong_size_q ) assert (granted[4:3] == page_size);
        if (page_size != 3 & !(state == 7 & \dut.fails_q )) assert (\dut.target_q == translated);
        if (state == 7 & !\dut.fails_q )
          assert (!(\dut.malformed_q | \dut.unaligned_q | \dut.out_of_memory_q | \dut.aborted_q | \dut.out_of_table_q
                  | \dut.invalid_q | \dut.not_owner_q | \dut.not_permitted_q | \dut.wrong_size_q
                  | down_1));
      end
    end
    assert (\dut.fails_q == (\dut.judged_q != 0));
    if (serves & state == 7 & \dut.fails_q ) assert (\dut.target_q == {page_size, 24'd0, peer});
  end

  generate if (PART == 1) begin
    always @* if (!reset & request & mine & bytes != 0) begin
      // No request without permission: the entry was looked up for this very request, and it is valid, owned,
      // permitted, of the right page size and inside the table.
      assert (open & fresh & !reserved & !unaligned);
      assert (granted_index == page & page < (1 << ATT_LOG2));
      assert (granted[0]);
      assert (granted[57 + which]);
      assert (READ ? granted[1] : granted[2]);
      assert (granted[4:3] == page_size);
      assert (bus == translated);
      assert (!cut_aborted & !down_1);
      // No crossing of 256 or 512 bytes, so no crossing of 4 KiB or of a page.
      assert (bytes <= most & (bus & most_mask) + bytes <= most);
      // A write has whole dwords; or it starts on a beat or stays within one, and has whole beats or stays within one.
      if (dwords) assert (bus % 4 == 0 & bytes % 4 == 0);
      if (split) begin
        assert (bus % BYTES == 0 | (bus % BYTES) + bytes <= BYTES);
        assert (bytes % BYTES == 0 | bytes < BYTES);
      end
      // FPGA memory: in order, inside the memory and the channel's window.
      assert (local_at == local_next & {1'b0, local_next} + bytes <= (1 << MEMORY_LOG2));
      if (stood_known_2) begin
        assert (local_at[39:12] >= stood_base_2);
        assert ({1'b0, local_at} + bytes <= {stood_limit_2, 12'd0});
      end
    end
  end endgenerate

  generate if (PART == 2) begin
    // Cycles in which a descriptor is in progress and nothing is asked for, before the next request is cut.
    reg [2:0] quiet = 0;
    always @(posedge clock) begin
      quiet <= (open & state < 3) ? quiet + 1 : 0;
      if (reset) quiet <= 0;
    end
    always @* if (!reset) begin
      // A started descriptor has settled in the queue's memories before another one starts or is read again.
      if (take_pin) assert (!take_before & !take_earlier);
      if (fetch) assert (!take_pin & !take_before & (select != which | been));
      if (take_pin & serves) assert (settled_look | loaded_waits == 0 | aborts_anyway);
      // A descriptor is asked for three cycles after its start at the earliest.
      if (request) assert (!take_before & !take_earlier);
      // Each start is of a queued descriptor, its own, of a channel that has nothing in progress.
      if (take & select == which) begin
        assert (!open & channel == which & loaded_any & loaded == which);
        assert (queued[which] & queued_before[which] & select_before == which);
        assert (queued_earlier[which] & select_earlier == which);
      end
      // Every descriptor that is taken gives exactly one last request, after all of its bytes.
      if (request & mine) assert (open);
      if (request & mine) begin
        assert (tag == its_cookie & {urgent, want_irq, want_record} == {its_flags[3], its_flags[1:0]});
        assert (descriptor == its_number);
        assert (has_data == (bytes != 0));
        if (has_data) assert (span == bytes);
        if (last & code == 0) assert (bytes == left);
        if (!last) assert (code == 0 & bytes < left);
        // Each request that is not a fault moves bytes; a fault takes none and is the last.
        if (code == 0) assert (bytes != 0);
        else begin
          assert (bytes == 0 & last);
          // It reports the address that software wrote, never one of the bus.
          assert (bus == {page_size, 24'd0, peer});
        end
      end
      // Nothing is waited for except the table and the acceptance.
      assert (state < 3 ? quiet <= state : quiet <= 3);
    end
  end endgenerate

  generate if (PART == 3) begin
    // Turns of other channels while the watched channel could be served.
    wire mine_only = serves & state != 0 & !\dut.final_chunk_q ;
    wire ready = (waits | (queued[which] & (aborting | (enable & run[which] & !\dut.blocked_q [which]))))
               & !mine_only;
    wire turn = state == 1 | (request & seen_accept & \dut.pick_any_q );
    reg [3:0] others = 0;
    always @(posedge clock) begin
      if (!ready | turn & picks) others <= 0;
      else if (turn) others <= others + 1;
      if (reset) others <= 0;
    end
    // Distance of the round from a channel: 1 for the next, 4 for the last that was served in it.
    wire [1:0] round = \dut.above_q [3:0] == 4'he ? 0 : \dut.above_q [3:0] == 4'hc ? 1
                     : \dut.above_q [3:0] == 4'h8 ? 2 : 3;
    wire [1:0] behind = which - round - 1, pick_behind = \dut.pick_q [1:0] - round - 1;
    wire [1:0] first = \dut.pool_q [0] ? 0 : \dut.pool_q [1] ? 1 : \dut.pool_q [2] ? 2 : 3;
    wire [1:0] first_behind = first - round - 1;
    always @* if (MUTANT == 0) begin
      assert (\dut.above_q [3:0] == (4'he << round));
      if (others != 0) begin
        assert (!serves);
        assert (others + 2 * behind + !\dut.jumped_q <= 7);
        if (state != 2 & !(state == 3 & !\dut.begins_q )) assert (\dut.ready_q [which]);
        if (state == 0 | state >= 5 | state == 4 & \dut.begins_q ) begin
          assert (\dut.pool_q != 0);
          assert (\dut.pool_jumps_q ? !\dut.jumped_q : first_behind <= behind);
        end
        if (state == 1 | state == 7)
          assert (\dut.pick_jumps_q ? !\dut.jumped_q : pick_behind <= behind);
        if (state == 7) assert (\dut.pick_any_q );
      end
    end
    always @* if (!reset) assert (others < 8);
  end endgenerate
endmodule
