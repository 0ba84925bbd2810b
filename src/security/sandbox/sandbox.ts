/**
 * The sandbox of one session: detects what the machine has when the first command comes, and wraps each command in it.
 *
 * 1. A command that cannot be wrapped is not run: `wrap` throws. Only on a machine without a sandbox it is returned unchanged, with
 *    `sandboxed: false`, so that the permission rules can be stricter.
 * 2. No input of a model reaches this code: no argument leaves or widens the sandbox.
 * 3. `ended` removes what was made for a command (a view, the entrance to the proxy, a container). It must be called when the command has
 *    ended.
 */

import { readdirSync, realpathSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import type { Clock } from "../../base/clock.js";
import { Once, once } from "../../base/once.js";
import { findProgram } from "../../system/find-program.js";
import { nodeClock } from "../../system/node-clock.js";
import { type Launch, startOnPipes, type Withheld } from "../../system/process-launch.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import { isWithin, outermost } from "../../system/within.js";
import type { Forwarder, NetworkForwarding } from "../allowed-hosts/network-forwarding.js";
import {
  type GateEntrance,
  NetworkGate,
  type NetworkGateOptions,
  type ResolveSafely,
} from "../allowed-hosts/network-gate.js";
import type { Hidden } from "../command-home/usual-secrets.js";
import { containerCommand, ownHardLimits } from "../container/container.js";
import { LinkedFiles } from "../guard-list/linked-files.js";
import type { SecretFiles } from "../guard-list/secret-files.js";
import { bubblewrapCommand, type View, type Wrapped } from "./bubblewrap.js";
import { canNest, type DetectOptions, detectSandbox, findUnshare, isRoot, parseVersion } from "./detect.js";
import { explainCommand } from "./explain.js";
import { listeningSockets, otherProcesses, runFolders } from "./host-openings.js";
import { findWithheld } from "./inherited-files.js";
import { findLayout, type Layout, nameable, realFolder } from "./layout.js";
import { launchWithMark } from "./leftover-mark.js";
import { countTasks } from "./limits.js";
import { HideLayers, OverlayView, whyNoView } from "./overlay-view.js";
import { type Command, type LiveAccess, SandboxError, type SandboxPolicy, type Writes } from "./policy.js";
import { openProcessQuota, type ProcessQuota } from "./process-quota.js";
import { run } from "./run.js";
import { sandboxExecCommand } from "./sandbox-exec.js";
import { type SandboxFiles, sandboxFiles } from "./sandbox-files.js";
import { seccompFilter } from "./seccomp-filter.js";
import type { JoinedSpace, SessionSpace, SpaceMounting } from "./session-space.js";
import { hasNamespaces, type SandboxState } from "./state.js";

const INSIDE = "/run/oxbow";
const PROXY_PORT = 3128;
/** An engine that does not answer must not keep a session from ending. */
const CLEAN_UP_MS = 20_000;

export interface SandboxOptions extends DetectOptions {
  readonly policy: SandboxPolicy;
  /** What path permissions forbid besides the policy; called for every command. */
  readonly restrictions?: () => Pick<SandboxPolicy, "hidden" | "readOnlyWithin">;
  /** The secret files of the workspace, where commands may not see them; all sandboxes of a session share it. */
  readonly secrets?: SecretFiles;
  /** Shared by all sandboxes of a session; without it each command has its own `/tmp` and localhost. */
  readonly space?: SessionSpace;
  /** Unique on this machine; letters, digits, `-` and `_`. */
  readonly id: string;
  /** Needed when the policy allows hosts. */
  readonly resolveSafely?: ResolveSafely;
  /** For allowed hosts, where this machine reaches the network through a proxy. */
  readonly network?: NetworkGateOptions["network"];
  /** Variables of a container program. */
  readonly engine?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Runs the forwarder if there is no socat. */
  readonly nodeProgram?: string;
}

export interface SandboxedCommand extends Wrapped {
  /** The caller must keep these from reaching the command: a folder among them would be a way around all mounts. */
  readonly withheld: Withheld | undefined;
  /** False if this machine has no sandbox: the command is unchanged. */
  readonly sandboxed: boolean;
  /** Its first process wraps the command. Otherwise the first process becomes the command, or passes signals on to it. */
  readonly isWrapper: boolean;
  /** Whether all its processes have ended when its program ends. */
  readonly endsWithAll: boolean;
  /** What the model should know about a failure: hosts that were refused, and what else the sandbox denied. */
  explain(outcomeText: string): string | undefined;
  /** Starts it. Where the sandbox prints the mark of the command, that tells how many processes it left behind. */
  readonly launch: Launch;
  /** What it writes is held back there. Closed by `ended`. */
  readonly view?: OverlayView | undefined;
  ended(): Promise<void>;
}

export class Sandbox {
  readonly #options: SandboxOptions;
  #hiddenLinks: LinkedFiles | undefined;
  readonly #open = new Set<() => Promise<void>>();
  readonly #state = new Once(() => detectSandbox(this.#options));
  #withheld: Withheld | "nothing" | undefined;
  #gate: NetworkGate | undefined;
  #forwarderPlace: NetworkForwarding["place"] | undefined;
  #files: SandboxFiles | undefined;
  #quota: ProcessQuota | undefined;
  readonly #hideLayers: HideLayers;
  readonly #removing = new Set<Promise<void>>();
  #count = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#hideLayers = new HideLayers(options.folder);
  }

  /** Found out at the first call. */
  state(): Promise<SandboxState> {
    return this.#state.get();
  }

  /** Finds what commands must not change or inherit, so that the first one need not wait for it. */
  prepare(): void {
    this.covered();
    this.withheldFiles();
  }

  async wrap(command: Command): Promise<SandboxedCommand> {
    const state = await this.state();
    if (state.kind === "none") return uncontained(command);
    const undo: Undo = [];
    let noteEnd = () => {};
    const ended = once(async () => {
      this.#open.delete(ended);
      noteEnd();
      for (const step of undo.splice(0).reverse()) await step();
    });
    this.#open.add(ended);
    try {
      const { writes } = command;
      const { layout: found, space, mounting } = await this.#surroundings(state, writes);
      const isDirect = mounting === undefined && writes !== "nothing";
      const layout = withShown(found, writes);
      const entrance = await this.#entrance(state, undo);
      const needsView = writes !== "nothing" || layout.masked.length > 0;
      const view = mounting && needsView ? await this.#view(mounting, { layout, writes, undo }) : undefined;
      const wrapped = this.#wrapped(state, { layout, entrance, space, view, command, undo });
      if (isDirect) noteEnd = this.#beginDirect();
      else if (view instanceof OverlayView) noteEnd = () => this.#options.secrets?.noteMade(view.madeSecrets());
      const isOnline = this.#options.policy.network === "open";
      const explain = (text: string) =>
        explainCommand(text, { state, entrance, isOnline, ...this.#aboutPlaces(layout) });
      const isWrapper = hasNamespaces(state);
      const { mark } = command;
      const launch = mark !== undefined && isWrapper ? launchWithMark(mark) : startOnPipes;
      const kind = { sandboxed: true, isWrapper, endsWithAll: isWrapper, launch };
      // A container's program does not pass on its own open files.
      const withheld = state.kind === "container" ? undefined : this.withheldFiles();
      const overlay = view instanceof OverlayView ? view : undefined;
      return { ...wrapped, ...kind, withheld, explain, view: overlay, ended };
    } catch (error) {
      await ended();
      throw error;
    }
  }

  #aboutPlaces({ covering, hidden, masked, home }: Layout) {
    const { repositories, writable } = this.#options.policy;
    const paths = (places: readonly Hidden[]) => places.map(({ path }) => path);
    const [workspace = "/"] = writable;
    const secrets = paths(masked).map((path) => relative(workspace, path));
    return { hidden: paths([...covering, ...hidden]), secrets, home: home?.path, repositories };
  }

  /** Ends what is left of commands that were never reported ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((ended) => ended()));
    await Promise.all(this.#removing);
    this.#hideLayers.close();
    this.#quota?.close();
    this.#quota = undefined;
  }

  /** A command begins that writes into the real folders. Returns what to call when it has ended. */
  #beginDirect(): () => void {
    const { policy, secrets } = this.#options;
    return policy.secrets === "masked" && secrets ? secrets.beginDirect() : () => secrets?.mayHaveChanged();
  }

  #layout(access: "direct" | "held", { kind }: Pick<SandboxState, "kind">): Layout {
    const { policy, architecture, platform, restrictions } = this.#options;
    const isShut = policy.unixSockets === "off" && (policy.network === "off" || policy.network === "open");
    const hasFilter = kind === "bubblewrap" && seccompFilter(architecture, "off") !== undefined;
    // Programs that listen come and go, so they are hidden only from a command that could connect to them.
    const sockets = isShut && hasFilter ? [] : listeningSockets();
    const { readOnlyWithin = [], hidden = [] } = restrictions?.() ?? {};
    const { home, caches = home, ...open } = policy;
    return findLayout(
      {
        ...open,
        // Without a home folder of its own, the secrets of the user's are hidden one by one.
        ...(home && hasNamespaces({ kind }) ? { home } : caches && { caches }),
        readOnlyWithin: [...policy.readOnlyWithin, ...readOnlyWithin],
        hidden: [...policy.hidden, ...hidden],
      },
      {
        access,
        alsoHidden: [...(platform === "linux" ? [...sockets, ...otherProcesses()] : []), ...this.#links().aliases()],
        secrets: this.#secrets(),
      },
    );
  }

  #secrets(): readonly string[] {
    const { policy, secrets } = this.#options;
    return (policy.secrets === "masked" ? secrets?.find() : undefined) ?? [];
  }

  /** Hard links in the workspace to files of hidden places: the same key under an ordinary name. */
  #links(): LinkedFiles {
    const { policy, clock = nodeClock } = this.#options;
    const hidden = () => policy.hidden.flatMap(filesAt);
    this.#hiddenLinks ??= new LinkedFiles({ roots: policy.writable.map(realFolder), clock, hidden });
    return this.#hiddenLinks;
  }

  async #entrance(state: SandboxState, undo: Undo): Promise<GateEntrance | undefined> {
    const { policy, resolveSafely, network } = this.#options;
    if (policy.network === "off" || policy.network === "open" || state.abilities.network !== "allowlist")
      return undefined;
    if (resolveSafely === undefined) throw new SandboxError("Hosts are allowed, but nothing can resolve their names.");
    this.#gate ??= new NetworkGate({ allow: policy.network.allow, resolveSafely, ...(network && { network }) });
    if (hasNamespaces(state))
      this.#forwarderPlace ??=
        state.kind === "bubblewrap" && (await canNest(state.program ?? "")) ? "around" : "within";
    const entrance = await this.#gate.open(hasNamespaces(state) ? "socket" : "port");
    undo.push(() => entrance.close());
    return entrance;
  }

  async #space(state: SandboxState, { writable, home, caches }: Layout): Promise<JoinedSpace | undefined> {
    const { space, policy, path, workspace, folder } = this.#options;
    if (!hasNamespaces(state)) return undefined;
    const program = state.kind === "bubblewrap" ? state.program : undefined;
    const own = [home?.path, caches?.cache].filter((path) => path !== undefined);
    const mounts = [...writable, ...own];
    const network = policy.network === "off" ? "shared" : "own";
    return space?.join({ bubblewrap: program, path, workspace, mounts, network, folder });
  }

  /** Why commands write into the real folders; undefined if what they write can be held back. */
  async whyNotHeld(): Promise<string | undefined> {
    const state = await this.state();
    if (!hasNamespaces(state))
      return state.kind === "none" ? state.reason : `the ${state.kind} sandbox has no overlay.`;
    return this.#holds.get();
  }

  readonly #holds = new Once(async () => {
    const { folder } = this.#options;
    const state = await this.state();
    const layout = this.#layout("held", state);
    const space = await this.#space(state, layout);
    return whyNoView({ mounting: space?.mounting, folder, roots: outermost(layout.writable) });
  });

  /** Without `mounting` the command writes into the real folders, if it writes. */
  async #surroundings(state: SandboxState, writes: Writes | undefined) {
    const isHeld = writes !== undefined && (await this.whyNotHeld()) === undefined;
    const layout = this.#layout(isHeld || writes === "nothing" ? "held" : "direct", state);
    const space = await this.#space(state, layout);
    const mounting = isHeld ? space?.mounting : undefined;
    if (!isHeld || mounting !== undefined || writes === "nothing") return { layout, space, mounting };
    return { layout: this.#layout("direct", state), space, mounting };
  }

  async #view(
    mounting: SpaceMounting,
    { layout, writes, undo }: Pick<Pieces, "layout" | "undo"> & { readonly writes: Writes | undefined },
  ): Promise<View> {
    const { folder } = this.#options;
    const { writable, masked } = layout;
    const roots = outermost(writable);
    const hidden = masked.map(({ path }) => path);
    const access = writes === "nothing" ? "read-only" : "writable";
    if (typeof writes === "object") {
      const live = this.#liveFolders(roots, writes).map(async (each) => {
        return { ...each, merged: (await mounting.pin(each.path)).place };
      });
      return { words: [], folders: await Promise.all(live) };
    }
    const view = await OverlayView.make({ mounting, folder, roots, hidden, hideLayers: this.#hideLayers, access });
    undo.push(() => this.#remove(view));
    return view;
  }

  /** No one waits for it but the end of the session. What cannot be removed is left to the next Oxbow. */
  #remove(view: OverlayView): void {
    const removing = view.close().catch(() => {});
    this.#removing.add(removing);
    void removing.then(() => this.#removing.delete(removing));
  }

  /** What a program that goes on running sees: the real folders, so that it finds later edits, and some in them that it may change. */
  #liveFolders(roots: readonly string[], { writable, kept }: LiveAccess) {
    const named = this.#options.policy.liveWritable.map(realFolder);
    const writes = (path: string) => ({ path, access: "writable" as const });
    const reads = (path: string) => ({ path, access: "read-only" as const });
    return [
      ...roots.map((path) => (named.includes(path) ? writes(path) : reads(path))),
      ...writable.map(writes),
      ...kept.map(reads),
    ];
  }

  /** Secret files that commands which run without asking do not see: absolute. */
  covered(): readonly string[] {
    return this.#layout("held", { kind: "bubblewrap" }).masked.map(({ path }) => path);
  }

  #wrapped(state: SandboxState, { layout, entrance, space, view, command, undo }: Pieces): Wrapped {
    const { policy, folder, architecture } = this.#options;
    const program = state.program ?? "";
    this.#files ??= sandboxFiles(folder, architecture);
    if (state.kind === "sandbox-exec") {
      const temporaryFolder = realpathSync(makeTemporaryFolder("tmp"));
      undo.push(() => rmSync(temporaryFolder, { recursive: true, force: true }));
      return sandboxExecCommand({ program, policy, layout, temporaryFolder, proxyPort: entrance?.port }, command);
    }
    if (state.kind === "container") return this.#inContainer(program, { layout, command, undo });
    const { blank, mask } = this.#files;
    const filter = state.kind === "bubblewrap" ? this.#filter(entrance) : undefined;
    return bubblewrapCommand(
      {
        ...{ policy, blank, mask, space, view, isRoot: isRoot(), tasks: countTasks() },
        layout: { ...layout, masked: mounted(view instanceof OverlayView ? outsideOf(layout) : layout.masked, layout) },
        filter,
        bubblewrap: state.kind === "bubblewrap" ? { program, version: parseVersion(state.version ?? "") } : undefined,
        unshare: this.#unshare(state),
        forwarding: entrance?.folder === undefined ? undefined : this.#forwarding(entrance.folder),
        quotaEntry: this.#quotaEntry(),
        runFolders: runFolders(policy.network),
      },
      command,
    );
  }

  #unshare({ kind }: SandboxState) {
    const { folder } = this.#options;
    const found = kind === "unshare" ? findUnshare(this.#options) : undefined;
    return found && { ...found, folder };
  }

  /** A forwarder in the sandbox connects to a Unix socket, so they cannot be off there. */
  #filter(entrance: GateEntrance | undefined): string | undefined {
    const { unixSockets } = this.#options.policy;
    const isNeeded = entrance !== undefined && this.#forwarderPlace === "within";
    return this.#files?.filters?.[isNeeded ? "on" : unixSockets];
  }

  #inContainer(program: string, { layout, command, undo }: Pick<Pieces, "layout" | "command" | "undo">): Wrapped {
    const { policy, overrides, id, engine = {} } = this.#options;
    this.#count += 1;
    const { cleanUp, ...wrapped } = containerCommand(
      {
        ...{ program, policy, layout, blank: this.#files?.blank ?? "/dev/null" },
        image: overrides?.container?.image ?? "",
        name: `oxbow-${id}-${this.#count}`,
        user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
        hard: ownHardLimits(),
        engine,
      },
      command,
    );
    const env = { ...command.env, ...engine };
    undo.push(async () => void (await run(cleanUp, { env, timeoutMs: CLEAN_UP_MS })));
    return wrapped;
  }

  #forwarding(folder: string): NetworkForwarding {
    return {
      folder,
      inside: INSIDE,
      port: PROXY_PORT,
      forwarder: this.#forwarder(),
      place: this.#forwarderPlace ?? "within",
    };
  }

  #forwarder(): Forwarder {
    const { path, workspace, nodeProgram = process.execPath } = this.#options;
    const socat = findProgram("socat", path, { outside: workspace });
    return socat === undefined ? { kind: "node", program: nodeProgram } : { kind: "socat", program: socat };
  }

  /** Files that were open when Oxbow started stay open. */
  withheldFiles(): Withheld | undefined {
    this.#withheld ??= findWithheld(this.#options) ?? "nothing";
    return this.#withheld === "nothing" ? undefined : this.#withheld;
  }

  /** Only for root: `ulimit` limits the processes of other users at no cost. */
  #quotaEntry(): string | undefined {
    const { processes } = this.#options.policy.limits;
    if (!isRoot() || processes === undefined) return undefined;
    this.#quota ??= openProcessQuota({ processes, name: this.#options.id });
    return this.#quota?.entry;
  }
}

/** The command as it is, on a machine without a sandbox. */
function uncontained(command: Command): SandboxedCommand {
  return {
    ...command,
    ...{ sandboxed: false, isWrapper: false, endsWithAll: false, launch: startOnPipes },
    withheld: undefined,
    explain: () => undefined,
    ended: () => Promise.resolve(),
  };
}

type Undo = (() => void | Promise<void>)[];

interface Pieces {
  readonly layout: Layout;
  readonly entrance: GateEntrance | undefined;
  readonly space: JoinedSpace | undefined;
  readonly view: View | undefined;
  readonly command: Command;
  readonly undo: Undo;
}

/** The place itself, or the files directly in it: keys do not lie deeper, and this runs before each command. */
function filesAt(place: string): readonly string[] {
  try {
    const entries = readdirSync(place, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(place, entry.name));
  } catch {
    return [place];
  }
}

function withShown(layout: Layout, writes: Command["writes"]): Layout {
  if (typeof writes !== "object" || writes.shown.length === 0) return layout;
  return { ...layout, masked: layout.masked.filter(({ path }) => !writes.shown.includes(path)) };
}

function mounted(masked: readonly Hidden[], { writable }: Layout): readonly Hidden[] {
  const places = nameable(masked);
  const around = places.find(({ path }) => writable.some((root) => isWithin(root, path)));
  if (around !== undefined)
    throw new SandboxError(
      `A secret file in ${around.path} has a name that is not UTF-8, and cannot be covered. Rename it.`,
    );
  return places;
}

/** A view does not have the names of secret files in its folders. */
function outsideOf({ masked, writable }: Layout): readonly Hidden[] {
  return masked.filter(({ path }) => !writable.some((root) => isWithin(path, root)));
}
