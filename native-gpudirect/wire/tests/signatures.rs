//! Requests and their signatures, held against AWS's published examples and the AWS SDK's signer.
#![allow(clippy::expect_used)] // helpers of tests: a failure is what it is for

mod support;

use os2g_wire::{EMPTY_SHA256, Get, RequestSigner, Target};
use support::requests::{MAY_2013_MS, WHOLE, credentials, target, writer, written};

/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>: "GET Object", "GET Bucket Lifecycle" and
/// "Get Bucket (List Objects)".
#[test]
fn the_published_examples() {
    let host = ("host", &b"examplebucket.s3.amazonaws.com"[..]);
    let hash = ("x-amz-content-sha256", EMPTY_SHA256.as_bytes());
    let date = ("x-amz-date", &b"20130524T000000Z"[..]);
    let object = [host, ("range", b"bytes=0-9"), hash, date];
    let bucket = [host, hash, date];
    for (path, query, fields, names, signature) in [
        (
            "/test.txt",
            "",
            &object[..],
            "host;range;x-amz-content-sha256;x-amz-date",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "/",
            "lifecycle=",
            &bucket,
            "host;x-amz-content-sha256;x-amz-date",
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            "/",
            "max-keys=2&prefix=J",
            &bucket,
            "host;x-amz-content-sha256;x-amz-date",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ] {
        let mut signer = RequestSigner::new("us-east-1", "s3");
        assert_eq!(&signer.amz_date(MAY_2013_MS), b"20130524T000000Z");
        let mut out = Vec::new();
        let who = credentials(None);
        signer.authorization(
            &mut out,
            path.as_bytes(),
            query.as_bytes(),
            fields,
            &who,
            MAY_2013_MS,
        );
        let expected = format!(
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders={names}, Signature={signature}"
        );
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}

struct Signed {
    key: &'static str,
    range: (u64, u64, u64),
    now_ms: u64,
    token: Option<String>,
    requester_pays: bool,
    ask_checksum: bool,
    stamp: &'static str,
    names: &'static str,
    signature: &'static str,
}

/// Signatures by `@smithy/signature-v4` with `uriEscapePath: false`, of the same fields.
fn signed_by_the_sdk() -> [Signed; 5] {
    [
        Signed {
            key: "a b+c%20d=e&f'()!*é",
            range: (5, 5, 20),
            now_ms: MAY_2013_MS,
            token: None,
            requester_pays: false,
            ask_checksum: false,
            stamp: "20130524T000000Z",
            names: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "15e2dece09888626ea52ebf5d786b140adedc2388888e2f5869739ea8b6a0ffc",
        },
        Signed {
            key: "/a//b/../c/.",
            range: (0, 1, 2),
            now_ms: 0,
            token: None,
            requester_pays: true,
            ask_checksum: false,
            stamp: "19700101T000000Z",
            names: "host;range;x-amz-content-sha256;x-amz-date;x-amz-request-payer",
            signature: "c251363b0a31707594e1ad9f0d917be16f3bf03ad4a9f147e0d6f6f29074c2c1",
        },
        Signed {
            key: "\u{1f600}",
            range: (0, 7, 7),
            now_ms: 951_868_799_999,
            token: Some("IQoJb3JpZ2luX2VjE/w=+==".into()),
            requester_pays: false,
            ask_checksum: true,
            stamp: "20000229T235959Z",
            names: "host;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            signature: "170d94f47f63d91dd29d8873ca97cf0cdf82d8847a7cdb86e7e2a1dd915f5b4f",
        },
        Signed {
            key: "train/0001.jpg",
            range: (123_456_789_012, 1, 200_000_000_000),
            now_ms: 4_102_444_799_999,
            token: Some("T".repeat(100)),
            requester_pays: true,
            ask_checksum: true,
            stamp: "20991231T235959Z",
            names: "host;range;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date;x-amz-request-payer;x-amz-security-token",
            signature: "4588f8f5f9b167bd87df479876aea1de42ab2f45ee8716d97fa623d4c00d9980",
        },
        Signed {
            key: "~-_.",
            range: (0, 3, 3),
            now_ms: 1_709_164_800_000,
            token: None,
            requester_pays: false,
            ask_checksum: false,
            stamp: "20240229T000000Z",
            names: "host;x-amz-content-sha256;x-amz-date",
            signature: "d5f0ba74d3430d91068dd183735ce0197f17c7096c419f03762b7a53ad6bcdd0",
        },
    ]
}

#[test]
fn whole_requests_carry_the_same_signature_as_the_sdk() {
    for row in signed_by_the_sdk() {
        let Signed {
            requester_pays,
            ask_checksum,
            ..
        } = row;
        let mut writer = writer(Target {
            requester_pays,
            ask_checksum,
            ..target()
        });
        let (offset, length, object_size) = row.range;
        let get = Get {
            key: row.key.as_bytes(),
            offset,
            length,
            object_size,
            if_match: None,
        };
        let who = credentials(row.token.as_deref());
        let head = written(&mut writer, &get, Some(&who), row.now_ms);
        let day = &row.stamp[..8];
        let expected = format!(
            "\r\nauthorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/{day}/eu-north-1/s3/aws4_request, \
             SignedHeaders={}, Signature={}\r\n",
            row.names, row.signature
        );
        assert!(head.contains(&expected), "{head}");
        assert!(
            head.contains(&format!("\r\nx-amz-date: {}\r\n", row.stamp)),
            "{head}"
        );
        assert_eq!(
            head,
            written(&mut writer, &get, Some(&who), row.now_ms),
            "warm and cold alike"
        );
    }
}

#[test]
fn other_credentials_another_day_another_key() {
    let mut one = writer(target());
    let (a, mut b) = (credentials(None), credentials(None));
    b.secret_access_key = "another".into();
    let day_ms = 86_400_000;
    for (who, now_ms) in [
        (&a, 0),
        (&b, 0),
        (&b, day_ms),
        (&a, day_ms),
        (&a, day_ms + 1000),
        (&a, 0),
    ] {
        let fresh = written(&mut writer(target()), &WHOLE, Some(who), now_ms);
        assert_eq!(written(&mut one, &WHOLE, Some(who), now_ms), fresh);
    }
}

/// A key of HMAC longer than a block is hashed first (RFC 2104); the signature is the SDK's.
#[test]
fn a_secret_longer_than_a_block() {
    let mut who = credentials(None);
    who.secret_access_key = "s".repeat(80);
    let get = Get {
        key: b"~-_.",
        offset: 0,
        length: 3,
        object_size: 3,
        if_match: None,
    };
    let head = written(&mut writer(target()), &get, Some(&who), 1_709_164_800_000);
    let signature = "Signature=b805fcd8418dd728138c43a8ef4748725fea611dfe9394996dddd358fc6ff210\r\n";
    assert!(head.contains(signature), "{head}");
}
