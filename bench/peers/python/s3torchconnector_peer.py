"""s3torchconnector's own client (the package s3torchconnectorclient, on the AWS Common Runtime), used as its S3Reader
does: the stream of an object, joined. torch is not needed for that, and not installed.

https://github.com/awslabs/s3-connector-for-pytorch
"""

from s3torchconnectorclient._mountpoint_s3_client import MountpointS3Client

GBPS = {"plain": 10.0, "fast": 100.0}


def open_client(job):
    """`plain`: with the throughput that it aims at by itself; `fast`: aimed at 100 Gbit/s, so with more connections."""
    client = MountpointS3Client(
        job.region,
        "os2g-bench",
        GBPS[job.variant],
        endpoint=job.endpoint,
        force_path_style=True,
        max_attempts=1,
    )

    def read(key: str) -> bytes:
        return b"".join(client.get_object(job.bucket, key))

    return read
