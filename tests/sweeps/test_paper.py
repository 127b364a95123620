"""The experiments of the paper: which runs they take, and what pages say of their records."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dlm.cli.sweep_options import RunLines
from dlm.errors import ResourceError, RunError, SettingsError
from dlm.runs.settings import ScheduleName
from dlm.sweeps.executors import LocalProcesses
from dlm.sweeps.paper.critic import curve_of
from dlm.sweeps.paper.experiment import ExperimentName, Wanted
from dlm.sweeps.paper.figures import ABLATION, COST, ILP, RL, RL_COLUMNS
from dlm.sweeps.paper.measure import measure
from dlm.sweeps.paper.reproduce import EXPERIMENTS, open_records, reproduce, take_records, write_page
from dlm.sweeps.records import Records


def test_the_papers_figures_are_complete() -> None:
    assert [row[3].seeds for row in ILP.values()] == [100, 100, 100, 100, 70, 90, 100, 90, 100, 100]
    assert [row[0] for row in ABLATION.values()] == [58, 68, 70, 80, 95]
    assert all(len(row) == len(RL_COLUMNS) for row in RL.values())
    assert [(max(rows), rows[0]) for rows in COST["graph/2-outdegree"].values()] == [
        (35, (966, 22)),
        (15, (2522, 844)),
        (35, (3238, 1372)),
    ]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_page_is_written_of_nothing(name: ExperimentName, tmp_path: Path) -> None:
    experiment, wanted, out = EXPERIMENTS[name](), Wanted(), tmp_path / "new"
    with pytest.raises(RunError, match=r"there is no run for the page of .*the folder has no records"):
        write_page(experiment, wanted, open_records(experiment, wanted, out), out)
    assert not out.exists()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_runs_that_failed_have_a_page_too(name: ExperimentName, tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS[name](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    (job, *_) = experiment.jobs(wanted)
    records.keep(job.key, {**job.about, "error": "no memory"})
    page = write_page(experiment, wanted, records, tmp_path)
    assert page.read_text().startswith("# The paper's")
    assert f"- {job.key}: no memory" in page.read_text()
    assert json.loads(page.with_suffix(".json").read_text())
    with Image.open(page.with_suffix(".png")) as picture:
        assert picture.width > 300


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_documentation_names_every_method(name: ExperimentName) -> None:
    lines = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text().splitlines()
    rows = [cells for line in lines if (cells := line.split(" | ")) and len(cells) > 2 and cells[1] == name]
    named = {method: "usual)" in row[0] for row in rows for method in re.findall("`([^`]+)`", row[0])}
    experiment = EXPERIMENTS[name]()
    assert named == {method: method in experiment.usual for method in experiment.methods}


def check(name: ExperimentName, wanted: Wanted) -> None:
    experiment = EXPERIMENTS[name]()
    experiment.check(wanted)
    experiment.check_runs(wanted)


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        ("ilp", Wanted(tasks=("is-uncel",)), "no task 'is-uncel'. Did you mean 'family/is-uncle'"),
        ("ilp", Wanted(methods=("gradeint",)), "no method 'gradeint'. Did you mean 'gradient'"),
        ("rl", Wanted(methods=("pposoft",)), "Did you mean 'ppo-soft'"),
        ("rl", Wanted(tasks=("family/is-uncle",)), "It has rl/unstack"),
        ("ablation", Wanted(schedule="fast"), "has the schedule paper, not fast"),
        ("ablation", Wanted(shorten=0.5), "'shorten' setting must be a number of at least 1"),
        ("ablation", Wanted(shorten=0), "'shorten' setting must be a number of at least 1"),
        ("ilp", Wanted(shorten=4), "`reproduce ilp` takes no --shorten"),
        ("ilp", Wanted(limit=-5), "'time_limit' setting must be a positive number"),
        ("cost", Wanted(limit=60), "`reproduce cost` takes no --time-limit"),
        ("cost", Wanted(seeds=(1,)), "`reproduce cost` takes no --seeds"),
        ("rl", Wanted(schedule="paper", methods=("search",)), "trains no machine"),
        ("rl", Wanted(schedule="paper", methods=("ppo+repair",)), "repairs no programs"),
        ("rl", Wanted(methods=("nlrl",), tasks=("rl/path",)), "not for rl/path"),
    ],
)
def test_what_is_not_there_is_refused_with_near_names(name: ExperimentName, wanted: Wanted, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        check(name, wanted)
    assert message in str(error.value)


def test_the_papers_schedule_is_for_the_machine_alone() -> None:
    ilp = EXPERIMENTS["ilp"]()
    jobs = ilp.jobs(Wanted(tasks=("family/has-father",), methods=("gradient", "search"), seeds=(3,)))
    assert [job.key for job in jobs] == ["gradient family/has-father 3 schedule=paper", "search family/has-father 3"]
    assert [job.limit for job in jobs] == [864_000, 600], "a search ends by its limit, or not at all"
    fast = ilp.jobs(Wanted(schedule="fast", limit=7))
    assert len(fast) == 100
    assert {(job.learner, job.limit, *job.settings) for job in fast} == {("gradient", 7)}
    assert ilp.stem(Wanted(schedule="fast")) == "paper-ilp-fast"


def test_the_ablation_shortens_all_rows_alike() -> None:
    experiment, few = EXPERIMENTS["ablation"](), Wanted(tasks=("family/has-father",), seeds=(0,), shorten=5)
    rows: dict[str, dict[str, object]] = {
        "softmax": {"noise": "none", "dropout": 0},
        "constant-noise": {"noise_decay": 1},
        "no-dropout": {"dropout": 0},
        "gaussian": {"noise": "gaussian"},
        "dlm": {},
    }
    same = {"schedule": "paper", "shorten": 5}
    assert {job.asked: {**job.settings} for job in experiment.jobs(few)} == {
        name: {**same, **row} for name, row in rows.items()
    }


def test_what_a_method_cannot_do_is_left_out_unless_it_is_asked_for() -> None:
    experiment, few = EXPERIMENTS["rl"](), Wanted(methods=("ppo-soft-joined", "nlrl"), seeds=(0, 1))
    worlds: dict[str, list[str]] = {}
    for job in experiment.jobs(few):
        worlds.setdefault(job.asked, []).append(f"{job.problem} {job.seed}")
    assert worlds["ppo-soft-joined"] == ["rl/blocksworld 0", "rl/blocksworld 1"]
    assert worlds["nlrl"][:4] == ["rl/unstack 0", "rl/stack 0", "rl/on 0", "rl/sorting 0"]
    check("rl", few)
    left = experiment.left_out(few)
    assert [line.partition(":")[0] for line in left] == [
        "no ppo-soft-joined of rl/unstack, rl/stack, rl/on, rl/sorting, rl/path",
        "no nlrl of rl/path, rl/blocksworld",
    ]
    with pytest.raises(SettingsError, match="whose objects have copies"):
        check("rl", replace(few, tasks=("rl/path",)))


def test_what_cannot_be_done_by_a_schedule_leaves_the_others() -> None:
    experiment = EXPERIMENTS["rl"]()
    wanted = Wanted(methods=tuple(experiment.methods), schedule="paper", seeds=(0,))
    left = {line.split()[1] for line in experiment.left_out(wanted) if line.partition(":")[0].count("rl/") == 6}
    assert left == {"search", "imitation", "nlrl", "ppo+repair", "ppo-soft+rollouts"}
    assert left.isdisjoint(job.asked for job in experiment.jobs(wanted))
    check("rl", wanted)


def test_the_usual_critic_runs_keep_the_soft_policy() -> None:
    jobs = EXPERIMENTS["critic"]().jobs(Wanted(seeds=(0,)))
    assert len(jobs) == 12
    assert all(job.settings["keep_soft"] for job in jobs)
    assert {job.asked for job in jobs if job.settings.get("model") == "nlm"} == {"nlm-ppo", "nlm-reinforce"}


def test_programs_by_the_gradient_alone_and_repaired_ones_are_rows_of_their_own() -> None:
    jobs = EXPERIMENTS["rl"]().jobs(Wanted(tasks=("rl/on",), methods=("ppo", "ppo+repair"), seeds=(0,)))
    assert ["--no-repair" in job.command(Path("out")) for job in jobs] == [True, False]


def trial(rate: float) -> dict[str, Any]:
    return {"success_rate": rate}


def run(seed: int, *, end: float, verified: bool, first: int | None, **more: Any) -> dict[str, Any]:
    """A run of the paper's schedule: how its program at the end did, and whether a program was right at some time."""
    trials = [trial(end)] * 3
    return {
        "asked": "gradient", "task": "family/is-uncle", "seed": seed, "commit": "abc", "verified": verified,
        "settings": {"schedule": "paper"}, "ended": "finished",
        "schedule": {"verified": end == 1.0, "first_verified": first, "trials": trials}, "trials": [trial(1.0)] * 3,
        "restarts": 1, "steps": 50_000, "wall_seconds": 10.0, "cpu_seconds": 3600.0, "literals": 5, **more,
    }  # fmt: skip


def test_the_paper_counts_what_is_read_off_at_the_end(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["ilp"](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    records.keep("0", run(0, end=1.0, verified=True, first=1000))
    records.keep("1", run(1, end=0.9, verified=False, first=3000))  # right on the way, wrong at the end
    records.keep("2", {**run(2, end=1.0, verified=True, first=4000), "error": "no memory"})
    (row,) = experiment.figures(records.done, wanted)["rows"]
    assert (row["train"], row["train_spread"]) == pytest.approx((95, 5))
    assert (row["runs"], row["successful"], row["verified"], row["ever"]) == (2, 50, 50, 100)
    assert row["first_verified"] == [1000, 2000, 3000]
    assert row["cpu_hours"] == 1.0
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert "| gradient | family/is-uncle | 2 | 95 ± 5 | 95 ± 5 | 100 / 100 | 50 | 50 | 100 | 1000, 2000, 3000 |" in text
    assert text.splitlines()[2].startswith("Written by `dlm reproduce ilp` from `paper-ilp.jsonl`")
    with Image.open(tmp_path / "paper-ilp.png") as picture:
        assert picture.width > 300
    assert "- 2: no memory" in text


def test_baselines_are_not_looked_at_on_the_way(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["ilp"](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    records.keep("0", {**run(0, end=0.9, verified=False, first=None), "asked": "dilp", "settings": {}})
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert "| dilp | family/is-uncle | 1 | 90 | 90 | 90 / 90 | 0 | 0 | 0 |  | 50000 |" in text
    assert "Written by `dlm reproduce ilp --methods dilp`" in text


@pytest.mark.parametrize("method", ["gradient", "nlm", "search"])
def test_training_that_was_cut_short_is_no_success(method: str, tmp_path: Path) -> None:
    """What there is at the time limit was not read off at the end; a search has no other end."""
    experiment, wanted = EXPERIMENTS["ilp"](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    settings = {"schedule": "paper"} if method == "gradient" else {}
    about = {"asked": method, "settings": settings, "schedule": None, "limit": 300.0}
    records.keep("0", {**run(0, end=1.0, verified=True, first=None), **about})
    records.keep("1", {**run(1, end=1.0, verified=True, first=None), **about, "ended": "time limit"})
    (row,) = experiment.figures(records.done, wanted)["rows"]
    cut = 0 if method == "search" else 1
    assert (row["cut_short"], row["successful"], row["verified"]) == (cut, 100 - 50 * cut, 100 - 50 * cut)
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert ("| 300 (1 cut short) |" if cut else "| 300 |") in text


def test_percentages_have_two_decimals(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["ilp"](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    records.keep("0", run(0, end=0.617778, verified=False, first=None))
    assert "| 1 | 61.78 | 61.78 | 61.78 / 61.78 |" in write_page(experiment, wanted, records, tmp_path).read_text()


def test_a_soft_model_has_no_literals(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["ilp"](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    soft = {**run(0, end=1.0, verified=True, first=None), "asked": "nlm", "schedule": None, "settings": {}}
    del soft["literals"]
    records.keep("0", soft)
    (row,) = experiment.figures(records.done, wanted)["rows"]
    assert (row["successful"], row["literals"]) == (100, None)
    assert (
        "| nlm | family/is-uncle | 1 | 100 | 100 | 100 / 100 | 100 |"
        in write_page(experiment, wanted, records, tmp_path).read_text()
    )


def ablation_run(row: str, task: str, seed: int, end: float, shorten: float = 5) -> dict[str, Any]:
    rows = {"dlm": {}, "softmax": {"noise": "none", "dropout": 0}}
    settings = {"schedule": "paper", "shorten": shorten, **rows[row]}
    return {**run(seed, end=end, verified=True, first=1), "asked": row, "task": task, "settings": settings}


UNCLE, FATHER = "family/is-uncle", "family/has-father"


def test_the_ablation_averages_over_tasks(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["ablation"](), Wanted(shorten=5)
    records = open_records(experiment, wanted, tmp_path)
    for number, (task, end) in enumerate(((UNCLE, 1.0), (UNCLE, 0.5), (FATHER, 1.0))):
        records.keep(str(number), ablation_run("dlm", task, number, end))
    records.keep("9", {**ablation_run("dlm", FATHER, 1, 1.0), "ended": "time limit"})
    (row,) = experiment.figures(records.done, wanted)["rows"]
    assert (row["runs"], row["successful"], row["by_task"]) == (4, 50, {UNCLE: 50, FATHER: 50})
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert "| dlm | all of it | 4 | 50 | 95 |" in text
    assert "2 tasks, 3 seeds; the paper's figures are averages over 10 tasks and 5 seeds." in text
    assert "Cut short by the time limit, and not successful: 1 run of dlm." in text


def test_each_factor_of_the_ablation_has_its_page(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["ablation"]()
    records = open_records(experiment, Wanted(), tmp_path)
    records.keep("5", ablation_run("dlm", FATHER, 0, 1.0))
    page = write_page(experiment, Wanted(shorten=5), records, tmp_path)
    assert page.name == "paper-ablation-shorten-5.md"
    assert "`dlm reproduce ablation --methods dlm --shorten 5` from `paper-ablation.jsonl`" in page.read_text()
    with pytest.raises(RunError, match="has 1 of dlm schedule=paper shorten=5"):
        write_page(experiment, Wanted(), records, tmp_path)
    records.keep("8", ablation_run("dlm", UNCLE, 0, 0.5, shorten=8))
    other = write_page(experiment, Wanted(), records, tmp_path)
    assert other.name == "paper-ablation.md"
    assert UNCLE in other.read_text()
    assert UNCLE not in page.read_text()


def test_the_ablation_compares_what_all_rows_have_run(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["ablation"](), Wanted(shorten=5)
    records = open_records(experiment, wanted, tmp_path)
    for row, task, seed, end in (
        ("dlm", FATHER, 0, 1.0),
        ("dlm", FATHER, 1, 0.5),
        ("dlm", UNCLE, 0, 0.5),
        ("softmax", FATHER, 0, 0.5),
    ):
        records.keep(f"{row} {task} {seed}", ablation_run(row, task, seed, end))
    rows = experiment.figures(records.done, wanted)["rows"]
    assert {row["method"]: (row["runs"], row["successful"]) for row in rows} == {"softmax": (1, 0), "dlm": (1, 100)}
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert "1 task, 1 seed;" in text
    assert "Compared are the tasks and seeds that all rows have run; 2 more runs are in the records." in text


@pytest.mark.parametrize(
    ("name", "schedule", "other"),
    [("ilp", "paper", "ilp fast"), ("ilp", "paper", "cost"), ("rl", "fast", "critic"), ("cost", "paper", "ilp fast")],
)
def test_runs_of_another_experiment_are_not_taken(
    name: ExperimentName, schedule: ScheduleName, other: str, tmp_path: Path
) -> None:
    """Though their methods have the same names, and their tasks too."""
    experiment, wanted = EXPERIMENTS[name](), Wanted(schedule=schedule)
    others = {
        "ilp fast": {"asked": "gradient", "task": FATHER, "settings": {}},
        "cost": {"asked": "nlm", "task": "family/is-grandparent", "settings": {"objects": 10}},
        "critic": {"asked": "ppo", "task": "rl/unstack", "settings": {"keep_soft": True}},
    }
    elsewhere, records = tmp_path / "elsewhere.jsonl", open_records(experiment, wanted, tmp_path / "new")
    lines = [{**others[other], "seed": 3, "verified": True}]
    elsewhere.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(RunError, match=f"has no run that `dlm reproduce {name}.*it has 1 of {lines[0]['asked']}"):
        take_records(experiment, wanted, records, elsewhere)
    assert not records.path.parent.exists()
    (job, *_) = experiment.jobs(Wanted(schedule=schedule, seeds=() if name == "cost" else (3,)))
    lines.append({**job.about, "verified": True})
    elsewhere.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = take_records(experiment, wanted, records, elsewhere)
    assert said == f"1 run taken from {elsewhere}; not taken: 1 of something else"
    assert list(records) == [job.key]
    said = take_records(experiment, wanted, records, elsewhere)
    assert said == f"0 runs taken from {elsewhere}; not taken: 1 there already or in error, 1 of something else"


def earned(name: str, mean: float) -> dict[str, Any]:
    return {
        "name": name, "size": 10, "episodes": 10, "mean": mean, "interval": [mean, mean], "optimum": 0.939,
        "exact": True, "success": 1.0,
    }  # fmt: skip


def test_the_best_seed_of_a_policy_stands_beside_the_paper_s(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["rl"](), Wanted()
    records = open_records(experiment, wanted, tmp_path)
    for seed, mean in enumerate((0.9, 0.94)):
        tests = [earned("10 numbers", mean), earned("50 numbers", mean - 0.4)]
        about = {"asked": "ppo", "task": "rl/sorting", "seed": seed, "commit": "abc", "verified": seed == 1}
        cost = {"wall_seconds": 5.0, "literals": 4, "cpu_seconds": 5.0, "learner": "ppo+repair"}
        limit = {"settings": {"repair": False}, "limit": 300.0 * (seed + 1)}
        records.keep(str(seed), {**about, **cost, **limit, "returns": tests, "soft_returns": []})
    soft = {"asked": "ppo-soft", "settings": {"keep_soft": True}, "returns": [], "soft_returns": tests}
    records.keep("soft", {**records["0"], **soft, "limit": 1500.0})
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert "`dlm reproduce rl` from" in text
    row = "| ppo | rl/sorting | 10 numbers | 2 | 1 | 1 | 0.940 | 0.920 ± 0.02 | 0.939 | 100 | 5 | 5 | 300, 600 | 4 |"
    assert row in text
    assert "| ppo-soft | rl/sorting | 10 numbers | 1 | 0 | 1 | 0.940 | 0.940 | 0.939 | 100 | 5 | 5 | 1,500 |  |" in text
    assert "| ppo+repair 2 | DLM 0.939 ± 0.02 |" in text
    assert "| *the paper's DLM* | 0.920 | 0.920 | 0.896 | 0.939 / 0.559 | - / - | - / - |" in text
    assert "| `ppo` |  |  |  | 0.940 / 0.540 (0 of 2) |  |  |" in text
    assert "| `ppo-soft` |  |  |  | 0.940 / 0.540 (0 of 1) |  |  |" in text
    assert "*the paper's NLRL*" not in text, "nothing of it has run"


def test_curves_end_with_the_fresh_episodes(tmp_path: Path) -> None:
    experiment, wanted = EXPERIMENTS["critic"](), Wanted()
    curve = [[100, -1.0, 0.0], [200, 0.5, 0.95], [300, 0.5, 0.8], [400, 0.9, 0.95]]
    base = {
        "task": "rl/unstack",
        "seed": 0,
        "commit": "abc",
        "steps": 500,
        "curve": curve,
        "settings": {"keep_soft": True},
    }
    solved = {**base, "asked": "ppo", "soft_returns": [earned("4 blocks", 0.94)]}
    assert curve_of(solved)[-1].tolist() == [500, 1.0]
    records = open_records(experiment, wanted, tmp_path)
    records.keep("ppo", solved)
    records.keep("reinforce", {**base, "asked": "reinforce", "soft_returns": [{**earned("4", 0.1), "success": 0.1}]})
    text = write_page(experiment, wanted, records, tmp_path).read_text()
    assert "| DLM | PPO with the critic | rl/unstack | 1 | 1 | 200 | 0.940 |" in text
    assert "| DLM | REINFORCE | rl/unstack | 1 | 0 | never | 0.100 |" in text
    assert "| all |" not in text, "one task is its own mean"
    assert json.loads((tmp_path / "paper-critic.json").read_text())["tasks"] == ["rl/unstack"]


def test_what_is_cut_short_has_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = EXPERIMENTS["ilp"]()
    wanted = Wanted(tasks=("family/has-father",), methods=("search",), seeds=(0, 1), schedule="fast")
    records = open_records(experiment, wanted, tmp_path)

    told: list[str] = []

    class Interrupting(RunLines):
        def ended(self, *_: object) -> None:
            raise KeyboardInterrupt

        def stopped(self, number: int, of: int) -> None:
            told.append(f"{number} of {of}")

    watch = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        reproduce(experiment, wanted, records, LocalProcesses(1), tmp_path, watch)
    assert told == ["1 of 2"]
    assert "| search | family/has-father | 1 |" in (tmp_path / "paper-ilp-fast.md").read_text()
    assert len(Records(records.path)) == 1

    def full(*_: object) -> None:
        raise ResourceError("the disk is full")

    monkeypatch.setattr(Records, "keep", full)
    with pytest.raises(ResourceError, match="the disk is full"):
        reproduce(experiment, wanted, records, LocalProcesses(1), tmp_path, watch)
    assert len(Records(records.path)) == 1


@pytest.mark.parametrize("what", ["step", "soft", "nlm-step", "nlm", "dnl-ilp-step", "dnl-ilp"])
def test_machines_are_measured_in_a_process_of_their_own(what: str) -> None:
    found = measure(what, task="graph/1-outdegree", objects=4)
    assert found["seconds"] > 0
    assert found["bytes"] > 0


@pytest.mark.parametrize("what", ["soft", "nlm", "dnl-ilp"])
def test_what_memory_cannot_hold_is_estimated_and_not_tried(what: str) -> None:
    found = measure(what, task="graph/2-outdegree", objects=2000)
    assert found["out_of_memory"]
    assert found["estimated_bytes"] > 10**12


def test_programs_are_measured_and_checked() -> None:
    program = "adjacent_to_red(x) :- {}(exists y: edge(x, y) & red(y)).\n"
    for sign, right in (("", True), ("~", False)):
        found = measure("program", task="graph/adjacent-to-red", objects=30, program=program.format(sign))
        assert found["right"] is right
    assert "error" in measure("program", task="graph/adjacent-to-red", objects=30, program="nonsense")
