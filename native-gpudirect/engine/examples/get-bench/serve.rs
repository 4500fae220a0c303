//! Rounds on demand, for a benchmark that drives several clients in turn: each line of the standard input is an order, each
//! line of the standard output its answer, a JSON document.
//!
//! ```text
//! round N   read N objects; what that cost: {"gets", "bytes", "cpuUs", "systemUs", "wallUs", "wakes"?}, sums
//! verify    read each object once and compare it with its file: {"verified", "bytes"}
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use crate::Plan;
use crate::client::{Client, unseen};
use crate::meter::Meter;

/// Until the standard input ends. `root` is the folder that the store serves.
pub fn serve(plan: &Plan, client: &mut dyn Client, root: &Path) -> Result<(), Box<dyn Error>> {
    answer("{\"ready\":true}")?;
    for line in io::stdin().lines() {
        match line?.split_once(' ') {
            Some(("round", count)) => answer(&round(plan, client, count.parse()?)?)?,
            _ => answer(&verify(plan, client, root)?)?,
        }
    }
    Ok(())
}

fn answer(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn round(plan: &Plan, client: &mut dyn Client, gets: usize) -> Result<String, Box<dyn Error>> {
    let meter = Meter::start();
    client.read(gets, &mut unseen)?;
    let cost = meter.stop(gets);
    let [cpu, system] = [cost.cpu_us, cost.system_us].map(|each| each * gets as f64);
    let wall = gets as f64 / cost.requests_per_s * 1e6;
    let bytes = gets * plan.items.first().map_or(0, |item| item.size);
    let wakes = client
        .wakes()
        .map_or_else(String::new, |wakes| format!(",\"wakes\":{wakes}"));
    Ok(format!(
        "{{\"gets\":{gets},\"bytes\":{bytes},\"cpuUs\":{cpu:.0},\"systemUs\":{system:.0},\"wallUs\":{wall:.0}{wakes}}}"
    ))
}

fn verify(plan: &Plan, client: &mut dyn Client, root: &Path) -> Result<String, Box<dyn Error>> {
    let mut bytes = 0;
    client.read(plan.items.len(), &mut |item, body| {
        let path = &plan.items[item].path;
        if std::fs::read(root.join(path))? != body {
            return Err(format!("{path}: other bytes than in the file").into());
        }
        bytes += body.len();
        Ok(())
    })?;
    Ok(format!("{{\"verified\":{},\"bytes\":{bytes}}}", plan.items.len()))
}
