//! Profiles are read or refused, never panicked over; what is read can be listed, filtered, summed up and predicted from.

#![no_main]

use libfuzzer_sys::fuzz_target;
use profile::costs::{Taken, costs};
use profile::{Filter, Form, Granularity, Listing, Wanted};

fuzz_target!(|data: &[u8]| {
    let Ok(profile) = profile::read(data) else { return };
    let Ok(kind) = profile.kind(None) else { return };
    let taken = Taken {
        profile: &profile,
        kind,
        allocations: None,
        requests: Some(10.0),
        own: &[],
        source: "fuzz",
    };
    let profiled = costs(&taken).expect("without allocations nothing can be missing");
    assert_eq!(profiled.stacks, profile.samples.len() as u64);
    let filter = Filter::new(Some("a"), Some("zz"), Some("b"), None).expect("patterns");
    for (form, granularity) in [
        (Form::Top, Granularity::Line),
        (Form::Tree, Granularity::Function),
        (Form::Peek, Granularity::File),
    ] {
        let wanted =
            Wanted { granularity, filter: filter.clone(), nodes: Some(5), ..Wanted::default() };
        let listing = Listing::new(profile.clone(), &wanted, form).expect("the kind is there");
        let _ = (listing.top(), listing.tree(None));
    }
});
