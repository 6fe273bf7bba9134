"""What arrives together is embedded together, and nobody pays for another's mistake."""

import threading

import numpy as np
import pytest

from samekind.serving.device import Device
from samekind.serving.refusal import Refusal


class Recorder:
    """Embeds numbers as themselves, once it is told to."""

    def __init__(self):
        self.batches, self.entered, self.proceed = [], threading.Event(), threading.Event()

    def __call__(self, items):
        self.entered.set()
        assert self.proceed.wait(20)
        self.batches.append(list(items))
        if "bad" in items:
            raise ValueError("bad item")
        return np.array(items, np.float32)[:, None]


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def device(recorder):
    made = Device(recorder, waiting=8, together=4)
    yield made
    recorder.proceed.set()
    made.stop()


def total(z):
    return float(z.sum())


def test_requests_that_wait_are_embedded_together(device, recorder):
    first = device.submit(total, [1])
    assert recorder.entered.wait(20)
    others = [device.submit(total, [value, value]) for value in (2, 3, 4)]
    recorder.proceed.set()
    assert [future.result(20) for future in (first, *others)] == [1, 4, 6, 8]
    assert recorder.batches == [[1], [2, 2, 3, 3], [4, 4]]


def test_a_full_queue_is_refused_at_once(device, recorder):
    device.submit(total, [0])
    assert recorder.entered.wait(20)
    futures = [device.submit(total, [1]) for _ in range(8)]
    with pytest.raises(Refusal) as refused:
        device.submit(total, [1])
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "1")
    recorder.proceed.set()
    assert [future.result(20) for future in futures] == [1] * 8


def test_a_bad_item_fails_alone(device, recorder):
    device.submit(total, [0])
    assert recorder.entered.wait(20)
    good, bad = device.submit(total, [5]), device.submit(total, ["bad"])
    recorder.proceed.set()
    assert good.result(20) == 5
    with pytest.raises(ValueError, match="bad item"):
        bad.result(20)


def test_work_without_items_and_work_that_fails(device, recorder):
    recorder.proceed.set()
    assert device.submit(lambda z: len(z)).result(20) == 0
    with pytest.raises(ZeroDivisionError):
        device.submit(lambda _: 1 / 0).result(20)
    assert device.submit(total, [3]).result(20) == 3


def test_nobody_is_answered_before_the_batch_is_settled(recorder):
    settled = []
    device = Device(recorder, waiting=8, together=4, settle=lambda: settled.append(len(recorder.batches)))
    recorder.proceed.set()
    future = device.submit(total, [1])
    assert future.result(20) == 1
    assert settled == [1]
    device.stop()


def test_a_batch_that_cannot_be_settled_is_not_answered(recorder):
    def fail():
        raise OSError("no space left")

    device = Device(recorder, waiting=8, together=4, settle=fail)
    recorder.proceed.set()
    with pytest.raises(OSError, match="no space left"):
        device.submit(total, [1]).result(20)
    device.stop()


def test_stopping_answers_what_waits_and_refuses_the_rest(recorder):
    device = Device(recorder, waiting=8, together=4)
    futures = [device.submit(total, [value, value, value]) for value in range(5)]
    recorder.proceed.set()
    device.stop()
    assert [future.result(0) for future in futures] == [0, 3, 6, 9, 12]
    with pytest.raises(Refusal, match="stopping"):
        device.submit(total, [1])


def test_a_request_that_was_given_up_is_not_worked_on(device, recorder):
    device.submit(total, [0])
    assert recorder.entered.wait(20)
    worked = []
    given_up, other = device.submit(worked.append, [1]), device.submit(total, [2])
    assert given_up.cancel()
    recorder.proceed.set()
    assert other.result(20) == 2
    assert worked == []
