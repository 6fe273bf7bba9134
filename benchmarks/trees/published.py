"""What the paper prints in tables: mean correlations, and rank correlations of measures with them. Its other
figures are bar plots.
"""

#: Mean correlations of prototypes that learned nothing there (its table 2), and of proxies that the tree laid
#: out (under its figures): means, and 95% intervals over five seeds where it has them.
CORRELATIONS: dict[str, dict[str, str]] = {
    "random": {"NABirds": "0.109 ± 0.084", "CIFAR-100": "0.284 ± 0.030"},
    "pretrained": {"NABirds": "0.265 ± 0.035", "CIFAR-100": "0.382 ± 0.012"},
    "input": {"NABirds": "0.174 ± 0.006", "CIFAR-100": "0.341 ± 0.035"},
    "mds": {
        "MicroS": "0.931",
        "MicroL": "0.954",
        "MesoZ": "0.978",
        "NABirds": "0.448",
        "CIFAR-100": "0.858",
    },
}

#: Its table S2: the rank correlations with the mean correlation of proxies, over 65 runs.
WITH_PROXIES: dict[str, dict[str, float]] = {
    "MicroS": {
        "top-1": 0.2039,
        "top-5": -0.135,
        "AHD@1": -0.3423,
        "AHD@5": -0.7407,
        "HP@5, code": 0.7392,
        "HS@50": 0.7671,
        "HS@250": 0.7911,
        "AHS@250": 0.795,
    },
    "MicroL": {
        "top-1": 0.226,
        "top-5": -0.3716,
        "AHD@1": -0.3855,
        "AHD@5": -0.8258,
        "HP@5, code": 0.835,
        "HS@50": 0.7962,
        "HS@250": 0.8167,
        "AHS@250": 0.8186,
    },
    "MesoZ": {
        "top-1": 0.2171,
        "top-5": -0.212,
        "AHD@1": -0.2959,
        "AHD@5": -0.9026,
        "HP@5, code": 0.9001,
        "HS@50": 0.5634,
        "HS@250": 0.886,
        "AHS@250": 0.8034,
    },
    "NABirds": {
        "top-1": 0.3112,
        "top-5": -0.5669,
        "AHD@1": -0.4267,
        "AHD@5": -0.7023,
        "HP@5, code": 0.707,
        "HS@50": 0.5276,
        "HS@250": 0.721,
        "AHS@250": 0.6862,
    },
    "CIFAR-100": {
        "top-1": 0.1675,
        "top-5": -0.3364,
        "AHD@1": -0.1821,
        "AHD@5": -0.8856,
        "HP@5, code": 0.8955,
        "HS@50": 0.1878,
        "HS@250": 0.5514,
        "AHS@250": 0.3335,
    },
}
