//! Whatever machines and services tell is read or refused, within the bounds of a sample.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Sample;
use model::sample::MOST_VALUES;
use observe::proc::{kmsg, memory, network, processes, processors, sockets};
use observe::sources::statement::{Quotes, shape};
use observe::sources::{cache, exec, nginx, nginx_log, prometheus};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut sample = Sample::new(0);
    processors::stat(&text, &mut sample);
    processors::loadavg(&text, &mut sample);
    processors::pressure("io", &text, &mut sample);
    memory::meminfo(&text, &mut sample);
    memory::vmstat(&text, &mut sample);
    memory::diskstats(&text, &mut sample);
    network::snmp(&text, &mut sample);
    network::netstat(&text, &mut sample);
    network::sockstat(&text, 4096, &mut sample);
    network::dev(&text, &mut sample);
    network::softnet(&text, &mut sample);
    network::conntrack(&text, &mut sample);
    let _ = (nginx::parse(&text, &mut sample), prometheus::parse(&text, &mut sample));
    cache::info(&text, &mut sample);
    let _ = cache::stats(&text, &mut sample);
    assert!(sample.counters.len() + sample.gauges.len() <= MOST_VALUES);
    let _ = kmsg::kind(&text);
    nginx_log::count(text.as_bytes(), &mut std::collections::BTreeMap::new());
    for quotes in [Quotes::Names, Quotes::Strings] {
        let shape = shape(&text, quotes);
        assert!(shape.chars().count() <= 140 && !shape.chars().any(char::is_control));
    }
    let _ = (processors::cpu_stat(&text), processors::cpu_max(&text), processors::cpus_in(&text));
    let _ = (processes::stat(&text), processes::status(&text), processes::io(&text));
    let _ = (processes::files_limit(&text), processes::schedstat(&text));
    let _ = sockets::answer(data, |message| {
        let _ = (sockets::listener(message), sockets::connection(message));
    });
    if let Ok(sample) = exec::parse(data) {
        assert!(sample.counters.len() + sample.gauges.len() <= MOST_VALUES);
    }
});
