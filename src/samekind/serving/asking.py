"""The routes that ask about items: embed, compare, classify, search, attention."""

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from samekind.serving import description
from samekind.serving.description import WITH_BODY, body, responses
from samekind.serving.engine import Answer, Vectors
from samekind.serving.refusal import Refusal
from samekind.serving.server import Server
from samekind.serving.settings import MOST_FOUND
from samekind.serving.tokens import Caller

Kind = Annotated[str | None, Field(description="The kind of score; without one the space's choice.")]


class CompareSettings(BaseModel):
    """How two items are compared."""

    model_config = ConfigDict(extra="forbid")
    kind: Kind = None
    prior: float = Field(0.5, gt=0, lt=1, description="How often two items are the same, where you ask.")


class ClassifySettings(BaseModel):
    """How classes are named."""

    model_config = ConfigDict(extra="forbid")
    kind: Kind = None
    level: float | None = Field(
        None, gt=0, lt=1, description="The share of answers that is to be right, for answers at inner nodes."
    )


class SearchSettings(BaseModel):
    """What is searched for."""

    model_config = ConfigDict(extra="forbid")
    kind: Kind = None
    k: int = Field(12, ge=1, le=MOST_FOUND, description="How many to find for each item.")


class NoSettings(BaseModel):
    """Nothing to set."""

    model_config = ConfigDict(extra="forbid")


def asking(server: Server) -> APIRouter:
    """The routes that ask about items; all of them need the role read."""
    router = APIRouter(tags=["ask"])
    for add in (_embed, _compare, _classify, _search, _attention):
        add(router, server)
    return router


def _embed(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    device = server.device

    @router.post(
        "/embed",
        summary="Items to vectors",
        openapi_extra=body(NoSettings, "files", many=True),
        responses=responses(description.EMBEDDED, *WITH_BODY),
    )
    async def embed(request: Request, _: reader) -> Response:
        content = await server.body(request)
        content.settings_as(NoSettings)
        ids, items = await server.items(content, "files")
        z = await device.ask(finite, items)
        rows = [{"id": id, "embedding": row} for id, row in zip(ids, z.tolist(), strict=True)]
        return JSONResponse({"items": rows, "dimension": z.shape[1]})


def _compare(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.post(
        "/compare",
        summary="Are these two the same kind?",
        openapi_extra=body(CompareSettings, "first", "second"),
        responses=responses(description.COMPARED, *WITH_BODY),
    )
    async def compare(request: Request, caller: reader) -> Response:
        content = await server.body(request)
        settings = content.settings_as(CompareSettings)
        ids, items = await server.items(content, "first", "second", exactly=2)

        def work(z: Vectors) -> Answer:
            answer = engine.compare(finite(z), kind=settings.kind, prior=settings.prior)
            verdict = {name: answer[name] for name in ("same", "score", "threshold", "kind")}
            server.audit.note("compare", caller=caller.name, about={"items": ids, **verdict})
            return answer

        return JSONResponse(await device.ask(work, items))


def _classify(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.post(
        "/classify",
        summary="Which class is it, or none of these?",
        openapi_extra=body(ClassifySettings, "files", many=True),
        responses=responses(description.CLASSIFIED, *WITH_BODY),
    )
    async def classify(request: Request, caller: reader) -> Response:
        content = await server.body(request)
        settings = content.settings_as(ClassifySettings)
        ids, items = await server.items(content, "files")

        def work(z: Vectors) -> Answer:
            answer = engine.classify(ids, finite(z), kind=settings.kind, level=settings.level)
            named = [item["class"] for item in answer["items"]]
            server.audit.note("classify", caller=caller.name, about={"items": ids, "classes": named})
            return answer

        return JSONResponse(await device.ask(work, items))


def _search(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.post(
        "/search",
        summary="What is most like this?",
        openapi_extra=body(SearchSettings, "files", many=True),
        responses=responses(description.SEARCHED, *WITH_BODY, 404),
    )
    async def search(request: Request, _: reader) -> Response:
        content = await server.body(request)
        settings = content.settings_as(SearchSettings)
        ids, items = await server.items(content, "files")
        work: Callable[[Vectors], Answer] = lambda z: engine.search(  # noqa: E731
            ids, finite(z), k=settings.k, kind=settings.kind
        )
        return JSONResponse(await device.ask(work, items))


def _attention(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.post(
        "/attention",
        summary="Where does the network look?",
        openapi_extra=body(NoSettings, "files", vectors=False),
        responses={
            **responses({}, *WITH_BODY),
            200: {"description": "The picture with what speaks for its class.", "content": {"image/png": {}}},
        },
    )
    async def attention(request: Request, _: reader) -> Response:
        content = await server.body(request)
        content.settings_as(NoSettings)
        items = (await server.items(content, "files", exactly=1)).items
        drawing = await device.ask(lambda _: engine.attention(items[0]))
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
