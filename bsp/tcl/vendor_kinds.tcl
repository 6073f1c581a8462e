# The kinds of components that the reference BSPs take from Quartus and from the OpenCL SDK, as models: their
# interfaces with the widths and spans that public documents say, in the language of component descriptions. A
# parameter that changes no interface is not here; Platform Designer would know it.
#
# Sources: Avalon bridges, clock and reset components: Quartus II handbook volume 1 (QII51021, "Qsys Interconnect",
# and "Qsys System Design Components"). Hard IP: Stratix V Avalon-MM interface for PCIe user guide 683411, chapters 4
# (signals) and 5.8 (control registers), A.4. On-chip memory: Embedded Peripherals IP user guide 683130. DDR3:
# External Memory Interface handbook, UniPHY. Kinds of the SDK (acl_*, version_id, uniphy_status, temperature): the
# public BAR map of these BSPs and the connections of the BSPs that use them; the source of each is not at hand.

array set vendor {}

# What the models share; it goes before each.
set vendor_prelude {
    set_module_property ELABORATION_CALLBACK elaborate
    proc parameters {args} { foreach {name type value} $args { add_parameter $name $type $value } }
    proc of {name} { return [get_parameter_value $name] }
    proc log2 {n} { for {set bits 0} {(1 << $bits) < $n} {incr bits} {}; return $bits }
    proc clock_in {name} { add_interface $name clock end; add_interface_port $name ${name}_clk clk Input 1 }
    # A rate of 0 is not known.
    proc clock_out {name rate} {
        add_interface $name clock start
        set_interface_property $name clockRate $rate
        set_interface_property $name clockRateKnown [expr {$rate > 0 ? "true" : "false"}]
        add_interface_port $name ${name}_clk clk Output 1
    }
    proc reset_in {name clock} {
        add_interface $name reset end
        if {$clock eq ""} {
            set_interface_property $name synchronousEdges NONE
        } else {
            set_interface_property $name associatedClock $clock
        }
        add_interface_port $name ${name}_reset reset Input 1
    }
    proc reset_out {name clock} {
        add_interface $name reset start
        if {$clock eq ""} {
            set_interface_property $name synchronousEdges NONE
        } else {
            set_interface_property $name associatedClock $clock
        }
        add_interface_port $name ${name}_reset reset Output 1
    }
    # An Avalon-MM interface that reads and writes, with wait states; bytes count its address unless WORDS are said.
    proc memory_mapped {name side clock reset bits address burst {units SYMBOLS}} {
        lassign [expr {$side eq "start" ? {Output Input} : {Input Output}}] there back
        add_interface $name avalon $side
        set_interface_property $name associatedClock $clock
        set_interface_property $name associatedReset $reset
        set_interface_property $name addressUnits $units
        if {$side eq "end"} { set_interface_property $name maximumPendingReadTransactions 8 }
        set list [list read $there 1 readdata $back $bits readdatavalid $back 1 write $there 1 writedata $there $bits \
            byteenable $there [expr {$bits / 8}] waitrequest $back 1]
        if {$address > 0} { lappend list address $there $address }
        if {$burst > 1} { lappend list burstcount $there [expr {[log2 $burst] + 1}] }
        foreach {role direction width} $list { add_interface_port $name ${name}_$role $role $direction $width }
    }
    proc irq {name side clock reset master width} {
        add_interface $name interrupt $side
        set_interface_property $name associatedClock $clock
        set_interface_property $name associatedReset $reset
        if {$side eq "end" || $master ne ""} { set_interface_property $name associatedAddressablePoint $master }
        add_interface_port $name ${name}_irq irq [expr {$side eq "start" ? "Input" : "Output"}] $width
    }
    # Wires: role, direction and width of each; a width of 0 is not known.
    proc wires {name args} {
        add_interface $name conduit end
        foreach {role direction width} $args { add_interface_port $name ${name}_$role $role $direction $width }
    }
}

proc kind {names body} {
    global vendor vendor_prelude
    foreach name $names { set vendor($name) "$vendor_prelude\n$body" }
}

kind clock_source {
    parameters clockFrequency LONG 50000000 clockFrequencyKnown BOOLEAN true
    proc elaborate {} {
        clock_in clk_in
        reset_in clk_in_reset ""
        clock_out clk [expr {[of clockFrequencyKnown] ? [of clockFrequency] : 0}]
        reset_out clk_reset clk
    }
}

kind altera_clock_bridge {
    parameters EXPLICIT_CLOCK_RATE LONG 0 NUM_CLOCK_OUTPUTS INTEGER 1
    add_parameter DERIVED_CLOCK_RATE LONG 0
    set_parameter_property DERIVED_CLOCK_RATE SYSTEM_INFO {CLOCK_RATE in_clk}
    proc elaborate {} {
        clock_in in_clk
        set rate [expr {[of EXPLICIT_CLOCK_RATE] > 0 ? [of EXPLICIT_CLOCK_RATE] : max(0, [of DERIVED_CLOCK_RATE])}]
        clock_out out_clk $rate
        for {set n 1} {$n < [of NUM_CLOCK_OUTPUTS]} {incr n} { clock_out out_clk_$n $rate }
    }
}

kind altera_reset_bridge {
    parameters SYNCHRONOUS_EDGES STRING deassert NUM_RESET_OUTPUTS INTEGER 1
    proc elaborate {} {
        set clock ""
        if {[of SYNCHRONOUS_EDGES] ne "none"} { set clock clk; clock_in clk }
        reset_in in_reset $clock
        reset_out out_reset $clock
        for {set n 1} {$n < [of NUM_RESET_OUTPUTS]} {incr n} { reset_out out_reset_$n $clock }
    }
}

kind altera_reset_controller {
    parameters NUM_RESET_INPUTS INTEGER 2 OUTPUT_RESET_SYNC_EDGES STRING deassert
    proc elaborate {} {
        set clock ""
        if {[of OUTPUT_RESET_SYNC_EDGES] ne "none"} { set clock clk; clock_in clk }
        for {set n 0} {$n < [of NUM_RESET_INPUTS]} {incr n} { reset_in reset_in$n "" }
        reset_out reset_out $clock
    }
}

kind altera_avalon_mm_bridge {
    parameters DATA_WIDTH INTEGER 32 ADDRESS_WIDTH INTEGER 10 USE_AUTO_ADDRESS_WIDTH INTEGER 0 \
        ADDRESS_UNITS STRING SYMBOLS MAX_BURST_SIZE INTEGER 1 SYSINFO_ADDR_WIDTH INTEGER 10
    set_parameter_property SYSINFO_ADDR_WIDTH SYSTEM_INFO {ADDRESS_WIDTH m0}
    set_parameter_property DATA_WIDTH ALLOWED_RANGES {8 16 32 64 128 256 512 1024}
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        set bits [of ADDRESS_WIDTH]
        if {[of USE_AUTO_ADDRESS_WIDTH]} { set bits [expr {max(1, [of SYSINFO_ADDR_WIDTH])}] }
        foreach {name side} {s0 end m0 start} {
            memory_mapped $name $side clk reset [of DATA_WIDTH] $bits [of MAX_BURST_SIZE] [of ADDRESS_UNITS]
        }
    }
}

kind altera_avalon_mm_clock_crossing_bridge {
    parameters DATA_WIDTH INTEGER 32 ADDRESS_WIDTH INTEGER 10 USE_AUTO_ADDRESS_WIDTH INTEGER 0 \
        ADDRESS_UNITS STRING SYMBOLS MAX_BURST_SIZE INTEGER 1 SYSINFO_ADDR_WIDTH INTEGER 10
    set_parameter_property SYSINFO_ADDR_WIDTH SYSTEM_INFO {ADDRESS_WIDTH m0}
    set_parameter_property DATA_WIDTH ALLOWED_RANGES {8 16 32 64 128 256 512 1024}
    proc elaborate {} {
        set bits [of ADDRESS_WIDTH]
        if {[of USE_AUTO_ADDRESS_WIDTH]} { set bits [expr {max(1, [of SYSINFO_ADDR_WIDTH])}] }
        foreach {name side} {s0 end m0 start} {
            clock_in ${name}_clk
            reset_in ${name}_reset ${name}_clk
            memory_mapped $name $side ${name}_clk ${name}_reset [of DATA_WIDTH] $bits [of MAX_BURST_SIZE] \
                [of ADDRESS_UNITS]
        }
    }
}

kind altera_avalon_onchip_memory2 {
    parameters dataWidth INTEGER 32 memorySize LONG 4096
    proc elaborate {} {
        clock_in clk1
        reset_in reset1 clk1
        set words [expr {[of memorySize] / ([of dataWidth] / 8)}]
        memory_mapped s1 end clk1 reset1 [of dataWidth] [log2 $words] 1 WORDS
        set_interface_property s1 explicitAddressSpan [of memorySize]
    }
}

kind {altera_pcie_sv_hip_avmm altera_pcie_avgz_hip_avmm} {
    parameters lane_mask_hwtcl STRING x8 gen123_lane_rate_mode_hwtcl STRING "Gen2 (5.0 Gbps)" \
        avmm_width_hwtcl INTEGER 128 AVALON_ADDR_WIDTH INTEGER 32 TX_S_ADDR_WIDTH INTEGER 32 \
        CB_A2P_ADDR_MAP_NUM_ENTRIES INTEGER 2 CB_A2P_ADDR_MAP_PASS_THRU_BITS INTEGER 20 CG_RXM_IRQ_NUM INTEGER 16 \
        CG_IMPL_CRA_AV_SLAVE_PORT INTEGER 1 CG_ENABLE_ADVANCED_INTERRUPT INTEGER 0
    for {set n 0} {$n < 6} {incr n} { add_parameter bar${n}_type_hwtcl INTEGER 0 }
    set_parameter_property AVALON_ADDR_WIDTH ALLOWED_RANGES {32 64}
    set_parameter_property avmm_width_hwtcl ALLOWED_RANGES {64 128 256}
    # 4.4, table of coreclkout_hip: MHz by lanes, generation and width.
    proc rate {} {
        array set mhz {
            x1,Gen1,64 125 x1,Gen2,64 125 x1,Gen3,64 125 x2,Gen1,64 125 x2,Gen2,64 125 x2,Gen3,64 250 x2,Gen3,128 125
            x4,Gen1,64 125 x4,Gen2,64 250 x4,Gen2,128 125 x4,Gen3,128 250 x4,Gen3,256 125 x8,Gen1,64 250
            x8,Gen1,128 125 x8,Gen2,128 250 x8,Gen2,256 125 x8,Gen3,256 250
        }
        set key [of lane_mask_hwtcl],[lindex [of gen123_lane_rate_mode_hwtcl] 0],[of avmm_width_hwtcl]
        if {![info exists mhz($key)]} { send_message error "No clock for $key"; return 0 }
        return [expr {$mhz($key) * 1000000}]
    }
    proc elaborate {} {
        clock_in refclk
        clock_out coreclkout [rate]
        reset_out nreset_status coreclkout
        wires npor npor Input 1 pin_perst Input 1
        wires hip_serial rx_in0 Input 1 tx_out0 Output 1
        wires hip_ctrl test_in Input 32 simu_mode_pipe Input 1
        wires reconfig_to_xcvr reconfig_to_xcvr Input 0
        wires reconfig_from_xcvr reconfig_from_xcvr Output 0
        set bits [of avmm_width_hwtcl]
        # 512 bytes are the longest burst (A.4.2).
        set burst [expr {4096 / $bits}]
        for {set n 0} {$n < 6} {incr n} {
            if {[of bar${n}_type_hwtcl] != 0} {
                memory_mapped Rxm_BAR$n start coreclkout nreset_status $bits [of AVALON_ADDR_WIDTH] $burst
                if {![info exists first]} { set first Rxm_BAR$n }
            }
        }
        # Of 32 address bits only those of the translated pages are there.
        set reach [expr {[of TX_S_ADDR_WIDTH] == 64 ? 64
            : [log2 [of CB_A2P_ADDR_MAP_NUM_ENTRIES]] + [of CB_A2P_ADDR_MAP_PASS_THRU_BITS]}]
        memory_mapped Txs end coreclkout nreset_status $bits $reach $burst
        if {[of CG_IMPL_CRA_AV_SLAVE_PORT]} { memory_mapped Cra end coreclkout nreset_status 32 14 1 }
        irq RxmIrq start coreclkout nreset_status [expr {[info exists first] ? $first : ""}] [of CG_RXM_IRQ_NUM]
        if {[of CG_ENABLE_ADVANCED_INTERRUPT]} {
            # 4.6.
            wires MSI_Interface msi_intfc Output 82
            wires MSI_Control msi_control Output 16
            wires MSIX_Interface msix_intfc Output 16
            wires INTX_Interface intx_req Input 1 intx_ack Output 1
        }
    }
}

# As an endpoint, without parity and byte enables (component description of ACDS 13.1).
set streaming_hard_ip {
    parameters lane_mask_hwtcl STRING x8 gen123_lane_rate_mode_hwtcl STRING "Gen2 (5.0 Gbps)" \
        pcie_spec_version_hwtcl STRING 2.1 ast_width_hwtcl STRING "Avalon-ST 64-bit" in_cvp_mode_hwtcl INTEGER 0 \
        use_tx_cons_cred_sel_hwtcl INTEGER 0
    proc stream {name side bits} {
        set back [expr {$side eq "start" ? "Input" : "Output"}]
        set there [expr {$side eq "start" ? "Output" : "Input"}]
        add_interface $name avalon_streaming $side
        foreach {property value} [list associatedClock pld_clk beatsPerCycle 1 dataBitsPerSymbol $bits maxChannel 0 \
                readyLatency 3 symbolsPerBeat 1] {
            set_interface_property $name $property $value
        }
        foreach {role suffix direction width} [list startofpacket sop $there 1 endofpacket eop $there 1 \
                error err $there 1 valid valid $there 1 empty empty $there 2 ready ready $back 1 data data $there $bits] {
            add_interface_port $name ${name}_$suffix $role $direction $width
        }
    }
    # MHz by lanes, generation and width (683093, table of coreclkout_hip).
    proc rate {bits} {
        array set mhz {
            x4,Gen2,128 125 x4,Gen3,128 250 x4,Gen3,256 125 x8,Gen1,128 125 x8,Gen2,128 250 x8,Gen2,256 125 x8,Gen3,256 250
        }
        set key [of lane_mask_hwtcl],[lindex [of gen123_lane_rate_mode_hwtcl] 0],$bits
        if {![info exists mhz($key)]} { send_message error "No clock for $key"; return 0 }
        return [expr {$mhz($key) * 1000000}]
    }
    proc elaborate {} {
        set generation [lindex [of gen123_lane_rate_mode_hwtcl] 0]
        if {[of in_cvp_mode_hwtcl] && $generation ne "Gen1"} {
            send_message error "CvP is not supported for Gen2 or Gen3 lanes rate"
        }
        if {$generation eq "Gen3" && [of pcie_spec_version_hwtcl] ne "3.0"} {
            send_message error "Gen3 needs pcie_spec_version_hwtcl 3.0"
        }
        regexp {\d+} [of ast_width_hwtcl] bits
        clock_in refclk
        clock_in pld_clk
        clock_out coreclkout_hip [rate $bits]
        stream rx_st start $bits
        stream tx_st end $bits
        wires npor npor Input 1 pin_perst Input 1
        wires hip_serial rx_in0 Input 1 tx_out0 Output 1
        wires hip_ctrl test_in Input 32 simu_mode_pipe Input 1
        wires reconfig_to_xcvr reconfig_to_xcvr Input 0
        wires reconfig_from_xcvr reconfig_from_xcvr Output 0
        wires rx_bar_be rx_st_bar Output 8 rx_st_mask Input 1
        set credits {
            tx_cred_datafccp Output 12 tx_cred_datafcnp Output 12 tx_cred_datafcp Output 12 tx_cred_fchipcons Output 6
            tx_cred_fcinfinite Output 6 tx_cred_hdrfccp Output 8 tx_cred_hdrfcnp Output 8 tx_cred_hdrfcp Output 8
        }
        if {[of use_tx_cons_cred_sel_hwtcl]} { lappend credits tx_cons_cred_sel Input 1 }
        wires tx_cred {*}$credits
        wires config_tl hpg_ctrler Input 5 tl_cfg_add Output 4 tl_cfg_ctl Output 32 tl_cfg_sts Output 53 cpl_err Input 7 \
            cpl_pending Input 1
        wires hip_rst reset_status Output 1 serdes_pll_locked Output 1 pld_clk_inuse Output 1 pld_core_ready Input 1 \
            testin_zero Output 1
        wires hip_status derr_cor_ext_rcv Output 1 derr_cor_ext_rpl Output 1 derr_rpl Output 1 dlup Output 1 \
            dlup_exit Output 1 ev128ns Output 1 ev1us Output 1 hotrst_exit Output 1 int_status Output 4 l2_exit Output 1 \
            lane_act Output 4 ltssmstate Output 5 rx_par_err Output 1 tx_par_err Output 2 cfg_par_err Output 1 \
            ko_cpl_spc_header Output 8 ko_cpl_spc_data Output 12
        wires int_msi app_int_sts Input 1 app_msi_num Input 5 app_msi_req Input 1 app_msi_tc Input 3 app_int_ack Output 1 \
            app_msi_ack Output 1
        wires lmi lmi_addr Input 12 lmi_din Input 32 lmi_rden Input 1 lmi_wren Input 1 lmi_ack Output 1 lmi_dout Output 32
        wires power_mngt pm_auxpwr Input 1 pm_data Input 10 pme_to_cr Input 1 pm_event Input 1 pme_to_sr Output 1
    }
}
kind altera_pcie_sv_hip_ast $streaming_hard_ip
# Peerlane's own component of it.
kind peerlane_pcie_hip "$streaming_hard_ip
    parameters CONFIGURATION_OVER_PCIE INTEGER 0
    rename elaborate elaborate_hard_ip
    proc elaborate {} {
        elaborate_hard_ip
        wires reconfig_clk_locked fixedclk_locked Output 1
    }
"

kind alt_xcvr_reconfig {
    parameters number_of_reconfig_interfaces INTEGER 2
    proc elaborate {} {
        clock_in mgmt_clk_clk
        reset_in mgmt_rst_reset mgmt_clk_clk
        memory_mapped reconfig_mgmt end mgmt_clk_clk mgmt_rst_reset 32 7 1 WORDS
        # 70 bits to and 46 from each (Stratix V Avalon-ST interface for PCIe user guide 683093, 5.14.1).
        set n [of number_of_reconfig_interfaces]
        wires reconfig_to_xcvr reconfig_to_xcvr Output [expr {70 * $n}]
        wires reconfig_from_xcvr reconfig_from_xcvr Input [expr {46 * $n}]
        wires reconfig_busy reconfig_busy Output 1
    }
}

kind altera_mem_if_ddr3_emif {
    parameters MEM_DQ_WIDTH INTEGER 64 MEM_CLK_FREQ FLOAT 800.0 RATE STRING Quarter MEM_ROW_ADDR_WIDTH INTEGER 16 \
        MEM_COL_ADDR_WIDTH INTEGER 10 MEM_BANKADDR_WIDTH INTEGER 3 MEM_NUMBER_OF_RANKS_PER_DIMM INTEGER 1
    proc elaborate {} {
        array set steps {Full 1 Half 2 Quarter 4}
        set step $steps([of RATE])
        clock_in pll_ref_clk
        reset_in global_reset ""
        reset_in soft_reset ""
        clock_out afi_clk [expr {round([of MEM_CLK_FREQ] * 1e6 / $step)}]
        clock_out afi_half_clk [expr {round([of MEM_CLK_FREQ] * 1e6 / $step / 2)}]
        reset_out afi_reset afi_clk
        wires memory mem_dq Bidir [of MEM_DQ_WIDTH]
        wires oct rzqin Input 1
        wires status local_init_done Output 1 local_cal_success Output 1 local_cal_fail Output 1
        # Two beats a memory clock.
        set bits [expr {[of MEM_DQ_WIDTH] * 2 * $step}]
        set address [expr {[of MEM_ROW_ADDR_WIDTH] + [of MEM_COL_ADDR_WIDTH] + [of MEM_BANKADDR_WIDTH]
            + [log2 [of MEM_NUMBER_OF_RANKS_PER_DIMM]] - [log2 [expr {2 * $step}]]}]
        memory_mapped avl end afi_clk afi_reset $bits $address 16 WORDS
    }
}

kind acl_dma {
    parameters BYTE_ADDR_WIDTH INTEGER 34 DATA_WIDTH INTEGER 512 BURST_SIZE INTEGER 16
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        memory_mapped csr end clk reset 64 10 1
        memory_mapped s_nondma end clk reset 64 16 1
        memory_mapped m start clk reset [of DATA_WIDTH] [of BYTE_ADDR_WIDTH] [of BURST_SIZE]
        irq dma_irq end clk reset csr 1
    }
}

kind acl_memory_bank_divider {
    parameters NUM_BANKS INTEGER 2 DATA_WIDTH INTEGER 512 ADDRESS_WIDTH INTEGER 33 BURST_SIZE INTEGER 16
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        clock_in kernel_clk
        reset_in kernel_reset kernel_clk
        memory_mapped s end clk reset [of DATA_WIDTH] [of ADDRESS_WIDTH] [of BURST_SIZE]
        for {set bank 1} {$bank <= [of NUM_BANKS]} {incr bank} {
            memory_mapped bank$bank start clk reset [of DATA_WIDTH] [expr {[of ADDRESS_WIDTH] - [log2 [of NUM_BANKS]]}] \
                [of BURST_SIZE]
        }
        add_interface acl_bsp_snoop avalon_streaming start
        set_interface_property acl_bsp_snoop associatedClock kernel_clk
        set_interface_property acl_bsp_snoop associatedReset kernel_reset
        add_interface_port acl_bsp_snoop snoop_data data Output 0
        wires acl_bsp_memorg_host mode Input 2
    }
}

kind acl_kernel_clk {
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        clock_in pll_refclk
        # A kernel's compile decides the rate.
        clock_out kernel_clk 0
        clock_out kernel_clk2x 0
        memory_mapped ctrl end clk reset 32 11 1
    }
}

kind acl_kernel_interface {
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        reset_in sw_reset_in clk
        clock_in kernel_clk
        reset_out kernel_reset kernel_clk
        memory_mapped kernel_cntrl end clk reset 32 14 1
        memory_mapped kernel_cra start kernel_clk kernel_reset 64 30 1
        irq kernel_irq_from_kernel start kernel_clk kernel_reset kernel_cra 1
        irq kernel_irq_to_host end clk reset kernel_cntrl 1
        wires acl_bsp_memorg_host mode Output 2
        wires acl_bsp_memorg_kernel mode Output 2
    }
}

kind version_id {
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk
        memory_mapped s end clk clk_reset 32 0 1
    }
}

kind temperature {
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk
        memory_mapped s end clk clk_reset 32 2 1 WORDS
    }
}

kind uniphy_status {
    parameters NUM_UNIPHYS INTEGER 2
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk
        memory_mapped s end clk clk_reset 32 0 1
        for {set n 0} {$n < [of NUM_UNIPHYS]} {incr n} {
            wires mem${n}_status local_init_done Input 1 local_cal_success Input 1 local_cal_fail Input 1
        }
    }
}
