"""The summary: one page of at most 200 lines, what held and what did not, and the five pictures that matter."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from experiments import claims
from experiments.catalogue import times
from experiments.report.cells import anchor, escaped, row, sentence, shortened
from experiments.report.group_page import caption
from experiments.report.groups import Group, Row, groups, state
from experiments.report.highlights import HIGHLIGHTS, PICTURES
from experiments.superseded import SUPERSEDED

__all__ = ["summary"]

MOST = 200
COLUMNS = (*claims.VERDICTS, "shown by tests", "nothing to compute", "not built yet")
_INTRODUCTION = """# Results

What the sources claim, what we hoped for, and what came out. Every number is written by a script of
[`experiments/`](../experiments) into [`claims.json`](claims.json), of which `python -m experiments.index` builds these
pages. The page of a source or a domain has a line for a claim, with its picture, its command and its minutes, and the
details below. `python -m experiments ID`, from the folder of the clone, makes a claim again; `--quick`, in seconds.

**How to read a verdict.** One rule gives them all ([`experiments/verdicts.py`](../experiments/verdicts.py)).
*Reproduced*: the whole 95% interval, over heads, people, sets or splits, lies within the target that stood before the
run; *not reproduced*: it lies outside. *Could not be told*: it crosses, or there is one run without an interval. *Not
run*: data are absent, or the full run is too long. *Shown by tests*: a thing to build, proved by the library's own
tests. Peers' strategies stand in [a table](tables/active-budget-peers.csv), without a verdict."""


def summary(results: Path = claims.RESULTS) -> str:
    """Return the text of ``results/README.md``."""
    pages = groups(results)
    lines = [f"{_INTRODUCTION}\n{_cost(pages, results)}", "", *_table(pages), ""]
    shown = [name for name in PICTURES if (results / "figures" / f"{name}.png").is_file()]
    if shown:
        lines += ["## Five pictures", ""]
    for name in shown:
        alt = escaped(shortened(sentence(caption(results, "figures", name)), 160))
        lines += [f"{PICTURES[name]}", "", f"![{alt}](figures/{name}.png)", ""]
    for folder, title in (("sources", "## The sources"), ("domains", "## The domains")):
        lines += [title, ""]
        for page in pages:
            if page.folder == folder:
                lines += _in_short(page)
    text = "\n".join(lines).strip() + "\n"
    if text.count("\n") > MOST:
        raise ValueError(f"the summary has {text.count(chr(10))} lines, more than {MOST}: shorten the highlights.")
    return text


def _cost(pages: list[Group], results: Path) -> str:
    """Processor's hours of the whole book, as far as scripts were timed to their end."""
    scripts = {one.entry["script"] for page in pages for one in page.rows if one.entry}
    noted = {script: seconds for script, seconds in times(results).items() if script in scripts}
    return (
        f"**The whole book** costs {sum(noted.values()) / 3600:.1f} hours of one core by the noted times of "
        f"{len(noted)} of its {len(scripts)} scripts; of the others it is not known."
    )


def _table(pages: list[Group]) -> list[str]:
    found = {_link(page): Counter(map(state, page.rows)) for page in pages}
    found["all"] = sum(found.values(), Counter())
    columns = [name for name in COLUMNS if found["all"][name] or name in claims.VERDICTS]
    lines = [row(link, *(str(of[name] or "") for name in columns)) for link, of in found.items()]
    return [row("page", *columns), row("---", *["---:"] * len(columns)), *lines]


def _link(page: Group) -> str:
    return f"[{page.title}]({page.folder}/{page.key}.md)"


def _in_short(page: Group) -> list[str]:
    """The highlights under their present verdict, and the ids of everything else that did not hold."""
    rows = {one.id: one for one in page.rows}
    chosen = [rows[id] for id in HIGHLIGHTS.get(page.key, ()) if id in rows and rows[id].entry is not None]
    lines = [f"### {_link(page)}"]
    for verdict, words in (("reproduced", "Held"), ("not reproduced", "Did not"), ("could not be told", "Not told")):
        lines += [f"- {words}: {_claim(one, page)}" for one in chosen if state(one) == verdict]
    rest = [
        one for one in page.rows
        if state(one) == "not reproduced" and one not in chosen and one.id not in SUPERSEDED
    ]  # fmt: skip
    if rest:
        prefix = f"{page.key}-" if page.folder == "sources" else "ours-"
        ids = ", ".join(f"[{one.id.removeprefix(prefix)}]({_place(one, page)})" for one in rest)
        shown = any(state(one) == "not reproduced" for one in chosen)
        lines.append(f"- Did not{', too' if shown else ''}: {ids}")
    return [*lines, ""] if len(lines) > 1 else []


def _claim(one: Row, page: Group) -> str:
    return f"{escaped(shortened(one.says, 150))} ([{one.id}]({_place(one, page)}))"


def _place(one: Row, page: Group) -> str:
    return f"{page.folder}/{page.key}.md#{anchor(one.id)}"
