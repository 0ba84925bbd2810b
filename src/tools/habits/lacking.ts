/** Tools of other harnesses that do not exist here, by their plain names, and what to use instead. */

const ANSWER = "Write it as your answer: the turn ends when you call no tool.";
const ASK = "Ask in your answer; the user replies with the next message.";
const PLAN = "The user chooses the mode. Write the plan as your answer.";
const SEARCH = "Use grep for text, glob for names.";
const INSERT = "Use edit: `old` is a line that is there, `new` that line with the new text.";
const BROWSER = "There is no browser; web_fetch reads a page as text.";
const CHECK = "Run the checker or the linter of the project with bash.";
const AGENTS = "A call of agent runs to its end and returns the report; nothing waits or is sent to it.";
const THINK = "Think without a tool.";
const TASKS = "Use todo with the whole list.";
const MCP = "Call a tool of an MCP server by its own name, mcp__SERVER__TOOL.";
const PYTHON = "Use bash, for example python3 - <<'EOF'.";
const NOTEBOOK = "Read the notebook with read, and change its JSON with edit or write.";
const SEVERAL = "Send the calls one by one in the same answer; reading calls run in parallel.";

const GROUPS: readonly (readonly [advice: string, names: string])[] = [
  [NOTEBOOK, "notebook_edit edit_notebook edit_notebook_file notebook_edit_cell run_notebook_cell notebook_execute"],
  [
    ANSWER,
    "attempt_completion finish submit task_complete complete_task complete done final_answer report respond message answer end_turn notify_user message_user send_message report_progress agent_done complete_goal submit_and_exit message_notify_user idle",
  ],
  [
    ASK,
    "ask_followup_question ask_user_question ask_user question request_user_input ask ask_human ask_question ask_questions user_input message_ask_user clarify",
  ],
  [
    PLAN,
    "exit_plan_mode enter_plan_mode plan_mode_respond plan_mode_response switch_mode plan_exit plan_enter act_mode_respond",
  ],
  [
    SEARCH,
    "codebase_search semantic_search code_symbols list_code_definition_names list_code_usages search_symbols find_symbol get_symbols_overview find_referencing_symbols go_to_definition find_references workspace_symbol workspace_symbols document_symbols view_code_item codebase_retrieval search_definitions lsp test_search find_class find_function",
  ],
  [
    INSERT,
    "insert_content insert insert_line insert_text insert_at_line insert_lines append_to_file append_file edit_lines replace_lines replace_line delete_lines insert_after_symbol insert_before_symbol replace_symbol_body edit_line",
  ],
  [
    "Use edit to put the old text back; the user has /undo.",
    "undo_edit undo revert revert_file undo_last_edit restore_file reapply",
  ],
  [
    BROWSER,
    "browser_action browser computer computer_use browser_click browser_type browser_snapshot browser_take_screenshot browser_evaluate take_screenshot screenshot screen_capture puppeteer_navigate puppeteer_screenshot playwright open_browser browser_preview open_simple_browser goto_url click",
  ],
  [
    CHECK,
    "read_lints get_errors diagnostics get_diagnostics lint problems get_problems lsp_diagnostics get_linter_errors",
  ],
  [
    "Use bash: rm -- PATH.",
    "delete_file remove_file delete delete_files delete_path file_delete remove rm remove_files",
  ],
  ["Use bash: mv -- FROM TO.", "move_file rename_file move rename file_move mv"],
  ["Use bash: cp -- FROM TO.", "copy_file copy file_copy cp copy_path move_path"],
  [
    "write creates missing folders; for an empty one use bash: mkdir -p -- PATH.",
    "create_directory mkdir make_directory create_folder make_dir create_dir",
  ],
  ["Use bash: stat -- PATH.", "get_file_info file_info stat file_exists"],
  [
    "There is no search of the web in this session; web_fetch reads a page whose address you know.",
    "web_search google_web_search search_web websearch internet_search brave_web_search tavily_search google_search bing_search duckduckgo_search search_engine browser_search web_search_preview",
  ],
  [THINK, "think sequential_thinking sequentialthinking thinking reflect scratchpad"],
  [
    TASKS,
    "task_create task_update task_get todo_read read_todos get_todos todoread list_todos get_plan create_task update_task",
  ],
  [
    MCP,
    "use_mcp_tool access_mcp_resource list_mcp_resources list_mcp_resource_templates read_mcp_resource call_mcp_tool mcp_tool list_mcp_tools list_mcp_resources_tool read_mcp_resource_tool fetch_mcp_resource load_mcp_documentation",
  ],
  [
    AGENTS,
    "wait wait_agent send_input close_agent resume_agent agent_wait followup_task list_agents interrupt_agent send_message_to_agent wait_for_agent",
  ],
  [
    PYTHON,
    "python execute_python run_python ipython execute_ipython_cell run_ipython code_interpreter python_exec js_repl run_code execute_code node_repl repl run_javascript jupyter",
  ],
  [SEVERAL, "multi_tool_use_parallel multi_tool_use parallel batch batch_tool run_parallel"],
  ["Commands with a slash are the user's.", "slash_command run_slash_command execute_slash_command"],
  ["All tools are in your list.", "tool_search tool_search_tool find_tools list_tools search_tools get_tools"],
  ["Read the part you need with read and offset.", "scroll_up scroll_down goto scroll next_page"],
  [
    "This session keeps no notes for later ones. Tell the user if it should be remembered.",
    "memory save_memory remember store_memory create_memory update_memory write_memory memory_save read_memory search_memory list_memories",
  ],
  ["Images cannot be made here.", "generate_image image_generation image_gen create_image"],
  ["Work in this folder; use git with bash.", "enter_worktree exit_worktree create_worktree checkout"],
  [
    "Use bash with run_in_background; its output is read with background.",
    "monitor schedule_wakeup cron_create create_cron sleep start_service stop_service",
  ],
  ["This session starts no subagents: do the work yourself.", "agent task delegate spawn_agent new_task subagent"],
  ["Send a call of agent for each.", "use_subagents run_subagents"],
  ["This session has no skills to load.", "skill activate_skill use_skill load_skill"],
  [
    "Use bash: git.",
    "git git_status git_diff git_log git_show git_blame git_add git_commit git_checkout git_branch git_create_branch git_reset git_diff_unstaged git_diff_staged",
  ],
];

const ADVICE: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(([advice, names]) => names.split(" ").map((name) => [name.replaceAll("_", ""), advice] as const)),
);

/** Tells what to use instead of a tool that Oxbow does not have. */
export function lackingTool(plainName: string): string | undefined {
  return ADVICE.get(plainName);
}
