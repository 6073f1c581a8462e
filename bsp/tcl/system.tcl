# The commands of qsys-script that make a system, and its elaboration: each instance is a component description in its own
# interpreter, which gets from the system the information that Platform Designer gives a component (SYSTEM_INFO).
# Instances of systems are flattened, so that clocks and addresses go through them.

array set systems {}
set current {}
# Kind -> file of a description or of a system.
array set catalog {}
set messages {}

proc say {level element text} { lappend ::messages [list $level $element $text] }

proc create_system {name} {
    global systems current
    set current $name
    set systems($name) {instances {} connections {} exports {} family {}}
}

proc set_project_property {name value} {
    global systems current
    if {$name eq "DEVICE_FAMILY"} { dict set systems($current) family $value }
}

proc add_instance {name kind {version ""}} {
    global systems current
    if {[dict exists $systems($current) instances $name]} {
        say error $current "An instance with name $name already exists"
    }
    dict set systems($current) instances $name [dict create kind $kind version $version enabled true given {}]
}

proc set_instance_property {name property value} {
    global systems current
    if {$property ne "ENABLED"} { error "instance $name: property $property" }
    dict set systems($current) instances $name enabled $value
}

proc set_instance_parameter_value {name parameter value} {
    global systems current
    dict set systems($current) instances $name given $parameter $value
}

# The kind may be left out if a script makes the connection: it is that of the interfaces.
proc add_connection {start end {kind ""}} {
    global systems current
    dict with systems($current) {
        foreach other $connections {
            if {[lrange $other 0 1] eq [list $start $end]} { say error $current "Connection $start/$end exists twice" }
        }
        lappend connections [list $start $end $kind {}]
    }
}

proc set_connection_parameter_value {connection parameter value} {
    global systems current
    lassign [split $connection /] start end
    set index 0
    foreach other [dict get $systems($current) connections] {
        if {[lrange $other 0 1] eq [list $start $end]} { set at $index }
        incr index
    }
    if {![info exists at]} { error "there is no connection $connection" }
    set all [dict get $systems($current) connections]
    lset all $at 3 [dict replace [lindex $all $at 3] $parameter $value]
    dict set systems($current) connections $all
}

proc add_interface {name type side} {
    global systems current
    if {[dict exists $systems($current) exports $name]} { say error $current "Interface $name is exported twice" }
    dict set systems($current) exports $name [list $type $side {}]
}

proc set_interface_property {name property value} {
    global systems current
    if {$property ne "EXPORT_OF"} { error "interface $name: property $property" }
    dict set systems($current) exports $name \
        [lreplace [dict get $systems($current) exports $name] 2 2 $value]
}

# Fills the catalog with the files below a directory: systems by their file's name, descriptions by their NAME.
proc search {directory} {
    global catalog
    foreach file [glob -nocomplain -types f -directory $directory *.qsys] {
        set catalog([file rootname [file tail $file]]) $file
    }
    foreach file [glob -nocomplain -types f -directory $directory *_hw.tcl] {
        set channel [open $file r]
        set text [read $channel]
        close $channel
        if {[regexp -line {^\s*set_module_property\s+NAME\s+["\{]?([\w.]+)} $text all name]} { set catalog($name) $file }
    }
    foreach below [glob -nocomplain -types d -directory $directory *] { search $below }
}

# The flat design: full instance name -> record; {start end kind parameters}; exported interfaces of the top; those
# of all systems, as {ELEMENT NAME INTERFACE TYPE SIDE BY-A-SYSTEM}.
set instances {}
set connections {}
set exported {}
set declared {}
# Interface of a part -> its name outside the system that exports it.
array set outside {}

# Flattens a system; returns its exports, as {INTERFACE TYPE SIDE} by name.
proc flatten {system prefix} {
    global systems instances connections outside catalog declared
    set inner {}
    set off {}
    dict for {name record} [dict get $systems($system) instances] {
        set kind [dict get $record kind]
        if {![dict get $record enabled]} { lappend off $name; continue }
        if {[info exists systems($kind)] || ([info exists catalog($kind)] && [file extension $catalog($kind)] eq ".qsys")} {
            if {![info exists systems($kind)]} { read_qsys $catalog($kind) }
            if {[llength [split $prefix .]] > 16} { error "systems are nested deeper than 16" }
            set exports [flatten $kind "$prefix$name."]
            dict set inner $name $exports
            dict for {export about} $exports { set outside([lindex $about 0]) "$prefix$name.$export" }
        } else {
            dict set instances $prefix$name $record
        }
    }
    set element [string trimright "$::top.$prefix" .]
    set resolve [list apply {{system element inner prefix off interface what {level error}} {
        lassign [split $interface .] instance name
        if {$instance in $off} { return {} }
        if {![dict exists [dict get $::systems($system) instances] $instance]} {
            say $level $element "$what: there is no instance $instance"
            return {}
        }
        if {![dict exists $inner $instance]} { return $prefix$interface }
        if {[dict exists $inner $instance $name]} { return [lindex [dict get $inner $instance $name] 0] }
        say $level $element "$what: $instance has no interface $name"
        return {}
    }} $system $element $inner $prefix $off]
    foreach connection [dict get $systems($system) connections] {
        lassign $connection start end kind parameters
        set from [{*}$resolve $start "Connection $start/$end"]
        set to [{*}$resolve $end "Connection $start/$end"]
        if {$from ne "" && $to ne ""} { lappend connections [list $from $to $kind $parameters] }
    }
    set exports {}
    dict for {name about} [dict get $systems($system) exports] {
        lassign $about type side internal
        # Systems keep exports of former instances, without a type (the public DE5-Net BSP has some).
        set to [{*}$resolve $internal "Interface $name" [expr {$type eq "" ? "warning" : "error"}]]
        if {$to eq ""} continue
        dict set exports $name [list $to $type $side]
        lappend declared [list $element $name $to $type $side [dict exists $inner [lindex [split $internal .] 0]]]
    }
    return $exports
}

# Declarations of an elaborated instance: interface -> {type T side S properties {..} ports {role {direction width}}}.
array set model {}

proc parts {interface} {
    set at [string last . $interface]
    return [list [string range $interface 0 $at-1] [string range $interface $at+1 end]]
}

# Returns the interface of an instance, or nothing.
proc about {interface} {
    global model
    lassign [parts $interface] instance name
    if {![info exists model($instance)] || ![dict exists $model($instance) $name]} { return {} }
    return [dict get $model($instance) $name]
}

proc get {record default args} {
    return [expr {[dict exists $record {*}$args] ? [dict get $record {*}$args] : $default}]
}

# Instances with unknown interfaces: their kind has no model, or their description could not be evaluated.
array set unknown {}

# Elaborates one instance with the information from the system.
proc elaborate_instance {name record told} {
    global model catalog vendor here unknown
    set kind [dict get $record kind]
    set model($name) {}
    unset -nocomplain unknown($name)
    set described [info exists catalog($kind)]
    set own [string match peerlane_* $kind]
    if {!$described && ![info exists vendor($kind)]} {
        if {$own} { return [list [list error "Component $kind [dict get $record version] not found or could not be instantiated"]] }
        set unknown($name) 1
        return [list [list note "The kind $kind [dict get $record version] is unknown: its connections are not checked"]]
    }
    set child [interp create]
    interp eval $child [list source [file join $here platform_designer.tcl]]
    set text {}
    if {$described} {
        set channel [open $catalog($kind) r]
        set text [read $channel]
        close $channel
    }
    # A description that sources files of Quartus has a model, too: these files are not available.
    set modelled [expr {[info exists vendor($kind)] && ($text eq {} || [string match *QUARTUS_ROOTDIR* $text])}]
    set failed [catch {
        if {!$modelled} {
            if {!$own} { interp eval $child [list source [file join $here foreign.tcl]] }
            foreach {all package version} [regexp -all -inline {package\s+require\s+(?:-exact\s+)?(qsys|sopc)\s+([\d.]+)} $text] {
                interp eval $child [list package provide $package $version]
            }
            interp eval $child [list describe $catalog($kind)]
        } else {
            interp eval $child [list uplevel #0 $vendor($kind)]
            interp eval $child [list set_module_property NAME $kind]
            interp eval $child {set_module_property VERSION 0; set_module_property DISPLAY_NAME -}
        }
        interp eval $child [list validate_parameters [dict get $record given] $told]
        interp eval $child {elaborate_interfaces; finish}
    } problem]
    set said [interp eval $child {set messages}]
    if {$failed && !$own && !$modelled} {
        set unknown($name) 1
        lappend said [list note "The description of $kind could not be evaluated ($problem): its connections are not checked"]
    } elseif {$failed} {
        lappend said [list error $problem]
    } else {
        if {[interp eval $child {info exists incomplete}]} { set unknown($name) 1 }
        foreach interface [interp eval $child {set order}] {
            lassign [interp eval $child [list set types($interface)]] type side
            if {![interp eval $child [list enabled $interface]]} continue
            set properties {}
            foreach {key value} [interp eval $child [list array get properties $interface,*]] {
                dict set properties [lindex [split $key ,] 1] $value
            }
            dict set model($name) $interface [dict create type $type side $side properties $properties ports {}]
        }
        foreach port [interp eval $child {set ports}] {
            lassign $port interface name_of_port role direction width
            if {[dict exists $model($name) $interface]} {
                dict set model($name) $interface ports $role [list $direction $width]
            }
        }
    }
    interp delete $child
    return $said
}

# Returns the bytes of a word of an Avalon interface.
proc word_bytes {about} {
    foreach role {writedata readdata} {
        if {[dict exists $about ports $role]} { return [expr {[lindex [dict get $about ports $role] 1] / 8}] }
    }
    return 1
}

# Returns the bytes that an Avalon interface addresses: a slave's span, or a master's reach. By default slaves count
# words and masters count bytes (Avalon Interface Specifications 683091, "Avalon Memory Mapped Interface
# Properties": addressUnits).
proc reach {about} {
    set span [get $about 0 properties explicitAddressSpan]
    if {$span > 0} { return $span }
    set bits [lindex [get $about {Input 0} ports address] 1]
    set usual [expr {[dict get $about side] eq "start" ? "SYMBOLS" : "WORDS"}]
    set unit [expr {[get $about $usual properties addressUnits] eq "WORDS" ? [word_bytes $about] : 1}]
    return [expr {(1 << $bits) * $unit}]
}

# Returns the base of a connection; nothing if it is not a number.
proc base_of {parameters} {
    set base [get $parameters 0 baseAddress]
    if {![regexp {^(0[xX][0-9a-fA-F]+|\d+)$} $base]} { return {} }
    return [expr {[string match -nocase 0x* $base] ? $base : [string trimleft $base 0] eq "" ? 0 : [string trimleft $base 0]}]
}

# Returns the slaves of a master: {INTERFACE BASE SPAN BITS}.
proc slaves_of {master} {
    set found {}
    foreach connection $::connections {
        lassign $connection start end kind parameters
        if {$start ne $master} continue
        set slave [about $end]
        set base [base_of $parameters]
        if {$slave eq "" || $base eq ""} continue
        lappend found [list $end $base [reach $slave] [expr {[word_bytes $slave] * 8}]]
    }
    return [lsort -integer -index 1 $found]
}

proc bits_for {end} {
    for {set bits 0} {(1 << $bits) < $end} {incr bits} {}
    return $bits
}

# Returns the system's information for an instance about its interfaces.
proc told {name} {
    global model connections
    set told [dict create DEVICE_FAMILY [dict get $::systems($::top) family]]
    dict for {interface about} $model($name) {
        set full $name.$interface
        switch "[dict get $about type] [dict get $about side]" {
            "clock end" {
                foreach connection $connections {
                    if {[lindex $connection 1] ne $full} continue
                    set source [about [lindex $connection 0]]
                    set known [get $source true properties clockRateKnown]
                    dict set told [list CLOCK_RATE $interface] [expr {$known ? [get $source 0 properties clockRate] : 0}]
                }
            }
            "avalon start" {
                set map {}
                set end 0
                set widest 0
                foreach slave [slaves_of $full] {
                    lassign $slave at base span bits
                    append map [format "<slave name='%s' start='0x%llX' end='0x%llX' />" $at $base [expr {$base + $span}]]
                    set end [expr {max($end, $base + $span)}]
                    set widest [expr {max($widest, $bits)}]
                }
                if {$map eq ""} continue
                dict set told [list ADDRESS_MAP $interface] "<address-map>$map</address-map>"
                dict set told [list ADDRESS_WIDTH $interface] [bits_for $end]
                dict set told [list MAX_SLAVE_DATA_WIDTH $interface] $widest
            }
        }
    }
    return $told
}

# Elaborates all instances until the information between them does not change any more.
proc elaborate {} {
    global instances messages model systems top
    dict for {name record} $instances { set hears($name) {} }
    for {set round 0} {1} {incr round} {
        if {$round > 20} { error "the elaboration does not end: instances change each other" }
        dict for {name record} $instances {
            if {$round == 0 || $changed($name)} { set said($name) [elaborate_instance $name $record $hears($name)] }
        }
        set again 0
        dict for {name record} $instances {
            set news [told $name]
            set changed($name) [expr {$news ne $hears($name)}]
            set hears($name) $news
            incr again $changed($name)
        }
        if {!$again} break
    }
    dict for {name record} $instances {
        foreach message $said($name) { say [lindex $message 0] $top.$name [lindex $message 1] }
    }
}
