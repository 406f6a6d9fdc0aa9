"""The reader of the site finds what links lead to, counts its way, and goes back where a page leads nowhere."""

from __future__ import annotations

import pytest

from experiments.house.reader import find


@pytest.fixture
def site(tmp_path):
    pages = {
        "index.html": "<p>One two. <a href='wrong.html'>add soup</a> <a href='own.html#here'>likelihood</a>",
        "wrong.html": "<p>five words that do not <a href='https://elsewhere'>add a likelihood</a></p>",
        "own.html": "<p>" + "word " * 50 + "</p><h2 id='here'>Mine</h2><p>It is so. <script>answer</script></p>",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(f"<a href='own.html'>likelihood</a><article>{text}</article>")
    return tmp_path


def test_the_way_is_counted_from_where_a_link_leads(site):
    assert find(site, "likelihood", "It is so") == ("own.html", 1, 0, 4 + 4)  # "One two. add soup", "Mine It is so"


def test_a_page_without_a_way_on_is_a_wrong_turn(site):
    found = find(site, "Add soup, a likelihood", "It is so")
    assert (found.page, found.clicks, found.wrong_turns) == ("own.html", 2, 1)


def test_what_stands_nowhere_is_not_found(site):
    assert find(site, "likelihood", "answer").page == ""
