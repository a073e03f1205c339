"""Makes wrong solutions by machine: `mutants(source) -> list of Mutant`, each with one change.

Only what stands between the markers `# BEGIN SOLUTION` and `# END SOLUTION` is changed. Needs
libcst, a syntax tree that keeps the text as it is: `pip install torch-grader[author]`.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst import metadata as meta

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"

_Change = tuple[str, cst.CSTNode]  #: what kind it is, and what a node becomes
_Around = Sequence[cst.CSTNode]  #: the nodes around one, the nearest first

_COMPARED: dict[type[cst.BaseCompOp], Callable[[], cst.BaseCompOp]] = {
    cst.LessThan: cst.LessThanEqual,
    cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual,
    cst.GreaterThanEqual: cst.GreaterThan,
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}
_OPERATED: dict[type[cst.BaseBinaryOp], Callable[[], cst.BaseBinaryOp]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.Divide,
    cst.Divide: cst.Multiply,
    cst.FloorDivide: cst.Divide,
}
_REDUCED = {
    "sum": "mean", "mean": "sum", "max": "min", "min": "max", "any": "all", "all": "any",
    "argmax": "argmin", "argmin": "argmax",
}  # fmt: skip
_BUILT_IN = {"sum": "max", "max": "min", "min": "max", "any": "all", "all": "any", "sorted": "list"}
#: Methods that give something much like what they are called on.
_LIKE = {"unsqueeze", "squeeze", "argsort", "detach", "float", "double", "clone", "lower", "strip"}
#: Methods and functions whose whole numbers are axes.
_ALONG = {*_REDUCED, "unsqueeze", "squeeze", "cat", "stack", "softmax", "normalize", "transpose"}
_OTHER_ROWS = {
    "train": "val", "val": "train", "test": "val",
    "T": "V", "V": "T", "F": "G", "G": "F", "Y": "Z", "Z": "Y",
}  # fmt: skip
_TRUTH = {"True": "False", "False": "True"}


@dataclass(frozen=True)
class Mutant:
    """A solution with one change."""

    kind: str  #: what was done, such as "another axis"
    line: int  #: where, counted from 1
    source: str  #: the whole file
    before: str  #: the lines that were changed, without the space around them
    after: str  #: what became of them
    diff: str  #: both, as a unified diff


def mutants(source: str) -> list[Mutant]:
    """Every solution with one change that the rules below make of this one, in its order.

    Raises:
        ValueError: the markers are not there.
    """
    begin, end = _marked(source)
    wrapper = meta.MetadataWrapper(cst.parse_module(source))
    places = wrapper.resolve(meta.PositionProvider)
    around = wrapper.resolve(meta.ParentNodeProvider)
    loaded = wrapper.resolve(meta.ExpressionContextProvider)
    found: dict[str | None, Mutant | None] = {None: None, _program(source): None}
    for node, place in places.items():
        rule = _RULES.get(type(node))
        read = loaded.get(node) is meta.ExpressionContext.LOAD or not isinstance(node, cst.Name)
        if rule is None or not read or not begin < place.start.line < end:
            continue
        for kind, changed in rule(node, _ancestors(node, around)):
            module = cst.ensure_type(wrapper.module.deep_replace(node, changed), cst.Module)
            program = _program(module.code)
            if program not in found:
                found[program] = _mutant(kind, source, module.code)
    made = [mutant for mutant in found.values() if mutant is not None]
    return sorted(made, key=lambda mutant: (mutant.line, mutant.kind))


def _marked(source: str) -> tuple[int, int]:
    """The lines of the two markers."""
    lines = [line.strip() for line in source.splitlines()]
    if BEGIN not in lines or END not in lines:
        raise ValueError(f"the lines {BEGIN!r} and {END!r} must be there")
    return lines.index(BEGIN) + 1, lines.index(END) + 1


def _program(code: str) -> str | None:
    """What a text says, however it is laid out; None where it is not Python."""
    try:
        return ast.dump(ast.parse(code))
    except SyntaxError:
        return None


def _mutant(kind: str, source: str, code: str) -> Mutant:
    lines = list(difflib.unified_diff(source.splitlines(), code.splitlines(), n=0, lineterm=""))
    changed = [line for line in lines[2:] if not line.startswith("@@")]
    before, after = (
        " ".join(" ".join(line[1:] for line in changed if line[0] == sign).split()) for sign in "-+"
    )
    where = re.search(r"-(\d+)", lines[2])
    return Mutant(kind, int(where[1]) if where else 0, code, before, after, "\n".join(changed))


def _ancestors(node: cst.CSTNode, around: Mapping[cst.CSTNode, cst.CSTNode]) -> list[cst.CSTNode]:
    found = []
    while node in around:
        node = around[node]
        found.append(node)
    return found


def _removed_line(node: cst.SimpleStatementLine, _: _Around) -> Iterator[_Change]:
    statement = node.body[0]
    text = isinstance(statement, cst.Expr) and isinstance(statement.value, cst.BaseString)
    if not text and not isinstance(statement, cst.Import | cst.ImportFrom | cst.Pass):
        yield "a removed line", node.with_changes(body=[cst.Pass()])


def _other_number(node: cst.Integer, around: _Around) -> Iterator[_Change]:
    kind = "another constant"
    inside = next((n for n in around if isinstance(n, cst.Call | cst.Subscript)), None)
    if isinstance(inside, cst.Subscript):
        kind = "off-by-one index"
    elif isinstance(inside, cst.Call):
        name = _called(inside)
        kind = "another seed" if "seed" in name else "another axis" if name in _ALONG else kind
    number = int(node.value.replace("_", ""), 0)
    yield kind, cst.Integer(str(number + 1))
    if number == 0:
        yield kind, cst.UnaryOperation(cst.Minus(), cst.Integer("1"))
    else:
        yield kind, cst.Integer(str(number - 1))


def _other_fraction(node: cst.Float, _: _Around) -> Iterator[_Change]:
    for factor in (2, 0.5):
        yield "another constant", cst.Float(repr(float(node.value) * factor))


def _fewer_decimals(
    node: cst.SimpleString | cst.FormattedStringText, _: _Around
) -> Iterator[_Change]:
    fewer = re.sub(r"\.(\d)f", _one_less, node.value)
    if fewer != node.value:
        yield "fewer decimals", node.with_changes(value=fewer)


def _one_less(found: re.Match[str]) -> str:
    return f".{max(0, int(found[1]) - 1)}f"


def _other_comparison(node: cst.ComparisonTarget, _: _Around) -> Iterator[_Change]:
    if change := _COMPARED.get(type(node.operator)):
        yield "another comparison", node.with_changes(operator=change())


def _dropped_condition(node: cst.CompFor, _: _Around) -> Iterator[_Change]:
    if node.ifs:
        yield "a dropped condition", node.with_changes(ifs=[])


def _removed_element(node: cst.List | cst.Set, _: _Around) -> Iterator[_Change]:
    if len(node.elements) > 1:
        for i in range(len(node.elements)):
            left = [*node.elements[:i], *node.elements[i + 1 :]]
            yield "a removed element", node.with_changes(elements=left)


def _other_operation(node: cst.BinaryOperation, _: _Around) -> Iterator[_Change]:
    if change := _OPERATED.get(type(node.operator)):
        yield "another operation", node.with_changes(operator=change())
    masked = "mask" in cst.Module([]).code_for_node(node.right)
    yield "a missing mask" if masked else "a dropped operand", node.left


def _other_call(node: cst.Call, _: _Around) -> Iterator[_Change]:
    name, function = _called(node), node.func
    if isinstance(function, cst.Attribute):
        if name == "eval":
            yield "train() for eval()", node.with_deep_changes(function.attr, value="train")
        if name in _LIKE:
            yield f"a dropped {name}", function.value
        if name in _REDUCED:
            yield "another reduction", node.with_deep_changes(function.attr, value=_REDUCED[name])
    elif name in _BUILT_IN:
        yield "another reduction", node.with_deep_changes(function, value=_BUILT_IN[name])
    yield from _other_arguments(node)


def _other_arguments(node: cst.Call) -> Iterator[_Change]:
    args = node.args
    for i, arg in enumerate(args):
        if arg.keyword is not None:
            yield "a dropped argument", node.with_changes(args=[*args[:i], *args[i + 1 :]])
        if arg.star == "**":  # a batch of the tokenizer's, whose mask goes with it
            ids = cst.Subscript(
                arg.value, [cst.SubscriptElement(cst.Index(cst.SimpleString('"input_ids"')))]
            )
            alone = cst.Arg(ids, keyword=cst.Name("input_ids"), comma=arg.comma)
            yield "a missing mask", node.with_changes(args=[*args[:i], alone, *args[i + 1 :]])
    plain = [i for i, arg in enumerate(args) if arg.keyword is None and not arg.star]
    for i, j in itertools.pairwise(plain):
        swapped = list(args)
        swapped[i] = args[i].with_changes(value=args[j].value)
        swapped[j] = args[j].with_changes(value=args[i].value)
        yield "a swapped argument", node.with_changes(args=swapped)


def _other_name(node: cst.Name, _: _Around) -> Iterator[_Change]:
    if other := _OTHER_ROWS.get(node.value):
        yield "other rows", cst.Name(other)
    if other := _TRUTH.get(node.value):
        yield "the other truth", cst.Name(other)


def _called(node: cst.Call) -> str:
    """The last part of what is called."""
    function = node.func
    if isinstance(function, cst.Attribute):
        return function.attr.value
    return function.value if isinstance(function, cst.Name) else ""


#: What is made of each kind of node; of names only where they are read.
_RULES: dict[type[cst.CSTNode], Callable[[Any, _Around], Iterator[_Change]]] = {
    cst.SimpleStatementLine: _removed_line,
    cst.Integer: _other_number,
    cst.Float: _other_fraction,
    cst.SimpleString: _fewer_decimals,
    cst.FormattedStringText: _fewer_decimals,
    cst.ComparisonTarget: _other_comparison,
    cst.CompFor: _dropped_condition,
    cst.List: _removed_element,
    cst.Set: _removed_element,
    cst.BinaryOperation: _other_operation,
    cst.Call: _other_call,
    cst.Name: _other_name,
}
