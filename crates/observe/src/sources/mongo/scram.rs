//! The client's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding.

use std::fs::File;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Rounds that a server may ask for: fewer are no protection, more only cost time (MongoDB asks for 15,000).
const ROUNDS: std::ops::RangeInclusive<u32> = 4096..=1_000_000;

/// A login with a name and a password.
pub struct Login {
    password: String,
    nonce: String,
    first_bare: String,
}

impl Login {
    /// With a nonce of this client's own.
    pub fn new(user: &str, password: &str, nonce: &str) -> Self {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let first_bare = format!("n={user},r={nonce}");
        Self { password: password.to_owned(), nonce: nonce.to_owned(), first_bare }
    }

    /// The first message.
    pub fn first(&self) -> String {
        format!("n,,{}", self.first_bare)
    }

    /// The second message, in answer to the server's, and the signature that the server must show then.
    ///
    /// # Errors
    /// When the server's message is none of the protocol.
    pub fn proof(&self, server_first: &str) -> Result<(String, String), String> {
        let wrong = || "MongoDB: the login is answered otherwise".to_owned();
        let part = |name: &str| server_first.split(',').find_map(|part| part.strip_prefix(name));
        let nonce = part("r=").filter(|nonce| nonce.starts_with(&self.nonce)).ok_or_else(wrong)?;
        let salt = part("s=").and_then(|salt| STANDARD.decode(salt).ok()).ok_or_else(wrong)?;
        let rounds = part("i=").and_then(|rounds| rounds.parse().ok()).ok_or_else(wrong)?;
        if !ROUNDS.contains(&rounds) {
            return Err(format!("MongoDB: a login of {rounds} rounds is asked for"));
        }
        let salted = stretched(self.password.as_bytes(), &salt, rounds);
        let key = hmac(&salted, b"Client Key");
        let last_bare = format!("c=biws,r={nonce}");
        let all = format!("{},{server_first},{last_bare}", self.first_bare);
        let signature = hmac(&digest(&[&key]), all.as_bytes());
        let proof: Vec<u8> = key.iter().zip(signature).map(|(key, sign)| key ^ sign).collect();
        let server = hmac(&hmac(&salted, b"Server Key"), all.as_bytes());
        Ok((format!("{last_bare},p={}", STANDARD.encode(proof)), STANDARD.encode(server)))
    }
}

/// A nonce of the kernel's.
///
/// # Errors
/// When it gives none.
pub fn nonce() -> Result<String, String> {
    let mut bytes = [0; 18];
    let read = File::open("/dev/urandom").and_then(|mut from| from.read_exact(&mut bytes));
    read.map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(STANDARD.encode(bytes))
}

fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into()
}

/// HMAC (RFC 2104).
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0; 64];
    match key.len() > block.len() {
        true => block[..32].copy_from_slice(&digest(&[key])),
        false => block[..key.len()].copy_from_slice(key),
    }
    let (inner, outer) = (block.map(|byte| byte ^ 0x36), block.map(|byte| byte ^ 0x5c));
    digest(&[&outer, &digest(&[&inner, text])])
}

/// PBKDF2 (RFC 8018) of one block.
fn stretched(password: &[u8], salt: &[u8], rounds: u32) -> [u8; 32] {
    let mut last = hmac(password, &[salt, &1_u32.to_be_bytes()].concat());
    let mut all = last;
    for _ in 1..rounds {
        last = hmac(password, &last);
        for (sum, byte) in all.iter_mut().zip(last) {
            *sum ^= byte;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7677() {
        let login = Login::new("user", "pencil", "rOprNGfwEbeRWgbNEkqO");
        assert_eq!(login.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let (last, signature) = login.proof(server).unwrap();
        assert_eq!(
            last,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
             p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn servers_that_ask_for_what_is_no_login_get_no_proof() {
        let login = Login::new("user", "pencil", "abc");
        for server in [
            "",
            "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
            "r=abcd,s=???,i=4096",
            "r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1",
            "r=abcd,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4000000000",
        ] {
            let refused = login.proof(server).expect_err(server);
            assert!(!refused.contains("pencil"), "{refused}");
        }
    }
}
