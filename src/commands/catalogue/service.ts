/** The engine as a service, and the tokens of its clients. */
import type { CommandPlace, CommandSpec } from "../command.js";
import type { Flag } from "../flags.js";

const PROGRAM: readonly CommandPlace[] = ["without a session"];

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
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
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
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const TOKEN_LIST: CommandSpec = {
  name: "token:list",
  summary: "list the tokens that have not expired",
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const TOKEN_REVOKE: CommandSpec = {
  name: "token:revoke",
  summary: "revoke a token by its id; its connections end",
  arguments: [
    { name: "ID", kind: "text", missing: "Name the token: oxbow token revoke tok_… ('oxbow token list' shows them)." },
  ],
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};

export const TOKEN_FILE: CommandSpec = {
  name: "token:file",
  summary: "write a token file with mode 0400 for CI or for a server: --auth-token-file, or ci-token.json",
  arguments: [{ name: "FILE", kind: "path", complete: "file", missing: "Name the file: oxbow token file FILE." }],
  shellFlags: OF_A_TOKEN,
  reaches: "user",
  users: ["people"],
  places: PROGRAM,
};
