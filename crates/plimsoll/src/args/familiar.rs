//! Command lines that users of other tools type by habit: the error for one, and what to type instead.
//!
//! Flags that mean the same here are aliases of Plimsoll's (`-X`, `-k`, `--data`, `-z` ...). Those that do not are in
//! `table`, with what takes their place.

mod table;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error};
use model::names::differ_by_a_typo;
use model::units::parse_duration;

use table::{COMMANDS, EXAMPLES, FLAGS, WITH_VALUES};

/// What to do about a word that another tool has and that clap took for `-h` or `-v` with letters behind: `-host` of
/// hey's.
pub fn instead_of_help(line: &[OsString]) -> Option<String> {
    let words = || line.iter().skip(1).filter_map(|word| word.to_str());
    let asks = |word: &str| ["-h", "--help", "help", "--version"].contains(&word);
    if words().any(asks) {
        return None;
    }
    let is_version = |word: &str| word.starts_with("-v") || word.starts_with("-V");
    let is_named = |word: &str| !word.starts_with('-') && word.contains([':', '/']);
    if let Some(word) = words().find(|word| is_version(word)).filter(|_| words().any(is_named)) {
        return Some(instead_of_version(word, line));
    }
    let word = words().find(|word| word.starts_with("-h") || word.starts_with("-v"))?;
    let advice = one_dash(&command_of(line), line)?;
    Some(format!("unexpected argument '{word}' found{advice}; see --help"))
}

/// What to do about `-v` beside a URL: with curl, hey and k6 it makes them say more.
fn instead_of_version(word: &str, line: &[OsString]) -> String {
    let command = command_of(line);
    if let Some(advice) = one_dash(&command, line) {
        return format!("unexpected argument '{word}' found{advice}; see --help");
    }
    let details = "; --details prints everything that was measured";
    let details = if has_all(&command, "--details") { details } else { "" };
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "-v prints the version, {version}, as wrk's does, and nothing else was done: leave it out{details}"
    )
}

/// What to do about a long flag after one dash that was read as a letter's flag and its value: `-body=x` as a body `ody=x`.
pub fn instead_of_a_value(line: &[OsString]) -> Option<String> {
    let advice = one_dash(&command_of(line), line)?;
    Some(format!("{}; see --help", advice.trim_start_matches(": ")))
}

/// What is wrong with a command line and what to do, in one line.
pub fn in_one_line(error: &Error, line: &[OsString]) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let words: Vec<&str> = first.lines().map(str::trim).collect();
    let command = command_of(line);
    let advice = one_dash(&command, line).or_else(|| url_as_value(error, &command, line));
    let advice = advice.or_else(|| advice_of(error, &command, line)).unwrap_or_default();
    let end = if advice.ends_with('?') { " See" } else { "; see" };
    format!("{}{advice}{end} --help", words.join(" "))
}

/// What to do where the URL was taken for the value of a flag before it.
fn url_as_value(error: &Error, command: &Command, line: &[OsString]) -> Option<String> {
    let missing =
        said(error, ContextKind::InvalidArg).filter(|missing| missing.contains("<URL"))?;
    if error.kind() != ErrorKind::MissingRequiredArgument || missing.is_empty() {
        return None;
    }
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).collect();
    let mut pairs = words.windows(2).map(|pair| (pair[0], pair[1]));
    let (flag, url) =
        pairs.find(|(flag, url)| url.contains("://") && takes_value(command, flag))?;
    if !["--json", "--data", "--body", "-b"].contains(&flag) {
        return Some(format!(": {flag} takes a value, and took {url} for it"));
    }
    let results = if flag == "--json" { "; results as JSON are --format json" } else { "" };
    Some(format!(": {flag} takes the body that follows it, as in {flag} BODY {url}{results}"))
}

/// Whether the word behind a flag is its value.
fn takes_value(command: &Command, flag: &str) -> bool {
    let takes = |arg: &Arg| arg.get_action().takes_values();
    let long = |arg: &Arg| {
        let known = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
        flag.strip_prefix("--").is_some_and(|name| known.into_iter().any(|long| long == name))
    };
    let short = |arg: &Arg| {
        let known =
            arg.get_short().into_iter().chain(arg.get_all_short_aliases().unwrap_or_default());
        let letter = flag.strip_prefix('-').and_then(|letters| letters.chars().last());
        !flag.starts_with("--") && known.into_iter().any(|short| Some(short) == letter)
    };
    command.get_arguments().any(|arg| takes(arg) && (long(arg) || short(arg)))
}

fn advice_of(error: &Error, command: &Command, line: &[OsString]) -> Option<String> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = said(error, ContextKind::InvalidSubcommand)?;
            if name.is_empty() {
                return Some(": is the variable set that it is taken from?".to_owned());
            }
            let first = name.split_once(char::is_whitespace).map(|(first, _)| first);
            if first.is_some_and(|first| command.find_subcommand(first).is_some()) {
                return Some(": it is one word here: leave out the quotes around it".to_owned());
            }
            if name.contains(['/', ':', '.']) {
                return Some(format!(": to load it, use `plimsoll run {name}`"));
            }
            let known = COMMANDS.iter().find(|(names, _)| names.contains(&name.as_str()));
            if let Some((_, advice)) = known {
                return Some(format!(": {advice}"));
            }
            mistyped_command(&name)
                .or_else(|| said(error, ContextKind::SuggestedSubcommand))
                .map(|near| format!(": did you mean `{near}`?"))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = said(error, ContextKind::InvalidArg)?;
            let of_command = format!("{} {missing}", command.get_name());
            let fits = |name: &str| missing.starts_with(name) || of_command.starts_with(name);
            let (_, example) = EXAMPLES.iter().find(|(name, _)| fits(name))?;
            Some(format!(": such as {example}"))
        }
        ErrorKind::UnknownArgument => {
            let flag = said(error, ContextKind::InvalidArg)?;
            if !flag.starts_with('-') {
                return one_too_many(&flag, &error.to_string(), line);
            }
            let flag = flag.split('=').next().unwrap_or(&flag);
            let is_program = command.get_name() == super::Cli::command().get_name();
            if is_program && said(error, ContextKind::SuggestedArg).is_none() {
                return Some(format!(
                    ": flags follow the command, as in `plimsoll run {flag} ...`"
                ));
            }
            if flag == "--format" && command.get_name() == "sweep" {
                let what = ": its results are files of a folder (--out DIR), and `plimsoll report DIR --format json` \
                            prints them";
                return Some(what.to_owned());
            }
            if let Some(advice) = advice_on(flag, command) {
                return Some(format!(": {advice}"));
            }
            if flag == "--json" && has_all(command, "--format") {
                return Some(": use --format json".to_owned());
            }
            if command.get_name() == "plan" && is_of_run(flag) {
                return Some(": leave it out: it changes nothing that is sent".to_owned());
            }
            said(error, ContextKind::SuggestedArg)
                .filter(|near| may_be_meant(flag, near))
                .map(|near| format!(": did you mean `{near}`?"))
                .or_else(|| advice_on_typo(flag, command))
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => advice_on_value(error, command),
        _ => None,
    }
}

/// Whether a flag that the parser takes for the nearest is near: to it `--slo` is the nearest of `--ssl-allow-beast`.
fn may_be_meant(flag: &str, near: &str) -> bool {
    let (flag, near) = (flag.trim_start_matches('-'), near.trim_start_matches('-'));
    let begin_alike = flag.chars().next() == near.chars().next();
    begin_alike && (flag.len().abs_diff(near.len()) <= 3 || near.starts_with(flag))
}

/// What media types begin with.
const MEDIA: [&str; 8] =
    ["application", "audio", "font", "image", "message", "multipart", "text", "video"];

/// What to do about a flag whose value is another tool's, or that has none there.
fn advice_on_value(error: &Error, command: &Command) -> Option<String> {
    let flag = said(error, ContextKind::InvalidArg)?;
    let value = said(error, ContextKind::InvalidValue)?;
    let flag = flag.split(' ').next()?;
    if let Some((_, example)) = WITH_VALUES.iter().find(|(of, _)| value.is_empty() && *of == flag) {
        return Some(format!(": such as {flag} {example}"));
    }
    // As curl, hey, ab and oha have it.
    let starts_with_digit = value.starts_with(|c: char| c.is_ascii_digit());
    let is_body = !starts_with_digit || value.contains('=');
    let is_type = value.split_once('/').is_some_and(|(kind, _)| MEDIA.contains(&kind));
    let is_file = !starts_with_digit && value.contains(['.', '/']);
    let is_time = parse_duration(&value).is_ok();
    match flag {
        "--duration" if is_body && longs(command).any(|long| long == "data") => {
            Some(": -d is how long; a body is given as --data BODY, or --json BODY".to_owned())
        }
        "--timeout" if is_type => {
            Some(format!(": -T is the time-out; use -H 'Content-Type: {value}'"))
        }
        "--timeout" if is_file && has_all(command, "--body-file -m") => {
            Some(format!(": -T is the time-out; a file is sent by --body-file {value} -m PUT"))
        }
        "--threads" if is_time && has_all(command, "-T") => {
            Some(format!(": -t is how many workers there are; the time-out is -T {value}"))
        }
        "--connections" if is_file && has_all(command, "--cookies") => {
            let what =
                ": -c is how many connections; --cookies keeps the cookies that responses set";
            Some(what.to_owned())
        }
        "--script" if value.is_empty() && has_all(command, "-q") => {
            Some(": -s is a script of wrk's; -q prints nothing while running".to_owned())
        }
        "--json" if value.is_empty() && has_all(command, "--format") => {
            Some(": it takes a body in JSON; results as JSON are --format json".to_owned())
        }
        _ => None,
    }
}

/// What to do instead of a long flag of another tool's that was mistyped: `--ouput`.
fn advice_on_typo(flag: &str, command: &Command) -> Option<String> {
    let known = FLAGS.iter().flat_map(|(flags, _)| flags.iter());
    let mut near = known.filter(|known| known.starts_with("--") && differ_by_a_typo(flag, known));
    near.find_map(|near| advice_on(near, command)).map(|advice| format!(": {advice}"))
}

/// What to do instead of another tool's flag: of a command that makes load or takes it, which has what takes its place.
fn advice_on(flag: &str, command: &Command) -> Option<&'static str> {
    if !longs(command).any(|long| ["header", "listen"].contains(&long)) {
        return None;
    }
    // curl has twenty flags about its proxies.
    let flag = if flag.starts_with("--proxy") { "--proxy" } else { flag };
    let fits =
        |(flags, advice): &&(&[&str], &str)| flags.contains(&flag) && has_all(command, advice);
    FLAGS.iter().find(fits).map(|(_, advice)| *advice)
}

/// Whether `run` has a flag.
fn is_of_run(flag: &str) -> bool {
    super::Cli::command().find_subcommand("run").is_some_and(|run| has_all(run, flag))
}

/// Whether a command has every flag that a text names.
fn has_all(command: &Command, text: &str) -> bool {
    let words = text.split([' ', ',', ';', ':']);
    let mut flags = words.filter(|word| word.len() > 1 && word.starts_with('-'));
    flags.all(|flag| match flag.strip_prefix("--") {
        Some(long) => longs(command).any(|known| known == long),
        None => {
            let shorts = command.get_arguments().filter_map(Arg::get_short_and_visible_aliases);
            shorts.flatten().any(|short| flag[1..].chars().eq([short]))
        }
    })
}

/// The long names of a command's flags.
fn longs(command: &Command) -> impl Iterator<Item = &str> {
    let arguments = command.get_arguments();
    arguments
        .flat_map(|arg| arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default()))
}

/// What to do about a long flag after one dash, as programs in Go have them; letters after one dash are read as flags of
/// one letter each.
fn one_dash(command: &Command, line: &[OsString]) -> Option<String> {
    let words =
        line.iter().skip(1).map_while(|word| word.to_str()).take_while(|word| *word != "--");
    let names = words.filter_map(|word| word.strip_prefix('-')?.split('=').next());
    names.filter(|name| name.len() > 1).find_map(|name| {
        if longs(command).any(|known| known == name) {
            return Some(format!(": long flags begin with two dashes: --{name}"));
        }
        advice_on(&format!("--{name}"), command).map(|advice| format!(": -{name}: {advice}"))
    })
}

/// The command that a line calls, or the program itself where it calls none.
fn command_of(line: &[OsString]) -> Command {
    let mut command = super::Cli::command();
    for word in line.iter().skip(1) {
        match command.find_subcommand(word) {
            Some(found) => command = found.clone(),
            None => break,
        }
    }
    command
}

/// What to do instead of a word that has no flag before it.
fn one_too_many(word: &str, text: &str, line: &[OsString]) -> Option<String> {
    if text.contains("Usage: plimsoll target") {
        let is_port = word.parse::<u16>().is_ok();
        let address = if is_port { format!("127.0.0.1:{word}") } else { word.to_owned() };
        let is_address = is_port || word.contains(':') && !word.contains('/');
        let advice = || format!(": use --listen {address}");
        return Some(if is_address { advice() } else { ": leave it out".to_owned() });
    }
    if text.contains("Usage: plimsoll tune show") || text.contains("Usage: plimsoll tune predict") {
        return Some(format!(": use --notebook {word}"));
    }
    if text.contains("Usage: plimsoll gate keys add") {
        return Some(format!(": use --owner {word}"));
    }
    if let Some(field) = unquoted_field(line) {
        return Some(format!(": a field goes into quotes, as in -H '{field}'"));
    }
    if word.contains(['/', ':']) && !text.contains("URL") {
        return Some(": leave it out".to_owned());
    }
    if word.contains(": ") {
        return Some(format!(": a field follows its flag, as in -H '{word}'"));
    }
    if let Some(method) = bare_method(line) {
        return Some(format!(": a method follows its flag, as in -m {method}"));
    }
    if word.contains(['/', ':']) {
        // hey's -q is a rate: what follows it was taken for the URL.
        let is_quiet = line.iter().any(|word| word == "-q");
        let of_rate = if is_quiet { ", and -q takes no value (a rate is -R RATE)" } else { "" };
        return Some(format!(": one URL is taken{of_rate}; `plimsoll compare` takes two URLs"));
    }
    if ["ms", "s", "sec", "secs", "seconds", "m", "min", "minutes", "h"].contains(&word) {
        return Some(": a time is one word, such as 10s".to_owned());
    }
    let is_number = word.parse::<f64>().is_ok();
    let follows_q = line.windows(2).any(|pair| pair[0] == "-q" && pair[1] == *word);
    if is_number && follows_q {
        return Some(": -q takes no value; a rate is -R RATE".to_owned());
    }
    let takes_one = text.contains("URL|FILE");
    takes_one.then(|| ": one URL is taken; a value with spaces goes into quotes".to_owned())
}

/// A method that stands by itself, as HTTPie takes it: `POST http://h/`.
fn bare_method(line: &[OsString]) -> Option<&str> {
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).collect();
    let mut pairs = words.windows(2);
    let is_bare = |pair: &&[&str]| {
        let is_method =
            ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(&pair[1]);
        is_method && !pair[0].starts_with('-')
    };
    pairs.find(is_bare).map(|pair| pair[1])
}

/// A header field whose value was parted from its name, as a shell does without quotes.
fn unquoted_field(line: &[OsString]) -> Option<String> {
    let words: Vec<&str> = line.iter().filter_map(|word| word.to_str()).collect();
    let mut pairs = words.windows(2);
    let is_parted =
        |pair: &&[&str]| ["-H", "--header"].contains(&pair[0]) && pair[1].ends_with(':');
    pairs.find(is_parted).map(|pair| format!("{} ...", pair[1]))
}

/// The command that is one letter off, which the parser's measure takes for far where a word is short: to it `gaet` is
/// nearer to `generate` than to `gate`.
fn mistyped_command(name: &str) -> Option<String> {
    let cli = super::Cli::command();
    let commands = cli.get_subcommands().filter(|command| !command.is_hide_set());
    let near = commands.map(Command::get_name).find(|known| differ_by_a_typo(name, known));
    near.map(str::to_owned)
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
        let words: Vec<OsString> = words.map(OsString::from).collect();
        in_one_line(&Cli::try_parse_from(&words).expect_err("it is refused"), &words)
    }

    #[test]
    fn a_field_without_its_flag_is_no_second_url() {
        let words =
            ["plimsoll", "run", "http://h/", "-H", "Accept: x", "Foo: b"].map(OsString::from);
        let said = in_one_line(&Cli::try_parse_from(&words).expect_err("it is refused"), &words);
        assert!(said.contains("a field follows its flag, as in -H 'Foo: b'"), "{said}");
    }

    /// Lines that cannot be understood, and what they are met with.
    const MISTAKEN: &[(&str, &str)] = &[
        ("http://127.0.0.1:8080/x", "use `plimsoll run http://127.0.0.1:8080/x`"),
        ("localhost:8080", "use `plimsoll run localhost:8080`"),
        ("target -p 9000", "use --listen 127.0.0.1:PORT"),
        ("run http://h/ http://g/", "one URL is taken; `plimsoll compare` takes two URLs"),
        ("run POST http://h/", "a method follows its flag, as in -m POST"),
        ("run -m POST http://h/ http://g/", "one URL is taken; `plimsoll compare`"),
        ("run -q 100 http://h/", "-q takes no value"),
        ("run http://h/ -q 10", "a rate is -R RATE"),
        ("run http://h/ --follow -n 1", "'1' found: one URL is taken"),
        ("run http://h/ 100", "'100' found: one URL is taken"),
        ("target 8080", "use --listen 127.0.0.1:8080"),
        ("run http://h/ -d {\"a\":1}", "as --data BODY"),
        ("run http://h/ -d a=1&b=2", "as --data BODY"),
        ("run http://h/ -d soon", "is not a duration such as 500ms"),
        ("run http://h/ -d hello", "as --data BODY"),
        ("tune begin http://h/ -d hello", "500ms, 10s or 1m30s; see"),
        ("run -s http://h/", "-s takes a value, and took http://h/ for it"),
        ("run -ks http://h/", "-ks takes a value, and took http://h/ for it"),
        ("run -b http://h/x", "-b takes the body that follows it"),
        ("audit", "such as wrk.txt"),
        ("import", "such as requests.curl"),
        ("mine", "such as /var/log/nginx/access.log"),
        ("profile", "such as cpu.pprof"),
        ("fill", "such as postgres://USER@127.0.0.1/DATABASE"),
        ("tune predict", "such as main.handle"),
        ("tune show story", "use --notebook story"),
        ("tune try", "such as pooled-buffers http://127.0.0.1:8080/"),
        ("run http://h/ --interface lo", "use --source ADDRESS"),
        ("run http://h/ --no-connection-reuse", "use --no-keepalive"),
        ("run http://h/ --amount 9", "use -n N"),
        ("run http://h/ --overallRate 9", "use -R RATE"),
        ("run http://h/ --internet", "several URLs are written into a workload file"),
        ("run http://h/ --benchmark", "--think TIME lets them"),
        ("run http://h/ --digest", "only Basic is spoken"),
        ("run http://h/ --oauth2-bearer x", "or -H 'Authorization: ...'"),
        ("run http://h/ --redirect 3", "use --follow N"),
        ("run http://h/ -disable-redirects", "redirects are not followed"),
        ("run http://h/ --tlsv1.2", "use --tls-min 1.2"),
        ("run http://h/ --stderr f", "no response is printed"),
        ("run http://h/ --host h", "-H 'Host: NAME'"),
        ("run", "such as http://127.0.0.1:8080/"),
        ("run http://h/ --duraton 1s", "did you mean `--duration`?"),
        ("run http://h/ --http2", "only HTTP/1.1 is spoken"),
        ("run http://h/ -o json", "--format json"),
        ("run http://h/ --rps=3", "use -R RATE"),
        ("sweep http://h/ --rps=3", "use --rates 100,200,500"),
        ("sweep http://h/ --concurrency 10", "use --levels 1,8,64"),
        ("run http://h/ --users 10", "use -c N"),
        ("run http://h/ --time 5s", "use -d TIME"),
        ("run http://h/ --max-time 5", "use -T TIME"),
        ("run http://h/ -a me:secret", "use -u USER:PASSWORD"),
        ("run http://h/ -T text/html", "use -H 'Content-Type: text/html'"),
        ("run http://h/ -duration=5s", "two dashes: --duration"),
        ("run http://h/ -rate 50", "two dashes: --rate"),
        ("run http://h/ -connections 50", "two dashes: --connections"),
        ("-d 1s run http://h/", "as in `plimsoll run -d ...`"),
        ("run http://h/ -cpus 4", "-cpus: use -t N"),
        ("run http://h/ -keepalive=false", "-keepalive: leave it out: connections are kept"),
        ("run http://h/ -redirects 3", "-redirects: use --follow N"),
        ("run http://h/ --threshold p99<9ms", "use --slo 'p99<100ms'"),
        ("sweep http://h/ --format json", "`plimsoll report DIR --format json` prints them"),
        ("run --json http://h/", "--json takes the body that follows it"),
        ("run --data http://h:1/x -c 4", "--data takes the body that follows it"),
        ("run http://h/ -l", "leave it out: latencies are printed"),
        ("run http://h/ --cert c.pem", "--key <FILE>; see"),
        ("gate --csv", "'--csv' found; see"),
    ];

    #[test]
    fn what_is_meant_is_named() {
        for (line, advice) in MISTAKEN {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn words_without_a_flag_are_met_with_what_to_type() {
        for (line, advice) in [
            ("sweeep http://h/", "did you mean `sweep`?"),
            ("rnu http://h/", "did you mean `run`?"),
            ("gaet", "did you mean `gate`?"),
            ("wrk -c 10 http://h/", "a load is `plimsoll run URL`"),
            ("rn http://h/", "did you mean `run`?"),
            ("bench http://h/", "a load is `plimsoll run URL`"),
            ("curl http://h/", "a load is `plimsoll run URL`"),
            ("k6 run a.js", "a load is `plimsoll run URL`"),
            ("version", "`plimsoll --version`"),
            ("completions bash", "`plimsoll generate DIR`"),
            ("resume out", "`plimsoll sweep --resume DIR` goes on"),
            ("show", "`plimsoll report` prints the last result"),
            ("compare", "such as http://127.0.0.1:8080/ http://127.0.0.1:8081/; see"),
            ("run http://h/ y", "a value with spaces goes into quotes"),
            ("run -H Accept: text/html http://h/", "quotes, as in -H 'Accept: ...'; see"),
            ("run http://h/ -H X-Key: secret", "quotes, as in -H 'X-Key: ...'; see"),
            ("gate keys add ada", "use --owner ada"),
        ] {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn an_empty_word_is_a_variable_that_is_not_set() {
        let words = ["plimsoll", ""].map(OsString::from);
        let said = in_one_line(&Cli::try_parse_from(&words).expect_err("it is refused"), &words);
        assert!(said.contains("is the variable set"), "{said}");
    }

    #[test]
    fn a_command_line_in_quotes_is_one_word() {
        let words = ["plimsoll", "run http://h/"].map(OsString::from);
        let said = in_one_line(&Cli::try_parse_from(&words).expect_err("it is refused"), &words);
        assert!(said.contains("leave out the quotes"), "{said}");
    }

    #[test]
    fn values_that_lack_or_stand_in_two_words_are_shown() {
        for (line, advice) in [
            ("run http://h/ --json", "results as JSON are --format json"),
            ("run http://h/ --slo", "such as --slo 'p99<100ms'"),
            ("run http://h/ -d", "such as --duration 10s; see"),
            ("run http://h/ -c", "such as --connections 10; see"),
            ("report --json", "use --format json"),
            ("audit --json wrk.txt", "use --format json"),
            ("run http://h/ -d 10 sec", "a time is one word, such as 10s"),
            ("run --json --out d http://h/", "results as JSON are --format json"),
        ] {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn letters_that_others_use_otherwise_are_met_with_ours() {
        for (line, advice) in [
            ("run http://h/ -t 20s", "the time-out is -T 20s"),
            ("run http://h/ -t many", "not a count such as 200, 1k or 1M; see"),
            ("run http://h/ -s -k", "-q prints nothing while running"),
            ("run http://h/ --ouput d", "results go to a folder with --out DIR"),
            ("calibrate http://h/", "found: leave it out; see"),
            ("target /x/y", "found: leave it out; see"),
            ("run http://h/ -H", "such as --header 'Accept: text/html'"),
            ("run http://h/ -Z", "use -c N"),
            ("run http://h/ -F a=@b.png", "and `plimsoll import curl FILE` makes one; see"),
            ("run http://h/ -T body.json", "by --body-file body.json -m PUT"),
            ("run http://h/ -T /tmp/body", "by --body-file /tmp/body -m PUT"),
            ("run http://h/ -U Mozilla", "a user agent is -H 'User-Agent: TEXT'"),
            ("run http://h/ -A me:secret", "are -u USER:PASSWORD"),
            ("run http://h/ -A text/html", "-H 'Accept: TYPE'"),
            ("run http://h/ -K curlrc", "or use a workload file"),
            ("run http://h/ -p 4", "--pipeline N for requests at once"),
            ("run http://h/ -1", "use --tls-min"),
            ("run http://h/ -i 100", "use -n N for a number of requests"),
            ("sweep http://h/ -i", "send HEAD requests with -m HEAD"),
            ("run http://h/ -e out.csv", "with --out DIR"),
            ("run http://h/ -w %{http_code}", "nothing of a response is printed"),
            ("run http://h/ --latencies", "latencies are printed"),
            ("run http://h/ --timelimit 5", "use -d TIME"),
            ("run http://h/ --print r", "or --format json"),
            ("run http://h/ -c jar.txt", "--cookies keeps the cookies that responses set"),
            ("run http://h/ -c 2.5", "not a whole number"),
            ("run http://h/ -f body.json", "a body's file is --body-file FILE"),
            ("run http://h/ -r 100", "a rate is -R RATE"),
            ("capacity http://h/ -r 100", "and the run goes on; see"),
            ("run http://h/ --disableKeepAlives", "use --no-keepalive"),
            ("run http://h/ --pass x", "without a password"),
            ("run http://h/ --next", "written into a workload file"),
            ("run http://h/ --local-ips 127.0.0.2", "use --source ADDRESS"),
            ("run http://h/ --netrc", "use -u USER:PASSWORD"),
            ("run http://h/ --retry-delay 3", "nothing is sent twice"),
            ("run http://h/ --etag-compare f", "-H 'If-None-Match: \"TAG\"'"),
            ("run http://h/ --tls-earlydata", "early data is not sent"),
            ("run http://h/ --no-print", "prints nothing while running"),
            ("run http://h/ --proxy-cacert f", "proxies are not supported"),
            ("run http://h/ --socks4a h:1", "proxies are not supported"),
            ("gate --config gate.yaml", "'--config' found; see"),
            ("run http://h/ --summary-time-unit ms", "in the unit that fits it"),
        ] {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn flags_of_one_command_are_met_with_those_of_another() {
        for (line, advice) in [
            ("run http://h/ --levels 1,2", "`plimsoll sweep` takes several"),
            ("capacity http://h/ -d 30s", "--budget TIME bounds the whole search"),
            ("capacity http://h/ -R 500", "the rate is searched; --max RATE bounds it"),
            ("sweep http://h/ -n 1000", "each level of --levels lasts -d TIME"),
            ("plan http://h/ --slo valid", "leave it out: it changes nothing that is sent"),
            ("plan http://h/ -q", "leave it out: it changes nothing that is sent"),
        ] {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn what_has_no_place_here_says_so() {
        for (line, advice) in [
            ("run http://h/ --proxy-header A:b", "proxies are not supported"),
            ("run http://h/ --limit-rate 1M", "use -R RATE for requests"),
            ("run http://h/ --wait-ongoing-requests-after-deadline", "are waited for"),
            ("run http://h/ --out json=out.json", "give a folder, which holds all results"),
        ] {
            let text = text(line);
            assert!(text.contains(advice) && text.ends_with("ee --help"), "{line}: {text}");
        }
    }

    #[test]
    fn a_word_that_begins_as_help_does_is_no_call_for_help() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            instead_of_help(&words)
        };
        let text = said("plimsoll run http://h/ -host foo").expect("advice");
        assert!(text.contains("'-host' found: -host: the URL stands"), "{text}");
        let text = said("plimsoll run http://h/ -h2").expect("advice");
        assert!(text.contains("only HTTP/1.1 is spoken"), "{text}");
        for line in [
            "plimsoll -h",
            "plimsoll run -h",
            "plimsoll help run",
            "plimsoll -v",
            "plimsoll run -V",
            "plimsoll run http://h/ --version",
            "plimsoll run http://h/ -v -h",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }

    #[test]
    fn a_long_flag_after_one_dash_is_no_value_of_a_letter() {
        for (line, advice) in [
            ("plimsoll run http://h/ -body=x", Some("two dashes: --body; see --help")),
            ("plimsoll run http://h/ -unix-socket=/s", Some("two dashes: --unix-socket; see")),
            ("plimsoll run http://h/ -max-workers=9", Some("-max-workers: use -c N; see")),
            ("plimsoll run http://h/ -more", Some("-more: --details prints everything")),
            ("plimsoll run http://h/ -bbody -c10 -mPOST -qk -ume:x", None),
            ("plimsoll run http://h/ -s a.lua -- -body", None),
        ] {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert!(Cli::try_parse_from(&words).is_ok(), "{line}");
            let said = instead_of_a_value(&words);
            assert_eq!(said.is_some(), advice.is_some(), "{line}: {said:?}");
            let said = said.unwrap_or_default();
            assert!(said.contains(advice.unwrap_or_default()), "{line}: {said}");
        }
    }

    #[test]
    fn no_far_flag_is_taken_for_the_nearest() {
        for line in ["run http://h/ --ssl-allow-beast", "run http://h/ --append"] {
            let text = text(line);
            assert!(text.ends_with("found; see --help"), "{line}: {text}");
        }
    }

    #[test]
    fn a_load_is_not_answered_with_the_version() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            instead_of_help(&words).expect("advice")
        };
        for (line, details) in [
            ("plimsoll run -v http://h/", true),
            ("plimsoll run localhost:8080 -vk", true),
            ("plimsoll sweep -V http://h/", false),
            ("plimsoll -v run http://h/", false),
        ] {
            let text = said(line);
            assert!(text.starts_with("-v prints the version"), "{line}: {text}");
            assert!(text.contains("nothing else was done: leave it out"), "{line}: {text}");
            assert_eq!(text.ends_with("; --details prints everything that was measured"), details);
        }
        let text = said("plimsoll run http://h/ -verbose");
        assert!(text.contains("-verbose: --details prints everything"), "{text}");
    }

    #[test]
    fn flags_of_others_are_taken_where_they_mean_the_same() {
        for line in [
            "run http://h/ -X POST --data {} -z 1m30s",
            "run http://h/ --json {} -k",
            "run http://h/ -u me:secret --insecure-skip-tls-verify",
            "run http://h/ --vus 10 --iterations 1e3",
            "run http://h/ --concurrency 10",
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
        for command in Cli::command().get_subcommands() {
            for flag in FLAGS.iter().flat_map(|(flags, _)| flags.iter()) {
                let explained = has_all(command, flag).then(|| advice_on(flag, command)).flatten();
                assert_eq!(explained, None, "{} {flag}", command.get_name());
            }
        }
    }
}
