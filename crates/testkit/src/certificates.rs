//! Certificates for servers in tests, made by `openssl`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::databases::{output, program};

/// The file with the certificate of the authority that signed the server's.
pub(crate) const AUTHORITY: &str = "authority.crt";
/// The file with the server's certificate.
pub(crate) const CERTIFICATE: &str = "server.crt";
/// The file with its key.
pub(crate) const KEY: &str = "server.key";

const EXTENSIONS: &str = "[req]\ndistinguished_name = none\n[none]\n\
    [authority]\nbasicConstraints = critical, CA:TRUE\n\
    [server]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = DNS:localhost\n\
    [both]\nbasicConstraints = critical, CA:TRUE\nsubjectAltName = DNS:localhost\n";

/// Who signs a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    /// The server itself, by a certificate that is marked as an authority's, as `openssl req -x509` makes them.
    Itself,
    /// The server itself, by such a certificate that expired a day ago.
    ItselfExpired,
    /// An authority of its own.
    Authority,
}

/// Puts a certificate for `localhost`, its key and its authority into a folder; the key belongs to this user.
pub(crate) fn certify(folder: &Path, owner: Option<&str>, signer: Signer) -> Result<(), String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let settings = file("openssl.cnf");
    fs::write(&settings, EXTENSIONS).map_err(|error| error.to_string())?;
    let make = |name: &str, key: &str, kind: &str, more: &[&str]| {
        let mut openssl = Command::new(program("openssl")?);
        openssl.args(["req", "-x509", "-config", &settings, "-extensions", kind, "-days", "2"]);
        openssl.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        openssl.args(["-subj", &format!("/CN={kind}"), "-keyout", &file(key), "-out", &file(name)]);
        output(openssl.args(more))
    };
    match signer {
        Signer::Itself | Signer::ItselfExpired => {
            make(CERTIFICATE, KEY, "both", &[])?;
            if signer == Signer::ItselfExpired {
                let (certificate, key) = (file(CERTIFICATE), file(KEY));
                let mut openssl = Command::new(program("openssl")?);
                openssl.args(["x509", "-in", &certificate, "-signkey", &key, "-days", "-1"]);
                output(openssl.args(["-out", &certificate]))?;
            }
            fs::copy(file(CERTIFICATE), file(AUTHORITY)).map_err(|error| error.to_string())?;
        }
        Signer::Authority => {
            let (authority, key) = (file(AUTHORITY), file("authority.key"));
            make(AUTHORITY, "authority.key", "authority", &[])?;
            make(CERTIFICATE, KEY, "server", &["-CA", &authority, "-CAkey", &key])?;
        }
    }
    if let Some(owner) = owner {
        output(Command::new("chown").arg(owner).args([file(KEY), file(CERTIFICATE)]))?;
    }
    Ok(())
}
