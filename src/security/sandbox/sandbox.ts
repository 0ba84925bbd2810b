/**
 * The sandbox of one session: finds out what the machine has when the first command comes, and puts it around each command.
 *
 * 1. A command that cannot be wrapped is not run: `wrap` throws. Only on a machine without a sandbox it is handed on as it is, and
 *    says so, for the permission rules to be stricter.
 * 2. Nothing a model says reaches this place: there is no argument that leaves the sandbox or widens it.
 * 3. What was made for a command (placeholders, the entrance to the proxy, a container) goes with `ended`, which must be called
 *    once the command is dead.
 */
import { execFile } from "node:child_process";
import { closeSync, existsSync, openSync, realpathSync, rmSync } from "node:fs";
import type { Clock } from "../../base/clock.js";
import { identityOf } from "../../system/file-identity.js";
import { findProgram } from "../../system/find-program.js";
import { nodeClock } from "../../system/node-clock.js";
import type { Withheld } from "../../system/process-group.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import { isWithin } from "../../system/within.js";
import type { GuardList } from "../guard-list/guard-list.js";
import { openGuardList } from "../guard-list/open-guard-list.js";
import { bubblewrapCommand, type Wrapped } from "./bubblewrap.js";
import { containerCommand } from "./container.js";
import { type DetectOptions, detectSandbox, isRoot, parseVersion, SYSTEM_PATH } from "./detect.js";
import { type ExplainOptions, explainFailure } from "./explain.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { inheritedDescriptors } from "./inherited-files.js";
import { findLayout, type Layout, realFolder } from "./layout.js";
import { countTasks } from "./limits.js";
import type { Forwarder, NetworkDoor } from "./network-door.js";
import { describeRefusal, type GateEntrance, NetworkGate, type ResolveSafely } from "./network-gate.js";
import { Placeholders } from "./placeholders.js";
import { type Command, type NetworkPolicy, SandboxError, type SandboxPolicy } from "./policy.js";
import { openProcessQuota, type ProcessQuota } from "./process-quota.js";
import { sandboxExecCommand } from "./sandbox-exec.js";
import { type SandboxFiles, sandboxFiles } from "./sandbox-files.js";
import type { SandboxState } from "./state.js";

export interface SandboxOptions extends DetectOptions {
  readonly policy: SandboxPolicy;
  /** What a person takes away beside the policy; asked for with every command. */
  readonly restrictions?: () => Pick<SandboxPolicy, "hidden" | "readOnlyWithin">;
  /** The only one of its kind on this machine; letters, digits, `-` and `_`. */
  readonly id: string;
  /** The person's own folder: their git configuration may name hooks in every repository. */
  readonly home?: string;
  /** Of Oxbow's own process: some of them tell git where the person's configuration is. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Hears of guarded files and folders that were not there before a command. */
  readonly arrived?: (paths: readonly string[]) => void;
  /** Needed when the policy allows hosts. */
  readonly resolveSafely?: ResolveSafely;
  /** Whoever starts the commands can give them `descriptors`: that saves a shell. */
  readonly passesDescriptors?: "yes" | "no";
  /** Variables of a container program. */
  readonly engine?: Readonly<Record<string, string>>;
  /** How long what stands in for missing guarded places stays for the next command. */
  readonly lingerMs?: number;
  /** How long what was found on the disk counts as what is there, unless a command has ended since. */
  readonly freshMs?: number;
  readonly clock?: Clock;
  /** Runs the forwarder where there is no socat. */
  readonly nodeProgram?: string;
}

export interface SandboxedCommand extends Wrapped {
  /** Open files to be the command's descriptors 3 and up; they are closed by `ended`. */
  readonly descriptors: readonly number[];
  /** Whoever starts it must see to it that these do not reach it: a folder among them would be a way around all mounts. */
  readonly withheld: Withheld | undefined;
  /** False when this machine has no sandbox: the command is as it was given. */
  readonly sandboxed: boolean;
  /** Its first process stands around the command. Otherwise that becomes the command, or hands signals on to it. */
  readonly isWrapper: boolean;
  /** Whether everything in it is dead when its program has ended by itself. */
  readonly endsWithAll: boolean;
  /** What the model is to know about a failure: hosts that were refused, and what else the sandbox denied. */
  explain(outcomeText: string): string | undefined;
  /** Whether a command would be wrapped in the same way now. */
  isCurrent(): boolean;
  ended(): Promise<void>;
}

const RUN_FOLDERS = ["/run/current-system", "/run/booted-system", "/run/opengl-driver"];
const NO_HOME = "/nonexistent";
const INSIDE = "/run/oxbow";
const PROXY_PORT = 3128;
const LINGER_MS = 1000;
/** A sandbox takes about as long to be made: what changes within this time is not seen either way. */
const FRESH_MS = 50;
/** An engine that does not answer must not keep a session from ending. */
const CLEAN_UP_MS = 20_000;

export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #placeholders: Placeholders;
  readonly #open = new Set<() => Promise<void>>();
  #state: Promise<SandboxState> | undefined;
  #guardList: GuardList | undefined;
  /** Guarded names that were there before a command, or were told of. */
  readonly #known = new Set<string>();
  #withheld: Withheld | "nothing" | undefined;
  /** How the places looked when they were last looked at. */
  #latest: { readonly look: string; readonly at: number; readonly restrictions: string } | undefined;
  #gate: NetworkGate | undefined;
  #files: SandboxFiles | undefined;
  #quota: ProcessQuota | undefined;
  #count = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
    const { clock = nodeClock, lingerMs = LINGER_MS } = options;
    this.#placeholders = new Placeholders({ clock, lingerMs, folder: options.folder });
  }

  /** Found out at the first call. */
  state(): Promise<SandboxState> {
    this.#state ??= detectSandbox(this.#options).catch((error) => {
      this.#state = undefined;
      throw error;
    });
    return this.#state;
  }

  async wrap(command: Command): Promise<SandboxedCommand> {
    const state = await this.state();
    if (state.kind === "none") {
      return {
        ...command,
        sandboxed: false,
        isWrapper: false,
        endsWithAll: false,
        descriptors: [],
        withheld: undefined,
        explain: () => undefined,
        isCurrent: () => true,
        ended: () => Promise.resolve(),
      };
    }
    const undo: Undo = [];
    const ended = once(async () => {
      this.#open.delete(ended);
      this.#latest = undefined;
      this.#guardList?.mayHaveChanged();
      for (const step of undo.splice(0).reverse()) await step();
      this.#tellArrivals();
    });
    this.#open.add(ended);
    try {
      const layout = this.#layout(state, undo);
      const made = [...layout.standIns, ...layout.guards.missing.map(({ path }) => path)];
      for (const path of [...(this.#guardList?.named() ?? []), ...made]) this.#known.add(path);
      const entrance = await this.#entrance(state, undo);
      const wrapped = this.#wrapped(state, { layout, entrance, command, undo });
      const hidden = [...layout.covering, ...layout.hidden].map(({ path }) => path);
      const { repositories } = this.#options.policy;
      const home = layout.home?.path;
      const explain = (text: string) => explanation(text, { state, entrance, hidden, home, repositories });
      const descriptors = state.kind === "bubblewrap" ? this.#descriptors(undo, entrance) : [];
      const look = lookOf(layout);
      this.#note(look);
      const isCurrent = () => this.#lookNow() === look;
      const isWrapper = state.kind === "bubblewrap";
      const kind = { sandboxed: true, isWrapper, endsWithAll: isWrapper };
      // A container's program does not hand on what it has open itself.
      const withheld = state.kind === "container" ? undefined : this.withheldFiles();
      return { ...wrapped, ...kind, descriptors, withheld, explain, isCurrent, ended };
    } catch (error) {
      await ended();
      throw error;
    }
  }

  /** Ends what is left of commands that were never reported ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((ended) => ended()));
    this.#placeholders.removeUnused();
    this.#quota?.close();
    this.#quota = undefined;
  }

  #note(look: string): string {
    this.#latest = { look, at: this.#now(), restrictions: this.#restrictionsNow() };
    return look;
  }

  #lookNow(): string {
    const { freshMs = FRESH_MS } = this.#options;
    const isFresh = this.#latest !== undefined && this.#now() - this.#latest.at < freshMs;
    if (isFresh && this.#latest?.restrictions === this.#restrictionsNow()) return this.#latest.look;
    return this.#note(lookOf(this.#layoutNow()));
  }

  #restrictionsNow(): string {
    return JSON.stringify(this.#options.restrictions?.() ?? null);
  }

  #now(): number {
    return (this.#options.clock ?? nodeClock).now();
  }

  #layoutNow(): Layout {
    const { policy, platform } = this.#options;
    this.#guardList ??= this.#openGuardList();
    const list = this.#guardList;
    const found = { nested: list.nested(), hookFolders: list.hookFolders(), places: list.places() };
    const alsoHidden = platform === "linux" ? [...listeningSockets(), ...otherProcesses()] : [];
    const more = this.#options.restrictions?.();
    if (more === undefined) return findLayout(policy, { ...found, alsoHidden });
    const readOnlyWithin = [...policy.readOnlyWithin, ...more.readOnlyWithin];
    const restricted = { ...policy, readOnlyWithin, hidden: [...policy.hidden, ...more.hidden] };
    return findLayout(restricted, { ...found, alsoHidden });
  }

  /** What has a guarded name and did not exist cannot be mounted on, so the person is told of it. */
  #tellArrivals(): void {
    const { arrived } = this.#options;
    if (arrived === undefined || this.#guardList === undefined) return;
    const fresh = this.#guardList.named().filter((path) => !this.#known.has(path));
    for (const path of fresh) this.#known.add(path);
    const innermost = fresh.filter((path) => !fresh.some((other) => other !== path && isWithin(other, path)));
    if (innermost.length > 0) arrived(innermost);
  }

  #openGuardList(): GuardList {
    const { policy, path, home, clock = nodeClock, variables = {} } = this.#options;
    const roots = policy.writable.map(realFolder);
    return openGuardList({ roots, home: home ?? NO_HOME, variables: { ...variables, PATH: path }, clock });
  }

  #layout({ kind }: SandboxState, undo: Undo): Layout {
    this.#placeholders.sweep();
    const layout = this.#layoutNow();
    // Its rules are about paths: nothing has to lie there.
    if (kind === "sandbox-exec") return layout;
    const { folders, impossible, release } = this.#placeholders.hold(layout.guards);
    undo.push(release);
    const readOnly = layout.guards.readOnly.filter((path) => !impossible.includes(path) && !folders.includes(path));
    return { ...layout, standIns: folders, guards: { ...layout.guards, readOnly } };
  }

  async #entrance(state: SandboxState, undo: Undo): Promise<GateEntrance | undefined> {
    const { policy, resolveSafely } = this.#options;
    if (policy.network === "off" || policy.network === "open" || state.abilities.network !== "allowlist")
      return undefined;
    if (resolveSafely === undefined) throw new SandboxError("Hosts are allowed, but nothing can resolve their names.");
    this.#gate ??= new NetworkGate({ allow: policy.network.allow, resolveSafely });
    const entrance = await this.#gate.open(state.kind === "bubblewrap" ? "socket" : "port");
    undo.push(() => entrance.close());
    return entrance;
  }

  #wrapped(state: SandboxState, { layout, entrance, command, undo }: Pieces): Wrapped {
    const { policy, folder, architecture } = this.#options;
    const program = state.program ?? "";
    this.#files ??= sandboxFiles(folder, architecture);
    if (state.kind === "sandbox-exec") {
      const temporaryFolder = realpathSync(makeTemporaryFolder("tmp"));
      undo.push(() => rmSync(temporaryFolder, { recursive: true, force: true }));
      return sandboxExecCommand({ program, policy, layout, temporaryFolder, proxyPort: entrance?.port }, command);
    }
    if (state.kind === "container") return this.#inContainer(program, { layout, command, undo });
    const { blank } = this.#files;
    const filter = this.#filter(entrance);
    const handOver = this.#options.passesDescriptors === "yes" ? "inherited" : "opened";
    return bubblewrapCommand(
      {
        ...{ policy, layout, blank, isRoot: isRoot(), tasks: countTasks() },
        filter: filter === undefined ? undefined : { path: filter, handOver },
        bubblewrap: { program, version: parseVersion(state.version ?? "") },
        door: entrance?.folder === undefined ? undefined : this.#door(entrance.folder),
        quotaEntry: this.#quotaEntry(),
        runFolders: [...RUN_FOLDERS, ...nameServers(policy.network)].filter((path) => existsSync(path)),
      },
      command,
    );
  }

  /** The forwarder to the proxy connects to a Unix socket, so with allowed hosts they cannot be off. */
  #filter(entrance: GateEntrance | undefined): string | undefined {
    const { unixSockets } = this.#options.policy;
    return this.#files?.filters?.[entrance === undefined ? unixSockets : "on"];
  }

  /** Opened for each command: they read on from where the last one stopped otherwise. */
  #descriptors(undo: Undo, entrance: GateEntrance | undefined): number[] {
    const filter = this.#filter(entrance);
    if (filter === undefined || this.#options.passesDescriptors !== "yes") return [];
    const descriptor = openSync(filter, "r");
    undo.push(() => closeSync(descriptor));
    return [descriptor];
  }

  #inContainer(program: string, { layout, command, undo }: Omit<Pieces, "entrance">): Wrapped {
    const { policy, overrides, id, engine = {}, passesDescriptors } = this.#options;
    this.#count += 1;
    const { cleanUp, ...wrapped } = containerCommand(
      {
        ...{ program, policy, layout, blank: this.#files?.blank ?? "/dev/null" },
        image: overrides?.container?.image ?? "",
        name: `oxbow-${id}-${this.#count}`,
        user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
        onTerminal: passesDescriptors === "no" ? "yes" : "no",
        engine,
      },
      command,
    );
    const env = { ...command.env, ...engine };
    undo.push(
      () =>
        new Promise((resolve) => {
          execFile(cleanUp.program, cleanUp.args, { env, timeout: CLEAN_UP_MS }, () => resolve());
        }),
    );
    return wrapped;
  }

  #door(folder: string): NetworkDoor {
    return { folder, inside: INSIDE, port: PROXY_PORT, forwarder: this.#forwarder() };
  }

  #forwarder(): Forwarder {
    const { path, workspace, nodeProgram = process.execPath } = this.#options;
    const socat = findProgram("socat", path, { outside: workspace });
    return socat === undefined ? { kind: "node", program: nodeProgram } : { kind: "socat", program: socat };
  }

  /** Whatever was open when Oxbow was started stays so. */
  withheldFiles(): Withheld | undefined {
    this.#withheld ??= this.#findWithheld() ?? "nothing";
    return this.#withheld === "nothing" ? undefined : this.#withheld;
  }

  #findWithheld(): Withheld | undefined {
    const descriptors = inheritedDescriptors();
    if (descriptors.length === 0) return undefined;
    const { path, workspace } = this.#options;
    const outside = { outside: workspace };
    const bash = findProgram("bash", path, outside) ?? findProgram("bash", SYSTEM_PATH, outside);
    if (bash === undefined) {
      throw new SandboxError(
        "Oxbow was started with files open that only bash can close. Install it, or start Oxbow without.",
      );
    }
    return { descriptors, bash };
  }

  /** For the superuser only: everybody else is held by a limit that costs nothing. */
  #quotaEntry(): string | undefined {
    const { processes } = this.#options.policy.limits;
    if (!isRoot() || processes === undefined) return undefined;
    this.#quota ??= openProcessQuota({ processes, name: this.#options.id });
    return this.#quota?.entry;
  }
}

/** The list of name servers is often a link to a file below /run, which the sandbox covers. */
function nameServers(network: NetworkPolicy): string[] {
  if (network !== "open") return [];
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/run/") ? [file] : [];
  } catch {
    return [];
  }
}

type Undo = (() => void | Promise<void>)[];

interface Pieces {
  readonly layout: Layout;
  readonly entrance: GateEntrance | undefined;
  readonly command: Command;
  readonly undo: Undo;
}

function explanation(
  text: string,
  {
    state,
    entrance,
    ...place
  }: ExplainOptions & { readonly state: SandboxState; readonly entrance: GateEntrance | undefined },
): string | undefined {
  const refused = entrance?.refusals().map(describeRefusal) ?? [];
  const hint = explainFailure([text, ...refused].join("\n"), state, place);
  const lines = [...refused.map((line) => `[${line}]`), ...(hint === undefined ? [] : [hint])];
  return lines.length === 0 ? undefined : lines.join("\n");
}

/**
 * The layout with the numbers of what lies there: a mount is on a file or folder, not on its name. What was missing and has been
 * put there for the sandbox is the same before and after.
 */
function lookOf({ writable, guards, standIns, covering, hidden, visible }: Layout): string {
  const missing = guards.missing.map(({ path }) => path);
  const guarded = [...new Set([...guards.readOnly, ...standIns, ...missing])].sort();
  const places = [...covering, ...hidden];
  const paths = [...writable, ...guards.pinned, ...guarded, ...places.map(({ path }) => path), ...visible];
  return JSON.stringify([places, paths.map((path) => [path, identityOf(path)])]);
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= action();
    return done;
  };
}
