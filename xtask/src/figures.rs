//! Measurements of tests: they append lines of JSON to a file, which becomes tables.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Environment variable of the tests: the file.
pub(crate) const VARIABLE: &str = "PEERLANE_FIGURES";

#[derive(Debug, Deserialize)]
struct Figure {
    name: String,
    value: f64,
    unit: String,
}

/// Figures of one name, in the order of their units.
struct Row {
    name: String,
    units: Vec<String>,
    values: Vec<f64>,
}

/// The file, removed when the run is over.
pub(crate) struct Figures(PathBuf);

impl Figures {
    /// Makes a file name of this process.
    pub(crate) fn new() -> Self {
        let name = format!("peerlane-figures-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// Returns its path; the file may not exist yet.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the measurements since the last call, as tables; `None` without measurements.
    pub(crate) fn take(&self) -> Option<String> {
        let text = fs::read_to_string(&self.0).ok()?;
        let _ = fs::remove_file(&self.0);
        let rows = rows(&text);
        (!rows.is_empty()).then(|| tables(&rows))
    }
}

impl Drop for Figures {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for Figure { name, value, unit } in text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
    {
        match rows.last_mut() {
            Some(row) if row.name == name && !row.units.contains(&unit) => {
                row.units.push(unit);
                row.values.push(value);
            }
            _ => rows.push(Row {
                name,
                units: vec![unit],
                values: vec![value],
            }),
        }
    }
    rows
}

/// Makes tables: rows with the same units are in one table.
fn tables(rows: &[Row]) -> String {
    let tables = rows.chunk_by(|a, b| a.units == b.units).map(table);
    tables.collect::<Vec<_>>().join("\n\n")
}

fn table(rows: &[Row]) -> String {
    let units = &rows[0].units;
    let width = rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = " ".repeat(width);
    for unit in units {
        text.push_str(&format!("  {unit:>8}"));
    }
    for row in rows {
        text.push_str(&format!("\n{:<width$}", row.name));
        for (unit, value) in units.iter().zip(&row.values) {
            let column = unit.chars().count().max(8);
            let digits = if value.fract() == 0.0 { 0 } else { 2 };
            text.push_str(&format!("  {value:>column$.digits$}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_tables() {
        let text = r#"
{"name":"write","value":5,"unit":"stores"}
{"name":"write","value":1,"unit":"interrupts"}
{"name":"read","value":12345,"unit":"stores"}
{"name":"read","value":1,"unit":"interrupts"}
{"name":"made","value":3.456,"unit":"ms"}
not a figure
"#;
        let expected = "         stores  interrupts
write         5           1
read      12345           1

            ms
made      3.46";
        assert_eq!(tables(&rows(text)), expected);
    }
}
