"""The routes that ask about items: embed, compare, classify, search, attention. All need the role read."""

from typing import Annotated, Any
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from samekind.serving import description
from samekind.serving.description import WITH_BODY, body, responses
from samekind.serving.engine import Answer, Vectors
from samekind.serving.refusal import Refusal
from samekind.serving.server import Reader, Serving
from samekind.serving.settings import MOST_FOUND

Kind = Annotated[str | None, Field(description="The kind of score; without one the space's choice.")]

router = APIRouter(tags=["ask"])


class CompareSettings(BaseModel, extra="forbid"):
    """How two items are compared."""

    kind: Kind = None
    prior: float = Field(0.5, gt=0, lt=1, description="How often two items are the same, where you ask.")


class ClassifySettings(BaseModel, extra="forbid"):
    """How classes are named."""

    kind: Kind = None
    level: float | None = Field(
        None, gt=0, lt=1, description="The share of answers that is to be right, for answers at inner nodes."
    )


class SearchSettings(BaseModel, extra="forbid"):
    """The settings of a search."""

    kind: Kind = None
    k: int = Field(12, ge=1, le=MOST_FOUND, description="How many to find for each item.")


class NoSettings(BaseModel, extra="forbid"):
    """Nothing to set."""


@router.post(
    "/embed",
    summary="Items to vectors",
    openapi_extra=body(NoSettings, "files", many=True),
    responses=responses(description.EMBEDDED, *WITH_BODY),
)
async def embed(server: Serving, request: Request, _: Reader) -> Response:
    ids, items = (await server.asked(request, NoSettings, "files"))[1]
    z = await server.device.ask(finite, items)
    rows = [{"id": id, "embedding": row} for id, row in zip(ids, z.tolist(), strict=True)]
    return JSONResponse({"items": rows, "dimension": z.shape[1]})


@router.post(
    "/compare",
    summary="Are these two the same kind?",
    openapi_extra=body(CompareSettings, "first", "second"),
    responses=responses(description.COMPARED, *WITH_BODY),
)
async def compare(server: Serving, request: Request, caller: Reader) -> Response:
    settings, (ids, items) = await server.asked(request, CompareSettings, "first", "second", exactly=2)

    def work(z: Vectors) -> Answer:
        answer = server.engine.compare(finite(z), kind=settings.kind, prior=settings.prior)
        verdict = {name: answer[name] for name in ("same", "score", "threshold", "kind")}
        server.audit.note("compare", caller=caller.name, about={"items": ids, **verdict})
        return answer

    return JSONResponse(await server.device.ask(work, items))


@router.post(
    "/classify",
    summary="Which class is it, or none of these?",
    openapi_extra=body(ClassifySettings, "files", many=True),
    responses=responses(description.CLASSIFIED, *WITH_BODY),
)
async def classify(server: Serving, request: Request, caller: Reader) -> Response:
    settings, (ids, items) = await server.asked(request, ClassifySettings, "files")

    def work(z: Vectors) -> Answer:
        answer = server.engine.classify(ids, finite(z), kind=settings.kind, level=settings.level)
        named = [item["class"] for item in answer["items"]]
        server.audit.note("classify", caller=caller.name, about={"items": ids, "classes": named})
        return answer

    return JSONResponse(await server.device.ask(work, items))


@router.post(
    "/search",
    summary="What is most like this?",
    openapi_extra=body(SearchSettings, "files", many=True),
    responses=responses(description.SEARCHED, *WITH_BODY, 404),
)
async def search(server: Serving, request: Request, _: Reader) -> Response:
    settings, (ids, items) = await server.asked(request, SearchSettings, "files")

    def work(z: Vectors) -> Answer:
        return server.engine.search(ids, finite(z), k=settings.k, kind=settings.kind)

    return JSONResponse(await server.device.ask(work, items))


@router.post(
    "/attention",
    summary="Where does the network look?",
    openapi_extra=body(NoSettings, "files", vectors=False),
    responses={
        **responses({}, *WITH_BODY),
        200: {"description": "The picture with what speaks for its class.", "content": {"image/png": {}}},
    },
)
async def attention(server: Serving, request: Request, _: Reader) -> Response:
    [item] = (await server.asked(request, NoSettings, "files", exactly=1))[1].items
    drawing = await server.device.ask(lambda _: server.engine.attention(item))
    png = await run_in_threadpool(drawing.draw)
    return Response(png, media_type="image/png", headers={"X-Class": quote(drawing.name)})


def finite(z: Vectors) -> Vectors:
    """The vectors; raises Refusal if one holds NaN or infinity."""
    if not np.isfinite(z).all():
        raise Refusal(400, "an item gives a vector that is not finite (NaN or infinity); look at its numbers")
    return z


def plain(value: Any) -> Any:
    """A value without NaN and infinity, which JSON does not have."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value
