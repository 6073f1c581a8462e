//! The interface in C.

use crate::comment::comment;
use crate::interface::{Constant, Interface, Item, Structure};
use peerlane_regmap::Record;
use std::fmt::Write;

const HEAD: &str = "\
/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT OR Apache-2.0 */
/* Generated from driver/core/src/uapi.rs and the register map by `cargo xtask regen`. Do not edit. */
";

const BEGIN: &str = "\
#ifndef _UAPI_PEERLANE_H
#define _UAPI_PEERLANE_H

#include <linux/ioctl.h>
#include <linux/types.h>
";

const OF_THE_MAP: &str = "\
/*
 * What follows is of the register map: the channel page, and the records in memory. Offsets are in
 * bytes, masks are in place, and all is little endian. The map's own header has the same names:
 * include one of the two.
 */
";

const CHECKS: &str = "\
/* The layout is the same on 32 and 64 bits. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define PEERLANE_CHECK_(is) static_assert(is, #is)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PEERLANE_CHECK_(is) _Static_assert(is, #is)
#endif
#ifdef PEERLANE_CHECK_
#define PEERLANE_SIZE_(of, size) PEERLANE_CHECK_(sizeof(struct of) == size)
#define PEERLANE_PLACE_(of, member, offset) \\
\tPEERLANE_CHECK_(__builtin_offsetof(struct of, member) == offset)
";

const END: &str = "\
#undef PEERLANE_PLACE_
#undef PEERLANE_SIZE_
#undef PEERLANE_CHECK_
#endif

#endif
";

/// Writes the header's text. `excerpt` is the header's part of the register map, with `records` in it.
pub(crate) fn header<'a>(
    interface: &Interface,
    excerpt: &str,
    records: impl Iterator<Item = &'a Record>,
) -> String {
    let mut text = String::from(HEAD);
    text.push_str(&comment(&interface.doc, ""));
    text.push_str(BEGIN);
    let mut checks = String::new();
    for item in &interface.items {
        text.push('\n');
        match item {
            Item::Constant(constant) => define(&mut text, constant),
            Item::Group { doc, constants } => {
                text.push_str(&comment(doc, ""));
                for constant in constants {
                    define(&mut text, constant);
                }
            }
            Item::Structure(item) => {
                structure(&mut text, item);
                size(&mut checks, &item.name, item.size as u64);
                for member in &item.members {
                    place(&mut checks, &item.name, &member.name, member.offset as u64);
                }
            }
        }
    }
    for record in records {
        let name = format!("peerlane_{}", record.name);
        size(&mut checks, &name, record.size);
        for member in &record.members {
            place(&mut checks, &name, &member.name, member.offset);
        }
    }
    format!(
        "{text}\n{OF_THE_MAP}{}\n\n{CHECKS}{checks}{END}",
        excerpt.trim_end()
    )
}

fn define(text: &mut String, constant: &Constant) {
    text.push_str(&comment(&constant.doc, ""));
    let _ = writeln!(text, "#define {} {}", constant.name, constant.value);
}

fn structure(text: &mut String, item: &Structure) {
    text.push_str(&comment(&item.doc, ""));
    let _ = writeln!(text, "struct {} {{", item.name);
    for member in &item.members {
        text.push_str(&comment(&member.doc, "\t"));
        let _ = writeln!(text, "\t{} {}{};", member.r#type, member.name, member.array);
    }
    text.push_str("};\n");
}

fn size(checks: &mut String, of: &str, size: u64) {
    let _ = writeln!(checks, "PEERLANE_SIZE_({of}, {size});");
}

fn place(checks: &mut String, of: &str, member: &str, offset: u64) {
    let _ = writeln!(checks, "PEERLANE_PLACE_({of}, {member}, {offset});");
}
