//! Writes the tests' calls: each function with right arguments, and with each of them wrong.
//!
//! The right arguments follow from the names of parameters, which are the same in all of OpenCL's functions. A call
//! that is refused nevertheless does no harm, since the tests compare two libraries.

use std::fmt::Write as _;

use crate::{
    File,
    api::{Api, Function, Parameter},
    rules,
};

const HEAD: &str = "/* SPDX-License-Identifier: Apache-2.0\n \
    * From the crate opencl-sys 0.6.5, by `cargo xtask regen`; do not edit. */\n";

/// The functions as C calls them, a row each: `ROW(name, number of arguments)`.
pub(crate) fn file(api: &Api) -> miette::Result<File> {
    let mut text = String::from(HEAD);
    let mut rows = String::from("\n#define ROWS \\\n");
    for (name, function) in &api.functions {
        text += &call(api, name, function)?;
        let _ = writeln!(rows, "\tROW({name}, {}) \\", function.parameters.len());
    }
    rows += "\t/* all */\n";
    Ok(("exercise.h", text + &rows))
}

fn call(api: &Api, name: &str, function: &Function) -> miette::Result<String> {
    let mut types = Vec::new();
    let mut arguments = String::new();
    for (index, p) in function.parameters.iter().enumerate() {
        let ty = c_machine(&api.machine(&p.ty)?);
        let (right, wrong) = (right(function, index), wrong(p, &ty));
        let _ = writeln!(
            arguments,
            "\t\twrong == {index} ? ({ty}){wrong} : ({ty}){right},"
        );
        types.push(ty);
    }
    let arguments = arguments.trim_end().trim_end_matches(',').to_owned();
    let types = match types.is_empty() {
        true => "void".to_owned(),
        false => types.join(", "),
    };
    let result = match &function.result {
        Some(ty) => c_machine(&api.machine(ty)?),
        None => "void".to_owned(),
    };
    let before = match name.strip_prefix("clRelease") {
        // The program keeps its own reference.
        Some(of) if function.parameters.len() == 1 => {
            format!("\tretain(\"clRetain{of}\", wrong);\n")
        }
        _ => String::new(),
    };
    let say = match result.as_str() {
        "void" => format!("\tf(\n{arguments});\n\tsay_nothing();\n"),
        _ if result.ends_with('*') => format!("\tsay_pointer(f(\n{arguments}));\n"),
        _ => format!("\tsay_number((long)f(\n{arguments}));\n"),
    };
    Ok(format!(
        "\nstatic void do_{name}(void *function, int wrong)\n{{\n\t{result} (*f)({types}) = function;\n\n\
         \t(void)wrong;\n{before}{say}}}\n"
    ))
}

/// The machine's type as C writes it.
fn c_machine(ty: &str) -> String {
    if ty.starts_with("Option") {
        return "void *".into();
    }
    if let Some(target) = ty.strip_prefix("*mut ").or(ty.strip_prefix("*const ")) {
        return format!("{} *", c_machine(target).trim_end());
    }
    match ty {
        "c_void" => "void",
        "c_char" => "char",
        "usize" => "size_t",
        "isize" => "intptr_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "u8" => "uint8_t",
        "f32" => "float",
        other => other,
    }
    .into()
}

/// Returns a wrong argument: an invalid handle, a null pointer, or a value that no list has.
fn wrong(p: &Parameter, ty: &str) -> &'static str {
    match (ty.ends_with('*'), p.name.as_str()) {
        (true, _) => "0",
        (_, "blocking_read" | "blocking_write" | "blocking_map" | "blocking") => "1",
        // The call would read that many elements.
        (_, name) if name.starts_with("num_") || name == "count" => "0",
        _ => "-1",
    }
}

/// Returns a right argument, by the parameter's name and its neighbours.
fn right(function: &Function, index: usize) -> &'static str {
    let p = &function.parameters[index];
    let next = function.parameters.get(index + 1);
    if let Some(kind) = rules::kind(&p.text()) {
        return handle(&kind, &p.name);
    }
    let pointee = p.pointee().unwrap_or_default();
    if let Some(kind) = rules::kind(&pointee) {
        return match (kind.as_str(), p.is_const()) {
            ("Kind::Event", false) => "&made",
            (_, false) => "handles",
            ("Kind::Event", _) => "&event",
            ("Kind::Device", _) => "&device",
            ("Kind::Mem", _) => "&buffer",
            ("Kind::Program", _) => "&program",
            _ => "0",
        };
    }
    let before_list = next.and_then(Parameter::pointee);
    let before_list = before_list.and_then(|pointee| rules::kind(&pointee));
    match p.name.as_str() {
        "num_entries" | "num_kernels" if p.pointee().is_none() => "16",
        name if name.starts_with("num_") && p.pointee().is_none() => match before_list {
            Some(_) => "1",
            None => "0",
        },
        "count" | "work_dim" | "lengths_count" => "1",
        "errcode_ret" => "&error",
        "param_value_size" => "sizeof(scratch)",
        "param_value_size_ret" | "image_row_pitch" | "image_slice_pitch"
            if p.pointee().is_some() =>
        {
            "&size_ret"
        }
        "param_value" | "ptr" | "pattern" | "fill_color" | "svm_ptr" | "dst_ptr" => "scratch",
        "src_ptr" => "scratch + 512",
        "pattern_size" => "4",
        "size" | "cb" => "16",
        "flags" if function.has("size") => "1",
        "device_type" => "0xFFFFFFFF",
        "blocking_read" | "blocking_write" | "blocking_map" | "blocking_copy" => "1",
        "origin" | "src_origin" | "dst_origin" | "buffer_origin" | "host_origin" => "zeros",
        "region" => "ones",
        "global_work_size" => "ones",
        "strings" => "&source",
        "options" => "\"\"",
        "kernel_name" => "\"k2\"",
        "func_name" | "function_name" => "\"clCreateProgramWithILKHR\"",
        "buffer_create_type" => "0x1220",
        "buffer_create_info" => "zeros_and_ones",
        "image_format" => "&format",
        "image_desc" => "&description",
        "arg_size" => "sizeof(buffer)",
        "arg_value" => "&buffer",
        "addressing_mode" => "0x1130",
        "filter_mode" => "0x1140",
        "command_exec_callback_type" | "execution_status" => "0",
        "image_type" => "0x10F1",
        "image_width" | "image_height" => "4",
        "param_name" => query(function),
        "binaries" => "&binary",
        "lengths" if function.has("binaries") => "&binary_size",
        "map_flags" => "1",
        _ => "0",
    }
}

fn handle(kind: &str, name: &str) -> &'static str {
    let second = name.starts_with("dst");
    match kind {
        "Kind::Platform" => "platform",
        "Kind::Device" => "device",
        "Kind::Context" => "context",
        "Kind::Queue" => "queue",
        "Kind::Mem" if name.contains("image") && second => "image2",
        "Kind::Mem" if name.contains("image") => "image",
        "Kind::Mem" if second => "buffer2",
        "Kind::Mem" => "buffer",
        "Kind::Program" => "program",
        "Kind::Kernel" => "kernel",
        "Kind::Event" => "event",
        "Kind::Sampler" => "sampler",
        _ => "0",
    }
}

/// Returns a query that the function has, by the type of its object.
fn query(function: &Function) -> &'static str {
    let asked = function.parameters.first().map(Parameter::text);
    match (asked.as_deref(), function.parameters.len()) {
        (Some("cl_platform_id"), _) => "0x0900",
        (Some("cl_device_id"), _) => "0x1000",
        (Some("cl_context"), _) => "0x1081",
        (Some("cl_command_queue"), _) => "0x1090",
        (Some("cl_mem"), _) => "0x1100",
        (Some("cl_sampler"), _) => "0x1151",
        (Some("cl_program"), 5) => "0x1161",
        (Some("cl_program"), _) => "0x1181",
        (Some("cl_kernel"), 5) => "0x1193",
        (Some("cl_kernel"), _) => "0x11B0",
        (Some("cl_event"), _) => "0x11D0",
        _ => "0",
    }
}
