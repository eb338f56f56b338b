"""Rule: a whole number, or arithmetic over ``cores`` (for ``pool``: and ``workers``), as contender files write it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}


def evaluate(rule: int | str, cores: int, workers: int | None = None) -> int:
    """Value of ``rule`` for ``cores`` cores, and ``workers`` where the rule may speak of them; at least 1.

    Raises ValueError, with a sentence, when the rule is anything else than whole numbers, these names, ``+ - * //``,
    ``min(...)``, ``max(...)`` and parentheses.
    """
    if isinstance(rule, int):
        return max(1, rule)
    try:
        tree = ast.parse(rule, mode="eval")
    except SyntaxError:
        raise ValueError(f"{rule!r} is not a rule; write a whole number or arithmetic over cores") from None
    names = {"cores": cores} if workers is None else {"cores": cores, "workers": workers}
    try:
        return max(1, _value(tree.body, names))
    except ZeroDivisionError:
        raise ValueError(f"{rule!r} divides by zero when cores = {cores}") from None


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*[_value(argument, names) for argument in arguments])
    raise ValueError(
        f"{ast.unparse(node)!r} cannot stand in a rule; "
        f"whole numbers, {', '.join(names)}, + - * //, min() and max() can"
    )
