"""Sentences that rows of a table share: a mark in the row, the sentence once below the table."""

import string


def letter(place):
    """a, b, … z, aa, ab, …"""
    return (letter(place // 26 - 1) if place > 25 else "") + string.ascii_lowercase[place % 26]


class Notes:
    def __init__(self, mark):
        self._mark, self._known = mark, {}

    def mark(self, sentence):
        """The mark of a sentence, with a blank before it; nothing for none."""
        return f" ({self._known.setdefault(sentence, self._mark(len(self._known)))})" if sentence else ""

    def entries(self):
        """[(mark, sentence)] in the order of their first use."""
        return [(mark, sentence) for sentence, mark in self._known.items()]


def numbered():
    return Notes(lambda place: str(place + 1))


def lettered():
    return Notes(letter)
