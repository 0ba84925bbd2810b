/**
 * Measures what a model can do.
 *
 * 1. A failed probe runs once more: a retry helps a model that succeeds every second time.
 * 2. If the model cannot be reached, the measurement ends; every other problem is a finding.
 */
import type { Clock } from "../../base/clock.js";
import type { Model } from "../../engine/ports.js";
import { createAsk, Refused } from "./ask.js";
import { PROBES, type Probe, type ProbeTools, type Verdict } from "./probes.js";
import type { Ability, Finding } from "./report.js";

export interface MeasureOptions extends Omit<ProbeTools, "ask" | "progress"> {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The abilities to measure; default: all. */
  readonly only?: readonly Ability[];
  readonly onProgress: (message: string) => void;
  readonly onFinding: (finding: Finding, probe: Probe) => void;
}

const ATTEMPTS = 2;
/** Abilities that need tool calls. */
const NEEDS_CALLS: readonly Ability[] = ["parallel_calls", "tool_result", "string_replace", "patch"];

export async function measureAbilities(model: Model, options: MeasureOptions): Promise<readonly Finding[]> {
  const { signal, clock, only, onProgress, onFinding } = options;
  const ask = createAsk(model, signal);
  const findings: Finding[] = [];
  const chosen = PROBES.filter(({ ability }) => only === undefined || only.includes(ability));
  for (const [index, probe] of chosen.entries()) {
    const place = `${index + 1}/${chosen.length} ${probe.title}`;
    onProgress(place);
    const from = clock.now();
    const cannotCall = findings.some((finding) => finding.ability === "tool_call" && finding.able === false);
    const verdict =
      cannotCall && NEEDS_CALLS.includes(probe.ability)
        ? { able: false, detail: "it does not call tools" }
        : await attempt(probe, { ...options, ask, progress: (message) => onProgress(`${place}: ${message}`) });
    const finding: Finding = { ability: probe.ability, elapsed_ms: Math.round(clock.now() - from), ...verdict };
    findings.push(finding);
    onFinding(finding, probe);
  }
  return findings;
}

async function attempt(probe: Probe, tools: ProbeTools): Promise<Verdict> {
  let first: Verdict | undefined;
  for (let count = 1; count <= ATTEMPTS; count++) {
    const verdict = await probe.run(tools).catch((error: Error) => {
      if (error instanceof Refused) return { able: false, detail: error.message };
      throw error;
    });
    if (verdict.able === true && count > 1) return { ...verdict, detail: `at the second try ${verdict.detail}`.trim() };
    first ??= verdict;
    // Reading a long text again takes just as long and gives the same result.
    if (verdict.able !== false || probe.ability === "context") break;
  }
  return first ?? { detail: "" };
}
