"""What the paper reports: table 2 and tables 3, 4, 7 and 8 of paper II (Kim, "On the Significance of Distance
in Machine Learning", 2023), for the birds.
"""

#: Accuracy and half of its interval, in per cent, by network, shots and classifier.
ACCURACY = {
    ("conv4", 1, "proto-softmax"): "50.46 ± 0.88",
    ("conv4", 1, "proto-dr"): "57.13 ± 0.95",
    ("conv4", 5, "proto-softmax"): "76.39 ± 0.64",
    ("conv4", 5, "proto-dr"): "76.50 ± 0.66",
    ("resnet18", 1, "proto-softmax"): "72.99 ± 0.88",
    ("resnet18", 1, "proto-dr"): "73.33 ± 0.90",
    ("resnet18", 5, "proto-softmax"): "86.64 ± 0.51",
    ("resnet18", 5, "proto-dr"): "86.63 ± 0.49",
}
#: The norm ratio, con-alpha, div-alpha and con-div: geometric means over checkpoints.
MEANS = {
    ("conv4", 1, "proto-softmax"): (0.97218, 0.9971, 1.0006, 0.9965),
    ("conv4", 1, "proto-dr"): (0.99898, 0.99762, 1.00076, 0.99687),
    ("conv4", 5, "proto-softmax"): (0.98439, 0.99885, 1.00095, 0.99791),
    ("conv4", 5, "proto-dr"): (0.99863, 0.99906, 1.00114, 0.99793),
    ("resnet18", 1, "proto-softmax"): (0.99778, 0.98729, 1.00257, 0.98476),
    ("resnet18", 1, "proto-dr"): (0.99789, 0.98835, 1.00247, 0.98592),
    ("resnet18", 5, "proto-softmax"): (0.9979, 0.99435, 1.0021, 0.99227),
    ("resnet18", 5, "proto-dr"): (0.99928, 0.99482, 1.00202, 0.99281),
}
#: The shares of checkpoints with con-alpha < 1, div-alpha > 1 and con-div < 1.
SHARES = {
    ("conv4", 1, "proto-softmax"): (0.87, 0.63667, 0.96833),
    ("conv4", 1, "proto-dr"): (0.95667, 0.80833, 0.995),
    ("conv4", 5, "proto-softmax"): (0.815, 0.705, 0.92),
    ("conv4", 5, "proto-dr"): (0.8725, 0.915, 0.97),
    ("resnet18", 1, "proto-softmax"): (0.94833, 0.725, 0.995),
    ("resnet18", 1, "proto-dr"): (0.99333, 0.86, 0.99667),
    ("resnet18", 5, "proto-softmax"): (0.96999, 0.78, 0.9925),
    ("resnet18", 5, "proto-dr"): (0.9825, 0.9675, 0.995),
}
