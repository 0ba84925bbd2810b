/** `models test MODEL`: measures what a model can really do, shows it and remembers it. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { safeText } from "../../base/terminal-text.js";
import { type Column, renderTable } from "../../base/text-table.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Model, Tool, ToolSpec } from "../../engine/ports.js";
import {
  asValue,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
} from "../../feature/command.js";
import { resultText } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";
import { AbilityStore } from "../../providers/abilities/ability-store.js";
import { Unreachable } from "../../providers/abilities/ask.js";
import { measureAbilities } from "../../providers/abilities/measure.js";
import type { EditFormat } from "../../providers/abilities/probes.js";
import { PROBES } from "../../providers/abilities/probes.js";
import { ABILITIES, type Ability, type AbilityReport, type Finding, fitOf } from "../../providers/abilities/report.js";
import { nodeClock } from "../../system/node-clock.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import type { Roots } from "../../system/xdg-paths.js";
import { createApplyPatchTool } from "../../tools/apply-patch.js";
import { CATALOG } from "../../tools/catalog.js";
import { createEditTool } from "../../tools/edit.js";
import { Workspace } from "../../tools/workspace.js";
import { expendableTools } from "../parts/own-tools.js";
import { abilitiesPath, capabilitiesOf, digestOf } from "./model-fit.js";
import type { ModelRegistry } from "./model-registry.js";

const CONTEXT_SIZES = [2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000];
const USUAL_CONTEXT = 16_000;

interface TestPort {
  readonly registry: ModelRegistry;
  readonly roots: Roots;
  readonly variables: Variables;
}

export async function testModel(
  args: CommandArguments,
  { registry, roots, variables }: TestPort,
  context: CommandContext,
): Promise<CommandResult> {
  const only = chosenAbilities(args);
  const contextSizes = chosenSizes(args);
  const { model, failure } = await registry.choose({ model: args.text("MODEL") ?? "" });
  if (failure !== undefined) return { failure };
  const store = new AbilityStore(abilitiesPath(roots));
  if (args.hasFlag("forget")) {
    const had = await store.forget(model);
    const text = `${had ? "Forgotten" : "Nothing was known"}: ${nameOf(model)}`;
    return { text, value: { model: nameOf(model), forgotten: had } };
  }
  if (args.hasFlag("show")) {
    const known = store.find(model);
    return known === undefined ? refuse(`${nameOf(model)} has not been measured yet.`) : shown(known, context);
  }
  const report = await measure(model, { variables, only, contextSizes, context });
  if ("failure" in report) return report;
  await store.keep(merged(store.find(model), report));
  return shown(report, context);
}

interface Measuring {
  readonly variables: Variables;
  readonly only: readonly Ability[] | undefined;
  readonly contextSizes: readonly number[];
  readonly context: CommandContext;
}

async function measure(
  model: Model,
  { variables, only, contextSizes, context }: Measuring,
): Promise<AbilityReport | { readonly failure: Failure }> {
  const [digest, capabilities] = await Promise.all([digestOf(model, variables), capabilitiesOf(model, variables)]);
  try {
    const findings = await measureAbilities(model, {
      signal: context.signal,
      clock: nodeClock,
      ...(only !== undefined && { only }),
      edits: editFormats(),
      contextSizes,
      ...(capabilities !== undefined && { capabilities }),
      onProgress: (message) => context.progress(`${nameOf(model)}: ${message}`),
      onFinding: () => {},
    });
    const measured_at = new Date(nodeClock.wall()).toISOString();
    const { provider, model: name } = model;
    return { provider, model: name, ...(digest !== undefined && { digest }), measured_at, findings };
  } catch (error) {
    if (context.signal.aborted) return refuse("Cancelled: nothing was remembered.");
    if (error instanceof Unreachable) return { failure: error.failure };
    throw error;
  }
}

/** New results replace old ones; other old results stay if the model file is the same. */
function merged(before: AbilityReport | undefined, now: AbilityReport): AbilityReport {
  const kept = before?.digest === now.digest ? (before?.findings ?? []) : [];
  const findings = [
    ...kept.filter((old) => !now.findings.some((found) => found.ability === old.ability)),
    ...now.findings,
  ];
  const order = (finding: Finding) => ABILITIES.indexOf(finding.ability);
  return { ...now, findings: findings.sort((a, b) => order(a) - order(b)) };
}

async function shown(report: AbilityReport, { screen }: CommandContext): Promise<CommandResult> {
  const fit = fitOf(report, expendableTools());
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
  const look = { width: screen?.width, color: screen?.color ?? false };
  const text = `${report.provider}:${report.model}\n\n${renderTable(columns, report.findings, look)}\n\n${consequence(fit)}`;
  return { text, value: asValue({ ...report, fit }) };
}

function styleOf({ able }: Finding) {
  return able === undefined ? undefined : able ? ("green" as const) : ("red" as const);
}

function consequence({ prompt, without }: ReturnType<typeof fitOf>): string {
  const offered = Object.keys(CATALOG).filter((name) => !without.includes(name));
  if (without.length === 0) return "It gets the full prompt and all tools.";
  const size = prompt === "small" ? "a smaller prompt and these tools" : "the full prompt and these tools";
  return `It gets ${size}: ${offered.join(", ")}. ('--forget' restores all of them.)`;
}

function chosenAbilities(args: CommandArguments): readonly Ability[] | undefined {
  const names = args.flag("only")?.split(",");
  return names?.map((name) => {
    const known = ABILITIES.find((ability) => ability === name.trim());
    if (known === undefined) throw new UsageError(`There is no ability '${name}'. There are ${ABILITIES.join(", ")}.`);
    return known;
  });
}

function chosenSizes(args: CommandArguments): readonly number[] {
  const asked = Number(args.flag("context") ?? USUAL_CONTEXT);
  if (!Number.isInteger(asked) || asked < 1000)
    throw new UsageError("--context: expected a number of tokens from 1000.");
  return [...CONTEXT_SIZES.filter((size) => size < asked), asked];
}

function nameOf({ provider, model }: Model): string {
  return `${provider}:${model}`;
}

const FILE = "shop.js";

/** Offers the real edit tools, on a file in a temporary folder. */
function editFormats(): { readonly string_replace: EditFormat; readonly patch: EditFormat } {
  return {
    string_replace: formatOf(CATALOG.edit, createEditTool),
    patch: formatOf(CATALOG.apply_patch, createApplyPatchTool),
  };
}

function formatOf({ name, description, inputSchema }: ToolSpec, create: (workspace: Workspace) => Tool): EditFormat {
  return {
    tool: { name, description, inputSchema },
    async apply(before, call) {
      const folder = makeTemporaryFolder("models");
      try {
        await writeFile(join(folder, FILE), before);
        const tool = create(await Workspace.open(folder));
        const args = (await tool.canonical?.(call.args)) ?? call.args;
        const outcome = await tool.run(args, { signal: new AbortController().signal, progress: () => {} });
        const words = resultText(outcome.content);
        if (outcome.status !== "ok") return { problem: words.split("\n")[0] ?? "" };
        return { after: await readFile(join(folder, FILE), "utf8").catch(() => "") };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
