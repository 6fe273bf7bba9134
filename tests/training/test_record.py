"""The record of a run: one line an epoch, cut back when a run resumes."""

import json

import pytest

from samekind.training.record import Record

ENTRIES = [{"epoch": 1, "step": 3, "loss": 0.1 + 0.2}, {"epoch": 2, "step": 6, "validation": {"eer": 1e-17}}]


@pytest.fixture
def record(tmp_path):
    record = Record(tmp_path / "new" / "record.jsonl")
    for entry in ENTRIES:
        record.add(entry)
    return record


def test_a_missing_record_has_no_lines(tmp_path):
    assert Record(tmp_path / "record.jsonl").lines() == []


def test_entries_come_back_exactly(record):
    assert record.lines() == ENTRIES
    assert Record(record.path).lines() == ENTRIES
    assert [json.loads(line) for line in record.path.read_text().splitlines()] == ENTRIES


@pytest.mark.parametrize(("after", "count"), [(-1, 0), (2, 0), (3, 1), (5, 1), (6, 2), (99, 2)])
def test_cut_forgets_what_came_after_a_step(record, after, count):
    record.cut(after=after)
    assert record.lines() == ENTRIES[:count]


def test_cut_begins_an_empty_record(tmp_path):
    record = Record(tmp_path / "new" / "record.jsonl")
    record.cut(after=-1)
    assert record.path.read_text() == ""


def test_a_half_written_last_line_is_left_out(record):
    whole = record.path.read_text()
    last = json.dumps({"epoch": 3, "step": 9}) + "\n"
    for length in range(1, len(last) - 1):
        record.path.write_text(whole + last[:length])
        assert record.lines() == ENTRIES
    record.path.write_text(whole + last[:-1])  # all of it but the end of the line
    assert record.lines() == [*ENTRIES, {"epoch": 3, "step": 9}]


def test_after_a_cut_the_next_entry_has_a_line_of_its_own(record):
    with record.path.open("a") as file:
        file.write('{"epoch": 3, "st')
    record.cut(after=6)
    record.add({"epoch": 3, "step": 9})
    assert record.lines() == [*ENTRIES, {"epoch": 3, "step": 9}]


@pytest.mark.parametrize("line", ["[1]", "3", '{"epoch": null, "step": 3}', '{"epoch": 1}', "[" * 9999])
def test_a_line_that_is_no_entry_ends_the_record(record, line):
    with record.path.open("a") as file:
        file.write(f"{line}\n{json.dumps(ENTRIES[0])}\n")
    assert record.lines() == ENTRIES
