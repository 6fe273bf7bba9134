"""The figures of Kim, "On the Significance of Distance in Machine Learning", 2023, chapter 5, for CIFAR-10.

The thesis does not state its network, its epochs, or how many items it compares.
"""

#: The set of pictures, and the tables with these figures; those between are of SVHN.
DATA, TABLES = "cifar10", "tables 5.1, 5.3 and 5.4"

_NAMES = ("MC l2", "MC linf", "D_inter", "D_intra", "phi", "R2", "directions", "rho")
#: The measures of each training, by its name in the grid.
SPACES = {
    training: dict(zip(_NAMES, figures, strict=True))
    for training, figures in {
        "none": (0.0818, 0.0517, 1.0245, 0.0683, 15.0003, 0.8709, 32.0, 2.4053),
        "l2-0.25": (0.1586, 0.1239, 0.6783, 0.1312, 5.1692, 0.6993, 51.0, 1.6701),
        "l2-0.5": (0.2109, 0.1689, 0.65, 0.1513, 4.2946, 0.659, 76.0, 0.9996),
        "l2-1": (0.3003, 0.2229, 0.5376, 0.2606, 2.0631, 0.4814, 75.0, 1.457),
        "all": (0.2719, 0.1914, 0.5312, 0.1991, 2.6684, 0.5456, 71.0, 1.3003),
    }.items()
}
#: The measures of the inputs, by metric.
INPUTS = {
    "l2": {"phi": 0.1635, "R2": 0.055, "1-NN": 0.3546, "nearest mean": 0.2771},
    "linf": {"phi": 0.1804, "1-NN": 0.1816, "nearest mean": 0.2136},
}
