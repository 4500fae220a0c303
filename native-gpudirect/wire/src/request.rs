use crate::field_value::{is_field_value, push_quoted_etag};
use crate::object_path::encode_object_path;
use crate::sigv4::{EMPTY_SHA256, RequestSigner, SignedField};
use crate::{Class, Credentials, Verdict};
use std::io::Write as _;

/// Where requests go, and what holds for all of them.
#[derive(Clone, Debug)]
pub struct Target {
    /// The Host field as it is sent and signed: brackets where IPv6, a port where it is not the protocol's own.
    pub host: String,
    /// Encoded path before an object's key: empty or `/base/bucket`; no slash at the end.
    pub path_prefix: String,
    /// Region of the signature.
    pub signing_region: String,
    /// Service of the signature: `s3`, `s3-outposts`, ...
    pub signing_service: String,
    /// The caller pays for the requests.
    pub requester_pays: bool,
    /// Asks the store for its full-object checksum.
    pub ask_checksum: bool,
    /// `http://host:port` before the path, where a proxy is asked for the object (RFC 9112, 3.2.2). It is not signed.
    pub absolute_prefix: Option<String>,
    /// Value of Proxy-Authorization, for such a proxy.
    pub proxy_authorization: Option<String>,
}

/// One GET.
#[derive(Clone, Copy, Debug)]
pub struct Get<'a> {
    /// The object's key as it is, in UTF-8.
    pub key: &'a [u8],
    /// First byte of the range.
    pub offset: u64,
    /// Bytes of the range, at least 1.
    pub length: u64,
    /// Bytes of the whole object; where the range is the whole object, no Range field is sent.
    pub object_size: u64,
    /// The ETag for If-Match, in UTF-8, with or without its quotes; none: none is sent.
    pub if_match: Option<&'a [u8]>,
}

/// Writes GET requests for one bucket, signed where there are credentials. It allocates nothing once its buffers, and the
/// caller's, are large enough.
pub struct RequestWriter {
    target: Target,
    signer: RequestSigner,
    path: Vec<u8>,
    range: Vec<u8>,
    etag: Vec<u8>,
    /// Which credentials were found fit to be sent.
    fit: Option<Credentials>,
}

impl RequestWriter {
    /// Fails where a part of the target cannot stand in a request: it has a space, a line end or another control character
    /// in it.
    pub fn new(target: Target) -> Result<RequestWriter, Verdict> {
        let optional = [&target.absolute_prefix, &target.proxy_authorization].map(Option::as_deref);
        for (name, text) in [
            ("host", &*target.host),
            ("path prefix", &target.path_prefix),
            ("signing region", &target.signing_region),
            ("signing service", &target.signing_service),
            ("proxy's address", optional[0].unwrap_or_default()),
        ] {
            if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(internal(format!(
                    "the {name} has characters that cannot stand in a request"
                )));
            }
        }
        if !optional[1].is_none_or(|value| is_field_value(value.as_bytes())) {
            return Err(internal(
                "the proxy's credentials cannot stand in a request".to_owned(),
            ));
        }
        let signer = RequestSigner::new(&target.signing_region, &target.signing_service);
        Ok(RequestWriter {
            target,
            signer,
            path: Vec::new(),
            range: Vec::new(),
            etag: Vec::new(),
            fit: None,
        })
    }

    /// What the requests are written for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Appends the head of a GET, which is the whole request. `credentials`: none: anonymous, nothing is signed.
    /// `now_ms`: milliseconds since 1970.
    ///
    /// Where the request cannot be written, nothing is appended.
    pub fn write(
        &mut self,
        out: &mut Vec<u8>,
        get: &Get<'_>,
        credentials: Option<&Credentials>,
        now_ms: u64,
    ) -> Result<(), Verdict> {
        self.prepare(get, credentials)?;
        let Target {
            host,
            requester_pays,
            ask_checksum,
            absolute_prefix,
            proxy_authorization,
            ..
        } = &self.target;
        let stamp = self.signer.amz_date(now_ms);
        let mut fields = Fields {
            all: [("", &[]); MOST_SIGNED],
            count: 0,
        };
        fields.push("host", host.as_bytes());
        if !self.range.is_empty() {
            fields.push("range", &self.range);
        }
        if *ask_checksum {
            fields.push("x-amz-checksum-mode", b"ENABLED");
        }
        if credentials.is_some() {
            fields.push("x-amz-content-sha256", EMPTY_SHA256.as_bytes());
            fields.push("x-amz-date", &stamp);
        }
        if *requester_pays {
            fields.push("x-amz-request-payer", b"requester");
        }
        if let Some(token) = credentials.and_then(session_token) {
            fields.push("x-amz-security-token", token.as_bytes());
        }
        let signed = &fields.all[..fields.count];

        push_all(
            out,
            &[b"GET ", absolute_prefix.as_deref().unwrap_or_default().as_bytes()],
        );
        push_all(out, &[&self.path, b" HTTP/1.1\r\n"]);
        for (name, value) in signed {
            push_all(out, &[name.as_bytes(), b": ", value, b"\r\n"]);
        }
        out.extend_from_slice(b"accept-encoding: identity\r\nuser-agent: os2g\r\n");
        if !self.etag.is_empty() {
            push_all(out, &[b"if-match: ", &self.etag, b"\r\n"]);
        }
        if let Some(value) = proxy_authorization {
            push_all(out, &[b"proxy-authorization: ", value.as_bytes(), b"\r\n"]);
        }
        if let Some(credentials) = credentials {
            out.extend_from_slice(b"authorization: ");
            self.signer
                .authorization(out, &self.path, b"", signed, credentials, now_ms);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// Fills path, range and ETag, and sees that all can be sent.
    fn prepare(&mut self, get: &Get<'_>, credentials: Option<&Credentials>) -> Result<(), Verdict> {
        let Get {
            key,
            offset,
            length,
            object_size,
            if_match,
        } = *get;
        let last = match offset.checked_add(length) {
            Some(end) if length > 0 && end <= object_size => end - 1,
            _ => {
                let what = format!(
                    "a range that cannot be: offset {offset}, length {length}, object {object_size} bytes"
                );
                return Err(internal(what));
            }
        };
        self.path.clear();
        if !encode_object_path(&self.target.path_prefix, key, &mut self.path) {
            let what = "the key cannot be addressed: it is empty or not well-formed Unicode";
            return Err(refused(what));
        }
        self.range.clear();
        if length < object_size {
            let written = write!(self.range, "bytes={offset}-{last}");
            written.map_err(|_| internal("no memory for a range".to_owned()))?;
        }
        self.etag.clear();
        if let Some(etag) = if_match
            && !push_quoted_etag(&mut self.etag, etag)
        {
            return Err(refused("the ETag has characters that cannot stand in a request"));
        }
        match credentials {
            Some(credentials) if self.fit.as_ref() != Some(credentials) => self.check(credentials),
            _ => Ok(()),
        }
    }

    fn check(&mut self, credentials: &Credentials) -> Result<(), Verdict> {
        let token = session_token(credentials).unwrap_or_default();
        let id = &credentials.access_key_id;
        if !id
            .bytes()
            .chain(token.bytes())
            .all(|byte| byte.is_ascii_graphic())
        {
            return Err(refused(
                "the credentials have characters that cannot stand in a request",
            ));
        }
        self.fit = Some(credentials.clone());
        Ok(())
    }
}

/// host, range, x-amz-checksum-mode, -content-sha256, -date, -request-payer, -security-token
const MOST_SIGNED: usize = 7;

struct Fields<'a> {
    all: [SignedField<'a>; MOST_SIGNED],
    count: usize,
}

impl<'a> Fields<'a> {
    fn push(&mut self, name: &'static str, value: &'a [u8]) {
        self.all[self.count] = (name, value);
        self.count += 1;
    }
}

fn session_token(credentials: &Credentials) -> Option<&str> {
    credentials
        .session_token
        .as_deref()
        .filter(|token| !token.is_empty())
}

fn push_all(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

fn internal(what: String) -> Verdict {
    Verdict {
        class: Class::Internal,
        what,
    }
}

fn refused(what: &str) -> Verdict {
    Verdict {
        class: Class::Refused,
        what: what.to_owned(),
    }
}
