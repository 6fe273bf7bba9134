"""What the papers leave out of a system to see what it is worth, and what might make a learned similarity
pay, for any run that has it.
"""

from dataclasses import replace

from samekind.training import Part, Run, Term

#: A scale that is trained with the rest: the temperature is its inverse.
LEARNED_SCALE = {"name": "LearnedScale", "initial": 10.0}


def without_auxiliary(run: Run) -> Run:
    """The run without its auxiliary head and term."""
    terms = {name: term for name, term in run.terms.items() if term.against != "auxiliary"}
    return replace(run, space=replace(run.space, auxiliary=None), terms=terms)


def by_cosine(run: Run) -> Run:
    """The run without the network: the cosine, with a learned scale, for classes and for pairs.

    The authors' pair loss is then the mean of cos(a, n) - cos(a, p) over triplets. With a margin of 2, which
    no difference of cosines can exceed, the hinge is never closed: the same loss but for the constant 2.
    """
    similarity = Part("Cosine", {"scale": LEARNED_SCALE})
    pair = Term("triplet", against="batch", order="one", arguments={"margin": 2.0})
    return replace(run, space=replace(run.space, similarity=similarity), terms={**run.terms, "pair": pair})


def learned_prototypes(run: Run) -> Run:
    """The run with prototypes that the optimiser trains."""
    return replace(run, space=replace(run.space, prototypes=Part("LearnedProxies")))


def from_first(run: Run) -> Run:
    """The run whose running averages begin with the first items of a class, not with noise."""
    return run.override(["space.prototypes.initial=first"])


def summed(run: Run) -> Run:
    """The run whose pairs count as the sum of the two means, not as their mean."""
    return run.override(["terms.pair.total=sum"])


def normalised(run: Run) -> Run:
    """The run whose network sees directions alone: embeddings are put on the sphere before it."""
    return _with_similarity(run, normalise=True)


def corrected(run: Run) -> Run:
    """The run whose network is added to the cosine, beginning at 0."""
    similarity = Part("CorrectedCosine", run.space.similarity.arguments)
    return replace(run, space=replace(run.space, similarity=similarity))


def with_temperature(run: Run) -> Run:
    """The run with a learned scale for its softmax over classes: of the network, where that is trained with
    classes, else of the auxiliary head.
    """
    if any(term.against == "prototypes" for term in run.terms.values()):
        return _with_similarity(run, scale={**LEARNED_SCALE, "initial": 1.0})
    head = run.space.auxiliary
    assert head is not None
    head = replace(head, similarity=Part(head.similarity.name, {"scale": LEARNED_SCALE}))
    return replace(run, space=replace(run.space, auxiliary=head))


def by_triplets(run: Run) -> Run:
    """The run that counts a pair as often as it is in a triplet of the batch, as the authors' code does."""
    pair = run.terms["pair"]
    pair = replace(pair, arguments={**pair.arguments, "weighting": "triplets"})
    return replace(run, terms={**run.terms, "pair": pair})


def _with_similarity(run: Run, **more: object) -> Run:
    similarity = replace(run.space.similarity, arguments={**run.space.similarity.arguments, **more})
    return replace(run, space=replace(run.space, similarity=similarity))
