"""What suites with a real browser share: Playwright and Chromium, and what every page is looked at for."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".cache" / "venv" / "bin" / "python"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run"]

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    # Playwright is in the project's own environment.
    if PYTHON.exists() and pathlib.Path(sys.executable).parent != PYTHON.parent:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    sync_playwright = None

VIEWS = [(f"{device}-{scheme}", width, height, scheme)
         for device, width, height in (("desktop", 1280, 900), ("phone", 390, 844)) for scheme in ("light", "dark")]
# WCAG's contrast of text against what is behind it.
LEAST_CONTRAST = """() => {
    const rgb = (text) => { const c = text.match(/[0-9.]+/g).map(Number); return text.startsWith('color(') ? [...c.slice(0, 3).map((v) => v * 255), ...c.slice(3)] : c; };
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c; } return [255, 255, 255]; };
    let least = 99;
    for (const e of document.querySelectorAll('h1, h2, h3, p, dt, dd, th, td, summary, button, .badge, .block, svg text')) {
        if (!e.textContent.trim() || e.closest('[aria-pressed="false"]')) continue;
        const style = getComputedStyle(e);
        const [a, b] = [light(rgb(e instanceof SVGElement ? style.fill : style.color)), light(behind(e))];
        least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
    }
    return least;
}"""


def is_there():
    """Whether there is a browser to drive."""
    return sync_playwright is not None and os.access(CHROMIUM, os.X_OK)
