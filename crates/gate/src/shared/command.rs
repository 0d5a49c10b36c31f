//! The command that a gateway sends to the server (one script with all reports), and its reply.

use super::resp::{Reply, write_command};
use super::sync::{Answer, Report, Response};

/// A gateway is counted for this long after its last heartbeat.
pub(super) const COUNTS_US: u64 = 1_500_000;
/// The prefix of all keys on the server that belong to gateways.
const PREFIX: &str = "plimsoll:gate:";
const SCRIPT: &[u8] = include_bytes!("script.lua");

/// The error for a reply that is not the script's.
const OTHERWISE: &str = "it answers in another way than asked";

/// Writes the command with these reports of the gateway; without reports it is a heartbeat. `connection` is the number of the
/// gateway's connection: a later one has a higher number.
pub(super) fn write_reports(out: &mut Vec<u8>, reports: &[Report], gateway: &str, connection: u64) {
    let mut words: Vec<Vec<u8>> = vec![b"EVAL".to_vec(), SCRIPT.to_vec()];
    words.push((reports.len() + 3).to_string().into_bytes());
    for report in reports {
        let (Report::Add { name, .. } | Report::AtLeast { name, .. } | Report::Total { name, .. }) =
            report;
        words.push(format!("{PREFIX}{name}").into_bytes());
    }
    words.push(format!("{PREFIX}gateways").into_bytes());
    words.push(format!("{PREFIX}connection:{gateway}").into_bytes());
    words.push(format!("{PREFIX}clock").into_bytes());
    words.push(gateway.as_bytes().to_vec());
    words.extend([connection, COUNTS_US].map(|number| number.to_string().into_bytes()));
    for report in reports {
        let (kind, first, second) = match report {
            Report::Add { micros, first_us, .. } => (b"a", *micros, *first_us),
            Report::AtLeast { due_us, .. } => (b"l", *due_us, 0),
            Report::Total { requests, .. } => (b"q", *requests, 0),
        };
        words.push(kind.to_vec());
        words.extend([first, second].map(|number| number.to_string().into_bytes()));
    }
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    write_command(out, &words);
}

/// Reads the reply to this many reports.
///
/// # Errors
/// The server's error, or that the reply is not the script's.
pub(super) fn read_response(reply: &Reply, reports: &[Report]) -> Result<Response, String> {
    let list = match reply {
        Reply::List(list) if list.len() == reports.len() + 3 => list,
        Reply::Error(why) => return Err(complaint(why)),
        _ => return Err(OTHERWISE.into()),
    };
    let (answers, rest) = list.split_at(reports.len());
    let answers = answers.iter().zip(reports).map(answer_of).collect::<Result<_, _>>()?;
    let [Reply::Number(server_us), Reply::Number(unknown), Reply::Number(gateways)] = rest else {
        return Err(OTHERWISE.into());
    };
    Ok(Response {
        answers,
        server_us: (*server_us).max(0) as u64,
        unknown: *unknown != 0,
        gateways: u32::try_from(*gateways).unwrap_or(u32::MAX).max(1),
    })
}

fn answer_of((reply, report): (&Reply, &Report)) -> Result<Answer, String> {
    match (reply, report) {
        (Reply::Number(n), Report::Add { .. } | Report::AtLeast { .. }) => Ok(Answer::Ahead(*n)),
        (Reply::Number(n), Report::Total { .. }) => Ok(Answer::Used((*n).max(0) as u64)),
        (Reply::Error(why), _) => Err(complaint(why)),
        _ => Err(OTHERWISE.into()),
    }
}

/// The server's error in words, with what to do if that is known.
pub(super) fn complaint(why: &str) -> String {
    let kind = why.split(' ').next().unwrap_or_default();
    match kind {
        "WRONGPASS" => format!(
            "the server does not take this user and password: write redis://USER:PASSWORD@HOST, or redis://:PASSWORD@HOST \
             ({why})"
        ),
        _ if kind == "NOAUTH" || why.contains("unauthenticated") => {
            "the server asks for a password: write redis://:PASSWORD@HOST".into()
        }
        "NOPERM" => format!("the server does not let this user do it: {why}"),
        _ => why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_say_what_to_do() {
        let asks = "the server asks for a password: write redis://:PASSWORD@HOST";
        assert_eq!(complaint("NOAUTH Authentication required."), asks);
        assert_eq!(complaint("ERR Protocol error: unauthenticated multibulk length"), asks);
        let wrong = complaint("WRONGPASS invalid username-password pair or user is disabled.");
        assert!(wrong.contains("redis://:PASSWORD@HOST"), "{wrong}");
        assert_eq!(complaint("OOM command not allowed"), "OOM command not allowed");
    }

    #[test]
    fn a_reply_is_read_whole_or_refused() {
        let reports = [
            Report::Add { name: "k:r".into(), micros: 5, first_us: 7 },
            Report::Total { name: "k:day1".into(), requests: 3 },
        ];
        let numbers = |list: &[i64]| Reply::List(list.iter().copied().map(Reply::Number).collect());
        let response = read_response(&numbers(&[-4, 9, 1_000, 1, 2]), &reports).unwrap();
        assert_eq!(response.answers, [Answer::Ahead(-4), Answer::Used(9)]);
        assert_eq!((response.server_us, response.unknown, response.gateways), (1_000, true, 2));
        for wrong in [numbers(&[1, 2, 3]), Reply::Nothing, Reply::Error("ERR x".into())] {
            assert!(read_response(&wrong, &reports).is_err(), "{wrong:?}");
        }
    }
}
