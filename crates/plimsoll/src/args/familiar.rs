//! Command lines as users of other tools type them: what is wrong with one, and what to type here.
//!
//! Flags that mean the same here are aliases of Plimsoll's (`-X`, `-k`, `--data`, `-z` ...). Here are those that do
//! not, with what takes their place.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

/// Flags of curl, wrk, wrk2, hey, ab, oha, vegeta and k6, and what to do here.
const FLAGS: &[(&[&str], &str)] = &[
    (&["--http2", "--http3", "-2", "-3"], "only HTTP/1.1 is spoken"),
    (
        &["-o", "--output"],
        "results go to a folder with --out DIR, JSON to standard output with --format json",
    ),
    (
        &["-i", "--include", "-I", "--head"],
        "send HEAD requests with -m HEAD; a response's fields are not printed",
    ),
    (&["-A", "--user-agent"], "use -H 'User-Agent: TEXT'"),
    (&["--cookie", "-C"], "use -H 'Cookie: NAME=VALUE'; --cookies keeps those that responses set"),
    (&["--cookie-jar"], "--cookies keeps the cookies that responses set"),
    (&["-e", "--referer"], "use -H 'Referer: URL'"),
    (
        &["-F", "--form"],
        "put the encoded form into a file: --body-file FILE and -H 'Content-Type: ...'",
    ),
    (&["-D", "-p", "--body-path"], "use --body-file FILE"),
    (&["--location", "--redirects"], "use --follow N"),
    (&["-x", "--proxy"], "proxies are not supported"),
    (&["-w", "-W", "--wait"], "use --warmup TIME for a warm-up, --think TIME for pauses"),
    (&["--rps", "--rate-limit", "--qps"], "use -R RATE"),
    (&["--stage", "--stages"], "write stages into a workload file: see plimsoll init"),
    (&["--http1.1", "--no-tui", "--silent"], "leave it out; -q prints nothing while running"),
    (&["--port"], "use --listen 127.0.0.1:PORT"),
    (&["--compressed", "--gzip"], "use -H 'Accept-Encoding: gzip'"),
    (&["--disable-compression"], "leave it out: no Accept-Encoding is sent"),
    (&["--output-format", "--out-format"], "use --format text|wrk|json, and --out DIR for files"),
    (&["--content-type"], "use -H 'Content-Type: TYPE'"),
    (&["--http-version"], "only HTTP/1.1 is spoken"),
    (&["--u_latency", "-U"], "service time is printed beside response time"),
];

/// What is wrong with a command line and what to do, in one line.
pub fn in_one_line(error: &Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let words: Vec<&str> = first.lines().map(str::trim).collect();
    let advice = advice(error).unwrap_or_default();
    let end = if advice.ends_with('?') { " See" } else { "; see" };
    format!("{}{advice}{end} --help", words.join(" "))
}

fn advice(error: &Error) -> Option<String> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = said(error, ContextKind::InvalidSubcommand)?;
            if name.contains(['/', ':', '.']) {
                return Some(format!(": to load it, use `plimsoll run {name}`"));
            }
            said(error, ContextKind::SuggestedSubcommand)
                .or_else(|| with_letters_of(&name))
                .map(|near| format!(": did you mean `{near}`?"))
        }
        ErrorKind::MissingRequiredArgument if error.to_string().contains("<URL|FILE>") => {
            Some(": such as http://127.0.0.1:8080/".to_owned())
        }
        ErrorKind::UnknownArgument => {
            let flag = said(error, ContextKind::InvalidArg)?;
            if !flag.starts_with('-') {
                return one_too_many(&flag, &error.to_string());
            }
            let flag = flag.split('=').next().unwrap_or(&flag);
            if let Some((_, advice)) = FLAGS.iter().find(|(flags, _)| flags.contains(&flag)) {
                return Some(format!(": {advice}"));
            }
            said(error, ContextKind::SuggestedArg).map(|near| format!(": did you mean `{near}`?"))
        }
        ErrorKind::ValueValidation => {
            let flag = said(error, ContextKind::InvalidArg)?;
            let value = said(error, ContextKind::InvalidValue)?;
            // As curl, hey, ab and oha have it.
            let is_body = value.starts_with(['{', '[', '@', '"', '<']) || value.contains('=');
            (flag.starts_with("--duration") && is_body).then(|| {
                ": -d is how long; a body is given as --data BODY, or --json BODY".to_owned()
            })
        }
        _ => None,
    }
}

/// What to do instead of a word that has no flag before it.
fn one_too_many(word: &str, text: &str) -> Option<String> {
    if text.contains("Usage: plimsoll target") {
        let address =
            if word.contains(':') { word.to_owned() } else { format!("127.0.0.1:{word}") };
        return Some(format!(": use --listen {address}"));
    }
    if word.contains(['/', ':']) {
        let one = ": one URL is taken, and -q takes no value (a rate is -R RATE); `plimsoll compare` takes \
                   two URLs";
        return Some(one.to_owned());
    }
    let is_number = word.parse::<f64>().is_ok();
    is_number.then(|| ": -q takes no value; a rate is -R RATE".to_owned())
}

/// The command that is written with the same letters in another order, which the parser's measure takes for far.
fn with_letters_of(name: &str) -> Option<String> {
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let cli = super::Cli::command();
    let mut commands = cli.get_subcommands().filter(|command| !command.is_hide_set());
    let near = commands.find(|command| sorted(command.get_name()) == sorted(name));
    near.map(|command| command.get_name().to_owned())
}

/// The first thing of a kind that the parser said.
fn said(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(one) => Some(one.clone()),
        ContextValue::Strings(several) => several.first().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;
    use super::*;

    fn text(line: &str) -> String {
        let words = std::iter::once("plimsoll").chain(line.split_whitespace());
        in_one_line(&Cli::try_parse_from(words).expect_err("it is refused"))
    }

    #[test]
    fn what_is_meant_is_named() {
        for (line, advice) in [
            ("http://127.0.0.1:8080/x", "use `plimsoll run http://127.0.0.1:8080/x`"),
            ("localhost:8080", "use `plimsoll run localhost:8080`"),
            ("sweeep http://h/", "did you mean `sweep`?"),
            ("rnu http://h/", "did you mean `run`?"),
            ("run http://h/ http://g/", "`plimsoll compare` takes two URLs"),
            ("run -q 100 http://h/", "-q takes no value"),
            ("run http://h/ -q 10", "a rate is -R RATE"),
            ("target 8080", "use --listen 127.0.0.1:8080"),
            ("run http://h/ -d {\"a\":1}", "as --data BODY"),
            ("run http://h/ -d a=1&b=2", "as --data BODY"),
            ("run http://h/ -d soon", "is not a duration such as 500ms"),
            ("run", "such as http://127.0.0.1:8080/"),
            ("run http://h/ --duraton 1s", "did you mean `--duration`?"),
            ("run http://h/ --http2", "only HTTP/1.1 is spoken"),
            ("run http://h/ -o json", "--format json"),
            ("run http://h/ --rps=3", "use -R RATE"),
        ] {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn flags_of_others_are_taken_where_they_mean_the_same() {
        for line in [
            "run http://h/ -X POST --data {} -z 1m30s",
            "run http://h/ --json {} -k",
            "run http://h/ -u me:secret --insecure-skip-tls-verify",
            "run http://h/ --vus 10 --iterations 1e3",
            "run http://h/ -R 100/s --disable-keepalive",
        ] {
            let words = std::iter::once("plimsoll").chain(line.split_whitespace());
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn no_own_flag_is_explained_as_another_tools() {
        let cli = Cli::command();
        let run = cli.find_subcommand("run").expect("a command");
        let shorts = run.get_arguments().filter_map(|arg| arg.get_short_and_visible_aliases());
        let shorts: Vec<String> = shorts.flatten().map(|short| format!("-{short}")).collect();
        let ours = |flag: &&&str| shorts.iter().any(|short| short == **flag);
        let both: Vec<_> = FLAGS.iter().flat_map(|(flags, _)| flags.iter()).filter(ours).collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
