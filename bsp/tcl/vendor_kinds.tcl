# Models of the kinds of components that real BSPs use from Quartus and from the OpenCL SDK: their interfaces with
# roles, widths and spans, in the language of component descriptions. Parameters that change no interface are missing
# here; Platform Designer has them. hard_kinds.tcl has hard IPs and memory controllers, sdk_kinds.tcl the SDK's.
#
# Sources: Quartus II handbook volume 1 (QII51021, "Qsys Interconnect", and "Qsys System Design Components") and the
# Embedded Peripherals IP user guide (683130) for the kinds of this file; roles, polarities, units, fixed latencies and
# pending reads as in the .sopcinfo of systems that Quartus 16.0 and 18.1 generated. tests/it/sopcinfo.rs compares them.

array set vendor {}

# Common part of the models, which precedes each.
set vendor_prelude {
    set_module_property ELABORATION_CALLBACK elaborate
    proc parameters {args} { foreach {name type value} $args { add_parameter $name $type $value } }
    proc of {name} { return [get_parameter_value $name] }
    proc log2 {n} { for {set bits 0} {(1 << $bits) < $n} {incr bits} {}; return $bits }
    proc clock_in {name} { add_interface $name clock end; add_interface_port $name ${name}_clk clk Input 1 }
    # A rate of 0 is unknown.
    proc clock_out {name rate} {
        add_interface $name clock start
        set_interface_property $name clockRate $rate
        set_interface_property $name clockRateKnown [expr {$rate > 0 ? "true" : "false"}]
        add_interface_port $name ${name}_clk clk Output 1
    }
    proc edges {name clock edges} {
        set edges [string toupper $edges]
        if {$edges eq "NONE"} {
            set_interface_property $name synchronousEdges NONE
        } else {
            set_interface_property $name associatedClock $clock
            set_interface_property $name synchronousEdges $edges
        }
    }
    # Without a clock a reset is asynchronous. The role determines whether it is active low.
    proc reset_in {name clock {role reset} {edges DEASSERT}} {
        add_interface $name reset end
        edges $name $clock [expr {$clock eq "" ? "NONE" : $edges}]
        add_interface_port $name ${name}_reset $role Input 1
    }
    proc reset_out {name clock {role reset} {edges DEASSERT}} {
        add_interface $name reset start
        edges $name $clock [expr {$clock eq "" ? "NONE" : $edges}]
        add_interface_port $name ${name}_reset $role Output 1
    }
    # An Avalon-MM interface: roles and widths; a width of 0 leaves the signal out. More properties follow as arguments.
    proc memory_mapped {name side clock reset units signals args} {
        lassign [expr {$side eq "start" ? {Output Input} : {Input Output}}] there back
        add_interface $name avalon $side
        foreach {property value} [concat [list associatedClock $clock associatedReset $reset addressUnits $units] $args] {
            set_interface_property $name $property $value
        }
        foreach {role width} $signals {
            if {$width == 0} continue
            set direction [expr {$role in {readdata readdatavalid waitrequest waitrequest_n} ? $back : $there}]
            add_interface_port $name ${name}_$role $role $direction $width
        }
    }
    proc pending {reads} { return [list maximumPendingReadTransactions $reads] }
    # Signals of an interface that reads and writes with wait states.
    proc pipelined {bits address} {
        return [list waitrequest 1 readdata $bits readdatavalid 1 read 1 write 1 writedata $bits address $address \
            byteenable [expr {$bits / 8}]]
    }
    # Bits that count beats of a burst.
    proc beats {burst} { return [expr {[log2 $burst] + 1}] }
    # One end of an Avalon-MM bridge.
    proc bridge_end {name side clock reset bits address burst {reads 0} {units SYMBOLS}} {
        memory_mapped $name $side $clock $reset $units \
            [concat [pipelined $bits $address] [list burstcount [beats $burst] debugaccess 1]] {*}[pending $reads]
    }
    proc irq {name side clock reset master width {role irq}} {
        add_interface $name interrupt $side
        set_interface_property $name associatedClock $clock
        set_interface_property $name associatedReset $reset
        if {$side eq "end" || $master ne ""} { set_interface_property $name associatedAddressablePoint $master }
        add_interface_port $name ${name}_irq $role [expr {$side eq "start" ? "Input" : "Output"}] $width
    }
    # Wires: role, direction and width of each; a width of 0 is unknown.
    proc wires {name args} {
        add_interface $name conduit end
        foreach {role direction width} $args { add_interface_port $name ${name}_$role $role $direction $width }
    }
    # A stream without packets: data, valid and ready. Its symbols are as wide as its data by default.
    proc stream {name side clock reset bits {symbol 0}} {
        lassign [expr {$side eq "start" ? {Output Input} : {Input Output}}] there back
        add_interface $name avalon_streaming $side
        set_interface_property $name associatedClock $clock
        set_interface_property $name associatedReset $reset
        set_interface_property $name dataBitsPerSymbol [expr {$symbol ? $symbol : $bits}]
        foreach {role direction width} [list data $there $bits valid $there 1 ready $back 1] {
            add_interface_port $name ${name}_$role $role $direction $width
        }
    }
}

proc kind {names body} {
    global vendor vendor_prelude
    foreach name $names { set vendor($name) "$vendor_prelude\n$body" }
}

kind clock_source {
    parameters clockFrequency LONG 50000000 clockFrequencyKnown BOOLEAN true resetSynchronousEdges STRING NONE
    add_parameter inputClockFrequency LONG 0
    set_parameter_property inputClockFrequency SYSTEM_INFO {CLOCK_RATE clk_in}
    proc elaborate {} {
        clock_in clk_in
        reset_in clk_in_reset clk_in reset_n [of resetSynchronousEdges]
        clock_out clk [expr {[of clockFrequencyKnown] ? [of clockFrequency] : max(0, [of inputClockFrequency])}]
        reset_out clk_reset clk reset_n [of resetSynchronousEdges]
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
    parameters SYNCHRONOUS_EDGES STRING deassert NUM_RESET_OUTPUTS INTEGER 1 ACTIVE_LOW_RESET INTEGER 0
    proc elaborate {} {
        set clock ""
        set edges [of SYNCHRONOUS_EDGES]
        if {$edges ne "none"} { set clock clk; clock_in clk }
        set role [expr {[of ACTIVE_LOW_RESET] ? "reset_n" : "reset"}]
        reset_in in_reset $clock $role $edges
        reset_out out_reset $clock $role $edges
        for {set n 1} {$n < [of NUM_RESET_OUTPUTS]} {incr n} { reset_out out_reset_$n $clock $role $edges }
    }
}

kind altera_reset_controller {
    parameters NUM_RESET_INPUTS INTEGER 2 OUTPUT_RESET_SYNC_EDGES STRING deassert RESET_REQUEST_PRESENT INTEGER 0
    for {set n 0} {$n < 16} {incr n} { add_parameter USE_RESET_REQUEST_IN$n INTEGER 0 }
    proc elaborate {} {
        set clock ""
        set edges [of OUTPUT_RESET_SYNC_EDGES]
        if {$edges ne "none"} { set clock clk; clock_in clk }
        for {set n 0} {$n < [of NUM_RESET_INPUTS]} {incr n} {
            reset_in reset_in$n ""
            if {[of USE_RESET_REQUEST_IN$n]} { add_interface_port reset_in$n reset_req_in$n reset_req Input 1 }
        }
        reset_out reset_out $clock reset $edges
        if {[of RESET_REQUEST_PRESENT]} { add_interface_port reset_out reset_req reset_req Output 1 }
    }
}

set bridge_parameters {
    parameters DATA_WIDTH INTEGER 32 ADDRESS_WIDTH INTEGER 10 USE_AUTO_ADDRESS_WIDTH INTEGER 0 \
        ADDRESS_UNITS STRING SYMBOLS MAX_BURST_SIZE INTEGER 1 SYSINFO_ADDR_WIDTH INTEGER 10
    set_parameter_property SYSINFO_ADDR_WIDTH SYSTEM_INFO {ADDRESS_WIDTH m0}
    set_parameter_property DATA_WIDTH ALLOWED_RANGES {8 16 32 64 128 256 512 1024}
    # Returns the address bits: those of the bridge's slaves, or the configured ones.
    proc address {} {
        return [expr {[of USE_AUTO_ADDRESS_WIDTH] ? max(1, [of SYSINFO_ADDR_WIDTH]) : [of ADDRESS_WIDTH]}]
    }
}

kind altera_avalon_mm_bridge "$bridge_parameters
    parameters MAX_PENDING_RESPONSES INTEGER 4
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        foreach {name side reads} {s0 end 1 m0 start 0} {
            bridge_end \$name \$side clk reset \[of DATA_WIDTH] \[address] \[of MAX_BURST_SIZE] \
                \[expr {\$reads ? \[of MAX_PENDING_RESPONSES] : 0}] \[of ADDRESS_UNITS]
        }
    }
"

kind altera_avalon_mm_clock_crossing_bridge "$bridge_parameters
    parameters COMMAND_FIFO_DEPTH INTEGER 4 RESPONSE_FIFO_DEPTH INTEGER 4
    proc elaborate {} {
        # As many as its FIFOs hold, 128 at most.
        set reads \[expr {min(128, \[of COMMAND_FIFO_DEPTH] + \[of RESPONSE_FIFO_DEPTH])}]
        foreach {name side reads} \[list s0 end \$reads m0 start 0] {
            clock_in \${name}_clk
            reset_in \${name}_reset \${name}_clk
            bridge_end \$name \$side \${name}_clk \${name}_reset \[of DATA_WIDTH] \[address] \[of MAX_BURST_SIZE] \$reads \
                \[of ADDRESS_UNITS]
        }
    }
"

kind altera_avalon_onchip_memory2 {
    parameters dataWidth INTEGER 32 memorySize LONG 4096 writable BOOLEAN true slave1Latency INTEGER 1 \
        slave2Latency INTEGER 1 dualPort BOOLEAN false singleClockOperation BOOLEAN false resetrequest_enabled BOOLEAN true
    proc port {n clock reset} {
        set bits [of dataWidth]
        # One byte needs no byte enables.
        set enables [expr {$bits > 8 ? $bits / 8 : 0}]
        memory_mapped s$n end $clock $reset WORDS \
            [list address [log2 [expr {[of memorySize] / ($bits / 8)}]] clken 1 chipselect 1 write 1 readdata $bits \
            writedata $bits byteenable $enables debugaccess [expr {![of writable]}]] \
            readLatency [of slave${n}Latency] explicitAddressSpan [of memorySize] isMemoryDevice true
    }
    proc clocked {n} {
        clock_in clk$n
        reset_in reset$n clk$n
        if {[of resetrequest_enabled]} { add_interface_port reset$n reset${n}_req reset_req Input 1 }
    }
    proc elaborate {} {
        clocked 1
        port 1 clk1 reset1
        if {![of dualPort]} return
        if {[of singleClockOperation]} { port 2 clk1 reset1; return }
        clocked 2
        port 2 clk2 reset2
    }
}

kind altera_irq_bridge {
    parameters IRQ_WIDTH INTEGER 32 IRQ_N INTEGER 0
    proc elaborate {} {
        set role [expr {[of IRQ_N] ? "irq_n" : "irq"}]
        clock_in clk
        reset_in clk_reset clk
        irq receiver_irq start clk clk_reset "" [of IRQ_WIDTH] $role
        for {set n 0} {$n < [of IRQ_WIDTH]} {incr n} {
            add_interface sender${n}_irq interrupt end
            set_interface_property sender${n}_irq associatedClock clk
            set_interface_property sender${n}_irq associatedReset clk_reset
            add_interface_port sender${n}_irq sender$n $role Output 1
        }
    }
}

kind altera_address_span_extender {
    parameters DATA_WIDTH INTEGER 32 MASTER_ADDRESS_WIDTH INTEGER 32 SLAVE_ADDRESS_WIDTH INTEGER 16 \
        BURSTCOUNT_WIDTH INTEGER 1 SUB_WINDOW_COUNT INTEGER 1 ENABLE_SLAVE_PORT BOOLEAN true MAX_PENDING_READS INTEGER 1
    proc elaborate {} {
        clock_in clock
        reset_in reset clock
        set burst [list burstcount [of BURSTCOUNT_WIDTH]]
        memory_mapped windowed_slave end clock reset WORDS \
            [concat [pipelined [of DATA_WIDTH] [of SLAVE_ADDRESS_WIDTH]] $burst] {*}[pending [of MAX_PENDING_READS]]
        memory_mapped expanded_master start clock reset SYMBOLS \
            [concat [pipelined [of DATA_WIDTH] [of MASTER_ADDRESS_WIDTH]] $burst]
        if {![of ENABLE_SLAVE_PORT]} return
        memory_mapped cntl end clock reset WORDS [list read 1 readdata 64 write 1 writedata 64 byteenable 8 \
            address [log2 [of SUB_WINDOW_COUNT]]] readLatency 1
    }
}

kind altera_pll {
    parameters gui_number_of_clocks INTEGER 1 gui_use_locked BOOLEAN true gui_en_reconf BOOLEAN false
    for {set n 0} {$n < 18} {incr n} {
        parameters gui_output_clock_frequency$n FLOAT 100.0 output_clock_frequency$n STRING "0 MHz"
    }
    # Returns the rate that the PLL reaches if the system has it, else the requested one.
    proc rate {n} {
        lassign [of output_clock_frequency$n] mhz
        if {$mhz == 0} { set mhz [of gui_output_clock_frequency$n] }
        return [expr {round($mhz * 1e6)}]
    }
    proc elaborate {} {
        clock_in refclk
        reset_in reset ""
        for {set n 0} {$n < [of gui_number_of_clocks]} {incr n} { clock_out outclk$n [rate $n] }
        if {[of gui_use_locked]} { wires locked export Output 1 }
        if {[of gui_en_reconf]} {
            wires reconfig_to_pll reconfig_to_pll Input 64
            wires reconfig_from_pll reconfig_from_pll Output 64
        }
    }
}

kind altera_pll_reconfig {
    parameters ENABLE_BYTEENABLE BOOLEAN false
    proc elaborate {} {
        clock_in mgmt_clk
        reset_in mgmt_reset mgmt_clk
        memory_mapped mgmt_avalon_slave end mgmt_clk mgmt_reset WORDS [list waitrequest 1 read 1 write 1 readdata 32 \
            address 6 writedata 32 byteenable [expr {[of ENABLE_BYTEENABLE] ? 4 : 0}]]
        wires reconfig_to_pll reconfig_to_pll Output 64
        wires reconfig_from_pll reconfig_from_pll Input 64
    }
}

# 683130, "PIO Core": its registers are four words, or eight with the bit-set and bit-clear registers.
kind altera_avalon_pio {
    parameters width INTEGER 8 direction STRING Output generateIRQ BOOLEAN false bitModifyingOutReg BOOLEAN false
    proc elaborate {} {
        clock_in clk
        reset_in reset clk reset_n
        memory_mapped s1 end clk reset WORDS [list address [expr {[of bitModifyingOutReg] ? 3 : 2}] write 1 readdata 32 \
            writedata 32 chipselect 1]
        if {[of generateIRQ]} { irq irq end clk reset s1 1 }
        set wires {}
        switch [of direction] {
            InOut { set wires {in Input out Output} }
            Bidir { set wires {export Bidir} }
            Input - Output { set wires [list export [of direction]] }
        }
        wires external_connection {*}[concat {*}[lmap {role way} $wires {list $role $way [of width]}]]
    }
}

# 683130, "Avalon Tristate Conduit Components": the wires of a tristate bus; their roles are the device's.
kind altera_generic_tristate_controller {
    parameters TCM_ADDRESS_W INTEGER 30 TCM_DATA_W INTEGER 32 MAX_PENDING_READ_TRANSACTIONS INTEGER 3
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        memory_mapped uas end clk reset SYMBOLS [concat [pipelined [of TCM_DATA_W] [of TCM_ADDRESS_W]] \
            [list burstcount [beats [expr {[of TCM_DATA_W] / 8}]] lock 1 debugaccess 1]] \
            {*}[pending [of MAX_PENDING_READ_TRANSACTIONS]]
        bus tcm start clk reset
    }
    proc bus {name side clock reset} {
        add_interface $name tristate_conduit $side
        set_interface_property $name associatedClock $clock
        set_interface_property $name associatedReset $reset
        add_interface_port $name ${name}_request request [expr {$side eq "start" ? "Output" : "Input"}] 1
    }
}
kind altera_tristate_conduit_bridge {
    proc elaborate {} {
        clock_in clk
        reset_in reset clk
        add_interface tcs tristate_conduit end
        set_interface_property tcs associatedClock clk
        set_interface_property tcs associatedReset reset
        add_interface_port tcs request request Input 1
        wires out export Bidir 0
    }
}

kind altera_jtag_avalon_master {
    proc elaborate {} {
        clock_in clk
        reset_in clk_reset ""
        memory_mapped master start clk clk_reset SYMBOLS [pipelined 32 32]
        reset_out master_reset ""
    }
}

kind altera_avalon_st_adapter {
    parameters inDataWidth INTEGER 8 outDataWidth INTEGER 8 inBitsPerSymbol INTEGER 8
    proc elaborate {} {
        clock_in in_clk_0
        reset_in in_rst_0 in_clk_0
        stream in_0 end in_clk_0 in_rst_0 [of inDataWidth] [of inBitsPerSymbol]
        stream out_0 start in_clk_0 in_rst_0 [of outDataWidth] [of inBitsPerSymbol]
    }
}
