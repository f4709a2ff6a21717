"""What the agent said: its own words, a plan that it was given, a summary of what is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkpoint.extractors._base import extractor
from checkpoint.extractors._cues import find
from checkpoint.extractors._prose import blocks, plain
from checkpoint.extractors._speaker import Speaker
from checkpoint.model import Message, Text
from checkpoint.settings import Settings
from checkpoint.state import Authority, Fact, fact


@extractor
def agent_words(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield what the agent's visible words state, in order of the text."""
    if message.subagent:
        return
    if message.origin == "summary":
        yield from _summary(message, settings)
    elif message.role == "user" and message.origin == "injected":
        yield from _given_plan(message, settings)
    elif message.role == "assistant":
        speaker = Speaker(message, settings, Authority.TEXT)
        found = blocks(_THOUGHT.sub("", message.said()))
        for block in found:
            if block.kind in ("paragraph", "item"):
                yield from speaker.block(block)
        yield from speaker.last_words(found)


EARLY = 3
"""A summary among the first messages stands for messages that are gone."""
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


def _summary(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield what a compaction's text tells, where the messages that it sums up are gone.

    Elsewhere the messages themselves are there, and know better.
    """
    if message.number > EARLY:
        return
    text = message.said() or "\n\n".join(p.text for p in message.parts if type(p) is Text)
    speaker = Speaker(message, settings, Authority.SUMMARY)
    goal = ""
    for block in blocks(_THOUGHT.sub("", text)):
        if block.kind not in ("paragraph", "item"):
            continue
        named = find(settings, block.heading or block.lead)
        if not goal and ("summary_goal" in named or "summary_goal" in find(settings, block.lead)):
            goal = block.text
            yield fact(message, "plan_given", "", goal, Authority.SUMMARY, title="",
                       text=plain(goal)[:420])  # fmt: skip
            continue
        yield from speaker.block(block)


def _given_plan(message: Message, settings: Settings) -> Iterator[Fact]:
    """Yield what a plan that a person let an agent carry out says of its goal and causes.

    An agent wrote the plan, so it holds no person's rules; but a person approved it, and after the
    program cleared the conversation it is all that tells what the session is for. Its steps are
    left out: what became of them is what the session itself shows.
    """
    text = "\n\n".join(p.text for p in message.parts if type(p) is Text)
    if "plan_given" not in find(settings, text[:120]):
        return
    found = blocks(text)
    headings = [at for at, block in enumerate(found) if block.kind == "heading"]
    if not headings:
        return
    body = found[headings[0] : headings[2] if len(headings) > 2 else None]
    words = [b for b in body if b.kind == "paragraph"]
    title = plain(found[headings[0]].text)
    told = plain(words[0].text) if words else ""
    yield fact(message, "plan_given", "", found[headings[0]].text, Authority.TEXT, title=title,
               text=f"{title}. {told}"[:420] if told else title)  # fmt: skip
    speaker = Speaker(message, settings, Authority.TEXT)
    for block in words:
        yield from (made for made in speaker.block(block) if made.kind == "cause")
