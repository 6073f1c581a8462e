//! `peerlane doctor` on a computer with a GPU and without a board.

use crate::Bench;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::process::Command;

/// Checks that it finds the GPU, that it reports that there is no board, and that it has a hint for each problem.
pub fn look(bench: &Bench<'_>) -> Result<String> {
    let Some(command) = &bench.options.command else {
        bail!("not tried: no --command, the command `peerlane`");
    };
    let output = Command::new(command)
        .args(["doctor", "--json"])
        .output()
        .with_context(|| format!("{} does not run", command.display()))?;
    let said: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("its output is not JSON: {errors}")
    })?;
    ensure!(
        output.status.code() == Some(2),
        "it ended with {}",
        output.status
    );
    let findings = said["findings"].as_array().context("no findings")?;
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let has = |about: &str, state: &str, words: &str| {
        findings.iter().any(|finding| {
            text(finding, "about") == about
                && text(finding, "state") == state
                && text(finding, "what").contains(words)
        })
    };
    let bus = bench.gpu.bus();
    let all = findings.iter().map(|finding| text(finding, "what"));
    let all = all.collect::<Vec<_>>().join("; ");
    ensure!(has("device", "ok", bus), "{bus} is not found: {all}");
    let largest = largest_region(bus)?;
    let shows = format!("{bus} shows {} MiB of its memory", largest >> 20);
    ensure!(has("bar", "ok", &shows), "not reported: {shows}: {all}");
    ensure!(has("device", "wrong", "there is no board"), "{all}");
    for finding in findings {
        let hint = text(finding, "remedy");
        ensure!(
            (text(finding, "state") == "ok") == hint.is_empty(),
            "{finding}"
        );
    }
    let of = |state: &str| {
        let all = findings
            .iter()
            .filter(|finding| text(finding, "state") == state);
        let all =
            all.map(|finding| format!("{}: {}", text(finding, "about"), text(finding, "what")));
        all.collect::<Vec<_>>().join("; ")
    };
    Ok(format!(
        "ok: {}; note: {}; wrong: {}",
        of("ok"),
        of("note"),
        of("wrong")
    ))
}

/// Returns the bytes of the largest region that the kernel has given the GPU: a line of `resource` for each, begin and
/// end (Documentation/PCI/sysfs-pci.rst). For a GPU for computing that region is the window to all of its memory.
fn largest_region(bus: &str) -> Result<u64> {
    let file = format!("/sys/bus/pci/devices/{}/resource", bus.to_lowercase());
    let text = std::fs::read_to_string(&file).with_context(|| file.clone())?;
    let bytes = text.lines().take(6).filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut word = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
        let (begin, end) = (word()?, word()?);
        (end > begin).then(|| end - begin + 1)
    });
    bytes.max().context("it has no region")
}
