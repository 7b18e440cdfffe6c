"""YAML text → plain data with the line of each part; every scalar is the text that stands there, so `no` and `007` stay.

The text is data from anywhere: no tag makes an object, and nesting, size and what aliases unfold to are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node, ScalarNode

Place = tuple[str | int, ...]
NAMED = ("tables", "columns", "metrics", "databases")
"""Keys whose entries have names: a mapping by name, or a list of entries with `name`."""
_DEPTH = 20
_PARTS = 200_000
"""Most keys and values, after aliases."""
_NULLS = ("", "~", "null", "Null", "NULL")


@dataclass
class Tree:
    """Mappings, lists and texts; what has no value is left out."""

    data: Any = None
    lines: dict[Place, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)
    """Line and what is wrong."""

    def line(self, place: Place) -> int:
        """Of the part at this place, or of the nearest one around it."""
        while place not in self.lines and place:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_tree(text: str) -> Tree:
    """The data of one YAML document; what is wrong with it is in `problems`."""
    import yaml

    tree = Tree()
    try:
        if problem := _depth(text):
            tree.problems.append(problem)
            return tree
        root = yaml.compose(text, Loader=_loader())
        if root is not None:
            tree.data = _Builder(tree).build(root, (), False)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.context, error.problem) if part)
        tree.problems.append((mark.line + 1 if mark else 1, f"this is no YAML: {said}"))
    except yaml.YAMLError as error:
        tree.problems.append((1, f"this is no YAML: {str(error).splitlines()[0]}"))
    except _TooMuch as error:
        tree.problems.append(
            (
                error.line,
                f"too deep, or more than {_PARTS:,} keys and values, aliases unfolded: write it flat, without aliases",
            )
        )
    return tree


def _loader() -> Any:
    """libyaml's where it is there: ten times as fast."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _depth(text: str) -> tuple[int, str] | None:
    """What nests too deeply to be read further: composing recurses, walking the events does not."""
    import yaml
    from yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in yaml.parse(text, Loader=_loader()):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > _DEPTH:
            return event.start_mark.line + 1, f"nested more than {_DEPTH} levels deep: write it flat"
    return None


class _TooMuch(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Builder:
    """Nodes → data; one walk, in which an alias counts as often as it stands there."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._parts = 0

    def build(self, node: Node, place: Place, named: bool) -> Any:
        """The data of a node; None for what has no value. `named`: its entries have names."""
        from yaml.nodes import MappingNode, ScalarNode, SequenceNode

        self._parts += 1
        line = node.start_mark.line + 1
        if self._parts > _PARTS or len(place) > 2 * _DEPTH:
            raise _TooMuch(line)  # the depth is that of an alias to what is around it
        self._tree.lines.setdefault(place, line)
        if not node.tag.startswith("tag:yaml.org,2002:") or ":python/" in node.tag:
            self._tree.problems.append((line, f"the tag {node.tag!r} is not allowed: leave it out"))
        if isinstance(node, ScalarNode):
            return _text(node)
        if isinstance(node, SequenceNode):
            if named and node.value and all(isinstance(item, MappingNode) for item in node.value):
                return self._by_name(node.value, place)
            items = (self.build(item, (*place, at), False) for at, item in enumerate(node.value))
            return [item for item in items if item is not None]
        return self._mapping(node, place, named)

    def _mapping(self, node: Node, place: Place, named: bool) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for line, key, value in self._entries(node, made):
            self._tree.lines[(*place, key)] = line
            found = self.build(value, (*place, key), not named and key in NAMED)
            if found is not None or named:
                made[key] = {} if found is None else found
        return made

    def _entries(self, node: Node, made: dict[str, Any]) -> Iterator[tuple[int, str, Node]]:
        from yaml.nodes import ScalarNode

        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                self._tree.problems.append((line, "a key must be a name"))
            elif key.tag == "tag:yaml.org,2002:merge":
                self._tree.problems.append((line, "`<<` is not read: write the keys out"))
            elif key.value in made:
                self._tree.problems.append((line, f"{key.value!r} stands here a second time: put both into one"))
            else:
                yield line, key.value, value

    def _by_name(self, items: list[MappingNode], place: Place) -> dict[str, Any]:
        """A list of entries with `name` (of columns also `table`) as a mapping."""
        made: dict[str, Any] = {}
        for item in items:
            line = item.start_mark.line + 1
            told = {key.value: _text(value) for key, value in item.value if _is_text(key) and _is_text(value)}
            name = ".".join(part for part in (told.get("table") if len(place) == 1 else "", told.get("name")) if part)
            if not told.get("name"):
                self._tree.problems.append((line, "an entry of this list needs `name`"))
            elif name in made:
                self._tree.problems.append((line, f"{name!r} stands here a second time: put both into one"))
            else:
                self._tree.lines[(*place, name)] = line
                data = self.build(item, (*place, name), False)
                without = {"name", "table"} if place == ("columns",) else {"name"}
                made[name] = {key: value for key, value in data.items() if key not in without}
        return made


def _is_text(node: Node) -> bool:
    return bool(node.id == "scalar")


def _text(node: ScalarNode) -> str | None:
    return None if not node.style and node.value in _NULLS else str(node.value)
