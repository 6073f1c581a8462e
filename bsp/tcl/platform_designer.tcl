# Stands in for Platform Designer while it reads a component description (_hw.tcl): the commands of
# the qsys 12.1 scripting API that such a file uses, each with the properties, roles and values that it
# takes. Everything else is an error, so that a misspelt property does not pass.
#
#   tclsh platform_designer.tcl FILE_hw.tcl
#
# Prints what was declared, one a line:
#   component NAME / interface NAME TYPE SIDE / port INTERFACE NAME ROLE DIRECTION WIDTH
#   top FILESET MODULE / file FILESET PATH

package provide qsys 12.1

# Property -> pattern of its value.
array set module_properties {
    NAME {^[A-Za-z_]\w*$}           VERSION {^[\w.]+$}
    DISPLAY_NAME {.}                DESCRIPTION {.*}
    GROUP {.}                       AUTHOR {.*}
    INTERNAL {^(true|false)$}       OPAQUE_ADDRESS_MAP {^(true|false)$}
    EDITABLE {^(true|false)$}       INSTANTIATE_IN_SYSTEM_MODULE {^(true|false)$}
}
set boolean {^(true|false)$}
set count {^\d+$}
set name {^[A-Za-z_]\w*$}
set units {^(WORDS|SYMBOLS)$}
set avalon_properties [list \
    ENABLED $boolean associatedClock $name associatedReset $name addressUnits $units \
    burstOnBurstBoundariesOnly $boolean burstcountUnits $units linewrapBursts $boolean \
    maximumPendingReadTransactions $count readLatency $count readWaitTime $count \
    writeWaitTime $count bitsPerSymbol $count holdTime $count setupTime $count \
    timingUnits {^(Cycles|Nanoseconds)$}]
# Side by side: type and side -> properties; type and side -> role {direction width-pattern}.
array set interface_properties [list \
    {avalon end} [concat $avalon_properties [list bridgesToMaster $name isMemoryDevice $boolean \
        isNonVolatileStorage $boolean printableDevice $boolean explicitAddressSpan $count]] \
    {avalon start} [concat $avalon_properties [list doStreamReads $boolean doStreamWrites $boolean]] \
    {clock end} [list ENABLED $boolean clockRate $count] \
    {reset end} [list ENABLED $boolean associatedClock $name \
        synchronousEdges {^(NONE|DEASSERT|BOTH)$}] \
    {interrupt end} [list ENABLED $boolean associatedClock $name associatedReset $name \
        associatedAddressablePoint $name bridgedReceiverOffset $count] \
    {interrupt start} [list ENABLED $boolean associatedClock $name associatedReset $name \
        associatedAddressablePoint {^([A-Za-z_]\w*)?$} irqScheme {^(INDIVIDUAL_REQUESTS|NONE)$}] \
    {conduit end} [list ENABLED $boolean associatedClock $name associatedReset $name]]
set request {address writedata read write byteenable burstcount}
set answer {readdata readdatavalid waitrequest}

array set module {}
array set types {}
array set properties {}
set order {}
set ports {}
array set port_names {}
set filesets {}
array set tops {}
set files {}

proc property {kind name value allowed} {
    array set known $allowed
    if {![info exists known($name)]} { error "$kind has no property $name" }
    if {![regexp $known($name) $value]} { error "$kind: property $name cannot be \"$value\"" }
}

proc set_module_property {name value} {
    global module module_properties
    property "a component" $name $value [array get module_properties]
    if {[info exists module($name)]} { error "property $name is set twice" }
    set module($name) $value
}

proc add_fileset {name kind callback {display ""}} {
    global filesets
    if {$kind ni {QUARTUS_SYNTH SIM_VERILOG}} { error "no fileset of kind $kind" }
    if {$name in $filesets} { error "fileset $name is added twice" }
    if {$callback ne ""} { error "fileset $name: callbacks are not used here" }
    lappend filesets $name
}

proc set_fileset_property {fileset name value} {
    global filesets tops
    if {$fileset ni $filesets} { error "there is no fileset $fileset" }
    if {$name ne "TOP_LEVEL"} { error "a fileset has no property $name" }
    set tops($fileset) $value
}

# Without a callback, a file belongs to the fileset that was added last.
proc add_fileset_file {path type how source args} {
    global filesets files
    if {$filesets eq {}} { error "file $path belongs to no fileset" }
    if {$type ne "VERILOG"} { error "file $path: type $type is not plain Verilog" }
    if {$how ne "PATH"} { error "file $path: $how instead of PATH" }
    foreach attribute $args {
        if {$attribute ne "TOP_LEVEL_FILE"} { error "file $path: no attribute $attribute" }
    }
    set file [file join [file dirname $::description] $source]
    if {![file isfile $file]} { error "file $source is not there" }
    set fileset [lindex $filesets end]
    if {[list $fileset $path] in $files} { error "file $path is added twice to $fileset" }
    lappend files [list $fileset $path]
}

proc add_interface {name type side} {
    global types order interface_properties
    if {![info exists interface_properties([list $type $side])]} { error "no interface of type $type $side" }
    if {[info exists types($name)]} { error "interface $name is added twice" }
    set types($name) [list $type $side]
    lappend order $name
}

proc set_interface_property {interface name value} {
    global types properties interface_properties
    if {![info exists types($interface)]} { error "there is no interface $interface" }
    property "interface $interface ($types($interface))" $name $value $interface_properties($types($interface))
    if {[info exists properties($interface,$name)]} { error "$interface: property $name is set twice" }
    set properties($interface,$name) $value
}

proc add_interface_port {interface port role direction width} {
    global types ports port_names request answer
    if {![info exists types($interface)]} { error "there is no interface $interface" }
    if {[info exists port_names($port)]} { error "port $port is added twice" }
    if {![string is integer -strict $width] || $width < 1} { error "port $port: width $width" }
    lassign $types($interface) type side
    switch $type {
        clock { set good [list clk Input] }
        reset { set good [list reset Input reset_n Input] }
        interrupt {
            set way [expr {$side eq "start" ? "Input" : "Output"}]
            set good [list irq $way irq_n $way]
        }
        conduit {
            # Its roles are names that the two ends agree on.
            if {![regexp {^[a-z_]\w*$} $role]} { error "$interface: role $role" }
            if {$direction ni {Input Output}} { error "port $port: direction $direction" }
            set good [list $role $direction]
        }
        avalon {
            set good {}
            lassign [expr {$side eq "start" ? {Output Input} : {Input Output}}] forward back
            foreach r $request { lappend good $r $forward }
            foreach r $answer { lappend good $r $back }
        }
    }
    array set directions $good
    if {![info exists directions($role)]} { error "$interface ($type $side): no role $role" }
    if {$directions($role) ne $direction} { error "port $port: role $role of a $type $side is $directions($role)" }
    foreach other $ports {
        if {[lindex $other 0] eq $interface && [lindex $other 2] eq $role} { error "$interface: role $role is taken twice" }
    }
    set port_names($port) $width
    lappend ports [list $interface $port $role $direction $width]
}

# What Platform Designer checks when all of the description has been read.
proc finish {} {
    global module types properties order ports filesets tops files
    foreach name {NAME VERSION DISPLAY_NAME} {
        if {![info exists module($name)]} { error "property $name of the component is not set" }
    }
    foreach fileset $filesets {
        if {![info exists tops($fileset)]} { error "fileset $fileset has no top module" }
    }
    foreach interface $order {
        lassign $types($interface) type side
        array unset width
        foreach port $ports {
            if {[lindex $port 0] eq $interface} { set width([lindex $port 2]) [lindex $port 4] }
        }
        if {[array size width] == 0} { error "interface $interface has no ports" }
        foreach {property wanted} {associatedClock clock associatedReset reset associatedAddressablePoint avalon} {
            if {[info exists properties($interface,$property)]} {
                set other $properties($interface,$property)
                # An interrupt receiver without a master of its own.
                if {$other eq "" && $property eq "associatedAddressablePoint"} { continue }
                if {![info exists types($other)] || [lindex $types($other) 0] ne $wanted} {
                    error "$interface: $property $other is no $wanted interface"
                }
            } elseif {$property eq "associatedClock" && $type ni {clock conduit}} {
                error "interface $interface has no associatedClock"
            } elseif {$property eq "associatedReset" && $type in {avalon interrupt}} {
                error "interface $interface has no associatedReset"
            }
        }
        if {$type eq "avalon"} { check_avalon $interface $side [array get width] }
    }
}

proc check_avalon {interface side widths} {
    global properties
    array set width $widths
    foreach {role other} {read readdata readdata read write writedata writedata write readdatavalid read} {
        if {[info exists width($role)] && ![info exists width($other)]} {
            error "$interface has $role without $other"
        }
    }
    foreach role {read write} {
        if {[info exists width($role)] && $width($role) != 1} { error "$interface: $role is $width($role) bits wide" }
    }
    if {[info exists width(readdata)] && [info exists width(writedata)] && $width(readdata) != $width(writedata)} {
        error "$interface: readdata and writedata differ in width"
    }
    foreach role {readdata writedata} {
        if {![info exists width($role)]} { continue }
        if {$width($role) ni {8 16 32 64 128 256 512 1024}} { error "$interface: data of $width($role) bits" }
        if {[info exists width(byteenable)] && $width(byteenable) * 8 != $width($role)} {
            error "$interface: $width(byteenable) byte enables for $width($role) bits"
        }
    }
    if {$side eq "start" && ![info exists width(waitrequest)]} { error "master $interface has no waitrequest" }
    set fixed [info exists properties($interface,readLatency)]
    if {$fixed && $properties($interface,readLatency) > 0 && [info exists width(readdatavalid)]} {
        error "$interface: a fixed readLatency beside readdatavalid"
    }
    if {$side eq "end" && [info exists width(readdatavalid)]} {
        if {![info exists properties($interface,maximumPendingReadTransactions)]
            || $properties($interface,maximumPendingReadTransactions) == 0} {
            error "$interface: readdatavalid without maximumPendingReadTransactions"
        }
    }
}

set description [lindex $argv 0]
if {[catch {source $description; finish} message]} {
    puts stderr $message
    exit 1
}
puts "component $module(NAME)"
foreach name $order { puts "interface $name $types($name)" }
foreach port $ports { puts "port $port" }
foreach fileset $filesets { puts "top $fileset $tops($fileset)" }
foreach file $files { puts "file $file" }
