/** `oxbow session`: a table of actions, each loaded when it is used. */
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags, refuseWords, unknownAction } from "../../commands/flags.js";
import { refuseAgents } from "../../runtime/agent-limits.js";
import { EXIT } from "../exit-codes.js";
import { openSessions } from "./session/open-sessions.js";
import type { SessionAction } from "./session/session-action.js";

export interface Entry {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** It deletes or changes what was recorded: no agent may run it. */
  readonly forPeople?: true;
  readonly load: () => Promise<{ readonly action: SessionAction }>;
}

export const ACTIONS: readonly Entry[] = [
  {
    name: "list",
    usage: "list [--all]",
    summary: "the sessions of this folder, latest first",
    load: () => import("./session/list.js"),
  },
  {
    name: "show",
    usage: "show ID [--turn N]",
    summary: "what was said and done",
    load: () => import("./session/show.js"),
  },
  {
    name: "resume",
    usage: "resume ID [PROMPT]",
    summary: "resume it (also: oxbow sess_…)",
    load: () => import("./session/resume.js"),
  },
  {
    name: "search",
    usage: "search WORDS…",
    summary: "find words in all sessions",
    load: () => import("./session/search.js"),
  },
  {
    name: "replay",
    usage: "replay ID",
    summary: "step through it; nothing is executed",
    load: () => import("./session/replay.js"),
  },
  {
    name: "branch",
    usage: "branch ID [--turn N]",
    summary: "a new session that begins as a copy, up to the end of a turn",
    load: () => import("./session/branch.js"),
  },
  {
    name: "compact",
    forPeople: true,
    usage: "compact ID [WORDS…]",
    summary: "summarise the older messages; WORDS say what to keep",
    load: () => import("./session/compact.js"),
  },
  {
    name: "undo",
    forPeople: true,
    usage: "undo ID [--turn N | --from N]",
    summary: "take back what its tools changed in files",
    load: () => import("./session/undo.js"),
  },
  {
    name: "diff",
    usage: "diff ID [OTHER]",
    summary: "the files it changed, or where two sessions diverge",
    load: () => import("./session/diff.js"),
  },
  {
    name: "export",
    usage: "export ID [--format F]",
    summary: "as JSONL (events) or Markdown",
    load: () => import("./session/export.js"),
  },
  {
    name: "import",
    forPeople: true,
    usage: "import FILE",
    summary: "from Oxbow, Claude Code or Codex transcripts",
    load: () => import("./session/import.js"),
  },
  { name: "pin", usage: "pin ID", summary: "keep its content for ever", load: () => import("./session/pin.js") },
  {
    name: "unpin",
    forPeople: true,
    usage: "unpin ID",
    summary: "let its content expire again",
    load: () => import("./session/unpin.js"),
  },
  {
    name: "rename",
    forPeople: true,
    usage: "rename ID TITLE",
    summary: "give it another title",
    load: () => import("./session/rename.js"),
  },
  {
    name: "verify",
    usage: "verify ID | --all",
    summary: "find changed, missing or reordered events",
    load: () => import("./session/verify.js"),
  },
  {
    name: "gc",
    forPeople: true,
    usage: "gc [--dry-run]",
    summary: "drop content that has expired and was announced",
    load: () => import("./session/gc.js"),
  },
  {
    name: "delete",
    forPeople: true,
    usage: "delete ID [--yes]",
    summary: "remove it, its events and its undo copies",
    load: () => import("./session/delete.js"),
  },
];

export const SESSION_ACTIONS: readonly string[] = ACTIONS.map(({ name }) => name);

export const COMMON: readonly Flag[] = [
  { name: "json", help: "print the result as JSON" },
  { name: "store", value: "STORE", help: "sqlite, files or files:DIR" },
  { name: "cwd", value: "DIR", help: "the folder (default: the current one)" },
  { name: "help", short: "h", help: "show this help" },
];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const [name, ...rest] = args;
  if (name === "help" && rest.length > 0) return run([...rest, "--help"], variables);
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(overview());
    return name === undefined ? EXIT.usage : EXIT.answered;
  }
  const entry = ACTIONS.find((candidate) => candidate.name === name);
  if (entry === undefined) throw unknownAction("session", name, SESSION_ACTIONS);
  const { action } = await entry.load();
  const known = [...action.flags, ...COMMON];
  const flags = parseFlags(known, rest, `session ${name}`);
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow session ${entry.usage} [flags]\n\n${capital(entry.summary)}.\n\n${helpLines(known)}\n`,
    );
    return EXIT.answered;
  }
  if (!/ [A-Z]/.test(entry.usage)) refuseWords(flags, `session ${name}`);
  if (entry.forPeople) refuseAgents(variables, `'oxbow session ${name}'`);
  const sessions = await openSessions(flags, variables);
  try {
    return await action.run(flags, sessions);
  } finally {
    await sessions.close();
  }
}

function overview(): string {
  const width = Math.max(...ACTIONS.map(({ usage }) => usage.length));
  const lines = ACTIONS.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return `Usage: oxbow session ACTION …\n\n${lines.join("\n")}\n\nAn ID may be shortened to any piece that only one session has. All take --json and --help.\n`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
