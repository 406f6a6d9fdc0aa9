"""A browser without a window, for the protocol: cookies, forms as they stand in the page, redirects."""

import html
import random
import re
import secrets

import anyio.from_thread
import httpx
import numpy as np
import pytest

from adaptive.estimators import BayesianLogisticRegression, Questionnaire
from adaptive.loop import MaxSteps, SequentialDesign
from adaptive.serve import Pool, PostgresStore, Shown, Store, Survey, SurveyItem, application
from experiments.serve.shared.postgres import programs, server

HOST = "http://localhost:8000"
N_ITEMS, N_QUESTIONS = 12, 6
WORDS = ("never", "sometimes", "often")
ROWS = np.random.default_rng(2).normal(size=(30, 3))


class Browser:
    """One person's browser."""

    def __init__(self, portal, app):
        self.portal = portal
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url=HOST, follow_redirects=True
        )

    def get(self, path="/", **more):
        self.page = self.portal.call(lambda: self.client.get(path, **more))
        return self.page

    def post(self, path, data=None, **more):
        self.page = self.portal.call(lambda: self.client.post(path, data=data, **more))
        return self.page

    def form(self, action, page=None):
        """What the first form of this page sends to ``action``."""
        text = (page or self.page).text
        for inside in re.findall(rf'action="{action}"[^>]*>(.*?)</form>', text, re.S):
            return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', inside))
        return None

    def begin(self, name=""):
        self.get()
        return self.post("/start", {**self.form("/start"), "name": name})

    def answer(self, given):
        return self.post("/answer", {**self.form("/answer"), "answer": str(given)})

    def retract(self):
        return self.post("/retract", self.form("/retract"))

    @property
    def question(self):
        """The text that is asked; None at the end."""
        found = re.search(r'id="question">(.*?)</div>', self.page.text, re.S)
        return None if found is None else html.unescape(re.sub(r"<[^>]*>", "", found.group(1))).strip()


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Keys and secrets are the same in every run: what of a signature one changes is chosen, and not drawn."""
    drawn = random.Random(0)
    monkeypatch.setattr(secrets, "token_bytes", drawn.randbytes)
    monkeypatch.setattr(secrets, "token_hex", lambda n: drawn.randbytes(n).hex())


@pytest.fixture(scope="session")
def portal():
    with anyio.from_thread.start_blocking_portal() as found:
        yield found


class Serving:
    """Serves sources on stores; stops what it began."""

    def __init__(self, portal, folder):
        self.portal, self.folder, self.begun = portal, folder, []

    def __call__(self, source, folder=None, **options):
        store = Store(folder or self.folder / "store")
        app = application(source, store, **{"rate": 1e6, **options})
        running = self.portal.wrap_async_context_manager(app.app.router.lifespan_context(app.app))
        running.__enter__()
        self.begun.append((running, store))
        return lambda: Browser(self.portal, app), store

    def stop(self):
        for running, store in self.begun:
            running.__exit__(None, None, None)
            store.close()
        self.begun.clear()


@pytest.fixture
def opened(portal, tmp_path):
    """Serve a source on a store; returns (browser maker, store)."""
    serving = Serving(portal, tmp_path)
    yield serving
    serving.stop()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this process of the tests."""
    if programs() is None:
        pytest.skip("no PostgreSQL: no server is installed")
    with server() as running:
        yield running


@pytest.fixture(params=["a folder", "a database"])
def place(request, tmp_path):
    """Where a store is: opened any number of times, as by the processes of one server."""
    if request.param == "a folder":
        return lambda: Store(tmp_path / "shared", shared=True)
    address = request.getfixturevalue("postgres").new()
    return lambda: PostgresStore(address, tmp_path / "beside")


@pytest.fixture(scope="session")
def person():
    return Questionnaire.from_prior([f"i{k}" for k in range(N_ITEMS)], (1, 2, 3)).respondent()


@pytest.fixture
def survey(person):
    def build(**more):
        items = [SurveyItem(f"i{k}", f"Item {k}?", WORDS, (1, 2, 3)) for k in range(N_ITEMS)]
        return Survey(**{"title": "A test", "items": items, "person": person, "stop": MaxSteps(N_QUESTIONS)} | more)

    return build


@pytest.fixture
def offline(survey):
    """The design of a session without any page: what it asks, and what it knows in the end."""

    def run(session, answers):
        source = survey()
        ids = [item.id for item in source.items]
        design = SequentialDesign(source.person, ids, stop=source.stop, random_state=source.seed_of(session))
        for answer in answers:
            query = design.ask()
            if answer == "skip":
                design.skip(query)
            else:
                design.tell(query, [1 + answer])
        return design

    return run


@pytest.fixture
def pool():
    def build(*, repeat=False, stop=None, seed=0, **more):
        def begin(log, begun):
            model = BayesianLogisticRegression(classes=["no", "yes"], hyperparameters="mode")
            options = {"stop": stop} if begun else {"stop": stop, "random_state": seed, "repeat": repeat, "initial": 2}
            return (
                SequentialDesign.load(log, model, ROWS, **options)
                if begun
                else SequentialDesign(model, ROWS, log=log, **options)
            )

        def shown(position):
            return Shown.of_text(f"row {position}")

        return Pool(**{"title": "Rows", "begin": begin, "classes": ["no", "yes"], "shown": shown} | more)

    return build


def truth(question):
    """Which class a row has: 1 for yes."""
    return int(ROWS[int(question.split()[1]), 0] > 0)
