# Packs the programming files of a compile into fpga.bin; for revision "top" with those of the base revision, out
# of base.aocx, which the board was started with.
proc pack_fpga_bin {revision} {
    set sections [list .acl.sof $revision.sof .acl.core.rbf $revision.core.rbf]
    if {$revision eq "top"} {
        qexec "aocl binedit base.aocx get .acl.fpga.bin base.fpga.bin"
        lappend sections .acl.base base.fpga.bin
    }
    qexec "aocl binedit fpga.bin create"
    foreach {section file} $sections {
        qexec "aocl binedit fpga.bin add $section $file"
    }
}
