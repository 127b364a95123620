import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import dlm
from dlm.data.rows import RowLayout
from dlm.logic.syntax import Program


def table(count: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, count),
            "colour": rng.choice(["red", "green", "blue"], count),
            "large": rng.random(count) < 0.5,
        }
    )
    return X, np.where((X["colour"] == "red") & X["large"], "yes", "no")


FACTS = {"parent": [("ann", "bob"), ("bob", "cid"), ("ann", "dan"), ("dan", "eve"), ("fay", "gus"), ("gus", "hal")]}
PAIRS = [("ann", "cid"), ("ann", "eve"), ("fay", "hal"), ("ann", "bob"), ("cid", "ann"), ("bob", "eve"), ("eve", "hal")]
GRAND = [1, 1, 1, 0, 0, 0, 0]


def test_a_table_of_numbers_texts_and_truth_values() -> None:
    X, y = table()
    model = dlm.LogicClassifier(time_limit=10).fit(X, y)
    assert model.score(X, y) == 1
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 3
    assert model.program_ == dlm.parse_program("target(x) :- colour(x) = red & large(x).")
    assert model.programs_ == {"yes": model.program_}
    assert model.front_ == model.result_.front
    assert " > " in str(model)
    assert str(clone(model)) == repr(model)


def test_a_row_is_judged_by_itself() -> None:
    X, y = table()
    model = dlm.LogicClassifier(time_limit=10).fit(X, y)
    assert [model.predict(X.iloc[[place]])[0] for place in range(10)] == model.predict(X[:10]).tolist()


def test_rows_about_facts() -> None:
    model = dlm.LogicClassifier(target="grandparent", time_limit=10).fit(PAIRS, GRAND, facts=FACTS)
    assert model.predict(PAIRS).tolist() == GRAND
    assert model.predict([("fay", "gus"), ("fay", "hal")]).tolist() == [0, 1]
    other = {"parent": [("kim", "lea"), ("lea", "max")]}
    assert model.predict([("kim", "max"), ("kim", "lea")], facts=other).tolist() == [1, 0]
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(PAIRS).tolist() == GRAND


def test_names_stand_for_rows_of_one_argument() -> None:
    facts = {"red": [("a",), ("b",), ("c",)], "blue": [("d",), ("e",), ("f",)]}
    model = dlm.LogicClassifier(time_limit=10).fit(list("abdef"), [1, 1, 0, 0, 0], facts=facts)
    assert model.predict(["c", "f"]).tolist() == [1, 0]


def test_facts_are_refused_where_there_were_none() -> None:
    X, y = table()
    model = dlm.LogicClassifier(time_limit=10).fit(X, y)
    with pytest.raises(ValueError, match="without facts"):
        model.predict(X, facts=FACTS)


def test_of_three_classes_all_but_one_have_a_program() -> None:
    X = np.arange(30.0)[:, None]
    y = np.repeat(["a", "b", "c"], 10)
    model = dlm.LogicClassifier(time_limit=10).fit(X, y)
    assert model.score(X, y) >= 0.9
    assert len(model.programs_) == 2
    assert all(isinstance(program, Program) for program in model.programs_.values())
    with pytest.raises(AttributeError, match="3 classes"):
        _ = model.program_
    assert str(model).count("program\n") == 2


def test_a_row_of_weight_two_is_two_rows_and_one_of_weight_zero_none() -> None:
    X, y = table(40)
    y = np.where(np.arange(40) % 7 == 0, "yes", y)
    weights = np.arange(40) % 3
    repeated = np.repeat(np.arange(40), weights)
    one = dlm.LogicClassifier(time_limit=30).fit(X, y, sample_weight=weights)
    two = dlm.LogicClassifier(time_limit=30).fit(X.iloc[repeated], y[repeated])
    assert one.program_ == two.program_


def test_a_rare_class_has_more_weight_if_it_is_asked_for() -> None:
    X = pd.DataFrame({"age": np.arange(200)})
    y = (np.arange(200) >= 160) & (np.arange(200) % 3 == 0)  # a third of the old ones
    plain, balanced = (dlm.LogicClassifier(time_limit=20, class_weight=w).fit(X, y) for w in (None, "balanced"))
    assert not plain.predict(X).any()
    assert balanced.predict(X)[y].mean() > 0.9
    given = dlm.LogicClassifier(time_limit=20, class_weight={False: 1, True: 10}).fit(X, y)
    assert given.predict(X)[y].mean() > 0.9


def test_empty_cells_are_no_facts() -> None:
    X = np.array([[1.0, None], [np.nan, "a"], [3.0, "a"]], dtype=object)
    facts = RowLayout.of(X, ["n", "t"]).facts(X)
    assert facts.attributes["n"].objects.tolist() == [0, 2]
    assert {name: rows.tolist() for name, rows in facts.relations.items()} == {"t = 'a'": [[1], [2]]}


def test_dates_are_compared() -> None:
    X = pd.DataFrame({"born": pd.date_range("2000-01-01", periods=20, freq="D")})
    y = np.arange(20) >= 10
    model = dlm.LogicClassifier(time_limit=10).fit(X, y)
    assert model.score(X, y) >= 0.95
    assert "2000-01-1" in str(model.program_)


def test_columns_never_take_the_name_of_the_target() -> None:
    layout = RowLayout.of(np.zeros((2, 3)), ["target", "mean radius (cm)", "mean radius [cm]"], ["target"])
    assert [column.name for column in layout.columns] == ["target_2", "mean_radius_cm", "mean_radius_cm_2"]


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="two or more"):
        dlm.LogicClassifier().fit([[1], [2]], [1, 1])


def test_searches_and_cross_validation() -> None:
    X, y = table()
    model = dlm.LogicClassifier(time_limit=5)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(model, {"folds": [2, 3]}, cv=2).fit(X, y)
    assert search.best_params_["folds"] in (2, 3)


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; import dlm, importlib.util as u; find = u.find_spec\n"
        "import dlm.errors as e; e.find_spec = lambda name: None if name == 'sklearn' else find(name)\n"
        "try: dlm.LogicClassifier\n"
        "except dlm.DlmError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "dlm[data]" in done.stdout


def test_importing_dlm_does_not_load_scikit_learn() -> None:
    code = "import dlm, sys; sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks() -> None:
    found = check_estimator(dlm.LogicClassifier(time_limit=240, folds=2), on_fail=None, on_skip=None)
    assert [check["check_name"] for check in found if check["status"] == "failed"] == []
