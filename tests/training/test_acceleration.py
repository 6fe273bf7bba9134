"""Settings for speed are reset after the training steps, and do not change what is learned."""

import copy
import dataclasses
from types import SimpleNamespace

import pytest
import torch

from samekind.data import ImageReader, Items, Stored, clusters, write_image
from samekind.encoders import MLP, SmallConvnet
from samekind.encoders.standing_in import standing_in
from samekind.training import acceleration
from samekind.training.acceleration import (
    batches_on,
    compiled_forward,
    decoded_onto,
    lay_out,
    moves_at_once,
    resident,
    sent,
    tuned,
)
from samekind.training.fabric import launch

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


@pytest.fixture(autouse=True)
def as_before():
    """No test may leave a setting of PyTorch's changed."""
    yield
    assert torch.backends.cudnn.benchmark is False
    assert torch.get_float32_matmul_precision() == "highest"


def test_a_gpu_tries_convolutions_and_shortens_numbers_only_if_asked():
    with tuned(CUDA, tf32=False, try_convolutions=True):
        assert torch.backends.cudnn.benchmark is True
        assert torch.get_float32_matmul_precision() == "highest"
    with tuned(CUDA, tf32=True, try_convolutions=False):
        assert torch.backends.cudnn.benchmark is False
        assert torch.get_float32_matmul_precision() == "high"


@pytest.mark.parametrize(
    ("device", "scaler", "at_once"), [(CUDA, None, True), (CUDA, object(), False), (CPU, None, False)]
)
def test_a_gpu_moves_all_weights_at_once_unless_gradients_are_scaled(device, scaler, at_once):
    fabric = SimpleNamespace(
        device=device, strategy=SimpleNamespace(precision=SimpleNamespace(scaler=scaler))
    )
    assert moves_at_once(fabric) is at_once


def test_float32_knows_of_no_scaling():
    assert moves_at_once(launch("cpu", "32-true")) is False
    assert not hasattr(launch("cpu", "32-true").strategy.precision, "scaler")


def test_other_devices_are_left_as_they_are():
    with tuned(CPU, tf32=True, try_convolutions=True):
        assert torch.backends.cudnn.benchmark is False
        assert torch.get_float32_matmul_precision() == "highest"


def test_settings_are_put_back_after_an_error():
    with pytest.raises(ValueError, match="on purpose"), tuned(CUDA, tf32=True, try_convolutions=True):
        raise ValueError("on purpose")


def test_settings_of_the_user_stay():
    torch.backends.cudnn.benchmark = True
    try:
        with tuned(CUDA, tf32=False, try_convolutions=False):
            assert torch.backends.cudnn.benchmark is True
        assert torch.backends.cudnn.benchmark is True
    finally:
        torch.backends.cudnn.benchmark = False


def test_nothing_is_tried_where_results_must_not_differ():
    torch.use_deterministic_algorithms(True)
    try:
        with tuned(CUDA, tf32=False, try_convolutions=True):
            assert torch.backends.cudnn.benchmark is False
    finally:
        torch.use_deterministic_algorithms(False)


def test_filters_lie_with_their_channels_innermost_and_come_back():
    encoder = SmallConvnet(channels=3, size=8, width=4)
    before = copy.deepcopy(encoder.state_dict())
    filters = [weight for weight in encoder.parameters() if weight.dim() == 4]
    lay_out(encoder, channels_last=True)
    assert filters
    assert all(weight.is_contiguous(memory_format=torch.channels_last) for weight in filters)
    assert not all(weight.is_contiguous() for weight in filters)
    lay_out(encoder, channels_last=False)
    assert all(weight.is_contiguous() for weight in filters)
    assert all(torch.equal(before[name], tensor) for name, tensor in encoder.state_dict().items())


def test_a_compiled_forward_is_the_same_function_for_every_shape(monkeypatch):
    asked, compile_it = [], torch.compile

    def quick(function, *, dynamic):
        asked.append(dynamic)
        return compile_it(function, dynamic=dynamic, backend="eager")

    monkeypatch.setattr(torch, "compile", quick)
    encoder = MLP(inputs=4, dimension=3, hidden=[5]).eval()
    names = list(encoder.state_dict())
    forward = compiled_forward(encoder)
    for count in (2, 7, 2):
        x = torch.randn(count, 4)
        assert torch.equal(forward(x), encoder(x))
    assert asked == [False]
    assert list(encoder.state_dict()) == names


def test_another_method_can_be_compiled(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function, **_: lambda x: function(x) + 1)
    encoder, x = MLP(inputs=4, dimension=3), torch.randn(2, 4)
    expected = encoder.features(x)
    with standing_in(encoder, compiled_forward(encoder, method="features"), method="features"):
        assert torch.equal(encoder.features(x), expected + 1)
        assert torch.equal(encoder(x), encoder.embedding(expected + 1))
    assert torch.equal(encoder.features(x), expected)
    assert "features" not in vars(encoder)


def test_items_are_moved_where_they_fit_and_stay_where_they_do_not(monkeypatch):
    items = clusters(classes=2, items=8, dimension=4)
    asked = []
    monkeypatch.setattr(type(items), "to", lambda self, device: asked.append(device) or self)
    monkeypatch.setattr(torch.Tensor, "to", lambda self, device: self)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * items.inputs.nbytes, 0))
    assert resident(items, CUDA) is items
    assert asked == [CUDA]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * items.inputs.nbytes - 2, 0))
    same = resident(items, CUDA)
    assert same.inputs is items.inputs
    assert asked == [CUDA]


@pytest.fixture
def files(tmp_path):
    """Five stored pictures, and the bytes they hold."""
    pixels = torch.randint(256, (5, 1, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    paths = [tmp_path / f"{place}.png" for place in range(len(pixels))]
    for path, image in zip(paths, pixels, strict=True):
        write_image(path, image)
    stored = Stored(paths, ImageReader(channels=1, height=8, width=8))
    return Items(stored, torch.tensor([0, 1, 0, 1, 0]), ("one", "two"), "files"), pixels


def test_stored_pictures_are_decoded_once_where_a_gpu_has_room(files, monkeypatch):
    items, pixels = files
    sent_to, empty, to = [], torch.empty, torch.Tensor.to
    monkeypatch.setattr(
        torch, "empty", lambda *shape, device=None, **rest: sent_to.append(device) or empty(*shape, **rest)
    )
    monkeypatch.setattr(torch.Tensor, "to", lambda self, *to_: self if to_ == (CUDA,) else to(self, *to_))
    monkeypatch.setattr(acceleration, "TOGETHER", 2)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * items.inputs.nbytes, 0))
    on_device = decoded_onto(items, CUDA)
    assert torch.equal(on_device.inputs, pixels)
    assert CUDA in sent_to
    assert decoded_onto(on_device, CUDA) is on_device
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * items.inputs.nbytes - 2, 0))
    assert decoded_onto(items, CUDA) is items


def test_pictures_that_are_to_stay_on_the_disk_are_not_decoded_onto_a_gpu(files, monkeypatch):
    items = files[0]
    stored = Stored(items.inputs.files, items.inputs.reader, stays=True)
    staying = dataclasses.replace(items, inputs=stored).take(torch.arange(3))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**40, 0))
    assert decoded_onto(staying, CUDA) is staying


def test_decoding_onto_a_gpu_takes_little_memory_of_the_cpu(files):
    assert decoded_onto(files[0], CPU) is files[0]


@pytest.mark.device
def test_pictures_arrive_on_the_device_as_they_were_stored(files):
    on_device = decoded_onto(files[0], CUDA)
    assert on_device.inputs.device.type == "cuda"
    assert torch.equal(on_device.inputs.cpu(), files[1])


def test_stored_pictures_are_not_asked_whether_they_fit_before_the_training_begins(tmp_path, monkeypatch):
    stored = Stored([tmp_path / "none.png"], ImageReader(channels=1, height=8, width=8))
    files = Items(stored, torch.tensor([0]), ("one",), "files")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (0, 0))
    monkeypatch.setattr(torch.Tensor, "to", lambda self, device: self)
    assert resident(files, CUDA).inputs is stored


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_batches_keep_their_sizes_and_order(device):
    batches = [torch.tensor([3, 1]), torch.tensor([0, 2]), torch.tensor([4])]
    on_device = batches_on(torch.device(device), batches)
    assert [len(batch) for batch in on_device] == [2, 2, 1]
    assert {batch.device.type for batch in on_device} == {device}
    if device == "cpu":
        assert all(torch.equal(*pair) for pair in zip(on_device, batches, strict=True))
    assert batches_on(torch.device(device), []) == []


def test_a_batch_on_the_device_is_not_sent():
    x = torch.randn(2, 3)
    assert sent(x, CPU) is x


@pytest.mark.device
def test_batches_arrive_on_the_device_as_they_were():
    x = torch.randint(256, (64, 3, 32, 32), dtype=torch.uint8)
    assert torch.equal(sent(x, CUDA).cpu(), x)
    batches = [torch.randperm(9), torch.randperm(4)]
    assert all(
        torch.equal(one.cpu(), two) for one, two in zip(batches_on(CUDA, batches), batches, strict=True)
    )
