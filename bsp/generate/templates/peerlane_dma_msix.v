{% for line in header -%}
{{ line }}
{% endfor -%}
//
// The block with the hard IP's interrupt interfaces (Stratix V Avalon-MM user guide 683411, 4.6):
// msix_control is the Message Control register of the function's MSI-X capability, and the function's INTx
// request stays inactive.
module {{ name }} (
{%- for port in shared %}
  {{ crate::generator::declaration(port) }} {{ port.name }},
{%- endfor %}
  input wire [15:0] msix_control,
  output wire intx_req,
  input wire intx_ack
);
  wire unused = &{1'b0, msix_control[13:0], intx_ack};
  assign intx_req = 1'b0;
  {{ block }} dma (
{%- for port in shared %}
    .{{ port.name }}({{ port.name }}),
{%- endfor %}
    .msix_enable(msix_control[15]),
    .msix_mask(msix_control[14])
  );
endmodule
