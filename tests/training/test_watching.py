"""A run that nobody watches."""

import inspect

from samekind.training.watching import Nobody, Watcher


def test_nobody_has_the_methods_of_the_protocol():
    for name in ("begin", "step", "epoch", "end"):
        assert inspect.signature(getattr(Nobody, name)) == inspect.signature(getattr(Watcher, name))


def test_nobody_prints_nothing(capsys):
    nobody = Nobody()
    nobody.begin(steps=4, done=1)
    nobody.step(loss=2.5, items_per_second=1000.4)
    nobody.epoch({"epoch": 7, "loss": 1.2, "validation": {"eer": 0.1}, "items_per_second": 1.0})
    nobody.end()
    assert capsys.readouterr() == ("", "")
