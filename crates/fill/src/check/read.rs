//! Parses tokens to an expression, by recursive descent. It accepts the spellings of PostgreSQL, MySQL and SQLite at
//! once; which operator binds more is a matter of the database.

use super::token::{Token, tokens};
use super::{Expr, Function, Logic, Pattern, Relation};
use crate::schema::Dialect;

/// Nested brackets at most.
const DEEPEST: usize = 60;

/// Reads a condition. `column` knows the table's columns by name.
pub fn read(text: &str, dialect: Dialect, column: &dyn Fn(&str) -> Option<usize>) -> Expr {
    let Some(tokens) = tokens(text, dialect == Dialect::Mysql) else { return Expr::Unknown };
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, dialect, column };
    let read = reader.either();
    let whole = reader.at == tokens.len();
    read.filter(|_| whole).unwrap_or(Expr::Unknown)
}

/// How much operators that compare bind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Less than the others.
    Loose,
    /// More than those.
    Tight,
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    dialect: Dialect,
    column: &'a dyn Fn(&str) -> Option<usize>,
}

impl Reader<'_> {
    fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Name(name, false))
            if name.eq_ignore_ascii_case(word))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(0, word);
        self.at += usize::from(found);
        found
    }

    fn mark(&mut self, mark: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some(Token::Mark(next)) if *next == mark);
        self.at += usize::from(found);
        found
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    fn mysql(&self) -> bool {
        self.dialect == Dialect::Mysql
    }

    fn either(&mut self) -> Option<Expr> {
        self.deeper()?;
        let mut parts = vec![self.both()?];
        while self.word("or") || (self.mysql() && self.mark("||")) {
            parts.push(self.both()?);
        }
        self.depth -= 1;
        Some(joined(Logic::Or, parts))
    }

    fn both(&mut self) -> Option<Expr> {
        let mut parts = vec![self.negated()?];
        while self.word("and") || (self.mysql() && self.mark("&&")) {
            parts.push(self.negated()?);
        }
        Some(joined(Logic::And, parts))
    }

    fn negated(&mut self) -> Option<Expr> {
        if self.word("not") {
            self.deeper()?;
            let inner = self.negated()?;
            self.depth -= 1;
            return Some(Expr::Not(Box::new(inner)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Option<Expr> {
        self.level(Level::Loose)
    }

    /// Operators of a level, from left to right: MariaDB prints `(a IS NULL) <> (b IS NULL)` without the first brackets.
    fn level(&mut self, level: Level) -> Option<Expr> {
        let mut left = self.operand(level)?;
        for _ in 0..DEEPEST {
            let not = self.is_word(0, "not");
            let operator = self.tokens.get(self.at + usize::from(not));
            if operator.and_then(|operator| self.level_of(operator)) != Some(level) {
                return Some(left);
            }
            self.at += usize::from(not);
            let found = match operator {
                Some(Token::Mark(mark)) => self.by_mark(left, mark, level),
                Some(Token::Name(name, _)) => self.by_word(left, &name.to_ascii_lowercase(), level),
                _ => None,
            }?;
            left = if not { Expr::Not(Box::new(found)) } else { found };
        }
        None
    }

    /// What stands on both sides of the operators of a level.
    fn operand(&mut self, level: Level) -> Option<Expr> {
        match level {
            Level::Loose => self.level(Level::Tight),
            Level::Tight => self.sum(),
        }
    }

    /// The level of an operator; none where it compares nothing. In SQLite `<` binds more than `=` and LIKE
    /// (lang_expr.html), in the grammars of the others LIKE, IN and BETWEEN bind more than `=` and `<`.
    fn level_of(&self, operator: &Token) -> Option<Level> {
        let lite = self.dialect == Dialect::Sqlite;
        let (ordered, matching) = match lite {
            true => (Level::Tight, Level::Loose),
            false => (Level::Loose, Level::Tight),
        };
        match operator {
            Token::Mark("<" | "<=" | ">" | ">=") => Some(ordered),
            Token::Mark("=" | "==" | "<>" | "!=") => Some(Level::Loose),
            Token::Mark("~~" | "~~*" | "!~~" | "!~~*" | "~" | "~*" | "!~" | "!~*") => {
                Some(Level::Tight)
            }
            Token::Name(name, false) => match name.to_ascii_lowercase().as_str() {
                "is" => Some(Level::Loose),
                "in" | "between" | "like" | "ilike" | "glob" | "regexp" | "rlike" => Some(matching),
                _ => None,
            },
            _ => None,
        }
    }

    fn by_mark(&mut self, left: Expr, mark: &str, level: Level) -> Option<Expr> {
        let relation = match mark {
            "=" | "==" => Relation::Equal,
            "<>" | "!=" => Relation::Different,
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            ">" => Relation::More,
            ">=" => Relation::AtLeast,
            "~~" | "~~*" | "!~~" | "!~~*" => {
                self.at += 1;
                let like = self.like(left, level, !mark.ends_with('*'))?;
                return Some(if mark.starts_with('!') { Expr::Not(Box::new(like)) } else { like });
            }
            "~" | "~*" | "!~" | "!~*" => {
                self.at += 1;
                let found = self.matches(left, level, !mark.ends_with('*'))?;
                return Some(if mark.starts_with('!') { negated(found) } else { found });
            }
            _ => return Some(left),
        };
        self.at += 1;
        let every = self.is_word(0, "all");
        if every || self.is_word(0, "any") {
            self.at += 1;
            let list = self.array()?;
            let found = Expr::In(Box::new(left), list);
            return Some(match (relation, every) {
                (Relation::Equal, false) => found,
                (Relation::Different, true) => Expr::Not(Box::new(found)),
                _ => Expr::Unknown,
            });
        }
        let right = self.operand(level)?;
        Some(Expr::Compare(relation, Box::new(left), Box::new(right)))
    }

    fn by_word(&mut self, left: Expr, word: &str, level: Level) -> Option<Expr> {
        match word {
            "is" => {
                self.at += 1;
                let not = self.word("not");
                let found = if self.word("null") {
                    Expr::IsNull(Box::new(left))
                } else if self.word("true") {
                    left
                } else if self.word("false") {
                    Expr::Not(Box::new(left))
                } else {
                    return None;
                };
                Some(if not { Expr::Not(Box::new(found)) } else { found })
            }
            "in" => {
                self.at += 1;
                self.mark("(").then_some(())?;
                Some(Expr::In(Box::new(left), self.list(")")?))
            }
            "between" => {
                self.at += 1;
                let low = self.operand(level)?;
                self.word("and").then_some(())?;
                let high = self.operand(level)?;
                let from = Expr::Compare(Relation::AtLeast, Box::new(left.clone()), Box::new(low));
                let to = Expr::Compare(Relation::AtMost, Box::new(left), Box::new(high));
                Some(Expr::Logic(Logic::And, vec![from, to]))
            }
            "like" | "ilike" => {
                self.at += 1;
                self.like(left, level, word == "like")
            }
            "glob" => {
                self.at += 1;
                Some(match self.operand(level)? {
                    Expr::Text(pattern) if !pattern.contains(['%', '_', '[']) => {
                        let pattern = pattern.replace('*', "%").replace('?', "_");
                        Expr::Like(Box::new(left), pattern, true)
                    }
                    Expr::Text(glob) => Pattern::of_glob(&glob)
                        .map_or(Expr::Unknown, |pattern| Expr::Matches(Box::new(left), pattern)),
                    _ => Expr::Unknown,
                })
            }
            "regexp" | "rlike" => {
                self.at += 1;
                // Most collations of MySQL's fold case; what it means in SQLite is up to who defines it.
                let found = self.matches(left, level, false)?;
                Some(if self.mysql() { found } else { Expr::Unknown })
            }
            _ => Some(left),
        }
    }

    fn like(&mut self, left: Expr, level: Level, exact: bool) -> Option<Expr> {
        let lite = self.dialect == Dialect::Sqlite;
        Some(match self.operand(level)? {
            // With escapes it means something else than it says.
            Expr::Text(pattern) if lite || !pattern.contains('\\') => {
                Expr::Like(Box::new(left), pattern, exact)
            }
            _ => Expr::Unknown,
        })
    }

    /// A regular expression.
    fn matches(&mut self, left: Expr, level: Level, exact: bool) -> Option<Expr> {
        let right = self.operand(level)?;
        let pattern = match &right {
            Expr::Text(text) => Pattern::read(text, exact),
            _ => None,
        };
        Some(pattern.map_or(Expr::Unknown, |pattern| Expr::Matches(Box::new(left), pattern)))
    }

    /// `(ARRAY['a'::text, 'b'::text])`, in as many brackets as it stands in, with the casts behind them.
    fn array(&mut self) -> Option<Vec<Expr>> {
        let mut brackets = 0;
        while self.mark("(") {
            brackets += 1;
        }
        self.word("array").then_some(())?;
        self.mark("[").then_some(())?;
        let list = self.list("]")?;
        self.casts()?;
        for _ in 0..brackets {
            self.mark(")").then_some(())?;
            self.casts()?;
        }
        Some(list)
    }

    fn list(&mut self, end: &str) -> Option<Vec<Expr>> {
        let mut list = Vec::new();
        if self.mark(end) {
            return Some(list);
        }
        loop {
            list.push(self.either()?);
            if self.mark(end) {
                return Some(list);
            }
            self.mark(",").then_some(())?;
        }
    }

    fn sum(&mut self) -> Option<Expr> {
        let mut left = self.product()?;
        loop {
            let sign = if self.mark("+") {
                '+'
            } else if self.mark("-") {
                '-'
            } else if !self.mysql() && self.mark("||") {
                // Texts that are joined: whatever binds more, what they come to is not known here.
                self.product()?;
                left = Expr::Unknown;
                continue;
            } else {
                return Some(left);
            };
            left = Expr::Arithmetic(sign, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<Expr> {
        let mut left = self.factor()?;
        loop {
            let sign = if self.mark("*") {
                '*'
            } else if self.mark("/") {
                '/'
            } else if self.mark("%") || self.word("mod") {
                '%'
            } else {
                return Some(left);
            };
            left = Expr::Arithmetic(sign, Box::new(left), Box::new(self.factor()?));
        }
    }

    fn factor(&mut self) -> Option<Expr> {
        if self.mark("-") {
            self.deeper()?;
            let inner = self.factor()?;
            self.depth -= 1;
            return Some(match inner {
                Expr::Number(number) => Expr::Number(-number),
                other => {
                    let zero = Box::new(Expr::Number(0.0));
                    Expr::Arithmetic('-', zero, Box::new(other))
                }
            });
        }
        let found = self.primary()?;
        self.casts()?;
        Some(found)
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        match token {
            Token::Number(number) => Some(Expr::Number(number)),
            Token::Text(text) => Some(Expr::Text(text)),
            Token::Mark("(") => {
                let inner = self.either()?;
                self.mark(")").then_some(inner)
            }
            Token::Mark(_) => None,
            Token::Name(name, quoted) => self.named(&name, quoted),
        }
    }

    fn named(&mut self, name: &str, quoted: bool) -> Option<Expr> {
        let small = name.to_ascii_lowercase();
        if !quoted && self.mark("(") {
            if small == "cast" {
                let inner = self.either()?;
                self.word("as").then_some(())?;
                self.type_name()?;
                return self.mark(")").then_some(inner);
            }
            let mut arguments = self.list(")")?;
            let function = match small.as_str() {
                "length" | "char_length" | "character_length" => Function::Length,
                "lower" | "lcase" => Function::Lower,
                "upper" | "ucase" => Function::Upper,
                "trim" | "btrim" => Function::Trim,
                "abs" => Function::Abs,
                _ => return Some(Expr::Unknown),
            };
            let only = arguments.pop().filter(|_| arguments.is_empty());
            return Some(only.map_or(Expr::Unknown, |of| Expr::Call(function, Box::new(of))));
        }
        if let Some(column) = (self.column)(name) {
            return Some(Expr::Column(column));
        }
        // `users.age`
        if self.mark(".") {
            let Some(Token::Name(name, quoted)) = self.tokens.get(self.at).cloned() else {
                return None;
            };
            self.at += 1;
            return self.named(&name, quoted);
        }
        Some(match small.as_str() {
            // SQLite takes what names nothing for a text.
            _ if quoted => Expr::Text(name.to_owned()),
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            "null" => Expr::Null,
            // `DATE '2020-01-01'`
            "date" | "timestamp" | "time" => self.primary()?,
            _ => Expr::Unknown,
        })
    }

    /// `::character varying(10)[]`, any number of times.
    fn casts(&mut self) -> Option<()> {
        while self.mark("::") {
            self.type_name()?;
        }
        Some(())
    }

    fn type_name(&mut self) -> Option<()> {
        matches!(self.tokens.get(self.at)?, Token::Name(..)).then_some(())?;
        self.at += 1;
        while self.mark(".") {
            self.at += 1;
        }
        loop {
            if self.mark("(") {
                self.list(")")?;
            } else if self.mark("[") {
                self.mark("]").then_some(())?;
            } else if !["varying", "precision", "without", "with", "time", "zone"]
                .into_iter()
                .any(|word| self.word(word))
            {
                return Some(());
            }
        }
    }
}

fn negated(expr: Expr) -> Expr {
    Expr::Not(Box::new(expr))
}

fn joined(logic: Logic, mut parts: Vec<Expr>) -> Expr {
    match parts.len() {
        1 => parts.remove(0),
        _ => Expr::Logic(logic, parts),
    }
}
