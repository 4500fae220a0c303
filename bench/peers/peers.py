"""Reads objects with a Python client, round by round, for bench/peers.ts.

Each line of stdin is the number of objects to read; each line of stdout the round's cost as JSON. The first argument names
the client, the second the file that describes the store. A round's clock stops before the bodies are checked.
"""

import asyncio
import json
import resource
import sys
import threading
import time
import zlib


class Obstore:
    """One event loop, as many tasks as objects in flight."""

    def __init__(self, store):
        import obstore
        from obstore.store import S3Store

        options = {"allow_http": True, "timeout": "600s"}
        if store["caFile"] is not None:
            with open(store["caFile"]) as file:
                options["root_certificate"] = file.read()
        self._get = obstore.get_async
        self._store = S3Store(
            store["bucket"],
            endpoint=store["endpoint"],
            region=store["region"],
            access_key_id=store["accessKeyId"],
            secret_access_key=store["secretAccessKey"],
            virtual_hosted_style_request=False,
            client_options=options,
        )
        self._loop = asyncio.new_event_loop()

    def read_all(self, keys, in_flight):
        return self._loop.run_until_complete(self._read_all(keys, in_flight))

    async def _read_all(self, keys, in_flight):
        each = iter(keys)

        async def task():
            total, last = 0, None
            for key in each:
                answer = await self._get(self._store, key)
                body = await answer.bytes_async()
                total, last = total + len(body), (key, body)
            return total, last

        return await asyncio.gather(*(task() for _ in range(in_flight)))


class Threads:
    """One thread for each object in flight; a subclass reads one object as the bytes it is made of."""

    def read_all(self, keys, in_flight):
        each, lock, ends, errors = iter(keys), threading.Lock(), [], []

        def thread():
            total, last = 0, None
            try:
                while True:
                    with lock:
                        key = next(each, None)
                    if key is None:
                        break
                    pieces = self.read(key)
                    total, last = total + sum(map(len, pieces)), (key, pieces)
                ends.append((total, last))
            except Exception as error:  # told by the main thread
                errors.append(error)

        threads = [threading.Thread(target=thread) for _ in range(in_flight)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        if errors:
            raise errors[0]
        return [(total, last and (last[0], b"".join(last[1]))) for total, last in ends]


class S3TorchConnector(Threads):
    """The client under s3torchconnector (AWS CRT), without torch. It trusts the system's certificates only."""

    def __init__(self, store):
        from s3torchconnectorclient._mountpoint_s3_client import MountpointS3Client

        self._bucket = store["bucket"]
        self._client = MountpointS3Client(
            region=store["region"], endpoint=store["endpoint"], force_path_style=True
        )

    def read(self, key):
        return list(self._client.get_object(self._bucket, key))


class Boto3(Threads):
    def __init__(self, store):
        import boto3
        from botocore.config import Config

        self._bucket = store["bucket"]
        self._client = boto3.client(
            "s3",
            endpoint_url=store["endpoint"],
            region_name=store["region"],
            verify=store["caFile"],
            config=Config(
                max_pool_connections=store["inFlight"], s3={"addressing_style": "path"}
            ),
        )

    def read(self, key):
        answer = self._client.get_object(Bucket=self._bucket, Key=key)
        return [answer["Body"].read()]


CLIENTS = {
    "obstore": Obstore,
    "s3torchconnector": S3TorchConnector,
    "boto3": Boto3,
}


def check(store, ends, objects):
    """Every byte was counted; the last body of each task is checked byte by byte."""
    total = sum(total for total, _ in ends)
    if total != objects * store["objectBytes"]:
        raise ValueError(
            f"{total} bytes, not {objects} times {store['objectBytes']}"
        )
    sums = dict(zip(store["keys"], store["crc32"]))
    checked = 0
    for _, last in ends:
        if last is not None:
            key, body = last
            if zlib.crc32(body) != sums[key]:
                raise ValueError(f"the body of {key} is not the object")
            checked += 1
    return checked


def run_round(client, store, first, objects):
    keys = [store["keys"][(first + n) % len(store["keys"])] for n in range(objects)]
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    ends = client.read_all(keys, store["inFlight"])
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return {
        "objects": objects,
        "userUs": user * 1e6,
        "systemUs": system * 1e6,
        "wallS": wall,
        "checked": check(store, ends, objects),
    }


def main():
    name, store_file = sys.argv[1:]
    with open(store_file) as file:
        store = json.load(file)
    client, first = CLIENTS[name](store), 0
    for line in iter(sys.stdin.readline, ""):
        objects = int(line)
        print(json.dumps(run_round(client, store, first, objects)), flush=True)
        first += objects


main()
