"""One Python peer as a process that reads in rounds: each line of the standard input is an order, each line of the
standard output its answer, a JSON document (the orders stand in native-gpudirect/engine/examples/get-bench/serve.rs).

    serve.py CLIENT JOB        JOB: a JSON object, the fields of `Job`
"""

import asyncio
import itertools
import json
import pathlib
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import boto3_peer
import obstore_peer
import s3torchconnector_peer


@dataclass(frozen=True)
class Job:
    endpoint: str
    region: str
    bucket: str
    keys: list[str]
    object_bytes: int
    in_flight: int
    ca_file: str | None
    root: str
    """The folder that the store serves: bucket and key name a file in it."""
    variant: str
    """Of the ways that the client may be read in, one."""


CLIENTS = {
    "boto3": boto3_peer.open_client,
    "obstore": obstore_peer.open_client,
    "s3torchconnector": s3torchconnector_peer.open_client,
}


class Reader:
    """Reads the keys in turn, each round going on where the last one ended."""

    def __init__(self, job: Job, client: str) -> None:
        self._job = job
        self._workers = job.in_flight
        self._keys = itertools.cycle(job.keys)
        self._get = CLIENTS[client](job)
        self._loop = (
            asyncio.new_event_loop() if asyncio.iscoroutinefunction(self._get) else None
        )
        self._pool = None if self._loop else ThreadPoolExecutor(self._workers)

    def read(self, gets: int, check: bool = False) -> None:
        turns = iter([next(self._keys) for _ in range(gets)])
        if self._loop:
            self._loop.run_until_complete(self._tasks(turns, check))
            return
        futures = [
            self._pool.submit(self._worker, turns, check) for _ in range(self._workers)
        ]
        for future in futures:
            future.result()

    async def _tasks(self, turns, check: bool) -> None:
        async def task() -> None:
            for key in turns:
                self._seen(key, await self._get(key), check)

        await asyncio.gather(*(task() for _ in range(self._workers)))

    def _worker(self, turns, check: bool) -> None:
        for key in turns:
            self._seen(key, self._get(key), check)

    def _seen(self, key: str, body, check: bool) -> None:
        if len(body) != self._job.object_bytes:
            raise ValueError(f"{key}: {len(body)} bytes of {self._job.object_bytes}")
        if not check:
            return
        truth = pathlib.Path(self._job.root, self._job.bucket, key).read_bytes()
        if memoryview(body) != memoryview(truth):
            raise ValueError(f"{key}: other bytes than in the file")


def cost(reader: Reader, job: Job, gets: int) -> dict[str, float]:
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    reader.read(gets)
    after, end = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    system_s = after.ru_stime - before.ru_stime
    return {
        "gets": gets,
        "bytes": gets * job.object_bytes,
        "cpuUs": (after.ru_utime - before.ru_utime + system_s) * 1e6,
        "systemUs": system_s * 1e6,
        "wallUs": (end - start) * 1e6,
    }


def main() -> None:
    client = sys.argv[1]
    job = Job(**json.loads(pathlib.Path(sys.argv[2]).read_text()))
    reader = Reader(job, client)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        order, *count = line.split()
        if order == "round":
            answer = cost(reader, job, int(count[0]))
        else:
            reader.read(len(job.keys), check=True)
            answer = {
                "verified": len(job.keys),
                "bytes": len(job.keys) * job.object_bytes,
            }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
