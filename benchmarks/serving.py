"""The server under load, on one machine: with and without batching, at saturation, and across kill -9.

    python benchmarks/serving.py SPACE [--seconds 5] [--turns 3] [--connections 1,16,64] [--out FILE]

SPACE is a folder of a space of pictures, or of its run. Servers and clients share the machine, so the rates
are no figures of a machine of its own: the ratios are the result. The servers take turns, each turn of all of
them in the same half minute; a ratio is the median over the turns. The processor time of a server does not
depend on what else the machine does (Linux). Every client sends the same picture again
and again on one connection, and the next request once the last is answered.

"together" is the server as it is; "alone" is the same one that embeds one request at a time.

Then 32 clients enrol one class after the other while others ask. The server is killed (-9) in the middle of
it, and started again. Every enrolment that was acknowledged must be there.
"""

import argparse
import asyncio
import io
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

HERE = Path(__file__)
#: Requests that are answered before a turn is measured.
WARM = 20
ENROLLING, ASKING = 32, 8


def picture() -> bytes:
    """A drawing of noise as a PNG file."""
    pixels = np.random.default_rng(0).integers(0, 255, (28, 28), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="PNG")
    return content.getvalue()


def request_for(path: str, fields: dict[str, str]) -> bytes:
    """A request with the picture and these fields, as it goes over the wire."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    file = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n' + picture() + b"\r\n"
    )
    body = b"".join([*parts, file, b"--x--\r\n"])
    heading = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return heading.encode() + body


class Connection:
    """A connection that is kept, and the plainest client: the client must not be the slow part."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer. Raises OSError or EOFError if the server is gone."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        heading = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in heading.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        return int(heading.split(b" ", 2)[1]), await reader.readexactly(length)

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()


async def load(port: int, request: bytes, *, connections: int, seconds: float) -> dict[str, Any]:
    """Requests a second, latencies and statuses of so many clients, for so many seconds."""
    latencies: list[float] = []
    statuses: Counter[int] = Counter()
    start = time.perf_counter()

    async def client() -> None:
        connection = Connection(port)
        while (begun := time.perf_counter()) < start + seconds:
            status, _ = await connection.ask(request)
            latencies.append(time.perf_counter() - begun)
            statuses[status] += 1
        connection.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    took = time.perf_counter() - start
    return {
        "requests a second": len(latencies) / took,
        "p50 ms": 1000 * float(np.quantile(latencies, 0.5)),
        "p99 ms": 1000 * float(np.quantile(latencies, 0.99)),
        "statuses": {str(status): count for status, count in statuses.items()},
    }


class Served:
    """A server in a process of its own."""

    def __init__(self, system: str, space: Path, state: Path) -> None:
        options = ["--serve", system, "--state", str(state)]
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), str(space), *options], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    async def ready(self, request: bytes) -> None:
        """Wait until it answers."""
        connection = Connection(self.port)
        for _ in range(WARM):
            while True:
                try:
                    status, _ = await connection.ask(request)
                    break
                except (OSError, EOFError):
                    connection = Connection(self.port)
                    await asyncio.sleep(0.2)
            assert status == 200, status
        connection.close()

    def processor_seconds(self) -> float:
        """What the process has had of the processors, however busy others keep them."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def end(self, how: int = signal.SIGTERM) -> None:
        """Stop it, and wait until it is gone."""
        self.process.send_signal(how)
        self.process.wait()


async def compare_rates(
    space: Path, systems: list[str], state: Path, *, turns: int, seconds: float, connections: list[int]
) -> dict[str, Any]:
    """Every system under every load, in turns, and the ratios to the one without batching."""
    servers = {system: Served(system, space, state / system) for system in systems}
    request = request_for("/embed", {})
    for server in servers.values():
        await server.ready(request)
    rows: list[dict[str, Any]] = []
    for turn in range(turns):
        for count in connections:
            for system, server in servers.items():
                before = server.processor_seconds()
                measured = await load(server.port, request, connections=count, seconds=seconds)
                spent = server.processor_seconds() - before
                measured["processor ms a request"] = 1000 * spent / sum(measured["statuses"].values())
                rows.append({"turn": turn, "connections": count, "system": system, **measured})
                print(turn, count, system, measured, file=sys.stderr)
    for server in servers.values():
        server.end()
    return {"rows": rows, "ratios": ratios(rows, systems, connections)}


def ratios(rows: list[dict[str, Any]], systems: list[str], connections: list[int]) -> list[dict[str, Any]]:
    """For each load the median over the turns of the figures of "together" over those of "alone"."""
    answers = []
    for count in connections:
        here = {(row["system"], row["turn"]): row for row in rows if row["connections"] == count}
        turns = sorted({turn for _, turn in here})
        names = ("requests a second", "p50 ms", "p99 ms", "processor ms a request")
        over = {
            f"{name} / alone": statistics.median(
                here["together", turn][name] / here["alone", turn][name] for turn in turns
            )
            for name in names
        }
        medians = {
            f"{name}, {system}": statistics.median(here[system, turn][name] for turn in turns)
            for name in names
            for system in systems
        }
        answers.append({"connections": count, **over, **medians})
    return answers


async def killed(space: Path, state: Path, *, seconds: float) -> dict[str, Any]:
    """Enrol and ask at saturation, kill the server in the middle, and count what is there afterwards."""
    acknowledged: list[str] = []
    statuses: Counter[str] = Counter()
    server = Served("together", space, state)
    asked = request_for("/embed", {})
    await server.ready(asked)

    async def client(place: int, *, enrolling: bool) -> None:
        connection, number = Connection(server.port), 0
        while True:
            name, number = f"{place}-{number}", number + 1
            request = request_for("/enroll", {"name": name}) if enrolling else asked
            try:
                status, _ = await connection.ask(request)
            except (OSError, EOFError):  # it was killed
                return
            statuses[f"{'enroll' if enrolling else 'embed'} {status}"] += 1
            if enrolling and status == 200:
                acknowledged.append(name)

    clients = [client(place, enrolling=place < ENROLLING) for place in range(ENROLLING + ASKING)]
    tasks = [asyncio.create_task(one) for one in clients]
    await asyncio.sleep(seconds)
    server.end(signal.SIGKILL)
    await asyncio.gather(*tasks)
    again = Served("together", space, state)
    await again.ready(asked)
    _, content = await Connection(again.port).ask(b"GET /classes HTTP/1.1\r\nHost: localhost\r\n\r\n")
    names = [row["name"] for row in json.loads(content)["classes"]]
    again.end()
    return {
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged) - set(names)),
        "twice": len(names) - len(set(names)),
        "statuses": dict(statuses),
        "errors": sum(count for name, count in statuses.items() if name.split()[1] not in ("200", "503")),
        "enrolments a second": len(acknowledged) / seconds,
    }


def serve(system: str, space: Path, state: Path) -> None:
    """Be a server; prints the port first."""
    from samekind.serving.app import create_app
    from samekind.serving.opening import open_engine
    from samekind.serving.running import listening, run
    from samekind.serving.settings import Limits, ServerSettings

    listener = listening("127.0.0.1", 0)
    port = listener.getsockname()[1]
    engine = open_engine(space, state=state, device="cpu")
    limits = Limits(together=64 if system == "together" else 1, rate="1000000000/minute")
    app = create_app(engine, ServerSettings(audit=state / "audit.jsonl", limits=limits))
    print(port, flush=True)
    run(app, listener)


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("space", type=Path)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--connections", default="1,16,64")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.space, given.state)
        return
    with tempfile.TemporaryDirectory() as folder:
        rates = asyncio.run(
            compare_rates(
                given.space,
                ["together", "alone"],
                Path(folder),
                turns=given.turns,
                seconds=given.seconds,
                connections=[int(count) for count in given.connections.split(",")],
            )
        )
        crash = asyncio.run(killed(given.space, Path(folder) / "killed", seconds=given.seconds))
    machine = {
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    result = {"space": given.space.name, "machine": machine, **rates, "killed": crash}
    print(json.dumps({"ratios": rates["ratios"], "killed": crash}, indent=2))
    if given.out is not None:
        from samekind.storage import write_text

        write_text(given.out, json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
