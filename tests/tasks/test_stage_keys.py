"""Keys of stages for any inputs: equal ones have equal keys, different ones different keys, and a key says nothing of them."""

from __future__ import annotations

import copy
import json
from datetime import date
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from staged import Place

from tasks.core.models.value import Value
from tasks.stage import canonical, stage


class Leaf(Value):
    """Any plain value."""

    of: Any = None
    name: str = ""


class Tree(Value):
    """Models in models."""

    leaf: Leaf
    more: tuple[Leaf, ...] = ()


@stage()
async def weighed(tree: Tree, parts: tuple[Any, ...], note: Any = None) -> int:
    return len(parts)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(
    ["dict", "float", "model", "digest", "1", "null"]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | st.dates()
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
LEAVES = st.builds(Leaf, of=VALUES, name=TEXTS)
INPUTS = st.tuples(
    st.builds(Tree, leaf=LEAVES, more=st.lists(LEAVES, max_size=2).map(tuple)),
    st.lists(VALUES | LEAVES, max_size=3).map(tuple),
    VALUES,
)


def told(value: Any) -> Any:
    """What a value is, type by type; written apart from the product: sequences are alike, 1, 1.0, true and "1" are not."""
    if isinstance(value, Value):
        return (type(value).__name__, tuple((name, told(getattr(value, name))) for name in type(value).model_fields))
    if isinstance(value, list | tuple):
        return ("sequence", tuple(map(told, value)))
    if isinstance(value, dict):
        return ("mapping", frozenset((key, told(item)) for key, item in value.items()))
    return (type(value).__name__, repr(value))


@settings(max_examples=settings().max_examples * 3)
@given(one=INPUTS, other=INPUTS)
def test_keys_are_equal_just_where_inputs_are(one: Any, other: Any) -> None:
    same = copy.deepcopy(one)
    assert weighed.record(*one) == weighed.record(*same) == weighed.record(tree=same[0], parts=same[1], note=same[2])
    assert (weighed.record(*one) == weighed.record(*other)) == (told(one) == told(other))


@settings(max_examples=settings().max_examples * 3)
@given(one=VALUES, other=VALUES)
def test_the_stable_form_tells_apart_what_differs_and_nothing_else(one: Any, other: Any) -> None:
    forms = [json.dumps(canonical(value), sort_keys=True, allow_nan=True) for value in (one, other)]
    assert (forms[0] == forms[1]) == (told(one) == told(other))


@given(one=VALUES, at=st.integers(0, 5), name=TEXTS)
def test_one_change_anywhere_is_another_key(one: Any, at: int, name: str) -> None:
    leaves = [Leaf(of=one, name=str(number)) for number in range(6)]
    before = weighed.record(Tree(leaf=leaves[0], more=tuple(leaves[1:])), (one,))
    assume(name != str(at))
    leaves[at] = Leaf(of=one, name=name)
    assert weighed.record(Tree(leaf=leaves[0], more=tuple(leaves[1:])), (one,)) != before


@given(root=TEXTS, other=TEXTS, day=st.dates())
def test_where_a_folder_lies_is_no_part_of_a_key_and_the_day_is(root: str, other: str, day: date) -> None:
    leaf = Tree(leaf=Leaf())
    assert weighed.record(leaf, (Place(root=root),), day) == weighed.record(leaf, (Place(root=other),), day)
    assert weighed.record(leaf, (), day) != weighed.record(leaf, (), day.isoformat())
