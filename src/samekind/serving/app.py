"""The application: an engine, its routes and the page, behind the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse
from starlette.staticfiles import StaticFiles

from samekind import __version__
from samekind.errors import SamekindError
from samekind.serving import asking, changing, looking
from samekind.serving.access import Access
from samekind.serving.audit import Audit
from samekind.serving.device import Device
from samekind.serving.engine import Engine
from samekind.serving.guard import Guard, refused
from samekind.serving.looking import Map
from samekind.serving.metrics import Metrics
from samekind.serving.refusal import Refusal, refusal_of
from samekind.serving.server import Server
from samekind.serving.settings import ServerSettings
from samekind.serving.uploads import in_words

PAGE = Path(__file__).parent / "page"
ABOUT = (
    "Questions to a trained metric space. Send a token, where one is needed, as Authorization: Bearer TOKEN."
)


def create_app(engine: Engine, settings: ServerSettings) -> FastAPI:
    """The application that answers by an engine. When it ends, the engine is closed."""
    audit, metrics, limits = Audit(settings.audit), Metrics(), settings.limits
    device = Device(
        engine.embed,
        waiting=limits.waiting,
        together=limits.together,
        settle=audit.flush,
        observe=metrics.embedded,
    )
    metrics.watch(lambda: device.waiting)
    state = {"status": "starting"}

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        metrics.classes.set(len((await device.ask(lambda _: engine.classes()))["classes"]))
        state["status"] = "ok"
        yield
        state["status"] = "stopping"
        device.stop()
        audit.close()
        engine.close()

    app = FastAPI(
        title="samekind",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.server = Server(engine, device, Access(settings), audit, metrics, limits)
    app.state.map = Map(engine)
    for routes in (looking, asking, changing):
        app.include_router(routes.router)
    _add_page(app, state)
    _add_errors(app)
    _add_security(app)
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    return app


def _add_page(app: FastAPI, state: dict[str, str]) -> None:
    """The page, which needs no token, and whether the server is well."""

    @app.get(
        "/health",
        summary="Is the server well?",
        tags=["look"],
        responses={200: {"description": "It is."}, 503: {"description": "It is starting or stopping."}},
    )
    async def health() -> Response:
        return JSONResponse(state, 200 if state["status"] == "ok" else 503)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        path = PAGE / "index.html"
        if not path.is_file():
            raise Refusal(404, "this installation has no page; the API is described at /openapi.json")
        return FileResponse(path, headers={"Cache-Control": "no-cache"})

    app.mount("/page", StaticFiles(directory=PAGE, check_dir=False), name="page")


def _add_errors(app: FastAPI) -> None:
    """Every error is a sentence; of a fault the guard says no more than that it happened."""

    @app.exception_handler(Refusal)
    async def of_refusal(_: Request, refusal: Refusal) -> Response:
        return refused(refusal)

    @app.exception_handler(SamekindError)
    async def of_mistake(_: Request, error: SamekindError) -> Response:
        return refused(refusal_of(error))

    @app.exception_handler(RequestValidationError)
    async def of_settings(_: Request, error: RequestValidationError) -> Response:
        return refused(Refusal(422, in_words(error.errors())))

    @app.exception_handler(HTTPException)
    async def of_route(_: Request, error: HTTPException) -> Response:
        answer = refused(Refusal(error.status_code, str(error.detail)))
        answer.headers.update(error.headers or {})
        return answer


def _add_security(app: FastAPI) -> None:
    """Say in the description that a token may be needed."""
    plain = app.openapi

    def described() -> dict[str, object]:
        if app.openapi_schema is None:
            content = plain()
            schemes = content.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
            content["security"] = [{}, {"token": []}]
            app.openapi_schema = content
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
