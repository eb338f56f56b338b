"""Real samples, spoiled in a few places, so that their reader gets beyond the first line; and bytes of no form."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

WORDS = (
    b"\0", b"\n", b"\r\n", b"\n\n", b" ", b"\t", b":", b";", b",", b"=", b"-", b"+", b".", b"/", b'"', b"'", b"#",
    b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"%", b"${", b"0", b"-1", b"1e400", b"nan", b"null", b"true", b"0x1f",
    b"9" * 25, b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe", b"\xc3\xa4", b"\xe2\x80\xa8", b"\xd9\xa3",
    b"\xed\xa0\x80", b"../../", b"file:", b"::1", b"[::1", b"http://", b"$1\r\n", b"18446744073709551616",
)  # fmt: skip
"""What has meaning to some reader, and what nearly has."""


@st.composite
def spoiled(draw: st.DrawFn, samples: Sequence[bytes]) -> bytes:
    """One of ``samples`` after at most four edits; now and then bytes that are like none of them."""
    if not samples or draw(st.integers(0, 9)) == 0:
        return b"".join(draw(st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)), max_size=12)))
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.sampled_from((0, 0, 1, 1, 4, 20, 10**6))))
        fresh = draw(st.one_of(st.sampled_from(WORDS), st.binary(max_size=4), st.just(data[begin:end] * 2)))
        data = data[:begin] + fresh + data[end:]
    return data
