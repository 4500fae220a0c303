use crate::text::whole_number;
use std::time::UNIX_EPOCH;

const MOST_SECONDS: f64 = 3600.0;

/// Retry-After, in seconds or as a date, as nanoseconds from now; at most an hour; 0 where there is none (RFC 9110, 10.2.3).
///
/// `now_ms`: milliseconds since 1970.
pub fn parse_retry_after_ns(value: Option<&str>, now_ms: u64) -> u64 {
    let Some(value) = value else { return 0 };
    let seconds = match whole_number(value.as_bytes()) {
        Some(seconds) if value.len() <= 9 => seconds as f64,
        _ => match httpdate::parse_http_date(value).map(|date| date.duration_since(UNIX_EPOCH)) {
            Ok(Ok(since)) => since.as_secs_f64() - now_ms as f64 / 1000.0,
            _ => 0.0,
        },
    };
    if seconds > 0.0 {
        (seconds.min(MOST_SECONDS) * 1e9) as u64
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::parse_retry_after_ns;

    #[test]
    fn seconds_dates_and_nonsense() {
        let now_ms = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT
        for (value, expected) in [
            (None, 0),
            (Some("3"), 3_000_000_000),
            (Some("0"), 0),
            (Some("999999999"), 3_600_000_000_000),
            (Some("1234567890"), 0),
            (Some("-3"), 0),
            (Some("soon"), 0),
            (Some(""), 0),
            (Some("Sun, 06 Nov 1994 08:49:47 GMT"), 10_000_000_000),
            (Some("Sunday, 06-Nov-94 08:49:47 GMT"), 10_000_000_000),
            (Some("Sun Nov  6 08:49:47 1994"), 10_000_000_000),
            (Some("Sun, 06 Nov 1994 08:49:27 GMT"), 0),
            (Some("Mon, 07 Nov 1994 08:49:37 GMT"), 3_600_000_000_000),
        ] {
            assert_eq!(parse_retry_after_ns(value, now_ms), expected, "{value:?}");
        }
    }
}
