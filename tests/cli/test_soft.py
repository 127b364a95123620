"""`dlm show --soft`: what a machine leans to; and `--log tensorboard`."""

import io
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

import dlm as library
from cli.conftest import Command, Run, one_object
from dlm.api.soft import SoftMachine
from dlm.cli.soft import soft_figure
from dlm.machine.likely import LikelyAtom, LikelyLiteral, LikelyPredicate

# One start of 50 short epochs: the checkpoint is there when it ends, right or wrong.
SHORT = ("--learner", "gradient", "--schedule", "paper", "--shorten", "250", "--depth", "3", "--outputs", "4")
with_log = pytest.mark.skipif(find_spec("tensorboardX") is None, reason="tensorboardX is not installed")

SHOP = Path(__file__).parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run by gradient."""
    folder = tmp_path_factory.mktemp("trained")
    command = [sys.executable, "-m", "dlm", "learn", "family/has-father", *SHORT, "--out", "run"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 3), done.stderr
    return folder / "run"


def test_choices_are_shown_layer_by_layer(call: Command, trained: Path) -> None:
    code, out, _ = call("show", trained, "--soft")
    assert code == 0
    assert "after 50 steps, at temperature 0.778" in out
    assert [line for line in out.splitlines() if line.startswith("layer")][-1] == "layer 3"
    assert "has_father(x)" in out
    assert "LIKELIEST" in out


def test_probabilities_are_a_distribution_with_the_program_first(call: Command, trained: Path) -> None:
    code, out, _ = call("show", trained, "--soft", "--json")
    assert code == 0
    predicates = one_object(out)["predicates"]
    assert predicates[-1]["name"] == "has_father"
    raw = (trained / "raw.dlm").read_text()
    for predicate in predicates:
        assert raw.count(f"{predicate['name']}(x") >= 1, "the likeliest choices are the program as extracted"
        for atom in predicate["atoms"]:
            shares = [literal["probability"] for literal in atom["literals"]]
            assert shares == sorted(shares, reverse=True)
            assert 0 < sum(shares) <= 1.00001


def literal(text: str, predicate: str, share: float) -> LikelyLiteral:
    return LikelyLiteral(text, predicate, text.startswith("~"), share)


@pytest.mark.parametrize("name", ["machine.png", "machine.svg"])
def test_a_machine_is_drawn(call: Command, trained: Path, tmp_path: Path, name: str) -> None:
    assert call("show", trained, "--soft", "--out", name)[0] == 0
    if name.endswith("png"):
        with Image.open(tmp_path / name) as picture:
            assert picture.width > 400
    else:
        assert "<svg" in (tmp_path / name).read_text()


def test_a_drawing_says_what_is_negated_and_adds_up_what_an_atom_reads() -> None:
    atoms = (
        LikelyAtom((literal("p(x, y)", "p", 0.5), literal("p(y, x)", "p", 0.25), literal("q(x, y)", "q", 0.25))),
        LikelyAtom((literal("~p(x, y)", "p", 1.0),)),
    )
    target = LikelyPredicate(1, "t", "t(x, y)", "and", atoms)
    figure = soft_figure(SoftMachine("a/task", 0.5, 1000, {"p": 2, "q": 2}, (target,)))
    (axis,) = figure.axes
    drawn = [line for line in axis.lines if len(line.get_xdata())]
    assert axis.get_title() == "task a/task, after 1,000 steps, at temperature 0.500"
    assert [line.is_dashed() for line in drawn] == [False, False, True]
    widths = [line.get_linewidth() for line in drawn]
    assert widths[1] < widths[0] < widths[2], "3/4, 1/4 and 1"
    assert len({line.get_ydata()[-1] for line in drawn}) == 2, "each atom has its own place"
    assert [text.get_text() for text in figure.legends[0].texts][-1] == "negated"


def test_a_drawing_is_there_though_nobody_reads_the_text(trained: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dlm", "show", str(trained), "--soft", "--out", str(tmp_path / "m.svg")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert (tmp_path / "m.svg").is_file()


def test_what_cannot_be_shown(call: Command, trained: Path, learned: tuple[Path, object], tmp_path: Path) -> None:
    for arguments, message in (
        ((learned[0], "--soft"), "has no machine whose choices can be shown"),
        ((tmp_path, "--soft"), "is not a run folder"),
        ((trained, "--soft", "--out", "machine.gif"), "as .png or .svg"),
        ((trained, "--soft", "--out", "nowhere/machine.png"), "there is no folder nowhere"),
        ((trained, "--out", "machine.png"), "use it with --soft"),
    ):
        code, out, err = call("show", *arguments)
        assert (code, out) == (2, "")
        assert message in err


def test_a_soft_policy_is_shown_too(dlm: Run) -> None:
    learn = ("learn", "rl/unstack", "--learner", "ppo", "--keep-soft", "--time-limit", "1", "--out", "soft")
    assert dlm(*learn).returncode in (0, 3)
    done = dlm("show", "soft", "--soft")
    assert done.returncode == 0, done.stderr
    assert "move(x, y)" in done.stdout


@pytest.mark.parametrize(
    ("world", "learner", "seen"),
    [("rl/stack", "ppo", "move(x, y)"), ("rl/stack", "reinforce", "move(x, y)"), ("rl/sorting", "dlm-incr-rl", "m3_")],
)
def test_a_policy_under_training_is_shown_from_its_checkpoint(dlm: Run, world: str, learner: str, seen: str) -> None:
    dlm("learn", world, "--learner", learner, "--time-limit", "2", "--out", "cut")
    done = dlm("show", "cut", "--soft")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"task {world}")
    assert " steps, at temperature " in done.stdout.splitlines()[0]
    assert seen in done.stdout


def test_a_machine_that_learns_in_phases_is_shown_too(dlm: Run) -> None:
    dlm("learn", "graph/6-connectivity", "--learner", "gradient", "--incremental", "--time-limit", "2", "--out", "cut")
    done = dlm("show", "cut", "--soft")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("task graph/6-connectivity, phase ")


def test_a_machine_that_learned_ones_own_data_is_shown_too(dlm: Run) -> None:
    dlm("learn", SHOP, "--learner", "gradient", "--time-limit", 3, "--out", "own")
    shown = dlm("show", "own", "--soft")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("task shop, after ")
    assert "age(x)" in shown.stdout


@with_log
def test_a_log_has_the_curves_of_training(dlm: Run, tmp_path: Path) -> None:
    done = dlm("learn", "family/has-father", *SHORT, "--log", "tensorboard", "--out", "run")
    assert done.returncode in (0, 3), done.stderr
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    content = events.read_bytes()
    for name in (b"loss", b"temperature", b"recall", b"precision", b"literals"):
        assert b"gradient/" + name in content


def test_a_log_that_cannot_be_written_is_refused(
    call: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("dlm.errors.find_spec", lambda _: None)
    code, _, err = call("learn", "family/has-father", "--log", "tensorboard")
    assert code == 2
    assert "pip install 'dlm[log]'" in err
    assert not list(tmp_path.iterdir())


@with_log
def test_the_log_is_open_before_the_clock_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Looking(io.StringIO):
        opened: bool | None = None

        def write(self, text: str) -> int:
            if text.startswith("Learning"):
                self.opened = (tmp_path / "run" / "tensorboard").is_dir()
            return super().write(text)

    shown = Looking()
    monkeypatch.setattr(sys, "stderr", shown)
    library.learn("family/has-father", learner="rules", out=tmp_path / "run", log="tensorboard", progress=True)
    assert shown.opened
