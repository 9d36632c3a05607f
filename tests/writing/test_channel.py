"""Messages between processes: whole, in order, whatever the socket takes at a time; descriptors come along and none is left open."""

from __future__ import annotations

import os
import select
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit import scripts

from summarykit.writing.channel import Channel

pytestmark = pytest.mark.skipif(not hasattr(socket, "send_fds"), reason="this system sends no descriptors over sockets")


def pair():
    here, there = socket.socketpair()
    return Channel(here), Channel(there)


def exchange(sender, receiver):
    """Everything that the sender has in hand, as the receiver gets it."""
    found = []
    while True:
        done = sender.flush()
        came = list(receiver.receive())
        found += came
        if done and not came and not select.select([receiver.socket], [], [], 0)[0]:
            return found


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 400_000), max_size=12))
def test_messages_of_any_size_come_whole_and_in_order(sizes):
    sender, receiver = pair()
    messages = [(number, bytes([number % 256]) * size) for number, size in enumerate(sizes)]
    for message in messages:
        sender.send(message)
    assert exchange(sender, receiver) == messages
    assert not sender.waiting
    sender.close()
    assert list(receiver.receive()) == []
    assert receiver.ended
    receiver.close()


def test_sending_never_waits():
    sender, receiver = pair()
    sent = 0
    while sender.send(bytes(100_000)):
        sent += 1
        assert sent < 100
    assert sender.waiting
    assert len(exchange(sender, receiver)) == sent + 1
    sender.close()
    receiver.close()


def test_what_was_sent_before_the_end_is_still_received():
    sender, receiver = pair()
    receiver.send("unread by the other side, so that the end is a reset")
    sender.send("last")
    sender.close()
    assert list(receiver.receive()) == ["last"]
    assert list(receiver.receive()) == []
    assert receiver.ended
    with pytest.raises(OSError, match=r"[Pp]ipe|reset"):
        receiver.send("nobody is there")
    receiver.close()


def test_descriptors_come_with_their_message(tmp_path):
    before = scripts.descriptors(tmp_path)
    sender, receiver = pair()
    while sender.send(bytes(100_000)):    # they have to wait like any other
        pass
    for name in "ab":
        (tmp_path / name).write_text(name)
        fd = os.open(tmp_path / name, os.O_RDONLY)
        sender.send(name, (fd,))
        os.close(fd)    # the channel has its own
    assert exchange(sender, receiver)[-2:] == ["a", "b"]
    assert [os.read(fd, 10) for fd in receiver.descriptors] == [b"a", b"b"]
    sender.close()
    receiver.close()
    assert scripts.descriptors(tmp_path) == before


def test_descriptors_that_were_not_sent_are_closed(tmp_path):
    before = scripts.descriptors(tmp_path)
    sender, receiver = pair()
    while sender.send(bytes(100_000)):
        pass
    sender.send("late", (0,))
    sender.close()
    receiver.close()
    assert scripts.descriptors(tmp_path) == before
