# Models of hard IPs and of the components around them: PCIe, its transceivers' reconfiguration, memory controllers.
#
# Sources: Stratix V Avalon-MM interface for PCIe user guide 683411, chapters 4 (signals) and 5.8 (control registers),
# A.4; Avalon-ST interface 683093; External Memory Interface handbook, UniPHY. Roles, polarities, pending reads and the
# hard memory controller's ports as in the .sopcinfo of systems that Quartus 16.0 (Stratix V) and 18.1 (Cyclone V)
# generated; tests/it/sopcinfo.rs compares them.

# Common part of the hard IPs.
set pcie_signals {
    proc family {} { return [expr {[string match {altera_pcie_[ac]v_hip_*} $::module(NAME)] ? "cv" : "sv"}] }
    proc lanes {} { return [string range [of lane_mask_hwtcl] 1 end] }
    proc generation {} { return [lindex [of gen123_lane_rate_mode_hwtcl] 0] }
    # Returns the number of transceiver interfaces: of lanes and PLLs. Only these numbers occur in known real systems; others
    # are unknown.
    proc transceivers {} {
        array set seen {x4,Gen1 5 x4,Gen3 6}
        set key [of lane_mask_hwtcl],[generation]
        return [expr {[info exists seen($key)] ? $seen($key) : 0}]
    }
    proc serial {} {
        set wires {}
        foreach {role way} {rx_in Input tx_out Output} {
            for {set n 0} {$n < [lanes]} {incr n} { lappend wires $role$n $way 1 }
        }
        wires hip_serial {*}$wires
    }
    proc reconfiguration {} {
        wires reconfig_to_xcvr reconfig_to_xcvr Input [expr {70 * [transceivers]}]
        wires reconfig_from_xcvr reconfig_from_xcvr Output [expr {46 * [transceivers]}]
    }
}
# Status of the link: output of the hard IP (way Output) or input of its reconfiguration driver (Input).
set link_status {
    proc link_status {name way stratix} {
        set all [list derr_cor_ext_rcv 1 derr_cor_ext_rpl 1 derr_rpl 1 dlup_exit 1 ev128ns 1 ev1us 1 hotrst_exit 1 \
            int_status 4 l2_exit 1 lane_act 4 ltssmstate 5 ko_cpl_spc_header 8 ko_cpl_spc_data 12]
        if {$stratix} { lappend all dlup 1 rx_par_err 1 tx_par_err 2 cfg_par_err 1 }
        wires $name {*}[concat {*}[lmap {role width} $all {list $role $way $width}]]
    }
}

kind {altera_pcie_sv_hip_avmm altera_pcie_avgz_hip_avmm altera_pcie_cv_hip_avmm altera_pcie_av_hip_avmm} [string cat \
    $pcie_signals $link_status {
    parameters lane_mask_hwtcl STRING x8 gen123_lane_rate_mode_hwtcl STRING "Gen2 (5.0 Gbps)" \
        avmm_width_hwtcl INTEGER 128 AVALON_ADDR_WIDTH INTEGER 32 TX_S_ADDR_WIDTH INTEGER 32 \
        CB_A2P_ADDR_MAP_NUM_ENTRIES INTEGER 2 CB_A2P_ADDR_MAP_PASS_THRU_BITS INTEGER 20 CG_RXM_IRQ_NUM INTEGER 16 \
        CG_IMPL_CRA_AV_SLAVE_PORT INTEGER 1 CG_ENABLE_ADVANCED_INTERRUPT INTEGER 0 CG_ENABLE_HIP_STATUS INTEGER 0
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
        set key [of lane_mask_hwtcl],[generation],[of avmm_width_hwtcl]
        if {![info exists mhz($key)]} { send_message error "No clock for $key"; return 0 }
        return [expr {$mhz($key) * 1000000}]
    }
    # The PIPE interface of simulations, with each lane's signals.
    proc pipe {} {
        set wires {sim_pipe_pclk_in Input 1 sim_pipe_rate Output 2 sim_ltssmstate Output 5}
        foreach {role way width} {
            eidleinfersel Output 3 powerdown Output 2 rxpolarity Output 1 txcompl Output 1 txdata Output 8
            txdatak Output 1 txdetectrx Output 1 txelecidle Output 1 txswing Output 1 txmargin Output 3
            txdeemph Output 1 phystatus Input 1 rxdata Input 8 rxdatak Input 1 rxelecidle Input 1 rxstatus Input 3
            rxvalid Input 1
        } {
            for {set n 0} {$n < [lanes]} {incr n} { lappend wires $role$n $way $width }
        }
        wires hip_pipe {*}$wires
    }
    proc elaborate {} {
        clock_in refclk
        clock_out coreclkout [rate]
        reset_out nreset_status coreclkout reset_n BOTH
        wires npor npor Input 1 pin_perst Input 1
        serial
        wires hip_ctrl test_in Input 32 simu_mode_pipe Input 1
        reconfiguration
        if {[of CG_ENABLE_HIP_STATUS]} {
            link_status hip_status Output [expr {[family] eq "sv"}]
            wires hip_currentspeed currentspeed Output 2
            wires reconfig_clk_locked fixedclk_locked Output 1
            if {[family] eq "cv"} { wires reconfig_busy reconfig_busy Input 1 }
            pipe
        }
        set bits [of avmm_width_hwtcl]
        # 512 bytes are the longest burst (A.4.2).
        set burst [list burstcount [beats [expr {4096 / $bits}]]]
        for {set n 0} {$n < 6} {incr n} {
            if {[of bar${n}_type_hwtcl] != 0} {
                memory_mapped Rxm_BAR$n start coreclkout nreset_status SYMBOLS \
                    [concat [pipelined $bits [of AVALON_ADDR_WIDTH]] $burst]
                if {![info exists first]} { set first Rxm_BAR$n }
            }
        }
        # Of 32 address bits only those of the translated pages exist.
        set reach [expr {[of TX_S_ADDR_WIDTH] == 64 ? 64
            : [log2 [of CB_A2P_ADDR_MAP_NUM_ENTRIES]] + [of CB_A2P_ADDR_MAP_PASS_THRU_BITS]}]
        memory_mapped Txs end coreclkout nreset_status SYMBOLS \
            [concat [pipelined $bits $reach] $burst {chipselect 1}] {*}[pending 8]
        if {[of CG_IMPL_CRA_AV_SLAVE_PORT]} {
            memory_mapped Cra end coreclkout nreset_status SYMBOLS {chipselect 1 address 14 byteenable 4 read 1 \
                readdata 32 write 1 writedata 32 waitrequest 1}
            irq CraIrq end coreclkout nreset_status Cra 1
        }
        irq RxmIrq start coreclkout nreset_status [expr {[info exists first] ? $first : ""}] [of CG_RXM_IRQ_NUM]
        if {[of CG_ENABLE_ADVANCED_INTERRUPT]} {
            # 4.6.
            wires MSI_Interface msi_intfc Output 82
            wires MSI_Control msi_control Output 16
            wires MSIX_Interface msix_intfc Output 16
            wires INTX_Interface intx_req Input 1 intx_ack Output 1
        }
    }
}]

# As an endpoint, without parity and byte enables (component description of ACDS 13.1).
set streaming_hard_ip {
    parameters lane_mask_hwtcl STRING x8 gen123_lane_rate_mode_hwtcl STRING "Gen2 (5.0 Gbps)" \
        pcie_spec_version_hwtcl STRING 2.1 ast_width_hwtcl STRING "Avalon-ST 64-bit" in_cvp_mode_hwtcl INTEGER 0 \
        use_tx_cons_cred_sel_hwtcl INTEGER 0
    proc packets {name side bits} {
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
        packets rx_st start $bits
        packets tx_st end $bits
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

kind altera_pcie_reconfig_driver [string cat $link_status {
    add_parameter INTENDED_DEVICE_FAMILY STRING "Stratix V"
    set_parameter_property INTENDED_DEVICE_FAMILY SYSTEM_INFO {DEVICE_FAMILY}
    parameters enable_cal_busy_hwtcl INTEGER 0
    proc elaborate {} {
        clock_in reconfig_xcvr_clk
        reset_in reconfig_xcvr_rst reconfig_xcvr_clk
        memory_mapped reconfig_mgmt start reconfig_xcvr_clk reconfig_xcvr_rst WORDS \
            {address 7 read 1 readdata 32 waitrequest 1 write 1 writedata 32}
        wires hip_currentspeed currentspeed Input 2
        wires reconfig_busy reconfig_busy Input 1
        clock_in pld_clk
        link_status hip_status_drv Input [expr {[of INTENDED_DEVICE_FAMILY] in {"Stratix V" "Arria V GZ"}}]
        if {[of enable_cal_busy_hwtcl]} { wires cal_busy_in tx_cal_busy Input 1 rx_cal_busy Input 1 }
    }
}]

kind alt_xcvr_reconfig {
    parameters number_of_reconfig_interfaces INTEGER 2
    proc elaborate {} {
        clock_in mgmt_clk_clk
        reset_in mgmt_rst_reset mgmt_clk_clk
        memory_mapped reconfig_mgmt end mgmt_clk_clk mgmt_rst_reset WORDS \
            {address 7 read 1 readdata 32 waitrequest 1 write 1 writedata 32}
        # 70 bits to and 46 from each (Stratix V Avalon-ST interface for PCIe user guide 683093, 5.14.1).
        set n [of number_of_reconfig_interfaces]
        wires reconfig_to_xcvr reconfig_to_xcvr Output [expr {70 * $n}]
        wires reconfig_from_xcvr reconfig_from_xcvr Input [expr {46 * $n}]
        wires reconfig_busy reconfig_busy Output 1
    }
}

kind altera_mem_if_ddr3_emif {
    parameters MEM_DQ_WIDTH INTEGER 64 MEM_CLK_FREQ FLOAT 800.0 RATE STRING Quarter MEM_ROW_ADDR_WIDTH INTEGER 16 \
        MEM_COL_ADDR_WIDTH INTEGER 10 MEM_BANKADDR_WIDTH INTEGER 3 MEM_NUMBER_OF_RANKS_PER_DIMM INTEGER 1 \
        MEM_NUMBER_OF_DIMMS INTEGER 1 MEM_CK_WIDTH INTEGER 1 MEM_CS_WIDTH INTEGER 1 MEM_CLK_EN_WIDTH INTEGER 1 \
        MEM_IF_DM_PINS_EN BOOLEAN true POWER_OF_TWO_BUS BOOLEAN false AVL_MAX_SIZE INTEGER 16 BYTE_ENABLE BOOLEAN true \
        HARD_EMIF BOOLEAN false NUM_OF_PORTS INTEGER 1 AVL_DATA_WIDTH_PORT STRING "32,32,32,32,32,32" \
        CTL_CSR_ENABLED BOOLEAN false ENABLE_EXPORT_SEQ_DEBUG_BRIDGE BOOLEAN false PLL_SHARING_MODE STRING None \
        DLL_SHARING_MODE STRING None OCT_SHARING_MODE STRING None
    # Signals at the chips, by ranks.
    proc chips {} {
        set ranks [expr {[of MEM_NUMBER_OF_DIMMS] * [of MEM_NUMBER_OF_RANKS_PER_DIMM]}]
        set groups [expr {[of MEM_DQ_WIDTH] / 8}]
        set wires [list mem_a Output [of MEM_ROW_ADDR_WIDTH] mem_ba Output [of MEM_BANKADDR_WIDTH] \
            mem_ck Output [of MEM_CK_WIDTH] mem_ck_n Output [of MEM_CK_WIDTH] \
            mem_cke Output [expr {$ranks * [of MEM_CLK_EN_WIDTH]}] mem_cs_n Output [expr {$ranks * [of MEM_CS_WIDTH]}]]
        if {[of MEM_IF_DM_PINS_EN]} { lappend wires mem_dm Output $groups }
        wires memory {*}$wires mem_ras_n Output 1 mem_cas_n Output 1 mem_we_n Output 1 mem_reset_n Output 1 \
            mem_dq Bidir [of MEM_DQ_WIDTH] mem_dqs Bidir $groups mem_dqs_n Bidir $groups mem_odt Output $ranks
    }
    # Wires to another controller that shares a PLL, a DLL or the termination: outputs of a master, inputs of a slave.
    proc sharing {} {
        set way [expr {[of PLL_SHARING_MODE] eq "Slave" ? "Input" : "Output"}]
        set wires {pll_mem_clk 1 pll_write_clk 1 pll_locked 1 pll_write_clk_pre_phy_clk 1 pll_addr_cmd_clk 1 pll_avl_clk 1
            pll_config_clk 1}
        if {[of HARD_EMIF]} {
            lappend wires pll_mem_phy_clk 1 afi_phy_clk 1 pll_avl_phy_clk 1
        } elseif {[of RATE] eq "Quarter"} {
            lappend wires pll_hr_clk 1 pll_p2c_read_clk 1 pll_c2p_write_clk 1
        }
        wires pll_sharing {*}[concat {*}[lmap {role width} $wires {list $role $way $width}]]
        foreach {parameter name wires} {
            DLL_SHARING_MODE dll_sharing {dll_pll_locked Input 1 dll_delayctrl Output 7}
            OCT_SHARING_MODE oct_sharing {seriesterminationcontrol Output 16 parallelterminationcontrol Output 16}
        } {
            switch [of $parameter] {
                Master { wires $name {*}$wires }
                Slave { wires $name {*}[string map {Input Output Output Input} $wires] }
            }
        }
        if {[of OCT_SHARING_MODE] ne "Slave"} { wires oct rzqin Input 1 }
    }
    # A port of the controller: its data bits and the bits that address a word of it.
    proc memory_port {name clock reset bits reads} {
        set bytes [expr {[of MEM_DQ_WIDTH] / 8}]
        # Bytes for error correction, or that a bus of a power of two leaves out, are not addressed.
        set bytes [expr {1 << [log2 [expr {$bytes + 1}]] - 1}]
        set all [expr {[of MEM_ROW_ADDR_WIDTH] + [of MEM_COL_ADDR_WIDTH] + [of MEM_BANKADDR_WIDTH]
            + [log2 [expr {[of MEM_NUMBER_OF_DIMMS] * [of MEM_NUMBER_OF_RANKS_PER_DIMM]}]] + [log2 $bytes]}]
        set enables [expr {[of HARD_EMIF] || [of BYTE_ENABLE] ? $bits / 8 : 0}]
        memory_mapped $name end $clock $reset WORDS [list waitrequest_n 1 beginbursttransfer 1 \
            address [expr {$all - [log2 [expr {$bits / 8}]]}] readdatavalid 1 readdata $bits writedata $bits read 1 write 1 \
            burstcount [beats [of AVL_MAX_SIZE]] byteenable $enables] {*}[pending $reads] isMemoryDevice true
    }
    # The hard controller's ports, and the four FIFOs of 64 bits each way that they share.
    proc hard_ports {} {
        for {set n 0} {$n < [of NUM_OF_PORTS]} {incr n} {
            foreach {name make} {mp_cmd_clk clock mp_cmd_reset_n reset} {
                if {$make eq "clock"} { clock_in ${name}_$n } else { reset_in ${name}_$n "" reset_n }
            }
            set bits [lindex [split [of AVL_DATA_WIDTH_PORT] ,] $n]
            memory_port avl_$n mp_cmd_clk_$n mp_cmd_reset_n_$n $bits 48
            incr fifos [expr {max(1, $bits / 64)}]
        }
        for {set n 0} {$n < $fifos} {incr n} {
            foreach way {rfifo wfifo} {
                clock_in mp_${way}_clk_$n
                reset_in mp_${way}_reset_n_$n "" reset_n
            }
        }
    }
    proc elaborate {} {
        array set steps {Full 1 Half 2 Quarter 4}
        set step $steps([of RATE])
        clock_in pll_ref_clk
        reset_in global_reset "" reset_n
        reset_in soft_reset "" reset_n
        clock_out afi_clk [expr {round([of MEM_CLK_FREQ] * 1e6 / $step)}]
        clock_out afi_half_clk [expr {round([of MEM_CLK_FREQ] * 1e6 / $step / 2)}]
        reset_out afi_reset "" reset_n
        reset_out afi_reset_export "" reset_n
        chips
        sharing
        wires status local_init_done Output 1 local_cal_success Output 1 local_cal_fail Output 1
        if {[of HARD_EMIF]} { hard_ports; return }
        # Two beats a memory clock.
        set bits [expr {[of MEM_DQ_WIDTH] * 2 * $step}]
        if {[of POWER_OF_TWO_BUS]} { set bits [expr {1 << [log2 [expr {$bits + 1}]] - 1}] }
        memory_port avl afi_clk soft_reset $bits 32
        if {[of CTL_CSR_ENABLED]} {
            memory_mapped csr end afi_clk soft_reset WORDS [pipelined 32 16] {*}[pending 64]
        }
        if {[of ENABLE_EXPORT_SEQ_DEBUG_BRIDGE]} {
            memory_mapped seq_debug end afi_clk soft_reset SYMBOLS [pipelined 32 20] {*}[pending 64]
        }
    }
}

# A monitor between a controller and its master (External Memory Interface handbook, "Efficiency Monitor").
kind altera_avalon_em_pc {
    parameters EMPC_AV_BURSTCOUNT_WIDTH INTEGER 1 EMPC_AV_DATA_WIDTH INTEGER 32 EMPC_AV_ADDRESS_WIDTH INTEGER 20 \
        EMPC_MAX_READ_TRANSACTIONS INTEGER 16
    proc elaborate {} {
        clock_in avl_clk
        reset_in avl_reset_n "" reset_n
        foreach {name side reads} [list avl_in end [of EMPC_MAX_READ_TRANSACTIONS] avl_out start 0] {
            memory_mapped $name $side avl_clk avl_reset_n WORDS [concat \
                [pipelined [of EMPC_AV_DATA_WIDTH] [of EMPC_AV_ADDRESS_WIDTH]] \
                [list burstcount [of EMPC_AV_BURSTCOUNT_WIDTH] beginbursttransfer 1]] {*}[pending $reads]
        }
        memory_mapped em_csr end avl_clk avl_reset_n WORDS [pipelined 32 12] {*}[pending 1]
    }
}
