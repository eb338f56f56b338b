"""``webdyno lock``: write down the exact versions a contender's requirements resolve to today."""

from __future__ import annotations
