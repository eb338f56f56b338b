"""Rule: a whole number, or arithmetic over ``cores``, as contender files write it: ``2 * cores + 1``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}


def evaluate(rule: int | str, cores: int) -> int:
    """Value of ``rule`` for ``cores`` cores, at least 1.

    Raises ValueError, with a sentence, when the rule is anything else than whole numbers, ``cores``, ``+ - * //``,
    ``min(...)``, ``max(...)`` and parentheses.
    """
    if isinstance(rule, int):
        return max(1, rule)
    try:
        tree = ast.parse(rule, mode="eval")
    except SyntaxError:
        raise ValueError(f"{rule!r} is not a rule; write a whole number or arithmetic over cores") from None
    try:
        return max(1, _value(tree.body, cores))
    except ZeroDivisionError:
        raise ValueError(f"{rule!r} divides by zero when cores = {cores}") from None


def _value(node: ast.expr, cores: int) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id="cores"):
            return cores
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, cores), _value(right, cores))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*[_value(argument, cores) for argument in arguments])
    raise ValueError(
        f"{ast.unparse(node)!r} cannot stand in a rule; whole numbers, cores, + - * //, min() and max() can"
    )
