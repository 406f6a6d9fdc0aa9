"""Pages on a PostgreSQL database that goes away, is cut off, or is full: 503 meanwhile, and nothing kept is lost."""

import pytest

from adaptive.cli import run
from adaptive.serve import PostgresStore, StoreError, answers_of, application, sessions_of
from adaptive.serve.stores.log import StoredLog
from adaptive.serve.stores.postgres import without_password

FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION full_disk();
"""


@pytest.fixture
def asked(portal, postgres, survey, tmp_path):
    """A person at the third question of a test, their store, and its address."""
    from tests.serve.conftest import Browser

    address = postgres.new()
    store = PostgresStore(address, tmp_path)
    app = application(survey(), store, rate=1e6)
    anna = Browser(portal, app)
    anna.begin()
    for given in (0, 2):
        anna.answer(given)
    yield anna, store, address
    store.close()


def goes_on(anna, store, offline, before):
    """She is at the question she was at, and answers it."""
    assert anna.get().text == before.text
    anna.answer(1)
    twin = offline(1, [0, 2, 1])
    assert anna.question == f"Item {twin.ask().labels[0][1:]}?"
    assert [one["answer"] for one in answers_of(store, 1)] == [1, 3, 2]


def test_a_database_that_is_away(asked, postgres, offline):
    anna, store, _ = asked
    before = anna.page
    postgres.stop()
    try:
        form = anna.form("/answer")
        said = anna.post("/answer", {**form, "answer": "1"})
        assert said.status_code == 503 and "Your last answer could not be kept" in said.text
        assert anna.get().status_code == 503 and "The store does not answer" in anna.page.text
    finally:
        postgres.start()
    import time

    time.sleep(0.3)
    goes_on(anna, store, offline, before)


def test_a_connection_that_is_cut_within_a_transaction(asked, postgres, offline, monkeypatch):
    anna, store, _ = asked
    before, form, insert = anna.page, anna.form("/answer"), StoredLog._insert

    def cut(self, lines, first):
        with self.store.transaction():
            insert(self, lines, first)
            postgres.cut()  # before the commit

    monkeypatch.setattr(StoredLog, "_insert", cut)
    assert anna.post("/answer", {**form, "answer": "1"}).status_code == 503
    monkeypatch.undo()
    assert len(answers_of(store, 1)) == 2
    goes_on(anna, store, offline, before)


def test_a_connection_that_was_cut_is_opened_again_without_a_word(asked, postgres, offline):
    anna, store, _ = asked
    postgres.cut()
    goes_on(anna, store, offline, anna.page)


def test_a_disk_that_is_full(asked, offline):
    import psycopg

    anna, store, address = asked
    before, form = anna.page, anna.form("/answer")
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute(FULL)
        assert anna.post("/answer", {**form, "answer": "1"}).status_code == 503
        owner.execute("DROP TRIGGER full_disk ON events")
    goes_on(anna, store, offline, before)


def test_what_is_exported_and_forgotten(asked, tmp_path, capsys):
    anna, store, address = asked
    assert run(["export", address, "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/answers.csv").read_text().count("\n") == 3
    assert "key" not in (tmp_path / "out/export.json").read_text()
    assert run(["export", address, "--backup", str(tmp_path / "copy")]) == 2
    assert "pg_dump" in capsys.readouterr().err
    assert run(["forget", address, "1"]) == 0
    assert sessions_of(store) == [] and answers_of(store, 1) == []
    capsys.readouterr()


def test_an_address_at_fault_is_said_without_its_password(postgres):
    with pytest.raises(StoreError, match=r"^database n at 127.0.0.1 cannot be reached: ") as problem:
        PostgresStore("postgresql://ann:secret@127.0.0.1:1/n")
    assert "secret" not in str(problem.value)
    with pytest.raises(StoreError, match="is not the address of a database") as problem:
        PostgresStore("postgresql://ann:secret@host/n?colour=red")
    assert "secret" not in str(problem.value)
    assert without_password("postgresql://host/n") == "postgresql://host/n"
    store = PostgresStore(postgres.new())
    store.set_fact("title", "one")
    with pytest.raises(StoreError, match="holds the answers to something else"):
        store.fact("title", "two")
    with store.transaction() as run_:
        run_("UPDATE facts SET value = '9' WHERE name = 'schema'")
    with pytest.raises(StoreError, match="is of version 9; this program reads up to 1"):
        PostgresStore(store.address)
    store.close()
