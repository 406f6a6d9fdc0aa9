"""Pages of the API: one for each public package, one for each public name.

Public is what a package's ``__all__`` lists. A name that several packages list has one page, under the shortest of
them; the others link to it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from site_pages import commands, gallery
from site_pages.docstrings import as_rst

TOPS = ("adaptive", "designs")
MODULES = ("adaptive.means",)  # public, though no package
NEEDED = {  # who needs what; a package that is not here stands with the one that holds it
    "You have a table, people or an instrument, and want to know what to measure next": (
        "adaptive", "adaptive.loop", "adaptive.scorers", "adaptive.tables", "adaptive.tables.responses",
        "adaptive.datasets",
    ),
    "You type commands": ("adaptive.cli",),
    "You let people answer": ("adaptive.labelling", "adaptive.serve"),
    "You plan scans, or measure images": (
        "adaptive.scanner", "adaptive.images", "designs.kspace", "designs.filters", "adaptive.estimators.imaging.trees",
    ),
    "You plan experiments, or search games": ("designs", "designs.optimal", "designs.games"),
    "You check a run, and show it": ("adaptive.diagnostics", "adaptive.plots"),
    "You choose among very many candidates, or want a bound": (
        "adaptive.selection", "adaptive.selection.bounds", "adaptive.search",
    ),
    "You model: priors, likelihoods, kernels, approximations": (
        "adaptive.potentials", "adaptive.kernels", "adaptive.means", "adaptive.inference",
        "adaptive.inference.classic", "adaptive.estimators", "adaptive.estimators.gaussian_process",
    ),
    "You extend the toolkit": (
        "adaptive.predictive", "adaptive.operators", "adaptive.gaussians", "adaptive.linalg",
    ),
}  # fmt: skip
STOP = "BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, MetaEstimatorMixin, tuple, dict, Exception"


class Name(NamedTuple):
    """A public name: where it is listed, where its page is, and what it is."""

    listed: str
    page: str
    thing: Any


def packages() -> list[str]:
    """Return the packages that list something, short names first."""
    found = [*TOPS, *MODULES]
    for top in TOPS:
        path = importlib.import_module(top).__path__
        found += [module.name for module in pkgutil.walk_packages(path, f"{top}.") if module.ispkg]
    return sorted((one for one in found if getattr(importlib.import_module(one), "__all__", ())), key=_order)


def names() -> dict[str, list[Name]]:
    """Return the public names of every package, each with the page that it is documented on."""
    pages: dict[int, str] = {}
    found: dict[str, list[Name]] = {}
    for package in packages():
        module = importlib.import_module(package)
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            listed = f"{package}.{name}"
            if isinstance(thing, ModuleType):
                found.setdefault(package, []).append(Name(listed, thing.__name__, thing))
                if not hasattr(thing, "__path__"):
                    inner = [
                        Name(f"{listed}.{one}", f"{listed}.{one}", getattr(thing, one)) for one in sorted(thing.__all__)
                    ]
                    found.setdefault(thing.__name__, []).extend(inner)
                continue
            page = pages.setdefault(id(thing), listed) if _documented(thing) else listed
            found.setdefault(package, []).append(Name(listed, page, thing))
    return dict(sorted(found.items(), key=lambda one: _order(one[0])))


def thing_of(listed: str) -> Any:
    """Return what a public name names."""
    package, _, name = listed.rpartition(".")
    return getattr(importlib.import_module(package), name)


def write(folder: Path) -> None:
    """Write all pages; those of names that are gone disappear."""
    found = names()
    wanted = {"index.rst": _index(found)}
    for package, listed in found.items():
        wanted[f"{package}.rst"] = _package(package, listed)
        wanted |= {f"names/{one.page}.rst": _page(one) for one in listed if one.page == one.listed}
    for name, text in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:  # what is as it was is not built again
            path.write_text(text, encoding="utf-8")
    for path in [*folder.glob("*.rst"), *folder.glob("names/*.rst")]:
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)


def summary(thing: Any) -> str:
    """Return the first sentence of what something says of itself."""
    text = inspect.getdoc(thing) or ""
    return (
        " ".join(text.split("\n\n")[0].split()) if _documented(thing) or isinstance(thing, ModuleType) else "Constant."
    )


def _order(package: str) -> tuple[bool, int, str]:
    return package.startswith("designs"), package.count("."), package


def _documented(thing: Any) -> bool:
    return inspect.isclass(thing) or inspect.isroutine(thing)


def _titled(title: str) -> list[str]:
    return [title, "=" * len(title), ""]


def grouped(found: Iterable[str]) -> dict[str, list[str]]:
    """Return the packages under the words that say who needs them."""
    of = {package: words for words, inside in NEEDED.items() for package in inside}
    groups: dict[str, list[str]] = {words: [] for words in NEEDED}
    for package in found:
        holder = package
        while holder not in of:
            holder = holder.rpartition(".")[0]
        groups[of[holder]].append(package)
    return {words: sorted(inside, key=_order) for words, inside in groups.items() if inside}


def _index(found: dict[str, list[Name]]) -> str:
    lines = _titled("API")
    lines += ["Public is what a package lists; inner modules may move. Every name has a page of its own.", ""]
    for words, packages_of in grouped(found).items():
        lines += [words, "-" * len(words), "", ".. list-table::", "   :widths: 35 65", ""]
        for package in packages_of:
            shown = package.replace("adaptive.cli.", "adaptive ") if package.startswith("adaptive.cli.") else package
            lines += [f"   * - :doc:`{shown} <{package}>`", f"     - {as_rst(_first(package))}"]
        lines.append("")
    lines += [".. toctree::", "   :hidden:", ""]
    return "\n".join([*lines, *(f"   {package}" for package in found), ""])


def _first(package: str) -> str:
    return summary(importlib.import_module(package))


def _package(package: str, listed: list[Name]) -> str:
    text = inspect.getdoc(importlib.import_module(package)) or ""
    lines = [*_titled(package), as_rst(text), "", ".. list-table::", "   :widths: 40 60", ""]
    for one in listed:
        short = one.listed.removeprefix(f"{package}.")
        place = one.page if isinstance(one.thing, ModuleType) else f"names/{one.page}"
        said = summary(one.thing) if not isinstance(one.thing, ModuleType) else f"Package. {summary(one.thing)}"
        lines += [f"   * - :doc:`{short} <{place}>`", f"     - {as_rst(said)}"]
    own = [one.page for one in listed if one.page == one.listed]
    if own:
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   names/{page}" for page in own)]
    return "\n".join([*lines, ""])


def _page(one: Name) -> str:
    short = one.listed.rpartition(".")[2]
    lines = _titled(short)
    if inspect.isclass(one.thing):
        lines += [f".. autoclass:: {one.listed}", "   :members:", f"   :inherited-members: {STOP}", ""]
    elif command := commands.page(one.thing):
        lines = [*_titled(f"adaptive {short}"), *command]
    elif inspect.isroutine(one.thing):
        lines += [f".. autofunction:: {one.listed}", ""]
    else:
        value = " ".join(repr(one.thing).split())
        lines += [f".. py:data:: {one.listed}", ""]
        if " at 0x" not in value:
            lines += ["   The constant::", "", f"       {value[:400]}", ""]
        else:
            lines += [f"   An object of class ``{type(one.thing).__module__}.{type(one.thing).__name__}``.", ""]
    if inspect.isclass(one.thing) and (examples := gallery.examples_of(short)):
        lines += ["In the gallery: " + ", ".join(f":doc:`/gallery/estimators/{name}`" for name in examples) + ".", ""]
    if _documented(one.thing):
        lines += [f"In the code: ``{inspect.unwrap(one.thing).__module__.replace('.', '/')}.py``.", ""]
    return "\n".join(lines)
