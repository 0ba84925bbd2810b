/** Running a command that the person spelled out. */
import type { Intent } from "../intent.js";
import commands from "../commands.txt";
import { PhraseBook } from "../phrases.js";
import { rowsOf } from "../rows.js";
import phrases from "../phrases/run.txt";
import { planRun } from "../plans/run.js";
import type { RequestText } from "../request-text.js";

export interface RunSlots {
  readonly command: string;
}

const PHRASES = new PhraseBook(phrases);
const isOne = (kind: string, text: string) =>
  rowsOf(commands).some(([each, pattern = ""]) => each === kind && new RegExp(pattern).test(text));

export function parseRun(request: RequestText): RunSlots | undefined {
  for (const { slots } of PHRASES.matches(request.text)) {
    const command = slots.command === undefined ? "" : request.term(slots.command).value.trim();
    if (command !== "") return { command };
  }
  const command = spelledOut(request.raw.trim());
  return command === undefined ? undefined : { command };
}

/** From the raw text, for a command's own quotes must reach the shell as they are. */
function spelledOut(raw: string): string | undefined {
  if (raw.includes("\n")) return undefined;
  const prompt = /^[$!] ?(\S.*)$/.exec(raw)?.[1];
  if (prompt !== undefined) return prompt;
  const asked =
    /^(?:please |can you |could you )*(?:run|execute|exec)(?<stated> (?:the |this )?(?:shell |following )?command)?:? (?<command>\S.*?)(?:,? please)?$/i.exec(
      raw,
    )?.groups;
  const command = asked?.command;
  if (command !== undefined) {
    if (/^["'`“‘]/.test(command)) return undefined;
    return asked?.stated !== undefined || isOne("program", command.split(/\s/, 1)[0] ?? "") ? command : undefined;
  }
  return !raw.endsWith("?") && isOne("bare", raw) ? raw : undefined;
}

export const runIntent: Intent<RunSlots> = { name: "run", parse: parseRun, plan: planRun };
