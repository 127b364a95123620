"""The critic reads worlds of any size and arity, one by one, and every part of it learns."""

from __future__ import annotations

import pytest
import torch

from dlm.errors import SettingsError
from dlm.machine.critic import Critic

SIGNATURES = [{0: 2}, {1: 3}, {2: 1}, {3: 2}, {0: 1, 1: 2, 2: 3, 3: 1}, {0: 1, 2: 2}]


def random_valuation(predicates: dict[int, int], batch: int, size: int, seed: int) -> dict[int, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        arity: torch.randint(0, 2, (batch, *(size,) * arity, count), generator=generator).float()
        for arity, count in predicates.items()
    }


def make(predicates: dict[int, int], seed: int = 0) -> Critic:
    return Critic(predicates, width=6, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("predicates", SIGNATURES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_one_value_a_world_whatever_its_size(predicates: dict[int, int], size: int) -> None:
    values = make(predicates)(random_valuation(predicates, 5, size, 1))
    assert values.shape == (5,)
    assert torch.isfinite(values).all()


@pytest.mark.parametrize("predicates", SIGNATURES, ids=str)
def test_worlds_of_a_batch_are_read_one_by_one(predicates: dict[int, int]) -> None:
    critic, valuation = make(predicates), random_valuation(predicates, 6, 3, 2)
    order = torch.tensor([4, 0, 5, 2, 2])
    shuffled = critic({arity: tensor[order] for arity, tensor in valuation.items()})
    assert torch.allclose(shuffled, critic(valuation)[order], atol=1e-6)


@pytest.mark.parametrize("predicates", SIGNATURES, ids=str)
def test_every_parameter_gets_a_gradient(predicates: dict[int, int]) -> None:
    critic = make(predicates)
    critic(random_valuation(predicates, 8, 3, 3)).pow(2).sum().backward()
    for name, parameter in critic.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_a_reader_for_each_argument() -> None:
    critic = make({0: 1, 1: 2, 2: 3, 3: 1})
    assert len(critic.readers) == 2 + 3
    assert critic.objects is not None
    assert critic.objects.input_size == 5 * 6 + 2


def test_arguments_are_told_apart() -> None:
    critic = make({2: 1})
    table = torch.zeros(1, 3, 3, 1)
    table[0, 0, 1:] = 1.0
    assert not torch.allclose(critic({2: table}), critic({2: table.transpose(1, 2)}), atol=1e-6)


def test_the_same_generator_draws_the_same_critic() -> None:
    one, other, third = make({1: 1, 2: 1}, 7), make({1: 1, 2: 1}, 7), make({1: 1, 2: 1}, 8)
    valuation = random_valuation({1: 1, 2: 1}, 4, 3, 0)
    assert torch.equal(one(valuation), other(valuation))
    assert not torch.equal(one(valuation), third(valuation))


def test_a_width_of_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="at least 1"):
        Critic({1: 1}, width=0)
