"""A Label Studio of one's own (its package on SQLite, in its locked environment), and people who label in it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx

from experiments.benchmarks.peers.environments import python_of
from experiments.serve.shared.process import free_port

OWNER, WORD = "owner@example.org", "a-word-for-trials"
PAGE = (
    '<View><Text name="item" value="$text"/><Choices name="label" toName="item">'
    '<Choice value="no"/><Choice value="yes"/></Choices></View>'
)


class Server:
    """Label Studio in a folder; started in half a minute, stopped at the end of the ``with`` block."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        own = {"LABEL_STUDIO_BASE_DATA_DIR": str(self.folder), "LATEST_VERSION_CHECK": "false",
               "COLLECT_ANALYTICS": "false", "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": ""}  # fmt: skip
        command = [python_of("label_studio").parent / "label-studio", "start", "--no-browser", "--port", str(self.port),
                   "--internal-host", "127.0.0.1", "--username", OWNER, "--password", WORD]  # fmt: skip
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                list(map(str, command)), env=os.environ | own, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + 180.0
        while time.monotonic() < until:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/health", timeout=5.0).status_code == 200:
                    return
            time.sleep(0.5)
        raise RuntimeError(f"Label Studio did not start; see {self.folder / 'server.log'}.")

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


class Person:
    """Somebody who labels: what a browser does, by the same requests."""

    def __init__(self, server: Server, name: str) -> None:
        owner = name == OWNER
        self._http = httpx.Client(base_url=server.url, timeout=60.0, follow_redirects=True)
        page = "/user/login" if owner else "/user/signup"
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self._http.get(page).text)
        assert found is not None
        form = {"email": name, "password": WORD, "csrfmiddlewaretoken": found[1], "allow_newsletters": "off"}
        self._http.post(page, data=form, headers={"Referer": server.url})
        who = self.ask("GET", "/api/current-user/whoami")
        assert who["email"] == name, who
        self.number = int(who["id"])

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        headers = {"X-CSRFToken": self._http.cookies.get("csrftoken", ""), "Referer": str(self._http.base_url)}
        answer = self._http.request(method, path, json=body, params=query, headers=headers)
        assert not answer.is_error, (method, path, answer.status_code, answer.text[:500])
        return answer.json() if answer.content else None

    def token(self) -> str:
        """A personal access token."""
        return str(self.ask("POST", "/api/token/")["token"])

    def project(self, tasks: list[dict[str, Any]], page: str = PAGE) -> int:
        number = int(self.ask("POST", "/api/projects", {"title": "Words of praise", "label_config": page})["id"])
        self.bring(number, tasks)
        return number

    def bring(self, project: int, tasks: list[dict[str, Any]]) -> None:
        self.ask("POST", f"/api/projects/{project}/import", [{"data": one} for one in tasks])

    def next(self, project: int) -> dict[str, Any]:
        return dict(self.ask("GET", f"/api/projects/{project}/next"))

    def label(self, task: int, label: str) -> int:
        return int(self.ask("POST", f"/api/tasks/{task}/annotations/", _said(label))["id"])

    def skip(self, task: int) -> int:
        body = {"result": [], "was_cancelled": True}
        return int(self.ask("POST", f"/api/tasks/{task}/annotations/", body, was_cancelled=1)["id"])

    def change(self, annotation: int, label: str) -> None:
        self.ask("PATCH", f"/api/annotations/{annotation}/", _said(label))

    def delete(self, annotation: int) -> None:
        self.ask("DELETE", f"/api/annotations/{annotation}/")


def _said(label: str) -> dict[str, Any]:
    choice = {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [label]}}
    return {"result": [choice], "lead_time": 1.0}
