/** `oxbow "PROMPT"` and `oxbow` alone: a prompt without the word `run`, checked so that no mistyped command is sent and paid for. */

import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { actionsOf } from "../../commands/registry.js";
import { type ParsedFlags, parseFlags } from "../../feature/flags.js";
import { readSlashLine } from "../../protocol/slash-command.js";
import { COMMANDS } from "../command-table.js";
import { runPrompt } from "./run.js";
import { RUN_FLAGS } from "./run-flags.js";

/** Commands of other programs, and their names here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  login: "oxbow auth set PROVIDER",
  logout: "oxbow auth remove PROVIDER",
  signin: "oxbow auth set PROVIDER",
  key: "oxbow auth set PROVIDER",
  keys: "oxbow auth list",
  chat: "oxbow",
  ask: 'oxbow "PROMPT"',
  exec: "oxbow run PROMPT",
  prompt: "oxbow run PROMPT",
  continue: "oxbow --continue",
  history: "oxbow session list",
  settings: "oxbow config show",
  model: "oxbow models",
  provider: "oxbow models",
  providers: "oxbow models",
  price: "oxbow cost",
  usage: "oxbow cost",
  trust: "oxbow ack",
  approve: "oxbow ack",
  env: "oxbow help environment",
  environment: "oxbow help environment",
};

/** Languages that are written without spaces: a whole sentence is one word there. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const [first] = args;
  if (first !== undefined && !first.startsWith("-")) await checkFirstWord(args);
  const flags = readFlags(args);
  if (!flags.has("help") && !isMarkedAsPrompt(args)) await checkFirstWord(flags.words);
  return runPrompt(flags, { variables, rawTrace: false });
}

function readFlags(args: readonly string[]): ParsedFlags {
  try {
    return parseFlags(RUN_FLAGS, args, "");
  } catch (error) {
    const misplaced = args.find((word) => COMMANDS.some(({ name }) => name === word));
    if (!(error instanceof UsageError) || misplaced === undefined) throw error;
    throw new UsageError(`${error.message} Put the command before its flags: oxbow ${misplaced} …`);
  }
}

/** `oxbow [flags] -- WORDS`: the words are always a prompt. */
function isMarkedAsPrompt(args: readonly string[]): boolean {
  const mark = args.indexOf("--");
  return mark !== -1 && parseFlags(RUN_FLAGS, args.slice(0, mark), "").words.length === 0;
}

async function checkFirstWord(words: readonly string[]): Promise<void> {
  const [first, second] = words;
  if (first === undefined || first === "-" || looksLikePrompt(first)) return;
  if (first.startsWith("@")) {
    if (second !== undefined) return;
    throw new UsageError(`Give a prompt: oxbow ${first} "PROMPT".`);
  }
  if (first === "") throw new UsageError("The prompt is empty.");
  if (COMMANDS.some(({ name }) => name === first)) {
    throw new UsageError(
      `Put the command before its flags: oxbow ${words.join(" ")} … As a prompt: ${asPrompt(words)}`,
    );
  }
  throw new UsageError(`There is no command '${first}'.${await suggestion(first)} As a prompt: ${asPrompt(words)}`);
}

/** A prompt has a space, is a slash command, or is a sentence in a script without spaces. */
function looksLikePrompt(word: string): boolean {
  return /\s/.test(word) || readSlashLine(word) !== undefined || UNSPACED.test(word);
}

async function suggestion(typed: string): Promise<string> {
  const word = typed.toLowerCase();
  const near = nearest(
    word,
    COMMANDS.map(({ name }) => name),
  );
  if (near !== undefined) return ` Did you mean 'oxbow ${near}'?`;
  const elsewhere = nearest(word, Object.keys(ELSEWHERE));
  if (elsewhere !== undefined) return ` Did you mean '${ELSEWHERE[elsewhere]}'?`;
  const { shell } = await import("./session.js");
  const action = nearest(word, actionsOf(shell.specs, "session"));
  if (action !== undefined) return ` Did you mean 'oxbow session ${action}'?`;
  return " 'oxbow --help' lists the commands.";
}

/** The same words as a prompt. Flags among them stay in place. */
function asPrompt(words: readonly string[]): string {
  const flagAt = words.findIndex((word) => word.startsWith("-"));
  const text = (flagAt === -1 ? words : words.slice(0, flagAt)).join(" ");
  return /\s/.test(text) ? `oxbow ${JSON.stringify(text)}` : `oxbow run ${text}`;
}
