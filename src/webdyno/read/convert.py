"""From TOML data to a noun, and what msgspec has to say about bad data, as one sentence at the right key.

msgspec stops at the first fault and names its path (``$.loads[0]``), which is all that is needed; only the keys of free
tables (``[environment]``, ``[sweep]``) are hidden from it as ``[...]`` and are found again here.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from webdyno.read.lines import Key
from webdyno.read.source import Source, suggest

Noun = TypeVar("Noun", bound=msgspec.Struct)

_PATH = re.compile(r"^(?P<said>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<number>\d+)\]|(?P<free>\[\.\.\.\])")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_TOML_TYPES = {str: "str", bool: "bool", int: "int", float: "float", list: "array", dict: "object"}


def convert(source: Source, noun: type[Noun], name: str) -> Noun:
    """``source`` as the ``noun`` called ``name``; CatalogueError."""
    if "name" in source.data:
        raise source.wrong(("name",), f'is not wanted; the name is "{name}", after the file, so remove this line')
    try:
        return msgspec.convert({**source.data, "name": name}, noun)
    except msgspec.ValidationError as error:
        said, path = _PATH.match(str(error)).group("said", "path")  # type: ignore[union-attr] # it matches any text
        key, problem = _explain(said, _found_again(source.data, path or "", said), noun)
        raise source.wrong(key, problem) from None


def _found_again(data: Any, path: str, said: str) -> Key:
    """``path`` as a Key; a hidden name is that of the first entry with what is complained about."""
    steps = [match.groupdict() for match in _STEP.finditer(path)]
    got, field = re.search(r"got `(\w+)`", said), re.search(r"(unknown|missing required) field `(.*)`", said)

    def fits(value: Any) -> bool:
        if field:
            return isinstance(value, dict) and (field[2] in value) == (field[1] == "unknown")
        return not got or _TOML_TYPES.get(type(value), got[1]) == got[1]

    def walk(value: Any, rest: list[dict[str, Any]]) -> Key | None:
        if not rest:
            return () if fits(value) else None
        step, *rest = rest
        here = int(step["number"]) if step["number"] else step["name"]
        for name in list(value) if step["free"] else [here]:
            try:
                tail = walk(value[name], rest)
            except (KeyError, IndexError, TypeError):
                continue
            if tail is not None:
                return (name, *tail)
        return None

    return walk(data, steps) or ()


def _explain(said: str, key: Key, noun: type[msgspec.Struct]) -> tuple[Key, str]:
    """The key that is at fault, and what is wrong with it."""
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", said):
        known = _choices(_type_at(noun, key)) - ({"name"} if not key else set())
        return (*key, match[1]), f"unknown key; {suggest(match[1], known)}"
    if match := re.fullmatch(r"Object missing required field `(.*)`", said):
        return (*key, match[1]), "is missing, and needed"
    if match := re.fullmatch(r"Expected `(.*)`, got `(.*)`", said):
        wanted = [_WORDS.get(word, word) for word in match[1].split(" | ") if word != "null"]
        return key, f"must be {' or '.join(wanted)}, but is {_WORDS.get(match[2], match[2])}"
    if match := re.fullmatch(r"Expected `array` of length (\d+), got (\d+)", said):
        return key, f"must be a list of {match[1]}, but has {match[2]}"
    if match := re.fullmatch(r"Invalid enum value '(.*)'", said):
        return key, f'"{match[1]}" is not a choice; {suggest(match[1], _choices(_type_at(noun, key)))}'
    return key, said


def _choices(kind: inspect.Type) -> set[str]:
    """What can be written: the keys of a table, the values of a choice."""
    if isinstance(kind, inspect.StructType):
        return {field.encode_name for field in kind.fields}
    return {str(value) for value in kind.values} if isinstance(kind, inspect.LiteralType) else set()


def _type_at(noun: type[msgspec.Struct], key: Key) -> inspect.Type:
    """The declared type of the value at ``key``, the None of optional fields looked through."""
    kind = inspect.type_info(noun)
    for part in key:
        if isinstance(kind, inspect.StructType):
            kind = next(field.type for field in kind.fields if field.encode_name == part)
        elif isinstance(kind, inspect.ListType):
            kind = kind.item_type
        elif isinstance(kind, inspect.DictType):
            kind = kind.value_type
        if isinstance(kind, inspect.UnionType):
            kind = next(choice for choice in kind.types if not isinstance(choice, inspect.NoneType))
    return kind
