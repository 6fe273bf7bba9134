"""Weights of published networks: the same numbers as the plain definition by the names in the file."""

import hashlib

import pytest
import torch
import torch.nn.functional as F

from samekind.encoders import ECAPA, CAMPlusPlus, SoundResNet
from samekind.encoders.speaker_weights import load_weights
from samekind.errors import SettingError

onnx = pytest.importorskip("onnx")


def fingerprint(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def norm_state(name, width):
    return {
        f"{name}.weight": torch.rand(width) + 0.5,
        f"{name}.bias": torch.randn(width) * 0.1,
        f"{name}.running_mean": torch.randn(width) * 0.1,
        f"{name}.running_var": torch.rand(width) + 0.5,
        f"{name}.num_batches_tracked": torch.tensor(3),
    }


def normalised(x, state, name):
    mean, variance, weight, bias = (
        state[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
    )
    return F.batch_norm(x, mean, variance, weight, bias)


def drawn(*shape):
    return torch.randn(*shape) / max(1, torch.Size(shape[1:]).numel()) ** 0.5


# --- SpeechBrain's ECAPA-TDNN ---


def speech_brain_state(width, last):
    """Tensors by the names of SpeechBrain."""
    state = {}

    def layer(name, outputs, inputs, kernel=1):
        state[f"{name}.conv.conv.weight"] = drawn(outputs, inputs, kernel)
        state[f"{name}.conv.conv.bias"] = torch.randn(outputs) * 0.1
        state.update(norm_state(f"{name}.norm.norm", outputs))

    layer("blocks.0", width, 80, 5)
    for block in (1, 2, 3):
        layer(f"blocks.{block}.tdnn1", width, width)
        for part in range(7):
            layer(f"blocks.{block}.res2net_block.blocks.{part}", width // 8, width // 8, 3)
        layer(f"blocks.{block}.tdnn2", width, width)
        for name, outputs, inputs in (("conv1", 128, width), ("conv2", width, 128)):
            state[f"blocks.{block}.se_block.{name}.conv.weight"] = drawn(outputs, inputs, 1)
            state[f"blocks.{block}.se_block.{name}.conv.bias"] = torch.randn(outputs) * 0.1
    layer("mfa", last, 3 * width)
    layer("asp.tdnn", 128, 3 * last)
    state["asp.conv.conv.weight"] = drawn(last, 128, 1)
    state["asp.conv.conv.bias"] = torch.randn(last) * 0.1
    state.update(norm_state("asp_bn.norm", 2 * last))
    state["fc.conv.weight"], state["fc.conv.bias"] = drawn(192, 2 * last, 1), torch.randn(192) * 0.1
    return state


def speech_brain_ecapa(x, state):
    """One sound (1, 80, frames), as SpeechBrain computes it."""

    def layer(x, name, dilation=1):
        weight = state[f"{name}.conv.conv.weight"]
        reach = dilation * (weight.shape[-1] - 1) // 2
        x = F.pad(x, (reach, reach), mode="reflect") if reach else x
        y = F.conv1d(x, weight, state[f"{name}.conv.conv.bias"], dilation=dilation)
        return normalised(y.relu(), state, f"{name}.norm.norm")

    def squeezed(x, name):
        return F.conv1d(x, state[f"{name}.conv.weight"], state[f"{name}.conv.bias"])

    x, outputs = layer(x, "blocks.0"), []
    for block, dilation in ((1, 2), (2, 3), (3, 4)):
        name = f"blocks.{block}"
        first, *others = layer(x, f"{name}.tdnn1").chunk(8, dim=1)
        parts = [first]
        for number, part in enumerate(others):
            seen = part if number == 0 else part + parts[-1]
            parts.append(layer(seen, f"{name}.res2net_block.blocks.{number}", dilation))
        y = layer(torch.cat(parts, dim=1), f"{name}.tdnn2")
        scale = squeezed(y.mean(2, keepdim=True), f"{name}.se_block.conv1").relu()
        x = x + y * squeezed(scale, f"{name}.se_block.conv2").sigmoid()
        outputs.append(x)
    x = layer(torch.cat(outputs, dim=1), "mfa")
    deviation = x.var(2, keepdim=True, unbiased=False).sqrt().expand_as(x)
    seen = torch.cat([x, x.mean(2, keepdim=True).expand_as(x), deviation], dim=1)
    weights = squeezed(layer(seen, "asp.tdnn").tanh(), "asp.conv").softmax(2)
    mean = (weights * x).sum(2, keepdim=True)
    deviation = (weights * (x - mean).square()).sum(2).clamp(1e-12).sqrt()
    pooled = normalised(torch.cat([mean[..., 0], deviation], dim=1), state, "asp_bn.norm")
    return squeezed(pooled[..., None], "fc")[..., 0]


def test_ecapa_of_speech_brain(tmp_path):
    torch.manual_seed(0)
    state, path = speech_brain_state(16, 24), tmp_path / "embedding_model.ckpt"
    torch.save(state, path)
    module = ECAPA(width=16, last_width=24, variant="speechbrain").eval()
    load_weights(module, path, fingerprint=fingerprint(path))
    for frames in (40, 9):
        x = torch.randn(1, 80, frames)
        torch.testing.assert_close(module(x), speech_brain_ecapa(x, state), atol=1e-3, rtol=1e-3)


# --- CAM++ ---


def cam_state():
    """Tensors by the names of its authors."""
    state = {}

    def residual(name, stride):
        for number in (1, 2):
            state[f"{name}.conv{number}.weight"] = drawn(32, 32, 3, 3)
            state.update(norm_state(f"{name}.bn{number}", 32))
        if stride > 1:
            state[f"{name}.shortcut.0.weight"] = drawn(32, 32, 1, 1)
            state.update(norm_state(f"{name}.shortcut.1", 32))

    state["head.conv1.weight"] = drawn(32, 1, 3, 3)
    state.update(norm_state("head.bn1", 32))
    for layer in (1, 2):
        residual(f"head.layer{layer}.0", 2)
        residual(f"head.layer{layer}.1", 1)
    state["head.conv2.weight"] = drawn(32, 32, 3, 3)
    state.update(norm_state("head.bn2", 32))
    state["xvector.tdnn.linear.weight"] = drawn(128, 320, 5)
    state.update(norm_state("xvector.tdnn.nonlinear.batchnorm", 128))
    channels = 128
    for block, count in ((1, 12), (2, 24), (3, 16)):
        for number in range(1, count + 1):
            name = f"xvector.block{block}.tdnnd{number}"
            state.update(norm_state(f"{name}.nonlinear1.batchnorm", channels))
            state[f"{name}.linear1.weight"] = drawn(128, channels, 1)
            state.update(norm_state(f"{name}.nonlinear2.batchnorm", 128))
            state[f"{name}.cam_layer.linear_local.weight"] = drawn(32, 128, 3)
            for part, outputs, inputs in (("linear1", 64, 128), ("linear2", 32, 64)):
                state[f"{name}.cam_layer.{part}.weight"] = drawn(outputs, inputs, 1)
                state[f"{name}.cam_layer.{part}.bias"] = torch.randn(outputs) * 0.1
            channels += 32
        state.update(norm_state(f"xvector.transit{block}.nonlinear.batchnorm", channels))
        state[f"xvector.transit{block}.linear.weight"] = drawn(channels // 2, channels, 1)
        channels //= 2
    state.update(norm_state("xvector.out_nonlinear.batchnorm", channels))
    state["xvector.dense.linear.weight"] = drawn(192, 2 * channels, 1)
    last = norm_state("xvector.dense.nonlinear.batchnorm", 192)
    state.update({name: value for name, value in last.items() if not name.endswith(("weight", "bias"))})
    return state


def cam_plus_plus(x, state):
    """One sound (1, 80, frames), as its authors compute it."""

    def active(x, name):
        return normalised(x, state, name).relu()

    def residual(x, name, stride):
        y = F.conv2d(x, state[f"{name}.conv1.weight"], stride=(stride, 1), padding=1)
        y = F.conv2d(active(y, f"{name}.bn1"), state[f"{name}.conv2.weight"], padding=1)
        if stride > 1:
            x = F.conv2d(x, state[f"{name}.shortcut.0.weight"], stride=(stride, 1))
            x = normalised(x, state, f"{name}.shortcut.1")
        return (normalised(y, state, f"{name}.bn2") + x).relu()

    x = active(F.conv2d(x[:, None], state["head.conv1.weight"], padding=1), "head.bn1")
    for layer in (1, 2):
        x = residual(residual(x, f"head.layer{layer}.0", 2), f"head.layer{layer}.1", 1)
    x = active(F.conv2d(x, state["head.conv2.weight"], stride=(2, 1), padding=1), "head.bn2")
    x = F.conv1d(x.reshape(1, 320, -1), state["xvector.tdnn.linear.weight"], stride=2, padding=2)
    x = active(x, "xvector.tdnn.nonlinear.batchnorm")
    for block, count, dilation in ((1, 12, 1), (2, 24, 2), (3, 16, 2)):
        for number in range(1, count + 1):
            name = f"xvector.block{block}.tdnnd{number}"
            y = F.conv1d(active(x, f"{name}.nonlinear1.batchnorm"), state[f"{name}.linear1.weight"])
            y = active(y, f"{name}.nonlinear2.batchnorm")
            parts = [part.mean(2, keepdim=True).expand_as(part) for part in y.split(100, dim=2)]
            context = y.mean(2, keepdim=True) + torch.cat(parts, dim=2)
            cam = f"{name}.cam_layer"
            weights = F.conv1d(context, state[f"{cam}.linear1.weight"], state[f"{cam}.linear1.bias"]).relu()
            weights = F.conv1d(weights, state[f"{cam}.linear2.weight"], state[f"{cam}.linear2.bias"])
            local = state[f"{cam}.linear_local.weight"]
            y = F.conv1d(y, local, padding=dilation, dilation=dilation) * weights.sigmoid()
            x = torch.cat([x, y], dim=1)
        x = active(x, f"xvector.transit{block}.nonlinear.batchnorm")
        x = F.conv1d(x, state[f"xvector.transit{block}.linear.weight"])
    x = active(x, "xvector.out_nonlinear.batchnorm")
    pooled = torch.cat([x.mean(2), x.std(2)], dim=1)
    z = F.conv1d(pooled[..., None], state["xvector.dense.linear.weight"])[..., 0]
    name = "xvector.dense.nonlinear.batchnorm"
    return F.batch_norm(z, state[f"{name}.running_mean"], state[f"{name}.running_var"])


def test_cam_plus_plus_of_its_authors(tmp_path):
    torch.manual_seed(0)
    state, path = cam_state(), tmp_path / "campplus.pt"
    torch.save(state, path)
    module = CAMPlusPlus().eval()
    load_weights(module, path, fingerprint=fingerprint(path))
    for frames in (230, 21):  # with more than one segment, and less than one
        x = torch.randn(1, 80, frames)
        torch.testing.assert_close(module(x), cam_plus_plus(x, state), atol=1e-3, rtol=1e-3)


# --- WeSpeaker's ResNet as an ONNX graph ---

DEPTHS, WIDTH = (1, 2, 1, 1), 4


def graph_of_resnet():
    """A graph with its convolutions, in the order they are used, and their tensors."""
    tensors, nodes = {}, []

    def convolution(outputs, inputs, kernel, stride):
        names = [f"weight{len(nodes)}", f"offset{len(nodes)}"]
        tensors[names[0]] = drawn(outputs, inputs, kernel, kernel)
        tensors[names[1]] = torch.randn(outputs) * 0.1
        attributes = {"strides": [stride, stride], "pads": [kernel // 2] * 4}
        nodes.append(onnx.helper.make_node("Conv", ["x", *names], ["y"], **attributes))

    convolution(WIDTH, 1, 3, 1)
    before = WIDTH
    for stage, count in enumerate(DEPTHS):
        for block in range(count):
            after, stride = WIDTH * 2**stage, 2 if stage and not block else 1
            convolution(after, before, 3, stride)
            convolution(after, after, 3, 1)
            if stride > 1:
                convolution(after, before, 1, stride)
            before = after
    tensors["last"], tensors["bias"] = drawn(6, 2 * before * 10), torch.randn(6)
    tensors["mean_vec"] = torch.randn(6)
    nodes.append(onnx.helper.make_node("Gemm", ["x", "last", "bias"], ["y"], transB=1))
    initial = [onnx.numpy_helper.from_array(tensor.numpy(), name) for name, tensor in tensors.items()]
    graph = onnx.helper.make_graph(nodes, "resnet", [], [], initial)
    return onnx.helper.make_model(graph), tensors


def resnet_by_hand(x, tensors):
    weights = [name for name in tensors if name.startswith("weight")]
    pairs = iter([(tensors[name], tensors[name.replace("weight", "offset")]) for name in weights])
    x = F.conv2d(x[:, None], *next(pairs), padding=1).relu()
    for stage, count in enumerate(DEPTHS):
        for block in range(count):
            stride = 2 if stage and not block else 1
            y = F.conv2d(x, *next(pairs), stride=stride, padding=1).relu()
            y = F.conv2d(y, *next(pairs), padding=1)
            x = (y + (F.conv2d(x, *next(pairs), stride=stride) if stride > 1 else x)).relu()
    pooled = torch.cat([x.mean(3).flatten(1), (x.var(3) + 1e-7).sqrt().flatten(1)], dim=1)
    return pooled @ tensors["last"].T + tensors["bias"] - tensors["mean_vec"]


def test_resnet_of_we_speaker(tmp_path):
    torch.manual_seed(0)
    model, tensors = graph_of_resnet()
    path = tmp_path / "resnet.onnx"
    path.write_bytes(model.SerializeToString())
    module = SoundResNet(depths=DEPTHS, width=WIDTH, dimension=6, pooling="sample").eval()
    load_weights(module, path, fingerprint=fingerprint(path))
    for frames in (61, 17):
        x = torch.randn(1, 80, frames)
        torch.testing.assert_close(module(x), resnet_by_hand(x, tensors), atol=1e-4, rtol=1e-4)
    other = SoundResNet(depths=(2, 2, 1, 1), width=WIDTH, dimension=6)
    with pytest.raises(SettingError, match="has 14 convolutions, expected 16"):
        load_weights(other, path, fingerprint=fingerprint(path))


# --- files that are something else ---


class Executed:
    def __reduce__(self):
        return (pytest.fail, ("the file was executed",))


def test_a_file_that_is_something_else_is_refused_with_a_sentence(tmp_path):
    module = ECAPA(width=8, last_width=8, variant="speechbrain")
    path = tmp_path / "weights.ckpt"
    with pytest.raises(SettingError, match="there is no file"):
        load_weights(module, path, fingerprint="")
    path.write_bytes(b"no weights")
    with pytest.raises(SettingError, match=r"its SHA-256 is [0-9a-f]{64}, expected beef"):
        load_weights(module, path, fingerprint="beef")
    graph = tmp_path / "weights.onnx"
    graph.write_bytes(b"\xff\xffno graph")
    contents = {
        "expected a state dict of PyTorch": b"no weights",
        "tensors by name": [1, 2],
        "expected a state dict": {"a": Executed()},
        "does not fit": {"a": torch.zeros(3)},
        r"has the shape \(3,\), expected \(8, 80, 5\)": {
            **speech_brain_state(8, 8),
            "blocks.0.conv.conv.weight": torch.zeros(3),
        },
    }
    for sentence, content in contents.items():
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            torch.save(content, path)
        with pytest.raises(SettingError, match=sentence):
            load_weights(module, path, fingerprint=fingerprint(path))
    with pytest.raises(SettingError, match=r"expected an ONNX graph|does not hold the graph"):
        load_weights(SoundResNet(width=4), graph, fingerprint=fingerprint(graph))
