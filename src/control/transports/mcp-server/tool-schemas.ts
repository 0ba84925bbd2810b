/** The tools of the MCP server as clients list them. What they do is in tools.ts. */
import type { Tool } from "@modelcontextprotocol/server";

const string = (description: string) => ({ type: "string", description }) as const;
const SESSION = string("id of the session, sess_…");
const TEXT = string("what the agent should do or answer");
const SKILL = {
  type: "string",
  pattern: "^[\\p{L}\\p{N}_.:-]+$",
  description: "name of a skill to run with this text; see oxbow://skills",
} as const;
const WAIT_SECONDS = {
  type: "number",
  minimum: 1,
  maximum: 86_400,
  description:
    "how long to wait for the end of the turn; the turn continues after that (default: until it ends, or 50 s for a client that asks for no progress)",
} as const;

type Properties = NonNullable<Tool["inputSchema"]["properties"]>;

function tool(
  name: string,
  description: string,
  {
    required = {},
    optional = {},
    annotations = {},
  }: {
    readonly required?: Properties;
    readonly optional?: Properties;
    readonly annotations?: Tool["annotations"];
  },
): Tool {
  return {
    name,
    description,
    inputSchema: {
      type: "object",
      properties: { ...required, ...optional },
      required: Object.keys(required),
    },
    annotations: { openWorldHint: false, ...annotations },
  };
}

const READS = { readOnlyHint: true };
const RUNS = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

/** The name says what allowing it means. */
export const RUN_TOOL = "run_agent_with_shell_access";

const RUN_DESCRIPTION = `Runs an AI agent on this machine that reads and changes files, runs shell commands and fetches web pages. To allow this tool is to \
allow a model to run commands. Calls that need permission wait for a person; you cannot approve them. wait "turn" returns the final answer with \
{cost, turns, tools_used}; wait "none" returns at once.`;

export const TOOLS: readonly Tool[] = [
  tool(RUN_TOOL, RUN_DESCRIPTION, {
    required: { prompt: TEXT },
    optional: {
      session: string("the session to continue; default: a new one"),
      cwd: string("folder of a new session, as an absolute path"),
      model: string("model of a new session: NAME or PROVIDER:NAME"),
      skill: SKILL,
      wait: { type: "string", enum: ["turn", "none"], description: "default: turn" },
      wait_seconds: WAIT_SECONDS,
    },
    annotations: RUNS,
  }),
  tool("create_session", "Opens a session with an agent on this machine, or a stored one again.", {
    optional: {
      cwd: string("folder to work in, as an absolute path (default: where Oxbow was started)"),
      model: string("NAME or PROVIDER:NAME"),
      resume: string("id of a stored session"),
      plan: { type: "boolean", description: "start in plan mode: the agent changes nothing" },
    },
  }),
  tool("list_sessions", "Lists the sessions, newest first.", {
    optional: { cwd: string("only those of this folder"), limit: { type: "integer", minimum: 1, maximum: 500 } },
    annotations: READS,
  }),
  tool("attach_session", "Follows a session, so that its events reach subscribers, and returns its state.", {
    required: { session: SESSION },
    annotations: READS,
  }),
  tool("detach_session", "Stops following a session. The session continues.", {
    required: { session: SESSION },
    annotations: READS,
  }),
  tool(
    "send_input",
    `Sends input to a session and returns at once. Like ${RUN_TOOL} it makes an agent with a shell work.`,
    {
      required: { session: SESSION, text: TEXT },
      optional: {
        skill: SKILL,
        queue: { type: "boolean", description: "wait for the running turn instead of a refusal" },
      },
      annotations: RUNS,
    },
  ),
  tool(
    "wait_for_turn",
    "With text: sends it and waits for the end of its turn. Without: waits for the running turn. Returns {cost, turns, tools_used}.",
    {
      required: { session: SESSION },
      optional: { text: TEXT, wait_seconds: WAIT_SECONDS },
      annotations: RUNS,
    },
  ),
  tool("cancel_turn", "Stops the running turn of a session.", { required: { session: SESSION } }),
  tool("answer_permission", "For people only: always refused to agents. It says how a person can answer.", {
    required: { session: SESSION },
    optional: {
      call: string("the call that waits"),
      decision: string("allow_once, allow_pattern, allow_tool or deny"),
    },
    annotations: READS,
  }),
  tool("set_model", "Changes the model of a session from the next turn on.", {
    required: { session: SESSION, model: string("NAME or PROVIDER:NAME") },
  }),
  tool("enter_plan_mode", "The agent plans and changes nothing until a person approves the plan.", {
    required: { session: SESSION },
  }),
  tool("exit_plan_mode", "Sends the plan back to the agent. Only a person can approve a plan.", {
    required: { session: SESSION },
    optional: { approve: { type: "boolean", description: "refused to agents" } },
  }),
  tool("end_session", "Ends a session; its log stays and it can be resumed.", { required: { session: SESSION } }),
];
