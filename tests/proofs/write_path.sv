// The write direction after its request maker, four channels. The port, the FPGA memory and the completer are the
// environment and behave in any way that their interfaces allow.
//
// Part 1: a request that the solver chooses. It is retired once and in order; a last one makes one end, any other none;
// the end leaves in order, once, with its own cookie, channel, code and bytes. Unbounded.
// Part 2: flush reads. An end that needs one leaves after the answer to its own, and reports the result; and nothing is
// waited for except the port and the completer. Limited to the number of cycles from reset that the test sets.
// Part 3: a burst has the address, the beats and the byte enables of its request, no more and no less, and FPGA memory
// is asked for the words that it needs. Limited to a number of cycles from reset.
module proof #(
  parameter PART = 1,
  parameter MUTANT = 0
) (
  input wire clock,
  input wire reset_now,
  input wire request,
  input wire [63:0] bus,
  input wire [39:0] local_at,
  input wire [9:0] bytes,
  input wire last,
  input wire [4:0] code,
  input wire want_record,
  input wire want_irq,
  input wire urgent,
  input wire may_flush,
  input wire [31:0] tag,
  input wire [5:0] channel,
  input wire sweep_now,
  input wire [1:0] sweep_channel,
  input wire beat_take_now,
  input wire single_done,
  input wire dead_now,
  input wire flush_take_now,
  input wire flushed_now,
  input wire flush_error,
  input wire end_take_now,
  input wire mem_wait,
  input wire mem_valid_now,
  input wire choose
);
  wire accept, write, beat, flush, end_pin, end_irq, end_urgent, ended_pin, requested, retired, starved;
  wire [63:0] write_address, flush_address, end_fault;
  wire [5:0] write_beats, end_channel, moved_channel;
  wire [127:0] beat_data;
  wire [15:0] beat_enable;
  wire [4:0] end_code;
  wire [31:0] end_bytes, end_tag;
  wire [9:0] moved;
  wire [8:0] ends_waiting;
  wire [39:0] mem_address;
  wire mem_read;
  wire [4:0] mem_count;
  wire reset = PART == 1 & reset_now;
  wire has_data = code == 0;
  // A port of whole dwords, or of bytes.
  (* anyconst *) wire whole;
  wire write_done, beat_take, mem_valid;
  wire [511:0] mem_data;
  // Flush reads that the port has taken and not answered.
  reg [7:0] flushes_owed = 0;
  wire flush_take = flush & flush_take_now;
  wire flushed = flushed_now & (flushes_owed != 0 | flush_take);
  wire end_take = end_pin & end_take_now;
  wire accepted = request & accept;

  // Faults: a last request that the block does not see as such, another's cookie, a bad flush that looks
  // good, an answer to a flush lost, a dead port not seen, a request that was not accepted, an end not
  // seen; a byte too many, a byte lane off, another word of memory, a beat taken that was not.
  wire seen_last = MUTANT == 1 ? last & !want_irq : last;
  wire [31:0] seen_tag = MUTANT == 2 ? tag & {31'h7fffffff, channel[0]} : tag;
  wire seen_error = MUTANT == 3 ? 1'b0 : flush_error;
  wire seen_flushed = MUTANT == 4 ? flushed & choose : flushed;
  wire seen_dead = MUTANT == 5 ? 1'b0 : dead_now;
  wire seen_request = MUTANT == 6 ? request & !choose : request;
  wire ended = MUTANT == 7 ? ended_pin & !end_urgent : ended_pin;
  wire [9:0] seen_bytes = MUTANT == 8 ? bytes + (bytes == 5) : bytes;
  wire [63:0] seen_bus = MUTANT == 9 ? bus & {63'h7fff_ffff_ffff_ffff, channel[0]} : bus;
  wire [39:0] seen_local = MUTANT == 10 ? local_at ^ 64 : local_at;
  wire seen_take = MUTANT == 11 ? beat_take & !choose : beat_take;

  peerlane_write_path dut (
    .clock(clock), .reset(reset), .request_valid(seen_request), .request_accept(accept), .request_bus(seen_bus),
    .request_local(seen_local), .request_bytes(seen_bytes), .request_has_data(has_data), .request_span(seen_bytes), .request_last(seen_last),
    .request_code(code), .request_want_record(want_record), .request_want_irq(want_irq), .request_urgent(urgent),
    .may_flush(may_flush), .request_tag(seen_tag), .request_channel(channel), .sweep(sweep_now),
    .sweep_channel({4'd0, sweep_channel}), .write_valid(write), .write_address(write_address),
    .write_beats(write_beats), .write_beat(beat), .write_data(beat_data), .write_enable(beat_enable),
    .write_take(seen_take), .write_done(write_done), .port_dead(seen_dead), .whole_dwords(whole), .flush_valid(flush),
    .flush_address(flush_address), .flush_take(flush_take), .flush_done(seen_flushed),
    .flush_error(seen_error), .end_valid(end_pin), .end_code(end_code), .end_bytes(end_bytes),
    .end_tag(end_tag), .end_fault(end_fault), .end_irq(end_irq), .end_urgent(end_urgent),
    .end_channel(end_channel), .end_take(end_take), .ended(ended_pin), .moved(moved),
    .moved_channel(moved_channel), .requested(requested), .retired(retired),
    .ends_waiting(ends_waiting), .starved(starved), .mem_clock(clock), .mem_reset(reset), .mem_forgets(reset),
    .mem_rd_address(mem_address), .mem_rd_read(mem_read), .mem_rd_burstcount(mem_count),
    .mem_rd_waitrequest(mem_wait), .mem_rd_readdata(mem_data), .mem_rd_readdatavalid(mem_valid),
    .request_stream(1'b0), .stream_beat(1'b0), .stream_data(128'd0), .stream_header(64'd0)
  );

  (* hierconn, init = 0 *) wire \dut.has_room_q ;
  (* hierconn, init = 0 *) wire \dut.ends_room_q ;
  (* hierconn, init = 0 *) wire \dut.next_on_q ;
  (* hierconn, init = 0 *) wire [129:0] \dut.next_head_q ;
  (* hierconn, init = 0 *) wire \dut.head_on_q ;
  (* hierconn, init = 0 *) wire [129:0] \dut.head_q ;
  (* hierconn, init = 0 *) wire \dut.gone_on_q ;
  (* hierconn, init = 0 *) wire [129:0] \dut.gone_q ;
  (* hierconn, init = 0 *) wire \dut.gone_lost_q ;
  (* hierconn, init = 0 *) wire \dut.gone_flush_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.heads.head_q ;
  (* hierconn, init = 0 *) wire [4:0] \dut.heads.tail_q ;
  (* hierconn, init = 0 *) wire [5:0] \dut.heads.count_q ;
  (* hierconn, init = 0 *) wire \dut.heads.any_q ;
  (* hierconn, init = 0 *) wire \dut.heads.shown_q ;
  (* hierconn, init = 0 *) wire \dut.heads.ram.settling ;
  (* hierconn *) wire [4:0] \dut.heads.ram.recent ;
  (* hierconn, init = 0 *) wire \dut.heads.at_most_q ;
  (* hierconn *) wire [4:0] \dut.heads.ram.spy_at ;
  (* hierconn *) wire [129:0] \dut.heads.ram.spy ;
  (* hierconn, init = 0 *) wire \dut.end_on_q ;
  (* hierconn, init = 0 *) wire [142:0] \dut.end_next_q ;
  (* hierconn, init = 0 *) wire [8:0] \dut.ends_count_q ;
  (* hierconn, init = 0 *) wire \dut.silent_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.ends.head_q ;
  (* hierconn, init = 0 *) wire [7:0] \dut.ends.tail_q ;
  (* hierconn, init = 0 *) wire [8:0] \dut.ends.count_q ;
  (* hierconn, init = 0 *) wire \dut.ends.some_q ;
  (* hierconn, init = 0 *) wire \dut.ends.at_most_q ;
  (* hierconn, init = 0 *) wire \dut.ends.held_q ;
  (* hierconn *) wire [142:0] \dut.ends_data ;
  (* hierconn *) wire [7:0] \dut.ends.ram.spy_at ;
  (* hierconn *) wire [142:0] \dut.ends.ram.spy ;
  (* hierconn *) wire [1:0] \dut.done.spy_at ;
  (* hierconn *) wire [32:0] \dut.done.spy ;

  // The request maker: a fault has no bytes and is the last of its descriptor. Channels are swept while nothing is in
  // progress.
  reg [6:0] in_flight = 0;
  always @* begin
    assume (channel < 4);
    // A request without data has any address, also that of a descriptor that was refused for its ends.
    assume (!whole | !has_data | (bus[1:0] | bytes[1:0]) == 0);
    assume (code == 0 ? bytes != 0 & bytes <= 512 : bytes == 0 & last);
    assume (!sweep_now | (!request & in_flight == 0));
  end

  always @(posedge clock) begin
    in_flight <= in_flight + accepted - retired;
    flushes_owed <= flushes_owed + flush_take - flushed;
    if (reset) begin
      in_flight <= 0;
      flushes_owed <= 0;
    end
  end


  // In parts 1 and 2 a burst ends at any time; its beats are part 3.
  generate if (PART != 3) begin
    assign beat_take = beat_take_now;
    assign write_done = write & single_done;
    assign mem_valid = mem_valid_now;
    assign mem_data = 0;
  end endgenerate

  generate if (PART == 1) begin
    // The watched request: in progress, with this number of requests before it, or its end, with this number of ends
    // before it.
    reg going = 0;
    reg ending = 0;
    reg [6:0] before = 0;
    reg [8:0] ends_before = 0;
    reg [63:0] its_bus = 0;
    reg [9:0] its_bytes = 0;
    reg [4:0] its_code = 0;
    reg its_last = 0, its_flush = 0, its_record = 0, its_irq = 0, its_urgent = 0;
    reg [5:0] its_channel = 0;
    reg [3:0] its_tag = 0;
    // The place where the block keeps it, and later its end; the bytes of its channel since the last end.
    reg [4:0] slot = 0;
    reg [7:0] end_slot = 0;
    // An end takes a cycle to its place.
    wire [7:0] next_slot = \dut.ends.tail_q + \dut.end_on_q ;
    (* anyconst *) wire [1:0] which;
    reg [31:0] total = 0;
    // A burst of the descriptor was lost at a dead port.
    reg broken = 0;
    reg total_known = 0;
    reg [31:0] its_total = 0;
    reg dead_before = 0;
    // The number of ends that should wait in the next cycle, where it is known.
    reg known = 1;
    reg [8:0] should_wait = 0;
    wire chosen = accepted & choose & !going & !ending;
    wire its_retired = going & retired & before == 0;
    wire its_ended = ending & ended & ends_before == 0;
    wire lost = dead_before & its_code == 0;
    wire [4:0] code_out = lost | broken ? 8 : its_code;
    wire reports = its_record | its_irq | its_code != 0;

    always @(posedge clock) begin
      if (chosen) begin
        going <= 1;
        before <= in_flight - retired;
        slot <= \dut.heads.tail_q ;
        its_bus <= bus;
        its_bytes <= bytes;
        its_code <= code;
        its_last <= last;
        its_flush <= may_flush;
        its_record <= want_record;
        its_irq <= want_irq;
        its_urgent <= urgent;
        its_channel <= channel;
        its_tag <= tag[3:0];
      end else if (its_retired) begin
        going <= 0;
        ending <= its_last;
        ends_before <= ends_waiting - ended;
        end_slot <= next_slot;
        its_code <= code_out;
        its_flush <= its_flush & its_code == 0 & (its_record | its_irq | lost);
        its_total <= total + (lost | broken ? 0 : its_bytes);
        if (its_code == 0) its_bus <= 0;
      end else begin
        if (going & retired) before <= before - 1;
        if (its_ended) ending <= 0;
        else if (ending & ended) ends_before <= ends_before - 1;
      end
      dead_before <= dead_now;
      known <= !retired | its_retired;
      should_wait <= ends_waiting - ended + (its_retired & its_last);
      if (retired & moved_channel[1:0] == which)
      begin
        total <= \dut.gone_q [85] ? 0 : total + (\dut.gone_lost_q | broken ? 0 : moved);
        broken <= !\dut.gone_q [85] & (\dut.gone_lost_q | broken);
      end
      if (sweep_now & sweep_channel == which) begin
        total <= 0;
        broken <= 0;
        total_known <= 1;
      end
      if (reset) begin
        going <= 0;
        ending <= 0;
        known <= 1;
        should_wait <= 0;
        total_known <= 0;
      end
    end

    always @* begin
      // The places that the proof watches are the request's.
      assume (!chosen | \dut.heads.ram.spy_at == \dut.heads.tail_q );
      assume (!its_retired | \dut.ends.ram.spy_at == next_slot);
      assume (\dut.done.spy_at == which);
      // The request belongs to that channel, which was swept before.
      assume (!(accepted & channel == which) | total_known);
      assume (!chosen | channel == which);
    end

    // A build without streams: `request_stream` is 0, so that bit is 0 in every word after it.
    always @* assume (!\dut.next_head_q [129] & !\dut.head_q [129] & !\dut.gone_q [129]);

    // The block's state says the same: this makes the rest inductive.
    wire [8:0] waiting = \dut.ends.count_q ;
    wire held = \dut.ends.held_q ;
    // Requests in the three registers after the memory of heads.
    wire [6:0] ahead = \dut.gone_on_q + \dut.head_on_q + \dut.next_on_q ;
    wire in_heads = before >= ahead;
    wire in_gone = \dut.gone_on_q & before == 0;
    wire in_head = \dut.head_on_q & before == \dut.gone_on_q ;
    wire [128:0] word = in_heads ? \dut.heads.ram.spy : in_gone ? \dut.gone_q
                      : in_head ? \dut.head_q : \dut.next_head_q ;
    wire [4:0] place = \dut.heads.head_q + before - ahead;
    wire [7:0] end_place = end_slot - \dut.ends.head_q ;
    wire end_out = end_place == 8'hff;
    wire end_comes = \dut.end_on_q & end_place == waiting;
    wire [142:0] end_word = end_out ? \dut.ends_data : end_comes ? \dut.end_next_q : \dut.ends.ram.spy ;
    always @* if (MUTANT == 0) begin
      assert (\dut.heads.count_q <= 32);
      assert (\dut.heads.count_q [4:0] == \dut.heads.tail_q - \dut.heads.head_q );
      assert (\dut.heads.any_q == (\dut.heads.count_q != 0));
      assert (\dut.heads.at_most_q == (\dut.heads.count_q == 32));
      // A word is visible when it has settled.
      assert (\dut.heads.shown_q == (\dut.heads.count_q > \dut.heads.ram.settling ));
      if (\dut.heads.shown_q & \dut.heads.ram.settling )
        assert (\dut.heads.ram.recent == \dut.heads.tail_q - 5'd1);
      if (\dut.has_room_q ) assert (!\dut.heads.at_most_q );
      assert (in_flight == \dut.heads.count_q + ahead);
      if (\dut.gone_on_q ) assert (\dut.gone_lost_q == (dead_before & \dut.gone_q [128]));
      if (\dut.gone_on_q )
        assert (\dut.gone_flush_q
                == (\dut.gone_q [128] & \dut.gone_q [120] & (|\dut.gone_q [87:86] | \dut.gone_lost_q )));
      assert (!(going & ending));
      if (going) begin
        assert (before < in_flight & its_channel == which & total_known);
        if (in_heads)
          assert (slot == place & \dut.heads.ram.spy_at == slot);
        assert (word[128] == (its_code == 0) & word[127:122] == its_channel);
        assert (word[121:120] == {its_urgent, its_flush} & word[91:88] == its_tag);
        assert (word[87:85] == {its_irq, its_record, its_last} & word[84:80] == its_code);
        assert (word[79:70] == its_bytes & word[63:0] == its_bus);
      end
      if (total_known) assert (\dut.done.spy == {broken, total});
      assert (waiting[7:0] == \dut.ends.tail_q - \dut.ends.head_q );
      assert (\dut.ends.some_q == (waiting != 0) & \dut.ends.at_most_q == (waiting == 256));
      // Room was kept for every end.
      assert (waiting + \dut.end_on_q + ahead <= 132);
      assert (\dut.ends_count_q == waiting + held + \dut.end_on_q );
      if (\dut.ends_room_q ) assert (waiting <= 128);
      // An end that leaves without a record is held.
      if (\dut.silent_q ) assert (held & !\dut.ends_data [135]);
      if (ending) begin
        assert (ends_before == (end_out ? 9'd0 : end_place + held));
        assert (end_out ? held : (end_place < waiting | end_comes) & \dut.ends.ram.spy_at == end_slot);
        assert (end_word[6:0] == {its_flush, its_irq | its_code != 0, its_code});
        assert (end_word[10:7] == its_tag & end_word[46:39] == its_total[7:0]);
        assert (end_word[74:71] == its_bus[3:0]);
        assert (end_word[136:135] == {its_urgent, reports} & end_word[142:137] == its_channel);
      end
    end

    always @* if (!reset) begin
      // Requests are retired in order, each once, and nothing else is.
      if (retired) assert (in_flight != 0);
      if (its_retired) begin
        assert (moved == its_bytes & moved_channel == its_channel);
        assert (requested == (its_code == 0 & !lost));
      end
      // A last request makes one end and another none; one end leaves at a time.
      if (known) assert (ends_waiting == should_wait);
      if (ended) assert (ends_waiting != 0);
      if (end_take) assert (ended);
      // It is that request's own end, and reports its result.
      if (its_ended) begin
        assert (end_pin == reports & end_channel == its_channel & end_tag[3:0] == its_tag);
        assert (end_code == its_code | (its_flush & its_code == 0 & end_code == 11));
        assert (end_urgent == its_urgent & end_bytes[7:0] == its_total[7:0]);
        assert (end_fault[3:0] == its_bus[3:0]);
        assert (end_irq == (its_irq | end_code != 0));
      end
    end
  end endgenerate

  generate if (PART == 2) begin
    // Requests in progress and ends, oldest first. Of a request: channel, last, may flush, asks for a report, code,
    // address. Of an end: needs a flush read, is reported, code, number of the flush read.
    reg [13:0] list [0:7];
    reg [3:0] listed = 0;
    reg [10:0] ends [0:7];
    reg [3:0] ends_listed = 0;
    // Numbers of flush reads that were needed, that the port has taken, and that it has answered; the address of each
    // and its result, by number.
    reg [3:0] made = 0, taken = 0, answered = 0;
    reg [3:0] addresses [0:7];
    reg [15:0] bad = 0;
    reg dead_before = 0;
    // Channels with a descriptor of which a burst was lost. The sweep clears this record.
    reg [3:0] broken = 0;
    reg [3:0] swept = 0;
    // Cycles in which something is in progress and nothing is asked for.
    reg [2:0] quiet = 0;
    wire [13:0] oldest = list[0];
    wire lost = dead_before & oldest[8:4] == 0;
    wire any_lost = lost | broken[oldest[13:12]];
    wire [4:0] code_out = any_lost ? 8 : oldest[8:4];
    wire reports = oldest[9] | code_out != 0;
    wire flushes = oldest[10] & oldest[8:4] == 0 & (oldest[9] | lost);
    wire [3:0] place = listed - retired;
    wire [3:0] end_place = ends_listed - ended;
    wire [10:0] front = ends[0];
    integer i;
    always @(posedge clock) begin
      dead_before <= dead_now;
      if (retired) for (i = 0; i < 7; i = i + 1) list[i] <= list[i + 1];
      if (accepted) list[place[2:0]] <= {channel[1:0], last, may_flush, want_record | want_irq, code, bus[7:4]};
      listed <= place + accepted;
      if (ended) for (i = 0; i < 7; i = i + 1) ends[i] <= ends[i + 1];
      if (sweep_now) broken[sweep_channel] <= 0;
      if (sweep_now) swept[sweep_channel] <= 1;
      if (retired) broken[oldest[13:12]] <= !oldest[11] & any_lost;
      if (retired & oldest[11]) begin
        ends[end_place[2:0]] <= {flushes, reports, code_out, made};
        if (flushes) addresses[made[2:0]] <= oldest[3:0];
        made <= made + flushes;
      end
      ends_listed <= end_place + (retired & oldest[11]);
      taken <= taken + flush_take;
      if (flushed) bad[answered] <= flush_error;
      answered <= answered + flushed;
      quiet <= ((listed != 0 | ends_listed != 0) & !write & !flush & flushes_owed == 0 & !end_pin
               & !retired & !ended) ? quiet + 1 : 0;
    end

    reg end_waits = 0, flush_waits = 0, write_waits = 0;
    reg [46:0] end_before = 0;
    reg [65:0] write_before = 0;
    wire [46:0] end_now = {end_code, end_irq, end_urgent, end_channel, end_tag, end_bytes[1:0]};
    always @(posedge clock) begin
      end_waits <= end_pin & !end_take;
      flush_waits <= flush & !flush_take;
      write_waits <= write & !write_done;
      end_before <= end_now;
      write_before <= {write_beats, write_address[63:4]};
    end
    always @* begin
      assume (!request | swept[channel[1:0]]);
      if (retired) assert (listed != 0);
      if (ended | end_pin) begin
        assert (ends_listed != 0 & end_pin == front[9]);
        assert (!front[10] | front[3:0] < answered);
        assert (end_code == (front[10] & bad[front[3:0]] & front[8:4] == 0 ? 5'd11 : front[8:4]));
        if (front[10] & bad[front[3:0]]) assert (end_irq);
      end
      if (flush) assert (taken < made & flush_address[7:0] == {addresses[taken[2:0]], 4'd0});
      // An offer stays until it is taken.
      if (end_waits) assert (end_pin & end_now == end_before);
      if (flush_waits) assert (flush);
      if (write_waits) assert (write & {write_beats, write_address[63:4]} == write_before);
      assert (quiet <= 4);
    end
  end endgenerate

  generate if (PART == 3) begin
    // Requests with data that have not left, oldest first: peer and memory address, bytes. And those
    // whose memory command has not been taken.
    reg [26:0] list [0:7];
    reg [3:0] listed = 0;
    reg [19:0] commands [0:7];
    reg [3:0] commanded = 0;
    reg [4:0] beat_at = 0;
    // Words that the memory owes.
    reg [4:0] owed = 0;
    // Cycles in which the port waits for a beat, and the memory is not asked and owes nothing.
    reg [3:0] hungry = 0;
    wire [26:0] oldest = list[0];
    wire [6:0] from = oldest[3:0];
    wire [9:0] length = oldest[26:17];
    wire [9:0] span = from + length;
    wire [5:0] beats = (span + 10'd15) >> 4;
    wire last_beat = beat_at + 6'd1 == beats;
    wire [15:0] first_lanes = beat_at == 0 ? 16'hffff << from : 16'hffff;
    wire [15:0] last_lanes = last_beat ? 16'hffff >> (4'd15 - (span[3:0] - 4'd1)) : 16'hffff;
    wire [19:0] command = commands[0];
    wire [3:0] need = ({1'd0, command[5:0]} + command[19:10] + 11'd63) >> 6;
    wire mem_taken = mem_read & !mem_wait;
    assign beat_take = write & beat & beat_take_now;
    assign write_done = beat_take & last_beat;
    assign mem_valid = owed != 0 & mem_valid_now;
    assign mem_data = 0;
    wire [3:0] place = listed - write_done;
    wire [3:0] command_place = commanded - mem_taken;
    wire [4:0] word_place = owed - mem_valid;
    integer i;
    always @(posedge clock) begin
      if (write_done) for (i = 0; i < 7; i = i + 1) list[i] <= list[i + 1];
      if (mem_taken) for (i = 0; i < 7; i = i + 1) commands[i] <= commands[i + 1];
      if (accepted & has_data) begin
        list[place[2:0]] <= {bytes, local_at[9:0], bus[6:0]};
        commands[command_place[2:0]] <= {bytes, local_at[9:0]};
      end
      listed <= place + (accepted & has_data);
      commanded <= command_place + (accepted & has_data);
      owed <= word_place + (mem_taken ? mem_count : 0);
      beat_at <= write_done ? 0 : beat_at + beat_take;
      hungry <= (write & !beat & !mem_read & owed == 0) ? hungry + 1 : 0;
    end
    always @* begin
      // Short requests.
      assume (bytes <= 40 & local_at[39:10] == 0 & {1'd0, local_at[9:0]} + bytes <= 1024);
    end
    always @* begin
      // A burst is that of the oldest request, and each beat that is offered belongs to a request.
      if (write | beat) assert (listed != 0);
      if (write) assert (write_beats == beats & write_address[6:0] == {oldest[6:4], 4'd0});
      if (beat) assert (beat_enable == (first_lanes & last_lanes));
      assert (hungry <= 9);
      if (mem_read) begin
        assert (commanded != 0 & mem_count == need & mem_address == {command[9:6], 6'd0});
      end
    end
  end endgenerate
endmodule
