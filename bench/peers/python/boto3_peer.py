"""boto3: `get_object` and its body, from threads, which its guide says may share a client.

https://boto3.amazonaws.com/v1/documentation/api/latest/guide/clients.html
"""

import threading

import boto3
from botocore.config import Config


def open_client(job):
    """`read`: the body as new bytes; `readinto`: into memory of the thread that is used again."""
    client = boto3.client(
        "s3",
        endpoint_url=job.endpoint,
        region_name=job.region,
        verify=job.ca_file,
        config=Config(
            max_pool_connections=job.in_flight,
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "path"},
        ),
    )
    own = threading.local()

    def read(key: str) -> bytes:
        return client.get_object(Bucket=job.bucket, Key=key)["Body"].read()

    def readinto(key: str) -> memoryview:
        if not hasattr(own, "memory"):
            own.memory = memoryview(bytearray(job.object_bytes))
        body = client.get_object(Bucket=job.bucket, Key=key)["Body"]
        got = 0
        while count := body.readinto(own.memory[got:]):
            got += count
        return own.memory[:got]

    return {"read": read, "readinto": readinto}[job.variant]
