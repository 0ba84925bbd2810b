/** Decisions and commands of mode `auto` as a run makes them: the real settings, judge, sandbox and shell. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createIdSource } from "../../src/base/ulid.js";
import { permission as create } from "../../src/chain/permission-link.js";
import type { ChainServices, PersonAnswer } from "../../src/chain/services.js";
import type { ToolContext, ToolLinkContext } from "../../src/engine/ports.js";
import { parseFlags } from "../../src/feature/flags.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { RunGuard } from "../../src/runtime/parts/guard.js";
import { RunPermissions } from "../../src/runtime/parts/permissions.js";
import { RunSandbox } from "../../src/runtime/parts/sandbox.js";
import { openToolbox } from "../../src/runtime/parts/toolbox.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { HeldChanges } from "../../src/security/change-gate/held-changes.js";
import type { Verdict } from "../../src/security/permissions/verdict.js";
import { ignoreSource } from "../../src/tools/search/ignore-source.js";

export interface AutoModeOptions {
  readonly root: string;
  readonly home: string;
  /** Says where Oxbow keeps its own files. */
  readonly ownFolder: string;
  readonly path?: string | undefined;
  readonly variables?: Readonly<Record<string, string>>;
  /** A person who is there from the start. */
  readonly askPerson?: ToolContext["ask"];
}

export interface AutoRun {
  readonly verdict: Verdict;
  /** Undefined when a person would have been asked. */
  readonly output: string | undefined;
  readonly exitCode: number | undefined;
}

export async function openAutoMode({ root, home, ownFolder, path, variables: more, askPerson }: AutoModeOptions) {
  const variables = { HOME: home, PATH: path ?? process.env.PATH, OXBOW_HOME: ownFolder, ...more };
  const flags = parseFlags([{ name: "permission-mode", value: "MODE", help: "" }], [], "test");
  const loaded = await loadSettings(flags, variables);
  const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
  const session = ids.next("sess");
  const outputDirectory = join(loaded.roots.state, "output", session);
  mkdirSync(outputDirectory, { recursive: true });
  const told: string[] = [];
  const hidden = Object.values(loaded.roots);
  let isPlanning = false;
  const notify = (message: string) => void told.push(message);
  const restrictions = () => permissions.restrictions();
  const guard = new RunGuard({ root, variables, ownFolders: hidden });
  const reason = (path: string) => guard.reason(path);
  const sandbox = new RunSandbox({
    ...{ loaded, variables, root, session, outputDirectory, hidden, notify, restrictions, reason },
    isPlanning: () => isPlanning,
    askPerson: () => askPerson,
    openHeldChanges: () =>
      HeldChanges.open({
        ...{ variables, root, notify, ownFolders: hidden },
        folder: join(loaded.roots.state, "sandbox"),
        ignore: async () => ignoreSource(hidden),
        reasons: () => guard.reasons(),
        pathPermissions: async () => (await permissions.parts()).paths.load(),
        undo: { beforeApplying: async () => {} },
      }),
  });
  const tools = openToolbox({
    root,
    guard,
    offers: (_, set) => ["command"].includes(set),
    variables,
    outputDirectory,
    wrapCommand: (command, options) => sandbox.wrap(command, options),
  });
  const permissions: RunPermissions = new RunPermissions({
    loaded,
    variables,
    root,
    ownFolders: hidden,
    guard,
    workspace: tools.workspace,
    isSandboxed: async () => (await sandbox.find()).kind !== "none",
    whyNotContained: () => sandbox.whyNotContained(),
    originator: () => "human",
  });
  const bash = tools.find("bash");
  if (bash === undefined) throw new Error("There is no bash tool.");
  const judge = (command: string, args: JsonObject = {}) =>
    permissions.judge({ call: ids.next("call"), tool: "bash", args: { command, ...args } }, bash);
  const runWith = async (
    command: string,
    context: Partial<ToolContext> & { readonly timeout?: number } = {},
    args: JsonObject = {},
  ) => {
    const { timeout = 120, ...given } = context;
    const outcome = await bash.run(
      { command, timeout, ...args },
      { signal: new AbortController().signal, progress: () => {}, ...given },
    );
    const output = outcome.content.map((each) => ("text" in each ? each.text : "")).join("\n");
    const code = outcome.details?.exit_code;
    return { output, exitCode: typeof code === "number" ? code : undefined };
  };
  return {
    told,
    judge,
    /** Runs it whatever was decided. */
    runWith,
    /** Runs it if it would run without asking. */
    run: async (command: string, options: { readonly timeout?: number } = {}): Promise<AutoRun> => {
      const verdict = await judge(command);
      if (verdict.decision !== "allow") return { verdict, output: undefined, exitCode: undefined };
      return { verdict, ...(await runWith(command, options)) };
    },
    background: (command: string) => runWith(command, {}, { run_in_background: true }),
    /** Returns what the tool for them says about a command in the background. */
    readBackground: async (args: JsonObject) => {
      const outcome = await tools.find("background")?.run(args, {
        signal: new AbortController().signal,
        progress: () => {},
      });
      return (outcome?.content ?? []).map((each) => ("text" in each ? each.text : "")).join("\n");
    },
    plan: (on: boolean) => {
      isPlanning = on;
    },
    /** Tells what commands see as `/tmp`. */
    temporaryFolder: () => sandbox.temporaryFolder(),
    /** As `/keep` does. */
    keep: (answer = false) => sandbox.keep(async () => answer),
    /** As the first turn does before its first call. */
    prepare: () => sandbox.prepare(),
    /** As the beginning of a turn does. */
    beginTurn: () => sandbox.mayHaveChanged(),
    /** As the permission link of the chain does: asks where that is needed. `later` answers all questions but the first. */
    ask: async (command: string, answer: PersonAnswer, args: JsonObject = {}, later = answer) => {
      const call = { call: ids.next("call"), tool: "bash", args: { command, ...args } };
      const answers = [answer];
      const person = { present: () => true, ask: async () => answers.shift() ?? later, hint: () => {} };
      const link = create({ gate: permissions, person } as unknown as ChainServices);
      const context = { definition: bash, signal: new AbortController().signal, progress: () => {} };
      const outcome = await link(call, context as unknown as ToolLinkContext, (next, given) =>
        bash.run(next.args, given ?? context),
      );
      return { output: outcome.content.map((each) => ("text" in each ? each.text : "")).join("\n") };
    },
    close: async () => {
      await tools.close();
      await sandbox.close();
    },
  };
}
