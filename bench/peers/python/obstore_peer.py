"""obstore: object_store's Rust client, by asyncio or from threads.

https://developmentseed.org/obstore/latest/
"""

import pathlib
from datetime import timedelta

import obstore
from obstore.store import S3Store


def open_client(job):
    """`async` and `threads`: a GET of the object; `async_range` and `threads_range`: of its range, one call for both steps."""
    options = {"allow_http": True, "timeout": timedelta(minutes=2)}
    if job.ca_file:
        options["root_certificate"] = pathlib.Path(job.ca_file).read_text()
    store = S3Store(
        job.bucket,
        endpoint=job.endpoint,
        region=job.region,
        virtual_hosted_style_request=False,
        client_options=options,
        retry_config={"max_retries": 0},
    )

    async def by_async(key: str):
        return await (await obstore.get_async(store, key)).bytes_async()

    async def by_async_range(key: str):
        return await obstore.get_range_async(
            store, key, start=0, length=job.object_bytes
        )

    def by_threads(key: str):
        return obstore.get(store, key).bytes()

    def by_threads_range(key: str):
        return obstore.get_range(store, key, start=0, length=job.object_bytes)

    ways = {
        "async": by_async,
        "async_range": by_async_range,
        "threads": by_threads,
        "threads_range": by_threads_range,
    }
    return ways[job.variant]
