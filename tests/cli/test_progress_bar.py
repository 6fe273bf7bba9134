"""What a person sees: a bar at a terminal, plain lines elsewhere."""

import inspect
import io
import re

from rich.console import Console

from samekind.cli import progress_bar
from samekind.cli.progress_bar import Bar, bar
from samekind.training import Watcher

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


def test_only_the_measures_that_are_named_are_shown():
    console = Console(file=io.StringIO())
    watched(Bar(console, title="digits", shown=["eer"]))
    assert console.file.getvalue() == "digits: epoch 7 loss 1.235 EER 12.50% 12,346 items/s\n"


def test_short_epochs_share_a_line(monkeypatch):
    console, clock = Console(file=io.StringIO()), [100.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: clock[0])
    bar = Bar(console, title="house", shown=["eer", "not measured"], pause=10.0)
    for epoch in range(1, 26):
        clock[0] += 1.0
        bar.epoch({**ENTRY, "epoch": epoch})
    assert re.findall(r"epoch (\d+) loss 1.235 EER 12.50% 12,346", console.file.getvalue()) == ["10", "20"]


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


def test_a_bar_has_the_methods_of_a_watcher():
    for name in ("begin", "step", "epoch", "end"):
        assert inspect.signature(getattr(Bar, name)) == inspect.signature(getattr(Watcher, name))


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


def test_the_bar_counts_on_a_terminal_and_is_silent_elsewhere(monkeypatch, capsys):
    with bar("title", 10) as advance:
        advance(10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(
        progress_bar,
        "messages",
        lambda: Console(stderr=True, force_terminal=True, width=80, color_system=None),
    )
    with bar("[red]title", 10) as advance:
        advance(4)
        advance(6)
    assert "[red]title" in (shown := capsys.readouterr().err)
    assert "10/10" in shown
