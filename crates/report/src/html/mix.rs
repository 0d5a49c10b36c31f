//! Endpoints and flows on the page of a run.

use maud::{Markup, html};
use model::run::Run;

use super::parts;
use crate::figure::{clean, count};
use crate::text::mix::{ENDPOINT, FLOW, cut_off, endpoint_cells, failures, flow_cells};

/// The tables, with what failed below them.
pub(super) fn run(run: &Run) -> Markup {
    let named = |name: &str, cells: &[String]| {
        let name = html! { (clean(name, 200)) };
        std::iter::once(name).chain(cells.iter().map(|cell| html! { (cell) })).collect()
    };
    let endpoints =
        run.endpoints.iter().map(|one| named(&one.name, &endpoint_cells(one, run.interrupted)));
    let flows = run.flows.iter().map(|one| named(&one.name, &flow_cells(one)));
    html! {
        (parts::rows(&headers("endpoint", &ENDPOINT), endpoints))
        (failed(run))
        @if !run.flows.is_empty() {
            h3 { "Flows" }
            (parts::rows(&headers("flow", &FLOW), flows))
            @for (flow, words) in run.flows.iter().filter_map(|one| Some((one, cut_off(one)?))) {
                p { (clean(&flow.name, 200)) ": " (words) "." }
            }
            (failed_steps(run))
        }
    }
}

fn headers<'a>(first: &'a str, others: &[&'a str]) -> Vec<&'a str> {
    std::iter::once(first).chain(others.iter().copied()).collect()
}

fn failed(run: &Run) -> Markup {
    let failing = run.endpoints.iter().filter_map(|one| Some((one, failures(one)?)));
    let row = |(endpoint, words): (&model::EndpointRun, String)| {
        let sample = endpoint.sample.as_deref().unwrap_or_default();
        vec![
            html! { (clean(&endpoint.name, 200)) },
            html! { span.words { (words) } },
            html! { span.words { (parts::outside(sample)) } },
        ]
    };
    let rows: Vec<_> = failing.map(row).collect();
    html! {
        @if !rows.is_empty() {
            h3 { "What failed" }
            (parts::rows(&["endpoint", "attempts", "first failed response"], rows.into_iter()))
        }
    }
}

fn failed_steps(run: &Run) -> Markup {
    let steps = run.flows.iter().flat_map(|flow| {
        let row = |(step, n): (&String, &u64)| {
            vec![
                html! { (clean(&flow.name, 200)) },
                html! { span.words { (clean(step, 200)) } },
                html! { (count(*n)) },
            ]
        };
        flow.failed_at.iter().map(row).collect::<Vec<_>>()
    });
    let rows: Vec<_> = steps.collect();
    html! {
        @if !rows.is_empty() {
            (parts::rows(&["flow", "failed at", "sessions"], rows.into_iter()))
        }
    }
}
