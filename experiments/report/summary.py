"""The summary: one page of at most 200 lines, what held and what did not, and the five pictures that matter."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments import claims
from experiments.catalogue import times
from experiments.report.cells import anchor, escaped, row, sentence, text
from experiments.report.decisive import came_out, slack
from experiments.report.group_page import caption
from experiments.report.groups import Book, Group, Row, books, state
from experiments.report.highlights import HIGHLIGHTS, PICTURES
from experiments.superseded import SUPERSEDED

__all__ = ["summary"]

MOST = 200
COLUMNS = (*claims.VERDICTS, "shown by tests", "nothing to compute", "not built yet")
_INTRODUCTION = """# Results

What the sources claim, what we hoped for, and what came out. Every number is written by a script of
[`experiments/`](../experiments) into [`claims.json`](claims.json), of which `python -m experiments.index` builds these
pages. Each source and each domain has a page, or a page for each chapter: a line for a claim, with its target, what
came out and its verdict, and the details below. `python -m experiments ID`, from the folder of the clone, makes a claim
again; `--quick`, in seconds.

**How to read a verdict.** One rule gives them all ([`experiments/verdicts.py`](../experiments/verdicts.py)).
*Reproduced*: the whole 95% interval, over heads, people, sets or splits, lies within the target that stood before the
run; *not reproduced*: it lies outside. *Could not be told*: it crosses, or there is one run without an interval. *Not
run*: data are absent, or the full run is too long. *Shown by tests*: a thing to build, proved by the library's own
tests. Peers' strategies stand in [a table](tables/active-budget-peers.csv), without a verdict."""


def summary(results: Path = claims.RESULTS) -> str:
    """Return the text of ``results/README.md``."""
    pages = books(results)
    lines = [f"{_INTRODUCTION}\n{_cost(pages, results)}", "", *_table(pages), ""]
    shown = [name for name in PICTURES if (results / "figures" / f"{name}.png").is_file()]
    if shown:
        lines += ["## Five pictures", ""]
    for name in shown:
        alt = escaped(sentence(caption(results, "figures", name)))
        lines += [f"{PICTURES[name]}", "", f"![{alt}](figures/{name}.png)", ""]
    for folder, title in (("sources", "## The sources"), ("domains", "## The domains")):
        lines += [title, ""]
        for page in pages:
            if page.folder == folder:
                lines += _in_short(page)
    found = "\n".join(lines).strip() + "\n"
    if found.count("\n") > MOST:
        raise ValueError(f"the summary has {found.count(chr(10))} lines, more than {MOST}: shorten the highlights.")
    return found


def _cost(pages: list[Book], results: Path) -> str:
    """Processor's hours of the whole book, as far as scripts were timed to their end."""
    scripts = {one.entry["script"] for page in pages for one in page.rows if one.entry}
    noted = {script: seconds for script, seconds in times(results).items() if script in scripts}
    return (
        f"**The whole book** costs {sum(noted.values()) / 3600:.1f} hours of one core by the noted times of "
        f"{len(noted)} of its {len(scripts)} scripts; of the others it is not known."
    )


def _table(pages: list[Book]) -> list[str]:
    found = {_link(page): Counter(map(state, page.rows)) for page in pages}
    found["all"] = sum(found.values(), Counter())
    columns = [name for name in COLUMNS if found["all"][name] or name in claims.VERDICTS]
    lines = [row(link, *(str(of[name] or "") for name in columns)) for link, of in found.items()]
    return [row("page", *columns), row("---", *["---:"] * len(columns)), *lines]


def _link(page: Book) -> str:
    return f"[{page.title}]({page.folder}/{page.key}.md)"


def _in_short(book: Book) -> list[str]:
    """One claim of each verdict, with its numbers: the highlight, else the farthest inside or outside its target."""
    judged = [one for one in book.rows if one.entry is not None and one.id not in SUPERSEDED]
    chosen = HIGHLIGHTS.get(book.key, ())
    page_of = {one.id: page for page in book.pages for one in page.rows}
    lines = [f"### {_link(book)}"]
    for verdict, words, sign in (
        ("reproduced", "Best", -1), ("not reproduced", "Worst", 1), ("could not be told", "Undecided", 1),
    ):  # fmt: skip
        rows = [one for one in judged if state(one) == verdict]
        order = {id: k for k, id in enumerate(chosen)}
        rows.sort(key=lambda one: (order.get(one.id, len(order)), sign * slack(one.entry or {})))
        if rows:
            lines.append(f"- {words}: {_claim(rows[0], page_of[rows[0].id])}")
    return [*lines, ""] if len(lines) > 1 else []


def _claim(one: Row, page: Group) -> str:
    entry = one.entry or {}
    return (
        f"{escaped(one.says)} **{escaped(came_out(entry))}**; target: {escaped(text(entry['target']))} "
        f"([{one.id}]({page.folder}/{page.key}.md#{anchor(one.id)}))"
    )
