//! Mocks of OpenCL and CUDA's driver in C, and programs that are linked with them and with the library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The mocks' library and the programs, in a directory of their own.
pub struct Lab(TempDir);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the path of a library. Cargo puts libraries into the directory of the test.
pub fn beside(name: &str) -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.is_file(), "{}", library.display());
    library
}

fn compile(command: &mut Command) {
    let output = command.output().expect("the compiler runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

impl Lab {
    pub fn new() -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        let standin = root().join("tests/standin");
        compile(
            Command::new("cc")
                .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
                .args(["-fPIC", "-shared", "-pthread", "-I"])
                .arg(&standin)
                .args(["opencl.c", "cuda.c"].map(|file| standin.join(file)))
                .args(["-Wl,-soname,libOpenCL.so.1", "-o"])
                .arg(lab.path("libOpenCL.so.1")),
        );
        // The same file, so that the linker has it once.
        for name in ["libOpenCL.so", "libcuda.so.1"] {
            std::os::unix::fs::symlink("libOpenCL.so.1", lab.path(name)).unwrap();
        }
        let library = beside("libpeerlane_clrdma.so");
        for name in ["libpeerlane_clrdma.so", "libpeerlane_clrdma.so.1"] {
            std::os::unix::fs::symlink(&library, lab.path(name)).unwrap();
        }
        lab
    }

    /// Compiles a board library without a board, for [`passes`](Self::passes).
    pub fn board_library(&self) -> PathBuf {
        let (standin, library) = (root().join("tests/standin"), self.path("board.so"));
        compile(
            Command::new("cc")
                .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
                .args(["-fPIC", "-shared", "-pthread"])
                .arg(standin.join("board.c"))
                .arg("-o")
                .arg(&library),
        );
        library
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program as its user does.
    pub fn program(&self, source: &str, flags: &[&str]) -> PathBuf {
        let source = root().join(source);
        let program = self.path(source.file_stem().unwrap().to_str().unwrap());
        compile(
            Command::new(if flags.contains(&"-xc++") {
                "c++"
            } else {
                "cc"
            })
            .args(["-Wall", "-Wextra", "-Werror", "-I"])
            .arg(root().join("include"))
            .arg("-I")
            .arg(root().join("tests/standin"))
            .args(flags)
            .arg(&source)
            .arg("-L")
            .arg(self.0.path())
            .args(["-lpeerlane_clrdma", "-lOpenCL", "-o"])
            .arg(&program),
        );
        program
    }

    /// Compiles a text with the headers that a program with both of Peerlane's extensions has.
    pub fn checks(&self, compiler: &str, flags: &str, text: &str) {
        let source = self.path(if compiler == "cc" {
            "part.c"
        } else {
            "part.cpp"
        });
        std::fs::write(&source, text).unwrap();
        let mut command = Command::new(compiler);
        command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", flags]);
        for directory in [
            "include",
            "tests/standin",
            "../icd/include",
            "../../mmd/include",
        ] {
            command.arg("-I").arg(root().join(directory));
        }
        compile(command.arg(&source));
    }

    /// Runs a program.
    pub fn run(&self, program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("LD_LIBRARY_PATH", self.0.path())
            .env("STANDIN_MMD", beside("libpeerlane_mmd_simulated.so"))
            .envs(environment.iter().copied());
        command.output().unwrap()
    }

    /// Runs a program, which must succeed, and returns its output.
    pub fn passes(
        &self,
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> String {
        let output = self.run(program, arguments, environment);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}{errors}", output.status);
        said
    }
}
