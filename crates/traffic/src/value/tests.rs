use proptest::prelude::*;

use super::*;
use crate::draw::Purpose;

fn text(value: &Value) -> String {
    at(value, 0)
}

fn at(value: &Value, unix_ns: i64) -> String {
    let texts = Texts::default();
    let mut draws = crate::draw::stream(1, model::Draw::default(), Purpose::Step(0));
    let drawn = Drawn::default();
    let mut scene = Scene {
        pools: &[],
        drawn: &drawn,
        variables: &texts,
        extracted: &texts,
        draws: &mut draws,
        unix_ns,
    };
    let mut stack = b"before".to_vec();
    value.push(&mut scene, &mut stack);
    String::from_utf8(stack[6..].to_vec()).unwrap()
}

fn call(function: Function, of: &[&[u8]]) -> Value {
    Value::Call(Box::new(function), of.iter().map(|&bytes| Value::text(bytes)).collect())
}

fn around(function: Function, inner: Value) -> Value {
    Value::Call(Box::new(function), vec![inner])
}

/// FIPS 180-4 example, RFC 4231 test case 2, RFC 4648 section 10.
#[test]
fn hashes_and_encodings_are_as_published() {
    let sha = around(Function::Hex, call(Function::Sha256, &[b"abc"]));
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(text(&sha), expected);
    let data: &[u8] = b"what do ya want for nothing?";
    let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    let both = around(Function::Hex, call(Function::HmacSha256(None), &[b"Jefe", data]));
    let ready = Function::HmacSha256(Some(HmacKey::new(b"Jefe")));
    assert_eq!(text(&both), expected);
    assert_eq!(text(&around(Function::Hex, call(ready, &[data]))), expected);
    for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
        assert_eq!(text(&call(Function::Base64, &[plain.as_bytes()])), encoded);
    }
    assert_eq!(text(&call(Function::Base64Url, &[b"\xfb\xff"])), "-_8");
    assert_eq!(text(&call(Function::UrlEncode, &["a b/ü~".as_bytes()])), "a%20b%2F%C3%BC~");
    assert_eq!(text(&call(Function::Json, &[b"a\"\n"])), "\"a\\\"\\n\"");
}

/// RFC 7515 appendix A.1: signing input, key and signature.
#[test]
fn hmac_signs_as_rfc_7515_does() {
    use base64::Engine;
    let key =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let key = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(key).unwrap();
    let input =
        b"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAs\
                  DQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signed = call(Function::HmacSha256(None), &[&key, input]);
    let encoded = text(&around(Function::Base64Url, signed));
    assert_eq!(encoded, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
}

/// The token that jwt.io shows, and one that OpenSSL signed with the key beside it.
#[test]
fn tokens_are_those_of_others() {
    let claims: &[u8] = br#"{"sub":"1234567890","name":"John Doe","iat":1516239022}"#;
    let expected = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.\
                    eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.\
                    SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
    let key: &[u8] = b"your-256-bit-secret";
    assert_eq!(text(&call(Function::Jwt(Signer::Hs256(None)), &[claims, key])), expected);
    let ready = Signer::Hs256(Some(HmacKey::new(key)));
    assert_eq!(text(&call(Function::Jwt(ready), &[claims])), expected);
    for pem in [&include_bytes!("data/rs256.pkcs8.pem")[..], include_bytes!("data/rs256.pkcs1.pem")]
    {
        let signer = Signer::rs256(pem).unwrap();
        let token = call(Function::Jwt(signer), &[br#"{"sub":"ann","iat":1516239022}"#]);
        assert_eq!(text(&token), include_str!("data/rs256.jwt"));
    }
    let bad = Signer::rs256(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assert!(bad.unwrap_err().0.contains("not an RSA key"));
    assert!(Signer::rs256(b"secret").is_err());
}

#[test]
fn generators_keep_their_form() {
    let uuid = text(&Value::Uuid);
    let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12]);
    assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
    assert_eq!(text(&Value::Letters(30)).len(), 30);
    assert_eq!(text(&Value::Int { low: -5, count: 1 }), "-5");
    let all = Value::Int { low: i64::MIN, count: 0 };
    assert!(text(&all).parse::<i64>().is_ok());
}

#[test]
fn the_time_is_written_in_every_form() {
    let noon = 1_769_860_799_123_456_789;
    let written = |unit, offset_s| at(&Value::Time(Box::new(Clock { unit, offset_s })), noon);
    assert_eq!(written(Unit::Seconds, 0), "1769860799");
    assert_eq!(written(Unit::Seconds, -3600), "1769857199");
    assert_eq!(written(Unit::Milliseconds, 0), "1769860799123");
    assert_eq!(written(Unit::Rfc3339, 1), "2026-01-31T12:00:00.123Z");
    let http = Unit::pattern("%a, %d %b %Y %H:%M:%S GMT").unwrap();
    assert_eq!(written(http, 0), "Sat, 31 Jan 2026 11:59:59 GMT");
    assert!(Unit::pattern("%Q%").is_err());
}

proptest! {
    #[test]
    fn numbers_are_written_as_they_are(number: i64) {
        let mut out = Vec::new();
        decimal(number, &mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
    }

    #[test]
    fn calls_inside_calls_leave_the_stack_as_it_was(text_in in "\\PC{0,40}") {
        use base64::Engine;
        let inner = call(Function::Base64, &[text_in.as_bytes()]);
        let outer = around(Function::Base64, around(Function::Lower, inner));
        let standard = base64::prelude::BASE64_STANDARD;
        let expected = standard.encode(standard.encode(text_in.as_bytes()).to_ascii_lowercase());
        prop_assert_eq!(text(&Value::Joined(vec![outer.clone(), outer])), expected.repeat(2));
    }
}
