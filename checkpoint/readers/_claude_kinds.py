"""Claude Code: the kinds of records that are known."""

from __future__ import annotations

from checkpoint.readers._jsonl import names

BOOKKEEPING = names(
    """
    summary progress file-history-snapshot file-history-delta permission-mode mode agent-name
    agent-color agent-setting pr-link api-request api-request-shape api-request-blob tools-used
    cost-state atis-latch result stream_event rate_limit_event tag worktree-state
    content-replacement attribution-snapshot speculation-accept marble-origami-commit
    task-summary
    """
)
"""Record types that are no part of the conversation; `summary` is often another session's title."""

ATTACHMENTS = names(
    """
    hook_success hook_additional_context hook_system_message hook_cancelled
    hook_error_during_execution hook_non_blocking_error hook_blocking_error
    hook_permission_decision hook_stopped_continuation hook_deferred_tool task_reminder
    todo_reminder opened_file_in_ide selected_lines_in_ide skill_listing deferred_tools_delta
    agent_listing_delta mcp_instructions_delta command_permissions edited_text_file
    nested_memory diagnostics file environment model date date_change session_context
    total_tokens_reminder remote_session_change prompt_snapshot instructions plan_mode
    plan_mode_exit plan_mode_reentry plan_file_reference auto_mode auto_mode_exit
    critical_system_reminder todo output_style directory already_read_file
    compact_file_reference mcp_resource edited_image_file async_hook_response token_usage
    output_token_usage budget_usd invoked_skills dynamic_skill agent_mention task_status
    unified_tasks memory relevant_memories ultramemory verify_plan_reminder compaction_reminder
    context_efficiency structured_output teammate_mailbox team_context companion_intro
    current_session_memory max_turns_reached pdf_reference
    """
)
"""Kinds of `attachment` that a program adds to the conversation."""

SYSTEM = names(
    """
    stop_hook_summary turn_duration away_summary api_error informational init status
    hook_started hook_response hook_progress notification model_fallback model_refusal_fallback
    permission_denied api_retry microcompact_boundary memory_saved bridge_status
    scheduled_task_fire agents_killed api_metrics permission_retry thinking task_notification
    task_started task_progress
    """
)
"""Subtypes of `system` that are no part of the conversation."""
