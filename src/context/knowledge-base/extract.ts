/** Sentences of an answer that state something worth recording. It looks for labels in the common languages and for English phrases; it asks no model. */
import { type ObservationKind, oneLine } from "./dump.js";

export interface Candidate {
  readonly kind: ObservationKind;
  readonly text: string;
}

/** The labels with which answers in the common languages state something. */
const LABELS: Readonly<Partial<Record<ObservationKind, string>>> = {
  decision:
    "decision|entscheidung|beschluss|décision|decisión|decisão|decisione|besluit|decyzja|решение|决定|決定|결정",
  finding:
    "finding|root cause|cause|conclusion|erkenntnis|ergebnis|ursache|befund|fazit|constat|conclusion|cause première|hallazgo|causa|conclusión|conclusão|achado|conclusione|bevinding|oorzaak|wniosek|przyczyna|вывод|причина|结论|結論|原因|결론|원인",
  question:
    "open question|question|offene frage|frage|question ouverte|pregunta abierta|pregunta|pergunta|domanda|open vraag|vraag|pytanie|вопрос|问题|問題|質問|질문",
  hypothesis:
    "hypothesis|hypothese|vermutung|hypothèse|hipótesis|hipótese|ipotesi|hipoteza|гипотеза|假设|假設|仮説|가설",
};
const LABEL = new RegExp(`^(${Object.values(LABELS).join("|")})\\s*[:：—–-]\\s*(?=\\S)`, "iu");
const KIND_OF_LABEL: ReadonlyMap<string, ObservationKind> = new Map(
  Object.entries(LABELS).flatMap(([kind, labels]) =>
    labels.split("|").map((label) => [label, kind as ObservationKind] as const),
  ),
);
const STATED: readonly (readonly [RegExp, ObservationKind])[] = [
  [
    /\b(?:we|i)(?:'ve| have)? (?:decided|chose|agreed)\b|\b(?:let's|we(?:'ll| will| should)) (?:go with|stick with|settle on|switch to)\b/i,
    "decision",
  ],
  [
    /\b(?:the|its) (?:root )?cause (?:is|was)\b|\bi(?:'ve| have)? found (?:that|out)\b|\b(?:it )?turns? out that\b|\bthis (?:happens|fails|breaks) because\b/i,
    "finding",
  ],
  [/\bi (?:suspect|assume) (?!you\b|so\b|this is what\b)|\b(?:my|a likely|one) hypothesis\b/i, "hypothesis"],
];
/** In bytes at least: a character of Chinese says more than a letter. */
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
      : KIND_OF_LABEL.get((label[1] ?? "").toLowerCase());
  const text = label === null ? sentence : sentence.slice(label[0].length);
  return kind === undefined || Buffer.byteLength(text) < LEAST || text.length > MOST ? undefined : { kind, text };
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
