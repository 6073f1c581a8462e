//! `peerlane doctor` on a computer with a GPU and without a board.

use crate::Bench;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::process::Command;

/// It finds the GPU, says that there is no board, and what to do about all that is not as it should be.
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
        format!("it said no JSON: {errors}")
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
    let state = match has_bar1(bus)? {
        true => "ok",
        false => "note",
    };
    ensure!(
        has("bar", state, bus),
        "the kernel says otherwise of {bus}'s BAR1: {all}"
    );
    ensure!(has("device", "wrong", "there is no board"), "{all}");
    for finding in findings {
        let remedy = text(finding, "remedy");
        ensure!(
            (text(finding, "state") == "ok") == remedy.is_empty(),
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

/// Whether the kernel has given the GPU a BAR1: the second line of its `resource`, begin and end
/// (Documentation/PCI/sysfs-pci.rst). A GPU that is handed through to a virtual machine may have none there.
fn has_bar1(bus: &str) -> Result<bool> {
    let file = format!("/sys/bus/pci/devices/{}/resource", bus.to_lowercase());
    let text = std::fs::read_to_string(&file).with_context(|| file.clone())?;
    let line = text.lines().nth(1).context("it has no second line")?;
    Ok(line.split_whitespace().nth(1) != Some("0x0000000000000000"))
}
