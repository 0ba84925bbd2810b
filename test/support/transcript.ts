/** Runs the commands of a transcript, `> COMMAND` lines with what was answered below each, and writes what they answer now. */
import type { Said } from "../../src/commands/test-support/slash-line.js";

/** `cut` replaces what differs from run to run. */
export async function rerun(
  transcript: string,
  {
    say,
    cut = (text) => text,
  }: { readonly say: (line: string) => Promise<Said>; readonly cut?: (text: string) => string },
): Promise<string> {
  const parts: string[] = [];
  for (const [, line = ""] of transcript.matchAll(/^> (.*)$/gm)) {
    const answer = await say(line).catch((error: Error) => ({ ok: false, text: error.message }));
    const text = answer.ok ? answer.text : `refused: ${answer.text}`;
    parts.push(`> ${line}\n${cut(text.replace(/[ \t]+$/gm, ""))}\n`);
  }
  return parts.join("\n");
}
