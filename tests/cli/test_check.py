"""samekind check: what is there, what is wrong, and what training would do."""

import json
import shutil

import pytest


def test_describes_data_and_what_training_would_do(samekind, folders):
    answer = samekind("check", folders)
    assert (answer.status, answer.err) == (0, "")
    assert "folders: 36 items of 3 classes; pictures of 8 x 8 pixels (36)" in answer.out
    assert "The house recipe would measure what needs no training, then train SmallConvnet on " in answer.out
    assert "items of 1 x 8 x 8 for 80 epochs, 80 steps, and keep what pays. Split (random)" in answer.out
    said = samekind("check", folders, "--recipe", "prototypical").out
    assert "A run of prototypical would train SmallConvnet on items of 1 x 8 x 8 for 150 epochs" in said


def test_names_the_network_and_not_what_is_around_it(samekind, folders):
    training = json.loads(samekind("check", folders, "--size", 64, "--json").out)["training"]
    assert (training["recipe"], training["encoder"]) == ("house", "EfficientNetLite")


def test_reports_what_is_chosen_for_few_pictures(samekind, folders):
    prototypical = ["--size", 32, "--recipe", "prototypical"]
    told = json.loads(samekind("check", folders, *prototypical, "--json").out)
    assert told["training"]["encoder"] == "SmallConvnet"
    assert told["training"]["chosen"] == {
        "prototypes": ["averages of momentum 0.9", "averages of momentum 0.5"],
        "optimiser": ["SGD at 0.05", "Adam at 0.001"],
        "schedule": ["multi-step", "cosine"],
        "epochs": ["30 epochs", "150 epochs"],
    }
    said = samekind("check", folders, *prototypical).out
    assert "With few items to train on it takes averages of momentum 0.5, Adam at 0.001, cosine, 150" in said
    assert ", not the recipe's averages of momentum 0.9, SGD at 0.05, multi-step, 30 epochs." in said


@pytest.mark.parametrize(("epochs", "warned"), [(49, True), (50, False)])
def test_warns_of_a_run_of_few_steps(samekind, folders, tmp_path, epochs, warned):
    """The pictures to train on are one batch."""
    path = tmp_path / "run.toml"
    path.write_text(f'recipe = "triplet"\nepochs = {epochs}\n[data]\nsource = {json.dumps(str(folders))}\n')
    said = f"a run of {epochs} steps is short"
    page = samekind("check", path).out
    assert (f"warning: {said}" in page) == ("--set epochs=200 asks for so many" in page) == warned
    warnings = json.loads(samekind("check", path, "--json").out)["warnings"]
    assert [sentence.partition(",")[0] for sentence in warnings] == ([said] if warned else [])
    assert all(sentence.endswith("; 200 epochs make it long enough") for sentence in warnings)


def test_json_has_the_same_facts(samekind, folders):
    reported = json.loads(samekind("check", folders, "--json", "--unseen", "half").out)
    assert reported["classes"] == {"0": 12, "1": 12, "7": 12}
    assert (reported["sizes"], reported["errors"], reported["unreadable"]) == ({"8x8": 36}, [], [])
    assert list(reported)[-1] == "sizes"  # there may be many, and nothing is to be looked for behind them
    assert reported["training"]["items"]["unseen"] == 12
    assert reported["training"]["classes"]["train"] == 2


@pytest.mark.parametrize("skip", [(), ("--skip-unreadable",)])
def test_names_unreadable_files_and_copies(samekind, folders, tmp_path, skip):
    copy = shutil.copytree(folders, tmp_path / "copy")
    (copy / "0" / "broken.png").write_bytes(b"no picture")
    shutil.copy(copy / "1" / "00.png", copy / "7" / "copied.png")
    answer = samekind("check", copy, *skip)
    assert answer.status == (0 if skip else 1)
    assert ("warning" if skip else "error") + ": 1 of 38 files cannot be read" in answer.out
    assert "broken.png" in answer.out
    assert "same content: 1/00.png, 7/copied.png" in answer.out
    assert ("The house recipe would" in answer.out) == bool(skip)


def test_checks_a_run_file_with_its_data_and_split(samekind, folders, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        f'recipe = "triplet"\n[data]\nsource = {json.dumps(str(folders))}\nsize = 12\n'
        "[training]\nepochs = 3\n"
    )
    reported = json.loads(samekind("check", path, "--json").out)["training"]
    assert (reported["recipe"], reported["epochs"], reported["shape"]) == ("triplet", 3, [1, 12, 12])


def test_reports_what_a_run_cannot_do_with_the_data(samekind, folders):
    answer = samekind("check", folders, "--unseen", "0,1,7")
    assert answer.status == 1
    assert "error: a split by class needs items of seen and of unseen classes" in answer.out


def test_counts_one_in_the_singular(samekind, folders, tmp_path):
    shutil.copytree(folders / "0", tmp_path / "few" / "0")
    (tmp_path / "few" / "1").mkdir()
    shutil.copy(folders / "1" / "00.png", tmp_path / "few" / "1")
    said = samekind("check", tmp_path / "few").out
    assert "13 items of 2 classes" in said
    assert "1 class has a single item" in said
    shutil.rmtree(tmp_path / "few" / "0")
    assert "few: 1 item of 1 class; pictures of 8 x 8" in samekind("check", tmp_path / "few").out


def test_refuses_missing_data(samekind, tmp_path):
    answer = samekind("check", tmp_path / "none")
    assert answer.status == 1
    assert "error: " in answer.out


def test_finds_copies_in_two_parts_of_the_split(samekind, folders, tmp_path):
    """Every picture is there three times: no split of 60, 20 and 20 per cent keeps them all together."""
    copy = shutil.copytree(folders, tmp_path / "copy")
    for picture in sorted(copy.rglob("*.png")):
        for number in (1, 2):
            shutil.copy(picture, picture.with_name(f"{picture.stem}-{number}.png"))
    assert "contents are in more than one part: " in samekind("check", copy).out
    assert "more than one part" not in samekind("check", folders).out


def test_reports_validation_items_that_training_refuses(samekind, folders):
    """Two of three classes kept apart: one is left, and training says the same."""
    answer = samekind("check", folders, "--unseen", "0,1")
    assert answer.status == 1
    assert "error: folders, validation: expected two classes or more" in answer.out
    assert "The house recipe would" not in answer.out


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('watch = "recall@1"', '"recall@1" is measured by "retrieval", which run.validate does not name'),
        ('watch = "eer nonsense"', 'run.watch: no measure "eer nonsense"'),
        ('[training.terms.triplet]\nloss = "arc_face"', "the loss arc_face takes scores that are cosine"),
        ('[training.space.encoder]\nname = "ResNet13"', "ResNet13"),
        ('[[training.augment]]\nname = "GaussianNoise"', "GaussianNoise is for vectors"),
        ('[training.penalties.small]\npenalty = "none"', "run.penalties.small"),
        ('[training.terms]\nauxiliary = "none"', "run.space.auxiliary: no term trains the auxiliary head"),
        (
            "[training.terms.auxiliary]\nsmoothing = 1.5",
            "smoothing is a part of the target, from 0 up, below 1",
        ),
        ("memory = 100", "run.memory: no term sees the 100 embeddings of the memory"),
        ('better = "higher"', 'run.better: of "eer" lower is better'),
    ],
)
def test_refuses_a_run_file_that_training_refuses(samekind, folders, tmp_path, settings, says):
    """In the words of training."""
    path = tmp_path / "run.toml"
    training = settings if settings.startswith("[") else f"[training]\n{settings}"
    path.write_text(f'recipe = "triplet"\n[data]\nsource = {json.dumps(str(folders))}\n{training}\n')
    answer = samekind("check", path)
    assert answer.status == 1
    reported = [line for line in answer.out.splitlines() if line.startswith("error: ")]
    assert len(reported) == 1
    assert says in reported[0]
    refused = samekind("train", path, "--out", tmp_path / "run")
    assert (refused.status, refused.err) == (2, f"samekind: {reported[0].removeprefix('error: ')}\n")


def test_accepts_a_frozen_encoder_that_another_space_will_give(samekind, folders, tmp_path):
    """Whether `train` is told one by --from, a file does not say."""
    path = tmp_path / "run.toml"
    encoder = '[training.space.encoder]\nname = "Conv4"\nsize = 16\nfreeze = "stem"'
    path.write_text(
        f'recipe = "triplet"\n[data]\nsource = {json.dumps(str(folders))}\nsize = 16\n{encoder}\n'
    )
    answer = samekind("check", path)
    assert answer.status == 0, answer.out
    refused = samekind("train", path, "--out", tmp_path / "run")
    assert refused.status == 2
    assert 'Conv4 has random weights, and freeze = "stem" would keep' in refused.err


def test_checks_test_items_that_choose_the_epoch(samekind, tmp_path):
    """They are of one class alone, so that no epoch can be chosen by them."""
    table = tmp_path / "t.csv"
    parts = {"train": "xy" * 10, "validation": "xy" * 4, "test": "x" * 6}
    rows = [f"{n},{label},{part}\n" for part, labels in parts.items() for n, label in enumerate(labels)]
    table.write_text("a,label,part\n" + "".join(rows))
    path = tmp_path / "run.toml"
    content = f'recipe = "triplet"\nselect_on = "test"\n[data]\nsource = {json.dumps(str(table))}\n'
    path.write_text(content + 'part = "part"\n')
    answer = samekind("check", path)
    assert answer.status == 1
    assert "error: t.csv, test: expected two classes or more" in answer.out
    path.write_text((content + 'part = "part"\n').replace('"test"', '"validation"'))
    assert samekind("check", path).status == 0


def test_columns_can_be_left_out(samekind, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,a,label\n" + "".join(f"n{n},{n % 7},{'xy'[n % 2]}\n" for n in range(40)))
    assert "leave it out with ignore" in samekind("check", path).out
    assert samekind("check", path, "--ignore", "name").status == 0


@pytest.mark.parametrize("command", ["check", "init", "train"])
def test_reports_an_empty_folder(samekind, tmp_path, command):
    empty = tmp_path / "empty"
    empty.mkdir()
    arguments = ("triplet", "--data", empty) if command == "train" else (empty,)
    answer = samekind(command, *arguments, *(("--out", tmp_path / "x.toml") if command == "init" else ()))
    assert answer.status == (1 if command == "check" else 2)
    assert "empty has no pictures, sounds or arrays; expected folders of them" in answer.out + answer.err


@pytest.fixture
def named_otherwise(folders, tmp_path):
    """A list of pictures whose column of paths is not called so."""
    path = tmp_path / "list.csv"
    rows = [f"{path},{path.parent.name}" for path in sorted(folders.rglob("*.png"))]
    path.write_text("\n".join(["file,label", *rows]), encoding="utf-8")
    return path


def test_the_column_of_paths_may_have_another_name(samekind, named_otherwise, tmp_path):
    refused = samekind("check", named_otherwise)
    assert (refused.status, "--path file" in refused.out) == (1, True)
    answer = samekind("check", named_otherwise, "--path", "file")
    assert (answer.status, "36 items of 3 classes" in answer.out) == (0, True)
    out = tmp_path / "run.toml"
    assert samekind("init", named_otherwise, "--path", "file", "--out", out).status == 0
    assert samekind("check", out).status == 0


def test_settings_can_be_tried_out(samekind, named_otherwise):
    answer = samekind("check", named_otherwise, "--set", "data.path=file", "--set", "epochs=7", "--json")
    assert json.loads(answer.out)["training"]["epochs"] == 7


def test_reports_missing_items_once(samekind, tmp_path):
    path = tmp_path / "list.csv"
    path.write_text("\n".join(["path,label", *(f"{n}.png,{n % 2}" for n in range(25))]), encoding="utf-8")
    answer = samekind("check", path)
    lines = answer.out.splitlines()
    [error] = [line for line in lines if line.startswith("error")]
    assert error.startswith("error: 25 of 25 files cannot be read: ")
    assert error.endswith(" and 15 more")
    assert sum("unreadable: " in line for line in lines) == 20
    assert "  and 5 more unreadable, which --json names" in lines


def test_names_the_largest_classes_and_counts_domains(samekind, tmp_path):
    rows = [f"{row},{row % 7},{row % 25:02},{'ab'[row % 2]}" for row in range(250)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,label,domain", *rows, ""]))
    out = samekind("check", tmp_path / "t.csv", "--recipe", "triplet").out
    assert "t.csv: 250 items of 25 classes; 2 domains" in out
    assert [line.split() for line in out.splitlines() if "more classes" in line] == [
        ["5", "more", "classes", "50"]
    ]
