"""The metric space: an encoder, a similarity and prototypes, trained once and asked many questions.

Everything but `MetricSpace.embed` takes embeddings, so an item is encoded once for all questions. The order
of arguments is always prototype, enrolment or query first, item second.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from samekind import archive
from samekind.auxiliary_head import AuxiliaryHead, class_scores
from samekind.data import Reader
from samekind.data.class_tree import expect_classes
from samekind.data.words import spelt_as
from samekind.decisions import (
    Balance,
    Choices,
    Decision,
    Head,
    Kind,
    Ladder,
    Levels,
    Question,
    Record,
    Standing,
    Temperature,
    mixed,
)
from samekind.errors import DataError, PackageError, SettingError, SpaceError, expect, nearest
from samekind.parts import build, describe, fingerprint
from samekind.prototypes import Prototypes
from samekind.prototypes.classes import A_NAME, example_counts, expect_examples, put_means
from samekind.similarities import Cosine, Fused, Similarity, blocks, score_all, score_enrolled
from samekind.taxonomy import Descent, Tree, grown, renamed

TOGETHER = 1000  # classes that are placed in a tree at a time
ALREADY = 'the class "{}" is already there; ask to replace it, or choose another name'


class Classification(NamedTuple):
    """The answer to "which class is it?" for n items."""

    scores: Tensor  # (n, classes)
    probabilities: Tensor  # (n, classes)
    classes: list[str]  # the most probable class of each item


class MetricSpace(nn.Module):
    """An encoder, a similarity and prototypes; see `AuxiliaryHead` for the optional fourth part.

    ``reader`` says how a stored item becomes a tensor. What is known about the scores: ``decisions`` has a
    threshold for each kind of score, ``open_set`` one for the score of the best class, below which an item is
    of no known class, ``temperatures`` the calibration of each head, ``standings`` how the kinds of score
    compare, ``choices`` the kind of score for each question, ``ladder`` what the house recipe measured,
    ``balances`` what is added to the scores of ``enrolled`` classes, by kind of score. ``tree``, if there is
    one, has every class as a node; ``levels`` are the thresholds for answers at its inner nodes.

    Two similarities may be fitted to the embeddings of a trained space: ``fitted``, and ``normalised``, which
    is another kind of score made comparable by a cohort. Each is a kind of score of its own. A fitted
    ``discriminant`` tells the classes that were trained on apart, see `classify`.
    """

    def __init__(
        self,
        encoder: nn.Module,
        similarity: Similarity,
        prototypes: Prototypes,
        *,
        auxiliary: AuxiliaryHead | None = None,
        reader: Reader | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.similarity = similarity
        self.prototypes = prototypes
        self.auxiliary = auxiliary
        self.reader = reader
        self.fitted: Similarity | None = None
        self.normalised: Similarity | None = None
        self.discriminant: AuxiliaryHead | None = None
        self.decisions: dict[str, Decision] = {}
        self.open_set: Decision | None = None
        self.temperatures: dict[str, Temperature] = {}
        self.standings: dict[str, Standing] = {}
        self.choices: Choices | None = None
        self.ladder: Ladder | None = None
        self.balances: dict[str, Balance] = {}
        self.enrolled: list[str] = []
        self.tree: Tree | None = None
        self.levels: Levels | None = None

    @property
    def classes(self) -> list[str]:
        """The names of the known classes, in the order of the scores."""
        return list(self.prototypes.classes)

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of score this space can give; fused needs a similarity whose scores are logits."""
        kinds: list[Kind] = ["similarity"]
        if self.similarity.quantity != "cosine":
            kinds.append("cosine")
        if self.similarity.quantity == "logit":
            kinds.append("fused")
        if self.fitted is not None:
            kinds.append("fitted")
        if self.normalised is not None:
            kinds.append("normalised")
        return kinds

    def kind_for(self, question: Question) -> Kind:
        """The kind of score that answers a question if the user names none."""
        return "similarity" if self.choices is None else self.choices.of(question)

    def forward(self, x: Tensor) -> Tensor:
        return self.embed(x)

    def embed(self, x: Tensor) -> Tensor:
        """Items to embeddings: (n, …) -> (n, d)."""
        z: Tensor = self.encoder(x)
        return z

    def scorer(self, kind: Kind = "similarity") -> Similarity:
        """The similarity behind a kind of score."""
        match kind:
            case "similarity":
                return self.similarity
            case "cosine":
                return Cosine()
            case "fused":
                return Fused(self.similarity)
            case "fitted" if self.fitted is not None:
                return self.fitted
            case "normalised" if self.normalised is not None:
                return self.normalised
        raise SpaceError(f'unknown kind of score "{kind}"; {nearest(str(kind), self.kinds)}')

    def score(self, a: Tensor, b: Tensor, *, kind: Kind = "similarity") -> Tensor:
        """How alike each a and its b are: (n, d), (n, d) -> (n,)."""
        return self.scorer(kind)(a, b)

    def score_all(
        self, a: Tensor, b: Tensor, *, kind: Kind = "similarity", memory_budget: int | None = None
    ) -> Tensor:
        """How alike every a and every b are: (n, d), (m, d) -> (n, m), filled block by block."""
        return score_all(self.scorer(kind), a, b, memory_budget=memory_budget)

    def blocks(
        self, a: Tensor, b: Tensor, *, kind: Kind = "similarity", memory_budget: int | None = None
    ) -> Iterator[tuple[slice, slice, Tensor]]:
        """The same scores as ``(rows, columns, scores)``, never more than the budget (in bytes) at a time."""
        return blocks(self.scorer(kind), a, b, memory_budget=memory_budget)

    def score_enrolled(
        self,
        a: Tensor,
        b: Tensor,
        counts: Tensor,
        *,
        kind: Kind = "similarity",
        memory_budget: int | None = None,
    ) -> Tensor:
        """How alike every enrolment and every item are: (n, d), (m, d) -> (n, m). Each a is the mean of
        ``counts`` (n,) items, 0 for many; a similarity such as `TwoCovariance` goes by that, too.
        """
        return score_enrolled(self.scorer(kind), a, b, counts, memory_budget=memory_budget)

    def score_classes(self, z: Tensor, *, kind: Kind = "similarity") -> Tensor:
        """How alike each item and each class are: (n, d) -> (n, classes)."""
        return class_scores(self.scorer(kind), self.prototypes, z)

    def classify(
        self, z: Tensor, *, head: Head = "similarity", kind: Kind | None = None, calibrated: bool = True
    ) -> Classification:
        """Which class is each item? The probabilities are softmax(scale x score / temperature); without a
        temperature, or with ``calibrated`` false, softmax(scale x score).

        The similarity head scores by a ``kind`` of score; None is the space's choice for classes. Its
        temperature is for that choice alone. Enrolled classes get the bonus of their `Balance`, and for that
        choice the ``discriminant`` orders the classes it was fitted to: the best of them stands where the
        best by the score stood, so it takes nothing from enrolled classes. Both change the probabilities and
        the class, and not the scores. The fused head averages the uncalibrated
        probabilities of the two heads, and its temperature divides their logarithm; its scores are the mean
        of their logits. No temperature changes a class or score.
        """
        answers = self._answers(z, head, kind)
        logits = torch.stack([logits for _, logits in answers])
        probabilities = logits.softmax(-1).mean(0)
        # Before the temperature, which may round two probabilities to the same number.
        names = [self.prototypes.classes[index] for index in probabilities.argmax(-1).tolist()]
        if calibrated and head in self.temperatures and kind in (None, self.kind_for("classes")):
            probabilities = self.temperatures[head].probabilities(mixed(logits))
        return Classification(logits.mean(0) if head == "fused" else answers[0][0], probabilities, names)

    def bonuses(self, kind: Kind) -> Tensor:
        """The number that `classify` adds to the scores of each class, (classes,): 0 for those that were
        trained on.
        """
        bonus, enrolled = self.balances[kind].bonus if kind in self.balances else 0.0, set(self.enrolled)
        return torch.tensor([bonus * (name in enrolled) for name in self.prototypes.classes])

    def log_probabilities(self, z: Tensor, *, head: Head = "similarity", kind: Kind | None = None) -> Tensor:
        """The logarithm of the uncalibrated probabilities: (n, d) -> (n, classes)."""
        return mixed(torch.stack([logits for _, logits in self._answers(z, head, kind)]))

    def enroll(self, name: str, z: Tensor, *, replace: bool = False, under: str | None = None) -> None:
        """Make the mean of a few embeddings (k, d) the prototype of a class: a new one, or with ``replace`` a
        known one. The scores of the other classes stay the same. `classify` balances it with the classes
        that were trained on.

        If the space has a tree, a class that is not in it becomes a leaf ``under`` that node; without one,
        under the deepest inner node that has more than half of its probability among the known classes.
        """
        self.enroll_classes({name: z}, replace=replace, under=under)

    def enroll_classes(
        self, examples: Mapping[str, Tensor], *, replace: bool = False, under: str | None = None
    ) -> None:
        """Enrol many classes at once, each from its own embeddings (k, d); all of them, or none. In a tree
        they are placed by the classes that were known before.
        """
        for name, z in examples.items():
            expect_examples(name, z, dimension=self.prototypes.dimension)
        names, known = spelt_as(list(examples), self.prototypes.classes), set(self.prototypes.classes)
        again = [name for name in names if name in known]
        if again and not replace:
            raise SpaceError(ALREADY.format(again[0]))
        tree = self._tree_with(dict(zip(names, examples.values(), strict=True)), under)
        put_means(self.prototypes, names, [z.detach() for z in examples.values()])
        self.tree, new = tree, set(names)
        self.enrolled = [*(name for name in self.enrolled if name not in new), *names]
        for name in again:
            self._drop_from_heads(name)

    def remove(self, name: str) -> None:
        """Forget a class."""
        name, names = self._known(name), self.classes
        rows = [row for row, known in enumerate(names) if known != name]
        counts = [example_counts(self.prototypes)[row] for row in rows]
        self.prototypes.assign([names[row] for row in rows], self.prototypes.vectors.detach()[rows], counts)
        self.enrolled = [other for other in self.enrolled if other != name]
        self._drop_from_heads(name)

    def rename(self, old: str, new: str) -> None:
        """Call a class by another name."""
        old = self._known(old)
        expect(new, str, A_NAME)
        [known] = spelt_as([new], [name for name in self.classes if name != old])
        if known in self.classes:
            raise SpaceError(f'the class "{known}" is already there; choose another name')
        if self.tree is not None:
            self.tree = renamed(self.tree, old, new)
        for part in (self, self.auxiliary, self.discriminant):
            if part is not None:
                part.prototypes.classes = [new if name == old else name for name in part.prototypes.classes]
        self.enrolled = [new if name == old else name for name in self.enrolled]

    def save(self, folder: str | Path) -> None:
        """Write the space as a folder, whole or not at all; an older space there is replaced."""
        content = {
            "encoder": archive.encoder_described(self.encoder),
            "encoder fingerprint": fingerprint(self.encoder),
            "similarity": describe(self.similarity),
            "prototypes": describe(self.prototypes),
            "auxiliary": self.auxiliary.describe() if self.auxiliary else None,
            "discriminant": self.discriminant.describe() if self.discriminant else None,
            "reader": describe(self.reader) if self.reader else None,
            "fitted": describe(self.fitted) if self.fitted is not None else None,
            "normalised": describe(self.normalised) if self.normalised is not None else None,
            **self.record.to_json(),
        }
        if self.tree is not None:
            content["tree"] = self.tree.to_json()
        archive.write(Path(folder), content, self.state_dict())

    @classmethod
    def load(cls, folder: str | Path, *, encoder: nn.Module | None = None) -> Self:
        """Read a space, in evaluation mode, on the CPU; no code from the folder runs.

        An ``encoder`` that is not samekind's own is passed in. It is checked by its fingerprint and gets the
        saved weights.
        """
        content, tensors = archive.read(Path(folder))
        try:
            head, reader = content["auxiliary"], content["reader"]
            with archive.NoLargerThan(tensors):
                space = cls(
                    archive.encoder_of(content, encoder),
                    build(content["similarity"], room="similarities"),
                    build(content["prototypes"], room="prototypes"),
                    auxiliary=AuxiliaryHead.build(head) if head is not None else None,
                    reader=build(reader, room="data") if reader is not None else None,
                )
                for kind in ("fitted", "normalised"):
                    if content.get(kind) is not None:
                        setattr(space, kind, build(content[kind], room="similarities"))
                if content.get("discriminant") is not None:
                    space.discriminant = AuxiliaryHead.build(content["discriminant"])
            archive.fill(space, tensors)
            space._remember(Record.from_json(content))
            if content.get("tree") is not None:
                space.tree = Tree.from_json(content["tree"])
                expect_classes(space.tree, space.classes)
        except KeyError as error:
            raise SpaceError(
                f"{folder} is damaged: space.json has no {error}; restore it or train again"
            ) from error
        except PackageError as error:  # nothing is wrong with the folder
            raise SpaceError(f"{folder} cannot be loaded here: {error}") from error
        except (TypeError, AttributeError, RuntimeError, SettingError, DataError) as error:
            wrong = " ".join(str(error).split())
            raise SpaceError(f"{folder} is damaged: {wrong}; restore it or train again") from error
        return space.eval()

    @property
    def record(self) -> Record:
        """Thresholds and all else that the space keeps about its scores, as it is saved."""
        entries = {entry.name: getattr(self, entry.name) for entry in fields(Record)}
        return Record(**{**entries, "enrolled": tuple(self.enrolled)})

    def _remember(self, record: Record) -> None:
        for entry in fields(Record):
            setattr(self, entry.name, getattr(record, entry.name))
        self.enrolled = list(record.enrolled)

    def _tree_with(self, examples: Mapping[str, Tensor], under: str | None) -> Tree | None:
        """The tree with classes that are enrolled from examples; None without a tree."""
        tree = self.tree
        for name in examples if under is not None else ():
            if tree is None:
                raise SpaceError(f'this space has no tree, so "{name}" cannot stand under "{under}"')
            if name in tree and under != (above := tree.parent(name)):
                raise SpaceError(f'"{name}" stands under "{above}" in the tree, not under "{under}"')
        if tree is None:
            return None
        new, nodes = [name for name in examples if name not in tree], list[str]()
        if new and under is None and self.classes:
            means = torch.stack([examples[name].detach().mean(0) for name in new])
            for part in torch.split(means.to(self.prototypes.vectors), TOGETHER):
                with torch.no_grad():  # or every pair would be kept
                    way = Descent(tree, self.classes, self.classify(part).probabilities)
                nodes += way.names(way.inner(0.5))
        return grown(tree, dict(zip(new, nodes or [under or tree.root] * len(new), strict=True)))

    def _answers(self, z: Tensor, head: Head, kind: Kind | None) -> list[tuple[Tensor, Tensor]]:
        """The scores and the logits of a head; for the fused one, of both heads."""
        if not self.prototypes.classes:
            raise SpaceError("this space knows no class yet; enrol one from a few examples first")
        heads = ("similarity", "auxiliary") if head == "fused" else (head,)
        return [self._answer(z, name, kind) for name in heads]

    def _answer(self, z: Tensor, head: str, kind: Kind | None) -> tuple[Tensor, Tensor]:
        """The scores (n, classes) of one head, in the order of the space's classes, and its logits."""
        if head == "similarity":
            kind = kind or self.kind_for("classes")
            scores = self.score_classes(z, kind=kind)
            logits = self.scorer(kind).scale() * self._balanced(scores, kind)
            if self.discriminant is not None and kind == self.kind_for("classes"):
                logits = self.discriminant.ordered(logits, z, self.prototypes.classes)
            return scores, logits
        if head != "auxiliary":
            raise SpaceError(f'unknown head "{head}"; {nearest(head, ("similarity", "auxiliary", "fused"))}')
        if self.auxiliary is None:
            raise SpaceError('this space has no auxiliary head; use head="similarity"')
        if sorted(self.auxiliary.prototypes.classes) != sorted(self.prototypes.classes):
            enrolled = sorted(set(self.prototypes.classes) - set(self.auxiliary.prototypes.classes))
            raise SpaceError(
                f'the auxiliary head was not trained with {", ".join(enrolled)}; use head="similarity"'
            )
        # The head may hold its classes in another order.
        place_of = {name: place for place, name in enumerate(self.auxiliary.prototypes.classes)}
        order = [place_of[name] for name in self.prototypes.classes]
        scores = self.auxiliary.score_classes(z)[:, order]
        return scores, self.auxiliary.similarity.scale() * scores

    def _balanced(self, scores: Tensor, kind: Kind) -> Tensor:
        """Scores (n, classes) with the bonus of the enrolled classes."""
        if kind not in self.balances or not self.enrolled:
            return scores
        return scores + self.bonuses(kind).to(scores)

    def _known(self, name: str) -> str:
        """A class as the space spells it, however the accents of its name are stored."""
        expect(name, str, A_NAME)
        [name] = spelt_as([name], self.prototypes.classes)
        if name not in self.prototypes.classes:
            raise SpaceError(f'there is no class "{name}"; {nearest(name, self.prototypes.classes)}')
        return name

    def _drop_from_heads(self, name: str) -> None:
        """Take a class out of the heads, which were not trained with the examples that it has now."""
        for head in (self.auxiliary, self.discriminant):
            if head is not None:
                head.drop(name)
