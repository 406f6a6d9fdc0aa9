"""One project of a running Label Studio, as a client of its REST interface.

GET  tasks, last changed first     what was said since the last look: one page, however many answers there are
GET  export                        everything that was said
POST, DELETE predictions           which tasks are shown next
"""

from __future__ import annotations

import json
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

__all__ = ["Changes", "LabelStudio", "StudioAway", "StudioError"]

PAGE = 500  # tasks of a page
CHANGED, MOST_PAGES = 30, 3  # of those that have changed: several looks' worth; more are no news but an import
ACCESS = 200.0  # seconds after which a personal token is exchanged again; Label Studio's own limit is 300
SAMPLING = "Uncertainty sampling"  # its page does not offer it: tasks with a prediction of the project's version first


class StudioError(RuntimeError):
    """Label Studio refuses something, or is not what is expected; one sentence."""


class StudioAway(StudioError):
    """Label Studio does not answer, or says that it cannot now: worth waiting for."""


@dataclass(frozen=True)
class Changes:
    """Tasks that have changed.

    Attributes
    ----------
    tasks : dict
        The annotations of each such task, by its number.
    latest : str
        The time of the last change, by Label Studio's clock; where the next look begins.
    n_tasks, n_annotations : int
        How many there are in the whole project; skipped ones are no annotations.
    whole : bool
        False where so many have changed, as after an import, that these are only some of them.
    """

    tasks: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    latest: str = ""
    n_tasks: int = 0
    n_annotations: int = 0
    whole: bool = True


class LabelStudio:
    """Tasks, answers and predictions of a project with one control of choices.

    Parameters
    ----------
    url : str
        Of the server, for instance ``"http://localhost:8080"``.
    project : int
        Its number, as in the address of its page.
    token : str
        A personal access token (exchanged again before its 300 s are over), or a legacy one.
    control : str, optional
        The ``name`` of the Choices, where the labelling page has several.
    transport : httpx.BaseTransport, optional
        In place of the network, for tests.

    Attributes
    ----------
    title : str
    classes : list of str
        What may be chosen, in the order of the page.
    control, shown : str
        Names of the Choices and of what they are about.
    column : str or None
        Where a task keeps what is shown; None where that is not one entry of its data.
    kind : str
        Type of what is shown: "Text", "Image", ...
    overlap : int
        How many people Label Studio wants for each task.

    Raises
    ------
    StudioError
        If there is no such project, the token is refused, or the page is not of the kind that is understood.
    StudioAway
        If nobody answers at the address.

    Examples
    --------
    >>> import httpx
    >>> page = '<View><Text name="item" value="$text"/><Choices name="label" toName="item"/></View>'
    >>> found = {"title": "Reviews", "label_config": page, "maximum_annotations": 1, "parsed_label_config": {
    ...     "label": {"type": "Choices", "to_name": ["item"], "labels": ["no", "yes"],
    ...               "inputs": [{"type": "Text", "value": "text"}]}}}
    >>> server = httpx.MockTransport(lambda request: httpx.Response(200, json=found))
    >>> studio = LabelStudio("http://labels.example.org", 3, "secret", transport=server)
    >>> studio.title, studio.classes, studio.column
    ('Reviews', ['no', 'yes'], 'text')
    """

    def __init__(
        self,
        url: str,
        project: int,
        token: str,
        *,
        control: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise StudioError("Label Studio needs httpx: pip install 'adaptive-designs[web]'.") from None
        self.url, self.project, self._token = url.rstrip("/"), project, token.strip()
        if not self.url.startswith(("http://", "https://")):
            raise StudioError(f"the address of Label Studio must begin with http:// or https://, got {url!r}.")
        if not self._token.isascii() or len(self._token.split()) != 1:
            raise StudioError("the token must be one word, as Label Studio shows it under Account & Settings.")
        self._http = httpx.Client(base_url=self.url, timeout=30.0, transport=transport)
        self._exchanged = float("-inf")
        found = self._get(f"/api/projects/{project}")
        self.title = str(found["title"])
        self.overlap = int(found["maximum_annotations"])
        self._understand(found, control)

    def _understand(self, found: dict[str, Any], control: str | None) -> None:
        parsed = found.get("parsed_label_config") or {}
        choices = {name: one for name, one in parsed.items() if one.get("type") == "Choices"}
        named = ", ".join(map(repr, choices)) or "none"
        if control is None and len(choices) != 1:
            raise StudioError(
                f"project {self.project} must have one control of the type Choices, got {named}; name one with control."
            )
        name = next(iter(choices)) if control is None else control
        if name not in choices:
            raise StudioError(f"project {self.project} has no Choices {name!r}; it has {named}.")
        if self._several(found.get("label_config", ""), name):
            raise StudioError(f"the Choices {name!r} let people choose several labels; expected one label a task.")
        one = choices[name]
        inputs = one.get("inputs") or [{}]
        self.control, self.shown = name, str(one["to_name"][0])
        self.classes = [str(label) for label in one["labels"]]
        self.kind = str(inputs[0].get("type") or "")
        self.column = str(inputs[0]["value"]) if inputs[0].get("value") else None
        if len(self.classes) < 2:
            raise StudioError(f"the Choices {name!r} must offer two labels or more, got {len(self.classes)}.")

    @staticmethod
    def _several(config: str, name: str) -> bool:
        try:
            page = ElementTree.fromstring(config)
        except ElementTree.ParseError:
            return False
        return any(one.get("name") == name and one.get("choice") == "multiple" for one in page.iter("Choices"))

    # -- what is asked of the server ----------------------------------------------------------------------------

    def tasks(self) -> dict[int, dict[str, Any]]:
        """Return the data of every task by its number, in the order of numbers, which is that of their import."""
        found: dict[int, dict[str, Any]] = {}
        for page in self._pages(PAGE, "tasks:id", fields="task_only"):
            found |= {int(task["id"]): task["data"] for task in page["tasks"]}
        return dict(sorted(found.items()))

    def annotated(self) -> dict[int, list[dict[str, Any]]]:
        """Return the annotations of each task that has any, skipped ones among them."""
        path = f"/api/projects/{self.project}/export"
        listed = self._get(path, timeout=300.0, exportType="JSON", download_all_tasks="false")
        return {int(task["id"]): [_annotation(one) for one in task["annotations"]] for task in listed}

    def changes(self, since: str) -> Changes:
        """Return what has changed since a time of Label Studio's clock, or just now where none is given."""
        tasks: dict[int, list[dict[str, Any]]] = {}
        latest, n_tasks, n_annotations, whole = since, 0, 0, False
        pages = self._pages(CHANGED, "-tasks:updated_at", fields="all")
        for page in islice(pages, MOST_PAGES):
            n_tasks, n_annotations = int(page["total"]), int(page["total_annotations"])
            for task in page["tasks"]:
                latest = max(latest, task["updated_at"])
                if since <= task["updated_at"]:
                    tasks[int(task["id"])] = [_annotation(one) for one in task["annotations"]]
            if not since or len(page["tasks"]) < CHANGED or page["tasks"][-1]["updated_at"] < since:
                whole = True
                break
        return Changes(tasks, latest, n_tasks, n_annotations, whole)

    def predictions(self, version: str) -> dict[int, list[int]]:
        """Return the numbers of the predictions of a model version, by task."""
        found: dict[int, list[int]] = {}
        for one in self._get("/api/predictions", project=self.project):
            if one["model_version"] == version:
                found.setdefault(int(one["task"]), []).append(int(one["id"]))
        return found

    def predict(self, task: int, version: str, label: str, probability: float) -> int:
        """Give a task a prediction, and return its number."""
        result = {"from_name": self.control, "to_name": self.shown, "type": "choices", "value": {"choices": [label]}}
        body = {"task": task, "model_version": version, "score": probability, "result": [result]}
        return int(self._send("POST", "/api/predictions", body)["id"])

    def withdraw(self, prediction: int) -> None:
        """Take a prediction away."""
        self._send("DELETE", f"/api/predictions/{prediction}", missing=True)

    def prefer(self, version: str, *, show: bool = False) -> None:
        """Have the tasks with predictions of this version shown first; the version must have one already.

        Parameters
        ----------
        version : str
        show : bool, default False
            Whether people see the predicted label; those who do are inclined to agree.
        """
        body = {"sampling": SAMPLING, "model_version": version, "show_collab_predictions": show}
        self._send("PATCH", f"/api/projects/{self.project}", body)

    def set_overlap(self, overlap: int) -> None:
        """Have so many people label each task; StudioError once anybody has labelled, when that misleads the order."""
        if overlap == self.overlap:
            return
        if self.changes("").n_annotations:
            raise StudioError(
                f"project {self.project} has annotations, and asks {self.overlap} of each task; Label Studio shows "
                "tasks that were begun before all others, so an overlap must be set before the first answer."
            )
        self._send("PATCH", f"/api/projects/{self.project}", {"maximum_annotations": overlap})
        self.overlap = overlap

    def people(self) -> dict[str, str]:
        """Return the names of people by their numbers: their addresses, as Label Studio shows them."""
        return {str(one["id"]): str(one.get("email") or one["id"]) for one in self._get("/api/users/")}

    def nudge(self, address: str) -> int:
        """Have changes of annotations announced at an address, and return the number of the webhook."""
        actions = ["ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED", "TASKS_CREATED", "TASKS_DELETED"]
        body = {"url": address, "project": self.project, "send_payload": False, "send_for_all_actions": False,
                "is_active": True, "actions": actions}  # fmt: skip
        return int(self._send("POST", "/api/webhooks/", body)["id"])

    def no_nudge(self, webhook: int) -> None:
        """Take a webhook away."""
        self._send("DELETE", f"/api/webhooks/{webhook}/", missing=True)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    # -- how ----------------------------------------------------------------------------------------------------

    def _pages(self, size: int, ordering: str, **query: Any) -> Iterator[dict[str, Any]]:
        number, seen = 1, 0
        order = json.dumps({"ordering": [ordering]})
        while True:
            page = self._get(
                "/api/tasks", project=self.project, page=number, page_size=size, query=order, **query
            )  # fmt: skip
            yield page
            number, seen = number + 1, seen + len(page["tasks"])
            if not page["tasks"] or seen >= page["total"]:
                return

    def _get(self, path: str, timeout: float = 30.0, **query: Any) -> Any:
        return self._request("GET", path, params=query, timeout=timeout)

    def _send(self, method: str, path: str, body: Any = None, missing: bool = False) -> Any:
        return self._request(method, path, missing=missing, **({} if body is None else {"json": body}))

    def _request(self, method: str, path: str, missing: bool = False, again: bool = True, **what: Any) -> Any:
        """Return what a request is answered with; ``missing``: what is not there need not be taken away."""
        import httpx

        try:
            answer = self._http.request(method, path, headers={"Authorization": self._authorised()}, **what)
        except httpx.TransportError as problem:
            raise StudioAway(f"Label Studio at {self.url} does not answer ({_said(problem)}).") from None
        if answer.status_code == 401 and again and self._personal:
            self._exchanged = float("-inf")  # a server that was started anew, or whose limit is another
            return self._request(method, path, missing, False, **what)
        if answer.status_code >= 500 or answer.status_code in (408, 429):
            raise StudioAway(f"Label Studio at {self.url} answers {answer.status_code} to {method} {path}.")
        if answer.status_code == 404 and missing:
            return None
        if answer.is_error:
            raise StudioError(self._refused(method, path, answer))
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError:
            raise StudioError(
                f"{self.url} is not a Label Studio: it does not answer {method} {path} with JSON."
            ) from None

    def _refused(self, method: str, path: str, answer: httpx.Response) -> str:
        if answer.status_code in (401, 403):
            return (
                f"Label Studio at {self.url} refuses the token (status {answer.status_code}); make a personal access "
                "token under Account & Settings, of somebody who may see the project."
            )
        if answer.status_code == 404 and path == f"/api/projects/{self.project}":
            return f"Label Studio at {self.url} has no project {self.project}, or its token may not see it."
        return f"Label Studio at {self.url} refuses {method} {path} (status {answer.status_code}): {answer.text[:200]}"

    @property
    def _personal(self) -> bool:
        """True where the token is one that is to be exchanged for others that last for minutes."""
        return self._token.count(".") == 2

    def _authorised(self) -> str:
        if not self._personal:
            return f"Token {self._token}"
        if time.monotonic() - self._exchanged > ACCESS:
            answer = self._http.post("/api/token/refresh", json={"refresh": self._token})
            if answer.status_code >= 500:
                raise StudioAway(f"Label Studio at {self.url} answers {answer.status_code} to a token.")
            if answer.is_error:
                raise StudioError(self._refused("POST", "/api/token/refresh", answer))
            self._access, self._exchanged = str(answer.json()["access"]), time.monotonic()
        return f"Bearer {self._access}"


def _annotation(found: dict[str, Any]) -> dict[str, Any]:
    """Return what counts of an annotation, alike from a list of tasks and from an export; a person is a number."""
    by = found.get("completed_by")
    return {
        "completed_by": by.get("id") if isinstance(by, dict) else by,
        "was_cancelled": bool(found.get("was_cancelled")),
        "result": found.get("result"),
        "updated_at": found.get("updated_at"),
    }


def _said(problem: Exception) -> str:
    return str(problem) or type(problem).__name__
