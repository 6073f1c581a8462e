//! Examples, and tools of the command `peerlane`, as they stand, on `/dev/peerlane0`.

use crate::lab::Setup;
use peerlane_vm::{Initramfs, guest_example, guest_program};

fn files(files: &mut Initramfs) {
    for name in ["acquisition", "inference_feed", "processes"] {
        files.shared_program(&guest_example(name).unwrap()).unwrap();
    }
    files
        .shared_program(&guest_program("peerlane").unwrap())
        .unwrap();
}

/// There is no GPU that CUDA knows, so the processor stands for one, in the host's memory.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn examples_and_tools() {
    Setup::default().with(files).run(
        "acquisition\n\
         inference_feed\n\
         processes\n\
         peerlane bench transfers --routes host --sizes 4KiB,64KiB --repeat 3 --csv /rates.csv\n\
         grep -c host,65536,cached,3, /rates.csv\n\
         peerlane bench transfers --sizes 4KiB && exit 1\n\
         peerlane top --once --interval 0.2\n\
         peerlane top --once --interval 0.2 --json | grep '\"state\":\"ready\"'",
    );
}
