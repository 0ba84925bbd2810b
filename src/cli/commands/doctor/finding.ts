/** `warn`: it works without, or could work better. `fail`: something that is needed or was set up does not work. */
export type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly text: string;
  /** Says what to do about it. */
  readonly fix?: string;
  /** A model provider that is not set up: people get one line about all of them. */
  readonly isUnused?: true;
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: "✓", warn: "–", fail: "✗" };

export function findingLines(all: readonly Finding[]): string {
  const unused = all.filter(({ isUnused }) => isUnused).map(({ subject }) => subject);
  const more: Finding = {
    subject: "other models",
    verdict: "warn",
    text: `not set up: ${unused.join(", ")} ('oxbow models' says what each needs)`,
  };
  const last = all.findLastIndex(({ isUnused }) => isUnused);
  const findings = all.flatMap((finding, at) => (at === last ? [more] : finding.isUnused ? [] : [finding]));
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  return findings
    .map(({ subject, verdict, text, fix }) => {
      const advice = fix === undefined ? "" : `: ${fix}`;
      return `${MARKS[verdict]} ${subject.padEnd(width)}  ${text}${advice}`;
    })
    .join("\n");
}

/** A check that fails itself is a finding, too: the others still run. */
export async function checked(
  subject: string,
  check: () => Promise<readonly Finding[]> | readonly Finding[],
): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [{ subject, verdict: "fail", text: error instanceof Error ? error.message : String(error) }];
  }
}
