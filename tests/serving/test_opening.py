"""Where a server keeps what it must not forget."""

from samekind.serving.opening import state_folder


def test_in_the_folder_of_a_run_or_beside_that_of_a_space(tmp_path):
    run, space = tmp_path / "run", tmp_path / "space"
    for folder in (run / "space", space):
        folder.mkdir(parents=True)
        (folder / "space.json").write_text("{}")
    (run / "run.json").write_text("{}")
    assert state_folder(run) == run / "serving"
    assert state_folder(run / "space") == run / "serving"
    assert state_folder(space) == tmp_path / "space-serving"
