/** `/copy`: puts the last answer, or the last code block of it, into the clipboard as the model wrote it. */
import type { Block } from "../content/block.js";
import type { Carrier, CarrierOptions } from "./carrier.js";

export function copyAnswer(what: string, carrier: Carrier, { copy, hint }: CarrierOptions): void {
  const text = textToCopy(what, carrier.remembered.blocks);
  if (text === undefined) {
    hint(what === "code" ? "The last answer has no code block." : "There is no answer to copy yet.");
    return;
  }
  const size = text.length === 1 ? "1 character" : `${text.length} characters`;
  // A terminal does not report success, so the message does not claim it.
  if (copy(text)) hint(`Asked the terminal to copy ${size}.`);
  else hint(`This terminal cannot copy ${size}. Select the text, or see it with Ctrl-O.`);
}

export function textToCopy(what: string, blocks: readonly Block[]): string | undefined {
  const answer = blocks.findLast((block) => block.kind === "answer")?.markdown;
  if (answer === undefined || what !== "code") return answer?.trim();
  return [...answer.matchAll(/^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1[`~]*\s*$/gms)].at(-1)?.[2];
}
