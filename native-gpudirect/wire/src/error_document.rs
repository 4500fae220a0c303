/// What an S3 error answer says in its XML body; every field none where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorDocument {
    /// S3's error code, as `NoSuchKey`.
    pub code: Option<String>,
    /// Its sentence.
    pub message: Option<String>,
    /// The store's name for the request.
    pub request_id: Option<String>,
    /// The region that the bucket is in.
    pub region: Option<String>,
}

/// Reads the few fields that matter out of the first bytes of an error body: it may be cut off, or no XML at all.
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>
pub fn read_error_document(body: &str) -> ErrorDocument {
    ErrorDocument {
        code: element(body, "<Code>", "</Code>"),
        message: element(body, "<Message>", "</Message>"),
        request_id: element(body, "<RequestId>", "</RequestId>"),
        region: element(body, "<Region>", "</Region>"),
    }
}

const MOST_CHARACTERS: usize = 1024;

/// The first such element with nothing but at most 1,024 characters of text in it.
fn element(body: &str, open: &str, close: &str) -> Option<String> {
    let mut rest = body;
    while let Some(at) = rest.find(open) {
        rest = &rest[at + open.len()..];
        let text = &rest[..rest.find('<').unwrap_or(rest.len())];
        if rest[text.len()..].starts_with(close) && text.chars().count() <= MOST_CHARACTERS {
            return if text.is_empty() {
                None
            } else {
                Some(text.trim().to_owned())
            };
        }
    }
    None
}

const SHOWN: usize = 200;

/// The first 200 characters, with everything that could upset a terminal or a log replaced by a dot. What is cut off is
/// cut after the last whole tag, where there is one in the second half, and ends in an ellipsis.
pub fn printable_start(body: &str) -> String {
    let printable = |c: char| if matches!(c, ' '..='~') { c } else { '.' };
    let mut shown: String = body.chars().take(SHOWN).map(printable).collect();
    if body.chars().nth(SHOWN).is_none() {
        return shown;
    }
    if let Some(tag_end) = shown.rfind('>').map(|at| at + 1).filter(|&end| end > SHOWN / 2) {
        shown.truncate(tag_end);
    }
    shown.push_str("...");
    shown
}

#[cfg(test)]
mod tests {
    use super::{printable_start, read_error_document};

    #[test]
    fn fields_of_whole_cut_and_odd_documents() {
        let whole = read_error_document(
            "<?xml version=\"1.0\"?><Error><Code> NoSuchKey </Code><Message>gone</Message>\
             <RequestId>R1</RequestId><Region>eu-west-1</Region></Error>",
        );
        assert_eq!(whole.code.as_deref(), Some("NoSuchKey"));
        assert_eq!(whole.message.as_deref(), Some("gone"));
        assert_eq!(whole.request_id.as_deref(), Some("R1"));
        assert_eq!(whole.region.as_deref(), Some("eu-west-1"));
        let long = format!("<Code>{}</Code>", "x".repeat(1025));
        for (body, code) in [
            ("", None),
            ("<Code></Code>", None),
            ("<Code>Slow", None),
            ("<Code>a<b/></Code>", None),
            ("<Code><Code>SlowDown</Code>", Some("SlowDown")),
            ("not XML <Code>A</Code><Code>B</Code>", Some("A")),
            (&long, None),
        ] {
            assert_eq!(read_error_document(body).code.as_deref(), code, "{body}");
        }
    }

    #[test]
    fn the_start_of_a_body_is_fit_for_a_log() {
        assert_eq!(printable_start("a\u{1b}[31m\n\u{e9}"), "a.[31m..");
        assert_eq!(printable_start(&"x".repeat(200)), "x".repeat(200));
        assert_eq!(
            printable_start(&"x".repeat(201)),
            format!("{}...", "x".repeat(200))
        );
        let tagged = format!("{}<b>{}", "x".repeat(150), "y".repeat(100));
        assert_eq!(printable_start(&tagged), format!("{}<b>...", "x".repeat(150)));
        let early = format!("<b>{}", "y".repeat(300));
        assert_eq!(printable_start(&early), format!("<b>{}...", "y".repeat(197)));
    }
}
