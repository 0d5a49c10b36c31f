//! Profiles that lie: about their tables, about their lengths, about how much they hold.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use profile::Error;

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field with a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field with a message or string.
fn message(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// A profile of one sample in `main`, with these fields instead of others or in addition.
fn small(changed: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(message(1, &[number(1, 1), number(2, 2)].concat()));
    bytes.extend(message(4, &[number(1, 1), message(4, &number(1, 1))].concat()));
    bytes.extend(message(5, &[number(1, 1), number(2, 3), number(3, 3)].concat()));
    for text in ["", "samples", "count", "main"] {
        bytes.extend(message(6, text.as_bytes()));
    }
    changed.iter().for_each(|field| bytes.extend(field));
    bytes
}

fn sample(location: u64, values: &[u64]) -> Vec<u8> {
    let mut fields = number(1, location);
    values.iter().for_each(|value| fields.extend(number(2, *value)));
    message(2, &fields)
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn a_small_profile_is_read_packed_or_not() {
    let plain = small(&[sample(1, &[5])]);
    for bytes in [packed(&plain), plain] {
        let profile = profile::read(&bytes).expect("a profile");
        assert_eq!(profile.total(0), 5);
    }
}

#[test]
fn what_points_out_of_its_tables_is_refused() {
    for (changed, words) in [
        (sample(9, &[1]), "location 9"),
        (sample(1, &[1, 2]), "2 values where there are 1 kinds"),
        (sample(1, &[]), "0 values"),
        (message(5, &[number(1, 2), number(2, 99)].concat()), "string 99 of 4"),
        (message(5, &[number(1, 2), number(2, u64::MAX)].concat()), "string -1 of 4"),
        (message(5, &number(1, 1)), "two of its functions"),
        (message(5, &number(2, 1)), "identifier 0"),
        (message(4, &[number(1, 2), message(4, &number(1, 7))].concat()), "in function 7"),
        (message(1, &number(1, 44)), "string 44"),
    ] {
        match profile::read(&small(&[changed])) {
            Err(Error::Damaged { what, .. }) => assert!(what.contains(words), "{words}: {what}"),
            other => panic!("{words}: {other:?}"),
        }
    }
}

#[test]
fn a_profile_cut_anywhere_is_refused_or_whole() {
    let whole = packed(&small(&[sample(1, &[5])]));
    for length in 0..whole.len() {
        assert!(profile::read(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn more_than_is_read_is_refused_in_bounded_memory() {
    // 100 million samples, 600 MB unpacked, come as less than 3 MB.
    let one = sample(1, &[1]);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&small(&[])).expect("memory");
    let million = one.repeat(1_000_000);
    for _ in 0..100 {
        encoder.write_all(&million).expect("memory");
    }
    let bytes = encoder.finish().expect("memory");
    assert!(matches!(
        profile::read(&bytes),
        Err(Error::TooLarge { what: "bytes when unpacked", .. })
    ));
    // As many samples as fit into that many bytes.
    let many = small(&[one.repeat(5_000_000)]);
    assert!(matches!(profile::read(&many), Err(Error::TooLarge { what: "samples", .. })));
    // One stack that never ends.
    let stack = message(2, &message(1, &vec![1; 40 << 20]));
    assert!(matches!(profile::read(&small(&[stack])), Err(Error::TooLarge { .. })));
}

#[test]
fn what_is_no_profile_is_named() {
    for (bytes, words) in [
        (&b"<!doctype html><title>Sign in</title>"[..], "HTML"),
        (b"{\"error\": 1}", "JSON"),
        (b"goroutine profile: total 5\n1 @ 0x1\n", "?debug="),
        (b"PERFILE2\0\0\0", "perf script"),
        (b"\x7fELF\x02\x01", "a program"),
        (b"hello, world", "no known kind"),
    ] {
        match profile::read(bytes) {
            Err(Error::NotAProfile(said)) => assert!(said.contains(words), "{words}: {said}"),
            other => panic!("{words}: {other:?}"),
        }
    }
    assert_eq!(profile::read(b"").unwrap_err(), Error::Empty);
    assert!(matches!(profile::read(&[0x1f, 0x8b, 8, 0, 0]), Err(Error::Gzip(_))));
}

#[test]
fn inlined_calls_are_counted_in_every_stack() {
    // A location of 10,000 inlined calls, 10,000 times in each of two stacks: 200 million frames in 60 KB.
    let line = message(4, &number(1, 1));
    let deep = message(4, &[number(1, 2), line.repeat(10_000)].concat());
    let stack = [varint(2).repeat(10_000)].concat();
    let one = message(2, &[message(1, &stack), number(2, 1)].concat());
    match profile::read(&small(&[deep, one.clone(), one])) {
        Err(Error::TooLarge { what, .. }) => assert_eq!(what, "frames in its stacks"),
        other => panic!("{:?}", other.map(|profile| profile.samples.len())),
    }
}

#[test]
fn a_long_name_is_not_copied_without_bounds() {
    // 20,000 mapped files of one name of 100 KB: 2 GB.
    let name = message(6, &vec![b'a'; 100_000]);
    let mapping = |id: u64| message(3, &[number(1, id), number(5, 4)].concat());
    let mappings: Vec<Vec<u8>> = (1..=20_000).map(mapping).collect();
    // And as many lines of a function of that name, which listings by line write out.
    let function = message(5, &[number(1, 2), number(2, 4)].concat());
    let line = |at: u64| message(4, &[number(1, 2), number(2, at)].concat());
    let lines: Vec<u8> = (1..=20_000).flat_map(line).collect();
    let place = message(4, &[number(1, 2), lines].concat());
    for changed in [vec![name.clone(), mappings.concat()], vec![name, function, place]] {
        match profile::read(&small(&changed)) {
            Err(Error::TooLarge { what, .. }) => assert_eq!(what, "bytes of names"),
            other => panic!("{:?}", other.map(|profile| profile.mappings.len())),
        }
    }
}

#[test]
fn a_profile_without_kinds_of_values_is_none() {
    let bytes = [message(6, b""), message(6, b"main")].concat();
    let why = profile::read(&bytes).unwrap_err().to_string();
    assert!(why.contains("no kinds of values"), "{why}");
}
