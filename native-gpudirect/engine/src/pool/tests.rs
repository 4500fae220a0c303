//! How long an idle connection is kept.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::{IDLE_KEPT, Pool};
use crate::conn::{Conn, Io};
use crate::testing::PATIENCE;

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work);
}

/// A connection, and its other side.
async fn pair() -> (Box<Conn>, TcpStream) {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let listener = TcpListener::bind(any).await.unwrap();
    let tcp = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    tcp.ready(Interest::WRITABLE).await.unwrap();
    (
        Conn::new(Io::Plain(tcp), permit),
        listener.accept().await.unwrap().0,
    )
}

async fn sees_the_end(mut peer: TcpStream) {
    let read = poll_fn(|cx| {
        let mut byte = [0];
        let mut into = ReadBuf::new(&mut byte);
        let end = ready!(Pin::new(&mut peer).poll_read(cx, &mut into)).map(|()| into.filled().is_empty());
        Poll::Ready(end)
    });
    assert!(timeout(PATIENCE, read).await.unwrap().unwrap(), "not a byte");
}

/// Since when the oldest that stays is idle, and how many stay.
async fn swept(pool: &Pool, now: Instant) -> (Option<Instant>, usize) {
    let oldest = poll_fn(|cx| Poll::Ready(pool.sweep(now, cx))).await;
    (oldest, pool.state.lock().unwrap().idle.len())
}

#[test]
fn each_is_closed_15_s_after_its_last_answer_and_not_before() {
    block_on(async {
        assert_eq!(IDLE_KEPT, Duration::from_secs(15));
        let pool = Pool::default();
        assert_eq!(swept(&pool, Instant::now()).await, (None, 0));
        let ((one, one_peer), (other, other_peer)) = (pair().await, pair().await);
        pool.put(one);
        let first = swept(&pool, Instant::now()).await.0.unwrap();
        while Instant::now() == first {}
        pool.put(other);

        let kept = Duration::from_secs(15);
        let just_before = first + kept - Duration::from_nanos(1);
        assert_eq!(swept(&pool, just_before).await, (Some(first), 2));
        let (second, left) = swept(&pool, first + kept).await;
        assert_eq!(left, 1);
        sees_the_end(one_peer).await;
        assert!(second.is_some_and(|second| second > first));
        assert_eq!(swept(&pool, second.unwrap() + kept).await, (None, 0));
        sees_the_end(other_peer).await;
        assert!(pool.take().is_none());
    });
}

#[test]
fn one_that_is_used_again_begins_anew_and_the_one_used_last_comes_first() {
    block_on(async {
        let pool = Pool::default();
        swept(&pool, Instant::now()).await;
        let (mut one, _one_peer) = pair().await;
        let (mut other, _other_peer) = pair().await;
        (one.answers, other.answers) = (1, 2);
        pool.put(one);
        let first = swept(&pool, Instant::now()).await.0.unwrap();
        pool.put(other);
        let taken = pool.take().unwrap();
        assert_eq!(taken.answers, 2);
        let again = pool.take().unwrap();
        assert_eq!(again.answers, 1);
        while Instant::now() == first {}
        pool.put(again);
        let (since, left) = swept(&pool, first + IDLE_KEPT).await;
        assert!(left == 1 && since.unwrap() > first);
    });
}

#[test]
fn the_watch_wakes_by_itself_to_close_them() {
    block_on(async {
        let pool = Arc::new(Pool::keeping(Duration::from_millis(20)));
        let its = Arc::clone(&pool);
        tokio::spawn(async move { its.watch().await });
        tokio::task::yield_now().await;
        for _ in 0..2 {
            let (conn, peer) = pair().await;
            pool.put(conn);
            sees_the_end(peer).await;
        }
    });
}
