"""``adaptive serve --label-studio`` follows until Ctrl-C, goes on where it was, and says in a sentence what fails."""

import csv
import os
import signal
import threading
import time

import httpx
import numpy as np
import pytest

from adaptive.cli import run
from tests.labelling.studio import PAGE, Studio


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token.txt"
    path.write_text("secret\n")
    return path


def reviews(n=12):
    studio = Studio(n)
    studio.tasks = {k: {"text": f"{'good' if k % 2 else 'bad'} word{k % 3}"} for k in studio.tasks}
    return studio


def follow(studio, url, token, *more, meanwhile):
    """Run the command; when it has looked have people do something, when it has looked again press Ctrl-C."""

    def people():
        for do in (meanwhile, lambda: os.kill(os.getpid(), signal.SIGINT)):
            seen, deadline = len(studio.looks()), time.monotonic() + 60.0
            while len(studio.looks()) < seen + 4 and time.monotonic() < deadline:
                time.sleep(0.02)
            do()

    thread = threading.Thread(target=people, daemon=True)
    thread.start()
    code = run(["serve", "--label-studio", url, "--project", "3", "--token-file", str(token), *map(str, more)])
    thread.join()
    return code


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("skills", [0, 2])
def test_answers_are_learnt_and_the_same_command_goes_on(tmp_path, token, capsys, monkeypatch, skills):
    monkeypatch.setattr("adaptive.cli.serve.studio.EVERY", 0.05)
    studio, store = reviews(), tmp_path / "run"
    studio.users = [{"id": 7, "email": "ann@example.org"}]
    more = ["--store", store, *(["--skills", skills] if skills else [])]

    def answers():
        first = sorted(studio.shown())[0]
        studio.label(first, 7, "yes" if first % 2 else "no")

    with studio.served() as url:
        assert not follow(studio, url, token, *more, meanwhile=answers)
        labelled = [row for row in rows(store / "labels.csv") if row["label"]]
        assert [(row["annotator"], len(labelled)) for row in labelled] == [("ann@example.org", 1)]
        assert len(rows(store / "labels.csv")) == 12
        (person,) = rows(store / "people.csv")
        assert person["labels"] == "1" and ("skill" in person) == bool(skills)
        before = studio.shown()
        assert not follow(studio, url, token, *more, meanwhile=lambda: None)
    assert studio.shown() == before  # nothing has changed
    said = capsys.readouterr().out
    assert "1 answer of 1 person" in said and "carry on" in said


def test_a_webhook_has_answers_learnt_at_once(tmp_path, token, monkeypatch):
    monkeypatch.setattr("adaptive.cli.serve.studio.EVERY", 60.0)
    studio, done = reviews(), []

    def people():
        deadline = time.monotonic() + 60.0
        while not studio.webhooks and time.monotonic() < deadline:
            time.sleep(0.02)
        (address,) = studio.webhooks.values()
        while len(studio.shown()) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        first = sorted(studio.shown())[0]
        studio.label(first, 7, "yes")
        before = len(studio.looks())
        done.append(httpx.post(address).status_code)
        while len(studio.looks()) == before and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=people, daemon=True)
    thread.start()
    with studio.served() as url:
        code = run(["serve", "--label-studio", url, "--project", "3", "--token-file", str(token), "--webhook",
                    "--port", "0", "--store", str(tmp_path / "run")])  # fmt: skip
    thread.join()
    assert code == 0 and done == [204] and not studio.webhooks
    assert [row["label"] for row in rows(tmp_path / "run" / "labels.csv") if row["label"]] == ["yes"]


def test_stopping_while_the_server_is_away_still_writes_the_labels(tmp_path, token, capsys, monkeypatch):
    monkeypatch.setattr("adaptive.cli.serve.studio.EVERY", 0.05)
    studio, store = reviews(), tmp_path / "run"

    def answered():
        first = sorted(studio.shown())[0]
        studio.label(first, 7, "yes")
        seen = len(studio.looks())
        while len(studio.looks()) < seen + 3:
            time.sleep(0.02)
        studio.fault = lambda request: httpx.Response(503)

    def people():
        while len(studio.looks()) < 3:
            time.sleep(0.02)
        answered()
        seen = len(studio.requests)
        while len(studio.requests) < seen + 2:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=people, daemon=True)
    thread.start()
    with studio.served() as url:
        code = run(
            ["serve", "--label-studio", url, "--project", "3", "--token-file", str(token), "--store", str(store)]
        )
    thread.join()
    assert code == 0 and "Waiting; nothing is lost" in capsys.readouterr().out
    assert [(row["label"], row["annotator"]) for row in rows(store / "labels.csv") if row["label"]] == [("yes", "7")]


def test_what_is_at_fault_is_one_sentence(tmp_path, token, capsys):
    def said(*arguments):
        code = run(["serve", "--label-studio", *map(str, arguments)])
        error = capsys.readouterr().err.strip()
        assert code == 2 and error.count("\n") == 0 and error.startswith("adaptive: ")
        return error

    assert "needs --project N and --token-file" in said("http://localhost:1")
    assert run(["serve", "test.toml", "--ahead", "5"]) == 2  # in silence it would do nothing
    assert "are about --label-studio" in capsys.readouterr().err
    whole = ("--project", 3, "--token-file", token, "--store", tmp_path / "run")
    assert "does not answer" in said("http://127.0.0.1:1", *whole)
    assert "must begin with http" in said("localhost", *whole)
    assert "its own labels, page and people" in said("http://127.0.0.1:1", *whole, "--classes", "a,b")
    assert "there is no token in" in said("http://127.0.0.1:1", "--project", 3, "--token-file", tmp_path / "absent")
    studio = reviews()
    with studio.served() as url:
        assert "has no text 'words'; its data holds 'text'" in said(url, *whole, "--text", "words")
        np.save(tmp_path / "few.npy", np.ones((3, 2)))
        elsewhere = (*whole[:-1], tmp_path / "other")
        assert "holds 3 vectors and project 3 12 tasks" in said(url, *elsewhere, "--embeddings", tmp_path / "few.npy")
    parsed = {"label": PAGE["parsed_label_config"]["label"] | {"inputs": [{"type": "Image", "value": "picture"}]}}
    with Studio(parsed_label_config=parsed).served() as url:
        assert "shows Image; say what the model is to look at" in said(url, *whole[:-1], tmp_path / "third")
