//! `plimsoll init`: a commented workload file to start from.

use crate::args::InitArgs;
use crate::failure::{Failure, usage};
use crate::load::address::Destination;
use crate::load::workload_file;
use crate::results::output;

/// The file, with `TARGET` and `PATH` where the URL's parts go.
const TEMPLATE: &str = include_str!("init.yaml");

/// Runs the command; the exit code.
///
/// # Errors
/// When the URL is invalid, and when the file is there already or cannot be written.
pub fn init(args: &InitArgs) -> Result<u8, Failure> {
    let text = commented(&args.url)?;
    workload_file::write(&args.out, &text, args.force, output::Readers::Usual)?;
    let [plan, run] =
        ["plan", "run"].map(|command| output::typed(&["plimsoll", command], &args.out));
    let printed = output::print(&format!(
        "wrote {path} and {schema} beside it\nsee what it would send:  {plan}\nsend it: \
         \x20               {run}\n",
        path = args.out.display(),
        schema = workload_file::SCHEMA_FILE,
    ));
    Ok(u8::from(!printed))
}

/// The commented workload for a URL.
fn commented(url: &str) -> Result<String, Failure> {
    // Nothing is sent now, so that a slip would be seen late.
    let is_host = url.contains(['.', ':']) || url.starts_with("localhost");
    if !is_host || workload_file::is_meant(url) {
        return usage(format!(
            "`{url}` is not a URL, such as http://127.0.0.1:8080/healthz; -o FILE names the file to write"
        ));
    }
    let parsed = Destination::parse(url)?.url;
    let path = &parsed[url::Position::BeforePath..url::Position::AfterQuery];
    let origin = parsed.origin().ascii_serialization();
    // A placeholder's opening in a URL is text of that URL.
    let path = path.replace("${", "$${");
    Ok(TEMPLATE.replace("TARGET", &origin).replace("PATH", &quoted(&path)))
}

/// A YAML string in double quotes. A parsed URL holds no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_goes_to_its_places() {
        let text = commented("http://[::1]:8080/a?b=\"${c}").unwrap();
        assert!(text.contains("\ntarget: http://[::1]:8080\n"), "{text}");
        assert!(text.contains("path: \"/a?b=%22$${c}\"\n"), "{text}");
        assert!(commented("https://example.com").unwrap().contains("path: \"/\"\n"));
        // As `run` takes it.
        let text = commented("localhost:8080/x").unwrap();
        assert!(text.contains("\ntarget: http://localhost:8080\n"), "{text}");
        assert!(text.contains("path: \"/x\"\n"), "{text}");
        assert!(!text.contains("TARGET") && !text.contains("PATH"));
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for url in ["", "users", "shop.yaml", "ftp://a/", "http://", "file:///a"] {
            let Err(Failure::Usage(message)) = commented(url) else { panic!("{url}") };
            assert!(message.contains(&format!("`{url}`")), "{message}");
        }
    }
}
