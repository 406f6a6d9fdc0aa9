"""A questionnaire file as a test to serve."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.cli.ask.command import respondent_of, stopping_rule_of
from adaptive.cli.ask.questionnaire_file import read_questionnaire
from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.serve import Survey

__all__ = ["survey"]


def survey(file: Path, bank: Path | None, seed: int, exposure: float | None = None) -> Survey:
    """Read a test; a CommandError where the file, the bank or a text of the pages is at fault.

    A given exposure takes the place of the file's.
    """
    from adaptive.serve import Attention, Panel, Survey, SurveyItem
    from adaptive.serve.pages import texts

    asked = read_questionnaire(file)
    person = respondent_of(asked, bank)
    scale = list(person.bank.categories)
    items = [SurveyItem(item.id, item.text, item.answers, scale[: len(item.answers)]) for item in asked.items]
    try:
        texts(asked.texts)
    except ValueError as problem:
        raise CommandError(f"{file}: {problem}") from None
    try:
        panel = None if asked.panel is None else Panel(**asked.panel)
    except ValueError as problem:
        raise CommandError(f"{file}: {problem}") from None
    try:
        rules = asked.rules(exposure)
    except ValueError as problem:
        raise CommandError(f"{file}: {problem}") from None
    attention = [Attention(one.text, one.answers, one.right, one.after) for one in asked.attention]
    what: dict[str, Any] = {
        "items": [[item.id, item.text, list(item.answers), one.trait, one.reverse]
                  for item, one in zip(items, asked.items, strict=True)],
        "stop": [asked.deviation, asked.questions],
        "prior": asked.prior,
        "bank": None if bank is None else hashlib.blake2b(bank.read_bytes(), digest_size=16).hexdigest(),
    }  # fmt: skip
    if asked.first is not None or asked.shares or attention:  # a store that was begun without these goes on without
        what["order"] = [asked.first, asked.shares, [item.content for item in asked.items]]
        what["attention"] = [[one.text, one.answers, one.right, one.after] for one in asked.attention]
    identity = hashlib.blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()
    try:
        return Survey(
            asked.title, items, person, stopping_rule_of(asked), seed=seed, lang=asked.lang, texts=asked.texts,
            show_result=asked.show_result, normed=bank is not None, may_skip=asked.may_skip, one_tap=asked.one_tap,
            identity=f"questions {identity}", panel=panel, origins=asked.origins, rules=rules, attention=attention,
        )  # fmt: skip
    except ValueError as problem:
        raise CommandError(f"{file}: {problem}") from None
