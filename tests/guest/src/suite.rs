//! Runs tests one after the other, and prints their results.

use anyhow::{Result, bail};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The reason why a test was not run, in the form of an error.
#[derive(Debug)]
pub struct Skip(pub String);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}

/// Leaves a test that cannot be run on this machine.
pub fn skip<T>(why: impl Into<String>) -> Result<T> {
    bail!(Skip(why.into()))
}

/// Results of the tests so far.
#[derive(Debug, Default, Serialize)]
pub struct Suite {
    passed: u32,
    failed: Vec<String>,
    skipped: Vec<String>,
    #[serde(skip)]
    filter: String,
}

impl Suite {
    /// Makes a suite without results. It only runs tests whose names contain `filter`.
    pub fn new(filter: String) -> Self {
        Self {
            filter,
            ..Default::default()
        }
    }

    /// Runs one test. The test returns a remark, which is often empty.
    pub fn run<T: Into<String>>(&mut self, name: &str, test: impl FnOnce() -> Result<T>) {
        if !name.contains(&self.filter) {
            return;
        }
        let begin = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(test))
            .unwrap_or_else(|_| Err(anyhow::anyhow!("it panicked, see above")));
        let ms = begin.elapsed().as_millis();
        match result {
            Ok(remark) => {
                let remark = remark.into();
                let colon = if remark.is_empty() { "" } else { ": " };
                println!("ok {name} ({ms} ms){colon}{remark}");
                self.passed += 1;
            }
            Err(error) if error.is::<Skip>() => {
                println!("skip {name}: {error}");
                self.skipped.push(name.into());
            }
            Err(error) => {
                println!("FAIL {name}: {error:#} ({ms} ms)");
                self.failed.push(name.into());
            }
        }
    }

    /// Prints the counts as a line of JSON. Returns whether no test failed and at least one was run.
    pub fn finish(&self) -> Result<bool> {
        println!("{}", serde_json::to_string(self)?);
        Ok(self.failed.is_empty() && self.passed > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let mut suite = Suite::new("a".into());
        suite.run("a.good", || Ok(""));
        suite.run("a.bad", || -> Result<&str> { bail!("no") });
        suite.run("a.panic", || -> Result<&str> { panic!("on purpose") });
        suite.run("a.away", || skip::<&str>("nothing to test"));
        suite.run("b", || -> Result<&str> { bail!("not run") });
        assert_eq!(
            serde_json::to_string(&suite).unwrap(),
            r#"{"passed":1,"failed":["a.bad","a.panic"],"skipped":["a.away"]}"#
        );
        assert!(!suite.finish().unwrap());
        assert!(!Suite::new(String::new()).finish().unwrap());
    }
}
