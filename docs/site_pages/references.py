"""Short names in backticks lead to their page where only one public name is called so; no picture is silent."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from site_pages import api

__all__ = ["setup"]


def _targets() -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for listed in api.names().values():
        for one in listed:
            for name in (one.listed.rpartition(".")[2], one.listed):
                found.setdefault(name, set()).add(one.page)
    return {name: pages.pop() for name, pages in found.items() if len(pages) == 1}


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
    env.site_targets = _targets()


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    app.connect("env-before-read-docs", _prepare)
    app.connect("missing-reference", _resolve)
    app.connect("doctree-read", _describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
