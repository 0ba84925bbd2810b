/** `cost`: of this session in a conversation; of all sessions with a flag, or as `oxbow cost`. */
import { storeWords } from "../../sessions/stores.js";
import type { CommandSpec } from "../command.js";

export const COST_WAYS = ["model", "day", "project", "variant"] as const;

export const COST: CommandSpec = {
  name: "cost",
  aliases: ["usage"],
  usage: "/cost [--by model|day|project|variant] [--since WHEN]",
  summary: "show the spending of this session; with a flag, of all sessions",
  flags: [
    { name: "by", value: "WHAT", choices: COST_WAYS, help: "model (default), day, project, or variant of the prompt" },
    {
      name: "since",
      value: "WHEN",
      help: "from this time on: 7d, 12h, today, or a date such as 2026-01-31 (default: 30d)",
    },
    { name: "all", help: "since the first session" },
    { name: "here", help: "only sessions of this folder" },
  ],
  shellFlags: [
    { name: "store", value: "STORE", help: storeWords() },
    { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" },
  ],
  users: ["people", "agents"],
  reaches: "user",
  places: ["during a turn", "between turns", "without a session"],
};
