"""Packages that import names when they are asked for: no more is loaded than is used, and names stay what they are."""

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

LAZY = ("adaptive.images", "adaptive.scanner", "designs", "designs.filters", "designs.games", "designs.kspace",
        "designs.optimal")  # fmt: skip


def loaded_by(code):
    """Modules of ours that a fresh process holds after some code."""
    code += "; import sys; print(*(name for name in sys.modules if name.startswith(('adaptive.', 'designs.'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_what_is_not_asked_for_is_not_imported():
    assert not {name for name in loaded_by("import designs, designs.filters") if name.startswith("designs.filters.")}
    lines = loaded_by("from designs.kspace import lines; lines((8, 8))")
    assert "designs.kspace.cartesian" in lines and "adaptive.estimators" not in lines
    assert not {name for name in lines if name.startswith(("designs.games", "designs.optimal", "designs.kspace.from"))}
    plan = loaded_by("from adaptive.cli.kspace import plan, reading")
    rooms = ("designs.games", "designs.optimal", "designs.filters", "adaptive.cli.kspace.trial", "adaptive.loop")
    assert not {name for name in plan if name.startswith(rooms)}
    scan = loaded_by("from adaptive.scanner import read_scan")
    assert not {"adaptive.scanner.volumes", "adaptive.scanner.dicom_reading", "adaptive.scanner.partial_fourier"} & scan


@pytest.mark.parametrize("package", LAZY)
def test_every_name_is_found_and_listed(package):
    module = import_module(package)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert isinstance(getattr(module, name), ModuleType) == (package == "designs"), name
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_a_function_with_the_name_of_its_module_stays_that_function():
    """Whoever imported the module before."""
    code = (
        "import adaptive.images.foreground, designs.kspace.phase_encodes, designs.filters.uniform; "
        "from adaptive.images import foreground; from designs import filters, kspace; "
        "assert callable(foreground) and callable(kspace.phase_encodes) and callable(filters.uniform)"
    )
    assert "designs.filters.uniform" in loaded_by(code)
