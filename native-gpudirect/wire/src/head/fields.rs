//! What single fields of a head mean.

use super::{Field, Head, Malformed};
use crate::ChecksumAlgorithm;
use crate::text::{trim_latin1, whole_number};

impl Head {
    pub(super) fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match name.len() {
            4 if is("etag") => self.keep(Field::Etag, value),
            4 if is("date") => self.keep(Field::Date, value),
            10 if is("connection") => self.take_connection(value),
            11 if is("retry-after") => self.keep(Field::RetryAfter, value),
            12 if is("content-type") => self.keep(Field::ContentType, value),
            13 if is("content-range") => self.keep(Field::ContentRange, value),
            14 if is("content-length") => self.take_content_length(value)?,
            16 if is("x-amz-request-id") => self.keep(Field::RequestId, value),
            17 if is("transfer-encoding") => self.take_transfer_encoding(value)?,
            19 if is("x-amz-bucket-region") => self.keep(Field::BucketRegion, value),
            19 if is("x-amz-checksum-type") => self.keep(Field::ChecksumType, value),
            // "x-amz-checksum-" and an algorithm: 19 (sha1) to 24 (crc64nvme) characters
            19..=24 => self.take_checksum(name, value),
            _ => {}
        }
        Ok(())
    }

    fn take_checksum(&mut self, name: &[u8], value: &[u8]) {
        const PREFIX: &[u8] = b"x-amz-checksum-";
        let Some((prefix, algorithm)) = name.split_at_checked(PREFIX.len()) else {
            return;
        };
        if !prefix.eq_ignore_ascii_case(PREFIX) {
            return;
        }
        let named = |known: &ChecksumAlgorithm| algorithm.eq_ignore_ascii_case(known.name().as_bytes());
        let Some(algorithm) = ChecksumAlgorithm::ALL.into_iter().find(named) else {
            return;
        };
        if self.checksum_algorithm.is_none_or(|known| algorithm < known) {
            self.checksum_algorithm = Some(algorithm);
            self.keep(Field::Checksum, value);
        }
    }

    fn take_connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.says_close |= option.eq_ignore_ascii_case(b"close");
            self.says_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Equal lengths said twice are taken for one (RFC 9112, 6.3).
    fn take_content_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for length in value.split(|&byte| byte == b',').map(trim_latin1) {
            let length = whole_number(length).ok_or(Malformed("Content-Length is not a number"))?;
            if self.content_length.is_some_and(|other| other != length) {
                return Err(Malformed("several different Content-Lengths"));
            }
            self.content_length = Some(length);
        }
        Ok(())
    }

    /// No request names a transfer coding, so chunked is the only one that may come, once.
    fn take_transfer_encoding(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for coding in list(value) {
            if self.transfer_encoding || !coding.eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed("a transfer coding that was not asked for"));
            }
            self.transfer_encoding = true;
        }
        Ok(())
    }

    /// Two readers that disagree about where a body ends can be made to take one's body for the other's answer.
    pub(super) fn check_framing(&self) -> Result<(), Malformed> {
        if self.transfer_encoding && self.content_length.is_some() {
            return Err(Malformed("both Content-Length and Transfer-Encoding"));
        }
        if self.transfer_encoding && self.is_http_1_0 {
            return Err(Malformed("Transfer-Encoding in HTTP/1.0"));
        }
        Ok(())
    }
}

/// The members of a comma-separated list, without the empty ones.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&byte| byte == b',')
        .map(trim_latin1)
        .filter(|member| !member.is_empty())
}
