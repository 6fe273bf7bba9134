"""What a person sees: a bar at a terminal, plain lines elsewhere."""

import inspect
import io
import re

import pytest
from rich.console import Console

from samekind.training.watching import Bar, Nobody, Watcher

MEASURES = {"eer": 0.125, "eer similarity": 0.125, "eer cosine": 0.25, "eer fused": 0.1251}
ENTRY = {"epoch": 7, "loss": 1.23456, "validation": MEASURES, "items_per_second": 12345.6}


def watched(bar, *, steps=4, done=1):
    """One epoch of a run of four steps, the first of them done by an earlier process."""
    bar.begin(steps=steps, done=done)
    bar.step(loss=2.5, items_per_second=1000.4)
    bar.epoch(ENTRY)
    bar.step(loss=1.5, items_per_second=2000.6)
    bar.end()


def terminal(width=160):
    return Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)


def test_without_a_terminal_an_epoch_is_one_plain_line():
    console = Console(file=io.StringIO())
    watched(Bar(console, title="digits [first] run"))
    assert console.file.getvalue() == (
        "digits [first] run: epoch 7 loss 1.235 EER 12.50% EER similarity 12.50% EER cosine 25.00% "
        "EER fused 12.51% 12,346 items/s\n"
    )


def test_at_a_terminal_there_is_a_bar_with_everything():
    console = terminal()
    bar = Bar(console, title="digits [first] run")
    bar.begin(steps=4, done=1)
    bar.step(loss=2.5, items_per_second=1000.4)
    bar.progress.refresh()
    shown = console.file.getvalue()
    for word in ("digits [first] run", "2/4", "loss 2.500", "1,000 items/s"):
        assert word in shown
    assert re.search(r"(-|\d+):(--|\d\d):(--|\d\d)", shown)  # the time that is left
    bar.epoch(ENTRY)
    bar.step(loss=1.5, items_per_second=2000.6)
    bar.progress.refresh()
    shown = console.file.getvalue()
    for word in ("3/4", "loss 1.500", "EER 12.50%", "EER cosine 25.00%", "2,001 items/s"):
        assert word in shown
    assert "epoch 7" not in shown
    bar.end()


def test_the_time_left_is_known_once_there_is_a_speed():
    console = terminal()
    clock = [0.0]
    bar = Bar(console, title="run")
    bar.progress.get_time = lambda: clock[0]
    bar.begin(steps=100, done=0)
    for _ in range(10):
        clock[0] += 2.0
        bar.step(loss=1.0, items_per_second=1.0)
    bar.progress.refresh()
    bar.end()
    assert "10/100" in console.file.getvalue()
    assert "0:03:00" in console.file.getvalue()


def test_a_bar_can_be_ended_twice():
    bar = Bar(terminal(), title="run")
    watched(bar)
    bar.end()
    assert bar.progress.live.is_started is False


@pytest.mark.parametrize("watcher", [Nobody, Bar])
def test_every_watcher_has_the_methods_of_the_protocol(watcher):
    for name in ("begin", "step", "epoch", "end"):
        expected = inspect.signature(getattr(Watcher, name))
        assert inspect.signature(getattr(watcher, name)) == expected


def test_nobody_prints_nothing(capsys):
    watched(Nobody())
    assert capsys.readouterr() == ("", "")


def test_a_note_is_printed_once_and_not_for_a_finished_run():
    console = Console(file=io.StringIO())
    bar = Bar(console, title="digits", note="[small] network")
    bar.begin(steps=4, done=4)
    bar.end()
    assert console.file.getvalue() == ""
    for _ in range(2):
        bar.begin(steps=4, done=1)
        bar.end()
    assert console.file.getvalue() == "digits: [small] network\n"
