"""Each question of a space under attack, as a curve over epsilon: class, pair, neighbour, enrolment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from samekind.attacks import Classes, Goal, Raised, Region, Relative
from samekind.attacks.goals import Enrolments, Retrieval, Trials
from samekind.attacks.regions import NORMS, Neighbours, Norm, Voronoi
from samekind.attacks.untouched import untouched
from samekind.data.drawing import at_most
from samekind.decisions import Head, Kind
from samekind.errors import DataError
from samekind.evaluation.robustness_curve import IN_CELLS, Asked, Curve, curve_of
from samekind.evaluation.under_attack import Field, Strength, UnderAttack, under_attack
from samekind.inference import asking
from samekind.measures import bootstrap_trials, equal_error_rate
from samekind.measures.catalogue import ACCURACY, EER, attacked, recall
from samekind.measures.intervals import Interval
from samekind.measures.measure import Measure
from samekind.measures.robustness import adversarial_accuracy, attack_success, worst_scores, worst_so_far
from samekind.measures.trial_bootstrap import FEWEST_CLASSES
from samekind.space import MetricSpace
from samekind.training.valid_inputs import ValidInputs

#: Examples that are enrolled, at most, and the queries that each is tried with.
ENROLLED, QUERIES = 20, 5
#: Items that are embedded at a time.
BATCH = 512
#: Draws of the interval of an EER.
REPLICATES = 200

#: The question, the measure and the kind of score of a curve.
About = tuple[Asked, str, str]


@dataclass(frozen=True, eq=False)
class Subject:
    """Items to attack, as a space sees them, and another space, called ``other``, of the same classes.
    ``labels`` (n,) are places in ``space.classes``; ``name`` is that of the items, and ``data`` (m, …) all of
    which they are a part: Voronoi cells are among these.
    """

    space: MetricSpace
    inputs: ValidInputs
    labels: Tensor
    data: Tensor
    surrogate: MetricSpace
    other: str
    name: str
    norm: Norm
    strength: Strength

    def field(self, x: Tensor, surrogate: Goal | None = None, *, cells: bool = False) -> Field:
        """Where items x (n, …) are attacked: in balls, or within their Voronoi cells, too."""
        ball = NORMS[self.norm](self.strength.epsilons[-1])
        region: Region = ball
        if cells and not isinstance(ball, Relative):
            region = Voronoi(ball, Neighbours(self.inputs.measured(self.data)))
        source = None if surrogate is None else (surrogate, self.other)
        return Field(x, self.inputs.in_units(region), self.inputs.limits, self.strength, source)

    def embedded(self, space: MetricSpace) -> Tensor:
        """Embeddings (n, d) of the items by a space."""
        with asking(space):
            return torch.cat([space.embed(part) for part in torch.split(self.inputs.x, BATCH)])


def class_curve(subject: Subject, head: Head, *, cells: bool = False) -> tuple[Curve, UnderAttack]:
    """The adversarial accuracy of a head that is attacked through itself, and what became of the items. With
    ``cells`` attacks stay in Voronoi cells, and the last point, without a limit to epsilon, is global
    robustness.
    """
    there = {name: place for place, name in enumerate(subject.surrogate.classes)}
    places = torch.tensor([there[name] for name in subject.space.classes], device=subject.labels.device)
    surrogate = None if cells else Classes(subject.surrogate, places[subject.labels])
    field = subject.field(subject.inputs.x, surrogate, cells=cells)
    epsilons = subject.strength.epsilons
    if cells and (largest := field.largest_epsilon()) is not None and largest > epsilons[-1]:
        field = replace(field, strength=replace(field.strength, epsilons=(*epsilons, largest)))
        epsilons = (*epsilons, torch.inf)
    result = under_attack(Classes(subject.space, subject.labels, head=head), field, unlimited=not cells)
    measure = IN_CELLS if cells else "adversarial accuracy"
    return _curve(subject, ("class", measure, head), _shares(result), result, epsilons=epsilons), result


def neighbour_curve(subject: Subject, kind: Kind) -> Curve:
    """Adversarial Recall@1: every item a query that is attacked, the others the gallery."""
    own = torch.arange(len(subject.labels))

    def goal(space: MetricSpace, kind: Kind) -> Retrieval:
        gallery = subject.embedded(space)
        return Retrieval(space, gallery, subject.labels, subject.labels, own=own, kind=kind)

    field = subject.field(subject.inputs.x, goal(subject.surrogate, "similarity"))
    result = under_attack(goal(subject.space, kind), field)
    about: About = ("neighbour", "adversarial Recall@1", kind)
    return _curve(subject, about, _shares(result), result, clean=recall(1))


def pair_curve(subject: Subject, kind: Kind) -> Curve:
    """The adversarial EER: in as many pairs of one class as of two, one item is attacked, and the score is
    lowered or raised as far as the attack can. The checks count pairs at the threshold of the space.
    """
    x, labels = subject.inputs.x, subject.labels.cpu()
    first, second = drawn_pairs(labels, seed=subject.strength.seed)
    same, moved = labels[first] == labels[second], x[second.to(x.device)]

    def goal(space: MetricSpace, kind: Kind) -> Trials:
        return Trials(space, subject.embedded(space)[first.to(x.device)], same.to(x.device), kind=kind)

    own = goal(subject.space, kind)

    def above(x: Tensor) -> Tensor:
        items = torch.arange(len(x), device=x.device)
        with untouched(subject.space), torch.no_grad():
            parts = [own.outcomes(x[part], part)[:, 0] for part in torch.split(items, BATCH)]
        return torch.cat(parts).cpu()

    has_threshold = "similarity" in subject.surrogate.decisions
    surrogate = goal(subject.surrogate, "similarity") if has_threshold else None
    field = subject.field(moved, surrogate)
    result = under_attack(Raised(own), field, judge=lambda x: (above(x) >= 0) == same)
    worst = worst_scores(torch.stack([above(moved), *map(above, result.x)]), same)
    intervals = [_equal_error(scores, same, labels[first], labels[second], subject) for scores in worst]
    about: About = ("pair", "adversarial EER", kind)
    return _curve(subject, about, intervals, result, unit="classes", clean=EER)


def enrolment_curve(subject: Subject, kind: Kind) -> Curve:
    """The success of attacks on enrolment: each class is enrolled from one example, which is attacked so that
    later items of the class are refused, or so that those of another class are accepted. A query counts as
    right while the threshold of the space judges it rightly.
    """
    x, labels = subject.inputs.x, subject.labels.cpu()
    example, queries, same = drawn_enrolments(labels, seed=subject.strength.seed)
    z = subject.embedded(subject.space)[queries.to(x.device)]
    goal = Enrolments(subject.space, z, same.to(x.device), kind=kind)

    def right(x: Tensor) -> Tensor:
        with untouched(subject.space), torch.no_grad():
            above = goal.above(x, torch.arange(len(x), device=x.device)).cpu()
        return (above >= 0) == same[:, None]

    field = subject.field(x[example.to(x.device)][:, None])
    # A set counts as right while most of its queries are.
    result = under_attack(Raised(goal), field, judge=lambda x: right(x).double().mean(1) > 0.5)
    before = right(field.x).flatten()
    after = worst_so_far(torch.stack([right(moved).flatten() for moved in result.x]))
    intervals = [attack_success(before, before), *(attack_success(before, remaining) for remaining in after)]
    about: About = ("enrolment", "attack success on enrolment", kind)
    return _curve(subject, about, intervals, result, unit="queries", clean=attacked(about[1], "0"))


def drawn_pairs(labels: Tensor, *, seed: int) -> tuple[Tensor, Tensor]:
    """Places of n pairs of one class and n of two, or of as many as there are, drawn from all pairs of n
    items. The first comes before the second, as in the trials that a space is evaluated by.
    """
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.combinations(torch.arange(len(labels)))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    drawn = []
    for kind_mask in (same, ~same):
        places = kind_mask.nonzero().flatten()
        drawn.append(places[torch.randperm(len(places), generator=generator)[: len(labels)]])
    first, second = pairs[torch.cat(drawn)].T
    return first, second


def drawn_enrolments(labels: Tensor, *, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Twenty items at most, each an example twice: with queries of its own class, and of another one. Returns
    the places of the examples (sets,), of the queries (sets, m), and whether they are of one class (sets,).
    Raises DataError where there are too few items.
    """
    generator = torch.Generator().manual_seed(seed)
    members = {label: (labels == label).nonzero().flatten() for label in torch.unique(labels).tolist()}
    members = {label: places for label, places in members.items() if len(places) > 1}
    if len(members) < 2:
        raise DataError("expected at least two classes with two items each to enrol from, got fewer")
    count = min(QUERIES, min(map(len, members.values())) - 1)
    places = torch.cat(list(members.values()))
    examples, queries, same = [], [], []
    for place in places[at_most(len(places), ENROLLED, seed=seed)].tolist():
        label = int(labels[place])
        other_classes = [other for other in members if other != label]
        stranger = other_classes[int(torch.randint(len(other_classes), (), generator=generator))]
        for query_class in (label, stranger):
            choices = members[query_class][members[query_class] != place]
            order = torch.randperm(len(choices), generator=generator)[:count]
            examples.append(place)
            queries.append(choices[order])
            same.append(query_class == label)
    return torch.tensor(examples), torch.stack(queries), torch.tensor(same)


def _shares(result: UnderAttack) -> list[Interval]:
    """The shares of items that are right without an attack and at each epsilon."""
    return [adversarial_accuracy(right) for right in (result.clean, *result.right)]


def _curve(
    subject: Subject,
    about: About,
    intervals: Sequence[Interval],
    result: UnderAttack,
    *,
    epsilons: Sequence[float] = (),
    unit: str = "items",
    clean: Measure = ACCURACY,
) -> Curve:
    """The curve of a result, over the epsilons of the subject unless others are given."""
    epsilons, checks = epsilons or subject.strength.epsilons, (result.checked, result.soundness)
    return curve_of(about, epsilons, intervals, *checks, items=subject.name, unit=unit, clean=clean)


def _equal_error(scores: Tensor, same: Tensor, first: Tensor, second: Tensor, subject: Subject) -> Interval:
    """The EER of trials, and its interval over classes where there are enough."""
    if len(torch.unique(torch.cat([first, second]))) < FEWEST_CLASSES:
        rate = equal_error_rate(scores, same).rate
        return Interval(rate, rate, rate)
    seed = subject.strength.seed
    return bootstrap_trials(
        scores, same, first, second, statistics=["EER"], replicates=REPLICATES, seed=seed
    )["EER"]
