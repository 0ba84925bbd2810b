/**
 * The sandbox around the commands of one run. Tested with the first command, never before the first request.
 *
 * In mode `auto`, a command that runs without asking gets the tight one: no network, all of `.git` read-only, a private home folder. The
 * user can open it for a call. In the other modes, which ask about each command that does more than
 * read, the home folder is readable and repositories are writable, except for guarded paths.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { SessionId } from "../../protocol/ids.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { CommandWatch } from "../../security/planted/command-watch.js";
import type { SandboxOverrides } from "../../security/sandbox/detect.js";
import type { ReaderSandbox } from "../../security/sandbox/reader.js";
import type { Sandbox, SandboxOptions } from "../../security/sandbox/sandbox.js";
import type { SandboxState } from "../../security/sandbox/state.js";
import { nodeClock } from "../../system/node-clock.js";
import type { ShellCommand, WrapOptions, WrappedCommand } from "../../tools/shell/wrapped-command.js";
import { networkOf } from "../network.js";
import type { LoadedSettings } from "../settings/settings.js";
import { resolverOf } from "./allowed-hosts.js";
import type { Reach } from "./contained-reach.js";
import { extraRoots, fromHome } from "./extra-folders.js";
import type { SandboxAhead } from "./sandbox-ahead.js";
import { skillFolder } from "./skill-folder.js";

export const SANDBOX_MODES = ["auto", "required", "off"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** The user's settings. */
export function sandboxOverrides({ sandbox, sandbox_container }: LoadedSettings["settings"]): SandboxOverrides {
  if (sandbox.value === "off") return { kind: "off" };
  const image = sandbox_container.value;
  return image === undefined ? { kind: "auto" } : { kind: "container", container: { image } };
}

export interface RunSandboxOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly session: SessionId;
  /** Stays readable: it contains outputs that are too long for the model. */
  readonly outputDirectory: string;
  /** Folders of Oxbow itself that no command may read. */
  readonly hidden: readonly string[];
  /** What stays readable wherever it lies: absolute and free of links. */
  readonly visible?: readonly string[];
  /** The limits of path permissions for commands. */
  readonly restrictions?: SandboxOptions["restrictions"];
  /** Called once, if there is no sandbox and the settings do not switch it off. */
  readonly notify: (message: string) => void;
  /** Whether undo can revert the changes of a command. */
  readonly isRecorded?: () => Promise<boolean>;
  /** The mode as it is now; default: the one of the settings. */
  readonly mode?: () => PermissionMode;
}

type Way = "pipes" | "terminal";

export class RunSandbox {
  readonly #options: RunSandboxOptions;
  readonly #opened = new Map<string, Promise<Sandbox>>();
  #state: SandboxState | undefined;
  #reader: Promise<ReaderSandbox> | undefined;
  #watch: Promise<CommandWatch> | undefined;
  #ahead: Promise<SandboxAhead> | undefined;
  #whyNotContained: Promise<string | undefined> | undefined;
  #isClosed = false;

  constructor(options: RunSandboxOptions) {
    this.#options = options;
  }

  /** Undefined before the first command. */
  get state(): SandboxState | undefined {
    return this.#state;
  }

  async find(): Promise<SandboxState> {
    if (this.#state !== undefined) return this.#state;
    const state = await (await this.#open("pipes", USUAL)).state();
    if (this.#state === undefined) await this.#announce(state);
    this.#state = state;
    return state;
  }

  /** Does ahead what the first command would wait for; reports nothing until then. */
  async prepare(): Promise<void> {
    const state = await (await this.#open("pipes", USUAL)).state();
    if (state.kind === "none") return;
    const { reachOf, whyNotContained } = await import("./contained-reach.js");
    const isContained = this.#mode === "auto" && (await whyNotContained(state, this.#options)) === undefined;
    const reach = reachOf([], { isContained, settings: this.#options.loaded.settings });
    (await this.#open("pipes", reach)).prepare();
    await Promise.all([this.#watchCommands(), this.#openAhead()]);
  }

  /** Why mode `auto` asks like mode `ask`; undefined if it does not. */
  async whyNotContained(): Promise<string | undefined> {
    if (this.#mode !== "auto") return "another mode was chosen.";
    this.#whyNotContained ??= this.#findWhyNotContained().then((why) => this.#reportWhy(why));
    return this.#whyNotContained;
  }

  get #mode(): PermissionMode {
    const { mode, loaded } = this.#options;
    return mode?.() ?? loaded.settings.permission_mode.value;
  }

  async wrap(
    command: ShellCommand,
    { onTerminal, outside, openings = [], hasInput }: WrapOptions,
  ): Promise<WrappedCommand> {
    const { kind } = await this.find();
    const mode = this.#options.loaded.settings.sandbox.value;
    if (kind === "none" && mode === "required") {
      throw new Error('Not run: a sandbox is required (sandbox = "required"), and this machine has none.');
    }
    if (kind === "none") return command;
    if (outside) return { ...command, ...(await this.#watch)?.outside() };
    const watch = await this.#watchCommands();
    const begun = watch.begin();
    const reach = await this.#reach(openings);
    const sandbox = await this.#open(onTerminal ? "terminal" : "pipes", reach);
    await begun;
    const ahead = await this.#openAhead();
    // A waiting sandbox gets its command on standard input.
    const waits = onTerminal || hasInput ? "never" : "may";
    const { wrapped, launch } = await ahead.wrap({ sandbox, command, waits });
    const writes = reach.home === "readable" ? "repositories" : "workspace";
    const watched = watch.inside(wrapped.held(), writes);
    return {
      argv: [wrapped.program, ...wrapped.args],
      cwd: wrapped.cwd,
      env: wrapped.env,
      descriptors: wrapped.descriptors,
      withheld: wrapped.withheld,
      isWrapper: wrapped.isWrapper,
      endsWithAll: wrapped.endsWithAll,
      explain: wrapped.explain,
      launch,
      ...watched,
      ended: async () => {
        await wrapped.ended();
        await watched.ended();
      },
    };
  }

  /** At the end of a turn: waits until the leftovers of all commands are found, including running ones. */
  async flush(): Promise<void> {
    await this.#rest();
    await (await this.#watch)?.flush();
  }

  async #rest(): Promise<void> {
    await (await this.#ahead)?.rest();
  }

  #openAhead(): Promise<SandboxAhead> {
    this.#ahead ??= import("./sandbox-ahead.js").then(({ SandboxAhead }) => new SandboxAhead(nodeClock));
    return this.#ahead;
  }

  #watchCommands(): Promise<CommandWatch> {
    this.#watch ??= this.#openWatch();
    return this.#watch;
  }

  async #openWatch(): Promise<CommandWatch> {
    const { root, notify, loaded, variables } = this.#options;
    const [{ CommandWatch }, { childEnvironment }, { realpathOrSelf }, more] = await Promise.all([
      import("../../security/planted/command-watch.js"),
      import("../../tools/child-environment.js"),
      import("../../system/real-path.js"),
      this.#alsoWritable(USUAL),
    ]);
    return new CommandWatch({
      roots: [root, ...more].map(realpathOrSelf),
      notify,
      folder: join(loaded.roots.state, "sandbox"),
      environment: childEnvironment(variables),
      clock: nodeClock,
    });
  }

  /** For the git tool: only these folders and the system's programs are readable, and nothing is writable. */
  async wrapReader(command: ShellCommand, readable: readonly string[]): Promise<WrappedCommand> {
    const [program = "", ...args] = command.argv;
    const { cwd, env } = command;
    this.#reader ??= this.#openReader();
    const wrapped = (await this.#reader).wrap({ program, args, cwd, env }, readable);
    if (wrapped === undefined) return command;
    const { descriptors, ended } = wrapped;
    const withheld = (await this.#open("pipes", USUAL)).withheldFiles();
    return {
      ...{ argv: [wrapped.program, ...wrapped.args], cwd: wrapped.cwd, env: wrapped.env },
      ...{ descriptors, withheld, isWrapper: true, endsWithAll: true, ended },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#rest();
    await (await this.#watch)?.close();
    await Promise.all([...this.#opened.values()].map(async (sandbox) => (await sandbox).close()));
  }

  async #announce(state: SandboxState): Promise<void> {
    if (this.#options.loaded.settings.sandbox.value === "off") return;
    const { sandboxNotice } = await import("../../security/sandbox/state.js");
    const notice = sandboxNotice(state);
    if (notice !== undefined) this.#options.notify(notice);
  }

  async #openReader(): Promise<ReaderSandbox> {
    const [state, { ReaderSandbox }, secrets] = await Promise.all([
      this.find(),
      import("../../security/sandbox/reader.js"),
      this.#secrets(),
    ]);
    const { loaded, restrictions } = this.#options;
    return new ReaderSandbox({
      state,
      folder: join(loaded.roots.state, "sandbox"),
      architecture: process.arch,
      hidden: () => [...secrets, ...(restrictions?.().hidden ?? [])],
    });
  }

  /** Paths that no command may read. */
  async #secrets(): Promise<readonly string[]> {
    const { usualSecrets } = await import("../../security/sandbox/hidden-paths.js");
    const { hidden, variables } = this.#options;
    return [...hidden, ...usualSecrets({ home: variables.HOME || homedir() })];
  }

  /** Reported once. `find` reports a missing sandbox. */
  #reportWhy(why: string | undefined): string | undefined {
    if (why !== undefined && this.#state?.kind !== "none")
      this.#options.notify(`Mode auto asks like mode ask here: ${why}`);
    return why;
  }

  async #findWhyNotContained(): Promise<string | undefined> {
    const state = await this.find();
    const { whyNotContained } = await import("./contained-reach.js");
    return whyNotContained(state, this.#options);
  }

  async #reach(openings: readonly string[]): Promise<Reach> {
    const isContained = (await this.whyNotContained()) === undefined;
    const { reachOf } = await import("./contained-reach.js");
    return reachOf(openings, { isContained, settings: this.#options.loaded.settings });
  }

  /** A terminal cannot pass descriptors, so its commands need another wrapper. */
  #open(way: Way, reach: Reach): Promise<Sandbox> {
    const name = [way, reach.home, reach.network, reach.unixSockets].join("-");
    const known = this.#opened.get(name);
    if (known !== undefined) return known;
    // A client's command may still be running; it must not create folders after the session has ended.
    if (this.#isClosed) return Promise.reject(new UsageError("The session is closed."));
    const opening = this.#reallyOpen(way, { name, reach });
    this.#opened.set(name, opening);
    return opening;
  }

  /** Commands cannot create missing folders either. */
  async #alsoWritable({ home: kind }: Reach): Promise<readonly string[]> {
    const { loaded, variables, root } = this.#options;
    const extra = extraRoots(loaded, variables);
    const named = loaded.settings.sandbox_writable.value;
    if (named.length === 0) return extra;
    const [{ outsideGitFolder }, { existsSync }] = await Promise.all([
      import("../../security/sandbox/outside-repository.js"),
      import("node:fs"),
    ]);
    const existing = named
      .filter((folder) => folder !== "git" || kind === "readable")
      .map((folder) => (folder === "git" ? outsideGitFolder(root) : fromHome(folder, variables)))
      .filter((folder) => folder !== undefined)
      .filter((folder) => existsSync(folder));
    return [...existing, ...extra];
  }

  async #reallyOpen(way: Way, { name, reach }: { readonly name: string; readonly reach: Reach }): Promise<Sandbox> {
    const [{ Sandbox }, { sandboxPolicy }, { ENGINE_VARIABLES }] = await Promise.all([
      import("../../security/sandbox/sandbox.js"),
      import("../../security/sandbox/policy.js"),
      import("../../security/sandbox/container.js"),
    ]);
    const { loaded, variables, root, session, outputDirectory, restrictions, visible = [] } = this.#options;
    const { settings, roots } = loaded;
    const home = variables.HOME || homedir();
    const network = networkOf(variables);
    const privately = reach.home === "private" ? await this.#private(home, reach) : undefined;
    const options: SandboxOptions = {
      platform: process.platform,
      architecture: process.arch,
      path: variables.PATH,
      overrides: sandboxOverrides(settings),
      engine: Object.fromEntries(
        ENGINE_VARIABLES.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]])),
      ),
      folder: join(roots.state, "sandbox"),
      workspace: root,
      home,
      variables,
      id: `${session}-${name}`,
      ...(restrictions && { restrictions }),
      passesDescriptors: way === "pipes" ? "yes" : "no",
      policy: sandboxPolicy({
        writable: [root, ...(await this.#alsoWritable(reach))],
        hidden: [...(await this.#secrets()), ...(privately?.otherHomes ?? [])],
        visible: [outputDirectory, this.#programs(), this.#skills(), ...visible],
        network: reach.network === "hosts" ? { allow: settings.sandbox_hosts.value } : reach.network,
        unixSockets: reach.unixSockets,
        ...(privately && { home: privately.home, repositories: "read-only" as const }),
      }),
      network,
      resolveSafely: resolverOf(network),
    };
    return new Sandbox(options);
  }

  /** The folder of private copies of approved programs; it must exist before the sandbox. */
  #programs(): string {
    const folder = join(this.#options.loaded.roots.data, "programs");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** Copies of the files of skills in use. */
  #skills(): string {
    const folder = skillFolder(this.#options.loaded.roots);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async #private(home: string, { network }: Reach) {
    const { loaded, variables, root } = this.#options;
    const { otherHomes, privateHome } = await import("../../security/sandbox/private-home.js");
    const place = { home, workspace: root, variables, cacheFolder: loaded.roots.cache };
    return {
      home: privateHome({ ...place, network: network === "off" ? "off" : "open" }),
      otherHomes: otherHomes(home),
    };
  }
}

/** For detection only: no command runs in it. */
const USUAL: Reach = { home: "readable", network: "off", unixSockets: "off" };
