#![no_main]

#[path = "../../wire/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use os2g_wire::{AnsweredRequest, Asked, Credentials};
use support::{Outcome, receive};

const SECRET: &str = "secret-secret";
const TOKEN: &str = "token-token";

// The first byte says what was asked for, the second one where the answer is torn.
fuzz_target!(|input: &[u8]| {
    let [kind, at, bytes @ ..] = input else { return };
    let credentials = Credentials {
        access_key_id: "A".into(),
        secret_access_key: SECRET.into(),
        session_token: Some(TOKEN.into()),
        expires_at_ms: None,
    };
    let (offset, length) = if kind & 1 == 0 { (0, 20) } else { (3, 4) };
    let etag = (kind & 2 == 0).then_some("\"e\"");
    let asked = Asked {
        offset,
        length,
        object_size: 20,
        etag,
    };
    let request = AnsweredRequest {
        if_match: kind & 4 != 0,
        signing_region: "us-east-1",
        credentials: (kind & 8 != 0).then_some(&credentials),
        proxy_authorization: None,
        now_ms: 1_700_000_000_000,
    };
    let closes = kind & 16 != 0;
    let whole = receive(&[bytes], closes, &asked, &request);
    match &whole {
        Outcome::Fetched(got) => assert_eq!(got.len() as u64, length),
        Outcome::Failed {
            answer: Some(answer), ..
        } if request.credentials.is_some() => {
            let shown = format!("{answer:?}");
            assert!(!shown.contains(SECRET) && !shown.contains(TOKEN), "{shown}");
        }
        _ => {}
    }
    let at = usize::from(*at) % (bytes.len() + 1);
    let torn = receive(&[&bytes[..at], &bytes[at..]], closes, &asked, &request);
    assert_eq!(torn.name(), whole.name());
});
