/** Sentences of an answer that state something worth recording. It looks for the words with which people state decisions and findings; it asks no model. */
import { type ObservationKind, oneLine } from "./dump.js";

export interface Candidate {
  readonly kind: ObservationKind;
  readonly text: string;
}

const LABEL = /^(decision|finding|root cause|cause|conclusion|open question|question|hypothesis)\s*[:—–-]\s*(?=\S)/i;
const KIND_OF_LABEL: Readonly<Record<string, ObservationKind>> = {
  decision: "decision",
  finding: "finding",
  "root cause": "finding",
  cause: "finding",
  conclusion: "finding",
  "open question": "question",
  question: "question",
  hypothesis: "hypothesis",
};
const STATED: readonly (readonly [RegExp, ObservationKind])[] = [
  [
    /\b(?:we|i)(?:'ve| have)? (?:decided|chose|agreed)\b|\b(?:let's|we(?:'ll| will| should)) (?:use|go with|keep|drop|switch to)\b/i,
    "decision",
  ],
  [
    /\b(?:the|its) (?:root )?cause (?:is|was)\b|\bi(?:'ve| have)? found (?:that|out)\b|\b(?:it )?turns? out that\b|\bthis (?:happens|fails|breaks) because\b/i,
    "finding",
  ],
  [/\bi (?:suspect|assume)\b|\b(?:my|a likely|one) hypothesis\b/i, "hypothesis"],
];
const [LEAST, MOST] = [20, 400];

export function worthRecording(answer: string, most = 3): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const sentence of sentencesOf(answer)) {
    const candidate = candidateOf(sentence);
    if (candidate !== undefined && !found.some(({ text }) => text === candidate.text)) found.push(candidate);
    if (found.length === most) break;
  }
  return found;
}

function candidateOf(sentence: string): Candidate | undefined {
  const label = LABEL.exec(sentence);
  const kind =
    label === null
      ? STATED.find(([pattern]) => pattern.test(sentence))?.[1]
      : KIND_OF_LABEL[(label[1] ?? "").toLowerCase()];
  const text = label === null ? sentence : sentence.slice(label[0].length);
  return kind === undefined || text.length < LEAST || text.length > MOST ? undefined : { kind, text };
}

/** Without code, quotations and tables, which repeat what others said. */
function* sentencesOf(answer: string): Generator<string> {
  const prose = answer.slice(0, 50_000).replace(/^( {0,3})(`{3,}|~{3,})[\s\S]*?^\1\2.*$/gm, "");
  for (const line of prose.split("\n")) {
    if (/^\s*(?:>|\||#)/.test(line)) continue;
    const plain = oneLine(line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, "").replaceAll(/\*\*|__/g, ""), 2000);
    yield* LABEL.test(plain) ? [plain] : plain.split(/(?<=[.!?])\s+(?=\p{Lu})/u);
  }
}
