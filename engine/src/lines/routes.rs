//! The routes of a slice or a summary, as lines spell them.

use super::{Latency, Response, encode, some};
use crate::order::Request;
use crate::slice::{Outcome, Route, Slice};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One route.
#[derive(Serialize)]
pub struct RouteLine<'r> {
    name: &'r str,
    method: &'r str,
    path: &'r str,
    offered: u64,
    ok: u64,
    errors: Map<String, Value>,
    bytes_in: u64,
    latency_hdr: Option<String>,
    response_hdr: Option<String>,
    #[serde(flatten)]
    whole: Option<Whole>,
}

/// What the summary alone says.
#[derive(Serialize)]
struct Whole {
    statuses: BTreeMap<String, u64>,
    latency_ns: Option<Latency>,
    response_ns: Option<Response>,
}

/// The routes of a slice, in the order's order.
pub fn of_slice<'r>(slice: &Slice, requests: &'r [Request]) -> Vec<RouteLine<'r>> {
    slice.routes.iter().zip(requests).map(|(route, request)| line(route, request)).collect()
}

/// As [`of_slice`], without times.
pub fn of_counts<'r>(slice: &Slice, requests: &'r [Request]) -> Vec<RouteLine<'r>> {
    slice.routes.iter().zip(requests).map(|(route, request)| counts(route, request)).collect()
}

/// The routes of the steady phase.
pub fn of_summary<'r>(slice: &Slice, requests: &'r [Request]) -> Vec<RouteLine<'r>> {
    let whole = |route: &Route| Whole {
        statuses: route.statuses().map(|(status, n)| (status.to_string(), n)).collect(),
        latency_ns: Latency::of(&route.latency.histogram()),
        response_ns: Response::of_times(&route.response, route.censored, route.censored_above),
    };
    let each = slice.routes.iter().zip(requests);
    each.map(|(route, request)| RouteLine { whole: Some(whole(route)), ..line(route, request) }).collect()
}

fn line<'r>(route: &Route, request: &'r Request) -> RouteLine<'r> {
    let latency_hdr = encode(&route.latency.histogram());
    let same = route.response == route.latency && !route.response.is_empty();
    let response_hdr = if same { Some(latency_hdr.clone()) } else { some(&route.response) };
    RouteLine { latency_hdr: Some(latency_hdr), response_hdr, ..counts(route, request) }
}

fn counts<'r>(route: &Route, request: &'r Request) -> RouteLine<'r> {
    let error = |o: &Outcome| (o.name().to_string(), route.outcome(*o).into());
    RouteLine {
        name: &request.name,
        method: &request.method,
        path: &request.path,
        offered: route.offered(),
        ok: route.outcome(Outcome::Ok),
        errors: Outcome::ALL.iter().filter(|o| **o != Outcome::Ok).map(error).collect(),
        bytes_in: route.bytes_in,
        latency_hdr: None,
        response_hdr: None,
        whole: None,
    }
}
