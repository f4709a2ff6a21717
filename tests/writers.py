"""Writers of other agents' session files, from our own messages: the converse of the readers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from checkpoint.model import Message, Text, ToolCall
from tests.writers_parts import (
    COMPRESSED,
    compaction,
    is_pivot,
    iso,
    lines,
    millis,
    tool,
)

Writer = Callable[[list[Message], str], str]


def _shell(call: ToolCall) -> str:
    output = call.output or "(empty)"
    return (
        f"Command: {call.target}\nDirectory: (root)\nOutput: {output}\nExit Code: {call.exit_code}"
    )


def _response(call: ToolCall) -> list[dict[str, Any]]:
    words = call.output
    if call.category == "shell" and call.exit_code is not None:
        words = _shell(call)
    answer = {"id": call.id, "name": call.tool, "response": {"output": words}}
    return [{"functionResponse": answer}]


def _gemini_message(message: Message) -> dict[str, Any]:
    kind = "gemini" if message.role == "assistant" else "user"
    record: dict[str, Any] = {
        "id": f"m{message.number}", "timestamp": iso(message.at), "type": kind,
        "content": message.said() if kind == "gemini" else [{"text": message.said()}],
    }  # fmt: skip
    if is_pivot(message):
        record |= {"type": "info", "content": COMPRESSED.format(compaction(message).tokens_before)}
    if message.role == "assistant":
        record["model"] = message.model
        record["toolCalls"] = [
            {
                "id": call.id, "name": tool("gemini", call)[0], "args": tool("gemini", call)[1],
                "result": _response(call), "status": "error" if call.failed else "success",
            }
            for call in message.calls()
        ]  # fmt: skip
    return record


def gemini(messages: list[Message], cwd: str) -> str:
    digest = hashlib.sha256(cwd.encode()).hexdigest()
    whole = {
        "sessionId": "s", "projectHash": digest, "startTime": iso(messages[0].at),
        "lastUpdated": iso(messages[-1].at), "directories": [cwd],
        "messages": [_gemini_message(one) for one in messages],
    }  # fmt: skip
    return json.dumps(whole, ensure_ascii=False)


def gemini_lines(messages: list[Message], cwd: str) -> str:
    whole = json.loads(gemini(messages, cwd))
    found = whole.pop("messages")
    early = [{k: v for k, v in one.items() if k != "toolCalls"} for one in found]
    pairs = [one for two in zip(early, found, strict=True) for one in two]
    return lines(iter([whole, *pairs]))


def qwen(messages: list[Message], cwd: str) -> str:
    def records() -> Iterator[dict[str, Any]]:
        parent = None
        for message in messages:
            base = {
                "parentUuid": parent, "sessionId": "s", "timestamp": iso(message.at), "cwd": cwd,
                "version": "0.24.4", "gitBranch": message.branch, "model": message.model,
            }  # fmt: skip
            parent = f"q{message.number}"
            if is_pivot(message):
                cut = compaction(message)
                about = {"triggerReason": cut.trigger, "originalTokenCount": cut.tokens_before}
                payload = {"info": about}
                yield base | {"uuid": parent, "type": "system", "provenance": "system",
                              "subtype": "chat_compression", "systemPayload": payload}  # fmt: skip
                continue
            assistant = message.role == "assistant"
            parts: list[dict[str, Any]] = [
                {"text": one.text} for one in message.parts if isinstance(one, Text)
            ]
            for call in message.calls():
                name, args = tool("qwen", call)
                parts.append({"functionCall": {"id": call.id, "name": name, "args": args}})
            yield base | {
                "uuid": parent, "type": "assistant" if assistant else "user",
                "provenance": "assistant_output" if assistant else "real_user",
                "message": {"role": "model" if assistant else "user", "parts": parts},
            }  # fmt: skip
            for call in message.calls():
                yield base | {
                    "uuid": f"{parent}-{call.id}", "type": "tool_result",
                    "provenance": "tool_result",
                    "message": {"role": "user", "parts": _response(call)},
                    "toolCallResult": {"callId": call.id,
                                       "status": "error" if call.failed else "success"},
                }  # fmt: skip

    return lines(records())


def _block(call: ToolCall, agent: str, args: str = "input") -> dict[str, Any]:
    name, given = tool(agent, call)
    return {"type": "tool_use", "id": call.id, "name": name, args: given}


def droid(messages: list[Message], cwd: str) -> str:
    def records() -> Iterator[dict[str, Any]]:
        yield {"type": "session_start", "id": "s", "title": "", "cwd": cwd}
        for message in messages:
            base = {"id": f"m{message.number}", "timestamp": iso(message.at)}
            if is_pivot(message):
                yield base | {"type": "compaction_state", "summaryText": ""}
                continue
            content: list[dict[str, Any]] = [
                {"type": "text", "text": one.text} for one in message.parts if isinstance(one, Text)
            ]
            content += [_block(call, "droid") for call in message.calls()]
            yield base | {"type": "message", "message": {"role": message.role, "content": content}}
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": call.output,
                 "is_error": call.failed} for call in message.calls()
            ]  # fmt: skip
            if results:
                yield base | {"type": "message", "message": {"role": "user", "content": results}}

    return lines(records())


def pi(messages: list[Message], cwd: str) -> str:
    def records() -> Iterator[dict[str, Any]]:
        at = iso(messages[0].at)
        yield {"type": "session", "version": 3, "id": "s", "timestamp": at, "cwd": cwd}
        parent = None
        for message in messages:
            base = {"parentId": parent, "timestamp": iso(message.at)}
            parent = f"m{message.number}"
            if is_pivot(message):
                before = compaction(message).tokens_before
                yield base | {"id": parent, "type": "compaction", "summary": "",
                              "tokensBefore": before}  # fmt: skip
                continue
            content: list[dict[str, Any]] = [
                {"type": "text", "text": one.text} for one in message.parts if isinstance(one, Text)
            ]
            for call in message.calls():
                block = _block(call, "pi", "arguments")
                content.append(block | {"type": "toolCall"})
            inner = {"role": message.role, "content": content, "model": message.model}
            yield base | {"id": parent, "type": "message", "message": inner}
            for call in message.calls():
                before_result, parent = parent, f"{parent}-{call.id}"
                output = [{"type": "text", "text": call.output}]
                result = {"role": "toolResult", "toolCallId": call.id, "toolName": call.tool,
                          "content": output, "isError": call.failed}  # fmt: skip
                yield {"id": parent, "parentId": before_result, "timestamp": iso(message.at),
                       "type": "message", "message": result}  # fmt: skip

    return lines(records())


def amp(messages: list[Message], cwd: str) -> str:
    found: list[dict[str, Any]] = []
    for message in messages:
        base = {"messageId": message.number, "meta": {"sentAt": millis(message.at)}}
        if is_pivot(message):
            summary = {"type": "summary", "summary": {"type": "message", "summary": ""}}
            found.append(base | {"role": "user", "content": [summary]})
            continue
        content: list[dict[str, Any]] = [
            {"type": "text", "text": one.text} for one in message.parts if isinstance(one, Text)
        ]
        content += [_block(call, "amp") for call in message.calls()]
        usage = {"usage": {"model": message.model}} if message.role == "assistant" else {}
        found.append(base | usage | {"role": message.role, "content": content})
        results = []
        for call in message.calls():
            result: Any = call.output
            if call.category == "shell":
                result = {"output": call.output, "exitCode": call.exit_code}
            run = {"status": "done", "result": result}
            if call.failed and call.exit_code is None:
                run = {"status": "error", "error": {"message": call.output}}
            results.append({"type": "tool_result", "toolUseID": call.id, "run": run})
        if results:
            found.append(base | {"role": "user", "content": results})
    tree = {"uri": f"file://{cwd}", "repository": {"ref": f"refs/heads/{messages[0].branch}"}}
    env = {"initial": {"trees": [tree]}}
    whole = {"v": 1, "id": "T-1", "created": millis(messages[0].at), "env": env, "messages": found}
    return json.dumps(whole, ensure_ascii=False)


def copilot(messages: list[Message], cwd: str) -> str:
    def records() -> Iterator[dict[str, Any]]:
        context = {"cwd": cwd, "branch": messages[0].branch}
        start = {"sessionId": "s", "startTime": iso(messages[0].at), "context": context}
        yield {"type": "session.start", "data": start, "id": "e", "timestamp": iso(messages[0].at),
               "parentId": None}  # fmt: skip
        for message in messages:
            base = {"id": f"m{message.number}", "timestamp": iso(message.at), "parentId": "e"}
            if is_pivot(message):
                data: dict[str, Any] = {"preCompactionTokens": compaction(message).tokens_before}
                yield base | {"type": "session.compaction_complete", "data": data}
            elif message.role == "assistant":
                asked = [
                    {"toolCallId": call.id, "name": tool("copilot", call)[0],
                     "arguments": tool("copilot", call)[1]} for call in message.calls()
                ]  # fmt: skip
                data = {"messageId": f"a{message.number}", "content": message.said(),
                        "model": message.model, "toolRequests": asked}  # fmt: skip
                yield base | {"type": "assistant.message", "data": data}
            else:
                yield base | {"type": "user.message", "data": {"content": message.said()}}
            for call in message.calls():
                words = call.output
                if call.exit_code is not None:
                    words += f"\n<shellId: 0 completed with exit code {call.exit_code}>"
                failed = call.failed and call.exit_code is None
                data = {"toolCallId": call.id, "success": not failed, "result": {"content": words}}
                yield base | {"type": "tool.execution_complete", "data": data}

    return lines(records())


def goose(messages: list[Message], cwd: str) -> str:
    def records() -> Iterator[dict[str, Any]]:
        yield {"working_dir": cwd, "description": "", "message_count": len(messages)}
        for message in messages:
            created = millis(message.at) // 1000
            base = {"id": f"m{message.number}", "created": created, "role": message.role}
            if is_pivot(message):
                mark = {"type": "conversationCompacted", "msg": ""}
                yield base | {"role": "assistant", "content": [mark]}
                continue
            content: list[dict[str, Any]] = [
                {"type": "text", "text": one.text} for one in message.parts if isinstance(one, Text)
            ]
            for call in message.calls():
                name, given = tool("goose", call)
                value = {"name": name, "arguments": given}
                asked = {"status": "success", "value": value}
                content.append({"type": "toolRequest", "id": call.id, "toolCall": asked})
            yield base | {"content": content}
            results = []
            for call in message.calls():
                output = [{"type": "text", "text": call.output}]
                value = {"content": output, "isError": call.failed}
                given = {"status": "success", "value": value}
                results.append({"type": "toolResponse", "id": call.id, "toolResult": given})
            if results:
                yield base | {"role": "user", "content": results}

    return lines(records())


def cline(messages: list[Message], cwd: str) -> str:
    around = (
        f"<environment_details>\n# Current Working Directory ({cwd}) Files\n</environment_details>"
    )
    found: list[dict[str, Any]] = []
    for message in messages:
        base = {"ts": millis(message.at), "role": message.role}
        if is_pivot(message):
            found.append(base | {"role": "user", "isSummary": True, "content": ""})
            continue
        if message.role == "user":
            wrapper = "task" if not found else "user_message"
            words = f"<{wrapper}>\n{message.said()}\n</{wrapper}>"
            content: Any = [{"type": "text", "text": words}, {"type": "text", "text": around}]
            found.append(base | {"content": content})
            continue
        content = [{"type": "text", "text": one.text} for one in message.parts if type(one) is Text]
        content += [_block(call, "cline") for call in message.calls()]
        found.append(base | {"content": content, "modelInfo": {"modelId": message.model}})
        results = []
        for call in message.calls():
            words = call.output
            if call.category == "shell":
                words = f"Command executed. Exit code: {call.exit_code}\nOutput:\n{call.output}"
            results.append(
                {"type": "tool_result", "tool_use_id": call.id, "content": words,
                 "is_error": call.failed and call.exit_code is None}
            )  # fmt: skip
        if results:
            found.append({"ts": millis(message.at), "role": "user", "content": results})
    return json.dumps(found, ensure_ascii=False)


def openhands(messages: list[Message], cwd: str) -> str:
    events: list[dict[str, Any]] = []

    def add(source: str, at: datetime | None, **more: Any) -> int:
        number = len(events)
        events.append({"id": number, "timestamp": iso(at), "source": source} | more)
        return number

    for message in messages:
        at = message.at
        if is_pivot(message):
            add("agent", at, action="condensation", args={"summary": ""})
            continue
        source = "user" if message.role == "user" else "agent"
        if not message.calls():
            add(source, at, action="message", args={"content": message.said()})
        for call in message.calls():
            name, given = tool("openhands", call)
            thought = message.said() if call is message.calls()[0] else ""
            asked = add(source, at, action=name, args=given | {"thought": thought})
            kind = "error" if call.failed and call.exit_code is None else name
            metadata = {"exit_code": call.exit_code, "working_dir": cwd}
            extras = {"metadata": metadata} if call.category == "shell" else {}
            add("agent", at, observation=kind, content=call.output, extras=extras, cause=asked)
    return json.dumps(events, ensure_ascii=False)


WRITERS: dict[str, tuple[str, Writer]] = {
    "gemini": ("gemini", gemini),
    "gemini-lines": ("gemini", gemini_lines),
    "qwen-code": ("qwen-code", qwen),
    "cline": ("cline", cline),
    "copilot-cli": ("copilot-cli", copilot),
    "amp": ("amp", amp),
    "droid": ("droid", droid),
    "pi": ("pi", pi),
    "goose": ("goose", goose),
    "openhands": ("openhands", openhands),
}
