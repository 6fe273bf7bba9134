"""Answers that are pictures or nested values: where a network looks, and a tree of classes."""

import io
import threading

from torch import Tensor

from samekind.questions.attention import Looked
from samekind.reports import Overlay, attention_maps
from samekind.reports.style import PAPER
from samekind.serving.engine import Answer
from samekind.taxonomy import Tree

DOTS_PER_INCH = 110
#: Matplotlib draws for one thread at a time.
_DRAWING = threading.Lock()


def drawn(image: Tensor, looked: Looked, layer: str) -> bytes:
    """A picture with what speaks for its class laid over it, as a PNG file."""
    evidence = looked.evidence
    most = float(evidence.max())
    title = f"what speaks for “{looked.name}”" if most > 0 else f"nothing speaks for “{looked.name}”"
    note = f"Grad-CAM on {layer}, {evidence.shape[1]} x {evidence.shape[0]} places"
    content = io.BytesIO()
    with _DRAWING:
        figure = attention_maps(image, [Overlay(title, note, evidence / most if most > 0 else evidence)])
        figure.savefig(content, format="png", dpi=DOTS_PER_INCH, facecolor=PAPER)
    return content.getvalue()


def nested(tree: Tree) -> Answer:
    """A tree as values within values: name, height and children of each node."""
    nodes: list[Answer] = [
        {"name": name, "height": height, "length": length, "children": []}
        for name, height, length in zip(tree.names, tree.heights, tree.lengths, strict=True)
    ]
    for node, parent in zip(nodes, tree.parents, strict=True):
        if parent >= 0:
            nodes[parent]["children"].append(node)
    return nodes[0]
