"""The paths of the HTTP interface; each is one call of the brain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.types import ASGIApp

from brainkit import __version__
from brainkit.brain import Brain
from brainkit.errors import BrainkitError, UsageError
from brainkit.interfaces.http import models
from brainkit.interfaces.http.events import EVENT_SCHEMA, EventStream
from brainkit.interfaces.http.guard import ROLE, Guard
from brainkit.interfaces.http.tokens import Tokens

MOST_ROWS: Final = 10_000
Name = Annotated[str, Query(min_length=1, max_length=4_096, pattern=r"^[^\x00]*$")]
_KINDS: Final = {"page.js": "text/javascript", "page.css": "text/css", "page.html": "text/html"}
_EVENTS: Final = """Server-sent events, each with `type` in its data as well:
`thinking {text}` and `delta {text}`, any number of them; last one `done {deflected, sources [{source, path, title}],
suggestions []}`."""


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Replies that a path may give beside the usual ones."""
    return {status: {"model": models.Problem} for status in (400, 401, 403, 422, *statuses, 503)}


def _admin(request: Request) -> None:
    if request.scope[ROLE] != "admin":
        raise HTTPException(403, "this needs the admin token, which `brainkit serve` prints at its start")


def _no_other_parameters(request: Request) -> None:
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    if unknown := sorted(set(request.query_params) - known):
        allowed = f"allowed are {', '.join(sorted(known))}" if known else "none is allowed here"
        raise HTTPException(422, f"{unknown[0]}: no such parameter; {allowed}")


_ADMIN: Final = [Depends(_admin)]


def make_app(brain: Brain, tokens: Tokens) -> ASGIApp:
    """An ASGI application that serves an open brain behind its guard; ``tokens`` say who may do what."""
    app = FastAPI(
        title="brainkit",
        version=__version__,
        description="Ask your own notes; get an answer only when they hold one.",
        docs_url=None,  # its page loads from a CDN
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[
            Depends(HTTPBearer(auto_error=False, description="A token that `brainkit serve` prints.")),
            Depends(_no_other_parameters),
        ],
    )
    app.add_exception_handler(BrainkitError, _brain_problem)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    app.add_exception_handler(StarletteHTTPException, _http_problem)
    app.add_exception_handler(Exception, _our_fault)
    _asking(app, brain)
    _reading(app, brain)
    _owning(app, brain)
    for path, name in {"/": "page.html", "/page.js": "page.js", "/page.css": "page.css"}.items():
        app.add_route(path, _page(name), include_in_schema=False)
    return Guard(app, tokens)


def _asking(app: FastAPI, brain: Brain) -> None:
    events: dict[int | str, dict[str, Any]] = {
        200: {"description": _EVENTS, "content": {"text/event-stream": {"itemSchema": EVENT_SCHEMA}}}
    }

    @app.post(
        "/api/chat",
        response_class=Response,
        responses=events | _problems(413, 415),
        summary="Answer a question from the notes, or say that they hold no answer.",
    )
    async def chat(asked: models.Question) -> Response:
        history = [(turn.role, turn.text) for turn in asked.history]
        return EventStream(brain.stream(asked.question, history), details=asked.details)

    @app.get("/api/suggestions", responses=_problems(), summary="Questions the notes can answer.")
    def suggestions() -> models.Suggestions:
        return models.Suggestions(suggestions=list(brain.suggestions()))


def _reading(app: FastAPI, brain: Brain) -> None:
    @app.get("/api/health", responses=_problems(), summary="Whether the server and its database are there.")
    def health() -> models.Health:
        counts, versions = brain.counts(), brain.versions()
        return models.Health(
            version=__version__,
            database=versions["postgresql"],
            documents=counts["documents"],
            model=brain.llm.model if brain.llm else "",
        )

    @app.get("/api/documents/content", responses=_problems(404), summary="One document with its whole text.")
    def content(source: Name, path: Name) -> models.Document:
        try:
            title, text = brain.document_text(source, path)
        except UsageError as error:  # files are never looked for: what is not in the brain is not there
            raise HTTPException(404, str(error)) from None
        return models.Document(source=source, path=path, title=title, content=text)


def _owning(app: FastAPI, brain: Brain) -> None:
    @app.get(
        "/api/docs",
        dependencies=_ADMIN,
        responses=_problems(),
        summary="Catalogue of sources and documents; for the admin token.",
    )
    def docs(
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0, limit: Annotated[int, Query(ge=0, le=MOST_ROWS)] = 1_000
    ) -> models.Catalogue:
        sources = [models.SourceRow(**row._asdict()) for row in brain.source_counts()]
        rows = [models.DocumentRow(**row._asdict()) for row in brain.catalogue(limit, offset)]
        return models.Catalogue(sources=sources, documents=rows)

    def steering() -> models.Steering:
        text = brain.steering.read()
        return models.Steering(text=text, budget=brain.steering.most, cut=len(text) > brain.steering.most)

    @app.get("/api/steering", dependencies=_ADMIN, responses=_problems(), summary="The owner's own words to the model.")
    def read_steering() -> models.Steering:
        return steering()

    @app.put(
        "/api/steering",
        dependencies=_ADMIN,
        responses=_problems(413, 415),
        summary="Replace them; secrets are taken out.",
    )
    def write_steering(given: models.Steered) -> models.Steering:
        brain.steering.write(given.text)
        return steering()


def _page(name: str) -> Callable[[Request], Awaitable[Response]]:
    content = resources.files("brainkit.interfaces.http").joinpath(name).read_bytes()

    async def page(_: Request) -> Response:
        return Response(content, media_type=_KINDS[name])

    return page


def _problem(status: int, detail: str, headers: Any = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)


def _brain_problem(_: Request, error: Exception) -> Response:
    return _problem(422 if isinstance(error, UsageError) else 503, str(error))


def _http_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    return _problem(error.status_code, str(error.detail), error.headers)


def _wrong_request(_: Request, error: Exception) -> Response:
    """The first fault in words; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"] if part not in {"body", "query"})
    return _problem(422, f"{where or 'body'}: {fault['msg']}")


def _our_fault(_: Request, __: Exception) -> Response:
    return _problem(500, "something went wrong inside brainkit: its own output says what")
