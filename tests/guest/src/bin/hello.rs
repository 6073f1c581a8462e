//! Asks the test about each of its arguments and prints the answers.

use std::{env, io};

use peerlane_guest::Control;

fn main() -> io::Result<()> {
    let mut control = Control::open()?;
    for word in env::args().skip(1) {
        let answer: String = control.ask(&word)?;
        println!("{word}: {answer}");
    }
    println!("goodbye");
    Ok(())
}
