"""How the site is built: ``python -m sphinx -W -b html docs docs/build/html``.

Pages of the API are made from ``__all__`` of the public packages, pages of papers from ``results/claims.json``, the
gallery by running its examples, pages of commands by running their lines. Nothing is fetched, neither here nor by
readers.
"""

import os
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from site_pages import api, gallery, papers  # noqa: E402

import adaptive  # noqa: E402

project = "adaptive-designs"
author = "the authors of adaptive-designs"
copyright = "2026, the authors"
version = release = adaptive.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "site_pages.docstrings",
    "site_pages.narrow",
    "site_pages.references",
    "site_pages.shell",
]
exclude_patterns = [
    "build",
    "examples",
    "**/sg_execution_times.rst",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.md5",
]
suppress_warnings = ["config.cache"]  # settings of the gallery hold a class, which no cache can keep
default_role = "py:obj"
smartquotes_action = "qe"  # two dashes begin an option
templates_path = ["templates"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc says types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": ["examples/estimators"],
    "gallery_dirs": ["gallery/estimators"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "site_pages.gallery.one_look"),
    "capture_repr": (),
    "remove_config_comments": True,
    "nested_sections": False,
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "adaptive-designs"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_start": ["navbar-logo"],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": False,
    "collapse_navigation": True,
    "navigation_depth": 2,
    "show_nav_level": 1,
    "footer_start": ["every-part"],
    "footer_end": [],
    "secondary_sidebar_items": {
        "guide/*": ["page-toc"],
        "coming_from/*": ["page-toc"],
        "api/*": ["page-toc"],
        "gallery/*": ["page-toc"],
        "papers/*": [],
        "index": [],
        "glossary": [],
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "guide/promises": [], "guide/measured": [], "search": [], "papers/*": [], "glossary": []}

api.write(HERE / "api")
gallery.write(HERE)
papers.write(HERE / "papers")


def setup(app):
    """Let pages name results where they lie in a clone; on the site they are pages of papers and domains."""
    app.connect("source-read", results_on_the_site)


def results_on_the_site(app, docname, source):
    up = "../" * docname.count("/")
    source[0] = re.sub(r"\]\((?:\.\./)+results/(?:domains|sources)/(?=[\w-]+\.md)", f"]({up}papers/", source[0])
