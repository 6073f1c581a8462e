"""Compiles a SystemRDL file and prints what it says as JSON.

Usage: systemrdl_export.py FILE ADDRMAP...
"""

import json
import sys

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegfileNode, RegNode


def name_of(value):
    return None if value is None else getattr(value, "name", str(value))


def field(node):
    encode = node.get_property("encode")
    reset = node.get_property("reset")
    return {
        "name": node.inst_name,
        "msb": node.msb,
        "lsb": node.lsb,
        "sw": node.get_property("sw").name,
        "hw": node.get_property("hw").name,
        "onwrite": name_of(node.get_property("onwrite")),
        "onread": name_of(node.get_property("onread")),
        "singlepulse": node.get_property("singlepulse"),
        "hwset": bool(node.get_property("hwset")),
        "reset": reset if reset is None else int(reset),
        "encode": None
        if encode is None
        else {member.name: member.value for member in encode},
        "desc": node.get_property("desc"),
    }


def container(node):
    return {
        "kind": type(node).__name__,
        "name": node.inst_name,
        "count": node.array_dimensions[0] if node.is_array else 1,
        "stride": node.array_stride if node.is_array else None,
        "registers": [
            register(child) for child in node.children() if isinstance(child, RegNode)
        ],
        "containers": [
            container(child) for child in node.children() if isinstance(child, RegfileNode)
        ],
        "address": None if isinstance(node, AddrmapNode) else node.raw_absolute_address,
    }


def register(node):
    return {
        "name": node.inst_name,
        "address": node.raw_absolute_address,
        "count": node.array_dimensions[0] if node.is_array else 1,
        "stride": node.array_stride if node.is_array else None,
        "width": node.get_property("regwidth"),
        "access_width": node.get_property("accesswidth"),
        "external": node.external,
        "fields": [
            field(child) for child in node.children() if isinstance(child, FieldNode)
        ],
    }


def main():
    result = {}
    for top in sys.argv[2:]:
        compiler = RDLCompiler()
        compiler.compile_file(sys.argv[1])
        result[top] = container(compiler.elaborate(top_def_name=top).top)
    json.dump(result, sys.stdout)


main()
