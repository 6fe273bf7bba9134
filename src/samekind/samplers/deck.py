"""Dealing evenly: a deck that is shuffled again whenever it runs out."""

import torch


class Deck:
    """Cards in random order, each dealt once before any is dealt again."""

    def __init__(self, cards: list[int], *, generator: torch.Generator) -> None:
        self.cards = cards
        self.generator = generator
        self.left: list[int] = []

    def deal(self, count: int) -> list[int]:
        """The next ``count`` cards, all different; ``count`` is at most the number of cards.

        A hand that empties the deck goes on with the next shuffle and skips the cards it holds, which stay in
        the deck. So no card is ever dealt two times more than another.
        """
        hand, self.left = self.left[:count], self.left[count:]
        if len(hand) < count:
            order = torch.randperm(len(self.cards), generator=self.generator).tolist()
            shuffled = [self.cards[place] for place in order]
            held = set(hand)
            new = [card for card in shuffled if card not in held][: count - len(hand)]
            dealt = set(new)
            hand = hand + new
            self.left = [card for card in shuffled if card not in dealt]
        return hand
