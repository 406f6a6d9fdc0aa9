"""Open every page of the built site as a phone shows it: nothing scrolls sideways, and text stands out from its ground.

python docs/check_looks.py docs/build/html [PATTERN ...]

A real Chromium opens each page 320 pixels wide, in light and in dark. The contrast of a text with its ground is
(L1 + 0.05) / (L2 + 0.05) of the two relative luminances (WCAG 2.2, level AA): at least 4.5, or 3 for large text.
Patterns such as ``guide/*.html`` choose among the pages. Pictures, and what is not shown at that width, are left out.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 320  # pixels
LOOK = r"""
() => {
  const wide = document.documentElement;
  const found = {width: wide.scrollWidth, sideways: wide.scrollWidth > wide.clientWidth, over: [], faint: []};
  if (found.sideways)
    for (const one of document.querySelectorAll("body *")) {
      const box = one.getBoundingClientRect();
      if (box.width && box.right > wide.clientWidth + 1 && getComputedStyle(one).position !== "fixed") {
        found.over.push(`${one.tagName.toLowerCase()}.${one.className} to ${Math.round(box.right)}`);
        if (found.over.length === 3) break;
      }
    }
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  canvas.canvas.width = canvas.canvas.height = 1;
  const numbers = {};
  const parts = colour => numbers[colour] ??= (canvas.clearRect(0, 0, 1, 1), canvas.fillStyle = colour,
    canvas.fillRect(0, 0, 1, 1), Array.from(canvas.getImageData(0, 0, 1, 1).data).map(part => part / 255));
  const mixed = (above, below) => [0, 1, 2].map(k => above[3] * above[k] + (1 - above[3]) * below[k]).concat(1);
  const light = colour => [0.2126, 0.7152, 0.0722].reduce((sum, weight, k) =>
    sum + weight * (colour[k] <= 0.04045 ? colour[k] / 12.92 : ((colour[k] + 0.055) / 1.055) ** 2.4), 0);
  const ground = one => {  // what lies behind the text, ancestors' colours over one another
    const layers = [];
    for (let at = one; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;
      const colour = parts(style.backgroundColor);
      if (colour[3]) layers.push(colour);
      if (colour[3] === 1) break;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches && /dark/.test(getComputedStyle(one).colorScheme);
    const paper = parts(dark ? "#121212" : "#ffffff");  // what Chromium paints where nobody else does
    return layers.reduceRight((below, above) => mixed(above, below), paper);
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement, text = node.textContent.trim();
    if (!text || !one.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    const style = getComputedStyle(one), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    const behind = ground(one);
    if (!behind) continue;
    const both = [light(mixed(parts(style.color), behind)), light(behind)], [dim, bright] = both.sort((a, b) => a - b);
    const contrast = (bright + 0.05) / (dim + 0.05);
    const kind = `${style.color} on ${behind.slice(0, 3).map(part => Math.round(255 * part))}`;
    if (contrast >= (large ? 3 : 4.5) || seen.has(kind)) continue;
    seen.add(kind);
    const name = `${one.tagName.toLowerCase()}.${one.className}`;
    found.faint.push(`${contrast.toFixed(2)}: ${kind}, ${name} "${text.slice(0, 30)}"`);
  }
  return found;
}
"""


def chromium() -> str | None:
    """Return where Chromium is; None without one."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


def problems(pages: Iterable[tuple[str, str]], browser: Browser) -> list[str]:
    """Return one line for each page that scrolls sideways and for each pair of colours that is too faint on a page."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 640})
    tab, found = context.new_page(), []
    for name, address in pages:
        tab.goto(address, wait_until="load")
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            seen: dict[str, Any] = tab.evaluate(LOOK)
            if seen["sideways"] and scheme == "light":
                found.append(f"{name}: scrolls sideways, {seen['width']} pixels: {'; '.join(seen['over'])}")
            found += [f"{name}: faint in {scheme}, {one}" for one in seen["faint"]]
    context.close()
    return found


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]).resolve()
    patterns = arguments[1:] or ["**/*.html"]
    paths = sorted({path for pattern in patterns for path in root.glob(pattern) if "_static" not in path.parts})
    if not paths or chromium() is None:
        print("no page" if not paths else "no Chromium: apt-get install chromium", file=sys.stderr)
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        try:
            said = problems(((str(path.relative_to(root)), path.as_uri()) for path in paths), browser)
        finally:
            browser.close()
    print(*said, sep="\n", file=sys.stderr)
    print(f"{len(said)} problems on {len(paths)} pages of {root}, {WIDTH} pixels wide, in light and dark")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
