"""Weights of published speaker networks, read from the files they come in, without executing anything."""

import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from samekind.errors import PackageError, SettingError

#: No published file is larger, in bytes.
LARGEST = 2**28

#: Names of SpeechBrain's tensors, and of ours.
SPEECH_BRAIN = (
    (r"^blocks\.0\.", "first."),
    (r"^blocks\.([123])\.", lambda match: f"blocks.{int(match[1]) - 1}."),
    (r"\.res2net_block\.blocks\.", ".parts."),
    (r"\.tdnn1\.", ".before."),
    (r"\.tdnn2\.", ".after."),
    (r"\.se_block\.conv1\.conv\.", ".weigh.0."),
    (r"\.se_block\.conv2\.conv\.", ".weigh.2."),
    (r"^mfa\.", "last."),
    (r"^asp\.tdnn\.", "pool.attention."),
    (r"^asp\.conv\.conv\.", "pool.attention.4."),
    (r"^asp_bn\.norm\.", "norm."),
    (r"^fc\.conv\.", "embedding."),
    (r"\bconv\.conv\.", "0."),
    (r"\bnorm\.norm\.", "2."),
)

#: How much is added to a variance before it divides: with this much less of 1, exactly 1 divides.
EPSILON = 1e-5


def load_weights(module: nn.Module, path: Path, *, fingerprint: str) -> None:
    """Fill a network with the tensors of a file: a state dict of PyTorch, or an ONNX graph.

    Raises SettingError for a file that is not there, has another SHA-256 ``fingerprint``, or holds other
    tensors.
    """
    content = _content(path, fingerprint)
    tensors = _of_graph(content, module, path) if path.suffix == ".onnx" else _of_state(content, path)
    expected = module.state_dict()
    if tensors.keys() != expected.keys():
        names = sorted(tensors.keys() ^ expected.keys())
        raise SettingError(f"{path} does not hold the weights of this network: {names[0]} does not fit")
    for name, tensor in expected.items():
        if tensors[name].numel() != tensor.numel():
            raise SettingError(
                f"{path}: {name} has the shape {tuple(tensors[name].shape)}, expected {tuple(tensor.shape)}"
            )
    # A convolution over one step of time is a linear layer: its last axis may be missing.
    module.load_state_dict({name: tensors[name].reshape(tensor.shape) for name, tensor in expected.items()})


def _content(path: Path, fingerprint: str) -> bytes:
    """The bytes of the file, which must have this fingerprint."""
    if not path.is_file():
        raise SettingError(f"there is no file {path}; expected the weights of a speaker network")
    if path.stat().st_size > LARGEST:
        raise SettingError(f"{path} has {path.stat().st_size:,} bytes; expected {LARGEST:,} at most")
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != fingerprint:
        raise SettingError(
            f"{path} is not the file that was expected: its SHA-256 is {digest}, expected {fingerprint}. "
            "If you trust it, give that as fingerprint"
        )
    return content


def _of_state(content: bytes, path: Path) -> dict[str, Tensor]:
    """The tensors of a state dict, under our names."""
    try:
        state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged file makes of it
        raise SettingError(f"cannot read {path}: expected a state dict of PyTorch") from error
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
        raise SettingError(f"cannot read {path}: expected a state dict of PyTorch, tensors by name")
    return {_renamed(str(name)): tensor for name, tensor in state.items()}


def _renamed(name: str) -> str:
    """Our name for a tensor; names of CAM++ are the same."""
    if not name.startswith(("blocks.", "mfa.", "asp", "fc.")):
        return name
    for pattern, ours in SPEECH_BRAIN:
        name = re.sub(pattern, ours, name)
    return name


def _of_graph(content: bytes, module: nn.Module, path: Path) -> dict[str, Tensor]:
    """The tensors of a ResNet's graph, whose batch normalisation is folded into the convolutions.

    Convolutions follow each other in the graph as in our network. Here each has a batch normalisation
    again, which adds its offset and changes nothing else.
    """
    graph = _graph(content, path)
    stored = _tensors(graph)
    try:
        pairs = [
            tuple(stored[name] for name in node.input[1:3]) for node in graph.node if node.op_type == "Conv"
        ]
        [last] = [node for node in graph.node if node.op_type == "Gemm"]
        mean = stored.get("mean_vec", torch.zeros(()))
        tensors = {"embedding.weight": stored[last.input[1]], "embedding.bias": stored[last.input[2]] - mean}
        layers = list(_convolutions(module))
        if len(pairs) != len(layers):
            raise ValueError(f"it has {len(pairs)} convolutions, expected {len(layers)}")
        for (name, norm), (weight, offset) in zip(layers, pairs, strict=True):
            ones = torch.ones(len(offset))
            tensors |= {
                f"{name}.weight": weight,
                f"{norm}.weight": ones,
                f"{norm}.bias": offset,
                f"{norm}.running_mean": 0 * ones,
                f"{norm}.running_var": (1 - EPSILON) * ones,
                f"{norm}.num_batches_tracked": torch.tensor(0),
            }
    except (KeyError, IndexError, ValueError) as error:
        raise SettingError(f"{path} does not hold the graph of this network: {error}") from error
    return tensors


def _graph(content: bytes, path: Path) -> Any:
    try:
        import onnx
    except ImportError as error:
        raise PackageError(
            f"reading {path} needs onnx, which is not installed; run: pip install 'samekind[speech]'"
        ) from error
    try:
        return onnx.load_model_from_string(content).graph
    except Exception as error:  # whatever protobuf makes of a damaged file
        raise SettingError(f"cannot read {path}: expected an ONNX graph") from error


def _tensors(graph: Any) -> dict[str, Tensor]:
    """The tensors inside of a graph; none is read from another file."""
    from onnx import TensorProto, numpy_helper

    return {
        tensor.name: torch.from_numpy(np.array(numpy_helper.to_array(tensor)))
        for tensor in graph.initializer
        if tensor.data_location != TensorProto.EXTERNAL
    }


def _convolutions(module: nn.Module) -> Iterator[tuple[str, str]]:
    """Each convolution of a network by name, and the normalisation behind it, in the order they are used."""
    names = [name for name, part in module.named_modules() if isinstance(part, nn.Conv2d)]
    for name in names:
        parent, _, place = name.rpartition(".")
        yield name, f"{parent}.{int(place) + 1}"
