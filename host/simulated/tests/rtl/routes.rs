//! All routes between the simulated board and its GPU, and platforms with faults.

use super::{KIB, MIB, open_on, open_tagged, pattern};
use peerlane_host::driver::{Driver, Options as DriverOptions};
use peerlane_host::{Device, Direction, Errno, Memory, Permissions};
use peerlane_routes::{
    Board, Cancel, Engine, Error, Limits, Options, Order, Pair, Push, Reach, Residence, Route,
    Routes, Side, Verdict,
};
use peerlane_sim::BoardConfig;
use peerlane_simulated::{CopyEngine, Platform, SimBoard, SimGpu};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A board, memory of its GPU, and the routes between them.
struct Rig {
    board: SimBoard,
    gpu: SimGpu,
    routes: Routes,
    length: u64,
    driver: Driver,
}

impl Rig {
    fn new(length: u64, config: BoardConfig, platform: Platform, engine: CopyEngine) -> Self {
        Self::of(
            open_on(&driver_options(), config),
            length,
            platform,
            engine,
            true,
        )
    }

    fn of(
        (board, driver): (SimBoard, Driver),
        length: u64,
        platform: Platform,
        engine: CopyEngine,
        probe_reads: bool,
    ) -> Self {
        board.set_platform(platform);
        let device = driver.open().unwrap();
        let ends = Board::new(&device, length).unwrap();
        let gpu = SimGpu::new(&board, &device, length, engine).unwrap();
        let options = Options {
            measured: 128 * KIB,
            probe_reads,
            ..Options::default()
        };
        let routes = Routes::new(&ends, Arc::new(gpu.clone()), options);
        Self {
            board,
            gpu,
            routes,
            length,
            driver,
        }
    }

    fn on(platform: Platform) -> Self {
        let config = BoardConfig::default();
        Self::new(128 * KIB, config, platform, CopyEngine::default())
    }

    /// Opens a board whose reads have tags, or have none, with a probe that reads, or does not.
    fn with(tagged: bool, platform: Platform, probe_reads: bool) -> Self {
        let opened = match tagged {
            true => open_tagged(&driver_options()),
            false => open_on(&driver_options(), BoardConfig::default()),
        };
        Self::of(
            opened,
            128 * KIB,
            platform,
            CopyEngine::default(),
            probe_reads,
        )
    }

    fn order(&self, direction: Direction) -> Order {
        Order {
            direction,
            fpga: 0,
            at: 0,
            length: self.length,
        }
    }

    /// Fills both memories, executes `order`, and compares every byte of both.
    fn round(&self, order: &Order, route: Route) {
        let what = format!("{route} {order:?}");
        let base = self.routes.board().memory().start;
        let size = self.length as usize;
        let (mut fpga, mut gpu) = (pattern(5, size), pattern(9, size));
        self.board.fpga_write(base, &fpga).unwrap();
        self.gpu.memory().write(0, &gpu).unwrap();
        let moved = self.routes.transfer(order, route, &Limits::default());
        let moved = moved.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(moved.bytes, order.length, "{what}");
        let fpga_part = order.fpga as usize..(order.fpga + order.length) as usize;
        let gpu_part = order.at as usize..(order.at + order.length) as usize;
        match order.direction {
            Direction::FromFpga => gpu[gpu_part].copy_from_slice(&fpga[fpga_part]),
            Direction::ToFpga => fpga[fpga_part].copy_from_slice(&gpu[gpu_part]),
        }
        let (mut fpga_now, mut gpu_now) = (vec![0; size], vec![0; size]);
        self.board.fpga_read(base, &mut fpga_now).unwrap();
        self.gpu.memory().read(0, &mut gpu_now).unwrap();
        assert!(fpga_now == fpga, "{what}: FPGA memory");
        assert!(gpu_now == gpu, "{what}: GPU memory");
    }
}

fn driver_options() -> DriverOptions {
    DriverOptions {
        // 40 us at 250 MHz.
        port_timeout_cycles: Some(10_000),
        ..DriverOptions::default()
    }
}

fn all() -> impl Iterator<Item = (Direction, Route)> {
    Direction::BOTH.into_iter().flat_map(|direction| {
        let routes = Route::ALL.into_iter().chain([Route::Auto]);
        let routes = routes.filter(move |route| route.goes(direction));
        routes.map(move |route| (direction, route))
    })
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn every_route_moves_all_sizes_and_nothing_else() {
    let length = 3 * MIB;
    let config = BoardConfig::default();
    let rig = Rig::new(length, config, Platform::Good, CopyEngine::default());
    for (direction, route) in all() {
        for (fpga, at, length) in [
            (0, 0, 1),
            (1, 63, 65),
            (4093, 127, 4099),
            (65_535, 65_530, 65_540),
            (0, 0, 256 * KIB),
            (12_345, 54_321, 700_001),
            (0, 0, 3 * MIB),
        ] {
            // Each store goes through the RTL separately, and takes the simulation a hundred cycles.
            if route == Route::Push && length > 64 * KIB + 4 {
                continue;
            }
            let order = Order {
                direction,
                fpga,
                at,
                length,
            };
            rig.round(&order, route);
        }
    }
}

#[test]
#[ignore = "external tools, minutes: cargo xtask test rtl-long"]
fn half_a_gigabyte_takes_every_route() {
    let length = 512 * MIB;
    let mut config = BoardConfig::default();
    config.ddr.bytes = config.ddr.bytes.max(2 * length);
    let rig = Rig::new(length, config, Platform::Good, CopyEngine::default());
    for (direction, route) in all() {
        rig.round(&rig.order(direction), route);
    }
}

/// The GPU's BAR shows a part of its memory at a time: the board may reach one part after the other.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn memory_that_is_larger_than_the_bar() {
    let mut config = BoardConfig::default();
    (config.gpu.bar_bytes, config.gpu.bar_reserved) = (MIB, 256 * KIB);
    let rig = Rig::new(2 * MIB, config, Platform::Good, CopyEngine::default());
    for (direction, route) in [
        (Direction::FromFpga, Route::DirectWrite),
        (Direction::ToFpga, Route::DirectRead),
    ] {
        rig.round(&rig.order(direction), route);
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_route_that_goes_the_other_way_is_refused() {
    let rig = Rig::on(Platform::Good);
    for (direction, route) in [
        (Direction::ToFpga, Route::DirectWrite),
        (Direction::FromFpga, Route::DirectRead),
        (Direction::FromFpga, Route::Push),
    ] {
        let order = rig.order(direction);
        let error = rig.routes.transfer(&order, route, &Limits::default());
        assert!(
            matches!(&error, Err(Error::Refused { why, .. }) if why.contains("the other way")),
            "{error:?}"
        );
    }
    for order in [
        Order {
            at: 1,
            ..rig.order(Direction::FromFpga)
        },
        Order {
            fpga: u64::MAX,
            ..rig.order(Direction::ToFpga)
        },
    ] {
        let error = rig.routes.transfer(&order, Route::Auto, &Limits::default());
        assert!(matches!(error, Err(Error::Bounds { .. })), "{error:?}");
    }
}

/// A board has one window: a copy that has taken it releases it for later measurements.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_choice_after_a_push_finds_the_window_free() {
    let rig = Rig::on(Platform::Good);
    let order = Order {
        length: 4 * KIB,
        ..rig.order(Direction::ToFpga)
    };
    rig.round(&order, Route::Push);
    let choice = rig.routes.choose(Direction::ToFpga, order.length).unwrap();
    assert!(!choice.why.contains("window"), "{choice}");
    rig.round(&order, Route::Push);
}

/// A reset loses stores without an error: the push that it interrupts must not succeed.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_reset_in_the_middle_of_a_push_is_told() {
    let rig = Rig::on(Platform::Good);
    rig.routes.findings().unwrap();
    let order = rig.order(Direction::ToFpga);
    let base = rig.routes.board().memory().start;
    let data = pattern(7, rig.length as usize);
    rig.board
        .fpga_write(base, &pattern(8, rig.length as usize))
        .unwrap();
    rig.gpu.memory().write(0, &data).unwrap();
    let driver = rig.driver.clone();
    rig.gpu.reset_in_push(move || Ok(driver.reset()?));
    let lost = rig.routes.transfer(&order, Route::Push, &Limits::default());
    let mut found = vec![0; data.len()];
    rig.board.fpga_read(base, &mut found).unwrap();
    assert!(found != data, "the model has lost something");
    let Err(Error::Lost { length, memory, .. }) = lost else {
        panic!("{lost:?}");
    };
    assert_eq!((length, memory), (rig.length, false));
    rig.round(&order, Route::Push);
}

/// Findings of a probe on each platform: on the write, the read, and whether reads are lost. A board whose reads have
/// tags gets an answer that refuses a read, and loses only reads that are not answered.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn the_probe_tells_platforms_apart() {
    type Is = fn(&Verdict) -> bool;
    let works: Is = |verdict| *verdict == Verdict::Works;
    let unproven: Is = |verdict| *verdict == Verdict::Unproven;
    let detour: Is = |verdict| *verdict == Verdict::Detour;
    let unsupported: Is =
        |verdict| matches!(verdict, Verdict::Refused(what) if what.contains("Unsupported Request"));
    let other: Is =
        |verdict| matches!(verdict, Verdict::Wrong(what) if what.contains("other bytes"));
    let nothing: Is = |verdict| matches!(verdict, Verdict::Wrong(what) if what.contains("nothing"));
    let timeout: Is =
        |verdict| matches!(verdict, Verdict::Refused(what) if what.contains("in time"));
    let wrong: Is = |verdict| matches!(verdict, Verdict::Wrong(_));
    for (tagged, platform, write, read, lost) in [
        (false, Platform::Good, works, works, false),
        // An answer that refuses the read stays in the bridge.
        (false, Platform::WritesOnly, unproven, timeout, true),
        (false, Platform::Silent, unproven, timeout, true),
        (false, Platform::Forced, other, other, false),
        (false, Platform::Translating, nothing, timeout, true),
        (false, Platform::Gtt, detour, detour, false),
        (false, Platform::OnePage, wrong, wrong, false),
        (true, Platform::Good, works, works, false),
        (true, Platform::WritesOnly, unproven, unsupported, false),
        (true, Platform::Silent, unproven, timeout, false),
        (true, Platform::Translating, nothing, unsupported, false),
    ] {
        let rig = Rig::with(tagged, platform, true);
        let findings = rig.routes.findings().unwrap();
        let lies = match platform {
            Platform::Gtt => Residence::Host,
            _ => Residence::Device,
        };
        assert_eq!(findings.residence, lies, "{platform:?}");
        assert!(!findings.unknown(), "{platform:?}");
        assert!(write(&findings.write), "{platform:?}: {findings:?}");
        assert!(read(&findings.read), "{platform:?}: {findings:?}");
        assert_eq!(findings.push, Verdict::Works, "{platform:?}");
        assert_eq!(findings.reads_lost, lost, "{platform:?}");
    }
}

/// Memory of the GPU whose place is unknown, such as that of a dma-buf; it can report that data have arrived, or
/// cannot.
struct Hidden(Box<dyn Side>, bool);

impl Side for Hidden {
    fn name(&self) -> String {
        self.0.name()
    }
    fn length(&self) -> u64 {
        self.0.length()
    }
    fn attach(&self, staging: &Memory) -> peerlane_routes::Result<Box<dyn Engine>> {
        self.0.attach(staging)
    }
    fn another(&self, bytes: u64) -> peerlane_routes::Result<Box<dyn Side>> {
        Ok(Box::new(Self(self.0.another(bytes)?, self.1)))
    }
    fn reach(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> peerlane_routes::Result<Reach> {
        self.0.reach(device, range, permissions)
    }
    fn arrived(&self) -> peerlane_routes::Result<()> {
        match self.1 {
            true => self.0.arrived(),
            false => Err(Error::side(self.name(), "nothing orders its writes")),
        }
    }
}

/// A GPU whose memory the board cannot reach while other programs have as much of it as the user may.
struct Scarce(Box<dyn Side>, Arc<AtomicBool>);

impl Side for Scarce {
    fn name(&self) -> String {
        self.0.name()
    }
    fn length(&self) -> u64 {
        self.0.length()
    }
    fn attach(&self, staging: &Memory) -> peerlane_routes::Result<Box<dyn Engine>> {
        self.0.attach(staging)
    }
    fn another(&self, bytes: u64) -> peerlane_routes::Result<Box<dyn Side>> {
        let another = self.0.another(bytes)?;
        Ok(Box::new(Self(another, Arc::clone(&self.1))))
    }
    fn reach(
        &self,
        device: &Device,
        range: Range<u64>,
        permissions: Permissions,
    ) -> peerlane_routes::Result<Reach> {
        match self.1.load(Ordering::Relaxed) {
            true => Err(peerlane_host::Error::Call {
                call: "REGISTER",
                source: Errno::DQUOT,
            }
            .into()),
            false => self.0.reach(device, range, permissions),
        }
    }
    fn residence(&self) -> Residence {
        self.0.residence()
    }
    fn pusher(&self, device: &Device) -> peerlane_routes::Result<Box<dyn Push>> {
        self.0.pusher(device)
    }
}

/// A resource that another user has is asked for again: it is not missing for good.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_refusal_that_passes_is_not_kept() {
    let mut rig = Rig::on(Platform::Good);
    let device = rig.routes.board().device().clone();
    let short = Arc::new(AtomicBool::new(true));
    let side = Arc::new(Scarce(Box::new(rig.gpu.clone()), Arc::clone(&short)));
    let options = Options {
        measured: 128 * KIB,
        ..Options::default()
    };
    rig.routes = Routes::new(rig.routes.board(), side, options);
    let window = rig.gpu.pusher(&device).unwrap();
    let findings = rig.routes.findings().unwrap();
    for verdict in [&findings.write, &findings.read, &findings.push] {
        assert!(matches!(verdict, Verdict::Busy(_)), "{findings:?}");
    }
    let order = rig.order(Direction::FromFpga);
    let choose = || {
        rig.routes
            .choose(Direction::FromFpga, order.length)
            .unwrap()
    };
    assert_eq!(choose().route, Route::Concurrent);
    rig.round(&order, Route::Auto);
    let error = rig
        .routes
        .transfer(&order, Route::DirectWrite, &Limits::default());
    assert!(
        matches!(&error, Err(Error::Refused { why, .. }) if why.contains("not now")),
        "{error:?}"
    );
    // There is room, and the window is still taken.
    short.store(false, Ordering::Relaxed);
    assert_eq!(choose().route, Route::DirectWrite);
    rig.round(&order, Route::DirectWrite);
    let read = rig.order(Direction::ToFpga);
    let error = rig.routes.transfer(&read, Route::Push, &Limits::default());
    assert!(matches!(error, Err(Error::Refused { .. })), "{error:?}");
    drop(window);
    rig.round(&read, Route::Push);
    let findings = rig.routes.findings().unwrap();
    for verdict in [&findings.write, &findings.read, &findings.push] {
        assert_eq!(*verdict, Verdict::Works, "{findings:?}");
    }
}

/// An unknown place is not guessed, on any platform.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn where_memory_lies_may_be_unknown() {
    for platform in [Platform::Good, Platform::Gtt] {
        let rig = Rig::on(platform);
        let side = Arc::new(Hidden(Box::new(rig.gpu.clone()), true));
        let routes = Routes::new(rig.routes.board(), side, Options::default());
        let findings = routes.findings().unwrap();
        assert_eq!(findings.write, Verdict::Works, "{platform:?}");
        assert_eq!(findings.residence, Residence::Unknown, "{platform:?}");
        assert!(findings.unknown(), "{findings:?}");
        let choice = routes.choose(Direction::FromFpga, rig.length).unwrap();
        let said = choice.why.contains("is not known");
        assert_eq!(said, choice.route == Route::DirectWrite, "{choice}");
    }
    // Where the board does not reach the memory there is nothing unknown.
    let rig = Rig::on(Platform::Translating);
    let side = Arc::new(Hidden(Box::new(rig.gpu.clone()), true));
    let routes = Routes::new(rig.routes.board(), side, Options::default());
    assert!(!routes.findings().unwrap().unknown());
}

/// A device that cannot report that data have arrived is written by another route, and read as any other.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn what_nothing_orders_is_not_written_directly() {
    let mut rig = Rig::on(Platform::Good);
    let side = Arc::new(Hidden(Box::new(rig.gpu.clone()), false));
    rig.routes = Routes::new(rig.routes.board(), side, Options::default());
    let findings = rig.routes.findings().unwrap();
    assert!(matches!(&findings.write, Verdict::Refused(why) if why.contains("orders its writes")));
    assert_eq!(findings.read, Verdict::Works);
    rig.round(&rig.order(Direction::ToFpga), Route::DirectRead);
    rig.round(&rig.order(Direction::FromFpga), Route::Auto);
}

/// Automatic copies are right on every platform, and routes that do not work are refused. On a board without tags, a
/// read that is refused or not answered ends all reads, and errors report that.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn auto_takes_what_works() {
    for tagged in [false, true] {
        takes_what_works(tagged);
    }
}

fn takes_what_works(tagged: bool) {
    let through_host = &[Route::Concurrent][..];
    // The model's window is fast, so where reads fail the GPU pushes.
    let pushed = &[Route::Push][..];
    for (platform, write, read) in [
        (
            Platform::Good,
            &[Route::DirectWrite][..],
            &[Route::DirectRead, Route::Push][..],
        ),
        (Platform::WritesOnly, through_host, pushed),
        (Platform::Silent, through_host, pushed),
        (Platform::Forced, through_host, pushed),
        (Platform::Translating, through_host, pushed),
        (Platform::Gtt, through_host, pushed),
        (Platform::OnePage, through_host, pushed),
    ] {
        let rig = Rig::with(tagged, platform, true);
        let unanswered = [
            Platform::WritesOnly,
            Platform::Silent,
            Platform::Translating,
        ];
        let reads_lost = !tagged && unanswered.contains(&platform);
        for (direction, expected) in [(Direction::FromFpga, write), (Direction::ToFpga, read)] {
            let choice = rig.routes.choose(direction, rig.length).unwrap();
            assert!(expected.contains(&choice.route), "{platform:?}: {choice}");
            let line = choice.to_string();
            assert!(!line.contains('\n') && line.contains("MB/s"), "{line}");
            rig.round(&rig.order(direction), Route::Auto);
            // The route through the host works everywhere, unless the board takes no reads any more.
            let order = rig.order(direction);
            match (reads_lost, direction) {
                (true, Direction::ToFpga) => {
                    let lost = rig
                        .routes
                        .transfer(&order, Route::Concurrent, &Limits::default());
                    let lost = lost.unwrap_err().to_string();
                    assert!(lost.contains("accepts no reads"), "{lost}");
                }
                _ => rig.round(&order, Route::Concurrent),
            }
        }
        let refused = |direction, route| {
            let order = rig.order(direction);
            matches!(
                rig.routes.transfer(&order, route, &Limits::default()),
                Err(Error::Refused { .. })
            )
        };
        let silent_faults = [
            Platform::WritesOnly,
            Platform::Silent,
            Platform::Forced,
            Platform::Translating,
            Platform::OnePage,
        ];
        if silent_faults.contains(&platform) {
            assert!(
                refused(Direction::ToFpga, Route::DirectRead),
                "{platform:?}"
            );
        }
        if [Platform::Forced, Platform::Translating, Platform::OnePage].contains(&platform) {
            assert!(
                refused(Direction::FromFpga, Route::DirectWrite),
                "{platform:?}"
            );
        }
    }
}

/// A probe that does not read loses nothing where reads are not answered: data for the board go through the host.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_probe_that_does_not_read_loses_no_reads() {
    for platform in [
        Platform::WritesOnly,
        Platform::Silent,
        Platform::Translating,
    ] {
        let rig = Rig::with(false, platform, false);
        let findings = rig.routes.findings().unwrap();
        assert!(matches!(&findings.read, Verdict::Absent(why) if why.contains("not tried")));
        assert!(!findings.reads_lost, "{platform:?}");
        for route in [Route::Concurrent, Route::Sequential, Route::Push] {
            rig.round(&rig.order(Direction::ToFpga), route);
        }
    }
}

/// The times are simulated, so this holds on every machine.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn both_engines_are_at_work() {
    // As fast as the board, so that neither time is hidden by the other.
    let engine = CopyEngine {
        latency_ns: 4_000.0,
        rate: 3.6e9,
    };
    let length = MIB;
    let rig = Rig::new(length, BoardConfig::default(), Platform::Good, engine);
    for direction in Direction::BOTH {
        let order = rig.order(direction);
        let timed = |route| {
            let moved = rig.routes.transfer(&order, route, &Limits::default());
            moved.unwrap().time.as_secs_f64()
        };
        let (concurrent, sequential) = (timed(Route::Concurrent), timed(Route::Sequential));
        assert!(concurrent < 0.65 * sequential, "{concurrent} {sequential}");
        // Compared to the slower side alone, which is the GPU's engine.
        let alone = length as f64 / engine.rate;
        assert!(concurrent < alone / 0.80, "{concurrent} {alone}");
        // The measurement gives a piece that is neither the smallest nor the largest.
        let chunk = rig.routes.chunk(direction, length).unwrap();
        assert!((8 * KIB..MIB).contains(&chunk), "{chunk}");
        for other in [4 * KIB, MIB / 2] {
            let limits = Limits::default();
            let moved = rig
                .routes
                .transfer_with(&order, Route::Concurrent, Some(other), &limits);
            let time = moved.unwrap().time.as_secs_f64();
            assert!(
                time > 0.98 * concurrent,
                "{other}: {time}, {chunk}: {concurrent}"
            );
        }
    }
}

#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn nothing_is_under_way_after_a_deadline() {
    let length = 2 * MIB;
    let config = BoardConfig::default();
    let rig = Rig::new(length, config, Platform::Good, CopyEngine::default());
    rig.routes.findings().unwrap();
    for (direction, route) in all() {
        // The time of the choice does not count as the copy's.
        rig.routes.choose(direction, length).unwrap();
        let order = rig.order(direction);
        let limits = Limits::within(Duration::from_micros(50));
        let error = rig.routes.transfer(&order, route, &limits).unwrap_err();
        assert!(
            matches!(error, Error::Deadline { done, .. } if done < length),
            "{route}: {error}"
        );
        assert_eq!(rig.routes.board().queue().under_way(), 0, "{route}");
        assert_eq!(
            rig.board.with(|board| board.reads_outstanding()),
            0,
            "{route}"
        );
        let cancel = Cancel::default();
        cancel.cancel();
        let limits = Limits {
            cancel: Some(cancel),
            ..Limits::default()
        };
        let error = rig.routes.transfer(&order, route, &limits).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{route}: {error}");
        assert_eq!(rig.routes.board().queue().under_way(), 0, "{route}");
        rig.round(&order, route);
    }
}

/// The caller sets the deadline: the probes of the first copy do not extend it.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_deadline_holds_for_probe_and_measurement() {
    let rig = Rig::on(Platform::Good);
    let order = rig.order(Direction::ToFpga);
    let now = || rig.routes.board().device().now();
    for route in [
        Route::Auto,
        Route::Push,
        Route::DirectRead,
        Route::Concurrent,
    ] {
        for limit in [20, 100] {
            let limit = Duration::from_micros(limit);
            let begin = now();
            let late = rig.routes.transfer(&order, route, &Limits::within(limit));
            assert!(
                matches!(late, Err(Error::Deadline { done: 0, length, limit: was })
                    if length == order.length && was == limit),
                "{route}: {late:?}"
            );
            // Descriptors at the board end, and take no grace.
            assert!(
                now() - begin < limit + Duration::from_micros(100),
                "{route}"
            );
            assert_eq!(rig.routes.board().queue().under_way(), 0, "{route}");
        }
        let cancel = Cancel::default();
        cancel.cancel();
        let limits = Limits {
            cancel: Some(cancel),
            ..Limits::default()
        };
        let begin = now();
        let error = rig.routes.transfer(&order, route, &limits).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{route}: {error}");
        assert_eq!(now(), begin, "nothing was begun");
    }
    rig.round(&order, Route::Auto);
}

/// A board is a side like any other.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn a_pair_needs_no_routes_of_its_own() {
    let rig = Rig::on(Platform::Good);
    let board: Arc<dyn Side> = Arc::new(rig.routes.board().clone());
    let pair = Pair::new(board, Arc::new(rig.gpu.clone()), 128 << 10);
    let data = pattern(3, 100_000);
    rig.gpu.memory().write(7, &data).unwrap();
    for route in [Route::Concurrent, Route::Sequential] {
        let copy = peerlane_routes::Copy {
            from: 1,
            at: 7,
            to: 4096,
            length: 100_000,
            route,
            chunk: Some(10_000),
        };
        let base = rig.routes.board().memory().start;
        rig.board.fpga_write(base + 4096, &[0; 100_000]).unwrap();
        assert_eq!(pair.copy(&copy, &Limits::default()).unwrap(), 100_000);
        let mut found = vec![0; data.len()];
        rig.board.fpga_read(base + 4096, &mut found).unwrap();
        assert!(found == data, "{route}");
    }
}

/// Two routes and a pair over one board, used from three threads: the board has one window, and one memory for probes.
/// Each finds and moves the same as if it were alone.
#[test]
#[ignore = "external tools: cargo xtask test rtl"]
fn those_who_share_a_board_take_turns() {
    const PART: u64 = 64 * KIB;
    let (board, driver) = open_on(&DriverOptions::default(), BoardConfig::default());
    let device = driver.open().unwrap();
    let ends = Board::new(&device, 3 * PART).unwrap();
    let memories = [0, 1, 2].map(|_| {
        let engine = CopyEngine::default();
        SimGpu::new(&board, &device, PART, engine).unwrap()
    });
    let base = ends.memory().start;
    std::thread::scope(|scope| {
        let (board, ends) = (&board, &ends);
        for (number, gpu) in memories[..2].iter().enumerate() {
            scope.spawn(move || {
                for round in 0..4 {
                    let options = Options {
                        measured: 32 * KIB,
                        ..Options::default()
                    };
                    let routes = Routes::new(ends, Arc::new(gpu.clone()), options);
                    let findings = routes.findings().unwrap();
                    for verdict in [&findings.write, &findings.read, &findings.push] {
                        assert_eq!(*verdict, Verdict::Works, "{number}: {findings:?}");
                    }
                    for (step, route) in [Route::Push, Route::DirectRead, Route::Push]
                        .into_iter()
                        .enumerate()
                    {
                        let order = Order {
                            direction: Direction::ToFpga,
                            fpga: number as u64 * PART,
                            at: 0,
                            length: 8 * KIB + 5,
                        };
                        let data = pattern((16 * number + 4 * round + step) as u8, PART as usize);
                        gpu.memory().write(0, &data).unwrap();
                        routes.transfer(&order, route, &Limits::default()).unwrap();
                        let mut found = vec![0; order.length as usize];
                        board.fpga_read(base + order.fpga, &mut found).unwrap();
                        assert!(found == data[..found.len()], "{number} {round}: {route}");
                    }
                }
            });
        }
        let gpu = &memories[2];
        scope.spawn(move || {
            for round in 0..8 {
                // A new one measures, in the memory for probes.
                let side: Arc<dyn Side> = Arc::new(ends.clone());
                let pair = Pair::new(side, Arc::new(gpu.clone()), 64 << 10);
                let copy = peerlane_routes::Copy {
                    from: 1,
                    at: 0,
                    to: 2 * PART,
                    length: PART,
                    route: Route::Auto,
                    chunk: None,
                };
                let data = pattern(100 + round, PART as usize);
                gpu.memory().write(0, &data).unwrap();
                pair.copy(&copy, &Limits::default()).unwrap();
                let mut found = vec![0; data.len()];
                board.fpga_read(base + 2 * PART, &mut found).unwrap();
                assert!(found == data, "the pair, {round}");
            }
        });
    });
}
