//! A construct that the generator does not understand stops it, and the others are translated correctly.

use crate::{api::Api, library, wrapper};

/// Types that the functions below have.
const TYPES: &str = "
    pub type cl_int = i32;
    pub type cl_uint = u32;
    pub type cl_command_queue = *mut c_void;
    pub type cl_mem = *mut c_void;
    pub type cl_event = *mut c_void;
    pub type cl_kernel = *mut c_void;
    pub type cl_thing = u64;
";

/// Returns the wrapper of a function with these parameters and result, or the error.
fn wrapped(name: &str, signature: &str) -> Result<String, String> {
    let source = format!("{TYPES} pub type {name}_t = Option<unsafe extern \"C\" fn{signature}>;");
    let api = Api::of(&source).unwrap();
    let text = wrapper::function(&api, name, &api.functions[name]);
    text.map_err(|report| format!("{report:?}"))
}

#[test]
fn what_is_not_understood_stops_the_generator() {
    let stops = [
        // A pointer to an unknown type.
        (
            "(queue: cl_command_queue, things: *mut cl_thing) -> cl_int",
            "no rule for the parameter things",
        ),
        // A list of handles without a length.
        (
            "(queue: cl_command_queue, list: *const cl_mem) -> cl_int",
            "no rule for the parameter list",
        ),
        // A handle that the call writes, and that is not an event.
        (
            "(queue: cl_command_queue, buffer: *mut cl_mem) -> cl_int",
            "no rule for the parameter buffer",
        ),
        // A list that has no error for wrong elements.
        (
            "(queue: cl_command_queue, num_kernels: cl_uint, kernels: *const cl_kernel) -> cl_int",
            "no error for a list",
        ),
        // Callbacks whose object is not the first argument, or may be missing.
        (
            "(queue: cl_command_queue, pfn_notify: Option<unsafe extern \"C\" fn(user_data: *mut c_void, event: cl_event)>) -> cl_int",
            "no rule for its callback",
        ),
        (
            "(queue: cl_command_queue, pfn_notify: Option<unsafe extern \"C\" fn(one: *mut c_void, other: *mut c_void)>) -> cl_int",
            "no rule for its callback",
        ),
        (
            "(queue: cl_command_queue, pfn_notify: Option<unsafe extern \"C\" fn(event: cl_event, thing: cl_thing)>) -> cl_int",
            "no rule for its callback",
        ),
        // A type that the description does not have.
        (
            "(queue: cl_command_queue, value: cl_nobody_knows) -> cl_int",
            "is not known",
        ),
    ];
    for (signature, why) in stops {
        let stopped = wrapped("clSomethingKHR", signature).unwrap_err();
        assert!(stopped.contains(why), "{signature}: {stopped}");
    }
}

#[test]
fn a_query_that_may_answer_with_handles_needs_a_row() {
    let source = "pub const CL_THING_OTHER_QUEUE_KHR: cl_thing_info = 0x9999;";
    let stopped = library::dispatch(&Api::of(source).unwrap()).unwrap_err();
    assert!(
        format!("{stopped:?}").contains("CL_THING_OTHER_QUEUE_KHR"),
        "{stopped:?}"
    );
}

#[test]
fn what_is_understood_is_translated() {
    let signature = "(queue: cl_command_queue, num_events: cl_uint, event_wait_list: *const cl_event, event: *mut cl_event) -> cl_int";
    let text = wrapped("clEnqueueSomethingKHR", signature).unwrap();
    for part in [
        "let raw_queue = objects::raw(queue, Kind::Queue);",
        "List::new(num_events, event_wait_list.cast(), Kind::Event)",
        "return -57;",
        "if !made.is_null() && arguments::enqueued(result)",
        "objects::adopt(made, Kind::Event, queue,",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = wrapped(
        "clReleaseSomethingKHR",
        "(queue: cl_command_queue) -> cl_int",
    )
    .unwrap();
    assert!(
        text.contains("let (raw_queue, _later) = objects::releasing(queue, Kind::Queue);"),
        "{text}"
    );
    let text = wrapped(
        "clRetainSomethingKHR",
        "(queue: cl_command_queue) -> cl_int",
    )
    .unwrap();
    assert!(
        text.contains("if result == 0 { objects::retained(queue); }"),
        "{text}"
    );
}
