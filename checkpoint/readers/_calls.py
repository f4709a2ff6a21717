"""Tool calls of agents that name their arguments alike: category, target, changes, to-do list.

An agent's own table of tool names comes first; names that many agents share stand here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from checkpoint.model import Category, Change, Todo, TodoStatus, ToolCall
from checkpoint.readers._edits import patch, search_replace, unified

_NAMES: dict[Category, str] = {
    "shell": "bash shell terminal exec execute_command run_shell_command run_terminal_cmd "
    "run_command run_in_terminal execute_bash shell_command local_shell powershell execute "
    "run_terminal_command run_terminal_command_v2 developer__shell execute_ipython_cell bashoutput "
    "write_stdin",
    "read": "read read_file read_many_files view view_file open cat list_directory list_dir ls "
    "list_files read_folder readfile list_code_definition_names read_notebook view_image "
    "listfiles readmanyfiles read_file_v2 list_dir_v2 read_lints",
    "edit": "edit multiedit multi_edit replace str_replace edit_file apply_patch apply_diff "
    "replace_in_file insert_content search_and_replace insert_edit_into_file "
    "replace_string_in_file multi_replace_string_in_file edit_notebook notebookedit search_replace "
    "smart_edit apply_patch_v2 edit_file_v2",
    "write": "write write_file create create_file write_to_file new_file save_file delete_file",
    "search": "grep glob search grep_search search_file_content codebase_search file_search "
    "search_files find find_files search_code ripgrep semantic_search tool_search "
    "ripgrep_raw_search glob_file_search rg",
    "fetch": "webfetch web_fetch fetch websearch web_search google_web_search fetch_url "
    "read_web_page fetch_webpage browser_action browser browse web_search_exa fetchurl",
    "todo": "todowrite todo_write write_todos update_todo_list update_plan manage_todo_list "
    "todo todos task_progress todo_list update_todos focus_chain",
    "subagent": "task agent subagent new_task spawn_agent delegate dispatch_agent runsubagent "
    "delegate_task oracle",
    "question": "ask_user ask_followup_question askuserquestion ask_question request_user_input "
    "ask_user_question followup",
}
_BY_NAME: dict[str, Category] = {
    name: category for category, names in _NAMES.items() for name in names.split()
}

_PATHS = (
    "file_path", "path", "absolute_path", "filePath", "target_file", "file", "filename",
    "relative_path", "dir_path", "directory", "notebook_path", "relative_workspace_path",
    "targetFile", "paths", "files",
)  # fmt: skip
_TARGETS: dict[Category, tuple[str, ...]] = {
    "shell": ("command", "cmd", "commands", "script", "code", "input"),
    "read": _PATHS,
    "edit": _PATHS,
    "write": _PATHS,
    "search": ("pattern", "query", "regex", "glob_pattern", "globPattern", *_PATHS),
    "fetch": ("url", "uri", "urls", "query", "prompt"),
    "todo": (),
    "subagent": ("description", "task", "prompt", "message", "subagent_type"),
    "question": ("question", "questions", "message", "prompt"),
    "other": (*_PATHS, "command", "url", "query", "pattern", "name"),
}


def category_of(tool: str, table: Mapping[str, Category] | None = None) -> Category:
    """Return the category of a tool: the agent's own table first, then the shared names."""
    if table and tool in table:
        return table[tool]
    name = tool.lower().replace("-", "_")
    return _BY_NAME.get(name) or _BY_NAME.get(name.replace("_", "")) or "other"


def make_call(
    tool: str,
    args: Any,
    *,
    id: str = "",  # noqa: A002 - the field's name
    table: Mapping[str, Category] | None = None,
) -> ToolCall:
    """Return a call that still waits for its result; arguments given as JSON text are decoded."""
    fields = _fields(args)
    category = category_of(tool, table)
    if tool == "str_replace_editor" or (tool.endswith("editor") and "command" in fields):
        category = _editor(fields)
    call = ToolCall(tool, category, id=id, input=fields, finished=False)
    call.target = target_of(category, fields)
    call.changes = tuple(changes_of(category, fields))
    if category == "todo":
        call.todos = tuple(todos_of(fields))
    if category == "edit" and not call.target and call.changes:
        call.target = call.changes[0].path
    call.background = fields.get("is_background") is True or fields.get("run_in_background") is True
    cwd = fields.get("cwd") or fields.get("workdir")
    call.cwd = cwd if category == "shell" and isinstance(cwd, str) else ""
    return call


def _fields(args: Any) -> dict[str, Any]:
    if isinstance(args, str):
        text = args
        try:
            args = msgspec.json.decode(args)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return {"input": text} if text else {}
        if not isinstance(args, dict):
            return {"input": text}
    return args if isinstance(args, dict) else {}


def _editor(fields: dict[str, Any]) -> Category:
    return {"view": "read", "create": "write"}.get(str(fields.get("command")), "edit")  # type: ignore[return-value]


def target_of(category: Category, fields: Mapping[str, Any]) -> str:
    """Return what a call of this category acts on, as one text."""
    for key in _TARGETS[category]:
        found = _flat(fields.get(key), category)
        if found:
            return found
    return ""


def _flat(value: Any, category: Category) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return _flat(value.get("path") or value.get("question") or value.get("file_path"), category)
    if isinstance(value, list) and value:
        if category == "shell" and all(isinstance(one, str) for one in value):
            return value[2] if len(value) == 3 and value[1] in ("-c", "-lc") else shlex.join(value)
        return ", ".join(filter(None, (_flat(one, category) for one in value)))
    return ""


_OLD = ("old_string", "old_str", "oldText", "oldString", "old_text", "search", "oldStr")
_NEW = ("new_string", "new_str", "newText", "newString", "new_text", "replace", "newStr")
_WHOLE = ("content", "file_text", "contents", "newContent", "fileText", "text")


def changes_of(category: Category, fields: Mapping[str, Any]) -> list[Change]:
    """Return what the arguments of an edit or write say was done to files."""
    if category not in ("edit", "write"):
        return []
    path = target_of("edit", fields)
    for key in ("patch", "input", "diff", "patchText", "patch_text", "explanation"):
        text = fields.get(key)
        if isinstance(text, str) and (found := diff_of(text, path)):
            return found
    pieces = fields.get("edits") or fields.get("replacements") or fields.get("operations")
    if isinstance(pieces, list):
        changes = [_piece(one, path) for one in pieces if isinstance(one, dict)]
        return [one for one in changes if one.path and (one.old or one.new)]
    if not path:
        return []
    change = _piece(fields, path)
    if change.old or change.new:
        return [change]
    whole = _first(fields, _WHOLE)
    if category == "write":
        return [Change(path, "written", new=whole)]
    return [Change(path, "edited", new=whole or _first(fields, ("code_edit", "code", "diff")))]


def diff_of(text: str, path: str) -> list[Change]:
    """Return the changes of a text that is a patch, SEARCH/REPLACE blocks or a unified diff."""
    if "*** Begin Patch" in text or text.startswith("*** "):
        return patch(text)
    if "SEARCH" in text and (found := search_replace(text, path)):
        return found
    if "\n@@" in text or text.startswith(("@@", "--- ")):
        return unified(text, path)
    return []


def _piece(fields: Mapping[str, Any], path: str) -> Change:
    own = target_of("edit", fields) or path
    old, new = _first(fields, _OLD), _first(fields, _NEW)
    created = not old and bool(new) and any(key in fields for key in _OLD)
    return Change(own, "created" if created else "edited", old, new)


def _first(fields: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


_STATUS: dict[str, TodoStatus] = {
    "completed": "completed", "complete": "completed", "done": "completed", "x": "completed",
    "in_progress": "in_progress", "in-progress": "in_progress", "active": "in_progress",
    "inprogress": "in_progress", "doing": "in_progress", "-": "in_progress", "~": "in_progress",
    "cancelled": "cancelled", "canceled": "cancelled", "skipped": "cancelled",
    "deleted": "cancelled",
    "blocked": "blocked",
}  # fmt: skip
_CHECK = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[([ xX~/-]?)\]\s+(.+)$", re.MULTILINE)


def status_of(value: Any) -> TodoStatus:
    """Return the status that an agent's word for it stands for; an unknown word is pending."""
    return _STATUS.get(str(value).strip().lower().replace(" ", "_"), "pending")


def todos_of(fields: Mapping[str, Any]) -> list[Todo]:
    """Return the items of a to-do call: a list of objects, or a Markdown check list."""
    for key in (
        "todos",
        "todoList",
        "plan",
        "items",
        "tasks",
        "task_list",
        "task_progress",
        "input",
    ):
        value = fields.get(key)
        if isinstance(value, str):
            if found := checklist(value):
                return found
            value = _fields(value).get("todos")
        if isinstance(value, list):
            return [todo for todo in map(_todo, value) if todo.text]
    return []


def _todo(one: Any) -> Todo:
    if isinstance(one, str):
        return Todo(one.strip())
    if not isinstance(one, dict):
        return Todo("")
    text = _first(
        one, ("content", "description", "text", "title", "step", "task", "subject", "name")
    )
    done = one.get("done") is True or one.get("completed") is True
    number = one.get("id")
    return Todo(
        text.strip(),
        "completed" if done else status_of(one.get("status") or one.get("state")),
        str(number) if isinstance(number, str | int) else "",
    )


def checklist(text: str) -> list[Todo]:
    """Return the items of a Markdown check list: `- [x] text`, `[-]` is in progress."""
    found = []
    for mark, words in _CHECK.findall(text):
        status: TodoStatus = "completed" if mark in "xX" and mark else "pending"
        found.append(Todo(words.strip(), "in_progress" if mark in ("-", "~", "/") else status))
    return found


def close_call(
    call: ToolCall, output: str, *, failed: bool = False, exit_code: int | None = None
) -> None:
    """Fill in the result of a call."""
    call.output = output
    call.exit_code = exit_code
    call.failed = failed or bool(exit_code)
    call.finished = True
