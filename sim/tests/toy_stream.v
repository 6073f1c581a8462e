// A small master for the stream port, and slaves, to test the models with. It reads into a memory
// of its own and writes from it.
// Registers (word): 0 address low, 1 address high, 2 requests, 3 bytes of a read, 4 beats of a burst,
// 5 go (1 write, 2 read when the writes are out, 4 read), 6 status (1 writing, 2 reading), 7 enables
// of the first beat, 8 enables of the last, 9 which rule to break (0: none), 10 first tag, 11 tags,
// 12 to 15 completions by code, 16 byte of the memory where reads begin, 17 word where writes begin,
// 18 single inputs (1 msix_enable, 2 msix_mask, 4 kernel_irq), 19 cycles between two beats,
// 20 completions of another tag than the one before, 21 completions but a read's last whose end is no
// multiple of 64 (in the memory).
module toy_stream #(parameter WIDTH = 128) (
    input  wire               pcie_clk,
    input  wire               pcie_reset,
    input  wire [7:0]         csr_address,
    input  wire               csr_read,
    input  wire               csr_write,
    input  wire [31:0]        csr_writedata,
    input  wire [3:0]         csr_byteenable,
    output reg  [31:0]        csr_readdata,
    input  wire [15:0]        chan_address,
    input  wire               chan_read,
    input  wire               chan_write,
    input  wire [31:0]        chan_writedata,
    input  wire [3:0]         chan_byteenable,
    output reg  [31:0]        chan_readdata,
    input  wire [9:0]         msix_address,
    input  wire               msix_read,
    input  wire               msix_write,
    input  wire [31:0]        msix_writedata,
    input  wire [3:0]         msix_byteenable,
    output reg  [31:0]        msix_readdata,
    input  wire               msix_enable,
    input  wire               msix_mask,
    input  wire               kernel_irq,
    output wire               post_valid,
    input  wire               post_ready,
    output wire [63:0]        post_address,
    output wire [5:0]         post_beats,
    output wire [WIDTH-1:0]   post_data,
    output wire [WIDTH/8-1:0] post_enable,
    output wire               ask_valid,
    input  wire               ask_ready,
    output wire [63:0]        ask_address,
    output wire [9:0]         ask_bytes,
    output wire [6:0]         ask_tag,
    input  wire               answer_valid,
    input  wire               answer_first,
    input  wire [6:0]         answer_tag,
    input  wire [9:0]         answer_bytes,
    input  wire [2:0]         answer_code,
    input  wire [WIDTH-1:0]   answer_data
);
    localparam B = WIDTH / 8;

    reg [63:0]  address;
    reg [31:0]  count, size, beats, first_enable, last_enable, breaks, first_tag, tags, gap;
    reg [31:0]  read_from, write_from;
    reg [31:0]  codes [0:3];
    reg [31:0]  switches, ragged;
    reg [6:0]   last_tag;
    reg [WIDTH-1:0] memory [0:1023];
    reg         flip;

    // Writes.
    reg         writing, post_waited;
    reg [31:0]  bursts_left, beat, word, pause;
    reg [63:0]  write_at;
    wire [B-1:0] all = {B{1'b1}};
    wire        head = beat == 32'd0;
    wire        tail = beat + 32'd1 == beats;
    wire        post_taken = post_valid && post_ready;
    assign post_valid   = writing && pause == 32'd0 && !(breaks == 32'd3 && post_waited);
    assign post_address = write_at + ((breaks == 32'd1 && flip) ? 64'd256 : 64'd0)
                        + (breaks == 32'd5 ? 64'd8 : 64'd0)
                        + ((breaks == 32'd6 && !head) ? 64'd4096 : 64'd0);
    assign post_beats   = breaks == 32'd4 ? 6'd33 : beats[5:0];
    assign post_data    = memory[word[9:0]] ^ ((breaks == 32'd2 && flip) ? 1 : 0);
    assign post_enable  = (head ? first_enable[B-1:0] : all) & (tail ? last_enable[B-1:0] : all)
                        & ((breaks == 32'd7 && !head) ? all << 4 : all);

    // Reads.
    reg         after, reading, ask_waited;
    reg [31:0]  asks_left;
    reg [63:0]  read_at;
    reg [31:0]  place;
    reg [6:0]   tag;
    reg [127:0] busy;
    reg [31:0]  position [0:127];
    reg [31:0]  owed [0:127];
    wire        ask_taken = ask_valid && ask_ready;
    assign ask_valid   = reading && asks_left != 32'd0 && (!busy[tag] || breaks == 32'd11)
                       && !(breaks == 32'd9 && ask_waited);
    assign ask_address = read_at + ((breaks == 32'd8 && flip) ? 64'd512 : 64'd0);
    assign ask_bytes   = size[9:0];
    assign ask_tag     = tag;

    // Completions.
    reg [31:0]  now_at, now_left, rest, lane, take, at, left;
    integer     i;

    always @(posedge pcie_clk) begin
        flip <= !flip;
        post_waited <= post_valid && !post_ready;
        ask_waited <= ask_valid && !ask_ready;
        if (pause != 32'd0) pause <= pause - 32'd1;
        if (post_taken) begin
            pause <= gap;
            word <= word + 32'd1;
            beat <= beat + 32'd1;
            if (tail) begin
                beat <= 32'd0;
                write_at <= write_at + {32'd0, beats} * B;
                bursts_left <= bursts_left - 32'd1;
                if (bursts_left == 32'd1) begin
                    writing <= 1'b0;
                    if (after) reading <= 1'b1;
                    after <= 1'b0;
                end
            end
        end
        if (ask_taken) begin
            busy[tag] <= 1'b1;
            position[tag] <= place;
            owed[tag] <= size;
            place <= place + size;
            read_at <= read_at + {32'd0, size};
            asks_left <= asks_left - 32'd1;
            if ({25'd0, tag} + 32'd1 == first_tag + tags) tag <= first_tag[6:0];
            else tag <= tag + 7'd1;
        end
        if (reading && asks_left == 32'd0 && busy == 128'd0) reading <= 1'b0;
        if (answer_valid) begin
            at = answer_first ? position[answer_tag] : now_at;
            left = answer_first ? {22'd0, answer_bytes} : now_left;
            rest = answer_first ? owed[answer_tag] - {22'd0, answer_bytes} : owed[answer_tag];
            if (answer_first) begin
                codes[answer_code[1:0]] <= codes[answer_code[1:0]] + 32'd1;
                last_tag <= answer_tag;
                if (answer_tag != last_tag) switches <= switches + 32'd1;
                position[answer_tag] <= at + {22'd0, answer_bytes};
                owed[answer_tag] <= rest;
                take = at + {22'd0, answer_bytes};
                if (rest != 32'd0 && answer_code == 3'd0 && take[5:0] != 6'd0)
                    ragged <= ragged + 32'd1;
            end
            if (answer_first && answer_code != 3'd0) busy[answer_tag] <= 1'b0;
            else begin
                lane = at % B;
                take = B - lane < left ? B - lane : left;
                for (i = 0; i < B; i = i + 1)
                    if (i >= lane && i < lane + take)
                        memory[at[31:0] / B][8*i +: 8] <= answer_data[8*i +: 8];
                now_at <= at + take;
                now_left <= left - take;
                if (take == left && rest == 32'd0) busy[answer_tag] <= 1'b0;
            end
        end
        if (csr_read) begin
            case (csr_address)
                8'd6: csr_readdata <= {30'd0, reading, writing};
                8'd12, 8'd13, 8'd14, 8'd15: csr_readdata <= codes[csr_address[1:0]];
                8'd18: csr_readdata <= {29'd0, kernel_irq, msix_mask, msix_enable};
                8'd20: csr_readdata <= switches;
                8'd21: csr_readdata <= ragged;
                default: csr_readdata <= 32'hDEAD_0000;
            endcase
        end
        if (csr_write) begin
            case (csr_address)
                8'd0: address[31:0] <= csr_writedata;
                8'd1: address[63:32] <= csr_writedata;
                8'd2: count <= csr_writedata;
                8'd3: size <= csr_writedata;
                8'd4: beats <= csr_writedata;
                8'd5: begin
                    if (csr_writedata[0]) begin
                        writing <= 1'b1;
                        write_at <= address;
                        bursts_left <= count;
                        beat <= 32'd0;
                        word <= write_from;
                    end
                    if (csr_writedata[1] || csr_writedata[2]) begin
                        after <= csr_writedata[1] && csr_writedata[0];
                        reading <= !(csr_writedata[1] && csr_writedata[0]);
                        read_at <= address;
                        asks_left <= count;
                        place <= read_from;
                        tag <= first_tag[6:0];
                    end
                end
                8'd7: first_enable <= csr_writedata;
                8'd8: last_enable <= csr_writedata;
                8'd9: breaks <= csr_writedata;
                8'd10: first_tag <= csr_writedata;
                8'd11: tags <= csr_writedata;
                8'd16: read_from <= csr_writedata;
                8'd17: write_from <= csr_writedata;
                8'd19: gap <= csr_writedata;
                default: ;
            endcase
        end
        if (pcie_reset) begin
            flip <= 1'b0;
            writing <= 1'b0;
            reading <= 1'b0;
            after <= 1'b0;
            busy <= 128'd0;
            asks_left <= 32'd0;
            pause <= 32'd0;
            post_waited <= 1'b0;
            ask_waited <= 1'b0;
            breaks <= 32'd0;
            first_enable <= 32'hFFFF_FFFF;
            last_enable <= 32'hFFFF_FFFF;
            first_tag <= 32'd0;
            tags <= 32'd64;
            gap <= 32'd0;
            read_from <= 32'd0;
            write_from <= 32'd0;
            switches <= 32'd0;
            ragged <= 32'd0;
            last_tag <= 7'd127;
            for (i = 0; i < 4; i = i + 1) codes[i] <= 32'd0;
        end
    end

    // The slaves: the last write to a channel page, and a table of four dwords.
    reg [31:0] chan_last;
    integer    j;
    reg [31:0] table_words [0:3];
    always @(posedge pcie_clk) begin
        if (chan_write) chan_last <= {chan_address, chan_writedata[15:0]};
        if (chan_read) chan_readdata <= chan_address == 16'hFFFF ? chan_last : {16'd0, chan_address};
        if (msix_write)
            for (j = 0; j < 4; j = j + 1)
                if (msix_byteenable[j])
                    table_words[msix_address[1:0]][8*j +: 8] <= msix_writedata[8*j +: 8];
        if (msix_read) msix_readdata <= table_words[msix_address[1:0]];
    end
endmodule
