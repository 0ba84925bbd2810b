/** `/status`, `/model`, `/effort`, `/mode`, `/env`, and whether `!COMMAND` may run. */

import { safeText } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import type { Run } from "../../control/run.js";
import type { LateQuestion, Model } from "../../engine/ports.js";
import { type Command, type CommandResult, refuse } from "../../feature/command.js";
import type { Failure } from "../../protocol/errors.js";
import type { ClientId } from "../../protocol/ids.js";
import { EFFORTS } from "../../providers/settings.js";
import { CATALOG } from "../../tools/catalog.js";
import { type EnvironmentPolicy, environmentReport, withheldLines } from "../../tools/child-environment.js";
import type { ModelRegistry } from "../models/model-registry.js";
import type { ModelRoutes } from "../models/model-routes.js";
import type { RunEffort } from "../opening.js";
import type { RunSandbox } from "../parts/sandbox.js";
import { EFFORT, ENV, KEEP, MODE, MODEL, SHELL, STATUS } from "./specs.js";

export function modelName({ model }: Pick<Run, "model">): string {
  return `${model.provider}:${model.model}`;
}

export interface StatusPort {
  readonly run: Run;
  readonly effort: RunEffort;
  readonly root: string;
  /** The profile in use. */
  readonly profile: string;
  readonly permissionMode: () => string;
  /** The instruction files in use. */
  readonly files: readonly string[];
  readonly recording: () => string;
  /** Tells what other parts of the session add. */
  readonly more: () => Promise<readonly (readonly [string, string])[]>;
}

export function statusCommand(port: StatusPort): Command {
  const { run, effort, root, profile, permissionMode, files, recording, more } = port;
  return {
    ...STATUS,
    run: async () => {
      const tools = run.tools.list().map(({ name }) => name);
      const rows = [
        ["model", modelName(run)],
        ["effort", effort.level ?? "auto"],
        ["workspace", root],
        ["profile", profile],
        ["session", run.session],
        ["messages", String(run.conversation.length)],
        ["tools", tools.join(", ")],
        ["permissions", permissionMode()],
        ["instructions", files.join(", ") || "none"],
        ...(await more()),
        ["recording", recording()],
      ] as const;
      const width = Math.max(...rows.map(([label]) => label.length));
      return {
        text: rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join("\n"),
        value: {
          ...Object.fromEntries(rows),
          effort: effort.level ?? null,
          messages: run.conversation.length,
          tools,
          instructions: files,
        },
      };
    },
  };
}

export interface ModelPort {
  readonly run: Run;
  readonly registry: ModelRegistry;
  readonly routes: ModelRoutes;
  readonly change: (model: Model, requested: string, signal?: AbortSignal) => Promise<Failure | undefined>;
}

export function modelCommand(port: ModelPort): Command {
  const { run, registry } = port;
  return {
    ...MODEL,
    run: async (args, { signal }) => {
      const spec = args.text("NAME");
      if (spec !== undefined) return switchModel(spec, port, signal);
      const text = `Now: ${modelName(run)}\n\n${await registry.menu()}\n\nSwitch: /model NUMBER or NAME`;
      const ready = (await registry.providers()).filter((provider) => provider.ready);
      const models = ready.flatMap(({ name, models: own }) => own.map(({ id }) => `${name}:${id}`));
      return { text, value: { model: modelName(run), models } };
    },
  };
}

export async function switchModel(
  spec: string,
  { run, registry, routes, change }: ModelPort,
  signal?: AbortSignal,
): Promise<CommandResult> {
  const found = await routes.resolve(spec);
  const resolved = found ?? (await (/^\d+$/.test(spec) ? registry.numbered(Number(spec)) : registry.resolve(spec)));
  if ("failure" in resolved) return resolved;
  const refused = await change(resolved.model, spec, signal);
  if (refused !== undefined) return { failure: refused };
  return { text: `Model: ${modelName(run)}, from the next turn on.`, value: { model: modelName(run) } };
}

export function effortCommand(effort: RunEffort): Command {
  const level = () => effort.level ?? "auto (the model decides)";
  return {
    ...EFFORT,
    run: (args) => {
      const wanted = args.text("EFFORT");
      if (wanted === undefined) {
        return {
          text: `Effort: ${level()}. Change it: /effort LEVEL`,
          value: { effort: effort.level ?? null },
        };
      }
      effort.level = EFFORTS.find((known) => known === wanted);
      return { text: `Effort: ${level()}, from the next turn on.`, value: { effort: effort.level ?? null } };
    },
  };
}

export interface ModePort {
  readonly run: Run;
  readonly mode: () => string;
  /** The client of the user. */
  readonly person: ClientId;
}

const MODES = ["auto", "review", "plan", "ask"] as const;

const MODE_MEANINGS: Readonly<Record<string, string>> = {
  ask: "Oxbow asks before calls that could do harm",
  auto: "calls that the sandbox contains run without a question",
  review: "like auto, but each edit of a file asks",
  plan: "Oxbow changes nothing until you approve the plan with /plan approve",
  allow: "calls run without a question, except those that only you may allow",
  deny: "every call is denied",
};

/** The registry refuses agents, so a person makes the choice. */
export function modeCommand({ run, mode, person }: ModePort): Command {
  const report = (): CommandResult => {
    const now = mode();
    return {
      text: `Mode ${now}: ${MODE_MEANINGS[now] ?? ""}. Change it: /mode auto, review, plan or ask`,
      value: { mode: now },
    };
  };
  return {
    ...MODE,
    run: async (args) => {
      const wanted = MODES.find((known) => known === args.text("MODE"));
      if (wanted === undefined) return report();
      const refusal = await run.setMode(wanted, { id: person, identity: "human" });
      return refusal === undefined ? report() : refuse(refusal);
    },
  };
}

export interface EnvironmentPort {
  readonly variables: Variables;
  /** The names of those that the terminal did not send to the engine; absent if the engine is its own. */
  readonly atHome?: readonly string[] | undefined;
  readonly policy: EnvironmentPolicy;
}

export function envCommand({ variables, atHome, policy }: EnvironmentPort): Command {
  return {
    ...ENV,
    run: () => {
      const report = environmentReport(variables, policy, atHome);
      const { passed, withheld, set } = report;
      const lines = [
        `Commands of the model get: ${passed.join(", ") || "nothing of your environment"}`,
        ...(set.length === 0 ? [] : [`Set by the settings: ${set.join(", ")}`]),
        ...withheldLines(report).map((line) => `Not passed, ${line}`),
        "Change it: [environment] in the profile (docs/sandbox.md). What you run with ! gets everything.",
      ];
      return { text: lines.join("\n"), value: { passed, withheld: { ...withheld }, set } };
    },
  };
}

export interface ShellPort {
  readonly run: Run;
  /** The folder of the session. */
  readonly root: string;
  /** Tells why safe mode refuses a command; undefined if it may run. */
  readonly refusalOf: (command: string) => Promise<string | undefined>;
}

/** Asks for what needs a person even so: a guarded path, a repository. */
export function keepCommand(sandbox: Pick<RunSandbox, "keep">): Command {
  return {
    ...KEEP,
    run: async (_, { confirm }) => {
      const ask = async ({ summary, reason, preview = "" }: LateQuestion) =>
        (await confirm?.(safeText([preview, reason, summary].filter(Boolean).join("\n")))) === true;
      const kept = await sandbox.keep(ask);
      if (kept === undefined)
        return refuse(
          "No command of this session was cancelled or ran out of time with changes that were not applied.",
        );
      return {
        // The notes are for the model.
        text:
          safeText(kept.notes.map((note) => note.replace(/^\[changed: (.*)\]$/s, "Applied: $1")).join("\n")) ||
          "It had changed nothing.",
        value: { changed: [...kept.changed] },
      };
    },
  };
}

/** The client runs the command of its person itself. The engine says where, refuses it in safe mode, and keeps the decision for the audit. */
export function shellCommand({ run, root, refusalOf }: ShellPort): Command {
  return {
    ...SHELL,
    run: async (args) => {
      const command = args.text("COMMAND") ?? "";
      const refusal = await refusalOf(command);
      run.bus.publish("PermissionResolved", {
        ...{ call: run.newCall(), tool: CATALOG.bash.name, args: { command } },
        ...(refusal === undefined
          ? { decision: "allow_once", decided_by: "person" }
          : { decision: "deny", decided_by: "safe mode", message: refusal }),
      });
      return refusal === undefined ? { text: "", value: { folder: root } } : refuse(refusal);
    },
  };
}
