//! Measures the added cost of a call over the vendor library alone: the vendor library of this program does nothing. At
//! the end the program fails if a call costs more than it may.

use std::ffi::{CString, c_void};
use std::hint::black_box;
use std::process::ExitCode;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use criterion::Criterion;
use libloading::{Library, Symbol};
use peerlane_icd as _;
use peerlane_icd_tests::{Lab, driver};

type Handle = *mut c_void;
type ByName = unsafe extern "C" fn(*const i8) -> Handle;
type GetIds = unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> i32;
type GetDevices = unsafe extern "C" fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32;
type NewContext =
    unsafe extern "C" fn(*const isize, u32, *const Handle, Handle, Handle, *mut i32) -> Handle;
type NewQueue = unsafe extern "C" fn(Handle, Handle, u64, *mut i32) -> Handle;
type NewProgram =
    unsafe extern "C" fn(Handle, u32, *const *const i8, *const usize, *mut i32) -> Handle;
type NewKernel = unsafe extern "C" fn(Handle, *const i8, *mut i32) -> Handle;
type NewBuffer = unsafe extern "C" fn(Handle, u64, usize, Handle, *mut i32) -> Handle;
type SetArgument = unsafe extern "C" fn(Handle, u32, usize, *const c_void) -> i32;
type Marker = unsafe extern "C" fn(Handle, u32, *const Handle, *mut Handle) -> i32;
type Release = unsafe extern "C" fn(Handle) -> i32;

/// The most nanoseconds that `clSetKernelArg`, and an enqueue whose event is released, may cost.
const MOST: [(&str, f64); 3] = [
    ("clSetKernelArg, a number", 10.0),
    ("clSetKernelArg, a buffer", 10.0),
    ("enqueue with an event, and its release", 100.0),
];

/// Objects, and the functions that are measured.
struct Calls {
    kernel: Handle,
    buffer: Handle,
    queue: Handle,
    set: SetArgument,
    marker: Marker,
    release: Release,
}

impl Calls {
    fn new() -> Self {
        let lab = Lab::new();
        let vendor = lab.library("libnull.so", "vendors/null.c", &[]);
        // SAFETY: no other thread reads the environment yet.
        unsafe {
            std::env::set_var("PEERLANE_ICD_VENDOR", &vendor);
            std::env::set_var("PEERLANE_ICD_DEBUG", "1");
        }
        // SAFETY: the driver's own functions, with arguments as the specification has them.
        unsafe {
            let library = Box::leak(Box::new(Library::new(driver()).unwrap()));
            let by_name: Symbol<'_, ByName> =
                library.get(b"clGetExtensionFunctionAddress").unwrap();
            let function = |name: &str| {
                let name = CString::new(name).unwrap();
                let function = by_name(name.as_ptr());
                assert!(!function.is_null(), "{name:?}");
                function
            };
            // Transmuted to its type, so that the compiler checks the arguments.
            macro_rules! get {
                ($name:ident: $type:ty) => {
                    std::mem::transmute::<Handle, $type>(function(stringify!($name)))
                };
            }
            let (mut platform, mut device) = (null_mut(), null_mut());
            get!(clIcdGetPlatformIDsKHR: GetIds)(1, &mut platform, null_mut());
            get!(clGetDeviceIDs: GetDevices)(platform, !0, 1, &mut device, null_mut());
            let none: Handle = null_mut();
            let context = get!(clCreateContext: NewContext)(
                none.cast(),
                1,
                &device,
                null_mut(),
                null_mut(),
                none.cast(),
            );
            let source = c"".as_ptr();
            let program = get!(clCreateProgramWithSource: NewProgram)(
                context,
                1,
                &source,
                none.cast(),
                none.cast(),
            );
            Self {
                kernel: get!(clCreateKernel: NewKernel)(program, c"k".as_ptr(), none.cast()),
                buffer: get!(clCreateBuffer: NewBuffer)(context, 0, 64, null_mut(), none.cast()),
                queue: get!(clCreateCommandQueue: NewQueue)(context, device, 0, none.cast()),
                set: get!(clSetKernelArg: SetArgument),
                marker: get!(clEnqueueMarkerWithWaitList: Marker),
                release: get!(clReleaseEvent: Release),
            }
        }
    }

    /// Makes the call with this index in [`MOST`].
    fn call(&self, which: usize) {
        let number = 5u64;
        // SAFETY: live handles, and places that last as long as the calls.
        let result = unsafe {
            match which {
                0 => (self.set)(self.kernel, 0, 8, (&raw const number).cast()),
                1 => (self.set)(self.kernel, 0, 8, (&raw const self.buffer).cast()),
                _ => {
                    let mut event = null_mut();
                    (self.marker)(self.queue, 0, null_mut::<Handle>(), &mut event);
                    (self.release)(event)
                }
            }
        };
        assert_eq!(black_box(result), 0);
    }
}

/// Returns the nanoseconds of the quickest of some rounds: other work on the machine only adds to them.
fn quickest(calls: &Calls, which: usize) -> f64 {
    const CALLS: u32 = 20_000;
    let round = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            calls.call(which);
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..100).map(|_| round()).fold(f64::MAX, f64::min)
}

fn main() -> ExitCode {
    let calls = Calls::new();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for (which, (name, _)) in MOST.iter().enumerate() {
        criterion.bench_function(name, |bencher| bencher.iter(|| calls.call(which)));
    }
    criterion.final_summary();
    let mut code = ExitCode::SUCCESS;
    for (which, (name, most)) in MOST.iter().enumerate() {
        let cost = quickest(&calls, which);
        println!("{name}: {cost:.1} ns, at most {most:.0}");
        if cost > *most {
            println!("{name}: TOO SLOW");
            code = ExitCode::FAILURE;
        }
    }
    code
}
