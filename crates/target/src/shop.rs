//! A small shop: an API with a login, a list and details, for loads that are sessions.
//!
//! Owns the responses of its paths. Nothing is stored: the items are always the same, a token is worked
//! out from the user's name, and what is ordered is confirmed and forgotten. So every thread gives the
//! same responses, and a load of writes fills nothing.

use serde::Deserialize;
use sha2::{Digest, Sha256};
use wire::{Framing, RequestHead};

use crate::query::{pairs, whole};
use crate::response::{self, JSON, ResponseMode};

/// Every user's password.
const PASSWORD: &str = "secret";
/// The cookie that a login sets.
const COOKIE: &str = "session";
/// Items that there are, numbered from 1.
const ITEMS: u64 = 1_000;
/// Items on a page of the list.
const PAGE: u64 = 10;
/// The most bytes that a body has.
const MAX_BODY: usize = 16 * 1024;
/// The most characters of a user's name.
const LONGEST_USER: usize = 64;

/// A request to the shop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    action: Action,
    body: Vec<u8>,
    too_long: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Login,
    List {
        page: u64,
    },
    Detail(u64),
    Order,
    /// Without a token that this server issued.
    Unknown,
    /// The page or item does not exist.
    Nothing,
    /// Sent with a method that the path does not have; holds those it has.
    Otherwise(&'static str),
}

/// The members of a login's body.
#[derive(Debug, Deserialize)]
struct Credentials {
    user: String,
    password: String,
}

/// The members of an order's body; others are ignored.
#[derive(Debug, Deserialize)]
struct Order {
    item: u64,
    #[serde(default = "one")]
    quantity: u64,
}

fn one() -> u64 {
    1
}

/// A request for `/login`.
pub(crate) fn login(head: &RequestHead<'_>) -> Visit {
    let action = if head.method == "POST" { Action::Login } else { Action::Otherwise("POST") };
    Visit::new(action, head)
}

/// A request for `/items` or `/items/{id}`; tokens are those that `seed` makes.
pub(crate) fn items(head: &RequestHead<'_>, id: Option<&str>, seed: u64) -> Visit {
    let known = token_of(head).is_some_and(|token| is_ours(token, seed));
    let action = match (known, head.method, id) {
        (false, ..) => Action::Unknown,
        (true, "GET" | "HEAD", None) => page(head.query),
        (true, "GET" | "HEAD", Some(id)) => {
            whole("id", id, 1, ITEMS).map_or(Action::Nothing, Action::Detail)
        }
        (true, "POST", None) => Action::Order,
        (true, _, None) => Action::Otherwise("GET, HEAD, POST"),
        (true, ..) => Action::Otherwise("GET, HEAD"),
    };
    Visit::new(action, head)
}

fn page(query: Option<&str>) -> Action {
    let given = pairs(query).find(|(name, _)| *name == "page").map_or("1", |(_, value)| value);
    whole("page", given, 1, ITEMS / PAGE).map_or(Action::Nothing, |page| Action::List { page })
}

/// The token of a request: out of `Authorization`, else out of the cookie.
fn token_of<'a>(head: &'a RequestHead<'_>) -> Option<&'a str> {
    let text = |name| head.headers.get(name).and_then(|value| str::from_utf8(value).ok());
    if let Some(given) = text("authorization") {
        return given.strip_prefix("Bearer ");
    }
    let cookies = text("cookie")?.split(';').filter_map(|pair| pair.trim().split_once('='));
    cookies.into_iter().find(|(name, _)| *name == COOKIE).map(|(_, token)| token)
}

/// `USER.MAC`: enough to recognise a token that a login made. It protects nothing.
fn token(user: &str, seed: u64) -> String {
    let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(user).finalize();
    let mac: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{user}.{mac}")
}

fn is_ours(given: &str, seed: u64) -> bool {
    given.rsplit_once('.').is_some_and(|(user, _)| token(user, seed) == given)
}

/// Whether it can be a user's name: it is sent back in a header field.
fn is_name(user: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@._-".contains(&byte);
    (1..=LONGEST_USER).contains(&user.len()) && user.bytes().all(plain)
}

impl Visit {
    fn new(action: Action, head: &RequestHead<'_>) -> Self {
        let too_long = matches!(head.framing, Framing::Length(bytes) if bytes > MAX_BODY as u64);
        Self { action, body: Vec::new(), too_long }
    }

    /// Takes a part of the body; bytes beyond the limit are dropped, which the response reports.
    pub(crate) fn body(&mut self, bytes: &[u8]) {
        self.too_long |= self.body.len() + bytes.len() > MAX_BODY;
        if !self.too_long {
            self.body.extend_from_slice(bytes);
        }
    }

    /// Appends the response.
    pub(crate) fn respond(&self, out: &mut Vec<u8>, seed: u64, mode: ResponseMode) {
        if self.too_long {
            let message = format!("a body has up to {MAX_BODY} bytes here");
            return response::error(out, 413, &message, mode);
        }
        match self.action {
            Action::Login => self.log_in(out, seed, mode),
            Action::List { page } => response::whole(out, 200, JSON, list(page).as_bytes(), mode),
            Action::Detail(id) => response::whole(out, 200, JSON, detail(id).as_bytes(), mode),
            Action::Order => self.order(out, mode),
            Action::Unknown => {
                let challenge = [("WWW-Authenticate", "Bearer")];
                let message = "log in at POST /login and send its token as Authorization: Bearer";
                response::error_with(out, 401, &challenge, message, mode);
            }
            Action::Nothing => {
                let pages = ITEMS / PAGE;
                let message = format!("there are items 1 to {ITEMS} on pages 1 to {pages}");
                response::error(out, 404, &message, mode);
            }
            Action::Otherwise(allowed) => {
                let message = format!("this path takes {allowed}");
                response::error_with(out, 405, &[("Allow", allowed)], &message, mode);
            }
        }
    }

    fn log_in(&self, out: &mut Vec<u8>, seed: u64, mode: ResponseMode) {
        let Ok(Credentials { user, password }) = serde_json::from_slice(&self.body) else {
            let message = "a login is {\"user\":\"ada\",\"password\":\"secret\"}";
            return response::error(out, 400, message, mode);
        };
        if password != PASSWORD || !is_name(&user) {
            let message = format!(
                "any user of up to {LONGEST_USER} letters, digits and @._- has the password {PASSWORD}"
            );
            return response::error(out, 401, &message, mode);
        }
        let token = token(&user, seed);
        let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly");
        let body = format!("{{\"user\":\"{user}\",\"token\":\"{token}\"}}");
        response::whole_with(out, 200, JSON, &[("Set-Cookie", &cookie)], body.as_bytes(), mode);
    }

    fn order(&self, out: &mut Vec<u8>, mode: ResponseMode) {
        match serde_json::from_slice(&self.body) {
            Ok(Order { item: item @ 1..=ITEMS, quantity }) => {
                let body =
                    format!("{{\"item\":{item},\"quantity\":{quantity},\"status\":\"taken\"}}");
                response::whole(out, 201, JSON, body.as_bytes(), mode);
            }
            _ => {
                let message =
                    format!("an order is {{\"item\":7,\"quantity\":2}}, items 1 to {ITEMS}");
                response::error(out, 400, &message, mode);
            }
        }
    }
}

fn list(page: u64) -> String {
    let first = (page - 1) * PAGE + 1;
    let items: Vec<String> =
        (first..first + PAGE).map(|id| format!("{{\"id\":{id},\"name\":\"item {id}\"}}")).collect();
    let next = if page < ITEMS / PAGE { (page + 1).to_string() } else { "null".to_owned() };
    format!("{{\"page\":{page},\"next\":{next},\"items\":[{}]}}", items.join(","))
}

fn detail(id: u64) -> String {
    let (price, stock) = (100 + id * 37 % 9_900, id * 7 % 50);
    format!("{{\"id\":{id},\"name\":\"item {id}\",\"price_cents\":{price},\"stock\":{stock}}}")
}

#[cfg(test)]
mod tests {
    use wire::{Limits, RequestEvent, RequestParser};

    use super::*;
    use crate::response::Keep;

    const SEED: u64 = 5;

    /// The response to a request, head and body.
    fn fetch(line: &str, fields: &str, body: &str) -> String {
        let length = body.len();
        let request =
            format!("{line} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n{fields}\r\n");
        let mut parser = RequestParser::new(Limits::default());
        let mut bytes = request.as_bytes();
        let Ok(Some(RequestEvent::Head(head))) = parser.next(&mut bytes) else { panic!("{line}") };
        let id = head.path.strip_prefix("/items/");
        let mut visit = match head.path {
            "/login" => login(&head),
            _ => items(&head, id, SEED),
        };
        visit.body(body.as_bytes());
        let mut out = Vec::new();
        visit.respond(&mut out, SEED, ResponseMode { keep: Keep::Implicit, head_only: false });
        String::from_utf8(out).unwrap()
    }

    fn log_in(user: &str) -> String {
        let body = format!("{{\"user\":\"{user}\",\"password\":\"secret\"}}");
        let response = fetch("POST /login", "", &body);
        let token = response.rsplit("\"token\":\"").next().unwrap().trim_end_matches("\"}");
        assert!(response.contains(&format!("Set-Cookie: session={token}; Path=/")), "{response}");
        token.to_owned()
    }

    #[test]
    fn a_session_goes_from_login_over_list_to_detail() {
        let bearer = format!("Authorization: Bearer {}\r\n", log_in("ada"));
        let first = fetch("GET /items", &bearer, "");
        assert!(first.contains("{\"page\":1,\"next\":2,\"items\":[{\"id\":1,"), "{first}");
        let last = fetch("GET /items?page=100", &bearer, "");
        assert!(last.contains("\"next\":null") && last.contains("{\"id\":1000,"), "{last}");
        let cookie = format!("Cookie: a=b; session={}\r\n", log_in("bob"));
        assert!(fetch("GET /items/7", &cookie, "").contains("{\"id\":7,\"name\":\"item 7\""));
        let order = fetch("POST /items", &cookie, "{\"item\":7,\"quantity\":2,\"note\":1}");
        assert!(order.starts_with("HTTP/1.1 201 ") && order.contains("\"quantity\":2"), "{order}");
    }

    #[test]
    fn every_response_is_json() {
        for body in [list(1), list(100), detail(1), detail(1000)] {
            serde_json::from_str::<serde_json::Value>(&body).unwrap();
        }
    }

    #[test]
    fn what_is_wrong_has_its_status() {
        let bearer = format!("Authorization: Bearer {}\r\n", log_in("ada"));
        let forged = format!("Authorization: Bearer eve{}\r\n", &log_in("ada")[3..]);
        let long = " ".repeat(MAX_BODY + 1);
        for (line, fields, body, status) in [
            ("GET /items", "", "", 401),
            ("GET /items", &*forged, "", 401),
            ("GET /items", "Cookie: session=\r\n", "", 401),
            ("GET /items?page=101", &*bearer, "", 404),
            ("GET /items?page=x", &*bearer, "", 404),
            ("GET /items/0", &*bearer, "", 404),
            ("DELETE /items/1", &*bearer, "", 405),
            ("PUT /items", &*bearer, "", 405),
            ("POST /items", &*bearer, "{\"item\":0}", 400),
            ("GET /login", "", "", 405),
            ("POST /login", "", "user=ada", 400),
            ("POST /login", "", "{\"user\":\"ada\",\"password\":\"guess\"}", 401),
            ("POST /login", "", "{\"user\":\"a\\r\\nb\",\"password\":\"secret\"}", 401),
            ("POST /login", "", &*long, 413),
        ] {
            let response = fetch(line, fields, body);
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {response}");
            let json = response.split("\r\n\r\n").nth(1).unwrap();
            assert!(serde_json::from_str::<serde_json::Value>(json).unwrap()["error"].is_string());
        }
    }

    #[test]
    fn a_token_is_good_on_every_server_of_the_same_seed_only() {
        assert!(is_ours(&token("a.b@c", 1), 1) && !is_ours(&token("a.b@c", 1), 2));
        assert_ne!(token("ada", 1), token("bob", 1));
    }
}
