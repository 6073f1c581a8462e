// The read direction after its request maker, four channels, eight tags.
//
// Part 1: a request that the solver chooses, around a receiver that answers at any time. The request is retired once,
// in order, and not before its read is over; a last one makes one end, any other none; the end has its own cookie and
// channel, and the first failure of its descriptor; a tag is not given to a second read while the first has not ended,
// nor while the port has written it off. Unbounded.
// Part 2: the receiver and reads that bring nothing: refused, late, given up. The receiver reports the result of each
// of them once, and of no other; nothing is written. Limited to the number of cycles from reset that the test sets.
module proof #(
  parameter PART = 1,
  parameter MUTANT = 0
) (
  input wire clock,
  input wire reset_now,
  input wire request,
  input wire [63:0] bus,
  input wire [39:0] att_address,
  input wire [39:0] local_at,
  input wire [9:0] bytes,
  input wire last,
  input wire [4:0] code,
  input wire want_record,
  input wire want_irq,
  input wire urgent,
  input wire [31:0] tag,
  input wire [5:0] channel,
  input wire [5:0] descriptor,
  input wire sweep_now,
  input wire [1:0] sweep_channel,
  input wire read_take_now,
  input wire [7:0] lost,
  input wire end_take_now,
  input wire chunk_now,
  input wire [2:0] chunk_tag,
  input wire [4:0] chunk_code,
  input wire mem_wait,
  input wire choose
);
  wire accept, read, end_pin, end_irq, end_urgent, ended_pin, requested, retired_pin, halted;
  wire stalled_buffer, stalled_memory, mem_write;
  wire [63:0] read_address, end_fault;
  wire [5:0] read_beats, read_tag_pin, end_channel, moved_channel;
  wire [9:0] read_bytes, moved;
  wire [4:0] end_code;
  wire [31:0] end_bytes, end_tag;
  wire [39:0] mem_address;
  wire [4:0] mem_count;
  wire [511:0] mem_data;
  wire [63:0] mem_enable;
  wire chunk;
  wire reset = PART == 1 & reset_now;
  wire has_data = code == 0;
  wire accepted = request & accept;
  wire read_take = read & read_take_now;
  wire end_take = end_pin & end_take_now;

  // Faults: a last request that the block does not see as such, another's cookie, a tag written off that
  // looks free, a request that was not accepted, an end not seen, a retirement not seen, a read with
  // another tag; the end of a read that is another's, or with another code.
  wire seen_last = MUTANT == 1 ? last & !want_irq : last;
  wire [31:0] seen_tag = MUTANT == 2 ? tag & {31'h7fffffff, channel[0]} : tag;
  wire [7:0] seen_lost = MUTANT == 3 ? 8'd0 : lost;
  wire seen_request = MUTANT == 4 ? request & !choose : request;
  wire ended = MUTANT == 5 ? ended_pin & !end_urgent : ended_pin;
  wire retired = MUTANT == 6 ? retired_pin & (choose | moved == 0) : retired_pin;
  wire [5:0] read_tag = MUTANT == 7 ? read_tag_pin ^ (read_bytes == 1) : read_tag_pin;
  wire [5:0] seen_chunk_tag = MUTANT == 8 ? {5'd0, chunk_tag[0] ^ (chunk_code != 0)} : {3'd0, chunk_tag};
  wire [4:0] seen_code = MUTANT == 9 & chunk_code == 9 ? 5'd8 : chunk_code;

  peerlane_read_path dut (
    .clock(clock), .reset(reset), .request_valid(seen_request), .request_accept(accept), .request_bus(bus),
    .att_address(att_address), .request_local(local_at), .request_bytes(bytes), .request_has_data(has_data), .request_span(bytes),
    .request_last(seen_last), .request_code(code), .request_want_record(want_record), .request_want_irq(want_irq),
    .request_urgent(urgent), .request_tag(seen_tag), .request_channel(channel), .descriptor(descriptor), .halted(halted),
    .sweep(sweep_now), .sweep_channel({4'd0, sweep_channel}), .read_valid(read),
    .read_address(read_address), .read_beats(read_beats), .read_bytes(read_bytes),
    .read_tag(read_tag_pin), .read_take(read_take), .lost({56'd0, seen_lost}), .answer_chunk(chunk),
    .answer_tag(seen_chunk_tag), .answer_bytes(10'd0), .answer_code(seen_code),
    .answer_beat(1'd0), .answer_data(128'd0), .answer_error(1'd0),
    .end_valid(end_pin), .end_code(end_code), .end_bytes(end_bytes), .end_tag(end_tag),
    .end_fault(end_fault), .end_irq(end_irq), .end_urgent(end_urgent), .end_channel(end_channel),
    .end_take(end_take), .ended(ended_pin), .moved(moved), .moved_channel(moved_channel),
    .requested(requested), .retired(retired_pin), .stalled_buffer(stalled_buffer),
    .stalled_memory(stalled_memory), .mem_clock(clock), .mem_reset(reset),
    .mem_forgets(reset),
    .mem_wr_address(mem_address), .mem_wr_write(mem_write), .mem_wr_burstcount(mem_count),
    .mem_wr_writedata(mem_data), .mem_wr_byteenable(mem_enable), .mem_wr_waitrequest(mem_wait)
  );
  (* hierconn, init = 0 *) wire [5:0] \dut.next_tag_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.used_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.done_q ;
  (* hierconn, init = 0 *) wire \dut.tag_free_q ;
  (* hierconn, init = 0 *) wire \dut.notes_room_q ;
  (* hierconn, init = 0 *) wire \dut.read_room_q ;
  (* hierconn, init = 0 *) wire \dut.note_on_q ;
  (* hierconn, init = 0 *) wire [109:0] \dut.note_q ;
  (* hierconn, init = 0 *) wire \dut.note_done_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.result_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.so_far_q ;
  (* hierconn, init = 0 *) wire [44:0] \dut.so_far_failed_q ;
  (* hierconn, init = 0 *) wire \dut.over_q ;
  (* hierconn, init = 0 *) wire \dut.over_reports_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.over_code_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.over_bytes_q ;
  (* hierconn, init = 0 *) wire [31:0] \dut.over_tag_q ;
  (* hierconn, init = 0 *) wire [39:0] \dut.over_at_q ;
  (* hierconn, init = 0 *) wire \dut.over_irq_q ;
  (* hierconn, init = 0 *) wire \dut.over_urgent_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.over_channel_q ;
  (* hierconn, init = 0 *) wire [63:0] \dut.halting_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.notes.head_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.notes.tail_q ;
  (* hierconn, init = 0 *) wire [6:0] \dut.notes.count_q ;
  (* hierconn, init = 0 *) wire \dut.notes.any_q ;
  (* hierconn, init = 0 *) wire \dut.notes.shown_q ;
  (* hierconn, init = 0 *) wire \dut.notes.ram.settling ;
  (* hierconn *) wire [2:0] \dut.notes.ram.recent ;
  (* hierconn, init = 0 *) wire \dut.notes.at_most_q ;
  (* hierconn *) wire [2:0] \dut.notes.ram.spy_at ;
  (* hierconn *) wire [109:0] \dut.notes.ram.spy ;
  (* hierconn *) wire [879:0] \dut.notes.ram.every ;
  (* hierconn *) wire [39:0] \dut.results.every ;
  (* hierconn *) wire [1:0] \dut.failures.spy_at ;
  (* hierconn *) wire [44:0] \dut.failures.spy ;
  (* hierconn *) wire [1:0] \dut.done_bytes.spy_at ;
  (* hierconn *) wire [31:0] \dut.done_bytes.spy ;
  (* hierconn, init = 0 *) wire \dut.reading_q ;
  (* hierconn, init = 0 *) wire [85:0] \dut.read_next_q ;
  (* hierconn, init = 0 *) wire \dut.note_over_q ;
  (* hierconn, init = 0 *) wire \dut.halt_settles_q ;
  (* hierconn, init = 0 *) wire \dut.halted_number.settling ;
  (* hierconn, init = 0 *) wire \dut.results.settling ;
  (* hierconn *) wire [2:0] \dut.results.recent ;
  (* hierconn, init = 0 *) wire \dut.done_bytes.settling ;
  (* hierconn, init = 0 *) wire \dut.failures.settling ;
  (* hierconn *) wire [4:0] \dut.note_code ;
  (* hierconn *) wire \dut.note_last ;
  (* hierconn *) wire \dut.receive_done ;
  (* hierconn *) wire [5:0] \dut.receive_done_tag ;
  (* hierconn *) wire [4:0] \dut.receive_done_code ;

  // The request maker: a fault has no bytes and is the last of its descriptor. Channels are swept before
  // the first.
  reg started = 0;
  reg [6:0] in_flight = 0;
  // The read that the port has not taken, and the tag that it has.
  reg offered = 0;
  reg [63:0] its_address = 0;
  reg [9:0] its_length = 0;
  reg [2:0] its_read_tag = 0;
  wire [10:0] its_span = its_address[3:0] + its_length + 11'd15;
  wire [5:0] its_beats = its_span >> 4;
  wire [2:0] next_tag = \dut.next_tag_q [2:0];
  // Reads by tag: accepted and not over, as the receiver reports; with the port and not ended there.
  reg [7:0] pending = 0;
  reg [7:0] lost_before = 0;
  wire over = \dut.receive_done ;
  wire [2:0] over_tag = \dut.receive_done_tag [2:0];
  wire placed = accepted & has_data;
  always @* begin
    assume (channel < 4);
    assume (code == 0 ? bytes != 0 & bytes <= 512 : bytes == 0 & last);
    assume (!sweep_now | (!request & !started));
    // The port only writes off tags of reads in progress.
    assume ((lost & ~lost_before & ~(pending & ~({7'd0, offered} << its_read_tag))) == 0);
  end
  always @(posedge clock) begin
    started <= started | accepted;
    in_flight <= in_flight + accepted - retired;
    pending <= (pending & ~({7'd0, over} << over_tag)) | ({7'd0, placed} << next_tag);
    lost_before <= lost;
    offered <= placed | (offered & !read_take);
    if (placed) begin
      its_address <= bus;
      its_length <= bytes;
      its_read_tag <= next_tag;
    end
    if (reset) begin
      started <= 0;
      in_flight <= 0;
      pending <= 0;
      offered <= 0;
    end
  end

  generate if (PART == 1) begin
    assign chunk = 0;
    // The receiver: one answer for each read, at any time.
    always @* assume (!over | (\dut.receive_done_tag < 8 & pending[over_tag]
                            & !(offered & its_read_tag == over_tag)));
    reg [4:0] code_of [0:7];
    always @(posedge clock) if (over) code_of[over_tag] <= \dut.receive_done_code ;

    // The watched request: in progress, with this number of requests before it.
    reg going = 0;
    reg [6:0] before = 0;
    reg [5:0] slot = 0;
    reg [2:0] its_place = 0;
    reg its_real = 0, its_last = 0, its_record = 0, its_irq = 0, its_urgent = 0;
    reg [4:0] its_code = 0;
    reg [9:0] its_bytes = 0;
    reg [5:0] its_channel = 0;
    reg [31:0] its_cookie = 0;
    reg [39:0] its_att = 0;
    // The cycle after its retirement: an end, or none. Then the time until that end leaves.
    reg ending = 0, plain = 0;
    // Of its channel: bytes, and the first failure, since the last end.
    (* anyconst *) wire [1:0] which;
    reg known = 0;
    reg [31:0] total = 0;
    reg [4:0] failure = 0;
    reg [39:0] failed_at = 0;
    reg may_end = 0;
    reg [2:0] quiet = 0;
    wire chosen = accepted & choose & !going & !ending;
    wire its_retired = going & retired & before == 0;
    wire mine = retired & moved_channel[1:0] == which;
    wire [4:0] code_now = failure != 0 ? failure : \dut.note_code ;
    wire [31:0] total_now = code_now != 0 ? total : total + moved;
    reg [4:0] end_failure = 0;
    reg [31:0] end_total = 0;
    reg [39:0] end_at = 0;
    always @(posedge clock) begin
      if (chosen) begin
        going <= 1;
        before <= in_flight - retired;
        slot <= \dut.notes.tail_q ;
        its_place <= next_tag;
        its_real <= has_data;
        its_last <= last;
        its_record <= want_record;
        its_irq <= want_irq;
        its_urgent <= urgent;
        its_code <= code;
        its_bytes <= bytes;
        its_channel <= channel;
        its_cookie <= tag;
        its_att <= att_address;
      end else if (its_retired) going <= 0;
      else if (going & retired) before <= before - 1;
      plain <= its_retired & !its_last;
      ending <= (ending & !ended) | (its_retired & its_last);
      if (its_retired) begin
        end_failure <= code_now;
        end_total <= total_now;
        end_at <= failure != 0 ? failed_at : its_att;
      end
      may_end <= retired | (may_end & !ended);
      if (mine) begin
        total <= \dut.note_last ? 0 : total_now;
        failure <= \dut.note_last ? 0 : code_now;
        if (failure == 0) failed_at <= \dut.note_last ? 0 : \dut.note_q [39:0];
        else if (\dut.note_last ) failed_at <= 0;
      end
      if (sweep_now & sweep_channel == which) begin
        known <= 1;
        total <= 0;
        failure <= 0;
        failed_at <= 0;
      end
      quiet <= (in_flight != 0 & pending == 0 & !retired & !end_pin & !ended) ? quiet + 1 : 0;
      if (reset) begin
        going <= 0;
        plain <= 0;
        ending <= 0;
        known <= 0;
        may_end <= 0;
        quiet <= 0;
      end
    end
    always @* begin
      assume (\dut.failures.spy_at == which & \dut.done_bytes.spy_at == which);
      assume (\dut.notes.ram.spy_at == slot[2:0]);
      assume (!(accepted & channel == which) | known);
      assume (!chosen | channel == which);
    end

    // The block's state says the same: this makes the rest inductive.
    wire [7:0] used = \dut.used_q [7:0];
    wire [7:0] done = \dut.done_q [7:0];
    wire [5:0] first = \dut.notes.head_q ;
    wire [6:0] count = \dut.notes.count_q ;
    wire [109:0] note = \dut.note_q ;
    wire [109:0] word = before == 0 & \dut.note_on_q ? note : \dut.notes.ram.spy ;
    wire [5:0] place = first + before - \dut.note_on_q ;
    // The tags of the reads that have notes; the last is in the register.
    wire [8:0] live;
    wire [26:0] tags;
    genvar k, l;
    for (k = 0; k < 8; k = k + 1) begin
      wire [2:0] at = k - first[2:0];
      wire [109:0] cell_k = \dut.notes.ram.every [110 * k +: 110];
      assign live[k] = at < count & cell_k[49:40] != 0;
      assign tags[3 * k +: 3] = cell_k[98:96];
      always @* if (MUTANT == 0 & at < count)
        assert (cell_k[101:99] == 0 & cell_k[95:90] < 4 & cell_k[109] == (cell_k[49:40] != 0));
    end
    assign live[8] = \dut.note_on_q & note[49:40] != 0;
    assign tags[24 +: 3] = note[98:96];
    for (k = 0; k < 9; k = k + 1) for (l = 0; l < k; l = l + 1) always @* if (MUTANT == 0)
      assert (!(live[k] & live[l] & tags[3 * k +: 3] == tags[3 * l +: 3]));
    for (k = 0; k < 8; k = k + 1) begin
      wire [8:0] holds;
      for (l = 0; l < 9; l = l + 1) assign holds[l] = live[l] & tags[3 * l +: 3] == k;
      always @* if (MUTANT == 0) begin
        assert (used[k] == (holds != 0));
        if (done[k]) assert (\dut.results.every [5 * k +: 5] == code_of[k]);
      end
    end
    always @* if (MUTANT == 0) begin
      assert (count <= 8 & count[5:0] == \dut.notes.tail_q - first);
      assert (\dut.notes.any_q == (count != 0) & \dut.notes.at_most_q == (count == 8));
      // A word is visible when it has settled; the properties of a note are looked up when it has settled.
      assert (\dut.notes.shown_q == (count > \dut.notes.ram.settling ));
      if (\dut.notes.shown_q & \dut.notes.ram.settling )
        assert (\dut.notes.ram.recent == \dut.notes.tail_q [2:0] - 3'd1);
      assert (\dut.halt_settles_q == \dut.halted_number.settling );
      if (\dut.note_over_q ) begin
        assert (\dut.note_on_q & !\dut.done_bytes.settling & !\dut.failures.settling );
        if (live[8]) assert (done[note[98:96]]
                             & !(\dut.results.settling & \dut.results.recent == note[98:96]));
      end
      if (\dut.notes_room_q | \dut.read_room_q ) assert (!\dut.notes.at_most_q );
      assert (in_flight == count + \dut.note_on_q );
      // A read is in progress, or over, as long as it has a note.
      assert (used == (pending | done) & (pending & done) == 0);
      assert (\dut.used_q [63:8] == 0 & \dut.done_q [63:8] == 0 & \dut.next_tag_q < 8);
      if (\dut.tag_free_q ) assert (!used[next_tag] & !lost_before[next_tag]);
      if (\dut.read_room_q ) assert (\dut.tag_free_q & !offered);
      if (\dut.note_on_q )
        assert (note[101:99] == 0 & note[95:90] < 4 & note[109] == (note[49:40] != 0));
      // The one read that waits for the port.
      assert (\dut.reading_q == offered);
      if (offered) begin
        assert (pending[its_read_tag]);
        assert (\dut.read_next_q == {3'd0, its_read_tag, its_length, its_beats, its_address});
      end
      if (\dut.note_done_q ) begin
        assert (\dut.note_on_q );
        if (live[8]) assert (done[note[98:96]] & \dut.result_q == code_of[note[98:96]]);
        if (note[91:90] == which & known)
          assert (\dut.so_far_q == total & \dut.so_far_failed_q == {failed_at, failure});
      end
      if (known) assert (\dut.done_bytes.spy == total & \dut.failures.spy == {failed_at, failure});
      assert (started | in_flight == 0);
      if (known) assert (\dut.halting_q [which] == (failure != 0));
      if (!started) assert (\dut.halting_q == 0);
      assert (!(going & ending) & !(plain & \dut.over_q ));
      assert (\dut.over_q == ending | !ending);
      if (\dut.over_q ) assert (may_end);
      if (going) begin
        assert (before < in_flight & its_channel == which & known);
        if (before != 0 | !\dut.note_on_q ) assert (slot == place);
        assert (word[39:0] == its_att & word[49:40] == its_bytes & word[54:50] == its_code);
        assert (word[57:55] == {its_irq, its_record, its_last} & word[89:58] == its_cookie);
        assert (word[95:90] == its_channel & word[108] == its_urgent);
        assert (its_real == (its_bytes != 0) & its_real == (its_code == 0));
        if (its_real) assert (word[101:96] == its_place);
      end
      if (ending) begin
        assert (\dut.over_code_q == end_failure & \dut.over_bytes_q == end_total);
        assert (\dut.over_tag_q == its_cookie & \dut.over_channel_q == its_channel);
        assert (\dut.over_urgent_q == its_urgent & \dut.over_irq_q == (its_irq | end_failure != 0));
        assert (\dut.over_reports_q == (its_record | its_irq | end_failure != 0));
        assert (\dut.over_at_q == end_at);
      end
      assert (quiet <= 4);
      if (quiet >= 1) assert (\dut.notes.shown_q | \dut.note_on_q );
      if (quiet >= 2) assert (\dut.note_on_q );
      if (quiet >= 3) assert (\dut.note_over_q );
      if (quiet >= 4) assert (\dut.note_done_q );
    end

    // Values of the pins.
    reg end_waits = 0, read_waits = 0;
    reg [46:0] end_before = 0;
    wire [46:0] end_now = {end_code, end_irq, end_urgent, end_channel, end_tag, end_bytes[1:0]};
    always @(posedge clock) begin
      end_waits <= end_pin & !end_take & !reset;
      end_before <= end_now;
    end
    always @* if (!reset) begin
      // Requests are retired in order, each once, and nothing else is; a read not before it is over.
      if (retired) assert (in_flight != 0);
      if (its_retired) begin
        assert (moved == its_bytes & moved_channel == its_channel);
        assert (!its_real | !pending[its_place]);
        assert (\dut.note_code == (its_real ? code_of[its_place] : its_code));
        assert (\dut.note_last == its_last);
        assert (requested == (its_real & code_now == 0));
      end
      // Its tag is its own until then, and no read gets a tag that the port has written off.
      if (placed) assert (!pending[next_tag] & !lost_before[next_tag]);
      if (placed & going & its_real) assert (next_tag != its_place);
      // The read that leaves is the one that was accepted.
      if (read) begin
        assert (offered & read_tag == its_read_tag & read_bytes == its_length);
        assert (read_address == its_address & read_beats == its_beats);
      end
      // A last request makes one end, any other none.
      if (plain) assert (!end_pin & !ended);
      if (ended) assert (may_end);
      if (end_take) assert (ended);
      if (ending & !end_waits) assert (ended | end_pin);
      if (ending) begin
        assert (end_pin == (its_record | its_irq | end_failure != 0) & ended == (end_take | !end_pin));
        assert (end_channel == its_channel & end_tag == its_cookie & end_urgent == its_urgent);
        assert (end_code == end_failure & end_bytes == end_total);
        assert (end_irq == (its_irq | end_failure != 0));
        assert (end_fault == (end_failure == 0 ? 64'd0 : {end_at[39:38], 24'd0, end_at[37:0]}));
      end
      if (end_waits) assert (end_pin & end_now == end_before);
      // The rest of a descriptor is given up only when it has failed.
      if (halted & channel == which & known) assert (failure != 0);
      // Nothing is waited for except the receiver and the completer.
      assert (quiet <= 4);
    end
  end endgenerate

  generate if (PART == 2) begin
    // Reads by tag: with the port, and ended by it, with their codes.
    reg [7:0] open = 0, finished = 0;
    reg [4:0] code_of [0:7];
    // Cycles that the receiver takes for the end of a read.
    reg [4:0] late = 0;
    wire [7:0] ends = {7'd0, chunk} << chunk_tag;
    assign chunk = chunk_now & open[chunk_tag];
    always @* begin
      // A read that brings nothing ends by one chunk with a code, and the memory does not wait.
      assume (lost == 0 & !sweep_now & chunk_code != 0 & !mem_wait);
    end
    always @(posedge clock) begin
      if (chunk) code_of[chunk_tag] <= chunk_code;
      open <= (open | ({7'd0, read_take} << its_read_tag)) & ~ends;
      finished <= (finished | ends) & ~({7'd0, over} << over_tag);
      late <= finished != 0 & !over ? late + 1 : 0;
    end
    always @* begin
      // The receiver reports the result of each read once, after the port has.
      if (over) begin
        assert (\dut.receive_done_tag < 8 & pending[over_tag] & finished[over_tag]);
        assert (\dut.receive_done_code == code_of[over_tag]);
      end
      assert (late <= 18);
      // Nothing of such a read goes to memory.
      assert (!mem_write);
    end
  end endgenerate

endmodule
