"""Completion in the shell, as the script that `--install-completion` installs asks for it."""

import pytest

from cli.conftest import Command


def complete(call: Command, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    monkeypatch.setenv("_DLM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(("dlm", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    return call()[1].split()


def test_verbs_and_options_are_completed(call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(call, monkeypatch, "ex") == ["explain", "export"]
    assert complete(call, monkeypatch, "learn", "--sch") == ["--schedule"]


def test_tasks_are_completed(call: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(call, monkeypatch, "learn", "family/has-f") == ["family/has-father"]
    assert complete(call, monkeypatch, "test", "run", "--task", "rl/s") == ["rl/stack", "rl/sorting"]


def test_the_help_says_how_to_install_it(call: Command) -> None:
    assert "--install-completion" in call("--help")[1]
