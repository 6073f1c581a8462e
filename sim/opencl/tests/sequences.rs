//! Tests of the runtime's sequences with a board, word by word: opening, launch, interrupt, printf, reset, programming.
//!
//! Offsets and values are those that were observed with the open runtime.

use peerlane_sim_opencl::{
    ClockConfig, Config, Contents, Csr, Memory, Offsets, OpenClSide, Part, Program, Rom, Text,
    Timing, Wait, Work,
};

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";
/// Kernel interface and kernel clock, as on a DE5-Net.
const KERNELS: u64 = 0x4000;
const CLOCK: u64 = 0xC000;
const MIB: u64 = 1 << 20;

/// One MiB from address 0.
struct Ram(Vec<u8>);

impl Memory for Ram {
    fn read(&mut self, address: u64, data: &mut [u8]) {
        let at = address as usize;
        data.copy_from_slice(&self.0[at..at + data.len()]);
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        let at = address as usize;
        self.0[at..at + data.len()].copy_from_slice(data);
    }

    fn lose(&mut self) {
        self.0.fill(0xA5);
    }
}

struct Board {
    side: OpenClSide,
    ram: Ram,
    /// Cycles that the last access waited.
    waited: u64,
}

fn program() -> Program {
    Program::of_all_kinds("sim_board", HASH, MIB)
}

fn board_with(change: impl FnOnce(&mut Config)) -> Board {
    let mut config = Config {
        offsets: Offsets::DE5_NET,
        program: Some(program()),
        ..Config::default()
    };
    change(&mut config);
    Board {
        side: OpenClSide::new(config).unwrap(),
        ram: Ram(vec![0; MIB as usize]),
        waited: 0,
    }
}

fn board() -> Board {
    board_with(|_| ())
}

fn board_of(csr: Csr) -> Board {
    board_with(|config| config.program.as_mut().unwrap().csr = csr)
}

impl Board {
    fn run(&mut self, cycles: u64) {
        self.side.tick(cycles, &mut self.ram);
    }

    /// Runs until the side is idle; returns the cycles.
    fn settle(&mut self) -> u64 {
        let cycles = (0..100_000).find(|_| {
            let idle = !self.side.busy();
            self.run(u64::from(!idle));
            idle
        });
        cycles.expect("it settles")
    }

    fn read(&mut self, offset: u64) -> u32 {
        self.waited = 0;
        while self.waited < 10_000 {
            if let Ok(value) = self.side.read(offset) {
                return value;
            }
            self.run(1);
            self.waited += 1;
        }
        panic!("{offset:#x} does not answer");
    }

    fn write_lanes(&mut self, offset: u64, value: u32, lanes: u8) {
        self.waited = 0;
        while self.side.write(offset, value, lanes) == Err(Wait) {
            assert!(self.waited < 10_000, "{offset:#x} takes nothing");
            self.run(1);
            self.waited += 1;
        }
    }

    fn write(&mut self, offset: u64, value: u32) {
        self.write_lanes(offset, value, 15);
    }

    /// Writes several dwords of the kernel interface from an offset on.
    fn block(&mut self, offset: u64, values: &[u32]) {
        for (index, value) in values.iter().enumerate() {
            self.write(KERNELS + offset + index as u64 * 4, *value);
        }
    }

    fn kernel(&mut self, offset: u64) -> u32 {
        self.read(KERNELS + offset)
    }

    fn rom(&mut self) -> String {
        let words: Vec<_> = (0..1024)
            .map(|word| self.kernel(0x2000 + word * 4))
            .collect();
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let text = String::from_utf8(bytes).unwrap();
        text.trim_end_matches('\0').to_owned()
    }

    fn fill(&mut self, address: u64, values: impl IntoIterator<Item = u32>) {
        for (index, value) in values.into_iter().enumerate() {
            self.ram
                .write(address + index as u64 * 4, &value.to_le_bytes());
        }
    }

    fn dword(&mut self, address: u64) -> u32 {
        let mut bytes = [0; 4];
        self.ram.read(address, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Does the PLL's part of an opening: the ROM, a reset, the setting, a reset.
    fn set_clock_up(&mut self) {
        assert_eq!(self.read(CLOCK), 0xA0C0_0001);
        let setting: [u32; 9] = std::array::from_fn(|n| self.read(CLOCK + 0x400 + n as u64 * 4));
        assert_eq!(setting, [304_869, 12, 1, 0x31DE_6981, 2, 1, 2000, 30, 1]);
        assert_eq!(self.read(CLOCK + 0x424), 0);
        self.reset_clock();
        let words = [
            (0x200, 1),
            (0x210, 0x606),
            (0x21C, 0x31DE_6981),
            (0x20C, 0x10000),
            (0x214, 0x101),
            (0x214, 0x50000),
            (0x220, 8),
            (0x224, 3),
            (0x270, 1),
            (0x208, 1),
        ];
        for (offset, value) in words {
            self.write(CLOCK + offset, value);
        }
        assert_eq!(self.read(CLOCK + 0x204), 0);
        assert_eq!(self.read(CLOCK + 0x120), 0);
        self.settle();
        assert_eq!(self.read(CLOCK + 0x204), 1);
        assert_eq!(self.read(CLOCK + 0x120), 1);
        self.reset_clock();
    }

    fn reset_clock(&mut self) {
        self.write(CLOCK + 0x110, 0);
        assert_eq!(self.read(CLOCK + 0x110), 1);
        assert_eq!(self.read(CLOCK + 0x120), 0);
        self.settle();
        assert_eq!(self.read(CLOCK + 0x120), 1);
    }

    fn reset_kernels(&mut self) {
        self.write(KERNELS + 0x30, 0);
        assert_eq!(self.kernel(0x30), 1);
    }

    /// Makes the writes of a launch of the vector addition of 1000 items, version 5.
    fn launch_vector_add(&mut self) {
        let items = 0x3E8;
        self.block(
            0x1038,
            &[
                1, items, items, 1, 1, 1, 1, 1, items, 1, 1, 0, 0, 0, 0, 0, 0, 0,
            ],
        );
        self.block(0x1080, &[0x400, 0, 0x1400, 0, 0x2400, 0]);
        self.block(0x1008, &[1]);
    }

    fn operands(&mut self) {
        self.fill(0x400, (0..1000).map(|n| n * 3));
        self.fill(0x1400, (0..1000).map(|n: u32| n.wrapping_mul(0x8000_0001)));
    }

    fn sums(&mut self) -> bool {
        (0..1000_u32).all(|n| {
            let sum = (n * 3).wrapping_add(n.wrapping_mul(0x8000_0001));
            self.dword(0x2400 + u64::from(n) * 4) == sum
        })
    }
}

#[test]
fn a_board_is_opened() {
    let mut board = board();
    board.set_clock_up();
    assert_eq!(board.side.kernel_khz(), Some(304_869));
    assert_eq!(board.side.clock_resets(), 2);
    for _ in 0..3 {
        assert_eq!(board.kernel(0), 0xA0C0_0001);
    }
    assert_eq!(board.rom(), program().text());
    for _ in 0..2 {
        board.reset_kernels();
    }
    assert_eq!(board.side.kernel_resets(), 2);
    board.block(0x20, &[0x1000]);
    assert_eq!(board.kernel(0x1000), 0x5_0000);
    // The single words next to them.
    let words = [0xCFC0, 0xCFE0, 0xCFF0].map(|offset| board.read(offset));
    assert_eq!(words, [0xA0C7_C1E0, 0, 128 + 45]);
    assert_eq!(board.side.accesses(Part::Version).reads, 1);
}

#[test]
fn the_text_at_the_end_of_cra_space() {
    let mut board = board_with(|config| config.program.as_mut().unwrap().rom = Rom::Cra);
    assert_eq!(board.kernel(0), 0xA0C0_0002);
    board.block(0x20, &[0x3FFF_F000]);
    let digits = [0x1FF8, 0x1FFC].map(|at| board.kernel(at).to_le_bytes());
    let length =
        u32::from_str_radix(std::str::from_utf8(digits.as_flattened()).unwrap(), 16).unwrap();
    let text = program().text();
    assert_eq!(length as usize, text.len());
    // 684 bytes and 8 more: a kilobyte.
    assert!((512..1024).contains(&(length + 8)));
    board.block(0x20, &[0x3FFF_FC00 & !0xFFF]);
    let begin = 0x1000 + 0xC00;
    let words = (0..length.div_ceil(4)).map(|word| board.kernel(begin + u64::from(word) * 4));
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    assert_eq!(&bytes[..text.len()], text.as_bytes());
    assert!(bytes[text.len()..].iter().all(|byte| *byte == b' '));
    assert_eq!(board.kernel(0x2000), 0);
}

#[test]
fn a_kernel_is_launched_and_interrupts() {
    let mut board = board();
    board.operands();
    board.block(0x20, &[0x1000]);
    board.launch_vector_add();
    board.run(50);
    assert_eq!(board.kernel(0x1000), 0x5_C000);
    assert!(!board.side.kernel_irq());
    // First 100 cycles, then 16 items a cycle.
    assert_eq!(board.settle(), 50 + 63);
    assert!(board.side.kernel_irq());
    assert!(board.sums());
    assert_eq!(board.kernel(0x1000), 0x5_0002);
    assert_eq!(board.kernel(0x1030), 1);
    assert!(!board.side.kernel_irq());
    assert_eq!((board.kernel(0x1000), board.kernel(0x1030)), (0x5_0000, 0));
    // The next launch only writes the changed bytes: 13 from the second operand's address on.
    board.block(0x1088, &[0x400, 0, 0x3400]);
    board.write_lanes(KERNELS + 0x1094, 0xFFFF_FF00, 1);
    board.block(0x1008, &[1]);
    board.settle();
    assert_eq!(board.dword(0x3400 + 4 * 999), 2 * 999 * 3);
    let stats = board.side.kernel_stats("vecadd").unwrap();
    assert_eq!((stats.starts, stats.finished, stats.lost_starts), (2, 2, 0));
}

#[test]
fn two_launches_may_be_one_interrupt() {
    let mut board = board();
    board.operands();
    board.block(0x20, &[0x1000]);
    board.launch_vector_add();
    // A launch is queued with other arguments; a third one finds no room.
    board.block(0x1090, &[0x3400]);
    board.block(0x1008, &[1]);
    board.block(0x1008, &[1]);
    board.settle();
    assert_eq!((board.kernel(0x1000), board.kernel(0x1030)), (0x5_0002, 2));
    assert!(board.sums());
    assert_eq!(board.dword(0x3400), board.dword(0x2400));
    assert_eq!(board.dword(0x3400 + 400), board.dword(0x2400 + 400));
    assert_eq!(board.side.kernel_stats("vecadd").unwrap().lost_starts, 1);
}

#[test]
fn dimensions_hold_ones_after_the_configuration() {
    for (csr, work, arguments) in [(Csr::V5, 0x38, 0x80), (Csr::V4, 0x30, 0x78)] {
        let mut board = board_of(csr);
        board.block(0x20, &[0x1000]);
        let block: Vec<_> = (0..18)
            .map(|n| board.kernel(0x1000 + work + n * 4))
            .collect();
        assert_eq!(
            block,
            [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
        );
        // Then one item, without a write of the items' number.
        board.fill(0x400, [5, 6]);
        board.block(0x1000 + arguments, &[0x400, 0, 0x400, 0, 0x2400, 0]);
        if csr == Csr::V5 {
            board.block(0x1008, &[1]);
        } else {
            board.block(0x1000, &[1]);
        }
        board.settle();
        assert_eq!((board.dword(0x2400), board.dword(0x2404)), (10, 0));
    }
}

#[test]
fn version_4_starts_by_the_status() {
    let mut board = board_of(Csr::V4);
    board.operands();
    board.block(0x20, &[0x1000]);
    board.block(0x1030, &[1, 0x3E8, 0x3E8, 1, 1, 1, 1, 1, 0x3E8, 1, 1, 0]);
    board.block(0x1078, &[0x400, 0, 0x1400, 0, 0x2400, 0]);
    let status = board.kernel(0x1000);
    assert_eq!(status, 0x4_0000);
    board.block(0x1000, &[status | 1]);
    board.settle();
    assert!(board.sums());
    // The next start must not clear the result of the first one.
    let status = board.kernel(0x1000);
    assert_eq!(status, 0x4_0002);
    board.block(0x1000, &[status | 1]);
    assert_eq!(board.kernel(0x1000), 0x4_C002);
    board.settle();
    assert_eq!((board.kernel(0x1028), board.kernel(0x1000)), (2, 0x4_0000));
}

#[test]
fn version_3_has_one_start_at_a_time() {
    let mut board = board_of(Csr::V3);
    board.operands();
    board.block(0x20, &[0x1000]);
    assert_eq!(board.kernel(0x1000), 0x3_0000);
    board.block(
        0x1028,
        &[1, 0x3E8, 0x3E8, 1, 1, 1, 1, 1, 0x3E8, 1, 1, 0, 0, 0],
    );
    board.block(0x1060, &[0x400, 0, 0x1400, 0, 0x2400, 0]);
    board.block(0x1000, &[0x3_0001]);
    board.block(0x1000, &[0x3_0001]);
    board.settle();
    assert!(board.sums() && board.side.kernel_irq());
    assert_eq!(board.kernel(0x1000), 0x3_0002);
    // There is no finish counter: a write of 0 clears done.
    board.block(0x1000, &[0]);
    assert_eq!(board.kernel(0x1000), 0x3_0000);
    assert!(!board.side.kernel_irq());
    let stats = board.side.kernel_stats("vecadd").unwrap();
    assert_eq!((stats.finished, stats.lost_starts), (1, 1));
    // The logic of version 3 clears everything in a reset.
    board.reset_kernels();
    assert_eq!((board.kernel(0x1028), board.kernel(0x1060)), (0, 0));
}

#[test]
fn a_copy_moves_words_between_two_regions() {
    let mut board = board();
    board.fill(0x1_0000, (0..777).map(|n| n ^ 0x5A5A));
    board.block(0x20, &[0x1000]);
    // Its registers are 0x100 after the addition's. The runtime's own bits above an address are ignored.
    board.block(0x1140, &[777]);
    board.block(0x1180, &[0x1_0000, 0xE040_0000, 0x8_0000, 0x00C0_0000]);
    board.block(0x1108, &[1]);
    board.settle();
    assert!((0..777_u32).all(|n| board.dword(0x8_0000 + u64::from(n) * 4) == n ^ 0x5A5A));
    assert_eq!(board.dword(0x8_0000 + 777 * 4), 0);
    assert_eq!((board.kernel(0x1100), board.kernel(0x1130)), (0x5_0002, 1));
}

#[test]
fn a_global_offset_moves_the_first_item() {
    for (csr, segment) in [(Csr::V5, 0x1068), (Csr::V4, 0x1060)] {
        let mut board = board_of(csr);
        board.operands();
        board.block(0x20, &[0x1000]);
        board.block(segment, &[500]);
        let arguments = if csr == Csr::V5 { 0x1080 } else { 0x1078 };
        board.block(arguments, &[0x400, 0, 0x1400, 0, 0x2400, 0]);
        let start = if csr == Csr::V5 { 0x1008 } else { 0x1000 };
        board.block(start, &[1]);
        board.settle();
        let sum = (500 * 3_u32).wrapping_add(500_u32.wrapping_mul(0x8000_0001));
        assert_eq!((board.dword(0x2400), board.dword(0x2400 + 2000)), (0, sum));
    }
}

#[test]
fn a_full_printf_buffer_stalls() {
    let mut board = board();
    board.block(0x20, &[0x2000]);
    // Five lines, a buffer at 0x4000 for two.
    board.block(0x1080, &[5, 0x4000, 0, 64]);
    board.block(0x1008, &[1]);
    for (line, lines) in [(0, 2), (2, 2)] {
        board.settle();
        assert!(board.side.kernel_irq());
        assert_eq!((board.kernel(0x100C), board.kernel(0x1000)), (64, 0x5_C008));
        let records = [0, 4, 32, 36].map(|at| board.dword(0x4000 + at));
        assert_eq!(records, [0, line, 0, line + 1]);
        // The interrupt's handler clears the stall; the kernel still waits.
        board.block(0x1000, &[0x5_C000]);
        assert!(!board.side.kernel_irq());
        board.run(500);
        assert_eq!(board.kernel(0x100C), 32 * lines);
        // The application has read the buffer.
        board.block(0x1000, &[0x5_C010]);
    }
    board.settle();
    assert_eq!((board.kernel(0x1000), board.kernel(0x100C)), (0x5_0002, 32));
    assert_eq!(board.dword(0x4004), 4);
    assert_eq!(board.kernel(0x1030), 1);
    assert_eq!(board.side.kernel_stats("chatter").unwrap().stalls, 2);
}

#[test]
fn a_reset_ends_kernels_and_keeps_what_the_runtime_relies_on() {
    let mut board = board();
    board.operands();
    board.block(0x20, &[0x1000]);
    board.block(0x18, &[1]);
    board.launch_vector_add();
    board.run(110);
    board.write(KERNELS + 0x30, 0);
    // The window waits for the end of the reset; the other registers do not.
    assert_eq!((board.kernel(0), board.waited), (0xA0C0_0001, 0));
    assert_eq!(
        (board.kernel(0x20), board.kernel(0x18), board.waited),
        (0x1000, 1, 0)
    );
    assert_eq!((board.kernel(0x1000), board.waited), (0x5_0000, 1 << 10));
    board.reset_kernels();
    assert_eq!(board.waited, 1 << 10);
    board.settle();
    // Some words were written, the last ones not.
    assert_eq!(board.dword(0x2404), 3 + 0x8000_0001);
    assert_eq!(board.dword(0x2400 + 999 * 4), 0);
    assert!(!board.side.kernel_irq());
    let stats = board.side.kernel_stats("vecadd").unwrap();
    assert_eq!((stats.finished, stats.killed), (0, 1));
    // A launch without writes of the arguments.
    assert_eq!(board.kernel(0x1040), 0x3E8);
    board.block(0x1008, &[1]);
    board.settle();
    assert!(board.sums());
    // A reset clears the interrupt, too.
    board.reset_kernels();
    assert!(!board.side.kernel_irq());
    assert_eq!(board.kernel(0x1030), 0);
}

#[test]
fn another_program_takes_the_place_of_all() {
    let mut board = board();
    board.operands();
    board.block(0x20, &[0x1000]);
    board.launch_vector_add();
    board.run(120);
    let mut other = Program::of_all_kinds("sim_board", &HASH.replace('0', "f"), MIB);
    other.kernels.retain(|kernel| kernel.work == Work::Copy);
    other.csr = Csr::V3;
    other.text = Text::V14;
    let wrong = Program {
        board: String::new(),
        ..other.clone()
    };
    assert!(
        board
            .side
            .reprogram(wrong, Contents::Lost, &mut board.ram)
            .is_err()
    );
    assert_eq!(board.dword(0x404), 3);
    board
        .side
        .reprogram(other.clone(), Contents::Kept, &mut board.ram)
        .unwrap();
    assert_eq!((board.kernel(0x20), board.dword(0x404)), (0, 3));
    assert!(!board.side.busy());
    assert_eq!(board.rom(), other.text());
    board.block(0x20, &[0x1000]);
    assert_eq!((board.kernel(0x1000), board.kernel(0x1100)), (0, 0x3_0000));
    assert_eq!(board.side.kernel_stats("vecadd"), None);
    board
        .side
        .reprogram(program(), Contents::Lost, &mut board.ram)
        .unwrap();
    assert_eq!(board.dword(0x404), 0xA5A5_A5A5);
    assert_eq!(board.side.reprogrammed(), 2);
    assert_eq!(board.side.program().unwrap().hash, HASH);
}

#[test]
fn the_clock_locks_only_with_a_sound_setting() {
    // M, N, C0 and C1, and the error in each.
    let wrong = [
        ((0x210, 0x506), "halves that do not fit"),
        ((0x210, 0x101), "an oscillator of 100 MHz"),
        ((0x20C, 0), "a counter of 0"),
        ((0x214, 0x202), "C0 that is not twice C1"),
        ((0x220, 11), "a bandwidth that does not exist"),
        ((0x224, 5), "a charge pump that does not exist"),
        ((0x270, 2), "a divider that does not exist"),
    ];
    for ((offset, value), what) in wrong {
        let mut board = board();
        board.write(CLOCK + 0x200, 1);
        board.write(CLOCK + offset, value);
        board.write(CLOCK + 0x208, 1);
        board.settle();
        assert_eq!(board.read(CLOCK + 0x204), 1, "{what}");
        assert_eq!(board.read(CLOCK + 0x120), 0, "{what}");
        // A reset does not help, but the right setting does.
        board.write(CLOCK + 0x110, 0);
        board.settle();
        assert_eq!(board.read(CLOCK + 0x120), 0, "{what}");
        let words = [
            (0x210, 0x606),
            (0x20C, 0x10000),
            (0x214, 0x101),
            (0x220, 8),
            (0x224, 3),
            (0x270, 1),
        ];
        for (offset, value) in words {
            board.write(CLOCK + offset, value);
        }
        board.write(CLOCK + 0x208, 1);
        board.settle();
        assert_eq!(board.read(CLOCK + 0x120), 1, "{what}");
    }
}

#[test]
fn a_setting_written_at_the_wrong_time_is_spoilt() {
    let mut board = board();
    board.write(CLOCK + 0x200, 1);
    board.write(CLOCK + 0x208, 1);
    board.write(CLOCK + 0x210, 0x606);
    board.settle();
    assert_eq!(board.read(CLOCK + 0x120), 0);
    board.write(CLOCK + 0x208, 1);
    board.settle();
    assert_eq!(board.read(CLOCK + 0x120), 1);
    // Without polling the controller holds the next access until it is ready.
    board.write(CLOCK + 0x200, 0);
    board.write(CLOCK + 0x208, 1);
    board.write(CLOCK + 0x210, 0x606);
    assert!(board.waited > 0);
    board.settle();
    assert_eq!(board.read(CLOCK + 0x120), 1);
}

#[test]
fn nothing_moves_without_the_kernel_clock() {
    let mut board = board_with(|config| {
        config.clock = ClockConfig {
            never_locks: true,
            ..ClockConfig::default()
        };
    });
    assert_eq!(board.read(CLOCK + 0x120), 0);
    board.write(CLOCK + 0x110, 0);
    board.settle();
    assert_eq!(
        (board.read(CLOCK + 0x120), board.side.kernel_khz()),
        (0, None)
    );
    // The kernel interface answers, its window does not.
    assert_eq!(board.kernel(0), 0xA0C0_0001);
    board.reset_kernels();
    board.run(10_000);
    assert_eq!(board.side.read(KERNELS + 0x1000), Err(Wait));
    board.side.set_never_locks(false);
    board.block(0x20, &[0x1000]);
    assert_eq!(board.kernel(0x1000), 0x5_0000);
    // A kernel at work stops while the clock does.
    board.operands();
    board.launch_vector_add();
    board.run(20);
    board.side.set_never_locks(true);
    board.run(10_000);
    assert!(!board.side.busy() && !board.side.kernel_irq());
    board.side.set_never_locks(false);
    board.settle();
    assert!(board.sums());
}

#[test]
fn a_kernel_may_take_as_long_as_a_test_needs() {
    let mut board = board();
    board.operands();
    board.side.set_timing(Timing {
        start: 50_000,
        bytes: 4,
    });
    board.block(0x20, &[0x1000]);
    board.launch_vector_add();
    assert_eq!(board.settle(), 51_000);
    assert!(board.sums());
}

/// Place of a reset, and the function that returns their number.
type Reset = (u64, fn(&OpenClSide) -> u64);

/// Resets of the kernels and of their clock.
const RESETS: [Reset; 2] = [
    (KERNELS + 0x30, OpenClSide::kernel_resets),
    (CLOCK + 0x110, OpenClSide::clock_resets),
];

/// `sw_reset.v` restarts its count in each cycle in which it sees a store, and lets the store wait until the count is
/// complete.
#[test]
fn a_store_to_a_reset_that_lasts_waits_for_ever() {
    for (reset, _) in RESETS {
        for second in [reset, reset + 4] {
            let mut board = board();
            board.write(reset, 0);
            for _ in 0..10 << 10 {
                assert_eq!(board.side.write(second, 0, 15), Err(Wait));
                board.run(1);
            }
            // A read that waits delays nothing. A cycle has passed since the last store.
            board.read(reset);
            assert_eq!(board.waited, (1 << 10) - 1);
        }
    }
}

/// Address and byte enables are ignored.
#[test]
fn a_store_to_any_byte_resets() {
    for (reset, count) in RESETS {
        for (at, lanes) in [(0, 15), (0, 2), (4, 15), (4, 8)] {
            let mut board = board();
            board.write_lanes(reset + at, 0, lanes);
            assert_eq!(count(&board.side), 1, "{at}, {lanes}");
            board.settle();
            board.write(reset, 0);
            assert_eq!(count(&board.side), 2);
        }
    }
}

/// Kernels wait while the memory is not calibrated, and the status reports it.
#[test]
fn memory_that_is_not_calibrated_does_not_answer() {
    const STATUS: u64 = 0xCFE0;
    let mut board = board_with(|config| config.calibrates = Some(3000));
    board.operands();
    board.block(0x20, &[0x1000]);
    board.launch_vector_add();
    board.run(2999);
    assert_ne!(board.read(STATUS), 0);
    assert!(!board.side.kernel_irq() && board.side.busy());
    board.run(1);
    assert_eq!(board.read(STATUS), 0);
    board.settle();
    assert!(board.side.kernel_irq() && board.sums());
    // Calibration is lost with each configuration, or never comes.
    board.side.power_up();
    assert_ne!(board.read(STATUS), 0);
    board.side.set_calibrates(None);
    board.run(100_000);
    assert_ne!(board.read(STATUS), 0);
    assert!(!board.side.busy());
    board.side.power_up();
    assert!(!board.side.calibrated());
    board.side.set_calibrates(Some(0));
    assert_eq!(board.read(STATUS), 0);
}
