"""The texts of the API description about bodies, answers and errors, with examples."""

from typing import Any

from pydantic import BaseModel

#: What each status of a refusal means.
MEANINGS = {
    400: "The request, or a file in it, cannot be read, or asks for what the space does not have.",
    401: "A token is needed, or the one that was sent is not valid.",
    403: "The token may not do this, or the request comes from a page of another site.",
    404: "There is no such thing here.",
    408: "The request took too long to arrive.",
    409: "It contradicts what is there, such as a class of that name.",
    413: "The request, a picture or a sound is too large, or has too many items.",
    415: "A file is of a type that is not read here.",
    422: "A setting is missing, unknown or out of range.",
    429: "Too many requests.",
    501: "This server cannot do it.",
    503: "The server is busy, starting or stopping. Try again after the seconds in Retry-After.",
}
ALWAYS = (401, 403, 429)
WITH_BODY = (*ALWAYS, 400, 408, 413, 415, 422, 501, 503)


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    error: str


def responses(example: Any, *statuses: int) -> dict[int | str, Any]:
    """The answers of a route: an example of the good one, and the refusals."""
    refusals: dict[int | str, Any] = {
        status: {
            "description": MEANINGS[status],
            "model": ErrorAnswer,
            "content": {"application/json": {"example": {"error": MEANINGS[status]}}},
        }
        for status in sorted({*ALWAYS, *statuses})
    }
    good = {
        "description": "The answer.",
        "content": {"application/json": {"schema": {"type": "object"}, "example": example}},
    }
    return {200: good, **refusals}


def body(model: type[BaseModel], *files: str, many: bool = False, vectors: bool = True) -> dict[str, Any]:
    """The body of a route: files and settings as a form, or vectors and settings as JSON."""
    described = model.model_json_schema()
    settings, needed = described.get("properties", {}), described.get("required", [])
    file: dict[str, Any] = {"type": "string", "format": "binary"}
    listed = {"type": "array", "items": file, "minItems": 1, "description": "Pictures, sounds or arrays."}
    content: dict[str, Any] = {}
    form = dict.fromkeys(files, listed if many else file)
    content["multipart/form-data"] = _schema({**form, **settings}, [*files, *needed])
    numbers = {
        "type": "array",
        "minItems": 1,
        "items": {"type": "array", "items": {"type": "number"}},
        "description": "Items as numbers, where items are vectors.",
        "example": [[0.1, 0.2]],
    }
    if vectors and files:
        content["application/json"] = _schema({"vectors": numbers, **settings}, ["vectors", *needed])
    elif not files:
        content["application/json"] = _schema(settings, needed)
    return {"requestBody": {"required": True, "content": content}}


def _schema(properties: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    return {
        "schema": {
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": False,
        }
    }


COMPARED = {
    "same": True,
    "score": 0.91,
    "threshold": 0.62,
    "probability": 0.97,
    "kind": "similarity",
    "point": "eer",
    "false_accepts": 0.021,
    "false_accept_interval": [0.015, 0.029],
    "false_rejects": 0.021,
}
CLASSIFIED = {
    "items": [
        {
            "id": "a.png",
            "class": "7",
            "probability": 0.93,
            "score": 0.88,
            "best": [{"class": "7", "probability": 0.95}, {"class": "1", "probability": 0.03}],
        }
    ],
    "threshold": 0.4,
    "kind": "cosine",
    "named by": "similarity",
    "skipped": [],
}
SEARCHED = {
    "kind": "cosine",
    "gallery": 2840,
    "shortlist": None,
    "queries": [
        {
            "id": "a.png",
            "label": None,
            "found": [{"id": "7/03.png", "label": "7", "score": 0.94, "thumbnail": True}],
        }
    ],
    "skipped": [],
}
ENROLLED = {"class": "Ada", "done": "added", "examples": 3, "classes": ["Ada"], "warning": None}
CLASSES = {"classes": [{"name": "7", "examples": 100, "enrolled": False}]}
EMBEDDED = {"items": [{"id": "a.png", "embedding": [0.1, -0.4]}], "dimension": 2}
TREE = {
    "newick": "(a:1,b:1);",
    "known": False,
    "nodes": {"name": "", "height": 1, "children": [{"name": "a", "height": 0, "children": []}]},
}
MAP = {"ids": ["7/03.png"], "x": [0.5], "y": [-1.2], "label": [0], "labels": ["7"], "doubt": [0.1]}
TRADEOFF = {
    "kind": "similarity",
    "thresholds": [0.2, 0.6, 0.9],
    "false_accepts": [0.4, 0.02, 0.0],
    "false_rejects": [0.0, 0.02, 0.3],
    "trials": {"same": 120, "different": 2400, "sentence": "validation items: 120 same, 2,400 different"},
    "decision": None,
}
INFO = {
    "name": "digits",
    "version": "0.1.0",
    "medium": "pictures",
    "endings": [".png"],
    "classes": ["7"],
    "dimension": 64,
    "kinds": ["similarity", "cosine"],
    "kind_for": {"pairs": "similarity"},
    "decisions": {},
    "gallery": 2840,
    "tree": False,
    "attention": True,
    "can_enroll": True,
    "role": "admin",
    "limits": {"bytes": 33554432},
}
