/** `oxbow bench`: how fast models answer. */
import type { Variables } from "../../base/variables.js";
import { Spinner } from "../../clients/headless/spinner.js";
import { helpLines, parseFlags } from "../../commands/flags.js";
import { benchTable } from "../../providers/bench/table.js";
import { BENCH_FLAGS, bench, benchJson, benchOptions } from "../../runtime/commands/bench.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { EXIT } from "../exit-codes.js";
import { processTerminal } from "../terminal-io.js";

const USAGE = `Usage: oxbow bench [MODEL …] [flags]

Asks each model the same and shows how long the first token and the whole answer took, and how fast it wrote after the first token.
Without names: every model on this machine, and of each other provider that is ready its usual one.

${helpLines(BENCH_FLAGS)}

Example:  oxbow bench ollama:qwen3:8b anthropic --runs 3
`;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(BENCH_FLAGS, args, "bench");
  if (flags.has("help")) {
    process.stdout.write(USAGE);
    return EXIT.answered;
  }
  const options = benchOptions(flags);
  const { settings, roots, profilePath } = await loadSettings(flags, variables);
  const tables = { value: settings.providers.value, file: profilePath };
  const registry = createModelRegistry({ variables, roots, tables });
  const spinner = new Spinner(processTerminal(variables), nodeClock);
  const stop = new AbortController();
  const cancel = () => (stop.signal.aborted ? process.exit(EXIT.cancelled) : stop.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, cancel);
  const rows = await bench(options, {
    registry,
    clock: nodeClock,
    signal: stop.signal,
    onProgress: (what) => spinner.begin(what),
  }).finally(() => spinner.stop());
  if (flags.has("json")) process.stdout.write(`${JSON.stringify(benchJson(rows), null, 2)}\n`);
  else if (rows.length > 0) process.stdout.write(`${benchTable(rows)}\n`);
  if (stop.signal.aborted) {
    process.stderr.write("oxbow: cancelled.\n");
    return EXIT.cancelled;
  }
  if (rows.length === 0) {
    process.stderr.write("oxbow: no model is ready. 'oxbow models' says what each provider needs.\n");
    return EXIT.noModel;
  }
  return rows.some(({ middle }) => middle !== undefined) ? EXIT.answered : EXIT.failed;
}
