"""The routes that change what the space knows: enrol, rename, delete, decide."""

import unicodedata
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, BaseModel, Field
from starlette.responses import JSONResponse

from samekind.serving import description
from samekind.serving.asking import finite
from samekind.serving.description import WITH_BODY, body, responses
from samekind.serving.engine import Answer, Vectors
from samekind.serving.server import Admin, Enroller, Serving

LONGEST_CLASS = 200

router = APIRouter(tags=["change"])


def class_name(text: str) -> str:
    """The name of a class, with composed accents. Raises ValueError for what cannot be one."""
    name = unicodedata.normalize("NFC", text).strip()
    if not name or len(name) > LONGEST_CLASS or not name.isprintable():
        raise ValueError(f"a class is named by 1 to {LONGEST_CLASS} characters that can be printed")
    return name


ClassName = Annotated[str, AfterValidator(class_name), Field(description="The name of a class.")]


class EnrollSettings(BaseModel, extra="forbid"):
    """A class to enrol."""

    name: ClassName
    replace: bool = Field(False, description="Whether a class of that name is replaced.")
    under: ClassName | None = Field(None, description="The node of the tree to stand under.")


class RenameSettings(BaseModel, extra="forbid"):
    """A class and its new name."""

    name: ClassName
    to: ClassName


class RemoveSettings(BaseModel, extra="forbid"):
    """A class to forget."""

    name: ClassName


class DecideSettings(BaseModel, extra="forbid"):
    """A threshold on a kind of score."""

    threshold: float = Field(allow_inf_nan=False)
    kind: str | None = None


@router.post(
    "/enroll",
    summary="A new class from a few examples",
    openapi_extra=body(EnrollSettings, "files", many=True),
    responses=responses(description.ENROLLED, *WITH_BODY, 409),
)
async def enroll(server: Serving, request: Request, caller: Enroller) -> Response:
    settings, (ids, items) = await server.asked(request, EnrollSettings, "files")

    def work(z: Vectors) -> Answer:
        answer = server.engine.enroll(
            settings.name, ids, finite(z), replace=settings.replace, under=settings.under
        )
        about = {"class": answer["class"], "done": answer["done"], "items": ids}
        server.audit.note("enroll", caller=caller.name, about=about)
        server.metrics.enrolments.inc()
        server.metrics.classes.set(len(answer["classes"]))
        return answer

    return JSONResponse(await server.device.ask(work, items))


@router.patch(
    "/classes",
    summary="Rename a class",
    openapi_extra=body(RenameSettings),
    responses=responses(description.CLASSES, *WITH_BODY, 404, 409),
)
async def rename(server: Serving, request: Request, caller: Admin) -> Response:
    settings = (await server.body(request)).settings_as(RenameSettings)

    def work(_: Vectors) -> Answer:
        answer = server.engine.rename(settings.name, settings.to)
        server.audit.note("rename", caller=caller.name, about={"class": settings.name, "to": settings.to})
        return answer

    return JSONResponse(await server.device.ask(work))


@router.delete(
    "/classes",
    summary="Forget a class",
    openapi_extra=body(RemoveSettings),
    responses=responses(description.CLASSES, *WITH_BODY, 404),
)
async def remove(server: Serving, request: Request, caller: Admin) -> Response:
    settings = (await server.body(request)).settings_as(RemoveSettings)

    def work(_: Vectors) -> Answer:
        answer = server.engine.remove(settings.name)
        server.audit.note("remove", caller=caller.name, about={"class": settings.name})
        server.metrics.classes.set(len(answer["classes"]))
        return answer

    return JSONResponse(await server.device.ask(work))


@router.put(
    "/decision",
    summary="Make a threshold the decision of the space",
    openapi_extra=body(DecideSettings),
    responses=responses({"threshold": 0.6, "point": "threshold=0.6"}, *WITH_BODY, 404, 409),
)
async def decide(server: Serving, request: Request, caller: Admin) -> Response:
    settings = (await server.body(request)).settings_as(DecideSettings)

    def work(_: Vectors) -> Answer:
        answer = server.engine.decide(kind=settings.kind, threshold=settings.threshold)
        about = {"kind": answer["kind"], "threshold": settings.threshold}
        server.audit.note("decide", caller=caller.name, about=about)
        return answer

    return JSONResponse(await server.device.ask(work))
