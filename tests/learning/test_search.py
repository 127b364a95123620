"""The discrete search: its incremental evaluation is exact, and it learns, deterministically and resumably."""

from dataclasses import replace

import numpy as np
import pytest

from dlm.engines import evaluate_target
from dlm.errors import SettingsError
from dlm.learning.circuit import Circuit, Netlist
from dlm.learning.packing import pack_examples
from dlm.learning.search import Cooling, RestartSettings, SearchLearner, SearchSettings
from dlm.space import MachineSettings, program_of, random_choices, used_modules, wire
from dlm.tasks import get_task

TASKS = ["family/is-grandparent", "family/has-sister", "graph/4-connectivity", "graph/adjacent-to-red"]


def start(name, seed, settings=None, sizes=(5, 3, 1)):
    task = get_task(name)
    rng = np.random.default_rng(seed)
    wiring = wire(settings or MachineSettings(depth=4), task.inputs, task.target, task.target_arity)
    batches = [task.sample(rng, 30, size) for size in sizes]
    circuit = Circuit(Netlist(wiring), pack_examples(wiring, batches), random_choices(wiring, rng))
    return wiring, batches, circuit, rng


def missed_and_wrong(program, batches):
    missed = wrong = 0
    for batch in batches:
        answers = evaluate_target(program, batch.worlds)
        missed += int((batch.target & ~answers & batch.scored).sum())
        wrong += int((~batch.target & answers & batch.scored).sum())
    return missed, wrong


def expected_error(circuit, program, batches):
    missed, wrong = missed_and_wrong(program, batches)
    packing = circuit.packing
    rare = max(min(packing.positives, packing.negatives), 1)
    share = np.log1p(missed / rare) / np.log1p(max(packing.positives, 1) / rare)
    return share + np.log1p(wrong / rare) / np.log1p(max(packing.negatives, 1) / rare)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(
    "settings",
    [
        MachineSettings(depth=4),
        MachineSettings(depth=3, atoms=3, distinct=False),
        MachineSettings(depth=4, constants="published"),
        MachineSettings(depth=4, breadth=3, repeats=False),
        MachineSettings(depth=3, residual=True, negation=False, outputs=3),
        MachineSettings(depth=4, breadth=4, outputs=4, quantifiers=("exists",)),
    ],
)
def test_a_circuit_knows_the_error_of_its_program(name, settings):
    wiring, batches, circuit, rng = start(name, 0, settings)
    for _ in range(15):
        program = program_of(wiring, circuit.table_of_choices())
        assert circuit.error == pytest.approx(expected_error(circuit, program, batches))
        number = circuit.used[rng.integers(len(circuit.used))]
        atom = int(rng.integers(settings.atoms))
        choices, tables = circuit.candidates(number, atom)
        errors = circuit.errors_of(number, tables)
        sizes = circuit.sizes_of(number, atom, choices)
        index = int(rng.integers(len(choices)))
        chosen = [int(choices[index]) if i == atom else c for i, c in enumerate(circuit.choices[number])]
        circuit.choose(number, chosen)
        assert circuit.error == pytest.approx(errors[index])
        assert len(circuit.used) == sizes[index]
        assert len(circuit.used) == sum(map(len, used_modules(wiring, circuit.table_of_choices()).values()))


@pytest.mark.parametrize("name", TASKS)
def test_pairs_and_redirections_do_what_they_promise(name):
    wiring, batches, circuit, rng = start(name, 1)
    netlist = circuit.netlist
    for _ in range(15):
        number = circuit.used[rng.integers(len(circuit.used))]
        spare = (
            [n for n in netlist.members[netlist.unit[number]] if n not in circuit.used]
            if number != netlist.output
            else []
        )
        module = [number, *spare][rng.integers(len(spare) + 1)]
        literals = len(circuit.literal_stack(netlist.unit[number])[0])
        pairs, tables = circuit.pair_candidates(module, rng.choice(literals, size=min(3, literals), replace=False))
        errors, sizes = circuit.errors_of(number, tables), circuit.pair_sizes(number, pairs)
        index = int(rng.integers(len(pairs)))
        circuit.choose(module, pairs[index].tolist())
        if module != number:
            circuit.redirect(number, module)
        assert circuit.error == pytest.approx(errors[index])
        assert len(circuit.used) == sizes[index]
        program = program_of(wiring, circuit.table_of_choices())
        assert circuit.error == pytest.approx(expected_error(circuit, program, batches))


def run(learner, slices):
    reports = [learner.advance() for _ in range(slices)]
    return [(r.steps, r.restarts, dict(r.figures)) for r in reports]


def find(learner, slices=400):
    for _ in range(slices):
        report = learner.advance()
        if report.candidate is not None and report.candidate.believed:
            return report.candidate
    raise AssertionError("nothing found")


@pytest.mark.parametrize(
    "name", ["family/has-father", "family/has-sister", "graph/1-outdegree", "graph/adjacent-to-red"]
)
def test_learns_easy_tasks(name):
    task = get_task(name)
    candidate = find(SearchLearner(task, task.settings, 0))
    assert candidate.learner == "search"
    examples = task.sample(np.random.default_rng(99), 100, task.train_size)
    assert missed_and_wrong(candidate.program, [examples]) == (0, 0)


def test_a_machine_that_no_input_goes_through_is_refused():
    task = get_task("family/has-father")
    with pytest.raises(SettingsError, match="no input reaches the target 'has_father'"):
        SearchLearner(task, replace(task.settings, quantifiers=()), 0)


def test_depths_at_which_no_input_reaches_the_target_are_left_out():
    known = get_task("graph/1-outdegree")
    any_joined = replace(
        known,
        target="joined",
        target_arity=0,
        label=lambda worlds: worlds.relations["edge"].any(axis=(1, 2)),
        draw=lambda rng, count, _: known.draw(rng, count, 3),
    )
    candidate = find(SearchLearner(any_joined, MachineSettings(depth=3, breadth=2), 0))
    examples = any_joined.sample(np.random.default_rng(99), 100, 3)
    assert missed_and_wrong(candidate.program, [examples]) == (0, 0)


def test_same_seed_same_search():
    task = get_task("family/is-uncle")
    quick = SearchSettings(pool=64, cooling=Cooling(moves=12, quench=4), slice=30)
    first, second, other = (SearchLearner(task, task.settings, seed, quick) for seed in (5, 5, 6))
    trace = run(first, 12)
    assert trace == run(second, 12)
    assert trace != run(other, 12)


def test_a_restored_search_goes_on_as_if_nothing_had_happened():
    task = get_task("family/is-uncle")
    quick = SearchSettings(pool=64, cooling=Cooling(moves=8, quench=2), slice=30)
    learner = SearchLearner(task, task.settings, 0, quick)
    run(learner, 15)
    assert learner.standing.elite
    learner.refute([task.sample(np.random.default_rng(1), 3, 6)])
    learner.advance()
    state = learner.state()
    wanted = run(learner, 15)
    again = SearchLearner(task, task.settings, 77, quick)
    again.restore(state)
    assert run(again, 15) == wanted


def test_counterexamples_stay_in_the_sample():
    task = get_task("graph/1-outdegree")
    learner = SearchLearner(task, task.settings, 0, SearchSettings(pool=64))
    learner.refute([task.sample(np.random.default_rng(0), 2, 9)])
    assert [batch.size for batch in learner.pool.counterexamples] == [9]
    assert 9 in [batch.size for batch in learner.sample]
    assert max(batch.size for batch in learner.sample) <= task.train_size


def test_a_suggestion_is_where_a_restart_begins():
    task = get_task("family/has-father")
    learner = SearchLearner(task, task.settings, 0, SearchSettings(pool=64, restart=RestartSettings(suggested=1.0)))
    wiring = wire(task.settings, task.inputs, task.target, task.target_arity)
    suggestion = random_choices(wiring, np.random.default_rng(3))
    learner.suggest(suggestion, "gradient")
    learner._restart()
    assert learner.now.origin == "gradient+search"
    for key, table in learner.circuit.table_of_choices().items():
        np.testing.assert_array_equal(table, suggestion[key])
