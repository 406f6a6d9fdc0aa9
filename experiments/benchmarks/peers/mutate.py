"""One mutation of a module by cosmic-ray's operators; runs in that environment.

    mutate.py MODULE PICK

Prints JSON: the operator, the line, a diff, the mutated text, how many there are. ``PICK``, between 0 and 1, says which
of all mutations of the module, in cosmic-ray's order; a type in an annotation counts as nothing to mutate.
"""

import ast
import json
import sys
from difflib import unified_diff
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

# what an author might have written by mistake; of a binary operator its nearest rivals, not all eleven others
ARITHMETIC = {("Add", "Sub"), ("Sub", "Add"), ("Mul", "Div"), ("Div", "Mul"), ("FloorDiv", "Div"), ("Mod", "FloorDiv")}
COMPARISONS = {("Lt", "LtE"), ("LtE", "Lt"), ("Gt", "GtE"), ("GtE", "Gt"), ("Lt", "Gt"), ("Gt", "Lt"), ("Eq", "NotEq"),
               ("NotEq", "Eq"), ("Is", "IsNot"), ("IsNot", "Is")}  # fmt: skip
OTHERS = {"ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot", "ReplaceTrueWithFalse",
          "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "NumberReplacer",
          "ZeroIterationForLoop"}  # fmt: skip


def wanted(name):
    kind, _, pair = name.removeprefix("core/").partition("_")
    if kind == "ReplaceBinaryOperator":
        return tuple(pair.split("_")) in ARITHMETIC
    if kind == "ReplaceComparisonOperator":
        return tuple(pair.split("_")) in COMPARISONS
    return name.removeprefix("core/") in OTHERS


def annotations(source):
    """Positions within annotations: ``int | None`` is no arithmetic."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        for one in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if one is not None:
                lines = range(one.lineno, one.end_lineno + 1)
                found |= (
                    {(line, column) for line in lines for column in range(one.end_col_offset + 200)}
                    if len(lines) > 1
                    else {(one.lineno, column) for column in range(one.col_offset, one.end_col_offset)}
                )
    return found


def main(module, pick):
    source = Path(module).read_text(encoding="utf-8")
    every = (item.mutations[0] for item in _all_work_items([Path(module)], {}))
    annotated = annotations(source)
    items = [item for item in every if wanted(item.operator_name) and item.start_pos not in annotated]
    if not items:
        print(json.dumps({"operator": None}))
        return
    item = items[int(pick * len(items))]
    operator = get_operator(item.operator_name)(**getattr(item, "operator_args", {}))
    mutated = mutate_code(source, operator, item.occurrence)
    lines = list(unified_diff(source.splitlines(), mutated.splitlines(), lineterm="", n=0))[2:]
    found = {"operator": item.operator_name, "line": item.start_pos[0], "diff": "\n".join(lines), "text": mutated}
    print(json.dumps(found | {"of": len(items)}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
