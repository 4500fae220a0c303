//! The engine: submit, be woken, drain, submit.

use std::error::Error;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use os2g_engine::*;

use crate::landing::{Cost, Landing, Meter};
use crate::{Item, Plan};

struct Table(Vec<(Vec<u8>, u64)>);

impl ObjectTable for Table {
    fn rows(&self) -> u64 {
        self.0.len() as u64
    }
    fn key(&self, row: u64) -> &[u8] {
        &self.0[row as usize].0
    }
    fn etag(&self, _row: u64) -> Option<&[u8]> {
        None
    }
    fn object_size(&self, row: u64) -> u64 {
        self.0[row as usize].1
    }
}

pub fn run(plan: &Plan, landing: &Landing) -> Result<Cost, Box<dyn Error>> {
    let bell: Arc<(Mutex<bool>, Condvar)> = Arc::default();
    let its = Arc::clone(&bell);
    let wake = move || {
        *its.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        its.1.notify_one();
    };
    let rows = plan
        .items
        .iter()
        .map(|Item { path, size }| (path.clone().into_bytes(), *size as u64));
    let engine = Engine::start(options(plan), Arc::new(Table(rows.collect())), Box::new(wake))?;
    engine.set_credentials(Some(Credentials {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
        session_token: None,
        expires_at_ms: None,
    }));
    let bytes = landing.memory.0.len();
    // SAFETY: the memory lives as long as what is handed over with it; each slot is one request's.
    let region = unsafe { engine.register(landing.start(), bytes, Box::new(Arc::clone(&landing.memory))) };
    let record = |id: usize, n: usize| {
        let row = n % plan.items.len();
        Submission {
            kind: GET,
            id: id as u32,
            attempt: 1,
            region: region.0,
            row: row as f64,
            offset: 0.0,
            length: plan.items[row].size as f64,
            target: (id * landing.slot_bytes) as f64,
            reserved: [0.0; 2],
        }
    };
    let mut done = [Completion::default(); 256];
    let mut next = Vec::new();
    let (mut sent, mut ended, mut wakes) = (0, 0, 0);
    let pass = |requests: usize,
                sent: &mut usize,
                ended: &mut usize,
                wakes: &mut usize,
                next: &mut Vec<Submission>,
                done: &mut [Completion]|
     -> Result<(), Box<dyn Error>> {
        let goal = *ended + requests;
        next.extend((0..plan.in_flight.min(requests)).map(|id| record(id, *sent + id)));
        *sent += next.len();
        engine.submit(next);
        while *ended < goal {
            next.clear();
            loop {
                let count = engine.poll(done);
                for completion in &done[..count] {
                    match completion.kind {
                        FIRST_BYTE => continue,
                        FETCHED => {}
                        _ => return Err(format!("{:?}", engine.failure(completion.id)).into()),
                    }
                    *ended += 1;
                    if *sent < goal {
                        next.push(record(completion.id as usize, *sent));
                        *sent += 1;
                    }
                }
                if count == 0 {
                    break;
                }
            }
            engine.submit(next);
            if *ended < goal && !engine.arm() {
                let rung = bell.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let (mut rung, late) = bell
                    .1
                    .wait_timeout_while(rung, Duration::from_secs(30), |rung| !*rung)
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                if late.timed_out() {
                    return Err("no completion for 30 s".into());
                }
                *rung = false;
                *wakes += 1;
            }
        }
        next.clear();
        Ok(())
    };
    pass(
        plan.in_flight * 4,
        &mut sent,
        &mut ended,
        &mut wakes,
        &mut next,
        &mut done,
    )?; // connections and caches
    wakes = 0;
    let meter = Meter::start();
    pass(
        plan.requests,
        &mut sent,
        &mut ended,
        &mut wakes,
        &mut next,
        &mut done,
    )?;
    let note = format!(
        ", {:.1} requests a wake, {} sockets",
        plan.requests as f64 / wakes as f64,
        engine.sockets()
    );
    Ok(meter.stop(plan.requests, note))
}

fn options(plan: &Plan) -> EngineOptions {
    let limit = Duration::from_secs(20);
    EngineOptions {
        tls: plan.tls,
        hostname: plan.hostname.clone(),
        port: plan.port,
        host: plan.host.clone(),
        path_prefix: String::new(),
        signing_region: "us-east-1".to_owned(),
        signing_service: "s3".to_owned(),
        requester_pays: false,
        verify: Verify::Etag,
        limits: Limits {
            connect: limit,
            first_byte: limit,
            idle: limit,
            total: None,
        },
        max_connections: plan.in_flight,
        threads: plan.threads,
        ca_pem: plan.ca_pem.clone(),
        proxy: None,
        wall_ms: Arc::new(system_wall_ms),
    }
}
