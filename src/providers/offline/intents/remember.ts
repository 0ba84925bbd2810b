/** "Remember that …" and "what do you remember about …": the user says what to keep, so rules can do it. */
import type { Match, Matcher } from "../intent.js";
import { call, type Plan } from "../plan.js";
import { paragraphs } from "../wording.js";

const SAVE =
  /^(?:please,?\s+)?(?:remember|memori[sz]e|keep in mind|bear in mind|don['’]?t forget|do not forget|make a note|note)(?:\s+that\b|\s+this)?\s*[:,]?\s+(?<content>\S[\s\S]*)$/i;
const FIND = /^(?:what|which (?:things|notes)) (?:do|did|can) you (?:remember|know)(?: about (?<subject>.+?))?\s*\??$/i;

export const matchRemember: Matcher = ({ raw }): Match | undefined => {
  const words = raw.trim();
  const subject = FIND.exec(words);
  if (subject !== null) {
    const about = subject.groups?.subject;
    return { intent: "remember", slots: { kind: "find", about }, plan: () => planFind(about) };
  }
  const content = SAVE.exec(words)?.groups?.content?.trim();
  // A question is none: "remember when we met?"
  if (content === undefined || content.endsWith("?")) return undefined;
  return { intent: "remember", slots: { kind: "save", content }, plan: () => planSave(content) };
};

function* planSave(content: string): Plan {
  const saved = yield* call({ tool: "memory", args: { action: "save", content, type: "user" } });
  return paragraphs(saved.text, "`/memory` lists what is kept.");
}

function* planFind(about: string | undefined): Plan {
  const found = yield* call({
    tool: "memory",
    args: { action: "find", ...(about !== undefined && { content: about }) },
  });
  return found.text.replace(/^<\/?untrusted-[^>\n]*>\n?/gm, "").trim();
}
