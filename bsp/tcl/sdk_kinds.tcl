# Models of the components of the OpenCL SDK. Their sources are not available: interfaces, widths, units and spans are
# those of the .sopcinfo that Quartus 18.1 generated for an `acl_dma` board (acl_kernel_interface: of the 13.1 system
# that its BSP shipped as a .qsys); tests/it/sopcinfo.rs compares them. The streams' symbols, for example, have the width
# that this file has.

kind acl_dma {
    parameters BYTE_ADDR_WIDTH INTEGER 34 DATA_WIDTH INTEGER 512 BURST_SIZE INTEGER 16
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        bridge_end csr end clk reset 64 10 1 1
        # Its window is an address span extender: 64 KiB in words of the memory's width.
        memory_mapped s_nondma end clk reset WORDS \
            [concat [pipelined [of DATA_WIDTH] [expr {16 - [log2 [expr {[of DATA_WIDTH] / 8}]]}]] \
            [list burstcount [beats [of BURST_SIZE]]]] {*}[pending [of BURST_SIZE]]
        bridge_end m start clk reset [of DATA_WIDTH] [of BYTE_ADDR_WIDTH] [of BURST_SIZE]
        irq dma_irq end clk reset csr 1
    }
}

kind acl_memory_bank_divider {
    parameters NUM_BANKS INTEGER 2 DATA_WIDTH INTEGER 512 ADDRESS_WIDTH INTEGER 33 BURST_SIZE INTEGER 16 \
        MAX_PENDING_READS INTEGER 64
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        clock_in kernel_clk
        reset_in kernel_reset "" reset_n
        set words [expr {[of ADDRESS_WIDTH] - [log2 [expr {[of DATA_WIDTH] / 8}]]}]
        set burst [list burstcount [beats [of BURST_SIZE]]]
        memory_mapped s end clk reset WORDS \
            [concat [pipelined [of DATA_WIDTH] $words] $burst {beginbursttransfer 1}] {*}[pending [of MAX_PENDING_READS]]
        for {set bank 1} {$bank <= [of NUM_BANKS]} {incr bank} {
            memory_mapped bank$bank start clk reset SYMBOLS [concat \
                [pipelined [of DATA_WIDTH] [expr {[of ADDRESS_WIDTH] - [log2 [of NUM_BANKS]]}]] $burst]
        }
        # Address and length of each write, and one more bit.
        stream acl_bsp_snoop start kernel_clk reset [expr {$words + [beats [of BURST_SIZE]] + 1}]
        # With one bank the SDK 18.1 does not have this conduit; for 13.1 that is not known.
        if {[of NUM_BANKS] > 1} { wires acl_bsp_memorg_host mode Input 2 } else { set ::incomplete 1 }
    }
}

kind acl_kernel_clk {
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        clock_in pll_refclk
        # A kernel's compile decides the rate.
        clock_out kernel_clk 0
        clock_out kernel_clk2x 0
        bridge_end ctrl end clk reset 32 11 1 4
        wires kernel_pll_locked export Output 1
    }
}

# AOCL to 13.1.
kind acl_kernel_interface {
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        reset_in sw_reset_in clk
        clock_in kernel_clk
        reset_out kernel_reset kernel_clk reset_n
        bridge_end kernel_cntrl end clk reset 32 14 1 1
        bridge_end kernel_cra start kernel_clk kernel_reset 64 30 1
        irq kernel_irq_from_kernel start kernel_clk kernel_reset kernel_cra 1
        irq kernel_irq_to_host end clk reset kernel_cntrl 1
        wires acl_bsp_memorg_host mode Output 2
        wires acl_bsp_memorg_kernel mode Output 2
    }
}

# AOCL 14.0 and later. The names of the conduits of further memories are unknown.
kind kernel_interface {
    parameters NUM_GLOBAL_MEMS INTEGER 1
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        bridge_end ctrl end clk reset 32 14 1 1
        clock_in kernel_clk
        bridge_end kernel_cra start kernel_clk reset 64 30 1
        reset_in sw_reset_in clk
        reset_out kernel_reset kernel_clk reset_n
        reset_out sw_reset_export clk reset_n
        wires acl_bsp_memorg_host0x018 mode Output 2
        irq kernel_irq_from_kernel start kernel_clk reset "" 1
        irq kernel_irq_to_host end kernel_clk reset ctrl 1
        if {[of NUM_GLOBAL_MEMS] > 1} { set ::incomplete 1 }
    }
}

kind version_id {
    parameters WIDTH INTEGER 32
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk reset_n
        memory_mapped s end clk clk_reset WORDS [list read 1 readdata [of WIDTH]]
    }
}

kind temperature {
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk reset_n
        memory_mapped s end clk clk_reset WORDS [pipelined 32 2] {*}[pending 1]
    }
}

kind uniphy_status {
    parameters NUM_UNIPHYS INTEGER 2 WIDTH INTEGER 32
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk reset_n
        memory_mapped s end clk clk_reset WORDS [list read 1 readdata [of WIDTH]]
        for {set n 0} {$n < [of NUM_UNIPHYS]} {incr n} {
            wires mem${n}_status local_init_done Input 1 local_cal_success Input 1 local_cal_fail Input 1
        }
        wires status_export local_init_done Output 1 local_cal_success Output 1 local_cal_fail Output 1
    }
}

kind sw_reset {
    parameters WIDTH INTEGER 32
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk reset_n
        memory_mapped s end clk clk_reset WORDS [list write 1 writedata [of WIDTH] byteenable [expr {[of WIDTH] / 8}] \
            read 1 readdata [of WIDTH] waitrequest 1]
        reset_out sw_reset clk reset_n
    }
}

kind no_reset {
    proc elaborate {} { reset_out no_reset "" }
}

kind mem_org_mode {
    parameters WIDTH INTEGER 32
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk reset_n
        memory_mapped s end clk clk_reset WORDS [list write 1 writedata [of WIDTH] read 1 readdata [of WIDTH] waitrequest 1]
        wires mem_organization_kernel mode Output 2
        wires mem_organization_host mode Output 2
    }
}

kind acl_timer {
    parameters WIDTH INTEGER 32
    proc elaborate {} {
        clock_in clk
        clock_in clk2x
        reset_in clk_reset clk reset_n
        memory_mapped s end clk clk_reset WORDS [pipelined [of WIDTH] 2] {*}[pending 1]
    }
}

kind pll_lock_avs {
    parameters WIDTH INTEGER 32
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset clk reset_n
        wires lock export Input 1
        wires lock_export export Output 1
        memory_mapped s end clk clk_reset WORDS [list read 1 readdata [of WIDTH]]
    }
}

kind global_routing_clk {
    proc elaborate {} {
        clock_in clk
        clock_out global_clk 0
    }
}

kind global_routing_reset {
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        reset_out global_reset clk reset_n
    }
}

# The modular SGDMA in the old DMA.
kind modular_sgdma_dispatcher {
    proc elaborate {} {
        clock_in clock
        reset_in clock_reset clock
        memory_mapped CSR end clock clock_reset WORDS {writedata 32 write 1 byteenable 4 readdata 32 read 1 address 3} \
            readLatency 1
        memory_mapped Descriptor_Slave end clock clock_reset WORDS {write 1 waitrequest 1 writedata 256 byteenable 32}
        foreach way {Write Read} {
            stream ${way}_Command_Source start clock clock_reset 256
            stream ${way}_Response_Sink end clock clock_reset 256
        }
        irq csr_irq end clock clock_reset CSR 1
    }
}

set sgdma_master {
    parameters DATA_WIDTH INTEGER 32 GUI_MAX_BURST_COUNT INTEGER 2 BURST_ENABLE INTEGER 0
    # Wide enough for the slaves of the master.
    add_parameter ADDRESS_WIDTH INTEGER 32
    proc master {name data} {
        clock_in Clock
        reset_in Clock_reset Clock
        memory_mapped $name start Clock Clock_reset SYMBOLS [concat $data [list address [expr {max(1, [of ADDRESS_WIDTH])}] \
            byteenable [expr {[of DATA_WIDTH] / 8}] waitrequest 1 \
            burstcount [expr {[of BURST_ENABLE] ? [beats [of GUI_MAX_BURST_COUNT]] : 0}]]]
        stream Command_Sink end Clock Clock_reset 256
        stream Response_Source start Clock Clock_reset 256
    }
}
kind dma_read_master "$sgdma_master
    set_parameter_property ADDRESS_WIDTH SYSTEM_INFO {ADDRESS_WIDTH Data_Read_Master}
    proc elaborate {} {
        master Data_Read_Master \[list read 1 readdata \[of DATA_WIDTH] readdatavalid 1]
        stream Data_Source start Clock Clock_reset \[of DATA_WIDTH] 8
    }
"
kind dma_write_master "$sgdma_master
    set_parameter_property ADDRESS_WIDTH SYSTEM_INFO {ADDRESS_WIDTH Data_Write_Master}
    proc elaborate {} {
        master Data_Write_Master \[list write 1 writedata \[of DATA_WIDTH]]
        stream Data_Sink end Clock Clock_reset \[of DATA_WIDTH] 8
    }
"

# The ring on which a compiled kernel system's control registers are.
set ring {
    parameters DATA_W INTEGER 64 ID_W INTEGER 0
    proc ring {address} {
        clock_in clock
        reset_in reset clock reset_n
        foreach {name way} {ring_in Input ring_out Output} {
            set signals [list read $way 1 write $way 1 addr $way $address data $way [of DATA_W] \
                byteena $way [expr {[of DATA_W] / 8}] datavalid $way 1]
            if {[of ID_W]} { lappend signals id $way [of ID_W] }
            wires $name {*}$signals
        }
    }
}
kind cra_ring_root "$ring
    parameters ADDR_W INTEGER 5
    proc elaborate {} {
        ring \[of ADDR_W]
        memory_mapped cra_slave end clock reset WORDS \[pipelined \[of DATA_W] \[expr {\[of ADDR_W] + \[of ID_W]}]] {*}\[pending 1]
    }
"
kind cra_ring_node "$ring
    parameters RING_ADDR_W INTEGER 5 CRA_ADDR_W INTEGER 5
    proc elaborate {} {
        ring \[of RING_ADDR_W]
        memory_mapped cra_master start clock reset WORDS \[list read 1 write 1 address \[of CRA_ADDR_W] \
            byteenable \[expr {\[of DATA_W] / 8}] writedata \[of DATA_W] readdata \[of DATA_W] readdatavalid 1] {*}\[pending 1]
    }
"
