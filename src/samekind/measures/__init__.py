"""Measures: scores, neighbours or labels, and the truth, to plain numbers.

A measure is a pure function of tensors and usable alone. Items come as (n,) tensors, in any order. Settings
are keyword-only, except the threshold of a decision. A measure returns a number, a named tuple or dict of
numbers, or a tensor for a whole curve or table. It computes in float64 or whole numbers, without gradients.

Input that cannot be measured (empty, of different lengths, NaN) raises a ``ValueError``, which says what was
expected and what came.
"""

from samekind.measures.bootstrap import Difference, bootstrap_mean, paired_bootstrap_mean
from samekind.measures.by_class import mean_over_classes, means_by_class
from samekind.measures.calibration import IsotonicCalibration, isotonic_calibration, logistic_calibration
from samekind.measures.calibration_error import expected_calibration_error, maximum_calibration_error
from samekind.measures.certificate import certified_radii, lowest_share
from samekind.measures.classification import (
    accuracy,
    adjust_prior,
    confusion,
    f1_by_class,
    macro_f1,
    macro_recall,
    recall_by_class,
    recall_with_confounders,
    top_k_accuracy,
)
from samekind.measures.clustering import (
    adjusted_mutual_information,
    adjusted_rand_index,
    normalised_mutual_information,
    pairwise_f1,
    purity,
)
from samekind.measures.costs import (
    DetectionCost,
    bayes_threshold,
    detection_cost,
    log_likelihood_ratio_cost,
    minimum_detection_cost,
    minimum_log_likelihood_ratio_cost,
)
from samekind.measures.crossing import EqualError
from samekind.measures.curves import (
    ErrorRates,
    OperatingCurve,
    Tradeoff,
    detection_error_tradeoff,
    error_rates,
    receiver_operating_characteristic,
)
from samekind.measures.geometry import (
    DYNAMICS,
    PROPER,
    Breaches,
    CheckpointComparison,
    ClassDensity,
    ClassSpread,
    MetricAxioms,
    Rescaling,
    adversarial_distances,
    centroid_shifts,
    class_density,
    class_radii,
    class_separation,
    class_spread,
    compare_checkpoints,
    directions_of_variance,
    metric_breaches,
    nearest_centroid_accuracy,
    rescaling,
    smallest_distance,
    spectral_decay,
    step_dynamics,
)
from samekind.measures.hierarchy import (
    Graded,
    average_hierarchical_distance,
    average_hierarchical_similarity,
    hierarchical_precision_at,
    hierarchical_similarity_at,
    tree_distances,
    tree_neighbourhoods,
    tree_precisions,
)
from samekind.measures.intervals import (
    Interval,
    normal_interval,
    paired_difference,
    proportion_interval,
    student_interval,
)
from samekind.measures.kernels import TwoSample, mean_discrepancy, two_sample_test
from samekind.measures.nearest_neighbours import majority_accuracy, majority_vote, neighbour_accuracy
from samekind.measures.novelty import novelty_auroc
from samekind.measures.ranking import relevant_counts
from samekind.measures.retrieval import (
    RETRIEVAL_MEASURES,
    RetrievalMeans,
    cumulative_match,
    map_at,
    map_at_r,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at,
    precision_at,
    r_precision,
    recall_at,
    reciprocal_rank_at,
    retrieval_means,
    retrieval_values,
)
from samekind.measures.robustness import accuracy_within, adversarial_accuracy, attack_success
from samekind.measures.score_fusion import Fusion, fused_score, logistic_fusion
from samekind.measures.score_normalisation import as_norm, mean_norm, s_norm
from samekind.measures.several_tests import holm, paired_p_value
from samekind.measures.streaming import StreamedRates, streamed
from samekind.measures.temperature import TemperatureCalibration, temperature_calibration
from samekind.measures.tree_correlation import chords, mean_correlation
from samekind.measures.trial_bootstrap import FEWEST_CLASSES, bootstrap_trials, paired_bootstrap
from samekind.measures.verification import (
    accuracy_at,
    area_under_curve,
    average_precision,
    equal_error_and_area,
    equal_error_rate,
    rates_at,
    threshold_at,
    true_accepts_at,
)

# fmt: off
__all__ = [  # noqa: RUF022 (by question)
    # Which class is it?
    "TemperatureCalibration", "accuracy", "adjust_prior", "confusion", "expected_calibration_error",
    "f1_by_class", "macro_f1", "macro_recall", "maximum_calibration_error", "mean_over_classes",
    "means_by_class", "novelty_auroc", "recall_by_class", "recall_with_confounders",
    "temperature_calibration", "top_k_accuracy",
    # How bad are its mistakes, by a tree of classes?
    "average_hierarchical_distance", "chords", "hierarchical_precision_at", "mean_correlation",
    "tree_distances", "tree_neighbourhoods", "tree_precisions",
    # Are these two the same kind?
    "DetectionCost", "EqualError", "ErrorRates", "OperatingCurve", "StreamedRates", "Tradeoff",
    "accuracy_at", "area_under_curve", "average_precision", "bayes_threshold", "detection_cost",
    "detection_error_tradeoff", "equal_error_and_area", "equal_error_rate", "error_rates",
    "log_likelihood_ratio_cost", "minimum_detection_cost", "minimum_log_likelihood_ratio_cost", "rates_at",
    "receiver_operating_characteristic", "streamed", "threshold_at", "true_accepts_at",
    # From scores to probabilities and better scores
    "Fusion", "IsotonicCalibration", "as_norm", "fused_score", "isotonic_calibration",
    "logistic_calibration", "logistic_fusion", "mean_norm", "s_norm",
    # What is most like this?
    "RETRIEVAL_MEASURES", "Graded", "RetrievalMeans", "average_hierarchical_similarity", "cumulative_match",
    "hierarchical_similarity_at", "majority_accuracy", "majority_vote", "map_at", "map_at_r",
    "mean_average_precision", "mean_reciprocal_rank", "ndcg_at", "neighbour_accuracy", "precision_at",
    "r_precision", "recall_at", "reciprocal_rank_at", "relevant_counts", "retrieval_means",
    "retrieval_values",
    # What groups are here?
    "adjusted_mutual_information", "adjusted_rand_index", "normalised_mutual_information", "pairwise_f1",
    "purity",
    # What remains when somebody changes the items?
    "accuracy_within", "adversarial_accuracy", "adversarial_distances", "attack_success",
    "certified_radii", "lowest_share", "smallest_distance",
    # What is the space like?
    "DYNAMICS", "PROPER",
    "Breaches", "CheckpointComparison", "ClassDensity", "ClassSpread", "MetricAxioms", "Rescaling",
    "TwoSample", "centroid_shifts", "class_density", "class_radii", "class_separation",
    "class_spread", "compare_checkpoints", "directions_of_variance", "mean_discrepancy", "metric_breaches",
    "nearest_centroid_accuracy", "rescaling", "spectral_decay", "step_dynamics", "two_sample_test",
    # How sure is it?
    "FEWEST_CLASSES", "Difference", "Interval", "bootstrap_mean", "bootstrap_trials", "normal_interval",
    "holm", "paired_bootstrap", "paired_bootstrap_mean", "paired_difference", "paired_p_value",
    "proportion_interval", "student_interval",
]
# fmt: on
