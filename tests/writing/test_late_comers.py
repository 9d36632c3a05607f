"""What comes while the files are closed, or after that: it is counted once, and nobody waits for it."""

from __future__ import annotations

import threading
import time

from summarykit.summary import SummaryWriter, scalar_calls
from summarykit.writing import Writer, WriterOptions
from summarykit.writing.request import Request

LIMIT = 100


class Slow(list):
    """Lets other threads run between the two halves of taking something out."""

    def __delitem__(self, place):
        time.sleep(0.05)
        super().__delitem__(place)


def made(directory):
    some = Writer(WriterOptions(directory=directory))
    some.put(["loss", 1.0, 1, 0.0])
    assert some.flush()
    return some


def test_a_thread_that_records_while_the_pump_closes_leaves_the_requests_of_others_to_it(tmp_path, caplog):
    some = made(tmp_path)
    sync, threads = some.desk.works.durable.sync, []

    def put_meanwhile(*arguments, **keywords):
        some.closed = False    # when that thread looked, it was not
        threads.append(threading.Thread(target=some.put, args=(["loss", 2.0, 2, 0.0],)))
        threads[0].start()
        threads[0].join(0.3)
        sync(*arguments, **keywords)

    some.desk.works.durable.sync = put_meanwhile
    requests = [Request(some.desk._close), Request(some.desk.works.flushed)]
    with some.desk.turns.lock:    # both come into one turn
        some.desk._requests.extend(requests)
    assert all(request.wait(LIMIT, lambda: None) for request in requests)
    threads[0].join(LIMIT)
    with some.desk.turns.lock:    # that turn is over
        assert some.desk.ended
    assert "internal error" not in caplog.text
    figures = some.summary()
    assert (figures["written"], figures["dropped"], figures["waiting"]) == (1, {"the record was closed": 1}, 0)


def test_threads_that_come_too_late_together_are_counted_once_each(tmp_path):
    some = made(tmp_path)
    some.close()
    some.closed = False    # as for threads that looked just before
    some.buffer.flat = Slow()
    threads = [threading.Thread(target=some.put, args=(["loss", float(step), step, 0.0],)) for step in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    figures = some.summary()
    assert (figures["recorded"], figures["dropped"]) == (5, {"the record was closed": 4})


def test_flushing_what_is_closed_leaves_nothing_behind(tmp_path):
    some = made(tmp_path)
    some.close()
    assert all(some.flush() for _ in range(10))
    assert not some.desk._requests


def test_a_number_that_takes_the_short_way_while_a_signal_handler_closes_is_counted(tmp_path, monkeypatch):
    def close_meanwhile():
        monkeypatch.setattr(scalar_calls, "time", time.time)
        some.close()
        return time.time()

    some = SummaryWriter(tmp_path)
    some.add_scalar("loss", 1.0, 1)
    some.flush()
    monkeypatch.setattr(scalar_calls, "time", close_meanwhile)
    some.add_scalar("loss", 2.0, 2)
    figures = some.stats()
    assert (figures["written"], figures["dropped"], figures["waiting"]) == (1, {"the record was closed": 1}, 0)
    some.add_scalar("loss", 3.0, 3)    # a new file
    some.close()
    figures = some.stats()
    assert (figures["recorded"], figures["written"], figures["waiting"]) == (3, 2, 0)
