"""A Label Studio in memory, behind a transport or as a server; ``label_studio_exchange.json`` is of a real one."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from adaptive.labelling import LabelStudio

PAGE = {
    "title": "Reviews",
    "label_config": '<View><Text name="item" value="$text"/><Choices name="label" toName="item"/></View>',
    "maximum_annotations": 1,
    "parsed_label_config": {
        "label": {
            "type": "Choices",
            "to_name": ["item"],
            "labels": ["no", "yes"],
            "inputs": [{"type": "Text", "value": "text"}],
        }
    },
}


class Studio:
    """Tasks, annotations and predictions as Label Studio's interface shows them, in memory."""

    def __init__(self, n=6, **page):
        self.page = PAGE | page
        self.tasks = {k: {"text": str(k)} for k in range(1, n + 1)}
        self.annotations, self.predictions, self.settings = {}, {}, {}
        self.changed = dict.fromkeys(self.tasks, 0)
        self.clock, self.fault, self.requests, self.users = 0, None, [], []
        self.webhooks = {}

    def label(self, task, who, label=None):
        """Label or skip a task, or say otherwise."""
        choice = {"type": "choices", "from_name": "label", "value": {"choices": [label]}}
        self.clock += 1
        listed = self.annotations.setdefault(task, [])
        listed[:] = [one for one in listed if one["completed_by"] != who]
        said = {"completed_by": who, "was_cancelled": label is None, "result": [choice] if label else []}
        listed.append(said | {"updated_at": self._time(self.clock)})
        self.changed[task] = self.clock

    def delete(self, task, who):
        self.clock += 1
        self.annotations[task] = [one for one in self.annotations[task] if one["completed_by"] != who]
        self.changed[task] = self.clock

    def __call__(self, request):
        self.requests.append((request.method, request.url.path))
        if self.fault is not None:
            return self.fault(request)
        return httpx.Response(200, json=self._answer(request.method, request.url.path, request))

    def _answer(self, method, path, request):
        if path == "/api/projects/3" and method == "PATCH":
            self.settings |= json.loads(request.content)
        if path == "/api/projects/3":
            return self.page
        if path == "/api/tasks":
            order = sorted(self.tasks, key=lambda task: (-self.changed[task], task))
            listed = [
                {"id": k, "data": self.tasks[k], "annotations": self.annotations.get(k, []),
                 "updated_at": self._time(self.changed[k])} for k in order
            ]  # fmt: skip
            count = sum(not one["was_cancelled"] for of in self.annotations.values() for one in of)
            start, size = (int(request.url.params["page"]) - 1), int(request.url.params["page_size"])
            return {"tasks": listed[start * size :][:size], "total": len(listed), "total_annotations": count}
        if path == "/api/webhooks/":
            self.webhooks[len(self.requests)] = json.loads(request.content)["url"]
            return {"id": len(self.requests)}
        if path.startswith("/api/webhooks/"):
            return self.webhooks.pop(int(path.split("/")[3]))
        if path == "/api/users/":
            return self.users
        if path.endswith("/export"):
            return [{"id": k, "data": self.tasks[k], "annotations": of} for k, of in self.annotations.items() if of]
        if path == "/api/predictions" and method == "POST":
            sent = json.loads(request.content)
            self.predictions[len(self.requests)] = sent["task"], sent["model_version"]
            return {"id": len(self.requests)}
        if path == "/api/predictions":
            return [{"id": k, "task": t, "model_version": v} for k, (t, v) in self.predictions.items()]
        if method == "DELETE":
            del self.predictions[int(path.rsplit("/", 1)[1])]
        return {}

    @staticmethod
    def _time(seconds):
        return f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}.000000Z"

    def client(self, token="secret", **options):
        return LabelStudio("http://studio.example.org", 3, token, transport=httpx.MockTransport(self), **options)

    def looks(self):
        return [one for one in self.requests if one == ("GET", "/api/tasks")]

    def shown(self):
        return {task for task, version in self.predictions.values() if version == "adaptive"}

    @contextmanager
    def served(self, port=0):
        """Yield the address at which it can be reached meanwhile: of any free port, or of one."""
        studio = self

        class Handler(BaseHTTPRequestHandler):
            def _any(self):
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                answer = studio(httpx.Request(self.command, f"http://here{self.path}", content=sent))
                self.send_response(answer.status_code)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST = do_PATCH = do_DELETE = _any

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
