"""Charts as a test looks at them: every one is drawn twice, and what is looked at is the one for a wide screen."""

from __future__ import annotations

import re


def wide(text: str) -> str:
    """Without what is drawn for a telephone."""
    return re.sub(r'<svg[^>]*class="chart narrow".*?</svg>', "", text, flags=re.S)
