"""A run of `rules` from a folder to a result and back, by the library and by the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlm
from cli.conftest import Command, call, one_object
from dlm.errors import DlmError
from dlm.learning.fit import Fit
from dlm.learning.rules.result import DataResult, Interval
from dlm.learning.rules.run import _Pace

__all__ = ["call"]

PEOPLE = 40
BIAS = """
head_pred(happy,1).
body_pred(likes,2).
body_pred(tall,1).
type(happy,(p,)).
type(likes,(p,p)).
type(tall,(p,)).
"""


def likes(one: int) -> int:
    return (7 * one + 3) % PEOPLE


def tall(one: int) -> bool:
    return one * one % 7 < 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Happy is who likes someone tall."""
    path = tmp_path / "people"
    path.mkdir()
    facts = [f"likes(p{one},p{likes(one)})." for one in range(PEOPLE)]
    facts += [f"tall(p{one})." for one in range(PEOPLE) if tall(one)]
    examples = [f"{'pos' if tall(likes(one)) else 'neg'}(happy(p{one}))." for one in range(PEOPLE)]
    for name, lines in (("bk.pl", facts), ("exs.pl", examples), ("bias.pl", [BIAS])):
        (path / name).write_text("\n".join(lines) + "\n")
    return path


def learned(path: Path, **settings: object) -> DataResult:
    result = dlm.learn(path, progress=False, **settings)  # type: ignore[arg-type]
    assert isinstance(result, DataResult)
    return result


def test_the_program_is_found(folder: Path) -> None:
    result = learned(folder)
    assert str(result.program) == "happy(x) :- exists y: likes(x, y) & tall(y).\n"
    assert (result.train.misses, result.train.alarms, result.test) == (0, 0, None)
    assert result.tested == "fits the data"
    assert not result.verified, "nothing was held out"


def test_a_result_is_read_from_its_folder_as_it_was(folder: Path, tmp_path: Path) -> None:
    result = learned(folder, out=tmp_path / "run", split=0.25)
    again = dlm.load(tmp_path / "run")
    assert again == replace(result, seconds=again.seconds)
    assert again.seconds == pytest.approx(result.seconds, abs=0.01)
    assert isinstance(again, DataResult)
    assert again.test is not None
    assert again.to_json() == {**result.to_json(), "seconds": again.to_json()["seconds"]}


def test_the_same_seed_gives_the_same_result(folder: Path) -> None:
    exs = (folder / "exs.pl").read_text().replace("neg(", "pos(", 3)  # noise: the choice takes folds
    (folder / "exs.pl").write_text(exs)
    first, second = (learned(folder, seed=5, split=0.2) for _ in range(2))
    assert replace(first, seconds=0) == replace(second, seconds=0)


def test_the_command_with_a_split(call: Command, folder: Path) -> None:
    code, out, err = call("learn", folder, "--split", ".2", "--json")
    said = one_object(out)
    assert (code, said["verified"]) == (0, True), err
    held_out = said["test"]
    assert held_out["tp"] + held_out["fp"] + held_out["fn"] + held_out["tn"] >= PEOPLE * 0.2
    assert held_out["accuracy"] == 1
    assert [point["errors"] for point in said["front"]][-1] == 0
    assert said["chosen_because"].startswith("no error, and smaller")


def test_nothing_is_claimed_without_folds(call: Command, folder: Path) -> None:
    result = learned(folder, split=0.2)
    assert result.claim is None
    assert result.verified, "as good on held-out atoms as on the others"
    poor = replace(result, test=Fit(hits=2, misses=3, alarms=3, rejections=0))
    assert not poor.verified
    assert poor.tested.startswith("worse on 8 held-out atoms than on those it was learned from: accuracy 0.250")
    folds = replace(poor, folds=Interval.share(9, 10))
    assert folds.claim == folds.folds.low  # type: ignore[union-attr]
    assert folds.tested.startswith("claim not met on 8 held-out atoms")
    assert "longer time limit" in replace(result, ended="time limit").unclaimed
    out = call("learn", folder)[1]
    assert "claim       none: no folds were run; to test the program hold examples out (--split" in out


@given(st.lists(st.floats(0.01, 5), min_size=1, max_size=50), st.floats(1, 100))
def test_a_run_has_time_to_end_by_its_limit(pieces: list[float], limit: float) -> None:
    """However long a piece of work takes, if none takes longer than those before, all of it ends by the limit."""
    pace, seconds = _Pace(), 0.0
    for piece in sorted(pieces, reverse=True):
        if not pace.has_time(seconds, limit):
            break
        seconds += piece
    assert seconds + max(pieces) <= max(limit, 2 * max(pieces)) + 1e-9, "as long again for the end"


def test_closed_negatives(call: Command, folder: Path) -> None:
    lines = (folder / "exs.pl").read_text().splitlines()
    (folder / "exs.pl").write_text("\n".join(line for line in lines if line.startswith("pos")) + "\n")
    code, out, err = call("learn", folder, "--negatives", "closed", "--json")
    said = one_object(out)
    assert code == 0, err
    train = said["train"]
    assert train["tp"] + train["tn"] == PEOPLE
    assert "likes(x, y) & tall(y)" in said["program"]


def test_a_path_to_nothing(call: Command, folder: Path) -> None:
    code, out, err = call("learn", folder / "nobody", "--json")
    assert (code, out) == (2, "")
    assert "nobody" in err
    assert "Traceback" not in err


def test_an_unknown_setting(call: Command, folder: Path) -> None:
    with pytest.raises(DlmError, match=r"no setting 'fold' for one's own data.*folds"):
        dlm.learn(folder, fold=3)
    code, _, err = call("learn", folder, "--fold-count", "3")
    assert code == 2
    assert "--fold-count" in err


# ---------------------------------------------------------------------- known beforehand


def test_definitions_join_the_predicates(folder: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.dlm"
    known.write_text("admirer(x) :- exists y: likes(x, y) & tall(y).\n")
    result = learned(folder, definitions=known, out=tmp_path / "run", use=["likes"])
    assert "happy(x) :- admirer(x)." in str(result.program)
    assert result.train.misses + result.train.alarms == 0
    again = dlm.load(tmp_path / "run")
    assert isinstance(again, DataResult)
    assert again.program == result.program
    with pytest.raises(DlmError, match="the facts have 'tall' already"):
        learned(folder, definitions=dlm.parse_program("tall(x) :- exists y: likes(x, y)."))


def test_a_first_guess_is_made_better(folder: Path) -> None:
    guess = dlm.parse_program("happy(x) :- (exists y: likes(x, y) & tall(y)) | tall(x).")
    result = learned(folder, start=guess, depth=0)
    assert str(result.program) == "happy(x) :- exists y: likes(x, y) & tall(y).\n" or result.train.alarms
    assert any(point.program.literals == 3 for point in result.front), "the guess itself is on the front"
    with pytest.raises(DlmError, match="the first guess is of sad/1"):
        learned(folder, start=dlm.parse_program("sad(x) :- tall(x)."))


def swap_labels(folder: Path) -> None:
    """Happy is who likes nobody tall."""
    lines = (folder / "exs.pl").read_text()
    (folder / "exs.pl").write_text(lines.replace("pos(", "x(").replace("neg(", "pos(").replace("x(", "neg("))


def test_a_smaller_language(folder: Path) -> None:
    swap_labels(folder)
    assert "~" in str(learned(folder).program) or "forall" in str(learned(folder).program)
    for point in learned(folder, negation=False, time_limit=3).front:
        assert "~" not in str(point.program)
        assert "forall" not in str(point.program)
    for point in learned(folder, forall=False, time_limit=3).front:
        assert "~(exists" not in str(point.program)
        assert "forall" not in str(point.program)
    for point in learned(folder, depth=0, time_limit=3).front:
        assert "exists" not in str(point.program)


# ---------------------------------------------------------------------- what came out


def test_an_answer_is_explained(folder: Path) -> None:
    result = learned(folder)
    assert str(result.explain("happy(p1)")).startswith("happy(p1) is ")


def test_wrong_examples_are_explained(call: Command, folder: Path) -> None:
    """People of whom the same is true, and half of them are happy: no program is right."""
    with (folder / "bk.pl").open("a") as facts:
        facts.write("".join(f"likes(q{one},q{one}).\n" for one in range(24)))
    with (folder / "exs.pl").open("a") as examples:
        examples.write("".join(f"{'pos' if one % 2 else 'neg'}(happy(q{one})).\n" for one in range(24)))
    _, out, _ = call("learn", folder, "--json", "--time-limit", 60)
    said = one_object(out)
    wrong = said["wrong"][0]
    assert wrong["atom"].startswith("happy(q")
    assert wrong["atom"] + (" is false" if wrong["expected"] else " is true") in wrong["explanation"]
    assert any("12 positives cannot be told from negatives" in reason for reason in said["reasons"])
    assert any("more facts" in line for line in said["advice"])
    _, out, _ = call("learn", folder, "--time-limit", 60, "--out", "r")
    assert wrong["atom"] in out
    assert "What to try:" in out


def test_a_stopped_run_goes_on_from_its_best_program(folder: Path, tmp_path: Path) -> None:
    (folder / "exs.pl").write_text((folder / "exs.pl").read_text().replace("neg(", "pos(", 3))
    stopped = learned(folder, out=tmp_path / "run", callbacks=[lambda _: True])
    assert stopped.ended == "stopped"
    again = dlm.resume(tmp_path / "run", progress=False)
    assert isinstance(again, DataResult)
    assert again.ended == "finished"
    assert again.train.misses + again.train.alarms <= stopped.train.misses + stopped.train.alarms
    assert again.seconds > stopped.seconds
    assert str(dlm.resume(tmp_path / "run", progress=False)) == str(again), "there is nothing more to do"
