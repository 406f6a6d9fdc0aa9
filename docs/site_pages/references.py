"""Short names in backticks lead to their page where only one public name is called so; no picture is silent.

In the guide names and commands are links, too: a method leads to the page of its class.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from site_pages import api, commands

__all__ = ["place_of", "setup"]

PAGES = ("guide/", "coming_from/", "index", "glossary", "gallery/index")
CALLED = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)
COMMAND = re.compile(r"adaptive ([a-z]+)\b")


def _targets() -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for listed in api.names().values():
        for one in listed:
            for name in (one.listed.rpartition(".")[2], one.listed):
                found.setdefault(name, set()).add(one.page)
    return {name: pages.pop() for name, pages in found.items() if len(pages) == 1}


def _commands() -> dict[str, str]:
    """The page of each command."""
    found = {}
    for listed in api.names().values():
        for one in listed:
            if inspect.isfunction(one.thing) and commands.page(one.thing):
                found[one.page.rpartition(".")[2]] = one.page
    return found


def place_of(text: str, targets: Mapping[str, str], of_commands: Mapping[str, str]) -> tuple[str, str]:
    """Return page and anchor that a text in backticks names; two empty texts where it names nothing, or may not.

    A lone word in small letters may be a parameter: it is a name where it has an underscore, is called, or has its
    package before it.
    """
    if command := COMMAND.match(text):
        return of_commands.get(command[1], ""), ""
    called = CALLED.fullmatch(text)
    if called is None:
        return "", ""
    name, arguments = called.groups()
    sure = arguments is not None or any(sign in name for sign in "._") or name != name.lower()
    if name in targets:
        return (targets[name], "") if sure else ("", "")
    holder, _, member = name.rpartition(".")
    thing = api.thing_of(targets[holder]) if holder in targets and "." in targets[holder] else None
    if inspect.isclass(thing) and not member.startswith("_") and inspect.getdoc(getattr(thing, member, None)):
        return targets[holder], ""  # the page: not each inherited member has a place of its own there
    return "", ""


def _link_names(app: Any, doctree: Any, docname: str) -> None:
    """Make links of the names in the guide, but of those in headings and in links."""
    from docutils import nodes
    from sphinx.util.nodes import make_refnode

    if not docname.startswith(PAGES):
        return
    env = app.builder.env
    for node in list(doctree.findall(nodes.literal)):
        outer, inside = node.parent, False
        while outer is not None and not inside:
            inside = isinstance(outer, nodes.reference | nodes.title)
            outer = outer.parent
        page, anchor = ("", "") if inside else place_of(node.astext(), env.site_targets, env.site_commands)
        if page and f"api/names/{page}" in env.found_docs:
            link = make_refnode(app.builder, docname, f"api/names/{page}", anchor, node.deepcopy(), page)
            node.replace_self(link)


def _resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    if node.get("refdomain") != "py":
        return None
    page = env.site_targets.get(node["reftarget"].removesuffix("()"))
    if page is None or f"api/names/{page}" not in env.found_docs:
        return None
    from sphinx.util.nodes import make_refnode

    return make_refnode(app.builder, node["refdoc"], f"api/names/{page}", "", contnode, page)


def _describe(app: Any, doctree: Any) -> None:
    """Give pictures without alternative text the name of what they show: thumbnails that stand beside its title."""
    from docutils import nodes

    for picture in doctree.findall(nodes.image):
        if not picture.get("alt", "").strip():
            name = PurePosixPath(picture["uri"]).stem.removeprefix("sphx_glr_").removesuffix("_thumb")
            picture["alt"] = f"Picture of the example {name.replace('_', ' ')}"


def _prepare(app: Any, env: Any, docnames: Any) -> None:
    env.site_targets, env.site_commands = _targets(), _commands()


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    app.connect("env-before-read-docs", _prepare)
    app.connect("missing-reference", _resolve)
    app.connect("doctree-read", _describe)
    app.connect("doctree-resolved", _link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
