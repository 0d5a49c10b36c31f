//! Pasted shell text cut into commands and words, as a POSIX shell would, with bash's `$'...'`.
//!
//! Nothing is run: a variable that the text itself sets is filled in, any other becomes a placeholder of the
//! environment, and the output of a command one that the user has to provide. Words come out as template text.

mod ansi;
mod heredoc;

use std::collections::HashMap;

use super::super::BadFile;
use super::super::template::{env, literal, push};
use heredoc::Heredoc;
use model::secret::mask_shell;

/// Bytes of a word at most; variables that hold variables could grow without end.
const LONGEST_WORD: usize = 4 << 20;
/// Bytes that variables are filled in with at most, all words together.
const MOST_FILLED: usize = 64 << 20;

/// A command: its words, and what of the line has no words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The line it begins on, from 1.
    pub(super) line: usize,
    /// Its words, as template text.
    pub(super) words: Vec<String>,
    /// Redirections, pipes and substituted commands, in words for a person.
    pub(super) aside: Vec<String>,
    /// What the text hands to its standard input, as template text.
    pub(super) stdin: Option<String>,
    /// The byte that it begins at.
    begin: usize,
}

/// Cuts text into commands.
///
/// # Errors
/// On a quote that does not end, and on words beyond bounds.
pub(super) fn commands(text: &str) -> Result<Vec<Command>, BadFile> {
    let mut shell = Shell {
        text,
        at: 0,
        line: 1,
        variables: HashMap::new(),
        filled: 0,
        outputs: 0,
        begin: 0,
        heredocs: Vec::new(),
        late: Vec::new(),
    };
    let mut commands: Vec<Command> = Vec::new();
    while let Some(command) = shell.command()? {
        if !command.words.is_empty() || !command.aside.is_empty() {
            commands.push(command);
        }
        for (begin, text, aside) in shell.late.drain(..) {
            if let Ok(at) = commands.binary_search_by_key(&begin, |command| command.begin) {
                commands[at].stdin = Some(text);
                commands[at].aside.extend(aside);
            }
        }
    }
    Ok(commands)
}

struct Shell<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Variables set so far, as template text.
    variables: HashMap<String, String>,
    /// Bytes filled in so far.
    filled: usize,
    /// Substituted commands so far.
    outputs: usize,
    /// The byte that the command begins at.
    begin: usize,
    /// What the line opened whose text begins with the next one, behind where the command begins that it is for.
    heredocs: Vec<(usize, Heredoc)>,
    /// Texts for commands before the line's last, each with what it has no words for.
    late: Vec<(usize, String, Vec<String>)>,
}

impl Shell<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn skip(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
            self.line += text.matches('\n').count();
        }
        found
    }

    /// A backslash before a line's end, which is as if neither were there.
    fn skip_continuation(&mut self) -> bool {
        self.skip("\\\n") || self.skip("\\\r\n")
    }

    /// The next command, up to what ends it; `None` at the text's end.
    fn command(&mut self) -> Result<Option<Command>, BadFile> {
        self.begin = self.at;
        let mut command = Command { begin: self.begin, ..Command::default() };
        if self.peek().is_none() {
            return Ok(None);
        }
        loop {
            while self.skip_continuation() || self.peek().is_some_and(|c| c == ' ' || c == '\t') {
                if matches!(self.peek(), Some(' ' | '\t')) {
                    self.next();
                }
            }
            match self.peek() {
                None => break,
                Some(end @ ('\n' | ';' | '&')) => {
                    self.note_ampersand(&mut command);
                    self.next();
                    if end == '\n' {
                        self.take_heredocs(&mut command)?;
                    }
                    break;
                }
                Some('\r') => {
                    self.next();
                }
                Some('#') => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += end;
                }
                Some('|') => {
                    self.pipe(&mut command);
                    if !self.heredocs.is_empty() && self.skip("\n") {
                        self.take_heredocs(&mut command)?;
                    }
                    break;
                }
                Some('<' | '>') => self.redirection(&mut command)?,
                Some('(' | ')') => {
                    self.next();
                }
                Some(_) => self.push_word(&mut command)?,
            }
        }
        self.note_assignments(&mut command);
        Ok(Some(command))
    }

    /// An `&` inside a URL that nobody quoted cuts it, in a shell as here.
    fn note_ampersand(&self, command: &mut Command) {
        let inside = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && c != '&');
        let before = self.text[..self.at].chars().next_back();
        if self.rest().starts_with('&') && inside(before) && inside(self.rest().chars().nth(1)) {
            let what = "what follows an & that is not quoted: put the URL into quotes";
            command.aside.push(what.to_owned());
        }
    }

    /// What follows a pipe is another program's: it is named and passed over.
    fn pipe(&mut self, command: &mut Command) {
        if self.skip("||") {
            return;
        }
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        let piped = mask_shell(self.rest()[1..end].trim());
        command.aside.push(format!("the pipe | {piped}"));
        self.at += end;
    }

    fn redirection(&mut self, command: &mut Command) -> Result<(), BadFile> {
        let begin = self.at;
        while matches!(self.peek(), Some('<' | '>' | '&' | ' ' | '\t')) {
            self.next();
        }
        let signs = self.text[begin..self.at].trim_end();
        if matches!(signs, "<<" | "<<<") {
            let text = self.open_heredoc(signs, &mut command.aside)?;
            command.stdin = text.or(command.stdin.take());
            return Ok(());
        }
        let (from, line) = (self.at, self.line);
        if self.skip("(") {
            let Some(end) = matching(self.rest()) else { return Err(unended("(", line)) };
            self.line += self.rest()[..end].matches('\n').count();
            self.at += end + 1;
        } else if !matches!(self.peek(), None | Some('\n' | '\r' | ';' | '|')) {
            self.word(&mut command.aside)?;
        }
        let file = mask_shell(self.text[from..self.at].trim_start_matches('('));
        command.aside.push(format!("the redirection {signs} {file}"));
        Ok(())
    }

    /// Reads the texts of what a line opened, which has just ended with `command`.
    fn take_heredocs(&mut self, command: &mut Command) -> Result<(), BadFile> {
        for (begin, opened) in std::mem::take(&mut self.heredocs) {
            let mut aside = Vec::new();
            let text = self.heredoc(&opened, &mut aside)?;
            if begin == command.begin {
                command.stdin = Some(text);
                command.aside.extend(aside);
            } else {
                self.late.push((begin, text, aside));
            }
        }
        Ok(())
    }

    fn push_word(&mut self, command: &mut Command) -> Result<(), BadFile> {
        if command.words.is_empty() {
            command.line = self.line;
        }
        let begin = self.at;
        let word = self.word(&mut command.aside)?;
        // The number before a redirection, as in `2>&1`, belongs to it.
        let digits = self.text[begin..self.at].bytes().all(|byte| byte.is_ascii_digit());
        if digits && matches!(self.peek(), Some('<' | '>')) {
            return Ok(());
        }
        command.words.push(word);
        Ok(())
    }

    /// Variables that a command sets before its name, or alone, or with `export`.
    fn note_assignments(&mut self, command: &mut Command) {
        let exported = command.words.first().is_some_and(|word| word == "export");
        let mut words = std::mem::take(&mut command.words).into_iter().skip(usize::from(exported));
        let mut rest = Vec::new();
        for word in words.by_ref() {
            match word.split_once('=') {
                Some((name, value)) if is_name(name) => {
                    self.variables.insert(name.to_owned(), value.to_owned());
                }
                _ => {
                    rest.push(word);
                    break;
                }
            }
        }
        rest.extend(words);
        command.words = if exported { Vec::new() } else { rest };
    }

    fn word(&mut self, aside: &mut Vec<String>) -> Result<String, BadFile> {
        let begin = self.line;
        let mut word = String::new();
        loop {
            if self.skip_continuation() {
                continue;
            }
            match self.peek() {
                None | Some(' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')') => {
                    break;
                }
                Some('\'') => self.single_quoted(&mut word)?,
                Some('"') => self.double_quoted(&mut word, aside)?,
                Some('$') if self.skip("$'") => self.ansi_quoted(&mut word)?,
                Some('$') if self.rest().starts_with("$\"") => {
                    self.next();
                }
                Some('$' | '`') => self.expansion(&mut word, aside)?,
                Some('\\') => {
                    self.next();
                    if let Some(c) = self.next() {
                        push_plain(&mut word, c);
                    }
                }
                Some(c) => {
                    self.next();
                    push_plain(&mut word, c);
                }
            }
            if word.len() > LONGEST_WORD {
                let most = LONGEST_WORD >> 20;
                return Err(BadFile::at(begin, format!("a word is longer than {most} MiB")));
            }
        }
        Ok(word)
    }

    fn single_quoted(&mut self, word: &mut String) -> Result<(), BadFile> {
        let begin = self.line;
        self.next();
        let Some(end) = self.rest().find('\'') else {
            return Err(unended("'", begin));
        };
        let quoted = self.rest()[..end].to_owned();
        self.line += quoted.matches('\n').count();
        self.at += end + 1;
        push(word, &literal(&quoted));
        Ok(())
    }

    fn double_quoted(&mut self, word: &mut String, aside: &mut Vec<String>) -> Result<(), BadFile> {
        let begin = self.line;
        self.next();
        loop {
            if self.skip_continuation() {
                continue;
            }
            match self.peek() {
                None => return Err(unended("\"", begin)),
                Some('"') => {
                    self.next();
                    return Ok(());
                }
                Some('$' | '`') => self.expansion(word, aside)?,
                Some('\\') => {
                    self.next();
                    match self.peek() {
                        Some(c @ ('$' | '`' | '"' | '\\')) => {
                            self.next();
                            push_plain(word, c);
                        }
                        _ => word.push('\\'),
                    }
                }
                Some(c) => {
                    self.next();
                    push_plain(word, c);
                }
            }
            if word.len() > LONGEST_WORD {
                return Err(unended("\"", begin));
            }
        }
    }

    /// `$NAME`, `${NAME}`, `$(command)` or a command in backquotes.
    fn expansion(&mut self, word: &mut String, aside: &mut Vec<String>) -> Result<(), BadFile> {
        let begin = self.line;
        if self.skip("$(") {
            let Some(end) = matching(self.rest()) else { return Err(unended("$(", begin)) };
            self.output(end, word, aside);
            return Ok(());
        }
        if self.skip("`") {
            let Some(end) = self.rest().find('`') else { return Err(unended("`", begin)) };
            self.output(end, word, aside);
            return Ok(());
        }
        self.next();
        if self.skip("{") {
            let Some(end) = self.rest().find('}') else { return Err(unended("${", begin)) };
            let inside = self.rest()[..end].to_owned();
            self.at += end + 1;
            let length = inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len());
            if length < inside.len() {
                let name = &inside[..length];
                let what = "only ${NAME} is supported";
                aside.push(format!(
                    "what follows {name} in a shell expression ${{{name}...}}: {what}"
                ));
            }
            return self.variable(&inside[..length], word);
        }
        let length = self.rest().find(|c: char| !is_name_char(c)).unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        self.at += length;
        if is_name(&name) {
            self.variable(&name, word)?;
        } else if name.starts_with(|c: char| ('1'..='9').contains(&c)) {
            // An argument of the script: the first digit only.
            self.at -= name.len() - 1;
            self.variable(&name[..1], word)?;
        } else {
            word.push('$');
            word.push_str(&name);
        }
        Ok(())
    }

    fn variable(&mut self, name: &str, word: &mut String) -> Result<(), BadFile> {
        match self.variables.get(name) {
            Some(value) => {
                self.filled += value.len();
                push(word, value);
            }
            None if name.is_empty() => push(word, &env("VALUE")),
            None if !is_name(name) => push(word, &env(&format!("ARG_{name}"))),
            None => push(word, &env(name)),
        }
        if self.filled > MOST_FILLED {
            let most = MOST_FILLED >> 20;
            return Err(BadFile::at(self.line, format!("variables come to more than {most} MiB")));
        }
        Ok(())
    }

    /// Stands in for a command's output, which nobody runs here.
    fn output(&mut self, length: usize, word: &mut String, aside: &mut Vec<String>) {
        let command = mask_shell(self.rest()[..length].trim());
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length + 1;
        self.outputs += 1;
        let name = format!("OUTPUT_{}", self.outputs);
        aside.push(format!("the output of `{command}`; set {name} to it"));
        push(word, &env(&name));
    }
}

fn unended(quote: &str, line: usize) -> BadFile {
    BadFile::at(line, format!("{quote} is opened here and not closed"))
}

/// Bytes up to the bracket that closes what is open before the text.
fn matching(text: &str) -> Option<usize> {
    let mut open = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// A `{` behind a `$` would open a placeholder.
fn push_plain(word: &mut String, c: char) {
    if c == '{' && word.ends_with('$') {
        word.push('$');
    }
    word.push(c);
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(name: &str) -> bool {
    name.chars().all(is_name_char) && name.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        commands(text).unwrap().into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn words_are_cut_as_a_shell_cuts_them() {
        for (text, expected) in [
            ("curl a b", vec![vec!["curl", "a", "b"]]),
            ("curl 'a b'\"c d\"e", vec![vec!["curl", "a bc de"]]),
            ("curl \\\n  -X \\\r\n POST", vec![vec!["curl", "-X", "POST"]]),
            ("curl a\\ b \"x\\\"y\\z\"", vec![vec!["curl", "a b", "x\"y\\z"]]),
            ("curl $'a\\n\\x41\\u00e9\\'\\101\\\\'", vec![vec!["curl", "a\nAé'A\\"]]),
            ("curl $'\\ud83d\\ude00\\ud83d'", vec![vec!["curl", "😀\u{fffd}"]]),
            ("a; b && c & d\ne", vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"], vec!["e"]]),
            ("curl a # b\n# c\ncurl 'it'\\''s'", vec![vec!["curl", "a"], vec!["curl", "it's"]]),
            ("curl http://h/a#b ''", vec![vec!["curl", "http://h/a#b", ""]]),
            ("curl '${x}' \"\\${x}\" a$", vec![vec!["curl", "$${x}", "$${x}", "a$"]]),
            ("curl x 2>&1 >out", vec![vec!["curl", "x"]]),
            ("curl \"a\\\nb\"", vec![vec!["curl", "ab"]]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn variables_are_filled_in_or_asked_for() {
        let split = words("BASE=http://h\nexport T=$BASE/x\ncurl $BASE/a \"${TOKEN}\" '$no' $T");
        assert_eq!(split, [["curl", "http://h/a", "${env.TOKEN}", "$no", "http://h/x"]]);
        assert_eq!(
            words("curl $userId $USER_ID $12 $?")[0][1..],
            ["${env.userId}", "${env.USER_ID}", "${env.ARG_1}2", "$?"]
        );
        let command = &commands("curl -H \"A: $(cat f)\" | jq .").unwrap()[0];
        assert_eq!(command.words[2], "A: ${env.OUTPUT_1}");
        let aside = ["the output of `cat ***`; set OUTPUT_1 to it", "the pipe | jq ***"];
        assert_eq!(command.aside, aside);
    }

    #[test]
    fn texts_for_standard_input_belong_to_their_command() {
        for (text, stdin) in [
            (
                "A=1\ncurl h <<EOF | jq .\nit's $A \\$B `c`\nEOF\ncurl g",
                "it's 1 $B ${env.OUTPUT_1}\n",
            ),
            ("curl h <<-'E F'\n\t$A\n\tE F\ncurl g", "$A\n"),
            ("curl h <<< \"a b\"\ncurl g", "a b\n"),
            ("curl h <<EOF\n{\"a\":\"${b}\"}\nEOF\ncurl g", "{\"a\":\"${env.b}\"}\n"),
            ("curl h <<EOF; curl f\na\nEOF\ncurl g", "a\n"),
            ("curl h <<EOF && curl f\na\nEOF\ncurl g", "a\n"),
            ("curl h <<EOF || exit 1\na\nEOF\ncurl g", "a\n"),
            ("curl h <<EOF & curl f <<F\na\nEOF\nb\nF\ncurl g", "a\n"),
            ("curl h <<E <<F\na\nE\nb\nF\ncurl g", "b\n"),
        ] {
            let commands = commands(text).unwrap();
            assert_eq!(commands[0].stdin.as_deref(), Some(stdin), "{text}");
            let last = commands.last().unwrap();
            assert_eq!((last.words.join(" ").as_str(), &last.stdin), ("curl g", &None), "{text}");
        }
    }

    #[test]
    fn what_is_passed_over_is_named_without_its_credentials() {
        for text in [
            "curl h | curl -H 'Authorization: Bearer CLEAR' g",
            "curl -H \"A: $(curl -u id:CLEAR g)\" h",
            "curl -H \"A: `curl -u id:CLEAR g`\" h",
            "curl -H \"A: ${T:-CLEAR}\" h",
            "curl -d @- h < <(curl -u id:CLEAR g)",
        ] {
            let found = format!("{:?}", commands(text).unwrap());
            assert!(!found.contains("CLEAR") && found.contains("aside: [\""), "{found}");
        }
    }

    #[test]
    fn what_does_not_end_is_reported_with_its_line() {
        for text in ["a\n'b", "a\n\"b", "a\n$'b\\", "a\n$(b", "a\n`b", "a\n${b"] {
            let error = commands(text).unwrap_err();
            assert_eq!(error.line, Some(2), "{text}: {error}");
        }
    }

    #[test]
    fn variables_cannot_grow_without_end() {
        let mut text = "A=xxxxxxxxxx\n".to_owned();
        for _ in 0..40 {
            text += "A=$A$A\n";
        }
        assert!(commands(&text).unwrap_err().what.contains("longer"));
        let text = format!("A={}\n{}", "x".repeat(1 << 20), "curl $A <<< $A\n".repeat(40));
        assert!(commands(&text).unwrap_err().what.contains("more than 64 MiB"));
    }
}
