/** Ports, the changes of a stopped command, and raw traffic. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";

const PEOPLE: readonly CommandUser[] = ["people"];
const ANY_TIME: readonly CommandPlace[] = ["during a turn", "between turns"];

export const PORTS_NAMESPACE = { ports: "show and open ports that commands of this session listen on" };

const PORT = [{ name: "PORT", kind: "number" }] as const;

export const PORTS_LIST: CommandSpec = {
  name: "ports:list",
  aliases: ["ports"],
  summary: "show the ports that listen in this session, and which are open (the default)",
  reaches: "session",
  users: PEOPLE,
  places: ANY_TIME,
};

export const PORTS_OPEN: CommandSpec = {
  name: "ports:open",
  summary: "let your programs reach a port of this session at 127.0.0.1",
  arguments: PORT,
  reaches: "user",
  users: PEOPLE,
  places: ANY_TIME,
};

export const PORTS_CLOSE: CommandSpec = {
  name: "ports:close",
  summary: "close a port that you opened",
  arguments: PORT,
  reaches: "user",
  users: PEOPLE,
  places: ANY_TIME,
};

export const KEEP: CommandSpec = {
  name: "keep",
  summary: "apply what the last command wrote that was cancelled or ran out of time",
  reaches: "user",
  users: PEOPLE,
  places: ANY_TIME,
};

export const DEBUG_RAW: CommandSpec = {
  name: "debug:raw",
  summary: "write the raw model traffic of this session to an encrypted file, unredacted, or stop it",
  arguments: [{ name: "STATE", kind: "choice", optional: true, complete: ["on", "off"] }],
  reaches: "user",
  users: ["people"],
  places: ["during a turn", "between turns"],
};
