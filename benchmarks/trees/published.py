"""What the paper prints in tables: mean correlations, and rank correlations of measures over runs. Its other
figures are bar plots.
"""

#: Mean correlations of prototypes that learned nothing there (its table 2), and of proxies that the tree laid
#: out (under its figures): means, and 95% intervals over five seeds where it has them.
CORRELATIONS: dict[str, dict[str, str]] = {
    "random": {"NABirds": "0.109 ± 0.084", "CIFAR-100": "0.284 ± 0.030"},
    "pretrained": {"NABirds": "0.265 ± 0.035", "CIFAR-100": "0.382 ± 0.012"},
    "input": {"NABirds": "0.174 ± 0.006", "CIFAR-100": "0.341 ± 0.035"},
    "input, normalised": {"NABirds": "0.237 ± 0.004", "CIFAR-100": "0.261 ± 0.042"},
    "mds": {
        "MicroS": "0.931",
        "MicroL": "0.954",
        "MesoZ": "0.978",
        "NABirds": "0.448",
        "CIFAR-100": "0.858",
    },
}

#: The paper's sets, in the order of all rows below.
SETS = ("MicroS", "MicroL", "MesoZ", "NABirds", "CIFAR-100")
#: Its tables S2 to S4: rank correlations with a measure over 65 runs; None where a cell cannot be read.
TOGETHER: dict[str, dict[str, tuple[float | None, ...]]] = {
    "MC proxies": {
        "top-1": (0.2039, 0.226, 0.2171, 0.3112, 0.1675),
        "top-5": (-0.135, -0.3716, -0.212, -0.5669, -0.3364),
        "AHD@1": (-0.3423, -0.3855, -0.2959, -0.4267, -0.1821),
        "AHD@5": (-0.7407, -0.8258, -0.9026, -0.7023, -0.8856),
        "HP@5, code": (0.7392, 0.835, 0.9001, 0.707, 0.8955),
        "HS@50": (0.7671, 0.7962, 0.5634, 0.5276, 0.1878),
        "HS@250": (0.7911, 0.8167, 0.886, 0.721, 0.5514),
        "AHS@250": (0.795, 0.8186, 0.8034, 0.6862, 0.3335),
    },
    "top-1": {
        "top-5": (0.2199, 0.0365, 0.1033, -0.1043, 0.4398),
        "AHD@1": (None, -0.8302, -0.9309, None, -0.9507),
        "AHD@5": (-0.1906, -0.3259, -0.2908, -0.6136, -0.2877),
        "HP@5, code": (0.2263, 0.2956, 0.2886, 0.6029, 0.2439),
        "HS@50": (0.4325, 0.5085, 0.6979, 0.6832, 0.8967),
        "HS@250": (0.1369, 0.3057, 0.2945, 0.4915, 0.5535),
        "AHS@250": (0.3394, 0.4233, 0.5067, 0.5733, 0.8517),
        "MC proxies": (0.2039, 0.226, 0.2171, 0.3112, 0.1675),
        "MC prototypes": (0.215, 0.2055, 0.1738, 0.2664, 0.1978),
    },
    "top-5": {
        "top-1": (0.2199, 0.0365, 0.1033, -0.1043, 0.4398),
        "AHD@1": (-0.0716, 0.0033, -0.0406, 0.1196, -0.4245),
        "AHD@5": (0.2417, 0.4842, 0.2732, 0.4949, 0.4561),
        "HP@5, code": (-0.2765, -0.5318, -0.3113, -0.5733, -0.4902),
        "HS@50": (0.0115, -0.3164, -0.2331, -0.0071, 0.2515),
        "HS@250": (-0.0677, -0.4343, -0.1965, -0.3192, 0.0955),
        "AHS@250": (0.0249, -0.3603, -0.1446, -0.2203, 0.3157),
        "MC proxies": (-0.135, -0.3716, -0.212, -0.5669, -0.3364),
        "MC prototypes": (-0.104, -0.4784, -0.291, -0.5457, -0.3675),
    },
}
