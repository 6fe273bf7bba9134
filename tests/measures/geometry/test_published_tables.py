"""Chapter 5 of Kim's thesis: its table 5.6 recomputed from tables 5.1, 5.2, 5.4 and 5.5.

Models trained against stronger attacks keep more of the input distances (mean correlation, MC), and their
classes are less apart. Columns are models: standard training, adversarial training in l2 with epsilon 0.25,
0.5 and 1, in linf with 8/255, and for SVHN 12/255.
"""

import pytest
from scipy.stats import spearmanr

from samekind.evaluation.representation import DIRECTIONS, MC_L2, MC_LINF, correlations

CIFAR = {
    "MC l2": [0.0818, 0.1586, 0.2109, 0.3003, 0.2719],
    "MC linf": [0.0517, 0.1239, 0.1689, 0.2229, 0.1914],
    "phi": [15.0003, 5.1692, 4.2946, 2.0631, 2.6684],
    "R2": [0.8709, 0.6993, 0.659, 0.4814, 0.5456],
    "d_DoV": [32, 51, 76, 75, 71],
    "rho": [2.4053, 1.6701, 0.9996, 1.457, 1.3003],
}
SVHN = {
    "MC l2": [-0.0118, 0.0301, 0.1003, 0.1737, 0.0134, 0.0371],
    "MC linf": [-0.0061, 0.0576, 0.149, 0.2162, 0.0307, 0.0619],
    "phi": [26.6981, 12.4786, 4.9135, 1.7879, 15.2928, 15.0282],
    "R2": [0.9231, 0.8488, 0.6885, 0.4458, 0.8731, 0.8711],
    "d_DoV": [21, 35, 48, 52, 34, 31],
    "rho": [2.3753, 2.8203, 2.5358, 2.2234, 2.6031, 2.5739],
}
#: What samekind calls a measure of the thesis, if it is another name.
NAMES_THERE = {"d_DoV": DIRECTIONS}
#: Table 5.6: Pearson and Spearman with MC l2 on CIFAR-10, then on SVHN, with the stars of their p-values.
PRINTED = {
    "phi": ["-0.9058 M", "-1.0000 **", "-0.9082 M", "-0.9429 *"],
    "R2": ["-0.9917 **", "-1.0000 **", "-0.9860 **", "-0.9429 *"],
    "d_DoV": ["0.9115 M", "0.7000", "0.9337 *", "0.8286 M"],
    "rho": ["-0.7513", "-0.6000", "-0.5271", "-0.3714"],
}


def written(coefficient, chance):
    """A coefficient as the table prints it."""
    stars = "**" if chance < 0.001 else "*" if chance < 0.01 else "M" if chance < 0.05 else ""
    return f"{coefficient:.4f} {stars}".strip()


@pytest.mark.parametrize("measure", PRINTED)
def test_table_5_6_follows_from_the_others(measure):
    """The stars of Spearman's are those of an approximation; ours are exact, and have fewer."""
    found = []
    for table in (CIFAR, SVHN):
        rows = [
            {NAMES_THERE.get(name, name): values[model] for name, values in table.items()}
            for model in range(len(table["rho"]))
        ]
        both = correlations(rows)[NAMES_THERE.get(measure, measure)]
        usual = spearmanr(table["MC l2"], table[measure]).pvalue
        assert both["Spearman"][1] >= usual
        found += [written(*both["Pearson"]), written(both["Spearman"][0], usual)]
    assert found == PRINTED[measure]


@pytest.mark.parametrize(("table", "expected"), [(CIFAR, 0.9892), (SVHN, 0.9952)])
def test_the_two_rows_of_mean_correlation_agree(table, expected):
    rows = [{MC_L2: one, MC_LINF: other} for one, other in zip(table["MC l2"], table["MC linf"], strict=True)]
    assert correlations(rows)[MC_LINF]["Pearson"][0] == pytest.approx(expected, abs=5e-5)
