// Examples of logic for the block's streams, to be replaced by your own. Written by Peerlane; change it as you like.
//
// A word moves in each cycle with valid and ready. The first byte of a word is in its lowest bits.
{%- for example in examples %}
{%- let bits = example.stream.bits %}

{% if example.is_input() -%}
// Input {{ example.number }}: a counter.
{%- else -%}
// Output {{ example.number }}: the exclusive or of all words.
{%- endif %}
module {{ example.module() }} (
  input wire clk,
  input wire reset,
{%- for port in example.ports %}
  {{ port.direction.verilog() }} wire {{ Example::range(port.width) }}{{ port.name }}
{%- if !loop.last || !example.is_input() %},{% endif %}
{%- endfor %}
{%- if !example.is_input() %}
  output reg [{{ bits - 1 }}:0] sum
{%- endif %}
);
{%- if example.is_input() %}
  reg [63:0] count;
  always @(posedge clk)
    if (reset) count <= 64'd0;
    else if (ready) count <= count + 64'd1;
  assign data = {{ "{" }}{{ bits / 64 }}{count}};
  assign valid = ~reset;
{%- if example.stream.packets %}
  // Packets of 1024 words, each of them whole.
  assign endofpacket = &count[9:0];
  assign empty = 0;
{%- endif %}
{%- else %}
  // A word with error has no data: the transfer of its packet has failed.
  wire unused = &{1'b0, startofpacket, endofpacket, empty};
  assign ready = ~reset;
  always @(posedge clk)
    if (reset) sum <= 0;
    else if (valid & ~error) sum <= sum ^ data;
{%- endif %}
endmodule
{%- endfor %}

/* Lines for the top module. CLOCK is the clock of your logic, RESET its reset, active high and in that clock.

{% for line in lines -%}
{{ line }}
{% endfor -%}
*/
