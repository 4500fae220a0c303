//! Checksums of bodies, held against the libraries that the portable engine uses.

use os2g_wire::{ChecksumAlgorithm, RunningChecksum, parse_head};

/// Of nothing, of `123456789`, and of 300,000 bytes: sha256, sha1, crc64nvme, crc32c, crc32.
const DIGESTS: [[&str; 5]; 3] = [
    [
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        "AAAAAAAAAAA=",
        "AAAAAA==",
        "AAAAAA==",
    ],
    [
        "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
        "98O8HYCOBHMq32eZZczDTKeuNEE=",
        "rosUhgp5mIg=",
        "4waSgw==",
        "y/Q5Jg==",
    ],
    [
        "PSVDNOGakHE1+1xecKIxesHipEmX1qXA1Sh4Ta0uUaQ=",
        "QfCljj0WdYzb/a6srTNODXEr1go=",
        "DUZZ/2YMqw8=",
        "NfDZew==",
        "v7IGRw==",
    ],
];

#[test]
fn digests_in_one_piece_and_in_many() {
    let long: Vec<u8> = (0..300_000u64).map(|n| (n * 7919) as u8).collect();
    let bodies: [&[u8]; 3] = [b"", b"123456789", &long];
    for (body, digests) in bodies.into_iter().zip(DIGESTS) {
        for (algorithm, expected) in ChecksumAlgorithm::ALL.into_iter().zip(digests) {
            let mut whole = RunningChecksum::new(algorithm, expected);
            whole.update(body);
            assert_eq!(whole.digest(), expected, "{}", algorithm.name());
            assert_eq!(whole.digest(), whole.expected(), "a digest does not end it");
            for piece in [1, 7, 64, 1000, 65_536] {
                let mut sum = RunningChecksum::new(algorithm, expected);
                body.chunks(piece).for_each(|bytes| sum.update(bytes));
                assert_eq!(sum.digest(), expected, "{} by {piece}", algorithm.name());
            }
        }
    }
}

#[test]
fn which_checksum_an_answer_is_checked_against() {
    for (fields, expected) in [
        ("", None),
        (
            "x-amz-checksum-crc32: AAAAAA==\r\n",
            Some((ChecksumAlgorithm::Crc32, "AAAAAA==")),
        ),
        (
            "X-AMZ-CHECKSUM-CRC64NVME: A\r\n",
            Some((ChecksumAlgorithm::Crc64Nvme, "A")),
        ),
        (
            "x-amz-checksum-crc32: A\r\nx-amz-checksum-sha256: B\r\nx-amz-checksum-crc32c: C\r\n",
            Some((ChecksumAlgorithm::Sha256, "B")),
        ),
        (
            "x-amz-checksum-crc32: A\r\nx-amz-checksum-type: FULL_OBJECT\r\n",
            Some((ChecksumAlgorithm::Crc32, "A")),
        ),
        (
            "x-amz-checksum-crc32: A\r\nx-amz-checksum-type: composite\r\n",
            None,
        ),
        ("x-amz-checksum-crc32: AAAAAA==-3\r\n", None),
        (
            "x-amz-checksum-crc32: A-\r\n",
            Some((ChecksumAlgorithm::Crc32, "A-")),
        ),
        ("x-amz-checksum-type: FULL_OBJECT\r\n", None),
        ("x-amz-checksum-md5: A\r\nx-amz-checksum-crc64xz00: B\r\n", None),
    ] {
        let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        let (head, _) = parse_head(text.as_bytes(), 100)
            .expect("a head")
            .expect("a whole head");
        let checksum = RunningChecksum::of(&head);
        let got = checksum
            .as_ref()
            .map(|checksum| (checksum.algorithm(), checksum.expected()));
        assert_eq!(got, expected, "{fields}");
    }
}
