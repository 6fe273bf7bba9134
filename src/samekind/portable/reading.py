"""Files to items in NumPy, as the space reads them: the readers of `samekind.data`, by their arguments."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from samekind.decoding import pixels, waves
from samekind.decoding.arrays import as_item
from samekind.decoding.pictures import PictureForm
from samekind.decoding.size_plane import size_plane
from samekind.errors import DataError, SpaceError
from samekind.plain_files import START, Array, read_npy

#: The longest side of a picture that items are made of.
LONGEST = 10_000

#: The content of a file, and what a message calls it, to an item.
Reader = Callable[[bytes, str], Array]


def reader_of(name: str, arguments: Mapping[str, Any]) -> Reader:
    """The reader of a name, with these arguments. Raises SpaceError for one that is not known here."""
    try:
        match name:
            case "ImageReader":
                return _picture_reader(_form(arguments))
            case "SoundReader":
                return _sound_reader(rate=int(arguments["rate"]), seconds=float(arguments["seconds"]))
            case "VectorReader" | "TableReader" | "ArrayReader":
                return _array_reader(item_shape(name, arguments))
    except (TypeError, ValueError, KeyError) as error:
        raise SpaceError(f"this export is damaged: {name} cannot be built ({error})") from error
    raise SpaceError(f'this export reads items by "{name}", which is not known here; upgrade samekind')


def item_shape(name: str, arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of an item of pictures, arrays or vectors. Raises SpaceError for arguments that give none."""
    try:
        match name:
            case "ImageReader":
                return _form(arguments).shape
            case "ArrayReader":
                return tuple(int(side) for side in arguments["shape"])
            case "VectorReader":
                return (int(arguments["dimension"]),)
        return (len(arguments["columns"]),)
    except (TypeError, ValueError, KeyError) as error:
        raise SpaceError(f"this export is damaged: {name} gives no items ({error})") from error


def _form(arguments: Mapping[str, Any]) -> PictureForm:
    cut_from = arguments.get("cut_from")
    form = PictureForm(**{**arguments, "cut_from": None if cut_from is None else tuple(cut_from)})
    if form.channels not in pixels.MODES or max(form.brought_to) > LONGEST:
        raise ValueError(f"pictures of {form.channels} channels, {form.brought_to} pixels")
    return form


def _picture_reader(form: PictureForm) -> Reader:
    expected = f"expected an image or a .npy array of shape {(form.channels, form.height, form.width)}"

    def read(content: bytes, name: str) -> Array:
        if content.startswith(START):
            image = _array(content, (form.channels, form.height, form.width), name)
            if not form.original_size:
                return image
            plane = size_plane(form.height, form.width, rows=form.height, columns=form.width)
            return np.concatenate([image, _scaled(plane[None])])
        try:
            return _scaled(form.read(BytesIO(content)))
        except Exception as error:  # Pillow's decoders fail in a dozen ways on a broken file
            raise DataError(f"cannot read {name}: {pixels.reason(error)}; {expected}") from error

    return read


def _sound_reader(*, rate: int, seconds: float) -> Reader:
    if rate not in (8000, 16000) or not 0.1 <= seconds <= 3600:
        raise ValueError(f"{seconds} seconds at {rate} samples a second")

    def read(content: bytes, name: str) -> Array:
        if content.startswith(START):
            raise DataError(f"cannot read {name}: this space reads sounds; {waves.EXPECTED}")
        samples = waves.decode(BytesIO(content), name, rate=rate, seconds=seconds)
        return np.asarray(samples[0].astype(np.float32) / np.float32(-waves.PAD))

    return read


def _array_reader(shape: tuple[int, ...]) -> Reader:
    def read(content: bytes, name: str) -> Array:
        if not content.startswith(START):
            raise DataError(f"cannot read {name}: expected a .npy array of shape {shape}")
        return _array(content, shape, name)

    return read


def _array(content: bytes, shape: tuple[int, ...], name: str) -> Array:
    try:
        array = read_npy(BytesIO(content), size=len(content))
    except ValueError as error:
        raise DataError(f"cannot read {name}: {error}; expected a .npy array of shape {shape}") from error
    return as_item(array, shape, name)


def _scaled(image: Array) -> Array:
    return image.astype(np.float32) / np.float32(255)


def padded(features: Sequence[Array]) -> Array:
    """Features (coefficients, frames) as one array (n, coefficients, longest), padded with NaN."""
    longest = max(values.shape[1] for values in features)
    batch = np.full((len(features), features[0].shape[0], longest), np.nan, dtype=np.float32)
    for row, values in zip(batch, features, strict=True):
        row[:, : values.shape[1]] = values
    return batch
