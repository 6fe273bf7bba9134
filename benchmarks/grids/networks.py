"""The usual settings of a residual network on natural pictures, for any run."""

from dataclasses import replace

from samekind.training import Batches, Optimiser, Part, Run, Schedule


def as_for_pictures(run: Run, encoder: Part, *, size: int, rate: float) -> Run:
    """The run with a residual network: momentum, weight decay, mirrored and shifted pictures, batches of
    ``size``.
    """
    return replace(
        run,
        space=replace(run.space, encoder=encoder, standardise="channels"),
        batches=Batches("Shuffled", {"size": size}),
        augment=(Part("Flip"), Part("PadAndCrop", {"padding": 4})),
        optimiser=Optimiser("SGD", rate=rate, momentum=0.9, nesterov=True, weight_decay=5e-4),
        schedule=Schedule("cosine", warmup_epochs=1),
        channels_last=True,
    )
