"""kill -9 while people answer: no acknowledged answer lost, none doubled, each at the question they were at.

``killed`` ends a server with one process and begins it anew; ``killed_workers`` ends one of two processes behind one
address, on any store, and another one takes its place.
"""

import http.client
import os
import random
import signal
import threading
import time

from adaptive.cli.serve.tests import survey
from adaptive.loop import SequentialDesign
from adaptive.loop.log.event_log import parsed
from adaptive.serve import Store, answers_of, open_store
from adaptive.serve.designer import Stock
from experiments.serve.shared.crowd import Crowd
from experiments.serve.shared.process import Server, Visitor

N_PEOPLE, N_ITEMS = 5, 100
READY = 10.0  # seconds until a process of a server has begun


def questionnaire(path, n_items=N_ITEMS):
    items = "".join(f'[[items]]\ntext = "Item {k}?"\n' for k in range(1, n_items + 1))
    path.write_text(f'title = "A test"\nanswers = ["never", "sometimes", "often"]\n{items}')
    return path


class Person(Visitor):
    """Answers as fast as one can until the server is gone."""

    def __init__(self, number):
        super().__init__()
        self.number, self.sent, self.acknowledged = number, [], 0

    def run(self, url):
        try:
            self.send(url)
            while self.question:
                given = (self.number + len(self.sent)) % 3
                self.sent.append((self.question, given))
                self.answer(url, given)
                self.acknowledged = len(self.sent)  # the next page came, so it was kept
        except (OSError, http.client.HTTPException):
            return  # the server was killed


class Patient(Person):
    """Answers on, whatever becomes of the server: after a fault they look where they are."""

    def __init__(self, number):
        super().__init__(number)
        self.ended = threading.Event()

    def run(self, url):
        while not self.ended.is_set():
            try:
                self.send(url)
                while self.question and not self.ended.is_set():
                    asked, given = self.question, (self.number + self.acknowledged) % 3
                    self.sent.append((asked, given))
                    self.answer(url, given)
                    self.acknowledged += 1
                if not self.question:
                    return
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)  # 503, or the connection was cut: the answer may have been kept, or not


def killed_workers(tmp_path, place, n_kills, seed, n_people=8, n_items=30):
    """Kill one of two workers so often while people answer; return how many answers were kept in the end."""
    file = questionnaire(tmp_path / "test.toml", n_items)
    rng, source = random.Random(seed), survey(file, None, 0)
    people = [Patient(number) for number in range(1, n_people + 1)]
    with Server(file, "--store", place, "--workers", 2) as server:
        for person in people:
            person.begin(server.url)
        threads = [threading.Thread(target=person.run, args=(server.url,)) for person in people]
        for thread in threads:
            thread.start()
        for _ in range(n_kills):
            wanted = sum(person.acknowledged for person in people) + n_people
            while sum(one.acknowledged for one in people) < wanted and any(thread.is_alive() for thread in threads):
                time.sleep(0.01)
            time.sleep(rng.uniform(0.0, 0.5))
            os.kill(rng.choice(server.workers()), signal.SIGKILL)
        for person in people:
            person.ended.set()
        for thread in threads:
            thread.join(timeout=60)
        server.kill(signal.SIGINT)
    with open_store(place, folder=tmp_path) as store:
        for person in people:
            kept, sent = kept_of(store, person), [*person.sent]
            assert len(kept) >= person.acknowledged, "an acknowledged answer was lost"
            for one in kept:  # each was sent, in this order; what was sent when a worker died may be missing
                while sent and sent[0] != one:
                    sent.pop(0)
                assert sent, "an answer was changed or doubled, or is another's"
                sent.pop(0)
            assert [question for question, _ in kept] == uninterrupted(source, person.number, kept)[0]
        return sum(len(kept_of(store, person)) for person in people)


def killed_choosers(tmp_path, place, n_people=6):
    """Kill both workers of a pool, one after the other, while people label; return events of the log by kind.

    One of the two chooses: after each kill rows come out of the stock again within five seconds.
    """
    rows = "".join(f"{k},{k * 7 % 31},{k * 11 % 17}\n" for k in range(600))
    (tmp_path / "rows.csv").write_text("number,a,b\n" + rows)
    command = ("--label", tmp_path / "rows.csv", "--classes", "no,yes", "--features", "a,b", "--store", place)
    waits = []
    with Server(*command, "--workers", 2) as server:
        crowd = Crowd(server.url, n_people, lambda rng: rng.uniform(0.05, 0.3))
        labelling = threading.Thread(target=crowd.run, args=(300.0,))
        labelling.start()
        with open_store(place, folder=tmp_path, write=False) as store:
            for worker in server.workers():
                until_ready = time.monotonic() + READY  # what was begun in place of the last one reads its table
                while waits and time.monotonic() < until_ready:
                    time.sleep(0.1)
                wanted = crowd.acknowledged + 2 * n_people
                while crowd.acknowledged < wanted:
                    assert labelling.is_alive(), "nobody answers any more"
                    time.sleep(0.02)
                os.kill(worker, signal.SIGKILL)
                killed_at, before = time.monotonic(), _learnt(store)
                while _learnt(store) <= before:
                    assert time.monotonic() < killed_at + 120, "nobody chooses any more"
                    time.sleep(0.02)
                waits.append(time.monotonic() - killed_at)
        crowd.leave()
        server.kill(signal.SIGINT)
        labelling.join(timeout=60)
    with open_store(place, folder=tmp_path) as store:
        events = parsed(store.log(0).storage.read(), "")[1]
        assert len(answers_of(store, 0)) >= crowd.acknowledged, "an acknowledged answer was lost"
    asked = [event["positions"][0] for event in events if event["event"] == "ask"]
    assert len(asked) == len(set(asked)), "two people were given one row"
    return {"events": events, "waits": waits}


def _learnt(store):
    """Return how many events whoever chooses has learnt."""
    return Stock(store, 0).read()["n_events"]


def kept_of(store, person):
    return [(f"Item {one['item']}?", one["answer"] - 1) for one in answers_of(store, person.number)]


def wait_for_answers(people, threads):
    """Until more new answers were acknowledged than there are people, or nobody is left to give one."""
    wanted = sum(person.acknowledged for person in people) + len(people) + 1
    while sum(person.acknowledged for person in people) < wanted and any(thread.is_alive() for thread in threads):
        time.sleep(0.01)


def uninterrupted(source, session, answers):
    """A run of the same seed that nobody stopped, told the same; and the questions that it asked."""
    ids = [item.id for item in source.items]
    design = SequentialDesign(source.person, ids, stop=source.stop, random_state=source.seed_of(session))
    asked = []
    for _, given in answers:
        query = design.ask()
        asked.append(f"Item {query.labels[0]}?")
        design.tell(query, [given + 1])
    return asked, design


def killed(tmp_path, n_kills, seed):
    """Kill the server so often; return how many answers were kept in the end."""
    file, folder = questionnaire(tmp_path / "test.toml"), tmp_path / "store"
    rng, source = random.Random(seed), survey(file, None, 0)
    people = [Person(number) for number in range(1, N_PEOPLE + 1)]
    for turn in range(n_kills):
        with Server(file, "--store", folder) as server:  # a free port each time: another may have taken the last one
            for person in people if turn == 0 else []:
                person.begin(server.url)
            threads = [threading.Thread(target=person.run, args=(server.url,)) for person in people]
            for thread in threads:
                thread.start()
            wait_for_answers(people, threads)  # however slow the machine is
            time.sleep(rng.uniform(0.0, 0.7))
            server.kill()
            for thread in threads:
                thread.join(timeout=30)
        with Store(folder) as store:
            for person in people:
                kept = kept_of(store, person)
                assert person.acknowledged <= len(kept) <= len(person.sent), "an acknowledged answer was lost"
                assert kept == person.sent[: len(kept)], "an answer was changed or doubled"
                person.sent, person.acknowledged = kept, len(kept)
                asked, twin = uninterrupted(source, person.number, kept)
                assert asked == [question for question, _ in kept]
                again = source.design(person.number, store.log(person.number), begun=True)
                assert again.estimator_.mean.tobytes() == twin.estimator_.mean.tobytes()
                if len(kept) < N_ITEMS:  # each is at the question of the run that nobody stopped
                    assert again.ask().labels == twin.ask().labels
    return sum(len(person.sent) for person in people)
