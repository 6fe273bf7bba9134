"""A check that a run trains every part of the space that it saves: random weights would answer at random,
and no later measure would show it.
"""

from collections.abc import Collection

from samekind.encoders.freezing import frozen_as_drawn
from samekind.errors import SettingError
from samekind.space import MetricSpace
from samekind.training.run import Run


def expect_trained(run: Run, space: MetricSpace, *, begun: Collection[str] = ()) -> None:
    """Raises SettingError for a part that no term trains, and for an encoder that keeps random weights. Parts
    in ``begun`` have weights already: those of a trained space, or of an encoder of the user's own. A term of
    weight 0 trains nothing.
    """
    if "encoder" not in begun:
        _expect_weights(space)
    against = {term.against for term in run.terms.values() if term.weight > 0}
    if space.auxiliary is not None and "auxiliary" not in against and "auxiliary" not in begun:
        raise SettingError(
            "run.space.auxiliary: no term trains the auxiliary head, which would classify at random; leave "
            'it out (space.auxiliary=none), or set a term against "auxiliary"'
        )
    name = type(space.prototypes).__name__
    if space.prototypes.needs_term and "prototypes" not in against | set(begun):
        raise SettingError(
            f"run.space.prototypes: no term brings items and {name} together, which would classify at "
            'random; choose SupportMeans or RunningAverages, or set a term against "prototypes"'
        )
    weights = [name for name, _ in space.named_parameters() if name.startswith("similarity.")]
    learned = any(not name.startswith("similarity.scale.") for name in weights)
    if learned and not against - {"auxiliary"} and "similarity" not in begun:
        raise SettingError(
            f"run.space.similarity: no term trains {type(space.similarity).__name__}, all are against the "
            "auxiliary head; choose one without weights, such as Cosine, or set a term against another"
        )


def _expect_weights(space: MetricSpace) -> None:
    """Raises SettingError for an encoder that freezes random weights."""
    frozen = frozen_as_drawn(space.encoder)
    if frozen is not None:
        name, setting = frozen
        raise SettingError(
            f"run.space.encoder: {name} has random weights, and {setting} would keep them; begin with a "
            "trained space (--from, start=), choose a network that comes with weights, such as Backbone or "
            "EfficientNetLite, or leave that setting out"
        )
