//! A thread that ends in mid-transfer.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use os2g_wire::Class;
use tokio::task::yield_now;

use super::IoThread;
use crate::RegionId;
use crate::engine::Engine;
use crate::records::{CANCEL, Completion, FAILED, Submission};
use crate::testing::{OneObject, SIZE, accept_request, begun_answer, get, options_for, until};
use crate::worker::Worker;

/// Memory that says when it was let go.
struct Keep(Arc<AtomicBool>);

impl Drop for Keep {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn begin_answer(listener: &TcpListener) -> TcpStream {
    let mut tcp = accept_request(listener);
    tcp.write_all(&begun_answer(1000)).unwrap();
    tcp
}

/// The worker's work until so many attempts have bytes in their targets; then a panic.
async fn fall(worker: Arc<Worker>, attempts: usize, falls: impl Fn(&Arc<Worker>)) -> Result<(), String> {
    let work = tokio::spawn(Arc::clone(&worker).run());
    let moving = || {
        let running = worker.running.lock().unwrap();
        running
            .values()
            .filter(|one| one.progress.bytes() == 1000)
            .count()
    };
    while moving() < attempts {
        yield_now().await;
    }
    falls(&worker);
    work.await.unwrap()
}

/// Two attempts run when the thread falls: both end, what comes later ends at once, and the memory is kept until the close.
fn check(doing: impl Fn(Arc<Worker>) -> std::io::Result<IoThread>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let wakes = Arc::new(AtomicU32::new(0));
    let its_wakes = Arc::clone(&wakes);
    let wake = Box::new(move || {
        its_wakes.fetch_add(1, Ordering::SeqCst);
    });
    let options = options_for(listener.local_addr().unwrap());
    let engine = Engine::start_on(options, Arc::new(OneObject), wake, doing).unwrap();
    let let_go = Arc::new(AtomicBool::new(false));
    let mut memory = vec![0_u8; 2 * SIZE];
    // SAFETY: the memory outlives the engine, and is looked at where no attempt runs only.
    let region = unsafe {
        engine.register(
            memory.as_mut_ptr(),
            memory.len(),
            Box::new(Keep(Arc::clone(&let_go))),
        )
    };
    assert_eq!(region, RegionId(0));

    assert!(!engine.arm());
    engine.submit(&[get(0), get(1)]);
    let stores = [begin_answer(&listener), begin_answer(&listener)];
    let mut ended = [Completion::default(); 8];
    let failures = || {
        let mut all = Vec::new();
        let mut some = [Completion::default(); 8];
        until("all ends", || {
            let count = engine.poll(&mut some);
            all.extend(
                some[..count]
                    .iter()
                    .filter(|one| one.kind == FAILED)
                    .map(|one| one.id),
            );
            all.len() == 2
        });
        all.sort_unstable();
        all
    };
    assert_eq!(failures(), [0, 1]);
    until("a wake-up", || wakes.load(Ordering::SeqCst) == 1);
    for id in 0..2 {
        let failure = engine.failure(id).unwrap();
        assert_eq!(failure.class, Class::Internal);
        assert_eq!(failure.what.unwrap(), "the I/O thread of this request has ended");
    }
    for mut tcp in stores {
        let _ = tcp.write_all(&[9; 5000]);
        assert!(
            matches!(tcp.read(&mut [0]), Ok(0) | Err(_)),
            "the socket is closed"
        );
    }
    assert!(memory.iter().all(|&byte| byte != 9), "written after the end");
    assert_eq!(engine.sockets(), 0);

    let cancel = Submission {
        kind: CANCEL,
        ..get(5)
    };
    engine.submit(&[get(0), cancel]);
    engine.submit(&[get(1)]);
    assert_eq!(failures(), [0, 1]);
    let failure = engine.failure(1).unwrap();
    assert_eq!(failure.class, Class::Internal);
    assert_eq!(
        failure.what.unwrap(),
        "an I/O thread of the engine has panicked: fallen"
    );
    let told = "an I/O thread of the engine has panicked: fallen; its requests fail from now on";
    assert_eq!(engine.notices(), [told]);
    assert_eq!(engine.poll(&mut ended), 0, "nothing ends twice");
    assert!(
        !let_go.load(Ordering::SeqCst),
        "the memory is the engine's until it is closed"
    );
    engine.close();
    assert!(let_go.load(Ordering::SeqCst));
}

fn doing<F: Future<Output = Result<(), String>> + Send + 'static>(
    work: impl Fn(Arc<Worker>) -> F,
) -> impl Fn(Arc<Worker>) -> std::io::Result<IoThread> {
    move |worker| IoThread::doing(Arc::clone(&worker), work(worker))
}

#[test]
fn the_thread_itself_panics() {
    check(doing(|worker| fall(worker, 2, |_| panic!("fallen"))));
}

#[test]
fn a_part_of_its_work_panics() {
    check(doing(|worker| {
        fall(worker, 2, |worker| worker.spawn_part(async { panic!("fallen") }))
    }));
}
