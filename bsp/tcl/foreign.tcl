# Makes platform_designer.tcl lenient, for the component descriptions of vendors and boards: they use more of the API
# than the mock knows, and in the form of SOPC Builder (`package require -exact sopc 10.0`), which Platform
# Designer accepts too. Unknown properties and commands are ignored. Quartus was not available: SOPC Builder's form is
# known from its descriptions and from the systems that were generated from them.

# Clock interfaces that have a reset port: SOPC Builder had no reset interfaces. Platform Designer makes a separate reset
# interface, whose name begins with the clock's.
array set split_resets {}

proc property {kind name value allowed} {}
proc only_in {command args} {}
proc add_file {file args} {}
proc add_fileset {name args} {}
proc set_fileset_property {args} {}
proc add_fileset_file {args} {}
proc add_display_item {args} {}
proc add_documentation_link {args} {}
proc set_module_assignment {args} {}
proc set_interface_assignment {args} {}
proc set_parameter_update_callback {args} {}

rename set_module_property own_set_module_property
proc set_module_property {name value} {
    unset -nocomplain ::module($name)
    own_set_module_property $name $value
}

rename get_module_property own_get_module_property
proc get_module_property {name} {
    return [expr {[info exists ::module($name)] ? $::module($name) : [own_get_module_property $name]}]
}

rename add_parameter own_add_parameter
proc add_parameter {name type {default ""} {description ""}} {
    set type [string toupper $type]
    if {$type in {INTEGER_LIST STRING_LIST}} { set type STRING }
    if {$default eq "" && $type in {INTEGER NATURAL POSITIVE LONG BOOLEAN FLOAT}} { set default 1 }
    own_add_parameter $name $type $default $description
}

rename set_interface_property own_set_interface_property
proc set_interface_property {interface name value} {
    if {$name eq "ASSOCIATED_CLOCK"} { set name associatedClock }
    if {$value eq "" || $name in {EXPORT_OF PORT_NAME_MAP SVD_ADDRESS_GROUP CMSIS_SVD_VARIABLES}} return
    if {$name eq "ENABLED"} { set value [expr {$value ? "true" : "false"}] }
    unset -nocomplain ::properties($interface,$name)
    own_set_interface_property $interface $name $value
}

# A width may be an expression of parameters, whose values are known only when the interfaces are elaborated.
array set open_widths {}
rename add_interface_port own_add_interface_port
proc add_interface_port {interface port role direction width} {
    set direction [string totitle $direction]
    if {$::types($interface) eq {clock end} && $role in {reset reset_n}} {
        set clock $interface
        set interface ${clock}_reset
        set ::split_resets($clock) $interface
        add_interface $interface reset end
        set_interface_property $interface associatedClock $clock
    }
    if {![string is integer -strict $width]} {
        set ::open_widths($port) $width
        set width 1
    }
    own_add_interface_port $interface $port $role $direction $width
}

proc set_port_property {port name value} {
    set at [lsearch -index 1 $::ports $port]
    if {$at < 0} { error "there is no port $port" }
    switch $name {
        WIDTH_EXPR - WIDTH { set ::open_widths($port) $value }
        TERMINATION { if {$value} { set ::ports [lreplace $::ports $at $at] } }
    }
}

rename finish own_finish
proc finish {} {
    global ports open_widths values types properties split_resets module
    set closed {}
    foreach port $ports {
        lassign $port interface name role direction width
        if {[info exists open_widths($name)]} {
            set names [lsort -decreasing [array names values]]
            set width [expr [string map [concat {*}[lmap n $names {list $n $values($n)}]] $open_widths($name)]]
        }
        lappend closed [list $interface $name $role $direction $width]
    }
    set ports $closed
    foreach interface [array names types] {
        lassign $types($interface) type
        if {![info exists properties($interface,associatedClock)]} continue
        set clock $properties($interface,associatedClock)
        if {$type in {avalon interrupt} && ![info exists properties($interface,associatedReset)]
            && [info exists split_resets($clock)]} {
            set properties($interface,associatedReset) $split_resets($clock)
        }
    }
    if {![info exists module(VERSION)]} { set module(VERSION) 0 }
    if {![info exists module(DISPLAY_NAME)]} { set module(DISPLAY_NAME) - }
    set ::filesets {}
    own_finish
}

# An unknown command is ignored, too: its effect is not known.
proc unknown {args} {}
