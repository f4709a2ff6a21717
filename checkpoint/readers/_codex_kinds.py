"""Codex: the kinds of records, items and events that are known."""

from __future__ import annotations

from checkpoint.readers._jsonl import names

ITEMS = names(
    """
    message reasoning function_call function_call_output custom_tool_call
    custom_tool_call_output local_shell_call local_shell_call_output web_search_call
    """
)
"""What the model saw or sent."""

SILENT_ITEMS = names(
    """
    ghost_snapshot compaction compaction_summary compaction_trigger context_compaction other
    tool_search_call tool_search_output image_generation_call agent_message
    """
)
"""Items that say nothing of their own."""

RECORDS = names(
    """
    world_state token_usage_record state inter_agent_communication
    """
)
"""Records that are no part of the conversation."""

EVENTS = names(
    """
    token_count task_started task_complete turn_started turn_complete turn_aborted
    thread_settings_applied thread_goal_updated thread_name_updated session_configured
    agent_message_delta agent_reasoning_delta agent_reasoning_raw_content
    agent_reasoning_raw_content_delta agent_reasoning_section_break reasoning_content_delta
    reasoning_raw_content_delta agent_message_content_delta exec_command_begin
    exec_command_output_delta terminal_interaction patch_apply_begin patch_apply_updated
    mcp_tool_call_begin mcp_startup_update mcp_startup_complete web_search_begin
    view_image_tool_call exec_approval_request apply_patch_approval_request elicitation_request
    request_user_input request_permissions dynamic_tool_call_request dynamic_tool_call_response
    item_started background_event stream_error stream_info warning guardian_warning
    guardian_assessment error deprecation_notice model_reroute model_verification undo_started
    undo_completed turn_diff raw_response_item plan_delta plan_update entered_review_mode
    exited_review_mode thread_rolled_back hook_started hook_completed skills_update_available
    shutdown_complete sub_agent_activity collab_agent_spawn_begin collab_agent_spawn_end
    collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin
    collab_waiting_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end
    image_generation_begin image_generation_end context_compacted agent_reasoning
    """
)
"""Events that repeat an item, or are no part of the conversation."""

EDGES = names(
    """
    token_count task_started turn_started task_complete turn_complete
    """
)
"""Events that stand between two answers of the model."""
