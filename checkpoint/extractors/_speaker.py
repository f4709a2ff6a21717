"""The agent's prose, block by block, into facts: one kind a sentence, by cue words.

Structure first: what a heading or a lead line announces ("Next steps:", "Root cause") decides what
its items are. Narration of the next move is left out: it is worth nothing later. Hedged causes are
suspicions; nothing hedged is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from checkpoint.extractors._cues import find
from checkpoint.extractors._prose import Block, plain, sentences, uncoded
from checkpoint.extractors._word_figures import stated
from checkpoint.model import Message
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, Modality, fact

CAUSE = 420
"""Longest text of a cause with the sentences that belong to it, in characters."""
LONG = 600
"""A longer sentence is no sentence but a dump."""

Cues = dict[str, re.Match[str]]

_IDENTIFIER = re.compile(
    r"`[^`\n]+`|(?<![\w/])(?:~|\.{0,2})/[\w.@-]+/[\w./@-]+|--[a-z][\w-]+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|"
    r"\b[a-z]+_[a-z_0-9]+\b|\b\w+\(\)|\b[a-z]+[A-Z]\w+\b|(?<![A-Za-z])[A-Z][a-z]+[A-Z][A-Za-z]+(?![A-Za-z])|\b\w+\.(?:py|rs|go|ts|js|c|h|cpp|json|ya?ml|toml)\b"
)
_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_LABEL = re.compile(
    r"^\W*(?:the |possible |proposed |suggested )?(?P<label>fix|solution|remedy|workaround|修复|"
    r"解决)\b"
    r"(?: is| was)?[:：]?\W*",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"^\W*(?:also|it|its|this|that|these|those|they|he|she|both|neither|same|so|hence|therefore|thus|"
    r"no|but|however|still|otherwise|instead|which|and|or)\b|^\W*(?:这|那|它|所以|因此|但|而)",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|came|had|did|included|counted|war|waren|stammte\w*|era|eran|eram|foi|fue|"
    r"venía\w*|vinha\w*|était|étaient|venai\w+|был[аио]?)\b|でした|だった|是之前|其实是",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^(?:\d+[.)]|(?:step|phase|hypothesis|finding|issue|problem|cause|fix|"
    r"option) ?#?\d*[.:)]*)\s+",
    re.I,
)
_GENERIC = re.compile(
    r"^(?:summary|overview|results?|key findings?|findings?|conclusions?|analysis|notes?|details?|"
    r"what (?:i|was|changed|happened)|changes?|root causes?|next steps?|benchmarks?|evidence|"
    r"impact)\b[^:]{0,20}$",
    re.IGNORECASE,
)
_PULL = re.compile(r"https?://[\w.-]+(?:/[\w.-]+){2}/(?:-/)?(?:pull|merge_requests)/(\d+)")
_OPENED = re.compile(
    r"\b(?:open(?:ed)?|created|submitted|raised|ready|new|draft|published)\b.{0,30}\b(?:pr|mr|"
    r"pull request|merge request)\b|"
    r"\b(?:pr|mr|pull request|merge request)\b.{0,20}\b(?:is|was|has been)? ?(?:open(?:ed)?|"
    r"created|submitted|ready|up|live)\b|"
    r"^\W*(?:pr|mr|pull request|merge request)\W*:",
    re.IGNORECASE,
)
_REASON = re.compile(r"\b(?:because|since|as|so that|due to|given that)\b|因为|由于", re.IGNORECASE)
_HEADS = (
    ("next", "next"),
    ("cause_heading", "root_cause"),
    ("ruled_out", "ruled_out"),
    ("done_heading", "done"),
    ("open_question", "open_question"),
    ("decision", "decision"),
)


def _lead(sentence: str) -> bool:
    """Whether a sentence only announces what follows it."""
    return sentence.rstrip("*_ )`").endswith((":", "："))


class Speaker:
    """Turns the blocks of one message into facts."""

    def __init__(self, message: Message, settings: Settings, authority: Authority) -> None:
        self._message = message
        self._settings = settings
        self._authority = authority
        self._final = not message.calls()

    def _fact(self, kind: str, quote: str, modality: Modality = "stated", **fields: Any) -> Fact:
        return fact(
            self._message, kind, "", quote, self._authority, modality, text=plain(quote), **fields
        )

    def block(self, block: Block) -> Iterator[Fact]:
        """Yield the facts of one paragraph or item."""
        under = self._under(block)
        if block.kind == "item" and block.depth <= 1:
            if block.checked:
                yield self._fact(
                    "plan", block.text, done=block.checked == "x", order=block.number, single=False
                )
                return
            if under == "next":
                yield from self._plan(block)
                return
            if under == "done" and not _lead(block.text):
                if len(uncoded(block.text).split()) > 1:  # a path alone says nothing of work
                    yield self._fact("claimed", block.text)
                return
        pieces = sentences(block.text)
        at = 0
        while at < len(pieces):
            facts, used = self._sentence(pieces, at, block, under)
            yield from facts
            at += used

    def _under(self, block: Block) -> str:
        """What the lead line, the heading, or a heading above it announces."""
        for title in (block.lead, block.heading, *reversed(block.above)):
            if not title:
                continue
            cues = find(self._settings, title)
            for category, meaning in _HEADS:
                if category in cues and "planned" not in cues:
                    return meaning
        return ""

    def _in_context(self, made: Fact, block: Block) -> Fact:
        """Put the heading before a short statement: an item alone often says too little."""
        text = made.fields["text"]
        title = plain(block.heading) if block.kind == "item" or len(text) < 60 else ""
        title = _NUMBERED.sub("", title)
        if title and len(text) < 110 and 12 < len(title) < 110 and not _GENERIC.match(title):
            made.fields["text"] = f"{title}: {text}"
        return made

    def _plan(self, block: Block) -> Iterator[Fact]:
        first = sentences(block.text)[:2]
        if first:
            quote = block.text if len(block.text) <= 240 else first[0]
            cues = find(self._settings, uncoded(quote))
            done = "done" in cues and "planned" not in cues
            yield self._fact("plan", quote, done=done, order=block.number, single=False)

    def _sentence(
        self, pieces: Sequence[str], at: int, block: Block, under: str
    ) -> tuple[list[Fact], int]:
        sentence = pieces[at]
        bare = uncoded(sentence)
        if len(sentence) > LONG or len(bare.strip()) < (8 if bare.isascii() else 4):
            return [], 1
        cues = find(self._settings, bare)
        if _lead(sentence) and not {"root_cause", "retraction"} & cues.keys():
            return [], 1
        if sentence.rstrip("*_ )").endswith(("?", "？")):
            return self._question(sentence, cues, pieces, at), 1
        if "retraction" in cues:
            return self._retraction(pieces, at)
        if "narration" in cues:
            if "next_sentence" in cues or "next" in cues:
                return [self._fact("plan", sentence, done=False, order=0, single=True)], 1
            return self._decision(sentence, cues), 1
        facts, used = self._ruled_out(pieces, at, cues, under)
        if not used:
            group = (block.lead or block.heading) if under == "root_cause" else ""
            facts, used = self._cause(pieces, at, cues, under, group)
        if used:
            return [self._in_context(facts[0], block), *facts[1:]], used
        return self._statement(sentence, block, cues, under), 1

    def _retraction(self, pieces: Sequence[str], at: int) -> tuple[list[Fact], int]:
        """A figure that is taken back: it may stand in the sentence before, or in the next one.

        "The 880 MB/s came from an empty file. I retract it."; "Correction. The 880 MB/s was of
        an empty file." What the next sentence says holds now is no past: it is left alone.
        """
        sentence, used = pieces[at], 1
        whole = sentence
        if not _FIGURE.search(sentence):
            later = pieces[at + 1] if at + 1 < len(pieces) else ""
            if at:
                whole = f"{pieces[at - 1]} {sentence}"
            elif _FIGURE.search(later) and _PAST.search(later):
                whole, used = f"{sentence} {later}", 2
        return [self._with_text("retraction", sentence, whole)], used

    def _question(self, sentence: str, cues: Cues, pieces: Sequence[str], at: int) -> list[Fact]:
        if "open_question" in cues:
            return [self._fact("question", sentence, to_person=False)]
        near_end = at >= len(pieces) - 2
        if self._final and near_end and not self._rest_narrates(pieces[at + 1 :]):
            return [self._fact("question", sentence, to_person=True)]
        return []

    def _rest_narrates(self, rest: Sequence[str]) -> bool:
        return any("narration" in find(self._settings, uncoded(piece)) for piece in rest)

    def _ruled_out(
        self, pieces: Sequence[str], at: int, cues: Cues, under: str
    ) -> tuple[list[Fact], int]:
        named = under == "ruled_out"
        if "ruled_out" not in cues and not named:
            return [], 0
        if "planned" in cues and not named and "negation" not in cues:
            return [], 0
        sentence = pieces[at]
        used = 1
        whole = sentence
        # "X was suspected, but the log shows Y. X is not the cause.": both belong together, and so
        # does what a sentence such as "Also no gain." leans on.
        if at and len(pieces[at - 1]) + len(sentence) < CAUSE:
            before = find(self._settings, uncoded(pieces[at - 1]))
            if "ruled_out" not in before and ("hedge" in before or _LEANS.match(sentence)):
                whole = f"{pieces[at - 1]} {sentence}"
        while at + used < len(pieces) and len(whole) + len(pieces[at + used]) < CAUSE:
            later = find(self._settings, uncoded(pieces[at + used]))
            if "ruled_out" not in later:
                break
            whole = f"{whole} {pieces[at + used]}"
            used += 1
        facts = [self._with_text("ruled_out", sentence, whole, tried="not_fixed" in cues)]
        if "not_fixed" in cues:
            facts.append(self._fact("outcome", sentence, good=False))
        return facts, used

    def _with_text(self, kind: str, quote: str, whole: str, **fields: Any) -> Fact:
        made = self._fact(kind, quote, **fields)
        made.fields["text"] = plain(whole)
        return made

    def _cause(
        self, pieces: Sequence[str], at: int, cues: Cues, under: str, group: str
    ) -> tuple[list[Fact], int]:
        sentence = pieces[at]
        named = under == "root_cause" and at == 0
        strong = "root_cause" in cues or (
            named and ("fault" in cues or "cause_weak" in cues or self._specific(sentence) > 1)
        )
        weak = self._because(cues) and self._specific(sentence) >= 2
        if not (strong or weak) or ("planned" in cues and "root_cause" not in cues):
            return [], 0
        wide = sum(c >= "\u2e80" for c in sentence)  # a CJK character says as much as three letters
        whole, fix, used = sentence, "", 1
        if strong and not (
            "fault" in cues or self._specific(sentence) or len(sentence) + 2 * wide > 45
        ):
            # "Found it. The pool is never closed.": it announces the cause
            if "hedge" in cues or not self._told(pieces, at + 1):
                return [], 0
            whole, used = pieces[at + 1], 2
            sentence = whole
        while at + used < len(pieces) and strong:
            piece = pieces[at + used]
            later = find(self._settings, uncoded(piece))
            label = _LABEL.match(plain(piece))
            if label:
                rest = plain(piece)[label.end() :]
                empty = rest.endswith((":", "：")) or (len(rest) < 40 and not self._specific(rest))
                fix = fix or ("" if empty else rest)
                used += 1
                continue
            figures = stated(piece, improved="improved" in later)
            if figures and figures.measured and {"improved", "best", "baseline"} & later.keys():
                break  # what came of it is a figure of its own
            stops = {"narration", "not_fixed", "fixed", "next_sentence", "decision", "done"}
            if stops & later.keys() or len(whole) + len(piece) > CAUSE or piece.endswith("?"):
                break
            whole = f"{whole} {piece}"
            used += 1
        modality: Modality = "hedged" if "hedge" in cues else "stated"
        made = self._fact("cause", sentence, modality, fix=fix, strong=strong, group=group)
        made.fields["text"] = plain(whole)
        facts = [made]
        if "fixed" in cues and "hedge" not in cues:
            facts.append(self._fact("outcome", sentence, good=True))
        return facts, used

    def _told(self, pieces: Sequence[str], at: int) -> bool:
        """Whether a sentence stands here that may tell a cause."""
        if at >= len(pieces) or pieces[at].rstrip().endswith(("?", "？", ":", "：")):
            return False
        cues = find(self._settings, uncoded(pieces[at]))
        stops = {"narration", "planned", "hedge", "next_sentence", "fixed", "decision", "done"}
        return len(pieces[at]) >= 25 and not stops & cues.keys()

    def _because(self, cues: Cues) -> bool:
        """Whether "because" follows soon upon what went wrong."""
        fault, because = cues.get("fault"), cues.get("cause_weak")
        if fault is None or because is None or "planned" in cues:
            return False
        return 0 <= because.start() - fault.end() < 60

    def _statement(self, sentence: str, block: Block, cues: Cues, under: str) -> list[Fact]:
        facts: list[Fact] = []
        weak: list[Fact] = []
        if "not_fixed" in cues:
            facts.append(self._fact("outcome", sentence, good=False))
        elif {"fixed", "fix_named"} & cues.keys() and not {"hedge", "planned"} & cues.keys():
            facts.append(self._fact("outcome", sentence, good=True))
        facts += self._decision(sentence, cues)
        if "open_question" in cues or under == "open_question":
            facts.append(self._fact("question", sentence, to_person=False))
        if "next_sentence" in cues:
            facts.append(self._fact("plan", sentence, done=False, order=0, single=True))
        link = _PULL.search(sentence)
        if link and _OPENED.search(uncoded(sentence)):
            facts.append(
                self._fact(
                    "pull_request", sentence, number=link[1], url=link[0], state="open", title=""
                )
            )
        if not {"negation", "planned", "hedge"} & cues.keys():
            if "done" in cues and not self._slight(sentence):
                facts.append(self._fact("claimed", sentence))
            elif {"done", "done_weak"} & cues.keys():
                weak = [self._fact("claimed", sentence, weak=True)]
        figures = [self._in_context(f, block) for f in self._figures(sentence, cues)]
        if figures and facts and any(f.kind != "claimed" for f in facts):
            return [*facts, *figures]
        return [*weak, *(figures or facts or self._finding(sentence, block, cues))]

    def _slight(self, sentence: str) -> bool:
        """Whether it is a word on the way ("The wiring is in place.") that names nothing."""
        wide = sum(c >= "\u2e80" for c in sentence)
        return not self._final and len(sentence) + 2 * wide < 60 and not self._specific(sentence)

    def _figures(self, sentence: str, cues: Cues) -> list[Fact]:
        """A sentence that states quantities which were measured, here or by others."""
        if {"planned", "hedge"} & cues.keys() and "improved" not in cues:
            return []
        if "usage" in cues:
            return []
        found = stated(sentence, improved="improved" in cues)
        if found is None:
            return []
        score = min(len(found.values), 3) + 2 * ("best" in cues) + 2 * ("baseline" in cues)
        score += 2 * ("improved" in cues) + ("**" in sentence) + self._final
        modality: Modality = "quoted" if "others" in cues else "stated"
        return [
            self._fact(
                "figure",
                sentence,
                modality,
                figures=list(found.values),
                old=[list(pair) for pair in found.old],
                measured=found.measured,
                score=score,
                final=self._final,
            )
        ]

    def _decision(self, sentence: str, cues: Cues) -> list[Fact]:
        if "decision" not in cues or "hedge" in cues:
            return []
        reason = _REASON.search(sentence)
        return [
            self._fact(
                "decision",
                sentence,
                reason=plain(sentence[reason.start() :]) if reason else "",
                changed="decision_changed" in cues or "leaves" in cues,
                leaves=cues["leaves"]["old"] if "leaves" in cues else "",
            )
        ]

    def _specific(self, sentence: str) -> int:
        """How many figures and identifiers a sentence holds: what later readers cannot guess."""
        return len(_IDENTIFIER.findall(sentence)) + len(_FIGURE.findall(sentence))

    def _finding(self, sentence: str, block: Block, cues: Cues) -> list[Fact]:
        if {"hedge", "narration", "planned", "usage"} & cues.keys() or not 25 <= len(
            sentence
        ) <= 400:
            return []
        specific = self._specific(sentence)
        score = min(specific, 4) + 2 * ("finding" in cues) + ("**" in sentence) + self._final
        if score < 3 or not (specific or "finding" in cues):
            return []
        modality: Modality = "quoted" if "others" in cues else "stated"
        made = self._fact("finding", sentence, modality, score=score, final=self._final)
        return [self._in_context(made, block)]

    def last_words(self, found: Sequence[Block]) -> Iterator[Fact]:
        """Yield the message's last sentences: where the agent stood."""
        said = [b for b in found if b.kind in ("paragraph", "item")]
        if not said:
            return
        told = [b for b in said if len(uncoded(b.text).split()) > 1]
        last = (told or said)[-1].text  # a path or a command alone says nothing
        pieces = sentences(last)
        if pieces:
            quote = last if len(last) <= 280 else pieces[-1]
            yield self._fact("last_words", quote, final=self._final)
