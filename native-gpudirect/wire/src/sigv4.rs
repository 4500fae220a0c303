use crate::Credentials;
use crate::amz_date::amz_date;
use sha2::{Digest as _, Sha256};

/// SHA-256 of nothing: the payload hash of every GET.
pub const EMPTY_SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A field that is signed: its name in lower case, and its value as it is sent.
pub type SignedField<'a> = (&'static str, &'a [u8]);

/// AWS Signature Version 4 in the Authorization header, for requests without a body.
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>
///
/// The signing key holds for a day, the time stamp for a second: both are kept, so that a signature costs one SHA-256 and
/// one HMAC, and no allocation.
pub struct RequestSigner {
    region: String,
    service: String,
    second: Option<u64>,
    /// `20130524T000000Z`
    stamp: [u8; 16],
    /// `20130524/us-east-1/s3/aws4_request`
    scope: Vec<u8>,
    key: Option<SigningKey>,
    scratch: Vec<u8>,
}

struct SigningKey {
    credentials: Credentials,
    day: [u8; 8],
    hmac: HmacKey,
}

impl RequestSigner {
    /// `service`: `s3`, `s3-outposts`, ...
    pub fn new(region: &str, service: &str) -> RequestSigner {
        RequestSigner {
            region: region.to_owned(),
            service: service.to_owned(),
            second: None,
            stamp: [0; 16],
            scope: Vec::new(),
            key: None,
            scratch: Vec::new(),
        }
    }

    /// The x-amz-date value for a time in milliseconds since 1970: `20130524T000000Z`.
    pub fn amz_date(&mut self, now_ms: u64) -> [u8; 16] {
        let second = now_ms / 1000;
        if self.second != Some(second) {
            self.second = Some(second);
            self.stamp = amz_date(second);
            self.scope.clear();
            self.scope.extend_from_slice(&self.stamp[..8]);
            for part in ["/", &self.region, "/", &self.service, "/aws4_request"] {
                self.scope.extend_from_slice(part.as_bytes());
            }
        }
        self.stamp
    }

    /// Appends the value of the Authorization header of a GET.
    ///
    /// `path`: as it is sent, encoded once, never normalised (S3 signs it as it stands). `query`: canonical query string,
    /// empty for none. `fields`: sorted by name; host and every x-amz-* field must be there. `now_ms`: the time that
    /// x-amz-date says.
    pub fn authorization(
        &mut self,
        out: &mut Vec<u8>,
        path: &[u8],
        query: &[u8],
        fields: &[SignedField<'_>],
        credentials: &Credentials,
        now_ms: u64,
    ) {
        let stamp = self.amz_date(now_ms);
        let request = &mut self.scratch;
        request.clear();
        for part in [&b"GET\n"[..], path, b"\n", query, b"\n"] {
            request.extend_from_slice(part);
        }
        for (name, value) in fields {
            for part in [name.as_bytes(), &b":"[..], value, b"\n"] {
                request.extend_from_slice(part);
            }
        }
        request.push(b'\n');
        push_names(request, fields);
        request.push(b'\n');
        request.extend_from_slice(EMPTY_SHA256.as_bytes());
        let hash = hex(&Sha256::digest(request.as_slice()).into());

        let text = request;
        text.clear();
        for part in [
            &b"AWS4-HMAC-SHA256\n"[..],
            &stamp,
            b"\n",
            &self.scope,
            b"\n",
            &hash,
        ] {
            text.extend_from_slice(part);
        }
        let text = std::mem::take(&mut self.scratch);
        let signature = hex(&self.signing_key(credentials).mac(&[&text]));
        self.scratch = text;

        let id = credentials.access_key_id.as_bytes();
        for part in [
            &b"AWS4-HMAC-SHA256 Credential="[..],
            id,
            b"/",
            &self.scope,
            b", SignedHeaders=",
        ] {
            out.extend_from_slice(part);
        }
        push_names(out, fields);
        out.extend_from_slice(b", Signature=");
        out.extend_from_slice(&signature);
    }

    fn signing_key(&mut self, credentials: &Credentials) -> &HmacKey {
        let day = first_8(&self.stamp);
        let known = self
            .key
            .take()
            .filter(|known| known.day == day && known.credentials == *credentials);
        let key = known.unwrap_or_else(|| SigningKey {
            credentials: credentials.clone(),
            day,
            hmac: self.derive(&credentials.secret_access_key, &day),
        });
        &self.key.insert(key).hmac
    }

    fn derive(&self, secret: &str, day: &[u8; 8]) -> HmacKey {
        let of_secret = HmacKey::new(format!("AWS4{secret}").as_bytes());
        let of_day = HmacKey::new(&of_secret.mac(&[day]));
        let of_region = HmacKey::new(&of_day.mac(&[self.region.as_bytes()]));
        let of_service = HmacKey::new(&of_region.mac(&[self.service.as_bytes()]));
        HmacKey::new(&of_service.mac(&[b"aws4_request"]))
    }
}

fn push_names(out: &mut Vec<u8>, fields: &[SignedField<'_>]) {
    for (at, (name, _)) in fields.iter().enumerate() {
        if at > 0 {
            out.push(b';');
        }
        out.extend_from_slice(name.as_bytes());
    }
}

/// HMAC-SHA-256 (RFC 2104) with the key's two blocks already hashed.
struct HmacKey {
    inner: Sha256,
    outer: Sha256,
}

impl HmacKey {
    const BLOCK: usize = 64;

    fn new(key: &[u8]) -> HmacKey {
        let mut block = [0; Self::BLOCK];
        if key.len() > Self::BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        HmacKey {
            inner: Sha256::new_with_prefix(block.map(|byte| byte ^ 0x36)),
            outer: Sha256::new_with_prefix(block.map(|byte| byte ^ 0x5c)),
        }
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut inner = self.inner.clone();
        for part in parts {
            inner.update(part);
        }
        self.outer
            .clone()
            .chain_update(inner.finalize())
            .finalize()
            .into()
    }
}

fn hex(bytes: &[u8; 32]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    text
}

fn first_8(stamp: &[u8; 16]) -> [u8; 8] {
    let mut day = [0; 8];
    day.copy_from_slice(&stamp[..8]);
    day
}
