//! Tests of the driver's sequence for a configuration over PCIe, against the model of the hard IP.

use peerlane_core::cvp::{Cvp as Sequence, Failure, HardIp, Packing};
use peerlane_sim_opencl::{Cvp, CvpConfig, CvpFault, cvp_image};

/// Offset of the capability in the V-series hard IP (683889, "VSEC Registers for CvP").
const BASE: u16 = 0x200;

/// A function whose capability is the model.
struct Function {
    model: Cvp,
    /// Memory writes that are still carried out; `None`: all. After them the caller is gone.
    left: Option<usize>,
    paused: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CutShort;

impl HardIp for Function {
    type Error = CutShort;

    fn read(&mut self, offset: u16) -> Result<u32, CutShort> {
        if self.left == Some(0) {
            return Err(CutShort);
        }
        Ok(match offset {
            0x100 => 0x2001_0003,
            0x200 => 0x8001_000b,
            0x204 => 0x0440_1172,
            0x21c..0x244 => self.model.read(u64::from(offset - BASE)),
            _ => 0,
        })
    }

    fn write(&mut self, offset: u16, value: u32) -> Result<(), CutShort> {
        self.model.write(u64::from(offset - BASE), value, 15);
        Ok(())
    }

    fn send(&mut self, words: impl Iterator<Item = u32>) -> Result<(), CutShort> {
        for word in words {
            match &mut self.left {
                Some(0) => return Err(CutShort),
                Some(left) => *left -= 1,
                None => {}
            }
            self.model.data(word, 15);
        }
        Ok(())
    }

    fn pause(&mut self, microseconds: u32) {
        self.paused += u64::from(microseconds);
    }
}

fn function(config: CvpConfig) -> Function {
    Function {
        model: Cvp::new(config),
        left: None,
        paused: 0,
    }
}

/// Returns content whose length is not a multiple of a piece.
fn content() -> Vec<u8> {
    (0..30_000_u32)
        .map(|at| (at * 7 + (at >> 8)) as u8)
        .collect()
}

fn image() -> Vec<u8> {
    cvp_image(&content(), CvpConfig::default().periphery)
}

fn run(function: &mut Function, image: &[u8], packing: Packing) -> Result<(), Failure<CutShort>> {
    let mut found = Sequence::find(function).unwrap().expect("a capability");
    found.configure(image, packing)
}

fn is_empty(function: &mut Function) -> bool {
    let mut found = Sequence::find(function).unwrap().expect("a capability");
    found.is_empty().unwrap()
}

fn is_sound(function: &Function) {
    let record = function.model.record();
    assert_eq!((record.violations, &record.first_violation), (0, &None));
}

/// Checks that the next attempt works after any failure.
fn works_again(function: &mut Function) {
    function.model.set_fault(None);
    function.left = None;
    let before = function.model.record().configured;
    assert_eq!(run(function, &image(), Packing::Plain), Ok(()));
    assert_eq!(function.model.record().configured, before + 1);
    assert!(!is_empty(function));
    is_sound(function);
}

#[test]
fn an_image_arrives_as_it_is() {
    let mut function = function(CvpConfig::default());
    let image = image();
    assert_eq!(run(&mut function, &image, Packing::Plain), Ok(()));
    let record = function.model.record();
    let words = record.words.iter().flat_map(|word| word.to_le_bytes());
    assert!(words.eq(image));
    assert_eq!((record.transfers, record.configured), (1, 1));
    is_sound(&function);
}

/// The last dword of an image may have fewer bytes: it is filled with zeros.
#[test]
fn an_image_of_any_length_arrives() {
    let config = CvpConfig {
        periphery: 5,
        ..CvpConfig::default()
    };
    // 3 dwords, for periphery 5, and their sum.
    let image = [3, 0, 0, 0, 5, 0, 0, 0, 8];
    assert_eq!(cvp_image(&[], 5)[..9], image);
    let mut function = function(config);
    assert_eq!(run(&mut function, &image, Packing::Plain), Ok(()));
    assert_eq!(function.model.record().words, [3, 5, 8]);
}

#[test]
fn images_are_packed_as_the_board_says() {
    for (encrypted, compressed, right) in [
        (false, false, Packing::Plain),
        (true, false, Packing::Encrypted),
        (false, true, Packing::Compressed),
        (true, true, Packing::Compressed),
    ] {
        let config = CvpConfig {
            encrypted,
            compressed,
            ..CvpConfig::default()
        };
        for packing in [
            Packing::AsTold,
            Packing::Plain,
            Packing::Encrypted,
            Packing::Compressed,
        ] {
            let mut function = function(config);
            let done = run(&mut function, &image(), packing);
            match packing == right || packing == Packing::AsTold {
                true => assert_eq!(done, Ok(()), "{config:?}"),
                false => assert!(
                    matches!(done, Err(Failure::Refused(_))),
                    "{config:?}: {done:?}"
                ),
            }
            is_sound(&function);
        }
    }
}

#[test]
fn faults_have_their_errors_and_an_end() {
    let image = image();
    for (fault, failure, empty) in [
        (CvpFault::NeverReady, Failure::NotReady, false),
        // The read of the status after the piece that contained it.
        (CvpFault::Error(1030), Failure::Refused(8192), true),
        (
            CvpFault::Error(image.len() / 4),
            Failure::Refused(image.len()),
            true,
        ),
        (CvpFault::NoUserMode, Failure::Down, true),
    ] {
        let mut function = function(CvpConfig::default());
        function.model.set_fault(Some(fault));
        assert_eq!(
            run(&mut function, &image, Packing::Plain),
            Err(failure),
            "{fault:?}"
        );
        assert_eq!(is_empty(&mut function), empty, "{fault:?}");
        assert_eq!(function.model.record().configured, 0);
        // Two seconds at most.
        assert!(
            function.paused < 2_000_000,
            "{fault:?}: {}",
            function.paused
        );
        is_sound(&function);
        works_again(&mut function);
    }
}

#[test]
fn a_control_block_that_does_not_end_is_told() {
    let mut function = function(CvpConfig::default());
    function.model.set_fault(Some(CvpFault::StaysReady));
    assert_eq!(
        run(&mut function, &image(), Packing::Plain),
        Err(Failure::Stuck)
    );
    assert!(is_empty(&mut function));
    // The function still has the data register.
    assert!(function.model.takes_memory());
    is_sound(&function);
    works_again(&mut function);
}

#[test]
fn a_function_that_is_gone_is_told_at_once() {
    let mut function = function(CvpConfig::default());
    assert!(Sequence::find(&mut function).unwrap().is_some());
    function.model.set_fault(Some(CvpFault::Gone));
    assert_eq!(
        run(&mut function, &image(), Packing::Plain),
        Err(Failure::Gone)
    );
    assert_eq!((function.model.record().transfers, function.paused), (0, 0));
    function.model.set_fault(None);
    works_again(&mut function);
}

#[test]
fn an_image_for_another_periphery_is_refused() {
    let mut function = function(CvpConfig::default());
    let other = cvp_image(&content(), 1);
    assert_eq!(
        run(&mut function, &other, Packing::Plain),
        Err(Failure::Refused(4096))
    );
    assert!(is_empty(&mut function));
    works_again(&mut function);
    let mut spoilt = image();
    spoilt[20_000] ^= 1;
    let length = spoilt.len();
    assert_eq!(
        run(&mut function, &spoilt, Packing::Plain),
        Err(Failure::Refused(length))
    );
    works_again(&mut function);
}

/// Checks that an image without its end does not come up.
#[test]
fn half_an_image_does_not_come_up() {
    let mut function = function(CvpConfig::default());
    let half = &image()[..15_000];
    assert_eq!(run(&mut function, half, Packing::Plain), Err(Failure::Down));
    assert!(is_empty(&mut function));
    is_sound(&function);
    works_again(&mut function);
}

/// Checks that a caller works after another one was cut short at any point, also if the function was reset in between.
#[test]
fn who_was_cut_short_is_followed() {
    let image = image();
    // In each run of dummies, between the runs, and in the image.
    for left in [
        1, 243, 244, 245, 487, 488, 489, 2000, 7990, 7991, 8000, 8200,
    ] {
        for reset in [false, true] {
            let mut function = function(CvpConfig::default());
            function.left = Some(left);
            let cut = run(&mut function, &image, Packing::Plain);
            assert_eq!(cut, Err(Failure::Access(CutShort)), "{left}");
            function.model.clear_record();
            if reset {
                function.model.reset();
            }
            works_again(&mut function);
        }
    }
}

/// Checks that the model finds violations of the guide.
#[test]
fn the_model_is_strict() {
    type Step = (u64, u32);
    const D: u64 = 0;
    let cases: [(&str, &[Step]); 9] = [
        ("before HIP_CLK_SEL", &[(0x20, 0x101)]),
        (
            "CVP_CONFIG was set out of turn",
            &[(0x20, 0x102), (0x20, 0x103), (D, 243), (0x2c, 1)],
        ),
        ("CVP_CONFIG was set out of turn", &[(0x2c, 1)]),
        (
            "START_XFER was set out of turn",
            &[(0x20, 0x102), (0x20, 0x103), (D, 244), (0x2c, 1), (0x2c, 3)],
        ),
        (
            "dummy writes of more than one clock",
            &[(0x20, 0x402), (0x20, 0x403), (D, 1)],
        ),
        ("outside CvP mode", &[(D, 1)]),
        (
            "outside a transfer",
            &[(0x20, 0x102), (0x20, 0x103), (0x28, 7)],
        ),
        (
            "cleared before CVP_MODE",
            &[(0x20, 0x102), (0x20, 0x103), (0x20, 0x101)],
        ),
        ("whole FPGA", &[(0x20, 0x104)]),
    ];
    for (violation, steps) in cases {
        let mut model = Cvp::new(CvpConfig::default());
        for (register, value) in steps {
            match *register {
                D => (0..*value).for_each(|_| model.data(0, 15)),
                register => model.write(register, *value, 15),
            }
        }
        let first = model.record().first_violation.clone().unwrap_or_default();
        assert!(first.contains(violation), "{violation}: {first:?}");
        assert_eq!(model.record().violations, 1, "{violation}");
    }
    let mut model = Cvp::new(CvpConfig::default());
    model.write(0x20, 0x102, 15);
    model.write(0x20, 0x103, 15);
    model.data(0, 3);
    assert_eq!(model.record().violations, 1);
    // The mode does not exist if the design does not enable it.
    let mut model = Cvp::new(CvpConfig {
        enabled: false,
        ..CvpConfig::default()
    });
    model.write(0x20, 0x102, 15);
    model.write(0x20, 0x103, 15);
    assert!(!model.takes_memory());
}
