//! What a GET costs: CPU microseconds a request and requests a second, of the engine and of a plain `recv` loop over the
//! same bytes and the same number of connections, in turns within one run.
//!
//! ```text
//! get-bench --urls FILE [--in-flight 32] [--requests 8000] [--rounds 6] [--mode both|engine|recv] [--ca FILE] [--threads 1]
//!           [--landing-bytes 33554432] [--serve FOLDER]
//! ```
//! Each line of FILE is a URL and the object's size in bytes; all are of one host. Requests of the engine are signed. `--serve`, with
//! one mode, takes rounds from the standard input; FOLDER holds what the store serves (see `get-bench/serve.rs`).

#[path = "get-bench/client.rs"]
mod client;
#[path = "get-bench/floor.rs"]
mod floor;
#[path = "get-bench/landing.rs"]
mod landing;
#[path = "get-bench/meter.rs"]
mod meter;
#[path = "get-bench/run.rs"]
mod run;
#[path = "get-bench/serve.rs"]
mod serve;

use std::error::Error;
use std::io;
use std::path::Path;

use client::{Client, unseen};
use floor::Floor;
use landing::Landing;
use meter::{Cost, Meter};
use run::Bare;

/// One object of the list.
pub struct Item {
    path: String,
    size: usize,
}

/// What is measured.
pub struct Plan {
    tls: bool,
    host: String,
    hostname: String,
    port: u16,
    items: Vec<Item>,
    in_flight: usize,
    landing_bytes: usize,
    threads: usize,
    ca_pem: Option<String>,
}

impl Plan {
    fn landing(&self) -> io::Result<Landing> {
        let largest = self.items.iter().map(|item| item.size).max().unwrap_or(0);
        Landing::new(self.in_flight, largest, self.landing_bytes)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let option = |name: &str| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1)
    };
    let number = |name: &str, default: usize| option(name).map_or(Ok(default), |text| text.parse());
    let urls = std::fs::read_to_string(option("--urls").ok_or("--urls FILE is needed")?)?;
    let mut plan = plan(&urls)?;
    plan.in_flight = number("--in-flight", 32)?;
    plan.landing_bytes = number("--landing-bytes", 32 << 20)?;
    plan.threads = number("--threads", 1)?;
    plan.ca_pem = option("--ca").map(std::fs::read_to_string).transpose()?;
    let mode = option("--mode").unwrap_or_else(|| "both".to_owned());
    if let Some(root) = option("--serve") {
        let mut client: Box<dyn Client> = match mode.as_str() {
            "recv" => Box::new(Floor::new(&plan)?),
            _ => Box::new(Bare::new(&plan)?),
        };
        return serve::serve(&plan, client.as_mut(), Path::new(&root));
    }
    compare(&plan, &mode, number("--rounds", 6)?, number("--requests", 8000)?)
}

fn compare(plan: &Plan, mode: &str, rounds: usize, requests: usize) -> Result<(), Box<dyn Error>> {
    let (mut engine, mut floor) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if mode != "engine" && !plan.tls {
            floor.push(measure(&mut Floor::new(plan)?, requests, round, "recv  ")?);
        }
        if mode != "recv" {
            engine.push(measure(&mut Bare::new(plan)?, requests, round, "engine")?);
        }
    }
    let least = |costs: &[Cost]| costs.iter().map(|cost| cost.cpu_us).fold(f64::INFINITY, f64::min);
    let least_io = engine.iter().map(|cost| cost.io_us).fold(f64::INFINITY, f64::min);
    println!(
        "least CPU us/request: engine {:.1} (I/O threads {least_io:.1}), recv {:.1}",
        least(&engine),
        least(&floor)
    );
    if !engine.is_empty() && !floor.is_empty() {
        let io = least_io / least(&floor);
        println!(
            "engine / recv: {:.3} (I/O threads {io:.3})",
            least(&engine) / least(&floor)
        );
    }
    Ok(())
}

fn measure(
    client: &mut dyn Client,
    requests: usize,
    round: usize,
    name: &str,
) -> Result<Cost, Box<dyn Error>> {
    client.read(128, &mut unseen)?; // connections and caches
    let meter = Meter::start();
    client.read(requests, &mut unseen)?;
    let cost = meter.stop(requests);
    println!("round {round}: {name} {cost}{}", client.note());
    Ok(cost)
}

fn plan(urls: &str) -> Result<Plan, Box<dyn Error>> {
    let mut items = Vec::new();
    let mut place = None;
    for line in urls.lines().filter(|line| !line.trim().is_empty()) {
        let (url, size) = line.split_once(' ').ok_or("a line is not URL and size")?;
        let (scheme, rest) = url.split_once("://").ok_or("no URL")?;
        let (host, path) = rest.split_once('/').ok_or("a URL without a path")?;
        place.get_or_insert_with(|| (scheme == "https", host.to_owned()));
        items.push(Item {
            path: path.to_owned(),
            size: size.trim().parse()?,
        });
    }
    let (tls, host) = place.ok_or("no URL in the list")?;
    let default = if tls { 443 } else { 80 };
    let (hostname, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name.to_owned(), port.parse()?),
        None => (host.clone(), default),
    };
    Ok(Plan {
        tls,
        host,
        hostname,
        port,
        items,
        in_flight: 1,
        landing_bytes: 0,
        threads: 1,
        ca_pem: None,
    })
}
