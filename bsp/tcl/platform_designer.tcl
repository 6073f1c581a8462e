# Mock of Platform Designer that reads a component description (_hw.tcl): the commands of
# the qsys 12.1 scripting API that such a file uses, each with the properties, roles and values that it
# accepts, in the phases that permit it (Quartus II handbook, QII51023, "Component Interface Tcl Reference").
# Everything else is an error, so that a misspelt property does not pass. foreign.tcl makes it lenient for the
# descriptions of others.
#
#   tclsh platform_designer.tcl FILE_hw.tcl
#
# runs the description, its validation and its elaboration, as for an instance without connections, and
# prints the declarations, one a line:
#   component NAME / parameter NAME VALUE / interface NAME TYPE SIDE / port INTERFACE NAME ROLE DIRECTION WIDTH
#   top FILESET MODULE / file FILESET PATH
#
# elaborate.tcl reads it into an interpreter of each instance of a system, and calls describe, validate_parameters,
# elaborate_interfaces and finish itself.

# Property -> pattern of its value.
array set module_properties {
    VALIDATION_CALLBACK {^\w+$}     ELABORATION_CALLBACK {^\w+$}
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
set streaming_properties [list \
    ENABLED $boolean associatedClock $name associatedReset $name beatsPerCycle $count dataBitsPerSymbol $count \
    firstSymbolInHighOrderBits $boolean maxChannel $count readyLatency $count symbolsPerBeat $count]
# Type and side -> properties; type and side -> role {direction width-pattern}.
array set interface_properties [list \
    {avalon end} [concat $avalon_properties [list bridgesToMaster $name isMemoryDevice $boolean \
        isNonVolatileStorage $boolean printableDevice $boolean explicitAddressSpan $count]] \
    {avalon start} [concat $avalon_properties [list doStreamReads $boolean doStreamWrites $boolean]] \
    {clock end} [list ENABLED $boolean clockRate $count] \
    {clock start} [list ENABLED $boolean clockRate $count clockRateKnown $boolean associatedDirectClock $name] \
    {reset end} [list ENABLED $boolean associatedClock $name \
        synchronousEdges {^(NONE|DEASSERT|BOTH)$}] \
    {reset start} [list ENABLED $boolean associatedClock $name associatedDirectReset $name \
        associatedResetSinks {^\w+$} synchronousEdges {^(NONE|DEASSERT|BOTH)$}] \
    {avalon_streaming start} $streaming_properties \
    {avalon_streaming end} $streaming_properties \
    {interrupt end} [list ENABLED $boolean associatedClock $name associatedReset $name \
        associatedAddressablePoint $name bridgedReceiverOffset $count] \
    {interrupt start} [list ENABLED $boolean associatedClock $name associatedReset $name \
        associatedAddressablePoint {^([A-Za-z_]\w*)?$} irqScheme {^(INDIVIDUAL_REQUESTS|NONE)$}] \
    {tristate_conduit start} [list ENABLED $boolean associatedClock $name associatedReset $name] \
    {tristate_conduit end} [list ENABLED $boolean associatedClock $name associatedReset $name] \
    {conduit end} [list ENABLED $boolean associatedClock $name associatedReset $name]]
array set parameter_properties [list \
    DEFAULT_VALUE {.*} TYPE {^[A-Z_]+$} DISPLAY_NAME {.} DESCRIPTION {.} LONG_DESCRIPTION {.} DISPLAY_HINT {.} \
    GROUP {.} ALLOWED_RANGES {.} DERIVED $boolean HDL_PARAMETER $boolean AFFECTS_GENERATION $boolean \
    AFFECTS_VALIDATION $boolean AFFECTS_ELABORATION $boolean ENABLED $boolean VISIBLE $boolean \
    UNITS {^(None|Bits|Bytes|Kilobytes|Megabytes|Gigabytes|Hertz|Kilohertz|Megahertz|Address|Cycles)$} \
    SYSTEM_INFO {.} SYSTEM_INFO_ARG $name \
    SYSTEM_INFO_TYPE {^(ADDRESS_MAP|ADDRESS_WIDTH|CLOCK_RATE|DEVICE|DEVICE_FAMILY|MAX_SLAVE_DATA_WIDTH)$}]
# Information for an instance without connections.
array set unconnected {
    ADDRESS_MAP {} ADDRESS_WIDTH -1 CLOCK_RATE -1 DEVICE {} DEVICE_FAMILY {} MAX_SLAVE_DATA_WIDTH -1
}
# Roles of Avalon-MM interfaces (683091, "Avalon Memory Mapped Interface Signal Roles").
set request {address writedata read write byteenable burstcount debugaccess chipselect beginbursttransfer lock}
set answer {readdata readdatavalid waitrequest waitrequest_n response}

set phase main
set description {}
array set module {}
array set parameters {}
array set values {}
array set types {}
array set properties {}
set order {}
set ports {}
array set port_names {}
set messages {}
set filesets {}
array set tops {}
set files {}

proc property {kind name value allowed} {
    array set known $allowed
    if {![info exists known($name)]} { error "$kind has no property $name" }
    if {![regexp $known($name) $value]} { error "$kind: property $name cannot be \"$value\"" }
}

# Checks that Platform Designer permits a command in this phase.
proc only_in {command args} {
    if {$::phase ni $args} { error "$command is not permitted in the $::phase callback" }
}

proc set_module_property {name value} {
    global module module_properties
    only_in set_module_property main
    property "a component" $name $value [array get module_properties]
    if {[info exists module($name)]} { error "property $name is set twice" }
    set module($name) $value
}

proc get_module_property {name} {
    if {$name ne "MODULE_DIRECTORY"} { error "property $name of a component is not read here" }
    return [file dirname [file normalize $::description]]
}

proc add_documentation_link {title url} {
    only_in add_documentation_link main
    if {$title eq "" || ![regexp {^(https?|file)://} $url]} { error "documentation link \"$title\" has no address: $url" }
    if {![regexp {^file://(/.*)} $url all file]} { return }
    # The directory as it was given: in the full path a name that is not in Tcl's encoding would change.
    set here [get_module_property MODULE_DIRECTORY]/
    set inside [string range $file [string length $here] end]
    set place $file
    if {[string first $here $file] == 0} { set place [file join [file dirname $::description] $inside] }
    if {![file isfile $place]} { error "documentation $file does not exist" }
}

proc add_display_item {parent id kind args} {
    global parameters
    only_in add_display_item main
    switch $kind {
        GROUP { if {$args ni {{} tab}} { error "group $id: $args" } }
        PARAMETER { if {![info exists parameters($id)]} { error "there is no parameter $id to display" } }
        TEXT { if {[llength $args] != 1} { error "text $id: $args" } }
        default { error "display item $id: kind $kind" }
    }
}

proc send_message {level text} {
    set level [string tolower $level]
    if {$level ni {error warning info progress debug}} { error "no message level $level" }
    lappend ::messages [list $level $text]
}

proc add_parameter {name type {default ""} {description ""}} {
    global parameters
    only_in add_parameter main
    if {$type ni {INTEGER NATURAL POSITIVE LONG BOOLEAN FLOAT STRING STD_LOGIC STD_LOGIC_VECTOR}} {
        error "parameter $name: no type $type"
    }
    if {[info exists parameters($name)]} { error "parameter $name is added twice" }
    set parameters($name) [dict create TYPE $type DEFAULT_VALUE $default DESCRIPTION $description DERIVED false \
        HDL_PARAMETER false]
}

proc set_parameter_property {name property value} {
    global parameters parameter_properties
    only_in set_parameter_property main validation elaboration
    if {![info exists parameters($name)]} { error "there is no parameter $name" }
    property "parameter $name" $property $value [array get parameter_properties]
    if {$property eq "SYSTEM_INFO"} {
        lassign $value type argument
        set_parameter_property $name SYSTEM_INFO_TYPE [string toupper $type]
        if {$argument ne ""} { set_parameter_property $name SYSTEM_INFO_ARG $argument }
    }
    dict set parameters($name) $property $value
}

proc get_parameter_value {name} {
    global values
    only_in get_parameter_value validation elaboration
    if {![info exists values($name)]} { error "there is no parameter $name" }
    return $values($name)
}

proc set_parameter_value {name value} {
    global parameters values
    only_in set_parameter_value elaboration
    if {![info exists parameters($name)]} { error "there is no parameter $name" }
    if {![dict get $parameters($name) DERIVED]} { error "parameter $name is not derived: only the user sets its value" }
    check_value $name $value
    set values($name) $value
}

# Checks that a value has its parameter's type.
proc check_value {name value} {
    global parameters
    set type [dict get $parameters($name) TYPE]
    switch $type {
        INTEGER { set good [expr {[string is wideinteger -strict $value] && abs($value) < 1 << 32}] }
        NATURAL { set good [expr {[string is wideinteger -strict $value] && $value >= 0}] }
        POSITIVE { set good [expr {[string is wideinteger -strict $value] && $value > 0}] }
        LONG { set good [string is wideinteger -strict $value] }
        BOOLEAN { set good [string is boolean -strict $value] }
        FLOAT { set good [string is double -strict $value] }
        default { set good 1 }
    }
    if {!$good} { error "parameter $name: \"$value\" is not of type $type" }
}

proc add_fileset {name kind {callback ""} {display ""}} {
    global filesets
    only_in add_fileset main
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
    if {![file isfile $file]} { error "file $source does not exist" }
    set fileset [lindex $filesets end]
    if {[list $fileset $path] in $files} { error "file $path is added twice to $fileset" }
    lappend files [list $fileset $path]
}

proc add_interface {name type side} {
    global types order interface_properties
    only_in add_interface main elaboration
    if {![info exists interface_properties([list $type $side])]} { error "no interface of type $type $side" }
    if {[info exists types($name)]} { error "interface $name is added twice" }
    set types($name) [list $type $side]
    lappend order $name
}

proc set_interface_property {interface name value} {
    global types properties interface_properties
    only_in set_interface_property main elaboration
    if {![info exists types($interface)]} { error "there is no interface $interface" }
    property "interface $interface ($types($interface))" $name $value $interface_properties($types($interface))
    if {$::phase eq "main" && [info exists properties($interface,$name)]} {
        error "$interface: property $name is set twice"
    }
    set properties($interface,$name) $value
}

proc add_interface_port {interface port role direction width} {
    global types ports port_names request answer
    only_in add_interface_port main elaboration
    if {![info exists types($interface)]} { error "there is no interface $interface" }
    if {[info exists port_names($port)]} { error "port $port is added twice" }
    # A model of a vendor's kind may have an unknown width, which is 0.
    if {![string is integer -strict $width] || $width < ($::description ne "")} { error "port $port: width $width" }
    lassign $types($interface) type side
    set out [expr {$side eq "start" ? "Output" : "Input"}]
    switch $type {
        clock { set good [list clk $out] }
        reset { set good [list reset $out reset_n $out reset_req $out] }
        interrupt {
            set way [expr {$side eq "start" ? "Input" : "Output"}]
            set good [list irq $way irq_n $way]
        }
        conduit - tristate_conduit {
            # Its roles are names on which the two ends agree.
            if {![regexp {^[a-z_]\w*$} $role]} { error "$interface: role $role" }
            if {$direction ni {Input Output Bidir}} { error "port $port: direction $direction" }
            set good [list $role $direction]
        }
        avalon_streaming {
            set back [expr {$side eq "start" ? "Input" : "Output"}]
            set good [list data $out valid $out ready $back channel $out empty $out error $out \
                startofpacket $out endofpacket $out]
        }
        avalon {
            set good {}
            lassign [expr {$side eq "start" ? {Output Input} : {Input Output}}] forward back
            foreach r $request { lappend good $r $forward }
            # Only memories have clken, and only as slaves.
            if {$side eq "end"} { lappend good clken Input }
            foreach r $answer { lappend good $r $back }
        }
    }
    array set directions $good
    if {![info exists directions($role)]} { error "$interface ($type $side): no role $role" }
    if {$directions($role) ne $direction} { error "port $port: role $role of a $type $side is $directions($role)" }
    foreach other $ports {
        if {[lindex $other 0] eq $interface && [lindex $other 2] eq $role} { error "$interface: role $role is used twice" }
    }
    set port_names($port) $width
    lappend ports [list $interface $port $role $direction $width]
}

proc enabled {interface} {
    global properties
    return [expr {![info exists properties($interface,ENABLED)] || $properties($interface,ENABLED)}]
}

# Reads a description: its main program.
proc describe {file} {
    global description
    set description $file
    uplevel #0 [list source $file]
}

# Sets the parameters: values of the instance, information from the system (by type and argument), and defaults. Then
# the description validates them.
proc validate_parameters {given system} {
    global parameters values phase module unconnected
    foreach name [array names parameters] {
        set about $parameters($name)
        if {[dict exists $about SYSTEM_INFO_TYPE]} {
            set type [dict get $about SYSTEM_INFO_TYPE]
            set key $type
            if {[dict exists $about SYSTEM_INFO_ARG]} { lappend key [dict get $about SYSTEM_INFO_ARG] }
            set values($name) $unconnected($type)
            if {[dict exists $system $key]} { set values($name) [dict get $system $key] }
            continue
        }
        set values($name) [dict get $about DEFAULT_VALUE]
        if {[dict exists $given $name] && ![dict get $about DERIVED]} { set values($name) [dict get $given $name] }
        check_value $name $values($name)
        if {[dict exists $about ALLOWED_RANGES]} { check_range $name }
    }
    set phase validation
    if {[info exists module(VALIDATION_CALLBACK)]} { $module(VALIDATION_CALLBACK) }
}

proc check_range {name} {
    global parameters values
    set ranges [dict get $parameters($name) ALLOWED_RANGES]
    foreach range $ranges {
        if {[regexp {^(-?\d+):(-?\d+)$} $range all low high]} {
            if {$values($name) >= $low && $values($name) <= $high} return
        } elseif {$values($name) eq $range} return
    }
    set title $name
    if {[dict exists $parameters($name) DISPLAY_NAME]} { set title [dict get $parameters($name) DISPLAY_NAME] }
    send_message error "\"$title\" ($name) $values($name) is out of range: [join $ranges ,]"
}

proc elaborate_interfaces {} {
    global phase module
    set phase elaboration
    if {[info exists module(ELABORATION_CALLBACK)]} { $module(ELABORATION_CALLBACK) }
}

# Makes the checks that follow the whole description in Platform Designer.
proc finish {} {
    global module types properties order ports filesets tops files parameters
    foreach name [array names parameters] {
        if {[dict exists $parameters($name) SYSTEM_INFO_ARG]} {
            set interface [dict get $parameters($name) SYSTEM_INFO_ARG]
            if {![info exists types($interface)]} { error "parameter $name: there is no interface $interface" }
        }
    }
    foreach name {NAME VERSION DISPLAY_NAME} {
        if {![info exists module($name)]} { error "property $name of the component is not set" }
    }
    foreach fileset $filesets {
        if {![info exists tops($fileset)]} { error "fileset $fileset has no top module" }
    }
    foreach interface $order {
        if {![enabled $interface]} { continue }
        lassign $types($interface) type side
        # A reset that is not synchronous to a clock has no clock.
        set synchronous [expr {![info exists properties($interface,synchronousEdges)]
            || $properties($interface,synchronousEdges) ne "NONE"}]
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
                    error "$interface: $property $other is not a $wanted interface"
                }
            } elseif {$property eq "associatedClock" && $type ni {clock conduit tristate_conduit}
                && ($type ne "reset" || $synchronous)} {
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
    foreach {role others} {
        read readdata readdata {read chipselect} write writedata writedata write readdatavalid read
    } {
        if {[info exists width($role)] && ![llength [lmap other $others {expr {[info exists width($other)] ? 1 : [continue]}}]]} {
            set other [lindex $others 0]
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
    # The ring of a compiled kernel system has a master that never waits; each of Peerlane's masters waits.
    if {$::description ne "" && $side eq "start" && ![info exists width(waitrequest)] && ![info exists width(waitrequest_n)]} { error "master $interface has no waitrequest" }
    set fixed [info exists properties($interface,readLatency)]
    if {$fixed && $properties($interface,readLatency) > 0 && [info exists width(readdatavalid)]} {
        error "$interface: a fixed readLatency together with readdatavalid"
    }
    if {$side eq "end" && [info exists width(readdatavalid)]} {
        if {![info exists properties($interface,maximumPendingReadTransactions)]
            || $properties($interface,maximumPendingReadTransactions) == 0} {
            error "$interface: readdatavalid without maximumPendingReadTransactions"
        }
    }
}

# Runs a description by itself.
proc main {file} {
    global module types order ports filesets tops files messages values
    package provide qsys 12.1
    if {[catch { describe $file; validate_parameters {} {}; elaborate_interfaces; finish } message]} {
        puts stderr $message
        exit 1
    }
    foreach message $messages {
        lassign $message level text
        if {$level eq "error"} {
            puts stderr $text
            exit 1
        }
    }
    puts "component $module(NAME)"
    foreach name [lsort [array names values]] { puts "parameter $name $values($name)" }
    foreach name $order { puts "interface $name $types($name)" }
    foreach port $ports { puts "port $port" }
    foreach fileset $filesets { puts "top $fileset $tops($fileset)" }
    foreach file $files { puts "file $file" }
}

if {[info exists argv0] && [file tail $argv0] eq "platform_designer.tcl"} { main [lindex $argv 0] }
