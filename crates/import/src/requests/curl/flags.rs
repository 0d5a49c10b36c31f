//! curl's flags: their names, whether they take a value, and what becomes of each.

/// What a flag means for a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Url,
    Method,
    Header,
    Data(Data),
    Json,
    Form,
    FormText,
    Get,
    Head,
    User,
    Bearer,
    Cookie,
    Agent,
    Referer,
    Range,
    Upload,
    Compressed,
    Insecure,
    CaCert,
    Cert,
    Key,
    MaxTime,
    GlobOff,
    UrlQuery,
    PathAsIs,
    Next,
    /// What curl prints, stores or keeps to itself: no part of the request.
    Output,
    /// Part of how the request is sent, but workloads have no such thing; what happens instead.
    Lost(&'static str),
}

/// How `-d` and its kin read their value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// `-d`: a file without its line ends.
    Plain,
    /// `--data-binary`: a file as it is.
    Binary,
    /// `--data-raw`: `@` is no file.
    Raw,
    /// `--data-urlencode`: escaped.
    Encoded,
}

/// A flag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flag {
    pub(super) long: &'static str,
    pub(super) short: char,
    pub(super) takes_value: bool,
    pub(super) does: Does,
}

/// The flag of this long name, without its dashes.
pub(super) fn long(name: &str) -> Option<Flag> {
    FLAGS.iter().copied().find(|flag| flag.long == name).or_else(|| {
        let further = |names: &str| names.split_whitespace().any(|other| other == name);
        let row = FURTHER.iter().find(|(_, _, names)| further(names))?;
        Some(Flag { long: row.2, short: NO, takes_value: row.0, does: row.1 })
    })
}

/// The flag of this letter.
pub(super) fn short(letter: char) -> Option<Flag> {
    FLAGS.iter().copied().find(|flag| flag.short == letter)
}

const NO: char = '\0';

const fn value(long: &'static str, short: char, does: Does) -> Flag {
    Flag { long, short, takes_value: true, does }
}

const fn switch(long: &'static str, short: char, does: Does) -> Flag {
    Flag { long, short, takes_value: false, does }
}

const REDIRECTS: Does = Does::Lost("redirects are not followed; a response below 400 is a success");
const TLS: Does = Does::Lost("TLS is set by the workload's `tls`");
const PROXY: Does = Does::Lost("requests go directly to the server, without a proxy");
const AUTH: Does = Does::Lost("only basic and bearer credentials are sent");
const RETRY: Does = Does::Lost("a failed request counts as failed and is not repeated");
const NET: Does = Does::Lost("connections are set by the flags of `plimsoll run`");
const VERSION: Does = Does::Lost("only HTTP/1.1 is used");
const OTHER: Does =
    Does::Lost("for a protocol other than HTTP, or for a service that is not contacted");

/// Flags with a letter, and those that a workload has a place for.
const FLAGS: &[Flag] = &[
    value("url", NO, Does::Url),
    value("request", 'X', Does::Method),
    value("header", 'H', Does::Header),
    value("data", 'd', Does::Data(Data::Plain)),
    value("data-ascii", NO, Does::Data(Data::Plain)),
    value("data-binary", NO, Does::Data(Data::Binary)),
    value("data-raw", NO, Does::Data(Data::Raw)),
    value("data-urlencode", NO, Does::Data(Data::Encoded)),
    value("json", NO, Does::Json),
    value("form", 'F', Does::Form),
    value("form-string", NO, Does::FormText),
    switch("get", 'G', Does::Get),
    switch("head", 'I', Does::Head),
    value("user", 'u', Does::User),
    value("oauth2-bearer", NO, Does::Bearer),
    value("cookie", 'b', Does::Cookie),
    value("user-agent", 'A', Does::Agent),
    value("referer", 'e', Does::Referer),
    value("range", 'r', Does::Range),
    value("upload-file", 'T', Does::Upload),
    switch("compressed", NO, Does::Compressed),
    switch("insecure", 'k', Does::Insecure),
    value("cacert", NO, Does::CaCert),
    value("cert", 'E', Does::Cert),
    value("key", NO, Does::Key),
    value("max-time", 'm', Does::MaxTime),
    switch("globoff", 'g', Does::GlobOff),
    value("url-query", NO, Does::UrlQuery),
    switch("path-as-is", NO, Does::PathAsIs),
    switch("next", ':', Does::Next),
    value("cookie-jar", 'c', Does::Output),
    value("output", 'o', Does::Output),
    switch("remote-name", 'O', Does::Output),
    switch("remote-header-name", 'J', Does::Output),
    switch("remote-time", 'R', Does::Output),
    value("dump-header", 'D', Does::Output),
    value("write-out", 'w', Does::Output),
    switch("silent", 's', Does::Output),
    switch("show-error", 'S', Does::Output),
    switch("verbose", 'v', Does::Output),
    switch("include", 'i', Does::Output),
    switch("progress-bar", '#', Does::Output),
    switch("no-buffer", 'N', Does::Output),
    switch("fail", 'f', Does::Output),
    switch("parallel", 'Z', Does::Output),
    switch("help", 'h', Does::Output),
    switch("manual", 'M', Does::Output),
    switch("version", 'V', Does::Output),
    switch("disable", 'q', Does::Output),
    switch("location", 'L', REDIRECTS),
    value("config", 'K', Does::Lost("the flags in that file are not read")),
    value("continue-at", 'C', Does::Lost("a request is sent whole")),
    switch("junk-session-cookies", 'j', Does::Lost("cookies of a file are not read")),
    value("time-cond", 'z', Does::Lost("add the header field If-Modified-Since instead")),
    value("speed-limit", 'Y', NET),
    value("speed-time", 'y', NET),
    value("proxy", 'x', PROXY),
    value("proxy-user", 'U', PROXY),
    switch("proxytunnel", 'p', PROXY),
    switch("http1.0", '0', VERSION),
    switch("tlsv1", '1', TLS),
    switch("sslv2", '2', TLS),
    switch("sslv3", '3', TLS),
    switch("ipv4", '4', NET),
    switch("ipv6", '6', NET),
    switch("append", 'a', OTHER),
    switch("use-ascii", 'B', OTHER),
    switch("list-only", 'l', OTHER),
    switch("netrc", 'n', Does::Lost("credentials of a file are not read")),
    value("ftp-port", 'P', OTHER),
    value("quote", 'Q', OTHER),
    value("telnet-option", 't', OTHER),
];

/// The others: whether they take a value, what becomes of them, and their names.
const FURTHER: &[(bool, Does, &str)] = &[
    (
        false,
        Does::Output,
        "basic create-dirs fail-early fail-with-body no-progress-meter progress-meter raw \
         remote-name-all styled-output suppress-connect-headers trace-time trace-ids xattr \
         metalink parallel-immediate remove-on-error no-clobber clobber skip-existing \
         out-null http1.1 keepalive no-keepalive sessionid no-sessionid buffer",
    ),
    (
        true,
        Does::Output,
        "stderr trace trace-ascii trace-config libcurl output-dir hsts alt-svc etag-save \
         parallel-max parallel-max-host create-file-mode max-filesize progress",
    ),
    (true, Does::Lost("add the header field If-None-Match instead"), "etag-compare"),
    (false, REDIRECTS, "location-trusted post301 post302 post303 follow"),
    (true, REDIRECTS, "max-redirs"),
    (
        false,
        TLS,
        "tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 ssl ssl-reqd ssl-allow-beast ssl-no-revoke \
         ssl-revoke-best-effort ssl-auto-client-cert cert-status ca-native alpn no-alpn npn \
         no-npn false-start tls-earlydata",
    ),
    (
        true,
        TLS,
        "tls-max ciphers tls13-ciphers curves capath cert-type key-type pass pinnedpubkey \
         crlfile ech egd-file random-file engine sigalgs ssl-sessions tlsauthtype tlspassword tlsuser",
    ),
    (
        false,
        PROXY,
        "proxy-anyauth proxy-basic proxy-digest proxy-insecure proxy-negotiate proxy-ntlm \
         proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tlsv1 proxy-ca-native \
         proxy-http2 socks5-basic socks5-gssapi socks5-gssapi-nec haproxy-protocol",
    ),
    (
        true,
        PROXY,
        "preproxy noproxy proxy1.0 proxy-cacert proxy-capath proxy-cert proxy-cert-type \
         proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass \
         proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype \
         proxy-tlspassword proxy-tlsuser socks4 socks4a socks5 socks5-hostname \
         socks5-gssapi-service haproxy-clientip",
    ),
    (false, AUTH, "anyauth digest negotiate ntlm ntlm-wb disallow-username-in-url"),
    (true, AUTH, "aws-sigv4 delegation krb login-options sasl-authzid service-name"),
    (false, RETRY, "retry-all-errors retry-connrefused"),
    (true, RETRY, "retry retry-delay retry-max-time"),
    (
        false,
        NET,
        "tcp-fastopen tcp-nodelay no-tcp-nodelay doh-cert-status doh-insecure \
         mptcp compressed-ssh tr-encoding ignore-content-length",
    ),
    (
        true,
        NET,
        "connect-timeout connect-to resolve interface local-port limit-rate rate keepalive-time \
         keepalive-cnt dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url \
         unix-socket abstract-unix-socket expect100-timeout happy-eyeballs-timeout-ms \
         ip-tos vlan-priority",
    ),
    (false, VERSION, "http0.9 http2 http2-prior-knowledge http3 http3-only"),
    (
        false,
        OTHER,
        "crlf disable-eprt disable-epsv ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip \
         ftp-ssl-ccc ftp-ssl-control mail-rcpt-allowfails sasl-ir tftp-no-options netrc-optional \
         form-escape dump-ca-embed",
    ),
    (
        true,
        OTHER,
        "ftp-account ftp-alternative-to-user ftp-method ftp-ssl-ccc-mode hostpubmd5 \
         hostpubsha256 ipfs-gateway mail-auth mail-from mail-rcpt netrc-file postquote prequote \
         proto proto-default proto-redir pubkey tftp-blksize upload-flags",
    ),
    (
        true,
        Does::Lost("curl's own variables are not filled in"),
        "variable expand-url expand-data expand-header",
    ),
    (true, Does::Lost("the URL's path is sent"), "request-target"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// As curl 8.12 has them: a value that is not taken would be a second URL.
    #[test]
    fn flags_take_values_as_curl_takes_them() {
        for (name, takes_value) in
            [("ech", true), ("ssl-sessions", true), ("tls-earlydata", false), ("alpn", false)]
        {
            assert_eq!(long(name).map(|flag| flag.takes_value), Some(takes_value), "{name}");
        }
    }

    #[test]
    fn no_flag_stands_twice() {
        let mut seen = HashSet::new();
        for name in FLAGS.iter().map(|flag| flag.long) {
            assert!(seen.insert(name), "{name}");
        }
        for name in FURTHER.iter().flat_map(|(_, _, names)| names.split_whitespace()) {
            assert!(seen.insert(name), "{name}");
        }
        let mut letters = HashSet::new();
        for letter in FLAGS.iter().map(|flag| flag.short).filter(|letter| *letter != NO) {
            assert!(letters.insert(letter), "{letter}");
        }
    }
}
