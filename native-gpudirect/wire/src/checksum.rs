use crate::Head;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crc_fast::CrcAlgorithm;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// Full-object checksums that a store may send, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChecksumAlgorithm {
    /// SHA-256.
    Sha256,
    /// SHA-1.
    Sha1,
    /// CRC-64/NVME.
    Crc64Nvme,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// CRC-32 (ISO-HDLC, as zlib).
    Crc32,
}

impl ChecksumAlgorithm {
    /// All of them, strongest first.
    pub const ALL: [ChecksumAlgorithm; 5] = [
        ChecksumAlgorithm::Sha256,
        ChecksumAlgorithm::Sha1,
        ChecksumAlgorithm::Crc64Nvme,
        ChecksumAlgorithm::Crc32c,
        ChecksumAlgorithm::Crc32,
    ];

    /// As it stands in the header's name, after `x-amz-checksum-`.
    pub fn name(self) -> &'static str {
        match self {
            ChecksumAlgorithm::Sha256 => "sha256",
            ChecksumAlgorithm::Sha1 => "sha1",
            ChecksumAlgorithm::Crc64Nvme => "crc64nvme",
            ChecksumAlgorithm::Crc32c => "crc32c",
            ChecksumAlgorithm::Crc32 => "crc32",
        }
    }
}

/// A checksum over a body as it arrives.
pub struct RunningChecksum {
    algorithm: ChecksumAlgorithm,
    expected: String,
    sum: Sum,
}

enum Sum {
    Sha256(Sha256),
    Sha1(Sha1),
    Crc64(crc_fast::Digest),
    Crc32(crc_fast::Digest),
}

impl RunningChecksum {
    /// The checksum that a whole-object answer can be checked against; none where the store sent none, or one of parts: a
    /// composite value (`...-N`, or x-amz-checksum-type COMPOSITE) is not of the object's bytes.
    /// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html>
    pub fn of(head: &Head) -> Option<RunningChecksum> {
        let (algorithm, expected) = head.checksum()?;
        let is_composite = head
            .checksum_type()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("COMPOSITE"));
        if is_composite || ends_in_part_count(expected) {
            None
        } else {
            Some(RunningChecksum::new(algorithm, expected))
        }
    }

    /// `expected`: base64, as the header gave it.
    pub fn new(algorithm: ChecksumAlgorithm, expected: &str) -> RunningChecksum {
        let sum = match algorithm {
            ChecksumAlgorithm::Sha256 => Sum::Sha256(Sha256::new()),
            ChecksumAlgorithm::Sha1 => Sum::Sha1(Sha1::new()),
            ChecksumAlgorithm::Crc64Nvme => Sum::Crc64(crc_fast::Digest::new(CrcAlgorithm::Crc64Nvme)),
            ChecksumAlgorithm::Crc32c => Sum::Crc32(crc_fast::Digest::new(CrcAlgorithm::Crc32Iscsi)),
            ChecksumAlgorithm::Crc32 => Sum::Crc32(crc_fast::Digest::new(CrcAlgorithm::Crc32IsoHdlc)),
        };
        RunningChecksum {
            algorithm,
            expected: expected.to_owned(),
            sum,
        }
    }

    /// What is computed.
    pub fn algorithm(&self) -> ChecksumAlgorithm {
        self.algorithm
    }

    /// Base64, as the header gave it.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Takes the next bytes of the body.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.sum {
            Sum::Sha256(sum) => sum.update(bytes),
            Sum::Sha1(sum) => sum.update(bytes),
            Sum::Crc64(sum) | Sum::Crc32(sum) => sum.update(bytes),
        }
    }

    /// Base64 of the bytes so far.
    pub fn digest(&self) -> String {
        match &self.sum {
            Sum::Sha256(sum) => STANDARD.encode(sum.clone().finalize()),
            Sum::Sha1(sum) => STANDARD.encode(sum.clone().finalize()),
            Sum::Crc64(sum) => STANDARD.encode(sum.finalize().to_be_bytes()),
            Sum::Crc32(sum) => STANDARD.encode((sum.finalize() as u32).to_be_bytes()),
        }
    }
}

/// Whether the value ends in `-N`, the number of parts that it was made of.
fn ends_in_part_count(value: &str) -> bool {
    value
        .rsplit_once('-')
        .is_some_and(|(_, parts)| !parts.is_empty() && parts.bytes().all(|b| b.is_ascii_digit()))
}
