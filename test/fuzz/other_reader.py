"""Reads what the fuzz suites made, by other readers than ours: listings by expat, manifests by pyarrow.

Documents come on standard input, each behind its length (4 bytes, little end first); a line of JSON answers each:
{"ok": true, ...} or {"ok": false, "why": "..."}.
"""

import json
import re
import struct
import sys
from xml.etree import ElementTree

PRIVATE_USE = 0xE000
REFERENCE = re.compile(rb"&#(?:x([0-9a-fA-F]+)|([0-9]+));")
PLAIN_FIELDS = {"IsTruncated", "KeyCount", "NextContinuationToken", "EncodingType"}
ENTRY_FIELDS = {"Key", "Size", "ETag", "StorageClass"}
RESTORE_FIELDS = {"IsRestoreInProgress", "RestoreExpiryDate"}


class NotOne(Exception):
    """The document is not what it should be."""


def control_as_private(match):
    """Version 1.0 of XML has no way to write control characters; stores write references to them all the same."""
    value = int(match[1], 16) if match[1] else int(match[2])
    is_control = 1 <= value < 0x20 and value not in (9, 10, 13)
    return f"&#{PRIVATE_USE + value};".encode() if is_control else match[0]


def fields_of(element, names):
    found = {}
    for child in element:
        if child.tag not in names:
            continue
        if len(child) > 0 or child.tag in found:
            raise NotOne(f"{child.tag} is no plain field, or there twice")
        found[child.tag] = "".join(child.itertext())
    return found


def whole_number(text):
    text = (text or "").strip()
    is_plain = re.fullmatch(r"[0-9]{1,16}", text) is not None
    return int(text) if is_plain and int(text) < 2**53 else None


def entry_of(element):
    fields = fields_of(element, ENTRY_FIELDS)
    statuses = [child for child in element if child.tag == "RestoreStatus"]
    restore = {}
    for status in statuses:
        more = fields_of(status, RESTORE_FIELDS)
        if restore.keys() & more.keys():
            raise NotOne("RestoreStatus twice")
        restore.update(more)
    is_restored = (
        bool(restore.get("RestoreExpiryDate"))
        and restore.get("IsRestoreInProgress", "").strip() != "true"
    )
    key = "".join(
        chr(ord(c) - PRIVATE_USE) if 0xE000 <= ord(c) < 0xE020 else c
        for c in fields.get("Key", "")
    )
    return [
        key,
        whole_number(fields.get("Size")),
        fields.get("ETag") or None,
        fields.get("StorageClass") or None,
        is_restored,
    ]


def read_listing(document):
    text = REFERENCE.sub(control_as_private, document)
    root = ElementTree.fromstring(re.sub(rb' xmlns="[^"]*"', b"", text, count=1))
    if root.tag != "ListBucketResult":
        raise NotOne(f"root {root.tag}")
    fields = fields_of(root, PLAIN_FIELDS)
    truncated = fields.get("IsTruncated", "").strip()
    if truncated not in ("true", "false"):
        raise NotOne("no IsTruncated")
    return {
        "entries": [entry_of(child) for child in root if child.tag == "Contents"],
        "commonPrefixes": sum(child.tag == "CommonPrefixes" for child in root),
        "keyCount": whole_number(fields.get("KeyCount")),
        "isTruncated": truncated == "true",
        "nextToken": fields.get("NextContinuationToken") or None,
        "isUrlEncoded": fields.get("EncodingType", "").strip() == "url",
    }


def read_manifest(document):
    import pyarrow

    buffer = pyarrow.py_buffer(document)
    is_file = document[:6] == b"ARROW1"
    reader = (
        pyarrow.ipc.open_file(buffer) if is_file else pyarrow.ipc.open_stream(buffer)
    )
    table = reader.read_all()
    table.validate(full=True)
    columns = ["key", "offset", "length", "etag", "object_size", "label"]
    values = [
        table.column(name).to_pylist() if name in table.column_names else None
        for name in columns
    ]
    return {"rows": table.num_rows, "columns": values}


READERS = {"listing": read_listing, "manifest": read_manifest}


def main():
    read = READERS[sys.argv[1]]
    while head := sys.stdin.buffer.read(4):
        document = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
        try:
            answer = {"ok": True, **read(document)}
        except Exception as error:  # noqa: BLE001 (whatever the other reader refuses it by)
            answer = {"ok": False, "why": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
