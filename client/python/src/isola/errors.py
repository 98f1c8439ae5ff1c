"""Exceptions of the SDK. The code of an error alone determines its class."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, Mapping, Optional, Type

from ._fields import Fields, MalformedResponse


class IsolaError(Exception):
    """Base class of all exceptions of the SDK. The subclass determines how to react, ``code``
    identifies what happened. A nonzero exit code of a command is never an exception."""

    def __init__(
        self,
        code: str,
        detail: str,
        remedy: str = "",
        *,
        category: Optional[str] = None,
        status: int = 0,
        sandbox: Optional[str] = None,
        request_id: str = "",
        retry_after: Optional[float] = None,
        context: Optional[Mapping[str, str]] = None,
        document: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(f"{detail}; {remedy}" if remedy else detail)
        self.code = code
        """Stable error code, such as ``FILE_NOT_FOUND``."""
        self.detail = detail
        """One sentence that names what failed."""
        self.remedy = remedy
        """What to do next."""
        self.category = category or _category(code, status)
        """Category of the cause: CALLER, RESOURCE, PROVIDER or BUG."""
        self.status = status
        """HTTP status; 0 if there was no response."""
        self.sandbox = sandbox
        """Id of the sandbox that the error concerns."""
        self.request_id = request_id
        """Id of the request in the log of the server; empty if there was no response."""
        self.retry_after = retry_after
        """Seconds after which the server suggests to try again."""
        self.context: Mapping[str, str] = dict(context or {})
        self.document: Mapping[str, Any] = dict(document or {})
        """Complete problem document of the server; empty if there was no response."""

    @property
    def is_retryable(self) -> bool:
        """Whether the same call may be repeated after a pause: it changed nothing, and may succeed
        unchanged."""
        if self.code in ("SERVER_UNREACHABLE", "PROVIDER_UNAVAILABLE", "RESOURCE_LIMIT", "RATE_LIMITED"):
            return True
        return self.code != "SPAWN_FAILED" and self.status in (429, 503)

    @property
    def timestamp(self) -> Optional[datetime]:
        """When the error occurred, on the clock of the server."""
        try:
            fields = Fields(dict(self.document))
            return fields.optional("timestamp", fields.time)
        except MalformedResponse:
            return None  # not an Isola server

    @property
    def command(self) -> Optional[str]:
        """The command that the error concerns."""
        return self._text("command")

    @property
    def exit_code(self) -> Optional[int]:
        """The exit code of ``command``."""
        value = self.document.get("exitCode")
        return value if isinstance(value, int) else None

    @property
    def stderr(self) -> Optional[str]:
        """The end of the standard error of ``command``."""
        return self._text("stderr")

    def _text(self, name: str) -> Optional[str]:
        value = self.document.get(name)
        return value if isinstance(value, str) else None


class InvalidRequest(IsolaError):
    """The request must be changed."""


class Unauthenticated(IsolaError):
    """The request has no valid key."""


class Forbidden(IsolaError):
    """The key does not allow this."""


class NotFound(IsolaError):
    """A resource does not exist."""


class Conflict(IsolaError):
    """The state of a resource does not allow this."""


class Gone(IsolaError):
    """The resource existed and was destroyed."""


class LimitExceeded(IsolaError):
    """A limit of the machine, the sandbox or the account is reached."""


class Unsupported(IsolaError):
    """No provider has the capability, or the named one lacks it."""


class OutcomeUnknown(IsolaError):
    """The call may have been executed. Check its effect before you repeat it."""


class ProviderUnavailable(IsolaError):
    """The server or the backend cannot be reached."""


class DeadlineExceeded(IsolaError):
    """The call exceeded its deadline, or was cancelled."""


class Internal(IsolaError):
    """A defect of Isola, or a response that is not Isola's."""


CODES: Mapping[str, Type[IsolaError]] = {
    "INVALID_REQUEST": InvalidRequest,
    "INVALID_SPEC": InvalidRequest,
    "PATH_OUTSIDE": InvalidRequest,
    "NOT_A_FILE": InvalidRequest,
    "NOT_A_FOLDER": InvalidRequest,
    "IS_A_FOLDER": InvalidRequest,
    "BAD_ARCHIVE": InvalidRequest,
    "PERMISSION_DENIED": InvalidRequest,
    "COMMAND_NOT_FOUND": InvalidRequest,
    "COMMAND_NOT_EXECUTABLE": InvalidRequest,
    "USER_NOT_FOUND": InvalidRequest,
    "INIT_FAILED": InvalidRequest,
    "BUILD_FAILED": InvalidRequest,
    "METHOD_NOT_ALLOWED": InvalidRequest,
    "UNAUTHENTICATED": Unauthenticated,
    "FORBIDDEN": Forbidden,
    "SANDBOX_NOT_FOUND": NotFound,
    "PROVIDER_NOT_FOUND": NotFound,
    "EXECUTION_NOT_FOUND": NotFound,
    "FILE_NOT_FOUND": NotFound,
    "PORT_NOT_OPEN": NotFound,
    "IMAGE_NOT_FOUND": NotFound,
    "SNAPSHOT_NOT_FOUND": NotFound,
    "VOLUME_NOT_FOUND": NotFound,
    "TEMPLATE_NOT_FOUND": NotFound,
    "KEY_NOT_FOUND": NotFound,
    "SECRET_NOT_FOUND": NotFound,
    "ROUTE_NOT_FOUND": NotFound,
    "CONFLICT": Conflict,
    "FILE_EXISTS": Conflict,
    "FOLDER_NOT_EMPTY": Conflict,
    "ILLEGAL_STATE": Conflict,
    "UNSAVED_WORK": Conflict,
    "SANDBOX_DESTROYED": Gone,
    "SNAPSHOT_DAMAGED": Gone,
    "RESOURCE_LIMIT": LimitExceeded,
    "RATE_LIMITED": LimitExceeded,
    "DISK_FULL": LimitExceeded,
    "NOT_IMPLEMENTED": Unsupported,
    "OUTCOME_UNKNOWN": OutcomeUnknown,
    "PROVIDER_UNAVAILABLE": ProviderUnavailable,
    "SPAWN_FAILED": ProviderUnavailable,
    "SERVER_UNREACHABLE": ProviderUnavailable,
    "EXEC_TIMEOUT": DeadlineExceeded,
    "DEADLINE_EXCEEDED": DeadlineExceeded,
    "CANCELLED": DeadlineExceeded,
    "EXECUTION_FAILED": Internal,
    "INTERNAL": Internal,
}
"""The class of each error code."""

_STATUSES: Mapping[int, Type[IsolaError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    429: LimitExceeded,
    501: Unsupported,
    502: OutcomeUnknown,
    503: ProviderUnavailable,
    504: DeadlineExceeded,
    507: LimitExceeded,
}


def _category(code: str, status: int) -> str:
    if code in ("SERVER_UNREACHABLE", "OUTCOME_UNKNOWN", "PROVIDER_UNAVAILABLE") or status in (502, 503):
        return "PROVIDER"
    if code in ("DEADLINE_EXCEEDED", "CANCELLED"):
        return "RESOURCE"
    return "BUG" if code == "INTERNAL" or status >= 500 else "CALLER"


def error_class(code: str, status: int) -> Type[IsolaError]:
    """Returns the class for a code; for an unknown code of a newer server, the status decides."""
    known = CODES.get(code) or _STATUSES.get(status)
    return known or (InvalidRequest if 400 <= status < 500 else Internal)


def client_error(code: str, detail: str, remedy: str = "") -> IsolaError:
    """Returns an error that the client detected, without a readable response of the server."""
    return error_class(code, 0)(code, detail, remedy)


def read_problem(
    document: object, status: int, request_id: str = "", retry_after: Optional[float] = None
) -> Optional[IsolaError]:
    """Reads a problem document. Returns None if it is not one of Isola's."""
    if not isinstance(document, dict) or not isinstance(document.get("code"), str):
        return None
    texts: Dict[str, str] = {key: value for key, value in document.items() if isinstance(value, str)}
    context = document.get("context")
    code = texts["code"]
    return error_class(code, status)(
        code,
        texts.get("detail", code),
        texts.get("remedy", ""),
        category=texts.get("category"),
        status=status,
        sandbox=texts.get("sandbox"),
        request_id=texts.get("requestId", request_id),
        retry_after=retry_after,
        context={key: str(value) for key, value in context.items()} if isinstance(context, dict) else {},
        document=document,
    )


def stream_error(document: Mapping[str, Any]) -> IsolaError:
    """Returns the error of an error event within a stream."""
    code = str(document.get("code", "INTERNAL"))
    temporary = code in ("PROVIDER_UNAVAILABLE", "OUTCOME_UNKNOWN")
    error = read_problem(dict(document, code=code), 503 if temporary else 0)
    assert error is not None
    return error
