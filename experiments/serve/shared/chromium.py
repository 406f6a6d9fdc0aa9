"""A real browser: the Chromium of the system, driven by Playwright."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found():
    """Return where Chromium is; None without one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser(**options):
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=found(), headless=True, args=["--no-sandbox", "--disable-gpu"], **options
        )
        try:
            yield running
        finally:
            running.close()
