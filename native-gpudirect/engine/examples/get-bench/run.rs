//! The engine: submit, be woken, drain, submit.

use std::error::Error;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use os2g_engine::*;

use crate::client::{Client, Seen};
use crate::landing::Landing;
use crate::{Item, Plan};

type Bell = Arc<(Mutex<bool>, Condvar)>;

pub struct Bare<'a> {
    plan: &'a Plan,
    landing: Landing,
    engine: Engine,
    region: RegionId,
    bell: Bell,
    /// The item that is read into each slot.
    items: Vec<usize>,
    next: Vec<Submission>,
    /// Of all calls together.
    sent: usize,
    requests: usize,
    wakes: usize,
}

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

impl<'a> Bare<'a> {
    pub fn new(plan: &'a Plan) -> Result<Bare<'a>, Box<dyn Error>> {
        let bell = Bell::default();
        let its = Arc::clone(&bell);
        let wake = move || {
            *its.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
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
        let landing = plan.landing()?;
        let memory = Arc::clone(&landing.memory);
        // SAFETY: the memory lives as long as what is handed over with it; each slot is one request's.
        let region = unsafe { engine.register(landing.at(0), landing.memory.bytes, Box::new(memory)) };
        Ok(Bare {
            plan,
            items: vec![0; landing.slots()],
            landing,
            engine,
            region,
            bell,
            next: Vec::new(),
            sent: 0,
            requests: 0,
            wakes: 0,
        })
    }

    /// The next request of the list, for the next submission.
    fn ask(&mut self) {
        let (slot, row) = (self.landing.take(), self.sent % self.plan.items.len());
        self.items[slot] = row;
        self.sent += 1;
        self.next.push(Submission {
            kind: GET,
            id: slot as u32,
            attempt: 1,
            region: self.region.0,
            row: row as f64,
            offset: 0.0,
            length: self.plan.items[row].size as f64,
            target: (slot * self.landing.slot_bytes) as f64,
            reserved: [0.0; 2],
        });
    }

    fn ended(&mut self, completion: &Completion, seen: &mut Seen) -> Result<(), Box<dyn Error>> {
        let slot = completion.id as usize;
        let size = self.plan.items[self.items[slot]].size;
        if completion.kind != FETCHED {
            return Err(format!("{:?}", self.engine.failure(completion.id)).into());
        }
        if completion.bytes as usize != size {
            return Err(format!("{} bytes of {size}", completion.bytes).into());
        }
        // SAFETY: its request has ended, and the slot is used again only after it was given back.
        seen(self.items[slot], unsafe { self.landing.bytes(slot, 0, size) })?;
        self.landing.give_back(slot);
        Ok(())
    }

    fn sleep(&mut self) -> Result<(), Box<dyn Error>> {
        let rung = self.bell.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, late) = self
            .bell
            .1
            .wait_timeout_while(rung, Duration::from_secs(30), |rung| !*rung)
            .unwrap_or_else(PoisonError::into_inner);
        if late.timed_out() {
            return Err("no completion for 30 s".into());
        }
        *rung = false;
        self.wakes += 1;
        Ok(())
    }
}

impl Client for Bare<'_> {
    fn read(&mut self, requests: usize, seen: &mut Seen) -> Result<(), Box<dyn Error>> {
        (self.requests, self.wakes) = (requests, 0);
        let goal = self.sent + requests;
        let mut left = requests;
        let mut done = [Completion::default(); 256];
        for _ in 0..self.plan.in_flight.min(requests) {
            self.ask();
        }
        self.engine.submit(&self.next);
        while left > 0 {
            self.next.clear();
            loop {
                let count = self.engine.poll(&mut done);
                for completion in done[..count].iter().filter(|one| one.kind != FIRST_BYTE) {
                    self.ended(completion, seen)?;
                    left -= 1;
                    if self.sent < goal {
                        self.ask();
                    }
                }
                if count == 0 {
                    break;
                }
            }
            self.engine.submit(&self.next);
            if left > 0 && !self.engine.arm() {
                self.sleep()?;
            }
        }
        self.next.clear();
        Ok(())
    }

    fn note(&self) -> String {
        let each = self.requests as f64 / self.wakes as f64;
        format!(", {each:.1} requests a wake, {} sockets", self.engine.sockets())
    }

    fn wakes(&self) -> Option<usize> {
        Some(self.wakes)
    }
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
