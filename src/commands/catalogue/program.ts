/** Commands that only `oxbow NAME` has. The command line adds the flags of a run. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";
import { PLUGIN_DIR } from "./extensions.js";

const EVERYONE: readonly CommandUser[] = ["people", "agents"];
const PROGRAM: readonly CommandPlace[] = ["without a session"];
const FOLDER: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };

export const RUN: CommandSpec = {
  name: "run",
  summary: "run one prompt to its end (the default for a prompt with spaces)",
  arguments: [{ name: "PROMPT", kind: "text", optional: true, rest: "text" }],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const RESUME: CommandSpec = {
  name: "resume",
  summary: "continue a session: the one you name, or one you choose from a list",
  arguments: [{ name: "SESSION", kind: "text", optional: true, complete: "session" }],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const DEBUG: CommandSpec = {
  name: "debug",
  summary: "'debug --raw PROMPT' runs a prompt and writes the raw model traffic to an encrypted file",
  arguments: [{ name: "PROMPT", kind: "text", optional: true, rest: "text" }],
  shellUsage: "oxbow debug --raw PROMPT [flags of a run]",
  shellFlags: [{ name: "raw", help: "write every model request and response, unredacted, to an encrypted file" }],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const DEBUG_SHOW: CommandSpec = {
  name: "debug:show",
  summary: "print the raw model traffic of a session as lines of JSON; without SESSION: list what is there",
  arguments: [{ name: "SESSION", kind: "text", optional: true, complete: "session" }],
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

/** An agent may see what is not approved; only a person can approve it. */
export const ACK: CommandSpec = {
  name: "ack",
  summary: "review and approve what this folder would load and run",
  arguments: [{ name: "PATH", kind: "path", optional: true, rest: "list", complete: "file" }],
  shellFlags: [
    {
      name: "all",
      short: "a",
      help: "approve everything in your own configuration folder with one answer; never files of a project",
    },
    {
      name: "emit-lockfile",
      value: "FILE",
      help: "write the approvals to a lock file for other machines (OXBOW_APPROVED_LOCK)",
    },
    { name: "plain", help: "ask line by line instead of showing a screen" },
    FOLDER,
    ...PLUGIN_DIR,
  ],
  reaches: "user",
  users: ["people", "agents in the shell"],
  places: PROGRAM,
};

export const VERIFY_ACK: CommandSpec = {
  name: "verify-ack",
  summary: "check that everything is approved; exit code 5 if not",
  arguments: [{ name: "PATH", kind: "path", optional: true, rest: "list", complete: "file" }],
  shellFlags: [FOLDER, ...PLUGIN_DIR],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const TOOLS: CommandSpec = {
  name: "tools",
  summary: "list the tools that the model can call",
  shellFlags: [
    { name: "tool-set", value: "SET[,SET]", repeatable: true, help: "only the tools of these sets" },
    {
      name: "permission-mode",
      value: "MODE",
      choices: ["auto", "review", "ask", "allow", "deny"],
      help: "decide as a run with this mode would",
    },
    { name: "strict-permissions", help: "decide as a run with this flag would" },
    {
      name: "sandbox",
      value: "MODE",
      choices: ["auto", "required", "off"],
      help: "decide as a run with this sandbox would",
    },
    { name: "cwd", value: "DIR", complete: "folder", help: "the workspace (default: the current folder)" },
  ],
  reaches: "user",
  users: EVERYONE,
  places: ["during a turn", "between turns", ...PROGRAM],
};

export const CONFIG_NAMESPACE = {
  config: "'config show' prints every setting and its origin, 'config keys' what each does",
};

export const CONFIG_SHOW: CommandSpec = {
  name: "config:show",
  summary: "show every setting and where it came from",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const CONFIG_KEYS: CommandSpec = {
  name: "config:keys",
  summary: "list every key of config.toml: what it does, its default, and whether a project may set it",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const DOCTOR: CommandSpec = {
  name: "doctor",
  summary: "check what works on this machine, and how to fix the rest",
  reaches: "user",
  users: EVERYONE,
  places: ["in a client", "during a turn", "between turns", ...PROGRAM],
};

export const UPDATE: CommandSpec = {
  name: "update",
  summary: "say how this copy of Oxbow was installed, and how to update it",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const UNINSTALL: CommandSpec = {
  name: "uninstall",
  summary: "remove what Oxbow keeps for you, after a question, and say what removes the program",
  shellFlags: [
    { name: "dry-run", help: "list what it would remove, and remove nothing" },
    { name: "yes", short: "y", help: "remove it without a question" },
  ],
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const ACP: CommandSpec = {
  name: "acp",
  summary: "work in an editor: speak the Agent Client Protocol on standard input and output",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const ATTACH: CommandSpec = {
  name: "attach",
  summary: "open a session of the running engine: the one you name, or one you choose from a list",
  arguments: [{ name: "SESSION", kind: "text", optional: true, complete: "session" }],
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

/** `/status` of a conversation is another command. */
export const ENGINE: CommandSpec = {
  name: "engine",
  summary: "run the engine of this home; a conversation starts it by itself",
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const STOP: CommandSpec = {
  name: "stop",
  summary: "end the engine of this home; sessions can be resumed",
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const ENGINE_STATUS: CommandSpec = {
  name: "status",
  summary: "show the running engine: its sessions, clients, addresses and parts",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const MCP_SERVER: CommandSpec = {
  name: "mcp-server",
  summary: "let another agent drive sessions: an MCP server on standard input and output",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const MCP_SERVER_APPROVE: CommandSpec = {
  name: "mcp-server:approve",
  summary: "allow a waiting program to drive Oxbow",
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const MCP_SERVER_PARENTS: CommandSpec = {
  name: "mcp-server:parents",
  summary: "list the programs that may drive Oxbow, and those that wait",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const MCP_SERVER_FORGET: CommandSpec = {
  name: "mcp-server:forget",
  summary: "stop allowing a program; it must ask again",
  arguments: [{ name: "NUMBER", kind: "text", missing: "Give its number in 'oxbow mcp-server parents'." }],
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const MOCK_MODEL: CommandSpec = {
  name: "mock-model",
  summary: "run a scripted model server for tests",
  shellUsage: "oxbow mock-model --script FILE [flags]",
  shellFlags: [
    { name: "script", value: "FILE", help: "the answers; docs/mock-model.md describes the format" },
    { name: "port", value: "N", help: "the port to listen on (default: any free one)" },
    { name: "key", value: "KEY", help: "the API key that clients have to send (default: any)" },
    { name: "record", value: "FILE", help: "write every request to FILE, one JSON object per line, without keys" },
  ],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const MX: CommandSpec = {
  name: "mx",
  summary: "measure what a run sent to a model, in tokens",
  arguments: [{ name: "FILE", kind: "text" }],
  shellFlags: [{ name: "against", value: "FILE", help: "compare with the recorded requests of another program" }],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const CONFORMANCE: CommandSpec = {
  name: "conformance",
  summary: "check a server against the protocol",
  shellUsage: "oxbow conformance --against ADDRESS [flags]",
  shellFlags: [
    { name: "against", value: "ADDRESS", help: "http://…, https://…, ws://…, wss://…, unix:PATH or stdio:PROGRAM" },
    { name: "token-file", value: "FILE", complete: "file", help: "a file with the token of a person (or OXBOW_TOKEN)" },
    { name: "agent-token-file", value: "FILE", complete: "file", help: "a file with the token of an agent" },
    { name: "ca", value: "FILE", complete: "file", help: "the certificate authority of the server" },
    { name: "only", value: "TEXT", help: "only the scenarios whose name contains TEXT" },
    { name: "serve-model", value: "PORT", help: "run the model that the scenarios need on this port" },
    { name: "model-script", help: "print what the model has to answer, as a script of 'oxbow mock-model'" },
    { name: "list", help: "print the scenarios" },
  ],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const COMPLETION_NAMESPACE = { completion: "print the completion script of a shell: bash, zsh or fish" };

export const COMPLETION_SCRIPT: CommandSpec = {
  name: "completion",
  summary: "print the completion script of a shell",
  arguments: [
    {
      name: "SHELL",
      kind: "choice",
      complete: ["bash", "zsh", "fish"],
      missing: "Give one shell: oxbow completion bash|zsh|fish.",
    },
  ],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

/** The scripts call it. */
export const COMPLETION_CANDIDATES: CommandSpec = {
  name: "completion:candidates",
  summary: "print the candidates for the last word of a command line",
  arguments: [{ name: "WORD", kind: "text", optional: true, rest: "list" }],
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};

export const VERSION_COMMAND: CommandSpec = {
  name: "version",
  summary: "print the version",
  reaches: "user",
  users: EVERYONE,
  places: PROGRAM,
};
