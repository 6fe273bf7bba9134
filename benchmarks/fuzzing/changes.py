"""Changes of good inputs: of bytes, of values, and of what a format says about itself."""

import contextlib
import hashlib
import io
import json
import random
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

from fuzzing.inputs import Files, packed

ODD_NUMBERS = [0, 1, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
ODD_TEXTS = [
    b"\0",
    b"\n",
    b"\xff\xfe",
    b",,,",
    b'"',
    b"{",
    b"[" * 3000,
    b"=",
    b"1e999",
    b"-1",
    b"nan",
    b"9" * 20,
]
ODD_VALUES: list[Any] = [None, True, False, 0, -1, 1, 2, 3, 10**6, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308]
ODD_VALUES += [float("inf"), float("nan"), "", "a", "é\0\ud800", "none", "../../x", "9" * 400]
ODD_VALUES += [[], [0], [[[]]], ["a", 1], {}, {"name": "MLP"}, {"": None}]


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """Bytes with one change."""
    place = draw.randrange(len(content) + 1)
    # Headers matter most.
    place = min(place, draw.choice([len(content), 16, 128, 1024]))
    end = min(len(content), place + draw.choice([1, 2, 4, 8, 30, 500]))
    number = draw.choice(ODD_NUMBERS)
    size = draw.choice([1, 2, 4, 8])
    number_bytes = (number % 256**size).to_bytes(size, draw.choice(["little", "big"]))
    return draw.choice(
        [
            lambda: content[:place] + bytes([draw.randrange(256)]) + content[place + 1 :],
            lambda: (
                content[:place]
                + bytes(b ^ 1 << draw.randrange(8) for b in content[place : place + 1])
                + content[place + 1 :]
            ),
            lambda: content[:place] + number_bytes + content[place + size :],
            lambda: content[:place] + draw.choice(ODD_TEXTS) + content[place:],
            lambda: content[:place] + draw.choice(ODD_TEXTS) + content[end:],
            lambda: content[:place] + draw.randbytes(end - place) + content[end:],
            lambda: content[:place] + content[end:],
            lambda: content[:place] + content[place:end] * 3 + content[end:],
            lambda: content[:place],
            lambda: content + draw.randbytes(draw.choice([1, 100])),
            lambda: b"",
        ]
    )()


def changed_json(value: Any, draw: random.Random) -> Any:
    """A JSON value with one node replaced, removed or repeated."""
    inside = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    if not inside or draw.random() < 0.15:
        return draw.choice(ODD_VALUES)
    key, element = draw.choice(inside)
    if draw.random() < 0.15:
        return (
            {k: v for k, v in inside if k != key}
            if isinstance(value, dict)
            else [v for k, v in inside if k != key]
        )
    new = changed_json(element, draw)
    return {**value, key: new} if isinstance(value, dict) else [*value[:key], new, *value[key + 1 :]]


def changed_words(content: bytes, draw: random.Random) -> bytes:
    """A text with one word replaced by another of it, or by an odd value."""
    words = list(re.finditer(rb"[\w.+-]+|\"[^\"]*\"|\[[^\]]*\]", content))
    if not words:
        return changed_bytes(content, draw)
    word, other = draw.choice(words), draw.choice(words)
    odd = json.dumps(draw.choice(ODD_VALUES)).encode()
    return content[: word.start()] + draw.choice([other[0], odd, odd]) + content[word.end() :]


def changed_npy(content: bytes, draw: random.Random) -> bytes:
    """An array whose header says something else, its length made to fit."""
    length = int.from_bytes(content[8:10], "little")
    header = changed_words(content[10 : 10 + length], draw)
    header = header.replace(
        b"<f4", draw.choice([b"<f4", b"|O", b"<U3", b"<f8", b">i2", b"|V9", b"<c16", b"|b1"])
    )
    return content[:8] + len(header).to_bytes(4, "little")[:2] + header + content[10 + length :]


def changed_journal(content: bytes, draw: random.Random) -> bytes:
    """A journal whose first entry is changed, with checksums that fit."""
    start, head = len(b"samekind journal 1\n"), struct.Struct("<QI")
    if len(content) < start + 20:
        return changed_bytes(content, draw)
    length, _ = head.unpack_from(content, start)
    entry = content[start + 16 : start + 16 + length]
    size = int.from_bytes(entry[:8], "little")
    text = json.dumps(changed_json(json.loads(entry[8 : 8 + size]), draw)).encode()
    entry = len(text).to_bytes(8, "little") + text + entry[8 + size :]
    if draw.random() < 0.3:
        entry = changed_bytes(entry, draw)
    first = head.pack(len(entry), zlib.crc32(entry))
    rest = content[start + 16 + length :]
    return content[:start] + first + struct.pack("<I", zlib.crc32(first)) + entry + rest


def changed_tensors(content: bytes, draw: random.Random) -> bytes:
    """A safetensors file with its header changed, or with odd numbers in a tensor."""
    length = int.from_bytes(content[:8], "little")
    if draw.random() < 0.5:
        header = json.dumps(changed_json(json.loads(content[8 : 8 + length]), draw)).encode()
        return len(header).to_bytes(8, "little") + header + content[8 + length :]
    return content[: 8 + length] + changed_bytes(content[8 + length :], draw)


def changed_zip(content: bytes, draw: random.Random) -> bytes:
    """An archive, packed anew, one of whose members is changed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return packed(changed(files, draw, times=1), draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


def changed_file(name: str, content: bytes, draw: random.Random) -> bytes:
    """One change that suits the format, or one of plain bytes."""
    suited = {
        ".json": lambda: json.dumps(changed_json(json.loads(content), draw)).encode(),
        ".npy": lambda: changed_npy(content, draw),
        ".log": lambda: changed_journal(content, draw),
        ".safetensors": lambda: changed_tensors(content, draw),
        ".npz": lambda: changed_zip(content, draw),
        ".zip": lambda: changed_zip(content, draw),
    }
    texts = (".csv", ".tsv", ".toml", ".txt", ".jsonl", ".nwk")
    suited |= dict.fromkeys(texts, lambda: changed_words(content, draw))
    suit = suited.get(Path(name).suffix)
    if suit is not None and draw.random() < 0.6:
        with contextlib.suppress(Exception):  # an earlier change has broken the format
            return suit()
    return changed_bytes(content, draw)


def changed(files: Files, draw: random.Random, *, times: int) -> Files:
    """Files with so many changes."""
    files = dict(files)
    for _ in range(times):
        if not files:
            break
        name = draw.choice(sorted(files))
        what = draw.random()
        if what < 0.02:
            del files[name]
        elif what < 0.04:
            files[name] = draw.choice([files[other] for other in sorted(files)])
        else:
            files[name] = changed_file(name, files[name], draw)
    return files


def made_to_fit(files: Files) -> Files:
    """The files of an index or a space with the sizes and hashes in the header that the files have."""
    files = dict(files)
    for name in files:
        with contextlib.suppress(Exception):  # a header that was changed itself
            header = json.loads(files[name])
            if name.endswith("index.json"):
                for file in header["files"]:
                    stem, _, ending = file.partition(".")
                    content = files[f"{stem}.{header['generation']}.{ending}"]
                    header["files"][file] = {
                        "bytes": len(content),
                        "sha256": hashlib.sha256(content).hexdigest(),
                    }
            elif name.endswith("space.json"):
                weights = files[name.replace("space.json", "weights.safetensors")]
                header["weights"] = hashlib.sha256(weights).hexdigest()
            else:
                continue
            files[name] = json.dumps(header).encode()
    return files
