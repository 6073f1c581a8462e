//! `peerlane top`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comfy_table::{Cell, CellAlignment, Color};

use crate::commands::{Outcome, table};
use crate::top::{Kernel, Rates, Sample, Screen, Simulated, Source, View, Waits, Woken};
use peerlane_demo::error::Error;

/// Show the activity of a board: rates of each channel and direction, work in progress, completions, errors,
/// interrupts.
///
/// The numbers are differences between two samples of the block's own counters, each taken at one moment. Only the
/// administrator can read them. As everywhere in Peerlane, a write goes from FPGA memory to a GPU or the host, and a
/// read comes from there. A process rings the doorbells of its channel by itself, so the driver does not know how much
/// work is in progress on it; for the simulated board this is known.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sudo env \"PATH=$PATH\" peerlane top
  sudo env \"PATH=$PATH\" peerlane top --device /dev/peerlane1 --interval 0.5
  sudo env \"PATH=$PATH\" peerlane top --once --json
  peerlane top --simulated

`q` or Ctrl-C ends it. If standard output is not a terminal, the views are printed one after the other.")]
pub struct Args {
    /// The board; the default is the first one.
    #[arg(long, value_name = "FILE")]
    device: Option<PathBuf>,
    /// Show the simulated board, under its own load. Its rates are those of simulated time.
    #[arg(long, conflicts_with = "device")]
    simulated: bool,
    /// Seconds between two views.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Show one view and exit.
    #[arg(long)]
    once: bool,
    /// Print each view as JSON, on one line.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|n| (0.05..=3600.0).contains(n));
    match number {
        Some(seconds) => Ok(Duration::from_secs_f64(seconds)),
        None => Err("give seconds from 0.05 to 3600".into()),
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Outcome {
    let mut source: Box<dyn Source> = match args.simulated {
        true => Box::new(Simulated::new()?),
        false => Box::new(Kernel::new(Path::new("/"), args.device.as_deref())?),
    };
    let mut before = source.sample()?;
    let mut screen = Screen::new(!args.once && !args.json)?;
    let ended = watch(args, &mut *source, &mut before, &mut screen);
    // The terminal is restored before an error is printed.
    drop(screen);
    ended.map(|()| ExitCode::SUCCESS)
}

fn watch(
    args: &Args,
    source: &mut dyn Source,
    before: &mut Sample,
    screen: &mut Screen,
) -> Result<(), Error> {
    let name = source.name();
    if screen.is_shown() {
        screen.draw(&format!("{name}: the first view follows"));
    }
    let mut shown: Option<View> = None;
    loop {
        let until = Instant::now() + args.interval;
        source.pass()?;
        loop {
            match screen.wait(until) {
                Woken::Time => break,
                Woken::Quit => return Ok(()),
                Woken::Redraw => {
                    if let Some(view) = &shown {
                        screen.draw(&text(view));
                    }
                }
            }
        }
        let sample = source.sample()?;
        let view = View::between(name.clone(), before, &sample);
        *before = sample;
        match args.json {
            true => outln!("{}", serde_json::to_string(&view).expect("plain data only")),
            false => screen.draw(&text(&view)),
        }
        if args.once {
            return Ok(());
        }
        shown = Some(view);
    }
}

/// Formats a rate with about three digits.
fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e6 => format!("{:.1} M", r / 1e6),
        r if r >= 10e3 => format!("{:.1} k", r / 1e3),
        r => format!("{r:.0}"),
    }
}

/// Formats a number of bytes.
fn amount(bytes: u64) -> String {
    match bytes {
        0x4000_0000.. => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
        0x10_0000.. => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.0} KiB", bytes as f64 / 1024.0),
    }
}

fn text(view: &View) -> String {
    let mut lines = vec![format!("{}: {}", view.board, view.state)];
    if !view.facts.is_empty() {
        lines.push(view.facts.join("   "));
    }
    lines.push(format!(
        "interrupts: {} /s   records: {} /s{}",
        short(view.interrupts_per_s),
        short(view.records_per_s),
        if view.restarted {
            "   the block was reset in between"
        } else {
            ""
        }
    ));
    let waits = |name: &str, waits: Option<Waits>, [port, memory]: [&str; 2]| {
        waits.map(|waits| {
            format!(
                "{name} waited {:.0} % of the time for {port}, {:.0} % for {memory}",
                waits.port * 100.0,
                waits.memory * 100.0
            )
        })
    };
    lines.extend(waits(
        "writes",
        view.write_waits,
        ["the port", "FPGA memory"],
    ));
    lines.extend(waits(
        "reads",
        view.read_waits,
        ["answers", "room for answers"],
    ));
    let errors = view.link_errors.map(|errors| errors.words());
    if let Some(errors) = errors.filter(|errors| !errors.is_empty()) {
        lines.push(format!(
            "reads that failed on the link since its reset: {}",
            errors.join(", ")
        ));
    }
    lines.push(channels(view).to_string());
    lines.join("\n")
}

fn channels(view: &View) -> comfy_table::Table {
    let mut table = table(&[
        "channel",
        "used by",
        "direction",
        "MB/s",
        "completions/s",
        "requests/s",
        "in progress",
        "errors",
        "moved",
    ]);
    let mut add = |number: String, owner: &str, ways: [&Rates; 2]| {
        for (way, rates) in ["FPGA → peer", "peer → FPGA"].into_iter().zip(ways) {
            let first = way.starts_with('F');
            let under_way = rates.under_way.map_or("–".into(), |n| n.to_string());
            let errors = match (rates.errors, rates.errors_total) {
                (0, 0) => Cell::new("0"),
                (0, total) => Cell::new(format!("{total} before")).fg(Color::Yellow),
                (now, _) => Cell::new(now).fg(Color::Red),
            };
            let rate = Cell::new(format!("{:.1}", rates.bytes_per_s / 1e6));
            table.add_row(vec![
                Cell::new(if first { number.as_str() } else { "" }),
                Cell::new(if first { owner } else { "" }),
                Cell::new(way),
                match rates.bytes_per_s > 0.0 {
                    true => rate.fg(Color::Green),
                    false => rate,
                },
                Cell::new(short(rates.completions_per_s)),
                Cell::new(short(rates.requests_per_s)),
                Cell::new(under_way),
                errors,
                Cell::new(amount(rates.bytes_total)),
            ]);
        }
    };
    for channel in &view.channels {
        let owner = channel.owner.as_deref().unwrap_or("none");
        add(
            channel.channel.to_string(),
            owner,
            [&channel.write, &channel.read],
        );
    }
    let [write, read] = &view.total;
    add("all".into(), "", [write, read]);
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_size() {
        assert_eq!(short(12.4), "12");
        assert_eq!(short(12_345.0), "12.3 k");
        assert_eq!(short(9_999.0), "9999");
        assert_eq!(short(3_400_000.0), "3.4 M");
        assert_eq!(amount(2048), "2 KiB");
        assert_eq!(amount(3 << 20), "3.0 MiB");
        assert_eq!(amount(3 << 30), "3.0 GiB");
        assert!(seconds("0").is_err() && seconds("x").is_err() && seconds("nan").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
    }
}
