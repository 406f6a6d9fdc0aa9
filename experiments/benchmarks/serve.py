"""The served page: time of a page with 20 people, beside its floor; memory of 1,000 sessions; replay; start.

The floor of a page is what cannot be left out: one transaction with its sync, one score of the bank, one template.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from adaptive import serve
from adaptive.serve import Store
from adaptive.serve.application import application
from adaptive.serve.survey import SurveyDesk
from experiments.equivalence import inside
from experiments.script import Script, command
from experiments.serve.shared.killing import questionnaire
from experiments.serve.shared.process import Server, Visitor
from experiments.statistics import limits

SEED = 0
TEMPLATES = Path(serve.__file__).parent / "templates"
FLOORS = 5  # stores, each with its own floor beside it
PAUSE = (0.2, 0.8)  # seconds that a person looks at a question: few are as fast


def run(script: Script) -> None:
    """All five numbers, each told beside its target."""
    from adaptive.cli.serve.tests import survey

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        file = questionnaire(folder / "test.toml", 100)
        source = survey(file, None, SEED)
        n_people, n_answers = (3, 3) if script.quick else (20, 25)
        paused = crowd(file, folder / "a", n_people, n_answers, PAUSE)
        at_once = crowd(file, folder / "b", n_people, n_answers, (0.0, 0.0))
        p95, p95_at_once = (1e3 * float(np.quantile(times, 0.95)) for times in (paused, at_once))
        script.judge(
            "serve-page-time", p95_at_once <= 100,
            claim="When 20 people answer at once, a page comes within a tenth of a second.",
            target="95th percentile of a page at most 100 ms, 100-item bank, loopback",
            value=f"{p95_at_once:.0f} ms without any pause; {p95:.0f} ms with pauses of {PAUSE[0]} to {PAUSE[1]} s "
            f"({len(paused)} answers, each with the page that it leads to)",
            reason="Without pauses every page waits for the other people's pages, and the people share the machine's "
            "two cores with the server and with other work.", seed=SEED,
        )  # fmt: skip
        pairs = [beside_floor(source, folder / f"c{k}", 10 if script.quick else 90) for k in range(FLOORS)]
        ratios = [page / floor for page, floor in pairs]
        script.judge(
            "serve-page-floor", inside(*limits(np.array(ratios))[1:], most=3),
            claim="A page costs little more than what cannot be left out.",
            target="an answer and the page that it leads to at most 3 times the floor (a transaction with its sync, a "
            "score of the bank, a template), the 95% interval over five stores",
            value={"times the floor": [round(one, 2) for one in ratios],
                   "ms": [round(1e3 * page, 1) for page, _ in pairs],
                   "ms of the floor": [round(1e3 * floor, 1) for _, floor in pairs]}, seed=SEED,
            reason="An answer is two requests and two transactions (the answer; the question that follows), where the "
            "floor has one: learning, signing and Starlette's routing are the rest.",
        )  # fmt: skip
        n_sessions = 20 if script.quick else 1000
        total, grown = memory(source, folder / "d", n_sessions)
        script.judge(
            "serve-memory", total <= 300, claim="1,000 sessions stay open in little memory.",
            target="1,000 open sessions in at most 300 MB (the whole process)",
            value=f"{n_sessions} sessions of 3 answers, as served (200 designs in memory): {total:.0f} MB in all; with "
            f"every design in memory {grown / n_sessions * 1e3:.0f} kB more per session",
            reason="The libraries take most of the process.", seed=SEED,
        )  # fmt: skip
        replay = replayed(source, folder / "e")
        script.judge(
            "serve-replay", replay <= 0.05, claim="A session that left memory is back before anybody notices.",
            target="100 answers replayed in 50 ms", value=f"{1e3 * replay:.0f} ms (median of 15)", seed=SEED,
            reason="Most of the time goes into learning the answers again.",
        )  # fmt: skip
        starts = [start(file, folder / f"f{k}") for k in range(1 if script.quick else 3)]
        started, worked = (statistics.median(times) for times in zip(*starts, strict=True))
        script.judge(
            "serve-start", worked <= 2, claim="The server starts at once.",
            target="from start to first page at most 2 s of the processor, with compiled functions cached",
            value=f"{worked:.2f} s of the processor, {started:.2f} s by the clock of a shared machine; medians of 3",
            reason="Importing SciPy, scikit-learn and pandas is most of it; the machine was shared.", seed=SEED,
        )  # fmt: skip


def crowd(file: Path, folder: Path, n_people: int, n_answers: int, pause: tuple[float, float]) -> list[float]:
    """Seconds of each answer, until the page that it leads to is there, of so many people at once."""
    times: list[float] = []

    def person(visitor: Visitor, url: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(n_answers):
            time.sleep(rng.uniform(*pause))
            begun = time.perf_counter()
            visitor.answer(url, int(rng.integers(3)))
            times.append(time.perf_counter() - begun)  # the form, and the page that it leads to

    with Server(file, "--store", folder) as server:
        people = [Visitor() for _ in range(n_people)]
        for visitor in people:
            visitor.begin(server.url)
        threads = [threading.Thread(target=person, args=(one, server.url, k)) for k, one in enumerate(people)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return times


def beside_floor(source: Any, folder: Path, n_answers: int) -> tuple[float, float]:
    """Median seconds of an answer with the page that it leads to, without a network; and of its floor."""
    import asyncio

    from jinja2 import Environment, FileSystemLoader

    from adaptive.scorers import information_gain
    from adaptive.serve.pages import Place
    from adaptive.serve.rendering import Shown

    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    template = environment.get_template("question.html")
    ids, taken = [item.id for item in source.items], source.person
    place = Place("1.0", Shown.of_text("Item?"), ["never", "sometimes", "often"], 3, 0.1)

    def floor(store: Store, desk: SurveyDesk, k: int) -> None:
        with store.transaction() as insert:
            insert("INSERT INTO events VALUES (9999, ?, 0.0, ?)", (k, b"x" * 200))
        information_gain(taken.predictive(ids), 0)
        template.render(desk=desk, t=desk.texts, place=place, token="x" * 60, back="", note="")

    async def measure(store: Store) -> tuple[float, float]:
        app, desk, visitor = application(source, store, rate=1e6), SurveyDesk(source, store), Visitor()
        cookie = b""

        async def send(method: str, path: str, form: dict[str, str] | None = None) -> None:
            nonlocal cookie
            headers, visitor.text = await asked(app, method, path, urlencode(form or {}).encode(), cookie)
            cookie = headers.get(b"set-cookie", cookie).partition(b";")[0]

        await send("GET", "/")
        await send("POST", "/start", visitor.form("/start"))
        await send("GET", "/")
        whole, floors = [], []
        for k in range(n_answers):
            form = {**visitor.form("/answer"), "answer": str(k % 3)}
            begun = time.perf_counter()
            await send("POST", "/answer", form)
            await send("GET", "/")
            whole.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            floor(store, desk, k)
            floors.append(time.perf_counter() - begun)
        return statistics.median(whole), statistics.median(floors)

    with Store(folder) as store:
        return asyncio.run(measure(store))


async def asked(app: Any, method: str, path: str, body: bytes, cookie: bytes) -> tuple[dict[bytes, bytes], str]:
    """What the application itself sends back: no network, no client's own time."""
    sent: list[dict[str, Any]] = []
    kind = b"application/x-www-form-urlencoded"
    headers = [(b"host", b"localhost"), (b"cookie", cookie), (b"content-type", kind)]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
             "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http", "headers": headers,
             "server": ("localhost", 80), "client": None}  # fmt: skip
    await app(scope, receive, send)
    return dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent).decode()


def memory(source: Any, folder: Path, n_sessions: int) -> tuple[float, float]:
    """MB of this process with so many sessions open as served; and how much they grow with every design in memory."""
    with Store(folder) as store:
        store.rows("PRAGMA synchronous=OFF")  # memory is measured here, not the disk
        desk = SurveyDesk(source, store)
        for session in range(1, n_sessions + 1):
            for _ in range(3):
                desk.answer(session, desk.place(session).number, "1")
        total = _resident()
        everybody = SurveyDesk(source, store, most=n_sessions)
        before = _resident()
        for session in range(1, n_sessions + 1):
            everybody.place(session)
        return total, _resident() - before


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def replayed(source: Any, folder: Path) -> float:
    """Median seconds until a session of 100 answers is back."""
    with Store(folder) as store:
        desk = SurveyDesk(source, store)
        for k in range(99):
            desk.answer(1, desk.place(1).number, str(k % 3))
        desk.answer(1, desk.place(1).number, "1")
        times = []
        for _ in range(15):
            begun = time.perf_counter()
            source.design(1, store.log(1), begun=True)
            times.append(time.perf_counter() - begun)
    return statistics.median(times)


def start(file: Path, folder: Path) -> tuple[float, float]:
    """Seconds from the command to the first page, by the clock and of the processor."""
    begun = time.perf_counter()
    with Server(file, "--store", folder) as server:
        elapsed = time.perf_counter() - begun
        fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
        return elapsed, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    command(run, __doc__, __file__)
