"""A deck deals evenly, and never the same card twice into one hand."""

from collections import Counter

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.samplers.deck import Deck


@settings(max_examples=40)
@given(size=st.integers(1, 9), counts=st.lists(st.integers(0, 9), max_size=20), seed=st.integers(0, 99))
def test_hands_hold_different_cards_and_all_cards_come_equally_often(size, counts, seed):
    deck = Deck([10 * card for card in range(size)], generator=torch.Generator().manual_seed(seed))
    dealt = Counter(dict.fromkeys(deck.cards, 0))
    for count in counts:
        hand = deck.deal(min(count, size))
        assert len(set(hand)) == len(hand) == min(count, size)
        dealt.update(hand)
        assert max(dealt.values()) - min(dealt.values()) <= 1


class Card(int):
    """A number that counts how often it is looked up in a set."""

    looked_up = 0

    def __hash__(self):
        Card.looked_up += 1
        return int.__hash__(self)


def test_dealing_takes_time_in_proportion_to_the_deck():
    """Whatever the hand: 40 times as many look-ups if a set were made for each card."""
    deck = Deck([Card(number) for number in range(100)], generator=torch.Generator().manual_seed(0))
    deck.deal(60)
    Card.looked_up = 0
    assert len(set(map(int, deck.deal(80)))) == 80
    assert Card.looked_up <= 4 * 100


def test_every_order_can_come_up():
    generator = torch.Generator().manual_seed(0)
    orders = {tuple(Deck([1, 2, 3], generator=generator).deal(3)) for _ in range(60)}
    assert len(orders) == 6


def test_is_shuffled_anew_when_it_runs_out():
    deck = Deck(list(range(20)), generator=torch.Generator().manual_seed(0))
    assert deck.deal(20) != deck.deal(20)
