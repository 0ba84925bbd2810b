/** `/bench`: the same beside a conversation. The conversation's model stays, and the same cancel reaches it. */

import { UsageError } from "../../base/usage-error.js";
import { parseFlags } from "../../commands/flags.js";
import type { SlashResult } from "../../commands/registry.js";
import type { Run } from "../../control/run.js";
import { failure } from "../../protocol/errors.js";
import { benchTable } from "../../providers/bench/table.js";
import { nodeClock } from "../../system/node-clock.js";
import type { ModelRegistry } from "../models/model-registry.js";
import { BENCH_FLAGS, bench, benchOptions } from "./bench.js";

/** A word, or several in quotes. */
const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

export async function benchAside(
  args: string,
  { run, registry }: { readonly run: Run; readonly registry: ModelRegistry },
): Promise<SlashResult> {
  const words = [...args.matchAll(WORD)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
  try {
    const options = benchOptions(parseFlags(BENCH_FLAGS, words, "bench"));
    return await run.aside(async (signal) => {
      const rows = await bench(options, { registry, clock: nodeClock, signal, onProgress: () => {} });
      if (rows.length > 0) return { text: benchTable(rows) };
      const detail = signal.aborted ? "Cancelled." : "No model is ready. /model says what each provider needs.";
      return { failure: failure("InvalidInput", { detail }) };
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { failure: failure("InvalidInput", { detail: error.message }) };
  }
}
