//! The C++ code between Verilator's class and Rust.

use std::fmt::Write as _;

use crate::header::HeaderPort;

/// Version of the interface between the shim and `model.rs`; part of the cache key.
pub(crate) const ABI: u32 = 1;

/// The fixed part: a context that stores the reason why the design stopped. Verilator's hooks for `$stop` and errors
/// throw, so that no half-settled evaluation continues, and the shim catches.
const BODY: &str = r#"
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <unistd.h>
#include "Vmodel.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {
struct Stopped : std::exception {};

struct Handle : VerilatedContext {
    std::unique_ptr<Vmodel> model;
    std::string fault;
};

void record(const char* file, int line, const char* what) {
    Handle* const handle = static_cast<Handle*>(Verilated::threadContextp());
    if (handle->fault.empty()) {
        if (file && *file) handle->fault = std::string(file) + ":" + std::to_string(line) + ": ";
        handle->fault += what ? what : "stopped";
    }
    handle->gotFinish(true);
}
}  // namespace

void vl_finish(const char*, int, const char*) VL_MT_UNSAFE {
    Verilated::threadContextp()->gotFinish(true);
}
void vl_stop(const char* file, int line, const char*) VL_MT_UNSAFE {
    record(file, line, "$stop or failed assertion");
    throw Stopped();
}
void vl_fatal(const char* file, int line, const char*, const char* message) VL_MT_UNSAFE {
    record(file, line, message);
    throw Stopped();
}

struct PeerlanePort {
    const char* name;
    unsigned width;
    unsigned direction;
};

#define PEERLANE_EXPORT extern "C" __attribute__((visibility("default")))

PEERLANE_EXPORT void* peerlane_new(unsigned seed) {
    try {
        std::unique_ptr<Handle> handle(new Handle);
        handle->randReset(2);
        handle->randSeed(static_cast<int>(seed));
        Verilated::threadContextp(handle.get());
        handle->model.reset(new Vmodel(handle.get(), "top"));
        return handle.release();
    } catch (...) {
        return nullptr;
    }
}
PEERLANE_EXPORT void peerlane_free(void* pointer) {
    Handle* const handle = static_cast<Handle*>(pointer);
    Verilated::threadContextp(handle);
    try {
        if (handle->fault.empty()) handle->model->final();
#if VM_COVERAGE
        static std::atomic<unsigned> number{0};
        if (const char* const directory = std::getenv("PEERLANE_COVERAGE")) {
            // Each library counts for itself: its place in memory tells the numbers of one from those of another.
            const std::string file = std::string(directory) + "/" + std::to_string(getpid()) + "-"
                                     + std::to_string(reinterpret_cast<std::uintptr_t>(&number)) + "-"
                                     + std::to_string(number++);
            // Whole files only have the ending.
            handle->coveragep()->write(file.c_str());
            std::rename(file.c_str(), (file + ".dat").c_str());
        }
#endif
    } catch (...) {
    }
    delete handle;
}
PEERLANE_EXPORT int peerlane_eval(void* pointer) {
    Handle* const handle = static_cast<Handle*>(pointer);
    try {
        handle->model->eval();
        return handle->gotFinish() ? 1 : 0;
    } catch (const Stopped&) {
    } catch (const std::exception& error) {
        if (handle->fault.empty()) handle->fault = error.what();
    } catch (...) {
        if (handle->fault.empty()) handle->fault = "unknown C++ exception";
    }
    return 2;
}
PEERLANE_EXPORT const char* peerlane_fault(void* pointer) {
    return static_cast<Handle*>(pointer)->fault.c_str();
}
"#;

/// Returns the whole shim for a design with these ports.
pub(crate) fn source(ports: &[HeaderPort]) -> String {
    let mut text = String::from(BODY);
    let _ = writeln!(
        text,
        "PEERLANE_EXPORT const unsigned peerlane_abi = {ABI};\n\
         PEERLANE_EXPORT const unsigned peerlane_port_count = {};\n\
         PEERLANE_EXPORT const PeerlanePort peerlane_ports[] = {{",
        ports.len()
    );
    for port in ports {
        let _ = writeln!(
            text,
            "    {{\"{}\", {}, {}}},",
            port.name,
            port.width,
            port.direction.code()
        );
    }
    text.push_str(
        "    {nullptr, 0, 0}};\n\
         PEERLANE_EXPORT void* peerlane_port(void* pointer, unsigned index) {\n    \
         Vmodel* const m = static_cast<Handle*>(pointer)->model.get();\n    switch (index) {\n",
    );
    for (index, port) in ports.iter().enumerate() {
        // The Rust side derives the C++ type from the width; the assertion makes the compiler check it.
        let bytes = crate::port::storage_bytes(port.width);
        let _ = writeln!(
            text,
            "    case {index}: static_assert(sizeof(m->{member}) == {bytes}, \"port size\"); \
             return (void*)&m->{member};",
            member = port.member
        );
    }
    text.push_str("    }\n    return nullptr;\n}\n");
    text
}
