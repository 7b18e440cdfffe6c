"""Runs of keys that stay where they are when a key comes or goes."""

import random

import pytest

from tasks.document.slicing.chunks import chunks

KEYS = [f"R{number:05}" for number in range(1000)]


def named(keys: list[str], most: int = 40) -> list[tuple[str, ...]]:
    return [tuple(keys[at] for at in run) for run in chunks(keys, most)]


@pytest.mark.parametrize("size", [0, 1, 2, 39, 40, 41, 50, 52, 79, 80, 81, 1000])
@pytest.mark.parametrize("most", [1, 2, 3, 7, 40])
def test_every_key_is_in_one_run_of_the_size_that_is_allowed(size: int, most: int) -> None:
    runs = chunks(KEYS[:size], most)
    assert [at for run in runs for at in run] == list(range(size))
    assert all(0 < len(run) <= most for run in runs)


def test_runs_are_mostly_full() -> None:
    assert len(chunks(KEYS, 40)) <= 1000 / (40 * 2 / 3)


def test_a_key_put_in_or_taken_out_changes_the_runs_near_it_only() -> None:
    before, chooser, changed = set(named(KEYS)), random.Random(5), []
    for _ in range(40):
        at = chooser.randrange(1000)
        changed.append(len(set(named([*KEYS[:at], "new", *KEYS[at:]])) - before))
        changed.append(len(set(named(KEYS[:at] + KEYS[at + 1 :])) - before))
    assert sum(changed) / len(changed) < 3 and max(changed) <= 12


def test_a_run_that_does_not_fit_is_cut_and_its_neighbours_stay() -> None:
    def fits(run: list[int]) -> bool:
        return len(run) <= 5 or 500 not in run

    cut, whole = chunks(KEYS, 40, fits=fits), chunks(KEYS, 40)
    assert [run for run in whole if 500 not in run] == [run for run in cut if run in whole]
    assert max(len(run) for run in cut if 500 in run) <= 5


def test_keys_that_belong_together_are_parted_only_where_they_must() -> None:
    joined = frozenset(at for at in range(1000) if at % 2)
    assert all(run[0] % 2 == 0 for run in chunks(KEYS, 40, joined))
    assert [len(run) for run in chunks(["a", "b", "c"], 1, frozenset({1, 2}))] == [1, 1, 1]
