/** `oxbow models test MODEL` (feature M20): what a model can really do, measured, shown and remembered. */
import { safeText } from "../../base/terminal-text.js";
import { type Column, renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, type ParsedFlags, parseFlags } from "../../commands/flags.js";
import type { Model } from "../../engine/ports.js";
import { AbilityStore } from "../../providers/abilities/ability-store.js";
import { Unreachable } from "../../providers/abilities/ask.js";
import { measureAbilities } from "../../providers/abilities/measure.js";
import { PROBES } from "../../providers/abilities/probes.js";
import { ABILITIES, type Ability, type AbilityReport, type Finding, fitOf } from "../../providers/abilities/report.js";
import { editFormats } from "../../runtime/models/edit-formats.js";
import { abilitiesPath, capabilitiesOf, digestOf } from "../../runtime/models/model-fit.js";
import { createModelRegistry } from "../../runtime/models/model-registry.js";
import { loadSettings, localOptions } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { CATALOG } from "../../tools/catalog.js";
import { EXIT, exitCodeOfFailure } from "../exit-codes.js";
import { StatusLine } from "../status-line.js";
import { processTerminal } from "../terminal-io.js";

export const FLAGS: readonly Flag[] = [
  { name: "only", value: "ABILITY[,…]", help: `measure only these: ${ABILITIES.join(", ")}` },
  { name: "context", value: "TOKENS", help: "try the context up to this size (default 16000; larger takes long)" },
  { name: "show", help: "what was measured before, without asking the model" },
  { name: "forget", help: "forget what was measured: the model gets the full prompt and all tools again" },
  { name: "json", help: "as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

const USAGE = `Usage: oxbow models test MODEL [flags]

Asks the model a dozen small questions and tells what it can do. The result is remembered: a model that turns out weak
gets a smaller prompt and fewer tools from then on.

`;

const CONTEXT_SIZES = [2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000];
const USUAL_CONTEXT = 16_000;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "models test");
  if (flags.has("help")) {
    process.stdout.write(
      `${USAGE}${helpLines(FLAGS)}\n\nExit code 0 when it was measured, whatever came out; 1 when the model could not be asked.\n`,
    );
    return EXIT.answered;
  }
  const [spec, ...more] = flags.words;
  if (spec === undefined || more.length > 0) throw new UsageError("Name one model: oxbow models test ollama:qwen3:8b");
  const only = chosenAbilities(flags);
  const contextSizes = chosenSizes(flags);
  const { settings, roots, profilePath } = await loadSettings(parseFlags([], [], "models test"), variables);
  const local = localOptions(settings);
  const tables = { value: settings.providers.value, file: profilePath };
  const registry = createModelRegistry({ variables, roots, tables, local });
  const { model, failure } = await registry.choose({ model: spec });
  if (failure !== undefined) return complain(failure);
  const store = new AbilityStore(abilitiesPath(roots));
  if (flags.has("forget")) {
    const had = await store.forget(model);
    process.stdout.write(`${had ? "Forgotten" : "Nothing was known"}: ${nameOf(model)}\n`);
    return EXIT.answered;
  }
  if (flags.has("show")) {
    const known = store.find(model);
    if (known === undefined) throw new UsageError(`Nothing was measured of ${nameOf(model)} yet.`);
    return show(known, flags);
  }
  const report = await measure(model, { variables, only, contextSizes });
  if (typeof report === "number") return report;
  await store.keep(merged(store.find(model), report));
  return show(report, flags);
}

interface Measuring {
  readonly variables: Variables;
  readonly only: readonly Ability[] | undefined;
  readonly contextSizes: readonly number[];
}

/** An exit code when it could not be. */
async function measure(model: Model, { variables, only, contextSizes }: Measuring): Promise<AbilityReport | number> {
  const status = new StatusLine(processTerminal(variables));
  const cancel = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => cancel.abort());
  const [digest, capabilities] = await Promise.all([digestOf(model, variables), capabilitiesOf(model, variables)]);
  try {
    const findings = await measureAbilities(model, {
      signal: cancel.signal,
      clock: nodeClock,
      ...(only !== undefined && { only }),
      edits: editFormats(),
      contextSizes,
      ...(capabilities !== undefined && { capabilities }),
      onProgress: (message) => status.show(`${nameOf(model)}: ${message}`),
      onFinding: () => {},
    });
    const measured_at = new Date(nodeClock.wall()).toISOString();
    return {
      provider: model.provider,
      model: model.model,
      ...(digest !== undefined && { digest }),
      measured_at,
      findings,
    };
  } catch (error) {
    status.clear();
    if (cancel.signal.aborted) {
      process.stderr.write("oxbow: cancelled; nothing was remembered.\n");
      return EXIT.cancelled;
    }
    if (error instanceof Unreachable) return complain(error.failure);
    throw error;
  } finally {
    status.clear();
  }
}

/** What was measured this time replaces the same of before; the rest still holds, if it is the same file. */
function merged(before: AbilityReport | undefined, now: AbilityReport): AbilityReport {
  const kept = before?.digest === now.digest ? (before?.findings ?? []) : [];
  const findings = [
    ...kept.filter((old) => !now.findings.some((found) => found.ability === old.ability)),
    ...now.findings,
  ];
  const order = (finding: Finding) => ABILITIES.indexOf(finding.ability);
  return { ...now, findings: findings.sort((a, b) => order(a) - order(b)) };
}

function show(report: AbilityReport, flags: ParsedFlags): number {
  const fit = fitOf(report);
  if (flags.has("json")) {
    process.stdout.write(`${JSON.stringify({ ...report, fit }, null, 2)}\n`);
    return EXIT.answered;
  }
  const columns: readonly Column<Finding>[] = [
    { header: "", value: ({ able }) => (able === undefined ? "–" : able ? "✓" : "✗"), style: styleOf },
    {
      header: "ABILITY",
      value: ({ ability }) => PROBES.find((probe) => probe.ability === ability)?.title,
      priority: 3,
    },
    { header: "TIME", value: ({ elapsed_ms }) => `${(elapsed_ms / 1000).toFixed(1)}s`, align: "right", priority: 1 },
    { header: "DETAIL", value: ({ detail }) => safeText(detail), priority: 0 },
  ];
  const isTerminal = process.stdout.isTTY === true;
  const options = { width: isTerminal ? process.stdout.columns : undefined, color: isTerminal };
  process.stdout.write(`${report.provider}:${report.model}\n\n${renderTable(columns, report.findings, options)}\n\n`);
  process.stdout.write(`${consequence(fit)}\n`);
  return EXIT.answered;
}

function styleOf({ able }: Finding) {
  return able === undefined ? undefined : able ? ("green" as const) : ("red" as const);
}

function consequence({ prompt, without }: ReturnType<typeof fitOf>): string {
  const offered = Object.keys(CATALOG).filter((name) => !without.includes(name));
  if (without.length === 0) return "It gets the full prompt and all tools.";
  const size = prompt === "small" ? "a smaller prompt and these tools" : "the full prompt and these tools";
  return `It gets ${size}: ${offered.join(", ")}. ('--forget' undoes that.)`;
}

function chosenAbilities(flags: ParsedFlags): readonly Ability[] | undefined {
  const names = flags.text("only")?.split(",");
  return names?.map((name) => {
    const known = ABILITIES.find((ability) => ability === name.trim());
    if (known === undefined) throw new UsageError(`There is no ability '${name}'. There are ${ABILITIES.join(", ")}.`);
    return known;
  });
}

function chosenSizes(flags: ParsedFlags): readonly number[] {
  const asked = Number(flags.text("context") ?? USUAL_CONTEXT);
  if (!Number.isInteger(asked) || asked < 1000)
    throw new UsageError("--context: expected a number of tokens from 1000.");
  return [...CONTEXT_SIZES.filter((size) => size < asked), asked];
}

function nameOf({ provider, model }: Model): string {
  return `${provider}:${model}`;
}

function complain(problem: Parameters<typeof exitCodeOfFailure>[0]): number {
  process.stderr.write(`oxbow: ${safeText(problem.message)}\n`);
  return exitCodeOfFailure(problem);
}
