"""Unanswered: a service did not answer, or not as its protocol wants it; the text continues "... does not answer:"."""

from __future__ import annotations


class Unanswered(Exception):  # noqa: N818  (an answer that did not come, not an error of ours)
    """Caught where services are started; nobody else sees it."""
