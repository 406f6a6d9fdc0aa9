"""English of help and messages: words that must not occur, sentences that are short, numbers with their nouns.

Where a word is found, say it as a person would: "whoever labels" is "each person who labels".
"""

import ast
import inspect
import re
from pathlib import Path

import pytest
import typer

from adaptive.cli import app
from adaptive.cli.understanding import counted

WORDS = (
    "whoever", "whomever", "whatsoever", "thereof", "whereby", "hereby", "therein", "herein", "thereto", "vice versa",
    "e.g.", "i.e.", "etc.", "respectively", "is no feature", "of them all",
)  # fmt: skip
PATTERNS = {
    r"\b1 (?:rows|answers|items|users|lines|columns|words|events|pairs|people|questions|texts|labels)\b": "1 row",
    r"(?<![\w.:])\.\d": "a number without its 0",
    r"[a-z,)] - [a-z](?![^|]*\|)": "a fragment behind a dash",
    r"\s,": "a blank before a comma",
    r"  \S": "two blanks",
}
LONGEST = 30  # words of a sentence
COMMANDS = {one.callback.__name__: one.callback for one in app.registered_commands}


def description(command):
    return " ".join(inspect.getdoc(COMMANDS[command]).split())


def options(command):
    """The help of every option and argument of a command."""
    shown = typer.main.get_command(app).commands[command]
    return {param.name: " ".join((getattr(param, "help", None) or "").split()) for param in shown.params}


def messages():
    """Every text of the commands' sources that people may see, by its place; a value in it stands as {}."""
    folder = Path(inspect.getfile(counted)).parent
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body and isinstance(node.body[0], ast.Expr)
        }  # fmt: skip
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        formats = {id(node.format_spec) for node in ast.walk(tree) if isinstance(node, ast.FormattedValue)}
        formats |= {id(part) for node in ast.walk(tree) if id(node) in formats for part in getattr(node, "values", ())}
        for node in ast.walk(tree):
            if id(node) in formats:
                continue
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts | documented:
                text = node.value
            else:
                continue
            if " " in text.strip():
                yield f"{path.relative_to(folder)}:{node.lineno}", " ".join(text.split())


def faults(text, patterns=PATTERNS):
    found = [word for word in WORDS if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]
    return found + [why for pattern, why in patterns.items() if re.search(pattern, text)]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_in_plain_english(command):
    wrong = {name: faults(text) for name, text in options(command).items()} | {"": faults(description(command))}
    assert not {name: found for name, found in wrong.items() if found}


@pytest.mark.parametrize("command", COMMANDS)
def test_sentences_of_help_are_short_and_whole(command):
    sentences = re.split(r"(?<=[.?!]) (?=[A-Z(-])", description(command))
    assert not [one for one in sentences if len(re.findall(r"[\w'/.-]+", re.sub(r"\([^)]*\)", "", one))) > LONGEST]
    assert all(one[0].isupper() or one.startswith("--") for one in sentences)
    assert sentences[-1].endswith((".", "?"))
    for name, text in options(command).items():  # one that begins with a value that may be typed begins as that does
        assert not text or text.endswith((".", "?", ")")), name
        assert not text or text[0].isupper() or re.match(r"[a-z_]+(, | or | \()", text), name


def test_messages_are_in_plain_english():
    wrong = {place: faults(text) for place, text in messages()}
    assert not {place: found for place, found in wrong.items() if found}


def said(node):
    """The text that a call says first; a value in it stands as {}."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp):
        return f"{said(node.left)}{said(node.right)}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "{}"


def test_errors_and_warnings_of_the_library_are_in_plain_english():
    root, wrong, n_found = Path(inspect.getfile(counted)).parents[2], {}, 0
    for path in [*(root / "adaptive").rglob("*.py"), *(root / "designs").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            raised = node.exc if isinstance(node, ast.Raise) else node
            warned = isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "warn"
            if isinstance(raised, ast.Call) and raised.args and (warned or isinstance(node, ast.Raise)):
                text = " ".join(said(raised.args[0]).split())
                n_found += len(text) > 2
                if found := faults(re.sub(r"\([^)]*\)", "(x)", text)):
                    wrong[f"{path}:{node.lineno}"] = found, text
    assert not wrong and n_found > 1000


def test_the_faults_are_found():
    assert faults("Whoever answers gets 1 rows, with .82 of them - at best") == [
        "whoever", "1 row", "a number without its 0", "a fragment behind a dash",
    ]  # fmt: skip
    assert faults("Each person who answers gets 1 row.") == []


def test_a_number_has_its_noun():
    assert [counted(n, "row") for n in (0, 1, 2, 1234)] == ["0 rows", "1 row", "2 rows", "1,234 rows"]
    assert counted(1, "person", "people") == "1 person" and counted(3, "person", "people") == "3 people"
