"""Writes WebDataset shards with the tools that people use, and tells what webdataset itself reads from them.

shards.py FOLDER    writes FOLDER/*.tar, prints one JSON line for each sample, in webdataset's order:
                    {"shard", "key", "fields": [{"name", "sha256", "bytes"}]}
"""

import hashlib
import io
import json
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import webdataset

SEED = 20271
LONG = "a-folder-with-a-name/" * 7


def draw(rng: random.Random, count: int, prefix: str) -> list[dict]:
    """Samples as webdataset's writer takes them; sizes around those of blocks, and empty."""
    sizes = [0, 1, 511, 512, 513, 1000, 20_000, 100_000]
    return [
        {
            "__key__": f"{prefix}{n:05d}",
            "jpg": rng.randbytes(rng.choice(sizes)),
            "cls": str(rng.randrange(1000)).encode(),
            **({"seg.PNG": rng.randbytes(rng.choice(sizes))} if n % 3 == 0 else {}),
        }
        for n in range(count)
    ]


def members(samples: list[dict]) -> list[tuple[str, bytes]]:
    return [
        (f"{sample['__key__']}.{name}", data)
        for sample in samples
        for name, data in sample.items()
        if name != "__key__"
    ]


def write_webdataset(path: Path, samples: list[dict]) -> None:
    with webdataset.TarWriter(str(path)) as writer:
        for sample in samples:
            writer.write(sample)


def write_tarfile(path: Path, samples: list[dict], form: int) -> None:
    with tarfile.open(path, "w", format=form) as archive:
        folder = tarfile.TarInfo("a-folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for n, (name, data) in enumerate(members(samples)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
            if n % 7 == 0:
                link = tarfile.TarInfo(f"{name}.link.jpg")
                link.type = tarfile.SYMTYPE
                link.linkname = name
                archive.addfile(link)


def write_gnu_tar(path: Path, samples: list[dict], form: str) -> None:
    """By the tar command, with whatever headers it makes for files on this disk."""
    folder = path.with_suffix(".files")
    for name, data in members(samples):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    subprocess.run(
        [
            "tar",
            f"--format={form}",
            "--sort=name",
            "-cf",
            str(path),
            "-C",
            str(folder),
            ".",
        ],
        check=True,
    )


def main() -> None:
    folder = Path(sys.argv[1])
    rng = random.Random(SEED)
    write_webdataset(folder / "0-webdataset.tar", draw(rng, 40, "images/"))
    write_webdataset(folder / "1-webdataset-long.tar", draw(rng, 10, f"{LONG}é-"))
    for form, name in (
        (tarfile.USTAR_FORMAT, "ustar"),
        (tarfile.GNU_FORMAT, "gnu"),
        (tarfile.PAX_FORMAT, "pax"),
    ):
        prefix = "x/" if name == "ustar" else LONG
        write_tarfile(folder / f"2-tarfile-{name}.tar", draw(rng, 12, prefix), form)
    for form in ("gnu", "pax", "ustar", "v7"):
        prefix = LONG if form in ("gnu", "pax") else "b.c/"
        write_gnu_tar(folder / f"3-gnu-tar-{form}.tar", draw(rng, 12, prefix), form)
    for path in sorted(folder.glob("*.tar")):
        for sample in webdataset.WebDataset(str(path), shardshuffle=False):
            fields = [
                {
                    "name": name,
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "bytes": len(data),
                }
                for name, data in sample.items()
                if not name.startswith("__")
            ]
            print(
                json.dumps(
                    {"shard": path.name, "key": sample["__key__"], "fields": fields}
                )
            )


if __name__ == "__main__":
    main()
