//! The routes of the admin API, and who may use them.

use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::rejection::StringRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use model::quote::plain;
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::json;

use super::{metrics, views};
use crate::config::{Bytes as Size, LONGEST, RateText, in_words};
use crate::gateway::{Control, GatewayError, Reloaded};
use crate::keys::{NewKey, StoreError};
use crate::path::bearer;

/// By whom changes are made, in the log of changes.
const BY: &str = "admin API";
/// Rows of a list, unless fewer are asked for.
const ROWS: u32 = 1000;
/// Longest text of an error that the framework writes.
const WORDS_MAX: usize = 64 * 1024;
/// Characters of a path's number that are repeated.
const SHOWN: usize = 40;

const PAGE: &str = include_str!("../../assets/usage.html");
/// The page's own script and style run, and it talks to its own address alone.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Shared = State<Arc<Control>>;

/// All routes. The page holds no figures, so it alone needs no token.
pub(super) fn routes(control: Arc<Control>) -> Router {
    let configuration = get(config).put(put_config).layer(DefaultBodyLimit::max(LONGEST));
    let guarded = Router::new()
        .route("/v1/state", get(state))
        .route("/v1/keys", get(keys).post(add_key))
        .route("/v1/keys/{id}", delete(revoke_key))
        .route("/v1/keys/{id}/rotate", post(rotate_key))
        .route("/v1/config", configuration)
        .route("/v1/reload", post(reload))
        .route("/v1/changes", get(changes))
        .route("/metrics", get(metrics))
        .layer(middleware::from_fn_with_state(Arc::clone(&control), guard));
    Router::new()
        .route("/", get(page))
        .merge(guarded)
        .layer(middleware::map_response(as_problem))
        .layer(middleware::map_response(closed))
        .with_state(control)
}

/// Lets pass who has the token. A browser sends it only from the page itself, so other sites can do nothing here.
async fn guard(State(control): Shared, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    match given.and_then(|value| bearer(value.as_bytes())) {
        Some(token) if control.is_token(token) => next.run(request).await,
        _ => {
            let problem = problem(
                StatusCode::UNAUTHORIZED,
                "the admin API asks for its token: Authorization: Bearer TOKEN",
            );
            ([(header::WWW_AUTHENTICATE, "Bearer")], problem).into_response()
        }
    }
}

/// Turns what the framework refuses, in its own words or without any, into a problem.
async fn as_problem(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || kind.is_some_and(|kind| kind == PROBLEM) {
        return response;
    }
    match status {
        StatusCode::NOT_FOUND => problem(status, "the admin API has no such path"),
        // The framework adds the header once this is done.
        StatusCode::METHOD_NOT_ALLOWED => {
            problem(status, "the header Allow names the methods of this path")
        }
        _ => {
            let words = to_bytes(response.into_body(), WORDS_MAX).await.unwrap_or_default();
            problem(status, &String::from_utf8_lossy(&words))
        }
    }
}

async fn closed(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn page() -> Html<&'static str> {
    Html(PAGE)
}

/// The parameters of a route that has none: a mistaken one is refused, not ignored.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn state(State(control): Shared, _: Query<Nothing>) -> Json<views::StateView> {
    Json(views::state(&control))
}

async fn metrics(State(control): Shared) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, metrics::text(&control)).into_response()
}

async fn config(State(control): Shared, _: Query<Nothing>) -> String {
    control.text()
}

async fn put_config(
    State(control): Shared,
    _: Query<Nothing>,
    text: Result<String, StringRejection>,
) -> Response {
    let text = match text {
        Ok(text) => text,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let detail = format!("a configuration has at most {LONGEST} bytes");
            return problem(StatusCode::PAYLOAD_TOO_LARGE, &detail);
        }
        Err(rejection) => return rejection.into_response(),
    };
    if text.trim().is_empty() {
        return problem(StatusCode::UNPROCESSABLE_ENTITY, "an empty configuration holds nothing");
    }
    reloaded(control.replace(&text, BY))
}

async fn reload(State(control): Shared, _: Query<Nothing>) -> Response {
    reloaded(control.reload(BY))
}

/// What a list is of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    /// After this number.
    #[serde(default)]
    after: u64,
}

async fn keys(State(control): Shared, Query(page): Query<Page>) -> Response {
    match control.with_store(|store| store.keys_after(page.after, ROWS)) {
        Ok(keys) => {
            let keys: Vec<_> = keys.iter().map(views::key).collect();
            Json(json!({ "keys": keys })).into_response()
        }
        Err(error) => failed(&GatewayError::Store(error)),
    }
}

async fn changes(State(control): Shared, Query(page): Query<Page>) -> Response {
    match control.with_store(|store| store.changes_after(page.after, ROWS)) {
        Ok(changes) => {
            let changes: Vec<_> = changes.iter().map(views::change).collect();
            Json(json!({ "changes": changes })).into_response()
        }
        Err(error) => failed(&GatewayError::Store(error)),
    }
}

/// A key as it is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    owner: String,
    tier: String,
    routes: Vec<String>,
    rate: Option<RateText>,
    burst: Option<u32>,
    concurrency: Option<u32>,
    per_day: Option<u64>,
    per_month: Option<u64>,
    body: Option<Size>,
    expires_s: i64,
}

/// Reads an object of JSON. From an array serde would take the members in their order.
fn read_wanted(body: &[u8]) -> Result<Wanted, (StatusCode, String)> {
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err((
            StatusCode::UNPROCESSABLE_ENTITY,
            "a key is asked for by a JSON object, such as {\"owner\": \"bo\", \"rate\": \"100/s\"}"
                .to_owned(),
        ));
    }
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => {
            (StatusCode::UNPROCESSABLE_ENTITY, in_words(&error.to_string(), "an object"))
        }
        _ => (StatusCode::BAD_REQUEST, format!("this is not JSON: {error}")),
    })
}

/// Whatever the content type: a browser sends no token by itself, so none of them is more dangerous than another.
async fn add_key(State(control): Shared, _: Query<Nothing>, body: Bytes) -> Response {
    let wanted = match read_wanted(&body) {
        Ok(wanted) => wanted,
        Err((status, why)) => return problem(status, &why),
    };
    let rate = match RateText::limit(wanted.rate, wanted.burst) {
        Ok(rate) => rate,
        Err(why) => return problem(StatusCode::UNPROCESSABLE_ENTITY, why),
    };
    let new = NewKey {
        owner: wanted.owner,
        tier: wanted.tier,
        routes: wanted.routes,
        rate,
        at_once: wanted.concurrency,
        day_quota: wanted.per_day,
        month_quota: wanted.per_month,
        body_max_bytes: wanted.body.map(|body| body.0),
        expires_s: wanted.expires_s,
    };
    made(control.add_key(&new, BY))
}

/// The number of a key, of the path.
fn key_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        format!(
            "`{}` is not the number of a key: GET /v1/keys lists keys with their `id`",
            plain(text, SHOWN)
        )
    })
}

async fn revoke_key(State(control): Shared, Path(id): Path<String>, _: Query<Nothing>) -> Response {
    match key_number(&id) {
        Ok(id) => done(control.revoke_key(id, BY)),
        Err(why) => problem(StatusCode::BAD_REQUEST, &why),
    }
}

/// How a key is rotated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rotation {
    /// Seconds for which the old key is valid beside the new one.
    #[serde(default)]
    grace_s: u32,
}

async fn rotate_key(
    State(control): Shared,
    Path(id): Path<String>,
    Query(rotation): Query<Rotation>,
) -> Response {
    match key_number(&id) {
        Ok(id) => made(control.rotate_key(id, rotation.grace_s, BY)),
        Err(why) => problem(StatusCode::BAD_REQUEST, &why),
    }
}

fn made(made: Result<(String, u64), GatewayError>) -> Response {
    match made {
        Ok((key, id)) => {
            (StatusCode::CREATED, Json(json!({ "id": id, "key": key }))).into_response()
        }
        Err(error) => failed(&error),
    }
}

fn reloaded(reloaded: Result<Reloaded, GatewayError>) -> Response {
    match reloaded {
        Ok(reloaded) => Json(reloaded).into_response(),
        Err(error) => failed(&error),
    }
}

fn done(done: Result<(), GatewayError>) -> Response {
    match done {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &GatewayError) -> Response {
    let status = match error {
        GatewayError::Store(StoreError::NoSuchKey(_)) => StatusCode::NOT_FOUND,
        GatewayError::Store(StoreError::Wrong(_)) => StatusCode::UNPROCESSABLE_ENTITY,
        // A file that the configuration names is as wrong as what it says.
        GatewayError::File(_) | GatewayError::Named { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        error if error.is_usage() => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    problem(status, &error.to_string())
}

/// The kind of a problem.
const PROBLEM: &str = "application/problem+json";

/// A JSON problem (RFC 9457).
fn problem(status: StatusCode, detail: &str) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    let body = json!({ "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail });
    let kind = [(header::CONTENT_TYPE, PROBLEM)];
    (status, kind, body.to_string()).into_response()
}
