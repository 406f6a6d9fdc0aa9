"""Many browsers at once, without a browser: each begins, reads, thinks, answers; how long the server took is kept."""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import threading
import time
from collections.abc import Callable

import httpx

from experiments.serve.shared.process import form_of

__all__ = ["Crowd", "memory"]

ANSWERS = re.compile(r'name="answer" value="(\d+)"')


def memory(process: int) -> float:
    """Return the resident memory of a process and those that it began, in MB."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True)
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    return sum(rss for pid, parent, rss in rows if process in (pid, parent)) / 1024


class Crowd:
    """People who answer at once.

    Parameters
    ----------
    url : str
    n : int
    think : callable(rng) -> float
        Seconds between a page and its answer.
    seed : int
    verify : str or bool, default True
        As httpx takes it.

    Attributes
    ----------
    posts, pages : list of float
        Seconds of each answer until it was acknowledged, and of each page.
    acknowledged : int
        Answers that were kept.
    faults : int
        Answers and pages that did not come as they should.
    """

    def __init__(
        self, url: str, n: int, think: Callable[[random.Random], float], *, seed: int = 0, verify: bool = True
    ) -> None:
        self.url, self.n, self.think, self.seed, self.verify = url, n, think, seed, verify
        self.posts: list[float] = []
        self.pages: list[float] = []
        self.acknowledged = self.faults = 0
        self._left = threading.Event()

    def leave(self) -> None:
        """Answer no further page."""
        self._left.set()

    def run(self, seconds: float) -> None:
        """Answer for so long, or until nothing is asked any more, or all are to leave."""
        asyncio.run(self._run(seconds))

    async def _run(self, seconds: float) -> None:
        await asyncio.gather(*(self._person(k, time.monotonic() + seconds) for k in range(self.n)))

    async def _person(self, number: int, end: float) -> None:
        rng = random.Random(1000 * self.seed + number)
        await asyncio.sleep(rng.random() * 3.0)  # not all at the same instant
        async with httpx.AsyncClient(base_url=self.url, timeout=30, verify=self.verify, trust_env=False) as client:
            page = await client.get("/")
            await client.post("/start", data=form_of(page.text, "/start"))
            while time.monotonic() < end and not self._left.is_set():
                try:
                    if not await self._one(client, rng):
                        return
                except httpx.HTTPError:  # the server was killed
                    self.faults += 1
                    await asyncio.sleep(0.2)

    async def _one(self, client: httpx.AsyncClient, rng: random.Random) -> bool:
        """Read a page and answer it; return whether there was something to answer."""
        begun = time.monotonic()
        page = await client.get("/")
        self.pages.append(time.monotonic() - begun)
        if page.status_code != 200:
            self.faults += 1
            await asyncio.sleep(0.2)
            return True
        form, choices = form_of(page.text, "/answer"), ANSWERS.findall(page.text)
        if not form or not choices:
            return False
        await asyncio.sleep(self.think(rng))
        begun = time.monotonic()
        said = await client.post("/answer", data={**form, "answer": rng.choice(choices)})
        self.posts.append(time.monotonic() - begun)
        if said.status_code == 303:
            self.acknowledged += 1
        else:
            self.faults += 1
        return True
