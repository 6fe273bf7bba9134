"""The server: HTTP routes that render what an engine answers.

An engine (`engine.Engine`) answers questions about items. `torch_engine.TorchEngine` asks `questions/` about
a space. What is imported by `app` needs neither PyTorch nor a room that does, so that an engine without
PyTorch can be served where it is not installed.

Requests are read and decoded side by side. One thread owns the device: it embeds the items of all requests
that have arrived together, and then answers each (`device.Device`). An answer about a change, such as an
enrolment, is given once the change is on the disk.
"""

from samekind.serving.engine import Engine
from samekind.serving.settings import Limits, ServerSettings

__all__ = ["Engine", "Limits", "ServerSettings"]
