//! Secrets of a request do not come back in what an answer says.

use os2g_wire::{AnsweredRequest, Credentials, Hider, classify_answer, parse_head};

fn credentials(secret: &str, token: Option<&str>) -> Credentials {
    Credentials {
        access_key_id: "AKIAIOSFODNN7EXAMPLE".into(),
        secret_access_key: secret.into(),
        session_token: token.map(str::to_owned),
        expires_at_ms: None,
    }
}

#[test]
fn every_form_of_a_secret_is_hidden() {
    let who = credentials("ab/cd+ef%gh&i", Some("Token==1234"));
    let hider = Hider::of(Some(&who));
    for (said, shown) in [
        ("x ab/cd+ef%gh&i y", "x [hidden] y"),
        ("x AB/CD+EF%GH&I y", "x [hidden] y"),
        ("ab%2Fcd%2bef%25gh%26i", "[hidden]"),
        ("ab&#x2f;cd&#43;ef&#x25;gh&#38;i.", "[hidden]."),
        ("ab/cd+ef%gh&#38;i", "[hidden]"),
        ("Token==1234ab/cd+ef%gh&i", "[hidden][hidden]"),
        ("Token%3d=1234", "[hidden]"),
        ("the end ab/cd+ef%g", "the end [hidden]"),
        ("the end Token==1", "the end [hidden]"),
        ("Token==1 in the middle", "Token==1 in the middle"),
        ("ab/cd+e", "ab/cd+e"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("", ""),
        ("\u{e9}\u{e9} ab/cd+ef%gh&i\u{e9}", "\u{e9}\u{e9} [hidden]\u{e9}"),
    ] {
        assert_eq!(hider.hide(said), shown, "{said}");
    }
    let odd = credentials("%25%&amp;&x", None);
    let hider = Hider::of(Some(&odd));
    for said in ["%25%&amp;&x", "%2525%25%26amp;%26x", "%25%&#38;amp&#59;&#x26;x"] {
        assert_eq!(hider.hide(said), "[hidden]", "{said}");
    }
    assert_eq!(Hider::of(None).hide("ab/cd+ef%gh&i"), "ab/cd+ef%gh&i");
    let eight = credentials("8letters", None);
    assert_eq!(Hider::of(Some(&eight)).hide("8letters"), "[hidden]");
    let short = credentials("short", None);
    assert_eq!(Hider::of(Some(&short)).hide("a short word"), "a short word");
}

#[test]
fn an_error_answer_that_echoes_the_request() {
    let who = credentials("secret-secret", Some("token-token"));
    let request = AnsweredRequest {
        if_match: false,
        signing_region: "us-east-1",
        credentials: Some(&who),
        proxy_authorization: None,
        now_ms: 1_700_000_000_000,
    };
    let text = "HTTP/1.1 403 X\r\nx-amz-request-id: id-token-token\r\nx-amz-bucket-region: secret-secret\r\n\
                Date: token-token\r\n\r\n";
    let (head, _) = parse_head(text.as_bytes(), 100)
        .expect("a head")
        .expect("a whole head");
    let body = b"<Error><Code>token-token</Code><Message>you sent secret-secret</Message></Error>";
    let answer = classify_answer(403, &head, body, &request);
    let shown = format!("{answer:?}");
    assert!(
        !shown.contains("token-token") && !shown.contains("secret-secret"),
        "{shown}"
    );
    assert_eq!(answer.message.as_deref(), Some("you sent [hidden]"));
    let cut = [&[b'x'; 4090][..], b"secret-secret"].concat();
    assert!(!format!("{:?}", classify_answer(403, &head, &cut, &request)).contains("secret-secret"));
}

#[test]
fn what_a_proxy_was_told_is_hidden_too() {
    for (authorization, text, shown) in [
        (
            Some("Basic bWU6cGFzcw=="),
            "you sent Basic bWU6cGFzcw==!",
            "you sent Basic [hidden]!",
        ),
        (
            Some("Basic bWU6cGFzcw=="),
            "%3D: bWU6cGFzcw%3D%3D",
            "%3D: [hidden]",
        ),
        (Some("Basic bTo="), "too short: bTo=", "too short: bTo="),
        (None, "bWU6cGFzcw==", "bWU6cGFzcw=="),
    ] {
        assert_eq!(Hider::of(None).and_of_proxy(authorization).hide(text), shown);
    }
    let request = AnsweredRequest {
        if_match: false,
        signing_region: "us-east-1",
        credentials: None,
        proxy_authorization: Some("Basic bWU6cGFzcw=="),
        now_ms: 1_700_000_000_000,
    };
    let (head, _) = parse_head(b"HTTP/1.1 407 X\r\n\r\n", 100)
        .expect("a head")
        .expect("a whole head");
    let answer = classify_answer(407, &head, b"<Message>bWU6cGFzcw== is nobody</Message>", &request);
    assert_eq!(answer.message.as_deref(), Some("[hidden] is nobody"));
    assert!(!format!("{answer:?}").contains("bWU6"));
}
