"""The module as built: memory crosses between two processes, and lies about it are refused."""

import array
import fcntl
import gc
import os
import socket
import subprocess
import sys

import os2g_native
import pytest

# The other process: attaches, checks what is there, writes an answer at the end of the memory.
CHILD = """
import sys, os2g_native
memory = os2g_native.attach(int(sys.argv[1]), timeout_s=30).memory()
assert bytes(memory[:5]) == b"hello", bytes(memory[:5])
memory[-3:] = b"bye"
"""


def test_bytes_cross_between_processes():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        segment = os2g_native.create(1_000_003)
        memory = segment.memory()
        assert len(segment) == len(memory) == 1_000_003 and not memory.readonly
        memory[:5] = b"hello"
        command = [sys.executable, "-c", CHILD, str(theirs.fileno())]
        with subprocess.Popen(command, pass_fds=[theirs.fileno()]) as child:
            segment.send(ours.fileno())
        assert child.returncode == 0
        assert bytes(memory[-3:]) == b"bye"


def test_a_buffer_outlives_its_segment():
    memory = os2g_native.create(4096, populate=True).memory()
    part = memory[100:200]
    del memory
    gc.collect()
    part[0] = 7
    assert part[0] == 7 and bytes(part[1:]) == bytes(99)


def lie(fd_size, seal):
    """A segment's own message, but with another descriptor in it."""
    ours, theirs = socket.socketpair()
    os2g_native.create(8192).send(ours.fileno())
    room = socket.CMSG_SPACE(array.array("i").itemsize)
    message, _, _, _ = theirs.recvmsg(1 << 16, room)
    fd = os.memfd_create("lie", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, fd_size)
    if seal:
        # F_ADD_SEALS; SEAL, SHRINK and GROW
        add_seals, all_of_size = 1033, 0x1 | 0x2 | 0x4
        fcntl.fcntl(fd, add_seals, all_of_size)
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))
    ours.sendmsg([message], [rights])
    os.close(fd)
    return ours, theirs


@pytest.mark.parametrize("fd_size, seal", [(8192, False), (4096, True)])
def test_memory_that_is_not_what_it_says_is_refused(fd_size, seal):
    ours, theirs = lie(fd_size, seal)
    with ours, theirs, pytest.raises(os2g_native.TransferError) as raised:
        os2g_native.attach(theirs.fileno(), timeout_s=30)
    kind, what, mend = raised.value.args
    assert kind == "Refused" and what and mend


def test_a_gone_peer_a_silent_peer_and_bad_arguments():
    ours, theirs = socket.socketpair()
    with pytest.raises(os2g_native.TransferError) as raised:
        os2g_native.attach(theirs.fileno(), timeout_s=0.05)
    assert raised.value.args[0] == "TimedOut"
    ours.close()
    with pytest.raises(os2g_native.TransferError) as raised:
        os2g_native.attach(theirs.fileno(), timeout_s=30)
    assert raised.value.args[0] == "PeerGone"
    for limit in (0, -1, float("nan")):
        with pytest.raises(ValueError):
            os2g_native.attach(theirs.fileno(), timeout_s=limit)
    theirs.close()
    with pytest.raises(ValueError):
        os2g_native.attach(theirs.fileno())
    with pytest.raises(OSError):
        os2g_native.attach(10_000)
    with pytest.raises(os2g_native.TransferError):
        os2g_native.create(0)
    with pytest.raises(OverflowError):
        os2g_native.create(-1)
