/** `warn`: it works without, or could work better. `fail`: something that is needed or was set up does not work. */
export type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: "✓", warn: "–", fail: "✗" };

export function findingLines(findings: readonly Finding[]): string {
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
