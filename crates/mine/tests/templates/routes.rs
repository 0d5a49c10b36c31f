//! Labelled routes: `GET /users/{id:int}/orders?page={page:int:40} 900`.

/// A route.
#[derive(Debug, Clone)]
pub struct Route {
    pub method: String,
    /// Method and path with the kinds of its parameters: what makes it one of its own.
    pub text: String,
    pub segments: Vec<Part>,
    pub query: Vec<(String, Part)>,
    pub weight: u64,
}

/// Text, perhaps with a value in it.
#[derive(Debug, Clone)]
pub struct Part {
    pub before: String,
    pub value: Option<Value>,
    pub after: String,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Value {
    pub name: String,
    pub kind: String,
    /// What stands behind the kind: a count, or words.
    pub more: String,
}

impl Part {
    /// Whether it is text alone.
    pub fn is_fixed(&self) -> bool {
        self.value.is_none()
    }

    fn parse(text: &str) -> Self {
        let Some((before, rest)) = text.split_once('{') else {
            return Self { before: text.to_owned(), value: None, after: String::new() };
        };
        let (inside, after) = rest.split_once('}').unwrap();
        let mut parts = inside.splitn(3, ':');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        let value = Value { name: next(), kind: next(), more: next() };
        Self { before: before.to_owned(), value: Some(value), after: after.to_owned() }
    }
}

/// The routes of a file.
pub fn parse(text: &str) -> Vec<Route> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(route).collect()
}

fn route(line: &str) -> Route {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [method, target, weight] = words[..] else { panic!("{line}") };
    let (path, query) = split_query(target);
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), Part::parse(value))
    };
    Route {
        method: method.to_owned(),
        text: format!("{method} {path}"),
        segments: path.trim_start_matches('/').split('/').map(Part::parse).collect(),
        query: query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect(),
        weight: weight.parse().unwrap_or_else(|_| panic!("{line}")),
    }
}

/// Path and query, parted at the first question mark outside of braces.
fn split_query(target: &str) -> (&str, &str) {
    let mut inside = false;
    for (at, c) in target.char_indices() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            '?' if !inside => return (&target[..at], &target[at + 1..]),
            _ => {}
        }
    }
    (target, "")
}
