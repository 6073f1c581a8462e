# Messages of Platform Designer about an elaborated system.
#
# These texts are Platform Designer's, as users quote them: "must be connected to a clock output", "must be
# connected to a reset source" (errors), "must be exported, or connected to a matching conduit" (a warning), "is
# outside the master's address range" with its ranges (an error). "overlaps", "must be connected to an Avalon-MM
# master" and "is not connected to an interrupt receiver" are its texts from memory, as is the level of the last two:
# warnings. All other texts are Peerlane's, for systems that it must refuse; Quartus was not available.

proc hex {number} { return [format "0x%llx" $number] }
proc range {base span} { return "([hex $base]..[hex [expr {$base + $span - 1}]])" }

# Returns the name of an interface in the top, or in the system inside it.
proc known_as {interface} {
    global outside
    return [expr {[info exists outside($interface)] ? $outside($interface) : $interface}]
}

# Reports whether all interfaces of an instance are known.
proc known {instance} {
    global model unknown
    return [expr {[dict size $model($instance)] > 0 && ![info exists unknown($instance)]}]
}

proc problem {level interface text} { say $level "$::top.$interface" $text }

# Keeps connections whose two ends fit, and checks exports; reports the others. Interfaces with a connection to an
# instance that could not be elaborated count as connected.
set spared {}
proc check_ends {} {
    global connections declared model spared
    set fit {}
    set seen {}
    foreach connection $connections {
        lassign $connection start end kind parameters
        set what "Connection $start/$end"
        set good 1
        foreach {interface side} [list $start start $end end] {
            lassign [parts $interface] instance name
            set about [about $interface]
            # Nothing is known of an instance that could not be elaborated.
            if {$about eq ""} {
                if {[known $instance]} { say error $::top "$what: $instance has no interface $name" }
                lappend spared $start $end
                set good 0
                continue
            }
            if {$kind eq ""} { set kind [dict get $about type] }
            if {[dict get $about type] ne $kind} {
                say error $::top "$what: $interface is of type [dict get $about type], not $kind"
                set good 0
            } elseif {$kind ne "conduit" && [dict get $about side] ne $side} {
                say error $::top "$what: $interface cannot be the $side of a connection"
                set good 0
            }
        }
        if {!$good} continue
        if {[list $start $end] in $seen} { say error $::top "$what exists twice"; continue }
        lappend seen [list $start $end]
        lappend fit [list $start $end $kind $parameters]
    }
    set connections $fit
    foreach export $declared {
        lassign $export element name interface type side inner
        if {$type eq ""} continue
        set about [about $interface]
        if {$about eq ""} {
            lassign [parts $interface] instance missing
            # A fault of an export of an inner system has been reported there.
            if {!$inner && [known $instance]} {
                say error $element "Interface $name: $instance has no interface $missing"
            }
        } elseif {[dict get $about type] ne $type || ($type ne "conduit" && [dict get $about side] ne $side)} {
            say error $element "Interface $name is declared as $type $side, but $interface is [dict get $about type] [dict get $about side]"
        }
    }
}

# Reports interfaces without a connection.
proc check_unconnected {} {
    global model connections exported
    set used {}
    foreach connection $connections { dict set used [lindex $connection 0] 1; dict incr used [lindex $connection 1] }
    dict for {name export} $exported { dict set used [lindex $export 0] 1 }
    foreach interface $::spared { dict set used $interface 1 }
    array set words {
        "clock end" {error "must be connected to a clock output"}
        "reset end" {error "must be connected to a reset source"}
        "avalon end" {warning "must be connected to an Avalon-MM master"}
        "avalon start" {warning "must be connected to an Avalon-MM slave"}
        "avalon_streaming start" {warning "must be connected to an Avalon-ST sink"}
        "avalon_streaming end" {warning "must be connected to an Avalon-ST source"}
        "conduit end" {warning "must be exported, or connected to a matching conduit."}
    }
    foreach instance [lsort [array names model]] {
        dict for {name about} $model($instance) {
            set interface $instance.$name
            set shown [known_as $interface]
            set key "[dict get $about type] [dict get $about side]"
            if {![dict exists $used $interface]} {
                if {[info exists words($key)]} {
                    lassign $words($key) level text
                    problem $level $shown "$shown $text"
                } elseif {$key eq "interrupt end"} {
                    problem warning $shown "Interrupt sender $shown is not connected to an interrupt receiver"
                }
            }
        }
    }
    # A clock input has one source.
    foreach connection $connections {
        lassign $connection start end kind
        if {$kind eq "clock"} { lappend drivers($end) $start }
    }
    foreach sink [lsort [array names drivers]] {
        if {[llength $drivers($sink)] > 1} {
            problem error $sink "$sink is connected to more than one clock output: [join $drivers($sink) {, }]"
        }
    }
}

# Checks the addresses of each master's slaves.
proc check_addresses {} {
    global connections
    set masters {}
    foreach connection $connections {
        lassign $connection start end kind parameters
        if {$kind ne "avalon"} continue
        if {$start ni $masters} { lappend masters $start }
        if {[base_of $parameters] eq ""} {
            problem error $start "$end: baseAddress \"[dict get $parameters baseAddress]\" is not an address"
        }
    }
    foreach master [lsort $masters] {
        set whole [reach [about $master]]
        set before {}
        foreach slave [slaves_of $master] {
            lassign $slave name base span
            if {$base + $span > $whole} {
                problem error $master \
                    "$name [range $base $span] is outside the master's address range [range 0 $whole]"
            }
            # The interconnect compares the address bits above the span.
            set aligned [expr {1 << [bits_for $span]}]
            if {$base % $aligned} {
                problem error $master "$name: base address [hex $base] must be a multiple of its span [hex $aligned]"
            }
            foreach other $before {
                lassign $other earlier from size
                if {$base < $from + $size} {
                    problem error $master "$earlier [range $from $size] overlaps $name [range $base $span]"
                }
            }
            lappend before $slave
        }
    }
}

# Checks the interrupt numbers at each receiver.
proc check_interrupts {} {
    global connections
    foreach connection $connections {
        lassign $connection start end kind parameters
        if {$kind ne "interrupt"} continue
        set number [get $parameters 0 irqNumber]
        set lines [lindex [get [about $start] {Input 1} ports irq] 1]
        if {![string is integer -strict $number] || $number < 0 || $number >= $lines} {
            problem error $start "$end: interrupt number $number is not in the range 0..[expr {$lines - 1}]"
            continue
        }
        if {[info exists taken($start,$number)]} {
            problem error $start "$taken($start,$number) and $end have the same interrupt number $number"
        }
        set taken($start,$number) $end
    }
}

# Checks conduits: two fit if each signal of one has the same role in the other, with opposite direction and equal width.
proc check_conduits {} {
    global connections
    array set opposite {Input Output Output Input Bidir Bidir}
    foreach connection $connections {
        lassign $connection start end kind
        if {$kind ne "conduit"} continue
        set one [dict get [about $start] ports]
        set two [dict get [about $end] ports]
        foreach role [lsort -unique [concat [dict keys $one] [dict keys $two]]] {
            if {![dict exists $one $role] || ![dict exists $two $role]} {
                set lacks [expr {[dict exists $one $role] ? $end : $start}]
                problem error $start "Connection $start/$end: $lacks has no signal of role $role"
                continue
            }
            lassign [dict get $one $role] direction width
            lassign [dict get $two $role] other_direction other_width
            if {$opposite($direction) ne $other_direction} {
                problem error $start "Connection $start/$end: both signals of role $role are of direction $direction"
            }
            if {$width && $other_width && $width != $other_width} {
                problem error $start "Connection $start/$end: role $role has $width bits and $other_width"
            }
        }
    }
}

# Checks that two ends of packets fit without an adapter: an adapter would not follow the rules of PCIe packets.
proc check_streams {} {
    global connections
    foreach connection $connections {
        lassign $connection start end kind
        if {$kind ne "avalon_streaming"} continue
        set one [about $start]
        set two [about $end]
        foreach property {beatsPerCycle dataBitsPerSymbol maxChannel readyLatency symbolsPerBeat} {
            set a [get $one 0 properties $property]
            set b [get $two 0 properties $property]
            if {$a != $b} { problem error $start "Connection $start/$end: $property is $a and $b" }
        }
        set one [dict get $one ports]
        set two [dict get $two ports]
        foreach role [lsort -unique [concat [dict keys $one] [dict keys $two]]] {
            set a [lindex [get $one {Input 0} $role] 1]
            set b [lindex [get $two {Input 0} $role] 1]
            if {$a != $b} { problem error $start "Connection $start/$end: role $role has $a bits and $b" }
        }
    }
}

proc validate_system {} {
    check_ends
    check_unconnected
    check_addresses
    check_interrupts
    check_conduits
    check_streams
}
