"""Lines on the disk before anybody is answered, whatever the process before has left."""

import json
import os

from samekind.serving.audit import Audit


def test_what_is_noted_is_written_and_flushed_together(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    audit = Audit(tmp_path / "state" / "audit.jsonl")
    for place in range(3):
        audit.note("compare", caller="anna", about={"items": [place]})
    assert (tmp_path / "state" / "audit.jsonl").read_text() == ""
    audit.flush()
    audit.flush()
    lines = [json.loads(line) for line in (tmp_path / "state" / "audit.jsonl").read_text().splitlines()]
    assert [(line["what"], line["caller"], line["items"]) for line in lines] == [
        ("compare", "anna", [place]) for place in range(3)
    ]
    assert len(flushed) == 1
    audit.close()


def test_a_line_that_was_cut_short_stays_a_line_of_its_own(tmp_path):
    path = tmp_path / "audit.jsonl"
    path.write_text('{"what": "enroll"}\n{"what": "enr')
    audit = Audit(path)
    audit.note("remove", caller="anna", about={})
    audit.close()
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    assert json.loads(lines[-1])["what"] == "remove"


def test_without_a_path_nothing_is_kept():
    audit = Audit(None)
    audit.note("compare", caller="anna", about={})
    audit.close()
