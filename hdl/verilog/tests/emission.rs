//! Quick checks of the whole corpus: everything is emitted, without tools.
mod corpus;
use corpus::Form;

fn emit<F: Form>() -> peerlane_verilog::Design {
    let mut block = F::default();
    rust_hdl::prelude::Block::connect_all(&mut block);
    peerlane_verilog::emit(F::NAME, &block, "Corpus").unwrap_or_else(|e| panic!("{}: {e}", F::NAME))
}

macro_rules! dump {
    ($m:ident: $($form:ident),* $(,)?) => { $( dump_one::<corpus::$m::$form>(); )* };
}

fn dump_one<F: Form>() {
    let d = emit::<F>();
    if let Ok(dir) = std::env::var("DUMP") {
        for m in &d.modules { std::fs::write(format!("{dir}/{}.v", m.name), &m.verilog).unwrap(); }
    }
}

#[test]
fn all_forms_are_emitted() {
    for_all_forms!(dump);
}
