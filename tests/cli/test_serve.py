"""``adaptive serve``: whatever is at fault is one sentence and exit code 2, before anybody comes."""

import socket

import pytest

from adaptive.cli import run
from adaptive.serve import Store

TEST = 'title = "T"\nanswers = ["no", "yes"]\nitems = [{text = "A?"}, {text = "B?"}]\n'


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "test.toml"
    path.write_text(TEST)
    return path


def said(capsys, *arguments):
    code = run(["serve", *map(str, arguments)])
    error = capsys.readouterr().err.strip()
    assert code == 2 and error.count("\n") == 0 and error.startswith("adaptive: ") and "Traceback" not in error
    return error


def test_what_to_serve(capsys, file, tmp_path):
    assert "name one thing to serve" in said(capsys)
    assert "name one thing to serve" in said(capsys, file, "--label", "pool.csv")
    assert "--give-up and --stop are about --label" in said(capsys, file, "--overlap", "2")
    assert "--behind-proxy needs the --name" in said(capsys, file, "--behind-proxy")
    assert "--port must be at most" in said(capsys, file, "--port", "70000")
    assert "cannot be read" in said(capsys, tmp_path / "absent.toml")
    assert "no run to resume" in said(capsys, "--run", tmp_path / "absent")


@pytest.mark.parametrize(
    "text, message",
    [
        ("title = ", "is not TOML"),
        (TEST + '[texts]\nanwser = "x"\n', "'anwser' is not a text of the pages"),
        ('lang = "not a language!"\n' + TEST, "line 1: lang must be a language"),
        ('show_result = "no"\n' + TEST, "line 1: show_result must be true or false"),
    ],
)
def test_a_test_at_fault(capsys, file, text, message):
    file.write_text(text)
    assert message in said(capsys, file)


def test_a_bank_and_a_pool_at_fault(capsys, file, tmp_path):
    (tmp_path / "bank.csv").write_text("item,a\nelsewhere,1\n")
    said(capsys, file, "--bank", tmp_path / "bank.csv")
    pool = tmp_path / "pool.csv"
    pool.write_text("text,label\nred,yes\nblue,yes\n")
    assert "name the classes" in said(capsys, "--label", pool)
    assert "nothing is left to ask" in said(capsys, "--label", pool, "--classes", "yes,no", "--text", "text")
    assert "no column 'word'" in said(capsys, "--label", pool, "--classes", "yes,no", "--text", "word")
    assert "both say what people see" in said(
        capsys, "--label", pool, "--classes", "yes,no", "--text", "text", "--image", "text"
    )


def test_a_port_in_use_and_a_store_at_fault(capsys, file, tmp_path):
    store = tmp_path / "store"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 cannot be used" in said(capsys, file, "--store", store, "--port", port)
    assert "is no address of this machine" in said(capsys, file, "--store", store, "--host", "nowhere.invalid")
    with Store(store) as opened:
        assert "is in use by a server" in said(capsys, file, "--store", store, "--port", 0)
        opened.fact("kind", "survey")
        opened.fact("identity", "another test")
    assert "holds the answers to something else" in said(capsys, file, "--store", store, "--port", 0)
    (store / "store.sqlite").write_bytes(b"x" * 5000)
    assert "cannot be used" in said(capsys, file, "--store", store, "--port", 0)
    assert run(["export", str(tmp_path / "absent")]) == 2 and run(["forget", str(tmp_path / "new"), "1"]) == 2
    capsys.readouterr()
