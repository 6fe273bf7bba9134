"""Random points: more tries find no less, and a gradient finds more."""

from samekind.attacks import PGD, PICTURES, Linf, Logits, RandomSearch


def test_more_tries_find_no_less_and_pgd_finds_more(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    few, many = (RandomSearch(Linf(0.15), tries=tries)(goal, x, limits=PICTURES) for tries in (5, 40))
    assert (few.succeeded <= many.succeeded).all()
    assert many.queries.max() == 42
    assert PGD(Linf(0.15), steps=10)(goal, x, limits=PICTURES).succeeded.sum() > many.succeeded.sum()
