"""The routes that look at the space: info, classes, tree, map, thumbnails, trade-off, measures, metrics."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from samekind import __version__
from samekind.serving import description
from samekind.serving.asking import plain
from samekind.serving.description import responses
from samekind.serving.engine import Engine
from samekind.serving.headings import NOT_READ
from samekind.serving.metrics import CONTENT_TYPE
from samekind.serving.refusal import Refusal
from samekind.serving.server import Server
from samekind.serving.tokens import Caller

#: Seconds that a request waits for the map before it is told to come again.
PATIENCE = 20.0
#: Thumbnails do not change while a gallery is open.
STAYS = {"Cache-Control": "private, max-age=3600"}


class Map:
    """The map of the gallery: made once, when it is first asked for, and kept."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._task: asyncio.Task[bytes] | None = None

    async def content(self) -> bytes:
        """The map as JSON. Raises Refusal while it is being made for long."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.create_task(run_in_threadpool(self._make))
        await asyncio.wait({self._task}, timeout=PATIENCE)
        if not self._task.done():
            raise Refusal(503, "the map is being made; ask again in a few seconds", retry_after=5)
        return self._task.result()

    def _make(self) -> bytes:
        return bytes(JSONResponse(plain(self._engine.map())).body)


def looking(server: Server) -> APIRouter:
    """The routes that look at the space; all of them need the role read."""
    router = APIRouter(tags=["look"])
    for add in (_info, _classes, _tree, _positions, _thumbnail, _tradeoff, _measures, _metrics):
        add(router, server)
    return router


def _info(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.get("/info", summary="What the space is and knows", responses=responses(description.INFO, 503))
    async def info(caller: reader) -> Response:
        answer = await device.ask(lambda _: engine.info())
        endings = [ending for ending in answer["endings"] if ending not in NOT_READ]
        about = {"endings": endings, "version": __version__, "role": caller.role}
        return JSONResponse({**plain(answer), **about, "limits": server.limits.to_json()})


def _classes(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.get("/classes", summary="The known classes", responses=responses(description.CLASSES, 503))
    async def classes(_: reader) -> Response:
        return JSONResponse(await device.ask(lambda _: engine.classes()))


def _tree(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.get("/tree", summary="The tree of the classes", responses=responses(description.TREE, 404, 503))
    async def tree(_: reader) -> Response:
        return JSONResponse(plain(await device.ask(lambda _: engine.tree())))


def _positions(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    gallery = Map(server.engine)

    @router.get("/map", summary="The map of the gallery", responses=responses(description.MAP, 404, 503))
    async def positions(_: reader) -> Response:
        return Response(await gallery.content(), media_type="application/json")


def _thumbnail(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine = server.engine

    @router.get(
        "/items/thumbnail",
        summary="A picture of an item of the gallery",
        responses={
            **responses({}, 404, 422),
            200: {"description": "A small picture.", "content": {"image/png": {}}},
        },
    )
    async def thumbnail(_: reader, id: Annotated[str, Query(max_length=2000)]) -> Response:
        png = await run_in_threadpool(engine.thumbnail, id)
        if png is None:
            raise Refusal(404, "there is no picture of this item")
        return Response(png, media_type="image/png", headers=STAYS)


def _tradeoff(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine, device = server.engine, server.device

    @router.get(
        "/tradeoff",
        summary="False accepts and rejects over thresholds",
        responses=responses(description.TRADEOFF, 400, 404, 422, 503),
    )
    async def tradeoff(_: reader, kind: Annotated[str | None, Query(max_length=100)] = None) -> Response:
        return JSONResponse(plain(await device.ask(lambda _: engine.tradeoff(kind=kind))))


def _measures(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]
    engine = server.engine

    @router.get("/measures", summary="The measures of the run", responses=responses({"rows": []}, 404))
    async def measures(_: reader) -> Response:
        return JSONResponse(plain(await run_in_threadpool(engine.measures)))


def _metrics(router: APIRouter, server: Server) -> None:
    reader = Annotated[Caller, Depends(server.access.asks("read"))]

    @router.get(
        "/metrics",
        summary="Counters for Prometheus",
        responses={**responses({}), 200: {"description": "Text.", "content": {"text/plain": {}}}},
    )
    async def metrics(_: reader) -> Response:
        return Response(server.metrics.text(), media_type=CONTENT_TYPE)
