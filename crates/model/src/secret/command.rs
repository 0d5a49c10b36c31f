//! Commands of a shell, of which only what cannot be a credential is kept. A password may stand anywhere in one:
//! behind an option, joined to it, in a variable, in a URL, or by itself.

use std::collections::BTreeSet;

use super::MASK;

/// Words of a command that watches another machine, besides the name of that machine.
const KNOWN: [&str; 14] = [
    "ssh", "ip", "netns", "exec", "kubectl", "docker", "podman", "sudo", "--", "plimsoll", "watch",
    "--stdio", "--every", "local",
];
/// Words that the name of a machine, a namespace or a container follows.
const BEFORE_A_PLACE: [&str; 2] = ["ssh", "exec"];
/// Characters of a word that is looked for in what a command says, at least: shorter ones are in too many words.
const SHORTEST: usize = 4;

/// The command as it may be stored: whole where it only watches another machine in known words (`ssh app1 plimsoll
/// watch --stdio`), else its program and `***`.
pub fn mask_shell(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let before = |at: usize| at.checked_sub(1).map_or("", |before| words[before]);
    if words.iter().enumerate().all(|(at, word)| is_known(before(at), word)) {
        return words.join(" ");
    }
    let program = words.iter().find(|word| !is_variable(word));
    match program.filter(|word| is_plain(word) && !super::is_secret_value(word)) {
        Some(program) if words.len() > 1 => format!("{program} {MASK}"),
        Some(program) => (*program).to_owned(),
        None => MASK.to_owned(),
    }
}

fn is_known(before: &str, word: &str) -> bool {
    let time = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_time = before == "--every" && !time.is_empty() && time.parse::<u32>().is_ok();
    let of_place = |c: char| c.is_ascii_alphanumeric() || "@-_.".contains(c);
    let is_place = BEFORE_A_PLACE.contains(&before) && word.chars().all(of_place);
    let starts = word.starts_with('-');
    let of_processes =
        ["local:name=", "local:pid="].iter().find_map(|kind| word.strip_prefix(kind));
    let is_process =
        of_processes.is_some_and(|which| which.chars().all(|c| of_place(c) || c == ','));
    KNOWN.contains(&word) || is_time || is_process || is_place && !starts
}

/// `NAME=VALUE` before the program, with a value that ends with the word.
fn is_variable(word: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=').is_some_and(|(left, value)| {
        left.chars().all(name) && !value.contains(['\'', '"', '\\', '$', '`', '('])
    })
}

fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c))
}

/// What a command says of itself, with the words masked that may be credentials: a program that fails may repeat its
/// arguments.
pub fn mask_said(command: &str, said: &str) -> String {
    let words = hidden(command);
    let masked = words.iter().rev().fold(said.to_owned(), |said, word| said.replace(word, MASK));
    super::mask_text(&masked)
}

/// Values of options and variables, and what stands in quotes or behind a `:`; the longest last.
fn hidden(command: &str) -> Vec<&str> {
    let mut found = BTreeSet::new();
    let ends = |c: char| c.is_whitespace() || "'\";|&()`".contains(c);
    let mut before = "";
    for word in command.split(ends).filter(|word| !word.is_empty()) {
        if word.starts_with('-') {
            found.insert(word.get(2..).unwrap_or_default());
        } else if before.starts_with('-') || before.ends_with(':') {
            found.insert(word);
        }
        found.extend(word.split_once('=').map(|(_, value)| value));
        for part in word.split("://") {
            let user = part.rsplit_once('@').map_or(part, |(user, _)| user);
            found.extend(user.split_once(':').map(|(_, value)| value));
        }
        before = word;
    }
    let mut found: Vec<&str> = found.into_iter().filter(|word| word.len() >= SHORTEST).collect();
    found.sort_by_key(|word| word.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_of_a_command_is_kept() {
        for (command, wanted) in [
            ("ssh app1 plimsoll watch --stdio", "ssh app1 plimsoll watch --stdio"),
            (
                "sudo ip netns exec web plimsoll watch --stdio --every 500ms",
                "sudo ip netns exec web plimsoll watch --stdio --every 500ms",
            ),
            (
                "ssh app1 plimsoll watch --stdio local:name=api",
                "ssh app1 plimsoll watch --stdio local:name=api",
            ),
            ("./stat --password hunter2", "./stat ***"),
            ("mysql -phunter2", "mysql ***"),
            ("PGPASSWORD=hunter2 psql -c 'SELECT 1'", "psql ***"),
            ("PGPASSWORD='hunter2 hunter3 x' psql", "***"),
            ("PGPASSWORD=$(echo hunter2) psql", "***"),
            ("curl -u ann:hunter2 http://h", "curl ***"),
            ("ssh ann:hunter2@h plimsoll watch", "ssh ***"),
            ("ssh app1 plimsoll watch hunter2", "ssh ***"),
            ("ghp_0123456789abcdef0123", "***"),
            ("stat", "stat"),
            ("", ""),
        ] {
            assert_eq!(mask_shell(command), wanted);
        }
    }

    #[test]
    fn what_a_command_repeats_is_masked() {
        for command in [
            "a --password hunter2",
            "a --password=hunter2",
            "a -phunter2",
            "PGPASSWORD=hunter2 a",
            "a http://ann:hunter2@h/",
            "a -H 'Authorization: hunter2'",
            "a -u ann:hunter2",
        ] {
            let masked = mask_said(command, "a: cannot use hunter2 at app1");
            assert!(
                masked.ends_with("at app1") && !masked.contains("hunter2"),
                "{command}: {masked}"
            );
        }
        assert_eq!(mask_said("ssh app1 x", "app1: Connection refused"), "app1: Connection refused");
    }
}
