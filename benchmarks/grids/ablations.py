"""What the papers leave out of a system to see what it is worth, for any run that has it."""

from dataclasses import replace

from samekind.training import Part, Run, Term


def without_auxiliary(run: Run) -> Run:
    """The run without its auxiliary head and term."""
    terms = {name: term for name, term in run.terms.items() if term.against != "auxiliary"}
    return replace(run, space=replace(run.space, auxiliary=None), terms=terms)


def by_cosine(run: Run) -> Run:
    """The run without the network: the cosine, with a learned scale, for classes and for pairs.

    The authors' pair loss is then the mean of cos(a, n) - cos(a, p) over triplets. With a margin of 2, which
    no difference of cosines can exceed, the hinge is never closed: the same loss but for the constant 2.
    """
    similarity = Part("Cosine", {"scale": {"name": "LearnedScale", "initial": 10.0}})
    pair = Term("triplet", against="batch", order="one", arguments={"margin": 2.0})
    return replace(run, space=replace(run.space, similarity=similarity), terms={**run.terms, "pair": pair})


def learned_prototypes(run: Run) -> Run:
    """The run with prototypes that the optimiser trains."""
    return replace(run, space=replace(run.space, prototypes=Part("LearnedProxies")))
