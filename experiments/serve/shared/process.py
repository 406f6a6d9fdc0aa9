"""``adaptive serve`` as a process, and people who answer it over the network."""

from __future__ import annotations

import http.cookiejar
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy the environment names


def free_port() -> int:
    """Return a port of this machine that is free."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def form_of(text: str, action: str) -> dict[str, str] | None:
    """Return what the first form of a page sends to ``action``, answers left out; None where there is no such form."""
    inside = re.search(rf'action="{action}"[^>]*>(.*?)</form>', text, re.S)
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', inside.group(1))) if inside else None


class Server:
    """A server on a free port; killed at the end of the block."""

    def __init__(self, *arguments, port=0):
        self.port = port
        self.command = [sys.executable, "-m", "adaptive.cli", "serve", *map(str, arguments), "--port", str(port)]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        line = self.process.stdout.readline()
        found = re.search(r"http://[^/]+:(\d+)", line)  # behind a proxy it says the proxy's address
        assert found or "https://" in line, line + self.process.stdout.read()
        self.port = int(found.group(1)) if found else self.port
        self.url = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                DIRECT.open(self.url, timeout=30).read()
                return self
            except OSError:
                time.sleep(0.01)
        raise AssertionError("the server does not answer")

    def workers(self):
        """The processes that it has begun."""
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [int(line) for line in listed.stdout.split()]

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(timeout=30)
        return self.process.stdout.read()

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.kill()
        self.process.stdout.close()


class Visitor:
    """A person's browser over HTTP; keeps the cookie through a restart of the server."""

    def __init__(self):
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), urllib.request.ProxyHandler({})
        )
        self.text = ""

    def send(self, url, form=None):
        data = None if form is None else urllib.parse.urlencode(form).encode()
        with self.opener.open(url, data, timeout=30) as page:
            self.text = page.read().decode()

    def form(self, action):
        return form_of(self.text, action)

    def begin(self, url):
        self.send(url)
        self.send(url + "/start", self.form("/start"))

    def answer(self, url, given):
        self.send(url + "/answer", {**self.form("/answer"), "answer": str(given)})

    @property
    def question(self):
        found = re.search(r'id="question">\s*<h2[^>]*>(.*?)</h2>', self.text, re.S)
        return found.group(1) if found else None
