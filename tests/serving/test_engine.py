"""The protocol of engines: what every engine must have."""

import inspect

from samekind.serving.engine import Engine
from samekind.serving.torch_engine import TorchEngine


def test_the_engine_of_a_space_answers_the_whole_protocol():
    methods = {name: value for name, value in vars(Engine).items() if inspect.isfunction(value)}
    methods = {name: value for name, value in methods.items() if not name.startswith("_")}
    assert len(methods) > 15
    for name, method in methods.items():
        ours = inspect.signature(getattr(TorchEngine, name))
        assert list(ours.parameters) == list(inspect.signature(method).parameters), name
        assert method.__doc__, name
