{% for line in header -%}
{{ line }}
{% endfor -%}
//
// The block with the interfaces of the hard IP's Avalon-ST variant (Stratix V Avalon-ST Interface for PCIe 683093), as
// Platform Designer connects them: a conduit has all roles of the other side, used or not. In addition to the block there
// are the application's reset, the buffer of its clock, and a slave in place of the Avalon-MM bridge's registers, which
// reads 0.
module {{ name }} (
{%- for port in shared %}
  {{ crate::generator::declaration(port) }} {{ port.name }},
{%- endfor %}
  input wire [1:0] rx_st_empty,
  input wire [11:0] tx_cred_datafcnp,
  input wire [52:0] tl_cfg_sts,
  output wire [4:0] hpg_ctrler,
  input wire reset_status,
  input wire serdes_pll_locked,
  input wire pld_clk_inuse,
  output wire pld_core_ready,
  input wire testin_zero,
  input wire derr_cor_ext_rcv,
  input wire derr_cor_ext_rpl,
  input wire derr_rpl,
  input wire dlup_exit,
  input wire ev128ns,
  input wire ev1us,
  input wire hotrst_exit,
  input wire [3:0] int_status,
  input wire l2_exit,
  input wire [3:0] lane_act,
  input wire [4:0] ltssmstate,
  input wire rx_par_err,
  input wire [1:0] tx_par_err,
  input wire cfg_par_err,
  input wire [11:0] ko_cpl_spc_data,
  output wire app_int_sts,
  output wire [4:0] app_msi_num,
  output wire app_msi_req,
  output wire [2:0] app_msi_tc,
  input wire app_int_ack,
  input wire app_msi_ack,
  output wire [11:0] lmi_addr,
  output wire [31:0] lmi_din,
  output wire lmi_rden,
  output wire lmi_wren,
  input wire lmi_ack,
  input wire [31:0] lmi_dout,
  output wire pm_auxpwr,
  output wire [9:0] pm_data,
  output wire pme_to_cr,
  output wire pm_event,
  input wire pme_to_sr,
  input wire [11:0] cra_address,
  input wire cra_read,
  input wire cra_write,
  input wire [31:0] cra_writedata,
  input wire [3:0] cra_byteenable,
  output wire [31:0] cra_readdata,
  output wire nreset_status,
  input wire coreclkout_hip,
  output wire coreclkout
{%- for (_, port) in status %},
  {{ crate::generator::declaration(port) }} {{ port.name }}
{%- endfor %}
);
  // The hard IP's clock on a global network. The vendors' boards have AUTO_GLOBAL_CLOCK OFF, so Quartus does not do that.
  // synthesis translate_off
  assign coreclkout = coreclkout_hip;
  // synthesis translate_on
  // synthesis read_comments_as_HDL on
  //global coreclkout_buffer (.in(coreclkout_hip), .out(coreclkout));
  // synthesis read_comments_as_HDL off

{%- if !status.is_empty() %}
  // The hard IP's status, for a driver of the transceivers' controller.
{%- endif %}
{%- for (role, port) in status %}
  assign {{ port.name }} = {{ role }};
{%- endfor %}
  wire dma_irq;
  wire unused = &{1'b0, rx_st_empty, tx_cred_datafcnp, tl_cfg_sts, testin_zero, derr_cor_ext_rcv, derr_cor_ext_rpl,
    derr_rpl, ev128ns, ev1us, hotrst_exit, int_status, lane_act, ltssmstate, rx_par_err, tx_par_err, cfg_par_err,
    ko_cpl_spc_data, app_int_ack, app_msi_ack, lmi_ack, lmi_dout, cra_address, cra_read, cra_write,
    cra_writedata, cra_byteenable, dma_irq};
  // The application may begin when the transceivers' PLL is locked.
  assign pld_core_ready = serdes_pll_locked;
  // The block sends all messages itself, and these signals are not used. Legacy interrupts are not used either: the hard IP
  // would send them before the data that they report.
  assign hpg_ctrler = 5'b0;
  assign app_int_sts = 1'b0;
  assign app_msi_num = 5'b0;
  assign app_msi_req = 1'b0;
  assign app_msi_tc = 3'b0;
  assign lmi_addr = 12'b0;
  assign lmi_din = 32'b0;
  assign lmi_rden = 1'b0;
  assign lmi_wren = 1'b0;
  assign pm_auxpwr = 1'b0;
  assign pm_data = 10'b0;
  // The host announces power-off (PME_Turn_Off) when its driver has stopped the block, so the answer can be immediate.
  assign pme_to_cr = pme_to_sr;
  assign pm_event = 1'b0;
  assign cra_readdata = 32'b0;
  {{ restart }} restart (
    .clock(pcie_clk),
    .reset_status(reset_status),
    .pld_clk_inuse(pld_clk_inuse),
    .dlup_exit(dlup_exit),
    .l2_exit(l2_exit),
    .nreset_status(nreset_status)
  );
  {{ block }} dma (
{%- for port in shared %}
    .{{ port.name }}({{ port.name }}),
{%- endfor %}
    .dma_irq(dma_irq)
  );
endmodule
