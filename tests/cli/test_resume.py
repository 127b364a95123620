import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import IMPOSSIBLE, Run, Start, one_object, wait_for
from dlm.cli import main
from dlm.learning.fit import Fit
from dlm.learning.search import SearchState
from dlm.runs.checkpoint import read_checkpoint
from dlm.runs.folder import RunFolder


def saved_steps(run: Path) -> int:
    return read_checkpoint(run / "search.safetensors", SearchState).standing.steps


def test_a_killed_run_goes_on_from_its_checkpoint(start: Start, dlm: Run, tmp_path: Path) -> None:
    run = tmp_path / "r"
    process = start(*IMPOSSIBLE, "--out", "r")
    wait_for(run / "search.safetensors", run / "progress.json", run / "program.dlm")
    process.kill()
    process.communicate()
    steps = saved_steps(run)
    spent = float(one_object((run / "progress.json").read_text())["seconds"])
    accuracy = one_object((run / "best.json").read_text())["score"]
    assert steps > 0
    assert not (run / "result.json").exists()

    unfinished = dlm("show", "r")
    assert unfinished.returncode == 0
    assert "dlm learn --resume r" in unfinished.stdout

    done = dlm("learn", "--resume", "r", "--time-limit", spent + 1, "--json")
    assert done.returncode == 3, done.stderr
    result = one_object(done.stdout)
    assert result["seconds"] > spent
    assert saved_steps(run) > steps
    assert one_object((run / "best.json").read_text())["score"] >= accuracy
    assert one_object((run / "settings.json").read_text())["time_limit"] == spent + 1

    over = dlm("learn", "--resume", "r")
    assert over.returncode == 2
    assert "give a larger --time-limit" in over.stderr
    assert one_object((run / "result.json").read_text()) == result


def test_the_best_program_survives_a_resume(dlm: Run, tmp_path: Path) -> None:
    first = one_object(dlm(*IMPOSSIBLE, "--time-limit", "2", "--out", "r", "--json").stdout)
    kept = (tmp_path / "r" / "raw.dlm").read_text()
    # Nothing beats a program of accuracy 1, so it must still be there in the end.
    (tmp_path / "r" / "best.json").write_text('{"learner": "search", "score": 1.0}')
    again = one_object(dlm("learn", "--resume", "r", "--time-limit", first["seconds"] + 1, "--json").stdout)
    assert again["program"] == first["program"]
    assert (tmp_path / "r" / "raw.dlm").read_text() == kept


def test_a_verified_run_is_printed_again(dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, first = learned
    again = dlm("learn", "family/has-father", "--resume", run)
    assert again.returncode == 0
    assert again.stdout == first.stdout.replace(f"runs/{run.name}", str(run))


def test_only_the_time_limit_may_change(dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, _ = learned
    other = dlm("learn", "family/is-uncle", "--resume", run)
    assert other.returncode == 2
    assert "learns family/has-father, not family/is-uncle" in other.stderr
    seed = dlm("learn", "--resume", run, "--seed", "5", "--no-negation")
    assert seed.returncode == 2
    assert "leave out --seed, --negation" in seed.stderr


def test_a_run_is_not_written_over(dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, _ = learned
    before = (run / "result.json").read_text()
    done = dlm("learn", "family/has-sister", "--out", run)
    assert done.returncode == 2
    assert f"--resume {run}" in done.stderr
    assert (run / "result.json").read_text() == before


def test_damaged_files_are_named(
    learned: tuple[Path, subprocess.CompletedProcess[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, _ = learned
    damage = {
        "settings.json": ['{"task": ', "[]", "{}", '{"task": 1, "machine": {}}'],
        "progress.json": ["", '{"seconds": "soon"}'],
        "best.json": ["{}"],
        "search.safetensors": ["", "PK\x03\x04 not a checkpoint"],
    }
    for name, texts in damage.items():
        for text in texts:
            copy = tmp_path / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(run, copy)
            (copy / "result.json").unlink()
            (copy / name).write_text(text)
            monkeypatch.setattr(sys, "argv", ["dlm", "learn", "--resume", str(copy), "--json"])
            with pytest.raises(SystemExit) as ended:
                main()
            out, err = capsys.readouterr()
            assert ended.value.code == 2, (name, text)
            assert err.startswith("error: "), (name, text)
            assert out == ""


def test_a_checkpoint_of_something_else(
    dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    run, _ = learned
    shutil.copytree(run, tmp_path / "copy")
    (tmp_path / "copy" / "result.json").unlink()
    RunFolder(tmp_path / "copy").write_state("search.safetensors", Fit())
    done = dlm("learn", "--resume", "copy")
    assert done.returncode == 2
    assert "search.safetensors: SearchState should have the parts" in done.stderr
    assert "Traceback" not in done.stderr
