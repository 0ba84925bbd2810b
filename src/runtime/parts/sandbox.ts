/**
 * The sandbox around the commands of one run. Tested with the first command, never before the first request.
 *
 * In mode `auto`, and in mode `ask` with `--auto-approve`, commands that run without asking get the tight one: no network, all of `.git`
 * read-only, a private home folder. The user can open it for a call. In the other modes, which ask about each command that does more than
 * read, the home folder is readable and repositories are writable, except for guarded paths.
 */
import { UsageError } from "../../base/usage-error.js";
import type { ToolContext } from "../../engine/ports.js";
import type { HeldChanges, Settled } from "../../security/change-gate/held-changes.js";
import type { SecretFiles } from "../../security/guard-list/secret-files.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { SessionPorts } from "../../security/ports/session-ports.js";
import { newMark } from "../../security/sandbox/leftover-mark.js";
import type { LiveProgram, LivePrograms } from "../../security/sandbox/live-programs.js";
import type { Sandbox } from "../../security/sandbox/sandbox.js";
import type { SessionSpace } from "../../security/sandbox/session-space.js";
import type { SandboxState } from "../../security/sandbox/state.js";
import type { ShellCommand, WrapOptions, WrappedCommand } from "../../tools/shell/wrapped-command.js";
import {
  liveWritable,
  openSandbox,
  openSecretFiles,
  type Reach,
  reachOf,
  runsUnasked,
  type SandboxPlace,
  whyNotContained,
} from "./open-sandbox.js";

const SANDBOX_MODES = ["auto", "required", "off"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

export interface RunSandboxOptions extends SandboxPlace {
  /** Called once, if there is no sandbox and the settings do not switch it off. */
  readonly notify: (message: string) => void;
  /** Tells whether undo can revert the changes of a command. */
  readonly isRecorded?: () => Promise<boolean>;
  /** The mode as it is now; default: the one of the settings. */
  readonly mode?: () => PermissionMode;
  /** Tells whether the mode is plan. */
  readonly isPlanning?: () => boolean;
  /** Applies what commands write. Without it, they write into the workspace. */
  readonly openHeldChanges?: () => Promise<HeldChanges>;
  /** Tells why a change of this path needs the user. Absolute. */
  readonly reason?: (path: string) => Promise<string | undefined>;
  /** Tells what the commands share with those of another session, which ends it. */
  readonly space?: () => Promise<SessionSpace>;
  /** Asks the person outside of a call; undefined where no one can answer. */
  readonly askPerson?: () => ToolContext["ask"];
}

export class RunSandbox {
  readonly #options: RunSandboxOptions;
  readonly #opened = new Map<string, Promise<Sandbox>>();
  readonly #retired: Promise<{ close(): unknown }>[] = [];
  #secrets: Promise<SecretFiles> | undefined;
  #state: SandboxState | undefined;
  #held: Promise<HeldChanges> | undefined;
  #livePrograms: Promise<LivePrograms> | undefined;
  #space: Promise<SessionSpace> | undefined;
  #ports: Promise<SessionPorts> | undefined;
  #whyNotContained: Promise<string | undefined> | undefined;
  /** Programs that go on running. */
  readonly #live = new Set<object>();
  #offer: Promise<void> | undefined;
  /** The person said so in this session. */
  #writesDirectly = false;
  #isClosed = false;

  constructor(options: RunSandboxOptions) {
    this.#options = options;
  }

  /** Undefined before the first command. */
  get state(): SandboxState | undefined {
    return this.#state;
  }

  /** For what is about to run: says once if there is no sandbox. */
  async find(): Promise<SandboxState> {
    if (this.#state !== undefined) return this.#state;
    const state = await this.#look();
    if (this.#state === undefined) await this.#announce(state);
    this.#state = state;
    return state;
  }

  async #look(): Promise<SandboxState> {
    return this.#state ?? (await this.#open(USUAL)).state();
  }

  /** Does ahead what the first command would wait for; reports nothing until then. */
  async prepare(): Promise<void> {
    const state = await (await this.#open(USUAL)).state();
    if (state.kind === "none") return;
    const { settings } = this.#options.loaded;
    const isContained = runsUnasked(this.#mode, settings) && (await this.#whyNone(state)) === undefined;
    const reach = reachOf([], { isContained, settings });
    (await this.#open(reach)).prepare();
    if (reach.secrets === "masked") await (await this.#secretFiles()).prepare();
    await this.#openHeld();
    void this.#offerDirect(state, this.#options.askPerson?.()).catch(() => {});
  }

  /** Tells why commands write into the workspace itself; undefined if what they write is held back and checked. */
  whyNotHeld(): Promise<string | undefined> {
    return this.#open(USUAL).then((sandbox) => sandbox.whyNotHeld());
  }

  async #openHeld(): Promise<HeldChanges | undefined> {
    const { openHeldChanges } = this.#options;
    if (openHeldChanges === undefined || (await this.whyNotHeld()) !== undefined) return undefined;
    this.#held ??= openHeldChanges();
    return this.#held;
  }

  /** Tells whether a command that only writes in the workspace is held back, and no program that goes on running sees it meanwhile. */
  async holdsAll(): Promise<boolean> {
    return this.#live.size === 0 && (await this.holdsBack());
  }

  /** Applies what the last command wrote that did not end by itself. Undefined if there is none. */
  async keep(ask: NonNullable<ToolContext["ask"]>): Promise<Settled | undefined> {
    return (await this.#held)?.keep(ask);
  }

  /** Forgets the ended calls: what they did is in the log. */
  async forgetEnds(): Promise<void> {
    (await this.#held)?.forgetEnds();
  }

  /** Tells whether the changes of a command without an opening outside are held back. */
  async holdsBack(): Promise<boolean> {
    return (await this.#openHeld()) !== undefined;
  }

  /** Tells why nothing runs without asking; undefined if commands do. */
  async whyNotContained(): Promise<string | undefined> {
    if (!runsUnasked(this.#mode, this.#options.loaded.settings)) return "another mode was chosen.";
    // Its answer is one to this.
    await this.#offer;
    this.#whyNotContained ??= this.find()
      .then((state) => this.#whyNone(state))
      .then((why) => this.#reportWhy(why));
    return this.#whyNotContained;
  }

  get #mode(): PermissionMode {
    const { mode, loaded } = this.#options;
    return mode?.() ?? loaded.settings.permission_mode.value;
  }

  async wrap(
    command: ShellCommand,
    { onTerminal, outside, openings: asked = [], byPerson, writes, line, ...live }: WrapOptions,
  ): Promise<WrappedCommand> {
    const state = await this.find();
    const { kind } = state;
    const programs = await this.#openLive();
    const mode = this.#options.loaded.settings.sandbox.value;
    if (kind === "none" && mode === "required") {
      throw new Error('Not run: a sandbox is required (sandbox = "required"), and this machine has none.');
    }
    if (kind === "none") return command;
    if (outside) return { ...(await this.#outside(command)), ended: async () => this.mayHaveChanged() };
    if (!byPerson) await this.#offerDirect(state, live.ask);
    const openings = byPerson ? [...asked, ...PERSONS] : asked;
    const reach = await this.#reach(openings);
    const sandbox = await this.#open(reach);
    const held = writes === "held" ? await this.#openHeld() : undefined;
    const program = writes === "live" ? await this.#prepareLive(programs, { sandbox, ...live }) : undefined;
    const access = program?.access ?? (writes === "nothing" ? writes : held && "held");
    const {
      argv: [first = "", ...args],
      cwd,
      env,
    } = command;
    const mark = onTerminal ? undefined : newMark();
    const wrapped = await sandbox.wrap({
      ...{ program: first, args, cwd, env, mark, isOnTerminal: onTerminal, writes: access },
    });
    const isPlanning = () => byPerson !== true && this.#options.isPlanning?.() === true;
    const wasPlanning = isPlanning();
    let startedAt = 0;
    let left: string | undefined;
    if (writes === "live") this.#live.add(wrapped);
    return {
      argv: [wrapped.program, ...wrapped.args],
      cwd: wrapped.cwd,
      env: wrapped.env,
      withheld: wrapped.withheld,
      isWrapper: wrapped.isWrapper,
      endsWithAll: wrapped.endsWithAll,
      explain: wrapped.explain,
      launch: wrapped.launch,
      ...(program && { startNote: program.note, leftBehind: () => left }),
      ...(held && {
        started: () => {
          startedAt = Date.now();
        },
        settle: async (end, context) => {
          const { view } = wrapped;
          if (view === undefined) return { notes: [], changed: [] };
          const records = await this.#gitRecords(reach, { openings, line });
          const isUnwanted = isPlanning() && !wasPlanning;
          return held.settle({ view, startedAt, records, end, isUnwanted, context });
        },
      }),
      ended: async () => {
        await wrapped.ended();
        this.#live.delete(wrapped);
        if (access === undefined) this.mayHaveChanged();
        left = await program?.ended();
      },
    };
  }

  /** Tells whether a person allowed git with this call. */
  async #gitRecords(
    { home }: Reach,
    { openings, line }: { readonly openings: readonly string[]; readonly line: string | undefined },
  ): Promise<"pass" | "guarded"> {
    if (home === "private") return "guarded";
    if (openings.includes("git") || this.#mode === "allow") return "pass";
    const { isOnlyGit } = await import("../../security/change-gate/change-gate.js");
    return line !== undefined && isOnlyGit(line) ? "pass" : "guarded";
  }

  /** Tells what a program which goes on running may change; undefined where it writes into the workspace itself. */
  async #prepareLive(
    programs: LivePrograms,
    { sandbox, folders = [], ask }: Pick<WrapOptions, "folders" | "ask"> & { readonly sandbox: Sandbox },
  ): Promise<LiveProgram | undefined> {
    if ((await this.whyNotHeld()) !== undefined) return undefined;
    const settings = await liveWritable(this.#options);
    return programs.prepare({ folders, settings, covered: sandbox.covered(), ask });
  }

  #openLive(): Promise<LivePrograms> {
    const { root, notify, reason } = this.#options;
    this.#livePrograms ??= Promise.all([
      import("../../security/sandbox/live-programs.js"),
      import("../../tools/search/ignore-source.js"),
    ]).then(([{ LivePrograms }, { ignoredBy }]) => new LivePrograms({ root, notify, reason, ignoredBy }));
    return this.#livePrograms;
  }

  /** The folders of the session are others: the next command gets a sandbox with them. Commands that run keep theirs. */
  forget(): void {
    this.#retired.push(...this.#opened.values(), ...(this.#secrets === undefined ? [] : [this.#secrets]));
    this.#opened.clear();
    this.#secrets = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#held)?.close();
    await Promise.all([...this.#retired, ...this.#opened.values()].map(async (sandbox) => (await sandbox).close()));
    (await this.#livePrograms)?.close();
    (await this.#secrets)?.close();
    (await this.#ports)?.closeAll();
    if (this.#options.space === undefined) await (await this.#space)?.close();
  }

  async #announce(state: SandboxState): Promise<void> {
    const mode = this.#options.loaded.settings.sandbox.value;
    if (mode === "off") return;
    const { sandboxNotice } = await import("../../security/sandbox/state.js");
    const notice = sandboxNotice(state, mode);
    if (notice !== undefined) this.#options.notify(notice);
  }

  /** Reported once. `find` reports a missing sandbox. */
  #reportWhy(why: string | undefined): string | undefined {
    const what =
      this.#mode === "auto" || this.#mode === "review"
        ? `Mode ${this.#mode} asks before commands`
        : "--auto-approve answers for no command";
    if (why !== undefined && this.#state?.kind !== "none") this.#options.notify(`${what} here: ${why}`);
    return why;
  }

  async #whyNone(state: SandboxState): Promise<string | undefined> {
    const isAccepted = this.#writesDirectly || this.#options.loaded.settings.containment.value === "direct";
    const why = await whyNotContained(state, this.#options, isAccepted ? "direct" : "held");
    if (why !== undefined || isAccepted) return why;
    const direct = await this.whyNotHeld();
    return (
      direct &&
      `commands write straight into the folder: ${direct} containment = "direct" in your profile accepts that.`
    );
  }

  /** Asks once, where commands write straight into the workspace, whether contained ones may do so without asking. */
  async #offerDirect(state: SandboxState, ask: WrapOptions["ask"]): Promise<void> {
    const { loaded } = this.#options;
    if (ask === undefined || this.#writesDirectly || loaded.settings.containment.value !== undefined) return;
    if (!runsUnasked(this.#mode, loaded.settings)) return;
    const direct = await this.whyNotHeld();
    if (direct === undefined || (await whyNotContained(state, this.#options, "direct")) !== undefined) return;
    const weaker =
      (await whyNotContained(state, this.#options)) === undefined ? "" : " They can read your home folder.";
    this.#offer ??= this.#askDirect(ask, `${direct}${weaker}`);
    await this.#offer;
  }

  async #askDirect(ask: NonNullable<WrapOptions["ask"]>, why: string): Promise<void> {
    const { loaded, notify } = this.#options;
    let isNo = false;
    const isYes = await ask({
      summary: "Commands here write straight into the folder. Run contained ones without asking?",
      reason: `${why} So their changes are not checked, undo does not cover them, and only guarded paths at the top are read-only.`,
      isOffer: true,
      onNo: () => {
        isNo = true;
      },
    });
    if (!isYes && !isNo) return;
    if (isYes) {
      this.#writesDirectly = true;
      this.#whyNotContained = undefined;
    }
    const { saveSettings } = await import("../settings/save-settings.js");
    notify(await saveSettings(loaded, { containment: isYes ? "direct" : "ask" }));
  }

  async #reach(openings: readonly string[]): Promise<Reach> {
    const isContained = (await this.whyNotContained()) === undefined;
    return reachOf(openings, { isContained, settings: this.#options.loaded.settings });
  }

  /** Tells what all commands of the session share. */
  space(): Promise<SessionSpace> {
    const { space = newSpace } = this.#options;
    this.#space ??= space();
    return this.#space;
  }

  /** The folder that commands see as `/tmp`; undefined where they see the one of this machine. */
  async temporaryFolder(): Promise<string | undefined> {
    const { hasNamespaces } = await import("../../security/sandbox/state.js");
    return hasNamespaces(await this.#look()) ? (await this.space()).temporaryFolder() : undefined;
  }

  /** The ports of the session's network. */
  ports(): Promise<SessionPorts> {
    const { variables, root } = this.#options;
    this.#ports ??= Promise.all([import("../../security/ports/session-ports.js"), this.space()]).then(
      ([{ SessionPorts }, space]) =>
        new SessionPorts({ holder: () => space.holder(), path: variables.PATH, workspace: root }),
    );
    return this.#ports;
  }

  /** A command outside sees the `/tmp` of this machine, and finds the one of the session by a variable. */
  async #outside(command: ShellCommand): Promise<ShellCommand> {
    const folder = await this.temporaryFolder();
    return folder === undefined ? command : { ...command, env: { ...command.env, TMPDIR: folder } };
  }

  #secretFiles(): Promise<SecretFiles> {
    this.#secrets ??= openSecretFiles(this.#options);
    return this.#secrets;
  }

  /** The next command looks at the workspace again. */
  mayHaveChanged(): void {
    void this.#secrets?.then((secrets) => secrets.mayHaveChanged());
  }

  #open(reach: Reach): Promise<Sandbox> {
    const name = Object.values(reach).join("-");
    const known = this.#opened.get(name);
    if (known !== undefined) return known;
    // A client's command may still be running; it must not create folders after the session has ended.
    if (this.#isClosed) return Promise.reject(new UsageError("The session is closed."));
    const opening = Promise.all([this.space(), this.#secretFiles()]).then(([space, secrets]) =>
      openSandbox(this.#options, { name, reach, secrets, space }),
    );
    this.#opened.set(name, opening);
    return opening;
  }
}

const newSpace = () => import("../../security/sandbox/session-space.js").then(({ SessionSpace }) => new SessionSpace());

/** Lists what a command that a person typed for the model may reach. */
const PERSONS: readonly string[] = ["secrets", "git", "network", "unix_sockets"];

/** For detection only: no command runs in it. */
const USUAL: Reach = { home: "readable", network: "off", unixSockets: "off", secrets: "shown" };
