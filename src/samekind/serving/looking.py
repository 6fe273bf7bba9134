"""The routes that look at the space: info, classes, tree, map, thumbnails, trade-off, measures, metrics. All
need the role read.
"""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
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
from samekind.serving.server import Reader, Serving

#: Seconds that a request waits for the map. Then the client is asked to try again later.
PATIENCE = 20.0
#: Thumbnails do not change while a gallery is open.
STAYS = {"Cache-Control": "private, max-age=3600"}

router = APIRouter(tags=["look"])


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


@router.get("/info", summary="What the space is and knows", responses=responses(description.INFO, 503))
async def info(server: Serving, caller: Reader) -> Response:
    answer = await server.device.ask(lambda _: server.engine.info())
    endings = [ending for ending in answer["endings"] if ending not in NOT_READ]
    about = {"endings": endings, "version": __version__, "role": caller.role}
    return JSONResponse({**plain(answer), **about, "limits": server.limits.to_json()})


@router.get("/classes", summary="The known classes", responses=responses(description.CLASSES, 503))
async def classes(server: Serving, _: Reader) -> Response:
    return JSONResponse(await server.device.ask(lambda _: server.engine.classes()))


@router.get("/tree", summary="The tree of the classes", responses=responses(description.TREE, 404, 503))
async def tree(server: Serving, _: Reader) -> Response:
    return JSONResponse(plain(await server.device.ask(lambda _: server.engine.tree())))


@router.get("/map", summary="The map of the gallery", responses=responses(description.MAP, 404, 503))
async def positions(request: Request, _: Reader) -> Response:
    return Response(await request.app.state.map.content(), media_type="application/json")


@router.get(
    "/items/thumbnail",
    summary="A picture of an item of the gallery",
    responses={
        **responses({}, 404, 422),
        200: {"description": "A small picture.", "content": {"image/png": {}}},
    },
)
async def thumbnail(server: Serving, _: Reader, id: Annotated[str, Query(max_length=2000)]) -> Response:
    png = await run_in_threadpool(server.engine.thumbnail, id)
    if png is None:
        raise Refusal(404, "there is no picture of this item")
    return Response(png, media_type="image/png", headers=STAYS)


@router.get(
    "/tradeoff",
    summary="False accepts and rejects over thresholds",
    responses=responses(description.TRADEOFF, 400, 404, 422, 503),
)
async def tradeoff(
    server: Serving, _: Reader, kind: Annotated[str | None, Query(max_length=100)] = None
) -> Response:
    return JSONResponse(plain(await server.device.ask(lambda _: server.engine.tradeoff(kind=kind))))


@router.get("/measures", summary="The measures of the run", responses=responses({"rows": []}, 404))
async def measures(server: Serving, _: Reader) -> Response:
    return JSONResponse(plain(await run_in_threadpool(server.engine.measures)))


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    responses={**responses({}), 200: {"description": "Text.", "content": {"text/plain": {}}}},
)
async def metrics(server: Serving, _: Reader) -> Response:
    return Response(server.metrics.text(), media_type=CONTENT_TYPE)
