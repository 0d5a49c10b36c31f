//! What a gateway says to the server: one script with all that it tells, and what that returns.

use super::resp::{Reply, write_command};
use super::sync::{Answer, Heard, Tell};

/// A gateway counts for so long after its last sign of life.
pub(super) const COUNTS_US: u64 = 1_500_000;
/// What is under this name on the server belongs to gateways.
const PREFIX: &str = "plimsoll:gate:";
const SCRIPT: &[u8] = include_bytes!("script.lua");

/// Why there is no answer that can be used.
const OTHERWISE: &str = "it answers in another way than asked";

/// The command that tells, over the connection of this number of the gateway of this name; a sign of life where there is
/// nothing to tell. A later connection has a higher number.
pub(super) fn write_tells(out: &mut Vec<u8>, tells: &[Tell], gateway: &str, connection: u64) {
    let mut words: Vec<Vec<u8>> = vec![b"EVAL".to_vec(), SCRIPT.to_vec()];
    words.push((tells.len() + 2).to_string().into_bytes());
    for tell in tells {
        let (Tell::Add { name, .. } | Tell::AtLeast { name, .. } | Tell::Total { name, .. }) = tell;
        words.push(format!("{PREFIX}{name}").into_bytes());
    }
    words.push(format!("{PREFIX}gateways").into_bytes());
    words.push(format!("{PREFIX}connection:{gateway}").into_bytes());
    words.push(gateway.as_bytes().to_vec());
    words.extend([connection, COUNTS_US].map(|number| number.to_string().into_bytes()));
    for tell in tells {
        let (kind, first, second) = match tell {
            Tell::Add { micros, first_us, .. } => (b"a", *micros, *first_us),
            Tell::AtLeast { due_us, .. } => (b"l", *due_us, 0),
            Tell::Total { requests, .. } => (b"q", *requests, 0),
        };
        words.push(kind.to_vec());
        words.extend([first, second].map(|number| number.to_string().into_bytes()));
    }
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    write_command(out, &words);
}

/// What the reply to so many tells says.
///
/// # Errors
/// What the server complains of, or that the reply is none of the script's.
pub(super) fn read_heard(reply: &Reply, tells: &[Tell]) -> Result<Heard, String> {
    let list = match reply {
        Reply::List(list) if list.len() == tells.len() + 3 => list,
        Reply::Error(why) => return Err(why.clone()),
        _ => return Err(OTHERWISE.into()),
    };
    let (answers, rest) = list.split_at(tells.len());
    let answers = answers.iter().zip(tells).map(answer_of).collect::<Result<_, _>>()?;
    let [Reply::Number(server_us), Reply::Number(unknown), Reply::Number(gateways)] = rest else {
        return Err(OTHERWISE.into());
    };
    Ok(Heard {
        answers,
        server_us: (*server_us).max(0) as u64,
        unknown: *unknown != 0,
        gateways: u32::try_from(*gateways).unwrap_or(u32::MAX).max(1),
    })
}

fn answer_of((reply, tell): (&Reply, &Tell)) -> Result<Answer, String> {
    match (reply, tell) {
        (Reply::Number(n), Tell::Add { .. } | Tell::AtLeast { .. }) => Ok(Answer::Ahead(*n)),
        (Reply::Number(n), Tell::Total { .. }) => Ok(Answer::Used((*n).max(0) as u64)),
        (Reply::Error(why), _) => Err(why.clone()),
        _ => Err(OTHERWISE.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_whole_or_refused() {
        let tells = [
            Tell::Add { name: "k:r".into(), micros: 5, first_us: 7 },
            Tell::Total { name: "k:day1".into(), requests: 3 },
        ];
        let numbers = |list: &[i64]| Reply::List(list.iter().copied().map(Reply::Number).collect());
        let heard = read_heard(&numbers(&[-4, 9, 1_000, 1, 2]), &tells).unwrap();
        assert_eq!(heard.answers, [Answer::Ahead(-4), Answer::Used(9)]);
        assert_eq!((heard.server_us, heard.unknown, heard.gateways), (1_000, true, 2));
        for wrong in [numbers(&[1, 2, 3]), Reply::Nothing, Reply::Error("ERR x".into())] {
            assert!(read_heard(&wrong, &tells).is_err(), "{wrong:?}");
        }
    }
}
