{% for line in header -%}
{{ line }}
{% endfor -%}
//
// The block with its streams as Platform Designer's interfaces have them: `empty` has the bits of its count, streams
// without packets have no signals of them, and no word moves while the logic is in reset.
module {{ name }} (
{%- for port in shared %}
  {{ crate::generator::declaration(port) }} {{ port.name }},
{%- endfor %}
{%- for port in ports %}
  {{ crate::generator::declaration(port) }} {{ port.name }}{% if !loop.last %},{% endif %}
{%- endfor %}
);
{%- for stream in streams %}
{%- let name = stream.names.words %}
{%- let runs = stream.runs() %}
{%- if stream.is_input() %}
  wire {{ name }}_room;
  assign {{ name }}_ready = {{ name }}_room & {{ runs }};
{%- else %}
  wire {{ name }}_offered;
{%- if stream.is_channel() %}
  wire {{ name }}_failed;
  wire [8:0] {{ name }}_unused;
  // A channel has no signal for a word without data, so such a word is taken here.
  assign {{ name }}_valid = {{ name }}_offered & ~{{ name }}_failed & {{ runs }};
{%- else %}
{%- if stream.empty_bits() < 6 %}
  wire [{{ 5 - stream.empty_bits() }}:0] {{ name }}_unused;
{%- endif %}
  assign {{ name }}_valid = {{ name }}_offered & {{ runs }};
{%- endif %}
{%- endif %}
{%- endfor %}
  {{ block }} dma (
{%- for port in shared %}
    .{{ port.name }}({{ port.name }}),
{%- endfor %}
{%- for stream in streams %}
{%- let name = stream.names.words %}
{%- let runs = stream.runs() %}
    .{{ name }}_clk({{ name }}_clk),
    .{{ name }}_data({{ name }}_data),
{%- if stream.is_input() %}
    .{{ name }}_valid({{ name }}_valid & {{ runs }}),
    .{{ name }}_ready({{ name }}_room),
{%- if stream.has_packets() %}
    .{{ name }}_endofpacket({{ name }}_endofpacket),
    .{{ name }}_empty({{ stream.padded() }})
{%- else %}
    .{{ name }}_endofpacket(1'b0),
    .{{ name }}_empty(6'd0)
{%- endif %}
{%- else %}
    .{{ name }}_valid({{ name }}_offered),
{%- if stream.is_channel() %}
    .{{ name }}_ready(({{ name }}_ready | {{ name }}_failed) & {{ runs }}),
    .{{ name }}_error({{ name }}_failed),
    .{{ name }}_startofpacket({{ name }}_unused[7]),
    .{{ name }}_endofpacket({{ name }}_unused[6]),
    .{{ name }}_empty({{ name }}_unused[5:0])
{%- else %}
    .{{ name }}_ready({{ name }}_ready & {{ runs }}),
    .{{ name }}_error({{ name }}_error),
    .{{ name }}_startofpacket({{ name }}_startofpacket),
    .{{ name }}_endofpacket({{ name }}_endofpacket),
    .{{ name }}_empty({{ stream.padded() }})
{%- endif %}
{%- endif %}{% if !loop.last %},{% endif %}
{%- endfor %}
  );
endmodule
