"""kill -9 while five people answer: no acknowledged answer lost, none doubled, each at the question they were at."""

import http.client
import random
import threading
import time

from adaptive.cli.serve.tests import survey
from adaptive.loop import SequentialDesign
from adaptive.serve import Store, answers_of
from experiments.serve.shared.process import Server, Visitor

N_PEOPLE, N_ITEMS = 5, 100


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
