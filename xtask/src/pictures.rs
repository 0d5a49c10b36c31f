//! `cargo xtask pictures`: the pictures in README and in the guide, which are charts that the program writes.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use pico_args::Arguments;

use crate::golang::Go;
use crate::repo;

pub const HELP: &str = "\
Makes the pictures of the documents, on a machine with little else to do, and keeps them in docs/images. What is printed
is what the documents quote beside them.

Usage: cargo xtask pictures [OPTIONS] [NAME...]

Names [default: all]:
  sweep  README: `plimsoll sweep` of the built-in API (half a minute)
  story  the guide's worked example: a Go API server, its baseline, and the server without middlewares (three minutes,
         needs Go and two processors)

Options:
      --program FILE  the plimsoll to run [default: a release build of this checkout]
  -h, --help          print this";

/// Each picture: its name, what makes the chart in a folder, and where it is kept.
const PICTURES: [(&str, Make, &str); 2] =
    [("sweep", sweep, "docs/images/sweep.png"), ("story", story, "docs/images/story-diff.png")];
/// Makes a chart with a program, in a folder.
type Make = fn(program: &Path, folder: &Path) -> Result<PathBuf>;

/// The servers of the guide's example: the sweep's name, the command line, and the port.
const SERVERS: [(&str, &[&str], u16); 3] = [
    ("before", &["apiserver", "-config", "config.yaml"], 8080),
    ("baseline", &["baseline"], 6667),
    ("after", &["apiserver", "-config", "config.tuned.yaml"], 8080),
];
/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn main(mut arguments: Arguments) -> Result<()> {
    let program: Option<PathBuf> = arguments.opt_value_from_str("--program")?;
    let names = crate::names(arguments)?;
    let wanted = crate::pick(&PICTURES, &names, |(name, ..)| name)?;
    let program = match program {
        Some(program) => fs::canonicalize(&program).context(program.display().to_string())?,
        None => repo::build(&["--release", "--workspace", "--bin", "plimsoll"])?,
    };
    for (_, make, picture) in wanted {
        let folder = tempfile::tempdir()?;
        let chart = make(&program, folder.path())?;
        fs::copy(chart, repo::root().join(picture)).context(*picture)?;
        println!("{picture} is written: quote beside it what was printed");
    }
    Ok(())
}

fn sweep(program: &Path, folder: &Path) -> Result<PathBuf> {
    let out = folder.join("sweep");
    repo::run(repo::command(program).args(["sweep", "--quiet", "--out"]).arg(&out))?;
    Ok(out.join("built-in-api_qps_ttlb.png"))
}

fn story(program: &Path, folder: &Path) -> Result<PathBuf> {
    let bin = folder.join("bin");
    repo::run(Go::find()?.command("go").args(["build", "-o"]).arg(&bin).arg("./cmd/..."))?;
    for (name, line, port) in SERVERS {
        let _server = Running::start(&bin, line, port)?;
        let mut sweep = pinned(program, folder);
        sweep.args(["sweep", "--quiet", "--levels", "10,50,100,200", "--name", name, "--out"]);
        sweep.arg(format!("out/{name}")).arg(format!("http://127.0.0.1:{port}/healthz"));
        judged(&mut sweep)?;
    }
    judged(pinned(program, folder).args(["diff", "out/baseline", "out/before"]))?;
    judged(pinned(program, folder).args([
        "diff",
        "out/baseline",
        "out/before",
        "out/after",
        "--out",
        "out/all",
    ]))?;
    let mut charts =
        fs::read_dir(folder.join("out/all"))?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_chart = |path: &PathBuf| path.to_string_lossy().ends_with(".qps.ttlb.diff.png");
    charts.find(is_chart).context("diff drew no chart")
}

/// The program on the generator's processor.
fn pinned(program: &Path, folder: &Path) -> Command {
    let mut command = repo::command("taskset");
    command.args(["-c", "0"]).arg(program).current_dir(folder);
    command
}

/// Runs the program; what it judges of the results is no failure.
fn judged(command: &mut Command) -> Result<()> {
    let line = repo::shown(command);
    println!("$ {line}");
    let status = command.stdin(Stdio::null()).status().with_context(|| line.clone())?;
    crate::interrupt::check()?;
    ensure!(matches!(status.code(), Some(0 | 98 | 99)), "`{line}` failed ({status})");
    Ok(())
}

/// A server on a processor of its own, ended when it is dropped.
struct Running(Child);

impl Running {
    fn start(bin: &Path, line: &[&str], port: u16) -> Result<Self> {
        let address = format!("127.0.0.1:{port}");
        ensure!(TcpStream::connect(&address).is_err(), "another server listens on {address}");
        let mut command = repo::command("taskset");
        command.args(["-c", "1"]).arg(bin.join(line[0])).args(&line[1..]);
        command.current_dir(repo::root().join("casestudy")).env("GOMAXPROCS", "1");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let running = Self(child.spawn().context(line.join(" "))?);
        let began = Instant::now();
        while TcpStream::connect(&address).is_err() {
            ensure!(began.elapsed() < PATIENCE, "`{}` does not listen", line.join(" "));
            sleep(Duration::from_millis(50));
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_show_them() {
        for (document, (.., picture)) in
            [("README.md", PICTURES[0]), ("docs/guide.md", PICTURES[1])]
        {
            let folder = Path::new(document).parent().unwrap();
            let shown = Path::new(picture).strip_prefix(folder).unwrap().display().to_string();
            let text = fs::read_to_string(repo::root().join(document)).unwrap();
            assert!(text.contains(&format!("]({shown})")), "{document}: {shown}");
        }
    }
}
