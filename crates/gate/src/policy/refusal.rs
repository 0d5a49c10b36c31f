//! What a request is refused with.

use std::io::Write;

use super::NONE;

/// A refusal, to be answered as a JSON problem (RFC 9457).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refusal {
    /// What is wrong.
    pub problem: Problem,
    /// For the header `Retry-After`.
    pub retry_after_s: Option<u32>,
    /// For the headers `RateLimit` and `RateLimit-Policy`.
    pub limit: Option<RateLimit>,
    /// The slot of the key, for the access log; [`NONE`] where none is known.
    pub key: u32,
    /// The number of the route, likewise.
    pub route: u32,
}

impl Refusal {
    /// A refusal without headers of its own.
    pub const fn of(problem: Problem) -> Self {
        Self { problem, retry_after_s: None, limit: None, key: NONE, route: NONE }
    }

    /// The status of the response.
    pub const fn status(&self) -> u16 {
        self.problem.status()
    }
}

/// Why a request is refused. The order is that of [`PROBLEMS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Problem {
    /// 401: no key.
    KeyMissing,
    /// 403: a key that does not exist, was revoked or has expired; the client is not told which.
    KeyUnknown,
    /// 403: a key that is not for this route.
    KeyNotForRoute,
    /// 404: no route takes it.
    NoRoute,
    /// 405: routes take the path, but not the method.
    MethodNotAllowed,
    /// 413: the body is longer than allowed.
    BodyTooLarge,
    /// 429: more requests in a time than the key, its tier, the route or the address may make.
    RateLimited,
    /// 429: the quota of the day or month is used up.
    QuotaUsedUp,
    /// 429: too many requests of the key, its tier, the route or the address at once.
    TooManyAtOnce,
    /// 429: the API is at its load line.
    AtLoadLine,
    /// 503: what other gateways let through cannot be known, and the key's tier is refused then.
    LimitsUnknown,
    /// 400, or another status of a [`crate::path::Fault`]: malformed, slow or a loop. The data path responds to it by itself, before
    /// a decision, and has it counted.
    Invalid,
}

/// Every problem.
pub const PROBLEMS: [Problem; 12] = [
    Problem::KeyMissing,
    Problem::KeyUnknown,
    Problem::KeyNotForRoute,
    Problem::NoRoute,
    Problem::MethodNotAllowed,
    Problem::BodyTooLarge,
    Problem::RateLimited,
    Problem::QuotaUsedUp,
    Problem::TooManyAtOnce,
    Problem::AtLoadLine,
    Problem::LimitsUnknown,
    Problem::Invalid,
];

impl Problem {
    /// The status of its response.
    pub const fn status(self) -> u16 {
        match self {
            Self::KeyMissing => 401,
            Self::KeyUnknown | Self::KeyNotForRoute => 403,
            Self::NoRoute => 404,
            Self::MethodNotAllowed => 405,
            Self::BodyTooLarge => 413,
            Self::RateLimited | Self::QuotaUsedUp | Self::TooManyAtOnce | Self::AtLoadLine => 429,
            Self::LimitsUnknown => 503,
            Self::Invalid => 400,
        }
    }

    /// Its name in counters and in the member `code` of the response.
    pub const fn code(self) -> &'static str {
        match self {
            Self::KeyMissing => "key_missing",
            Self::KeyUnknown => "key_unknown",
            Self::KeyNotForRoute => "key_not_for_route",
            Self::NoRoute => "no_route",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::BodyTooLarge => "body_too_large",
            Self::RateLimited => "rate_limited",
            Self::QuotaUsedUp => "quota_used_up",
            Self::TooManyAtOnce => "too_many_at_once",
            Self::AtLoadLine => "at_load_line",
            Self::LimitsUnknown => "limits_unknown",
            Self::Invalid => "invalid",
        }
    }

    /// The whole body of its response, `application/problem+json`.
    pub const fn body(self) -> &'static str {
        match self {
            Self::KeyMissing => {
                r#"{"type":"about:blank","title":"Unauthorized","status":401,"code":"key_missing","detail":"This API asks for a key."}"#
            }
            Self::KeyUnknown => {
                r#"{"type":"about:blank","title":"Forbidden","status":403,"code":"key_unknown","detail":"The key is not valid."}"#
            }
            Self::KeyNotForRoute => {
                r#"{"type":"about:blank","title":"Forbidden","status":403,"code":"key_not_for_route","detail":"The key is not valid here."}"#
            }
            Self::NoRoute => {
                r#"{"type":"about:blank","title":"Not Found","status":404,"code":"no_route","detail":"There is nothing here."}"#
            }
            Self::MethodNotAllowed => {
                r#"{"type":"about:blank","title":"Method Not Allowed","status":405,"code":"method_not_allowed","detail":"Not with this method."}"#
            }
            Self::BodyTooLarge => {
                r#"{"type":"about:blank","title":"Content Too Large","status":413,"code":"body_too_large","detail":"The body is longer than allowed."}"#
            }
            Self::RateLimited => {
                r#"{"type":"about:blank","title":"Too Many Requests","status":429,"code":"rate_limited","detail":"Too many requests in this time."}"#
            }
            Self::QuotaUsedUp => {
                r#"{"type":"about:blank","title":"Too Many Requests","status":429,"code":"quota_used_up","detail":"The quota is used up."}"#
            }
            Self::TooManyAtOnce => {
                r#"{"type":"about:blank","title":"Too Many Requests","status":429,"code":"too_many_at_once","detail":"Too many requests at once."}"#
            }
            Self::AtLoadLine => {
                r#"{"type":"about:blank","title":"Too Many Requests","status":429,"code":"at_load_line","detail":"The API carries no more at the moment."}"#
            }
            Self::LimitsUnknown => {
                r#"{"type":"about:blank","title":"Service Unavailable","status":503,"code":"limits_unknown","detail":"The limits of the key cannot be checked at the moment."}"#
            }
            Self::Invalid => {
                r#"{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid","detail":"The request is not valid."}"#
            }
        }
    }
}

/// The limit that was met, for the headers of draft-ietf-httpapi-ratelimit-headers-10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// What it is of: `key`, `tier`, `route`, `address`, `all`, `day`, `month`, `load line`, or a key's `share` of that.
    pub name: &'static str,
    /// Requests in [`Self::window_s`], or at once.
    pub quota: u64,
    /// The window, in seconds; none of requests at once.
    pub window_s: Option<u32>,
    /// Requests left.
    pub remaining: u64,
    /// Until more are left, in seconds; not reported for requests in flight, of which nobody knows it.
    pub reset_s: u32,
}

impl RateLimit {
    /// Appends the lines `RateLimit-Policy` and `RateLimit`, each with its CRLF.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Self { name, quota, window_s, remaining, reset_s } = self;
        // Writing into a vector cannot fail.
        let _ = write!(out, "RateLimit-Policy: \"{name}\";q={quota}");
        let _ = match window_s {
            Some(window_s) => {
                write!(out, ";w={window_s}\r\nRateLimit: \"{name}\";r={remaining};t={reset_s}\r\n")
            }
            None => {
                write!(
                    out,
                    ";qu=\"concurrent-requests\"\r\nRateLimit: \"{name}\";r={remaining}\r\n"
                )
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_say_what_the_table_says() {
        for (index, problem) in PROBLEMS.into_iter().enumerate() {
            assert_eq!(problem as usize, index);
            let status = format!("\"status\":{},", problem.status());
            assert!(problem.body().contains(&status), "{problem:?}");
            let code = format!("\"code\":\"{}\"", problem.code());
            assert!(problem.body().contains(&code), "{problem:?}");
        }
    }

    #[test]
    fn headers_are_structured_fields() {
        let mut out = Vec::new();
        let window_s = Some(1);
        let limit = RateLimit { name: "key", quota: 100, window_s, remaining: 0, reset_s: 2 };
        limit.write(&mut out);
        RateLimit { window_s: None, ..limit }.write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "RateLimit-Policy: \"key\";q=100;w=1\r\nRateLimit: \"key\";r=0;t=2\r\n\
             RateLimit-Policy: \"key\";q=100;qu=\"concurrent-requests\"\r\nRateLimit: \"key\";r=0\r\n"
        );
    }
}
