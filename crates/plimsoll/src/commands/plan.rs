//! `plimsoll plan`: what a run would do, and where each value comes from. Nothing is sent.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::IpAddr;
use std::path::PathBuf;

use model::Mix;
use model::plan::{EXPECT_FIRST, FlowPlan};
use model::quote::{counted, grouped};
use model::units::exact_duration;
use report::preview::{Line, Preview, Request, SCHEMA, Writes, shown, text};
use verdict::exit::{COULD_NOT_RUN, DONE};

use crate::args::{IoArg, LoadArgs, PlanArgs, TextOrJson, TlsVersion};
use crate::failure::{Failure, usage};
use crate::load::input::{LoadInput, LoadProfile, Requests};
use crate::load::script_run::{SCRIPT_MISSING, unreadable};
use crate::load::settings::{Origin, Setting, ShapeSettings};
use crate::load::shape::{IdleWorkers, MOST_THREADS, Shape, threads};
use crate::results::output;
use crate::secrets;
use measure::clock::now_unix_ns;

/// Requests shown at most.
const MOST_SAMPLES: u64 = 10_000;

/// Runs the command; the exit code.
///
/// # Errors
/// On all that is wrong with flags or file.
pub fn plan(args: &PlanArgs) -> Result<u8, Failure> {
    if args.samples > MOST_SAMPLES {
        return usage(format!("--samples: at most {MOST_SAMPLES}"));
    }
    let input = LoadInput::to_show(&args.url, &args.load)?;
    let shape = input.shape(&args.shape)?;
    shape.shape().check()?;
    input.settings.check(shape.shape())?;
    let workers = threads(args.load.threads, shape.connections.value, IdleWorkers::Refused)?;
    shape.shape().check_arrivals(workers)?;
    check_script(&args.load)?;
    let preview = preview(args, &input, &shape);
    let printed = output::print(&match args.format {
        TextOrJson::Text => text(&preview, output::style()),
        TextOrJson::Json => output::json(&preview) + "\n",
    });
    Ok(if printed { DONE } else { COULD_NOT_RUN })
}

fn preview(args: &PlanArgs, input: &LoadInput, shape: &ShapeSettings) -> Preview {
    let (mix, environment, unset, writes) = match input.workload() {
        None => (Mix::default(), BTreeSet::new(), Vec::new(), None),
        Some((_, ready)) => {
            let compiled = &ready.compiled;
            let sent = requests(shape.shape(), compiled.mix());
            let writes = Writes {
                share: compiled.write_share(),
                requests: sent.map(|n| (n * compiled.write_share()).round() as u64),
                left_out: compiled.left_out().to_vec(),
            };
            (compiled.mix().clone(), ready.environment.clone(), ready.unset.clone(), Some(writes))
        }
    };
    Preview {
        schema: SCHEMA.to_owned(),
        settings: settings(args, input, shape),
        requests: samples(args, input, &mix),
        mix,
        writes,
        environment: environment.into_iter().collect(),
        unset,
    }
}

/// What keeps a script's load from being one. The script itself is not run here.
fn check_script(args: &LoadArgs) -> Result<(), Failure> {
    match &args.script {
        None if !args.script_args.is_empty() => usage(SCRIPT_MISSING),
        Some(path) => match File::open(path) {
            Ok(_) => Ok(()),
            Err(why) => Err(unreadable(path, &why)),
        },
        None => Ok(()),
    }
}

/// The requests that a run of this shape makes, where they do not depend on responses.
fn requests(shape: Shape, mix: &Mix) -> Option<f64> {
    let arrivals = shape.rate_per_s.zip(shape.duration_ns).map(|(rate, ns)| rate * ns as f64 / 1e9);
    let by_rate = arrivals.and_then(|arrivals| Some(arrivals * requests_per_arrival(mix)?));
    match (shape.requests.map(|n| n as f64), by_rate) {
        (Some(count), Some(by_rate)) => Some(count.min(by_rate)),
        (Some(count), None) if shape.duration_ns.is_none() => Some(count),
        (_, by_rate) => by_rate,
    }
}

/// Requests that an arrival makes on average: one, or all steps of a session. Absent where the shares of sessions depend
/// on responses.
fn requests_per_arrival(mix: &Mix) -> Option<f64> {
    let further = |flow: &FlowPlan| Some(flow.share? * (flow.steps.len() as f64 - 1.0));
    let further: Option<f64> = mix.flows.iter().map(further).sum();
    Some(1.0 + further?)
}

fn samples(args: &PlanArgs, input: &LoadInput, mix: &Mix) -> Vec<Request> {
    match &input.requests {
        // What the script makes of this one is known when it has run.
        Requests::One { .. } if args.load.script.is_some() => Vec::new(),
        Requests::One { request, .. } => {
            let text = secrets::mask_request(&shown(request));
            vec![Request { endpoint: String::new(), text }]
        }
        Requests::Workload(_, ready) => {
            let of = |endpoint: u32| mix.endpoints.get(endpoint as usize).map(|e| e.name.clone());
            let samples = ready.compiled.sample(args.samples as u32, now_unix_ns());
            let host =
                ready.target_unset.then(|| format!("\nHost: {}\n", input.destination.authority));
            let known = |text: String| match &host {
                Some(host) => text.replacen(host, "\nHost: ***\n", 1),
                None => text,
            };
            let each = samples.into_iter().map(|sample| Request {
                endpoint: of(sample.endpoint).unwrap_or_default(),
                text: known(secrets::mask_request(&shown(&sample.masked))),
            });
            each.collect()
        }
    }
}

fn settings(args: &PlanArgs, input: &LoadInput, shape: &ShapeSettings) -> Vec<Line> {
    let settings = &input.settings;
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String, origin: Origin| {
        lines.push(Line { name: name.to_owned(), value, origin: name_of(origin) });
    };
    if let Some((file, _)) = input.workload() {
        add("workload", file.path().display().to_string(), Origin::Flag);
    }
    let url = match input.workload() {
        Some((file, ready)) if ready.target_unset => &file.workload().target,
        _ => input.destination.url.as_str(),
    };
    add("target", secrets::mask_url(url), input.named_by);
    if let Some(factor) = args.load.scale {
        let before = input.workload().map(|(file, _)| before_scale(&file.workload().load));
        let before = before.flatten().map(|load| format!(", {load} before")).unwrap_or_default();
        add("scale", format!("{factor}{before}"), Origin::Flag);
    }
    way(args, input, &mut add);
    if let Some(LoadProfile { stages, recorded }) = input.profile() {
        let what = recorded.map_or_else(
            || counted(stages.len() as u64, "stage"),
            |dues| format!("a trace of {}", counted(dues.len() as u64, "arrival")),
        );
        add("load profile", what, Origin::File);
    }
    match &shape.rate_per_s {
        Setting { value: Some(rate), origin } => {
            // Rates of endpoints add up to 0.30000000000000004.
            let rounded = format!("{rate:.11e}").parse::<f64>().unwrap_or(*rate);
            let arrivals = if rounded == 1.0 { "arrival" } else { "arrivals" };
            let rate = verdict::figures::level(rounded);
            add("loop", format!("open, {rate} {arrivals} a second"), *origin);
            add("arrivals", settings.arrivals.value.name().to_owned(), settings.arrivals.origin);
            let cap = format!("{} at most", grouped(shape.connections.value));
            add("connections", cap, shape.connections.origin);
        }
        Setting { value: None, .. } => {
            let users = format!("closed, {}", counted(shape.connections.value, "user"));
            add("loop", users, shape.connections.origin);
            for (name, setting) in [("pace", &settings.pace_ns), ("think time", &settings.think_ns)]
            {
                if let Some(ns) = setting.value {
                    add(name, exact_duration(ns), setting.origin);
                }
            }
        }
    }
    match shape.duration_ns.value {
        Some(ns) => add("window", exact_duration(ns), shape.duration_ns.origin),
        None => add("window", "until the requests are sent".to_owned(), shape.duration_ns.origin),
    }
    if let Some(count) = shape.requests.value {
        add("requests at most", grouped(count), shape.requests.origin);
    }
    for (name, setting) in [("warm-up", &settings.warmup_ns), ("ramp", &settings.ramp_ns)] {
        add(name, exact_duration(setting.value), setting.origin);
    }
    add("time-out", exact_duration(settings.timeout_ns.value), settings.timeout_ns.origin);
    add("success", settings.success.value.to_string(), settings.success.origin);
    add("seed", settings.seed.value.to_string(), settings.seed.origin);
    for (name, value) in &input.headers {
        add("header", format!("{name}: {value}"), origin_of_header(args, input, name));
    }
    lines
}

/// Which way requests take, and how they leave.
fn way(args: &PlanArgs, input: &LoadInput, add: &mut impl FnMut(&str, String, Origin)) {
    for (name, value) in of_flags(&args.load) {
        add(name, value, Origin::Flag);
    }
    if input.destination.tls {
        tls(args, input, add);
    }
}

/// What only flags say.
fn of_flags(args: &LoadArgs) -> impl Iterator<Item = (&'static str, String)> {
    let path = |path: &PathBuf| path.display().to_string();
    let number = |number: u64| number.to_string();
    let list =
        |list: &[IpAddr]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let script = |script| format!("{}: it makes the requests, and is not run here", path(script));
    let said = |flag: bool, words: &str| flag.then(|| words.to_owned());
    [
        ("script", args.script.as_ref().map(script)),
        ("connect to", args.connect_to.clone()),
        ("Unix socket", args.unix.first().map(path)),
        ("from", (!args.source.is_empty()).then(|| list(&args.source))),
        ("redirects", args.follow.map(|hops| format!("{hops} followed before the load, at most"))),
        ("workers", args.threads.map(|threads| threads.min(MOST_THREADS)).map(number)),
        ("keep-alive", said(args.no_keepalive, "no: a connection for each request")),
        ("pipeline", Some(args.pipeline).filter(|depth| *depth > 1).map(number)),
        ("in flight at most", args.max_inflight.map(number)),
        ("timing", said(args.spin, "exact: workers never sleep")),
        ("kernel interface", (args.io != IoArg::Auto).then(|| name_of_io(args.io).to_owned())),
        ("reads only", said(args.reads_only, "yes")),
        ("cookies", said(args.cookies, "kept by each connection")),
        ("expected body", args.expect_body_like.as_deref().map(expected)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

/// What bodies are compared with.
fn expected(like: &str) -> String {
    match like {
        EXPECT_FIRST => format!("{like}: of a few requests sent one after another before the load"),
        like => like.to_owned(),
    }
}

const fn name_of_io(io: IoArg) -> &'static str {
    match io {
        IoArg::Auto => "auto",
        IoArg::Uring => "io_uring",
        IoArg::Epoll => "epoll",
    }
}

/// How TLS is used, where something says so.
fn tls(args: &PlanArgs, input: &LoadInput, add: &mut impl FnMut(&str, String, Origin)) {
    let flags = &args.load.tls;
    let file =
        input.workload().and_then(|(file, _)| file.workload().tls.clone()).unwrap_or_default();
    let either = |flag: bool, file: bool| match (flag, file) {
        (true, _) => Some(Origin::Flag),
        (false, true) => Some(Origin::File),
        (false, false) => None,
    };
    if let Some(origin) = either(flags.insecure, file.insecure) {
        add("certificate", "not checked".to_owned(), origin);
    }
    if let Some(origin) = either(flags.sni.is_some(), file.sni.is_some()) {
        add("TLS name", flags.sni.clone().or(file.sni).unwrap_or_default(), origin);
    }
    if let Some(origin) = either(flags.tls_resume, file.resume) {
        add("TLS sessions", "resumed".to_owned(), origin);
    }
    if (flags.tls_min, flags.tls_max) != (TlsVersion::V1_2, TlsVersion::V1_3) {
        add("TLS", format!("{} to {}", flags.tls_min.name(), flags.tls_max.name()), Origin::Flag);
    }
}

/// The load of the whole as the file has it, if it says one for the whole.
fn before_scale(load: &model::workload::LoadSpec) -> Option<String> {
    let rate = load.rate.map(|rate| rate.to_string());
    rate.or_else(|| load.concurrency.map(|users| counted(users.0, "user")))
}

fn origin_of_header(args: &PlanArgs, input: &LoadInput, name: &str) -> Origin {
    let named = |text: &String| {
        text.split_once(':').is_some_and(|(given, _)| given.trim().eq_ignore_ascii_case(name))
    };
    match input.workload() {
        Some(_) if !args.load.headers.iter().any(named) => Origin::File,
        _ => Origin::Flag,
    }
}

fn name_of(origin: Origin) -> String {
    match origin {
        Origin::Flag => "flag",
        Origin::Environment => "environment",
        Origin::File => "file",
        Origin::Default => "default",
    }
    .to_owned()
}
