"""DeepFool: step by step to the nearest boundary of the linearised model.

Moosavi-Dezfooli, Fawzi & Frossard, "DeepFool: a simple and accurate method to fool deep neural networks",
CVPR 2016.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.nearest import BALLS, Nearest
from samekind.attacks.planes import DUAL
from samekind.attacks.regions.region import per_item

#: A step goes further by this part of the way so far: where the range clips it, it would end too early.
PUSH = 3e-4


@dataclass(frozen=True, kw_only=True)
class DeepFool:
    """A small change that changes the answer, in few steps.

    A step goes to the nearest linearised boundary with one of the best ``rivals`` of the truth, and all steps
    together ``overshoot`` beyond it. What leaves the range of the inputs is clipped. An item that succeeds is
    done.
    """

    norm: Literal["l2", "linf"] = "l2"
    steps: int = 50
    rivals: int = 9
    overshoot: float = 0.02

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return BALLS[self.norm].distance(x, clean)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        del generator
        nearest, ball = Nearest(goal, clean, limits, self.norm), BALLS[self.norm]
        items, x, change = nearest.items, clean, torch.zeros_like(clean)
        for _ in range(self.steps):
            ahead, normal = nearest.boundary(x, items, rivals=self.rivals)
            going = nearest.distance[items].isinf().nonzero()[:, 0]
            if len(going) == 0:
                break
            items, change, normal = items[going], change[going], normal[going]
            size = normal.flatten(1).norm(p=DUAL[self.norm], dim=1).clamp(min=torch.finfo(x.dtype).tiny)
            far = ahead[going].abs() / size + PUSH * ball.distance(x[going], clean[items])
            change = change + per_item(far, x) * ball.steepest(normal)
            x = limits.bound(clean[items] + (1 + self.overshoot) * change, clean[items])
        else:
            nearest.ask(x, items)
        return nearest.point()
