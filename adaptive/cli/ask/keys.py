"""Keys of a questionnaire's TOML file: what each says, as the help and the guide have it, and a file that has them all.

KEYS[""]["exposure"]      what the key says; KEYS["items"], KEYS["stop"], ... those of a section
EXAMPLE                   a test that runs as it stands; a "#" before a key that may be left out
"""

from __future__ import annotations

__all__ = ["EXAMPLE", "FREE", "KEYS", "LISTS", "keys_help"]

KEYS: dict[str, dict[str, str]] = {
    "": {
        "title": "what stands above every page (default: the file's name)",
        "answers": "the answers in order, 2 to 10, for all items. Numbers count as they stand. Words count as the "
        "answers of the bank, in its order (of a bank of 0 to 4 the first word is 0); without a bank as 1, 2, ..., or "
        "as 0 and 1 if no item has more than two",
        "target": '"total": questions are about the total score (default: the traits)',
        "first": "id of the item that everybody is asked first",
        "exposure": "the largest share of the people who are asked an item, such as 0.3",
        "lang": 'language of the page (default "en")',
        "show_result": "true: people see their estimate at the end and, with a bank, their place among 100 people "
        "(default false: pages say thanks only; the terminal shows the estimate without the place)",
        "skip": "false: every question has to be answered (default true)",
        "one_tap": "true: a tap on an answer sends it (default false: choose, then send)",
    },
    "items": {
        "text": "the question",
        "id": "what the bank calls it (default: its number)",
        "trait": "what it measures, if items measure several things",
        "reverse": "true: a higher answer means less of the trait",
        "answers": "words of its own",
        "content": "what it is about, for [content]",
    },
    "attention": {
        "text": "a question to which there is one right answer, for those who read it",
        "answers": "its words (default: those of the file)",
        "right": "the right one of them",
        "after": "asked after so many answers (default 5)",
    },
    "stop": {
        "deviation": "enough is known at this standard deviation (in points, if the total is the target)",
        "questions": "at most so many questions",
    },
    "prior": {
        "mean": "of the trait before the first answer, on the scale of the bank: 0 is the average of the people whose "
        "answers calibrated it, 1 their standard deviation. With [prior] it is normal (mean 0 and deviation 1 where "
        "one is left out); without, Student's t with 8 degrees of freedom, mean 0 and scale 1 (deviation 1.15), whose "
        "tails let other people be found (of an ordinal bank standard normal)",
        "deviation": "its standard deviation",
    },
    "content": {"NAME": "share of the questions that are about this content; the shares add up to 1"},
    "panel": {
        "participant": 'the parameter of its links that says who somebody is, such as "PROLIFIC_PID"',
        "done": "https address that people are sent to at the end; {participant} in it is filled in",
        "consent": "text to agree to before anything is asked",
        "screen_out": "a test ends after so many wrong answers to [[attention]] (default: never)",
    },
    "api": {"origins": "other sites whose pages may use the JSON interface"},
    "texts": {"NAME": "words of your own for what the pages say"},
}
LISTS = ("items", "attention")  # sections that begin with [[...]]
FREE = ("content", "texts")  # sections whose keys are names of one's own

EXAMPLE = """\
# A test for `adaptive serve TEST.toml` and `adaptive ask TEST.toml`. A line that begins with "# " and a key, or a
# section, may be switched on; all else explains.

title = "Orderly or not"
answers = ["never", "sometimes", "often"]  # count as 1, 2, 3
# target = "total"                         # questions about the total score, not the traits
# first = "lists"                          # everybody begins with this item
# exposure = 0.7                           # no item is asked of more than 70% of the people
# lang = "en"
# show_result = true                       # people see their estimate; with a bank, also their place among others
# skip = false                             # every question has to be answered
# one_tap = true                           # a tap on an answer sends it

[stop]                                     # what holds first ends a test
deviation = 0.4
questions = 3

# [prior]                                  # a normal one; without it Student's t, 8 degrees of freedom, scale 1,
# mean = 0.0                               # about the people whose answers calibrated the bank (mean 0, deviation 1);
# deviation = 1.0                          # an ordinal bank has this standard normal

# [content]                                # shares of the questions, by the `content` of the items
# work = 0.5
# home = 0.5

# [panel]                                  # people come by links that say who they are, and nobody else comes in
# participant = "PROLIFIC_PID"             # SONA: "survey_code"; Qualtrics: a name of your own
# done = "https://app.prolific.com/submissions/complete?cc=CODE"
# consent = "We keep your answers for ten years, without your name."
# screen_out = 2                           # wrong answers to [[attention]] after which a test ends

# [api]                                    # pages of other sites that may ask in JSON
# origins = ["https://lab.example.org"]

# [texts]                                  # what the pages say, in words of your own
# begin = "Begin"

# [[attention]]                            # a question with one right answer, for those who read it
# text = "Please choose 'often' here."
# answers = ["never", "sometimes", "often"]
# right = "often"
# after = 2                                # answers

[[items]]
id = "lists"                               # as in the bank; may be left out, then 1, 2, ...
text = "I make lists."
content = "work"
# trait = "order"                          # where items measure several things, all of them say what

[[items]]
id = "forget"
text = "I forget names."
reverse = true                             # a higher answer means less
content = "home"
# trait = "order"

[[items]]
id = "plan"
text = "I plan my day."
content = "work"
# trait = "order"

[[items]]
id = "finish"
text = "I finish what I begin."
answers = ["never", "often"]               # words of its own
content = "home"
# trait = "order"
"""


def keys_help() -> str:
    """Return every key of the file with what it says, as the help of a command has it."""
    lines = ["Keys of FILE.toml (`--example` prints one; the guide has a page about them):"]
    for section, keys in KEYS.items():
        lines.append("\b")
        heading = f"[[{section}]]" if section in LISTS else f"[{section}]"
        if section:
            lines[-1] += f"\n{heading}"
        for name, says in keys.items():
            lines[-1] += f"\n  {name:<12} {_wrapped(says)}"
    return "\n\n".join(lines)


def _wrapped(text: str, width: int = 64) -> str:
    import textwrap

    return ("\n" + " " * 15).join(textwrap.wrap(text, width))
