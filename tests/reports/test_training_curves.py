"""Training curves: the lines that were recorded, where they were recorded."""

from itertools import pairwise

import pytest

from samekind.reports import training_curves


def lines(axes):
    """Label to points of the lines that have a name."""
    result = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    return {name: list(zip(*map(list, line.get_data()), strict=True)) for name, line in result.items()}


def test_there_is_a_row_of_two_panels_for_each_record(record):
    figure = training_curves({"one": record, "other": record[:1]})
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "one: training loss",
        "one: validation EER, %",
        "other: training loss",
        "other: validation EER, %",
    ]


def test_the_loss_its_terms_and_the_errors_are_drawn(record):
    left, right = training_curves({"one": record}).axes
    assert lines(left) == {
        "total": [(1, 3.0), (2, 1.5), (3, 1.0)],
        "pair": [(1, 1.0), (2, 0.5), (3, 1 / 3)],
        "class": [(1, 2.0), (2, 1.0), (3, 2 / 3)],
    }
    errors = lines(right)
    assert list(errors) == ["similarity", "cosine"]
    assert errors["cosine"] == [(1, 40.0), (2, 20.0), (3, pytest.approx(40 / 3))]


def test_no_legend_lies_on_a_panel(record):
    figure = training_curves({"one": record, "other": record[:2]})
    figure.draw_without_rendering()
    for axes in figure.axes:
        legend = axes.get_legend().get_window_extent()
        assert not any(legend.overlaps(other.bbox) for other in figure.axes)
        assert figure.bbox.y0 <= legend.y0


@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_epochs_are_whole_numbers(record, epochs):
    for axes in training_curves({"one": record[:epochs]}).axes:
        low, high = axes.get_xlim()
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        assert ticks
        assert all(float(tick).is_integer() for tick in ticks)


def test_the_last_best_epoch_is_marked_in_both_panels(record):
    for axes in training_curves({"one": record}).axes:
        assert [line.get_xdata() for line in axes.lines if len(set(line.get_xdata())) == 1] == [[2, 2]]
        assert [text.get_text() for text in axes.texts] == ["kept: epoch 2"]


def test_no_epoch_is_marked_where_none_was_called_best(record):
    entries = [{**entry, "best": False} for entry in record]
    assert all(not axes.texts for axes in training_curves({"one": entries}).axes)


def test_a_single_term_is_not_drawn_over_the_total(record):
    entries = [{**entry, "terms": {"only": entry["loss"]}} for entry in record]
    assert list(lines(training_curves({"one": entries}).axes[0])) == ["total"]


def test_the_error_is_drawn_where_it_is_the_only_one(record):
    entries = [{**entry, "validation": {"eer": 0.0}} for entry in record]
    axes = training_curves({"one": entries}).axes[1]
    assert lines(axes) == {"EER": [(1, 0.0), (2, 0.0), (3, 0.0)]}
    assert axes.get_ylim()[0] == 0 < axes.get_ylim()[1]


def test_all_error_panels_have_one_scale(record):
    worse = [{**entry, "validation": {"eer": 0.5}} for entry in record]
    figure = training_curves({"one": record, "other": worse})
    assert figure.axes[1].get_ylim() == figure.axes[3].get_ylim() == (0, pytest.approx(55))
    assert figure.axes[0].get_ylim() != figure.axes[1].get_ylim()


def test_tick_labels_do_not_touch(record):
    axes = training_curves({"one": record}).axes[1]
    places = sorted(tick**0.5 for tick in axes.get_yticks())
    assert places[0] == 0
    assert len(places) > 3
    assert min(b - a for a, b in pairwise(places)) > 0.06 * axes.get_ylim()[1] ** 0.5


@pytest.fixture
def adversarial(record):
    """The same epochs, chosen by retrieval, under an adversary."""
    return [
        {
            **entry,
            "validation": {"recall@2": 0.7, "recall@1": 0.2 * entry["epoch"], "recall@1 cosine": 0.1},
            "adversary": {"coefficient": entry["epoch"] - 2.0, "loss": 3.0, "plain_loss": 1 / entry["epoch"]},
        }
        for entry in record
    ]


def test_recall_is_drawn_where_it_was_measured(adversarial):
    axes = {panel.get_title(loc="left"): panel for panel in training_curves({"one": adversarial}).axes}
    assert "one: validation EER, %" not in axes
    assert lines(axes["one: validation, %"]) == {
        "Recall@1": [(1, 20.0), (2, 40.0), (3, pytest.approx(60))],
        "Recall@2": [(1, 70.0), (2, 70.0), (3, 70.0)],
    }


def test_a_measure_that_is_not_a_share_has_a_panel_without_per_cent(record):
    entries = [{**entry, "validation": {"eer": 0.1, "nmi": 0.25, "recall@1": 0.5}} for entry in record]
    axes = {panel.get_title(loc="left"): panel for panel in training_curves({"one": entries}).axes}
    assert lines(axes["one: validation NMI"]) == {"NMI": [(1, 0.25), (2, 0.25), (3, 0.25)]}
    assert list(lines(axes["one: validation, %"])) == ["Recall@1"]


def test_measures_of_the_tree_and_of_classes_as_clusters_have_panels(record):
    """Those without a bound have ticks as far as they go; a first epoch may have no shift."""
    measured = {"hp@5": 0.5, "mean correlation": 0.25, "ahd@5": 3.5, "cluster radius": 1.25}
    entries = [{**entry, "validation": measured} for entry in record]
    entries[1:] = [{**entry, "validation": {**measured, "centroid shift": 2.5}} for entry in entries[1:]]
    axes = {panel.get_title(loc="left"): panel for panel in training_curves({"one": entries}).axes}
    assert lines(axes["one: validation, %"]) == {"HP@5": [(1, 50), (2, 50), (3, 50)]}
    assert list(lines(axes["one: validation mean correlation"])) == ["mean correlation"]
    assert max(axes["one: validation AHD@5"].get_yticks()) > 1
    clusters = axes["one: validation cluster radius, centroid shift"]
    assert lines(clusters)["centroid shift"] == [(2, 2.5), (3, 2.5)]
    assert max(clusters.get_yticks()) > 1


@pytest.mark.parametrize("recalls", [(0.01, 0.9, 1.0), (0.97, 0.98, 0.99), (0.5, 0.5, 0.5)])
def test_no_tick_is_above_100_per_cent(adversarial, recalls):
    epochs = [
        {**entry, "validation": {"recall@1": recall}}
        for entry, recall in zip(adversarial, recalls, strict=True)
    ]
    axes = training_curves({"one": epochs}).axes[1]
    low, high = axes.get_ylim()
    assert low < 100 * min(recalls) <= 100 * max(recalls) < high  # with room for the words
    ticks = axes.get_yticks()
    assert len(ticks) >= 2
    assert all(low <= tick <= high and 0 <= tick <= 100 for tick in ticks)


def test_a_diverging_loss_has_a_logarithmic_scale(adversarial):
    def scale(*losses, smoothed=2.0):
        epochs = [
            {
                **entry,
                "adversary": {"coefficient": 0.1, "loss": smoothed * entry["epoch"], "plain_loss": value},
            }
            for entry, value in zip(adversarial, losses, strict=True)
        ]
        return training_curves({"one": epochs}).axes[2].get_yscale()

    assert scale(2.7, 1.4, 1.2) == "linear"
    assert scale(2.7, 1.4, 48_508.0) == "log"
    assert scale(2.7, 0.0, 48_508.0) == "linear"  # 0 has no place on the other
    assert scale(2.7, 0.04, 0.1) == "log"
    assert scale(2.7, 1.4, 48_508.0, smoothed=0.0) == "linear"


def test_an_adversary_has_a_row_of_its_own(adversarial):
    left, right = training_curves({"one": adversarial}).axes[2:]
    assert left.get_title(loc="left") == "one: loss of the class adversary"
    assert lines(left) == {
        "with smoothing": [(1, 3.0), (2, 3.0), (3, 3.0)],
        "without": [(1, 1.0), (2, 0.5), (3, 1 / 3)],
    }
    assert right.get_title(loc="left") == "one: coefficient of the class adversary"
    assert lines(right) == {"coefficient": [(1, -1.0), (2, 0.0), (3, 1.0)]}
    assert [text.get_text() for text in right.texts] == ["kept: epoch 2"]


def test_errors_and_recall_are_both_drawn_and_the_next_record_begins_a_row(record, adversarial):
    both = [
        {**entry, "validation": entry["validation"] | other["validation"]}
        for entry, other in zip(record, adversarial, strict=True)
    ]
    figure = training_curves({"one": both, "other": record})
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "one: training loss",
        "one: validation EER, %",
        "one: validation, %",
        "other: training loss",
        "other: validation EER, %",
    ]
    rows = [axes.get_subplotspec().rowspan.start for axes in figure.axes]
    assert rows == [0, 0, 1, 2, 2]
    assert figure.axes[1].get_ylim() == figure.axes[4].get_ylim()


def test_a_record_without_an_epoch_is_left_out(record):
    assert len(training_curves({"empty": [], "one": record}).axes) == 2
    with pytest.raises(ValueError, match="expected a record with at least one epoch"):
        training_curves({"empty": []})
