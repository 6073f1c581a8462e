//! Tests of unchanged examples, and of tools of the command `peerlane`, on `/dev/peerlane0`.

use crate::examples::{compiled, programs, python};
use crate::lab::Setup;

/// CUDA finds no GPU, so the processor takes its place, in the host's memory.
#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn examples_and_tools() {
    Setup::default().with(programs).run(
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

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn the_first_example_in_each_language() {
    Setup::default().with(compiled).with(python).run(
        "hello\n\
         hello-c\n\
         python3 /srv/hello.py\n\
         python3 /srv/on_a_board.py",
    );
}
