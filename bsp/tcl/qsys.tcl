# Reads a Platform Designer system (.qsys) and repeats it with the commands of qsys-script, which system.tcl has.
# Parts without a meaning for an elaboration (bonusData, descriptions) are ignored. The XML is read as far as
# Platform Designer writes it: elements, attributes, comments, CDATA, the five entities.

proc unescape {text} {
    return [string map {&quot; \" &apos; ' &lt; < &gt; > &amp; &} $text]
}

# Returns the elements of a file in order: {open NAME ATTRIBUTES} and {close NAME}.
proc xml_events {text} {
    set events {}
    # CDATA may contain text that looks like elements.
    while {[set from [string first "<!\[CDATA\[" $text]] >= 0} {
        set to [string first "\]\]>" $text $from]
        if {$to < 0} { error "a CDATA section does not end" }
        set text [string replace $text $from $to+2]
    }
    while {[set from [string first "<!--" $text]] >= 0} {
        set to [string first "-->" $text $from]
        if {$to < 0} { error "a comment does not end" }
        set text [string replace $text $from $to+2]
    }
    set attribute {([\w:.]+)\s*=\s*("[^"]*"|'[^']*')}
    foreach {all close name rest empty} [regexp -all -inline \
            {<(/?)([\w:.]+)((?:\s+[\w:.]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>} $text] {
        if {$close ne ""} { lappend events [list close $name]; continue }
        set attributes {}
        foreach {all key value} [regexp -all -inline $attribute $rest] {
            dict set attributes $key [unescape [string range $value 1 end-1]]
        }
        lappend events [list open $name $attributes]
        if {$empty ne ""} { lappend events [list close $name] }
    }
    return $events
}

proc attribute {attributes name {default ""}} {
    return [expr {[dict exists $attributes $name] ? [dict get $attributes $name] : $default}]
}

# Reads a system; it has the file's name.
proc read_qsys {file} {
    set channel [open $file r]
    fconfigure $channel -encoding utf-8
    set text [read $channel]
    close $channel
    create_system [file rootname [file tail $file]]
    set inside {}
    foreach event [xml_events $text] {
        lassign $event what name attributes
        if {$what eq "close"} { set inside [lrange $inside 0 end-1]; continue }
        lassign [lindex $inside end] parent key
        set own {}
        switch "$parent/$name" {
            /system {}
            system/module {
                set own [attribute $attributes name]
                add_instance $own [attribute $attributes kind] [attribute $attributes version]
                if {[attribute $attributes enabled 1] ni {1 true}} { set_instance_property $own ENABLED false }
            }
            system/connection {
                set own [attribute $attributes start]/[attribute $attributes end]
                add_connection [attribute $attributes start] [attribute $attributes end] [attribute $attributes kind]
            }
            system/interface {
                set from [attribute $attributes internal]
                if {$from ne ""} {
                    set own [attribute $attributes name]
                    add_interface $own [attribute $attributes type] [attribute $attributes dir]
                    set_interface_property $own EXPORT_OF $from
                }
            }
            module/parameter {
                set_instance_parameter_value $key [attribute $attributes name] [attribute $attributes value]
            }
            connection/parameter {
                set_connection_parameter_value $key [attribute $attributes name] [attribute $attributes value]
            }
            system/parameter {
                if {[attribute $attributes name] eq "deviceFamily"} {
                    set_project_property DEVICE_FAMILY [attribute $attributes value]
                }
            }
        }
        lappend inside [list $name $own]
    }
}
