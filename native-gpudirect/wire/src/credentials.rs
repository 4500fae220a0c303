use std::fmt;

/// Credentials count as expired this long before they are, where the store gives no reason for its 400.
const EXPIRY_SLACK_MS: f64 = 60_000.0;

/// AWS credentials as a request is signed with them. Their `Debug` shows no secret.
#[derive(Clone, PartialEq)]
pub struct Credentials {
    /// The public part; messages may name it.
    pub access_key_id: String,
    /// The key that signatures are derived from.
    pub secret_access_key: String,
    /// Sent and signed as `x-amz-security-token`.
    pub session_token: Option<String>,
    /// When they stop to be valid, in milliseconds since 1970; none where the provider does not say.
    pub expires_at_ms: Option<f64>,
}

impl Credentials {
    /// Whether a store's bare 400 may mean that these have run out: they have a session token, and its end has come, or
    /// nobody knows when it does.
    pub fn may_be_expired(&self, now_ms: u64) -> bool {
        self.session_token.is_some() && self.expires_at_ms.unwrap_or(0.0) <= now_ms as f64 + EXPIRY_SLACK_MS
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("access_key_id", &self.access_key_id)
            .field("secret_access_key", &"[hidden]")
            .field("session_token", &self.session_token.as_ref().map(|_| "[hidden]"))
            .field("expires_at_ms", &self.expires_at_ms)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Credentials;

    #[test]
    fn debug_shows_no_secret_and_expiry_has_slack() {
        let mut some = Credentials {
            access_key_id: "AKIA".into(),
            secret_access_key: "very-secret".into(),
            session_token: Some("a-token".into()),
            expires_at_ms: Some(100_000.0),
        };
        let shown = format!("{some:?}");
        assert!(
            shown.contains("AKIA") && !shown.contains("very-secret") && !shown.contains("a-token"),
            "{shown}"
        );
        assert!(some.may_be_expired(40_000));
        assert!(!some.may_be_expired(39_999));
        some.expires_at_ms = None;
        assert!(some.may_be_expired(0));
        some.session_token = None;
        assert!(!some.may_be_expired(u64::MAX));
    }
}
