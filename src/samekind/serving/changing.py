"""The routes that change what the space knows: enrol, rename, delete, decide."""

import unicodedata
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from samekind.serving import description
from samekind.serving.asking import finite
from samekind.serving.description import WITH_BODY, body, responses
from samekind.serving.engine import Answer, Vectors
from samekind.serving.server import Server
from samekind.serving.tokens import Caller

LONGEST_CLASS = 200


def class_name(text: str) -> str:
    """The name of a class, with composed accents. Raises ValueError for what cannot be one."""
    name = unicodedata.normalize("NFC", text).strip()
    if not name or len(name) > LONGEST_CLASS or not name.isprintable():
        raise ValueError(f"a class is named by 1 to {LONGEST_CLASS} characters that can be printed")
    return name


ClassName = Annotated[str, AfterValidator(class_name), Field(description="The name of a class.")]


class EnrollSettings(BaseModel):
    """A class to enrol."""

    model_config = ConfigDict(extra="forbid")
    name: ClassName
    replace: bool = Field(False, description="Whether a class of that name is replaced.")
    under: ClassName | None = Field(None, description="The node of the tree to stand under.")


class RenameSettings(BaseModel):
    """A class and its new name."""

    model_config = ConfigDict(extra="forbid")
    name: ClassName
    to: ClassName


class RemoveSettings(BaseModel):
    """A class to forget."""

    model_config = ConfigDict(extra="forbid")
    name: ClassName


class DecideSettings(BaseModel):
    """A threshold on a kind of score."""

    model_config = ConfigDict(extra="forbid")
    threshold: float = Field(allow_inf_nan=False)
    kind: str | None = None


def changing(server: Server) -> APIRouter:
    """The routes that change what the space knows."""
    router = APIRouter(tags=["change"])
    for add in (_enroll, _rename, _remove, _decide):
        add(router, server)
    return router


def _enroll(router: APIRouter, server: Server) -> None:
    enroller = Annotated[Caller, Depends(server.access.asks("enrol"))]
    engine, device, audit = server.engine, server.device, server.audit

    @router.post(
        "/enroll",
        summary="A new class from a few examples",
        openapi_extra=body(EnrollSettings, "files", many=True),
        responses=responses(description.ENROLLED, *WITH_BODY, 409),
    )
    async def enroll(request: Request, caller: enroller) -> Response:
        content = await server.body(request)
        settings = content.settings_as(EnrollSettings)
        ids, items = await server.items(content, "files")

        def work(z: Vectors) -> Answer:
            answer = engine.enroll(
                settings.name, ids, finite(z), replace=settings.replace, under=settings.under
            )
            about = {"class": answer["class"], "done": answer["done"], "items": ids}
            audit.note("enroll", caller=caller.name, about=about)
            server.metrics.enrolments.inc()
            server.metrics.classes.set(len(answer["classes"]))
            return answer

        return JSONResponse(await device.ask(work, items))


def _rename(router: APIRouter, server: Server) -> None:
    admin = Annotated[Caller, Depends(server.access.asks("admin"))]
    engine, device, audit = server.engine, server.device, server.audit

    @router.patch(
        "/classes",
        summary="Rename a class",
        openapi_extra=body(RenameSettings),
        responses=responses(description.CLASSES, *WITH_BODY, 404, 409),
    )
    async def rename(request: Request, caller: admin) -> Response:
        settings = (await server.body(request)).settings_as(RenameSettings)

        def work(_: Vectors) -> Answer:
            answer = engine.rename(settings.name, settings.to)
            audit.note("rename", caller=caller.name, about={"class": settings.name, "to": settings.to})
            return answer

        return JSONResponse(await device.ask(work))


def _remove(router: APIRouter, server: Server) -> None:
    admin = Annotated[Caller, Depends(server.access.asks("admin"))]
    engine, device, audit = server.engine, server.device, server.audit

    @router.delete(
        "/classes",
        summary="Forget a class",
        openapi_extra=body(RemoveSettings),
        responses=responses(description.CLASSES, *WITH_BODY, 404),
    )
    async def remove(request: Request, caller: admin) -> Response:
        settings = (await server.body(request)).settings_as(RemoveSettings)

        def work(_: Vectors) -> Answer:
            answer = engine.remove(settings.name)
            audit.note("remove", caller=caller.name, about={"class": settings.name})
            server.metrics.classes.set(len(answer["classes"]))
            return answer

        return JSONResponse(await device.ask(work))


def _decide(router: APIRouter, server: Server) -> None:
    admin = Annotated[Caller, Depends(server.access.asks("admin"))]
    engine, device, audit = server.engine, server.device, server.audit

    @router.put(
        "/decision",
        summary="Make a threshold the decision of the space",
        openapi_extra=body(DecideSettings),
        responses=responses({"threshold": 0.6, "point": "threshold=0.6"}, *WITH_BODY, 404, 409),
    )
    async def decide(request: Request, caller: admin) -> Response:
        settings = (await server.body(request)).settings_as(DecideSettings)

        def work(_: Vectors) -> Answer:
            answer = engine.decide(kind=settings.kind, threshold=settings.threshold)
            about = {"kind": answer["kind"], "threshold": settings.threshold}
            audit.note("decide", caller=caller.name, about=about)
            return answer

        return JSONResponse(await device.ask(work))
