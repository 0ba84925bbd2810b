/** Commands that only `oxbow NAME` has. The command line adds the flags of a run. */

import { pluginSettings } from "../../extensions/plugins/settings.js";
import { type CommandSpec, EVERYONE, EVERYWHERE, IN_SHELL, READERS } from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import { flagsOf } from "../../feature/setting.js";

const PLUGIN_DIR = flagsOf(pluginSettings);
const FOLDER: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };

export const RUN: CommandSpec = {
  name: "run",
  summary: "run one prompt to its end (the default for a prompt with spaces)",
  arguments: [{ name: "PROMPT", kind: "text", optional: true, rest: "text" }],
  users: EVERYONE,
  places: IN_SHELL,
};

export const RESUME: CommandSpec = {
  name: "resume",
  summary: "continue a session: the one you name, or one you choose from a list",
  arguments: [{ name: "SESSION", kind: "text", optional: true, complete: "session" }],
  users: EVERYONE,
  places: IN_SHELL,
};

export const DEBUG: CommandSpec = {
  name: "debug",
  summary: "'debug --raw PROMPT' runs a prompt and writes the raw model traffic to an encrypted file",
  arguments: [{ name: "PROMPT", kind: "text", optional: true, rest: "text" }],
  shellUsage: "oxbow debug --raw PROMPT [flags of a run]",
  shellFlags: [{ name: "raw", help: "write every model request and response, unredacted, to an encrypted file" }],
  users: EVERYONE,
  places: IN_SHELL,
};

export const DEBUG_SHOW: CommandSpec = {
  name: "debug:show",
  summary: "print the raw model traffic of a session as lines of JSON; without SESSION: list what is there",
  arguments: [{ name: "SESSION", kind: "text", optional: true, complete: "session" }],
  places: IN_SHELL,
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
  users: READERS,
  places: IN_SHELL,
};

export const VERIFY_ACK: CommandSpec = {
  name: "verify-ack",
  summary: "check that everything is approved; exit code 5 if not",
  arguments: [{ name: "PATH", kind: "path", optional: true, rest: "list", complete: "file" }],
  shellFlags: [FOLDER, ...PLUGIN_DIR],
  users: EVERYONE,
  places: IN_SHELL,
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
  users: EVERYONE,
  places: EVERYWHERE,
};

export const CONFIG_NAMESPACE = {
  config: "'config show' prints every setting and its origin, 'config keys' what each does, 'config set' changes one",
};

export const CONFIG_SHOW: CommandSpec = {
  name: "config:show",
  summary: "show every setting and where it came from",
  users: EVERYONE,
  places: IN_SHELL,
};

export const CONFIG_KEYS: CommandSpec = {
  name: "config:keys",
  summary: "list every key of config.toml: what it does, its default, and whether a project may set it",
  users: EVERYONE,
  places: IN_SHELL,
};

export const DOCTOR: CommandSpec = {
  name: "doctor",
  summary: "check what works on this machine, and how to fix the rest",
  users: EVERYONE,
  places: ["in a client", ...EVERYWHERE],
};

export const UPDATE: CommandSpec = {
  name: "update",
  summary: "say how this copy of Oxbow was installed, and how to update it",
  users: EVERYONE,
  places: IN_SHELL,
};

export const UNINSTALL: CommandSpec = {
  name: "uninstall",
  summary: "remove what Oxbow keeps for you, after a question, and say what removes the program",
  shellFlags: [
    { name: "dry-run", help: "list what it would remove, and remove nothing" },
    { name: "yes", short: "y", help: "remove it without a question" },
  ],
  places: IN_SHELL,
};

export const ACP: CommandSpec = {
  name: "acp",
  summary: "work in an editor: speak the Agent Client Protocol on standard input and output",
  users: EVERYONE,
  places: IN_SHELL,
};

export const ATTACH: CommandSpec = {
  name: "attach",
  summary: "open a session of the running engine: the one you name, or one you choose from a list",
  arguments: [{ name: "SESSION", kind: "text", optional: true, complete: "session" }],
  places: IN_SHELL,
};

/** `/status` of a conversation is another command. */
export const ENGINE: CommandSpec = {
  name: "engine",
  summary: "run the engine of this home; a conversation starts it by itself",
  places: IN_SHELL,
};

export const STOP: CommandSpec = {
  name: "stop",
  summary: "end the engine of this home; sessions can be resumed",
  places: IN_SHELL,
};

export const ENGINE_STATUS: CommandSpec = {
  name: "status",
  summary: "show the running engine: its sessions, clients, addresses and parts",
  users: EVERYONE,
  places: IN_SHELL,
};

export const MCP_SERVER: CommandSpec = {
  name: "mcp-server",
  summary: "let another agent drive sessions: an MCP server on standard input and output",
  users: EVERYONE,
  places: IN_SHELL,
};

export const MCP_SERVER_APPROVE: CommandSpec = {
  name: "mcp-server:approve",
  summary: "allow a waiting program to drive Oxbow",
  places: IN_SHELL,
};

export const MCP_SERVER_PARENTS: CommandSpec = {
  name: "mcp-server:parents",
  summary: "list the programs that may drive Oxbow, and those that wait",
  users: EVERYONE,
  places: IN_SHELL,
};

export const MCP_SERVER_FORGET: CommandSpec = {
  name: "mcp-server:forget",
  summary: "stop allowing a program; it must ask again",
  arguments: [{ name: "NUMBER", kind: "text", missing: "Give its number in 'oxbow mcp-server parents'." }],
  places: IN_SHELL,
};

export const MOCK_MODEL: CommandSpec = {
  name: "mock-model",
  summary: "run a scripted model server for tests",
  shellUsage: "oxbow mock-model --script FILE [flags]",
  shellFlags: [
    { name: "script", value: "FILE", help: "the answers; docs/testing.md describes the format" },
    { name: "port", value: "N", help: "the port to listen on (default: any free one)" },
    { name: "key", value: "KEY", help: "the API key that clients have to send (default: any)" },
    { name: "record", value: "FILE", help: "write every request to FILE, one JSON object per line, without keys" },
  ],
  users: EVERYONE,
  places: IN_SHELL,
};

export const MX: CommandSpec = {
  name: "mx",
  summary: "measure what a run sent to a model, in tokens",
  arguments: [{ name: "FILE", kind: "text" }],
  shellFlags: [{ name: "against", value: "FILE", help: "compare with the recorded requests of another program" }],
  users: EVERYONE,
  places: IN_SHELL,
};

export const CONFORMANCE: CommandSpec = {
  name: "conformance",
  summary: "check a server against the protocol",
  shellUsage: "oxbow conformance --against ADDRESS [flags]",
  shellFlags: [
    {
      name: "against",
      value: "ADDRESS",
      help: "http://…, https://…, ws://…, wss://…, unix:PATH or stdio:COMMAND (without quotes)",
    },
    { name: "token-file", value: "FILE", complete: "file", help: "a file with the token of a person (or OXBOW_TOKEN)" },
    { name: "agent-token-file", value: "FILE", complete: "file", help: "a file with the token of an agent" },
    { name: "ca", value: "FILE", complete: "file", help: "the certificate authority of the server" },
    { name: "only", value: "TEXT", help: "only the scenarios whose name contains TEXT" },
    { name: "serve-model", value: "PORT", help: "run the model that the scenarios need on this port" },
    { name: "model-script", help: "print what the model has to answer, as a script of 'oxbow mock-model'" },
    { name: "list", help: "print the scenarios" },
  ],
  users: EVERYONE,
  places: IN_SHELL,
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
  users: EVERYONE,
  places: IN_SHELL,
};

/** The scripts call it. */
export const COMPLETION_CANDIDATES: CommandSpec = {
  name: "completion:candidates",
  summary: "print the candidates for the last word of a command line",
  arguments: [{ name: "WORD", kind: "text", optional: true, rest: "list" }],
  users: EVERYONE,
  places: IN_SHELL,
};

export const VERSION_COMMAND: CommandSpec = {
  name: "version",
  summary: "print the version",
  users: EVERYONE,
  places: IN_SHELL,
};

/** `/web` of a conversation is another command. */
export const WEB_SHELL: CommandSpec = {
  name: "web",
  summary: "show Oxbow in the browser: every session, to watch, answer and steer",
  shellFlags: [
    { name: "port", value: "N", help: "the port of this machine (default: a free one)" },
    { name: "no-browser", help: "print the address, and open no browser" },
    { name: "lan", help: "for a phone in the same network: TLS, a QR code, and a token for some folders" },
    {
      name: "folder",
      value: "DIR",
      repeatable: true,
      complete: "folder",
      help: "with --lan: a folder whose sessions the device sees (default: the current one; repeatable)",
    },
  ],
  places: IN_SHELL,
};

export const SERVE: CommandSpec = {
  name: "serve",
  summary: "run the engine as a service that other programs drive over HTTP, WebSocket or standard input",
  shellUsage: "oxbow serve [--listen HOST:PORT] [flags]",
  shellFlags: [
    {
      name: "listen",
      value: "HOST:PORT",
      repeatable: true,
      help: "also listen on this port; 127.0.0.1:0 takes a free one (repeatable)",
    },
    { name: "web", help: "also show the web client, on a free port of this machine" },
    { name: "no-socket", help: "do not listen on the Unix socket" },
    { name: "stdio", help: "speak the protocol on standard input and output; ends with the input" },
    {
      name: "simple",
      value: "HOST:PORT",
      help: "also serve one session with GET /events, POST /prompt and POST /cancel",
    },
    { name: "origin", value: "ORIGIN", repeatable: true, help: "a web page that may use the ports (repeatable)" },
    {
      name: "tls-cert",
      value: "FILE",
      complete: "file",
      help: "certificate (PEM file); required if other machines can connect",
    },
    { name: "tls-key", value: "FILE", complete: "file", help: "private key of the certificate (PEM file)" },
    {
      name: "auth-token-file",
      value: "FILE",
      complete: "file",
      help: "read the token from a file with mode 0400; required if other machines can connect ('oxbow token file' makes one)",
    },
    {
      name: "auth-channel",
      value: "CHANNEL",
      choices: ["auto", "client", "tty", "notify"],
      help: "where a person sees the code for a new token: auto (default), client, tty or notify",
    },
  ],
  places: IN_SHELL,
};

const OF_A_TOKEN: readonly Flag[] = [
  {
    name: "session",
    value: "ID",
    repeatable: true,
    complete: "session",
    help: "a session that the token is for (repeatable; 'oxbow session list' shows the ids)",
  },
  {
    name: "folder",
    value: "DIR",
    repeatable: true,
    complete: "folder",
    help: "a folder whose sessions the token reaches and where it may open new ones (repeatable); an agent's token that names neither has the folder of the engine",
  },
  {
    name: "identity",
    value: "WHO",
    choices: ["human", "agent"],
    help: "agent (default), or human: may answer questions and change the mode",
  },
  { name: "commands", value: "A,B", help: "only these commands, such as SendInput,CancelTurn (default: all)" },
  { name: "expires", value: "TIME", help: "how long it is valid: 30m, 24h (default), 7d" },
  { name: "name", value: "NAME", help: "the name that other clients see" },
];

export const TOKEN_NAMESPACE = { token: "make, list and revoke tokens for clients of the engine" };

export const TOKEN_MAKE: CommandSpec = {
  name: "token:make",
  aliases: ["token"],
  summary: "make a token for a session or a folder, and print it; you confirm it with a code",
  shellUsage: "oxbow token --session ID | --folder DIR [--identity human|agent] [flags]",
  shellFlags: [
    ...OF_A_TOKEN,
    { name: "can-mint", help: "its holder may request more tokens, with at most the same rights" },
  ],
  places: IN_SHELL,
};

export const TOKEN_LIST: CommandSpec = {
  name: "token:list",
  summary: "list the tokens that have not expired",
  places: IN_SHELL,
};

export const TOKEN_REVOKE: CommandSpec = {
  name: "token:revoke",
  summary: "revoke a token by its id; its connections end",
  arguments: [
    { name: "ID", kind: "text", missing: "Name the token: oxbow token revoke tok_… ('oxbow token list' shows them)." },
  ],
  places: IN_SHELL,
};

export const TOKEN_FILE: CommandSpec = {
  name: "token:file",
  summary: "write a token file with mode 0400 for CI or for a server: --auth-token-file, or ci-token.json",
  arguments: [{ name: "FILE", kind: "path", complete: "file", missing: "Name the file: oxbow token file FILE." }],
  shellFlags: OF_A_TOKEN,
  places: IN_SHELL,
};
