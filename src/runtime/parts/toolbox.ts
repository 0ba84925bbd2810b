/**
 * The tools of one run: the built-in ones of the chosen sets. A tool's code is loaded at its first call; until then only its description
 * exists.
 */

import { schemaProblems } from "../../base/json-schema.js";
import { once } from "../../base/once.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { Tool, ToolRegistry, ToolSet } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import { nodeClock } from "../../system/node-clock.js";
import { MOST_PATH } from "../../system/real-path.js";
import type { BackgroundCommands } from "../../tools/background.js";
import type { BashOptions } from "../../tools/bash.js";
import { CATALOG, type ToolName } from "../../tools/catalog.js";
import type { EnvironmentPolicy } from "../../tools/child-environment.js";
import { lackingTool } from "../../tools/habits/lacking.js";
import type { Searcher } from "../../tools/search/searcher.js";
import type { ToolPlace } from "../../tools/tool-place.js";
import type { WebFetchOptions } from "../../tools/web-fetch.js";
import type { ChangeObserver, PathGuard, Workspace } from "../../tools/workspace.js";

export interface ToolboxOptions {
  /** Free of symbolic links. */
  readonly root: string;
  /** Tells which of its tools the model gets. */
  readonly offers: (tool: ToolName, set: ToolSet) => boolean;
  readonly variables: Variables;
  /** Says which of them the commands of the model get. */
  readonly environmentPolicy?: EnvironmentPolicy | undefined;
  /** Of the terminal that the session works for; absent: that of the process. */
  readonly umask?: number | undefined;
  /** The folder for long outputs of commands. */
  readonly outputDirectory: string;
  /** The file tools reach that folder; permissions decide what they may do there. */
  readonly reachesOutputs?: true;
  /** Called when a file for a long output was created. */
  readonly onOutputFile?: () => void;
  /** Hosts that `web_fetch` may reach although they are not on the public internet. */
  readonly webHosts?: readonly string[];
  /** Says who resolves a name behind a proxy; `check` (default) refuses names that cannot be looked up here. */
  readonly webNames?: "check" | "proxy";
  /** The folder that commands see as `/tmp`; without it the file tools do not reach `/tmp`. */
  readonly temporary?: () => Promise<string | undefined>;
  /** The ports that listen in the network of the session's commands. */
  readonly ports?: () => Promise<readonly number[]>;
  /** Folders that the file tools use like the workspace, without links. */
  readonly extraRoots?: readonly string[];
  /** Absolute folders beside the workspace that commands may write to. */
  readonly writableFolders?: readonly string[];
  /** The default time limit of a command; `off` for none. */
  readonly commandTimeoutMs?: number | "off";
  /** Wraps commands in a sandbox. */
  readonly wrapCommand?: BashOptions["wrapCommand"];
  /** Variables that hooks add for commands. */
  readonly addedEnvironment?: BashOptions["addedEnvironment"];
  /** Called before every change to a file. */
  readonly observer?: ChangeObserver;
  /** Gets how many background commands run, whenever that changes. */
  readonly onBackground?: (running: number) => void;
  /** Names the files that need the user's permission. */
  readonly guard?: PathGuard;
}

export interface Toolbox extends ToolRegistry {
  workspace(): Promise<Workspace>;
  /** Loads a tool before its first call. */
  prepare(name: ToolName): Promise<unknown>;
  /** A built-in tool for a command of the user, even if the model does not have it. */
  open(name: ToolName): Promise<Tool>;
  background(): Promise<BackgroundCommands>;
  /** Counts the background commands that run. */
  inBackground(): number;
  close(): Promise<void>;
}

export function openToolbox(options: ToolboxOptions): Toolbox {
  const place = new Place(options);
  const names = (Object.keys(CATALOG) as ToolName[]).filter((name) => options.offers(name, CATALOG[name].set));
  const loaders = new Map(names.map((name) => [name, once(() => CATALOG[name].load(place))]));
  const offered = [...loaders].map(([name, load]) => lazyTool(name, load));
  const byName = new Map<string, Tool>(offered.map((tool) => [tool.name, tool]));
  return {
    list: () => offered,
    find: (name) => byName.get(name),
    lacks: lackingTool,
    workspace: place.workspace,
    prepare: async (name) => loaders.get(name)?.(),
    open: (name) => loaders.get(name)?.() ?? CATALOG[name].load(place),
    background: place.background,
    inBackground: () => place.inBackground,
    close: () => place.close(),
  };
}

class Place implements ToolPlace {
  readonly options: ToolboxOptions;
  readonly workspace: () => Promise<Workspace>;
  readonly searcher: () => Promise<Searcher>;
  readonly background: () => Promise<BackgroundCommands>;
  inBackground = 0;
  #background: Promise<BackgroundCommands> | undefined;

  constructor(options: ToolboxOptions) {
    this.options = options;
    this.workspace = once(async () => {
      const [{ Workspace }, { mkdir }] = await Promise.all([
        import("../../tools/workspace.js"),
        import("node:fs/promises"),
      ]);
      const { root, extraRoots = [], outputDirectory, observer, guard, umask } = options;
      const temporary = await options.temporary?.();
      const shared = { observer, guard, umask, temporary };
      if (options.reachesOutputs !== true) return Workspace.open(root, { ...shared, extraRoots });
      await mkdir(outputDirectory, { recursive: true, mode: 0o700 });
      return Workspace.open(root, { ...shared, extraRoots: [...extraRoots, outputDirectory] });
    });
    this.searcher = once(async () => {
      const { Searcher } = await import("../../tools/search/searcher.js");
      return new Searcher(await this.workspace(), { path: options.variables.PATH, avoid: [options.root] });
    });
    this.background = () => {
      this.#background ??= import("../../tools/background.js").then(
        ({ BackgroundCommands }) =>
          new BackgroundCommands(nodeClock, (running) => {
            this.inBackground = running;
            options.onBackground?.(running);
          }),
      );
      return this.#background;
    };
  }

  get ports() {
    return this.options.ports;
  }

  async commands(): Promise<BashOptions> {
    const [background, { QUIET_GIT_ENVIRONMENT }, { RedactingStream }] = await Promise.all([
      this.background(),
      import("../../security/shell/programs/quiet-git.js"),
      import("../../security/redact/redacting-stream.js"),
    ]);
    const { root, variables, outputDirectory, commandTimeoutMs, onOutputFile, wrapCommand, addedEnvironment } =
      this.options;
    const { writableFolders = [], environmentPolicy, umask } = this.options;
    return {
      ...{ workspaceRoot: root, environment: variables, environmentPolicy, umask, outputDirectory },
      createRedactor: () => new RedactingStream(),
      onOutputFile,
      background,
      writableFolders,
      // Reading git commands run without asking; this stops them from running programs of a repository's configuration.
      extraEnvironment: QUIET_GIT_ENVIRONMENT,
      ...(commandTimeoutMs !== undefined && { defaultTimeoutMs: commandTimeoutMs }),
      ...(wrapCommand && { wrapCommand }),
      ...(addedEnvironment && { addedEnvironment }),
    };
  }

  async web(): Promise<WebFetchOptions> {
    const [untrusted, { webServices }, { randomBytes }] = await Promise.all([
      import("../../security/untrusted/untrusted.js"),
      import("../web-services.js"),
      import("node:crypto"),
    ]);
    const mark = untrusted.createMark(randomBytes);
    return {
      ...webServices(this.options),
      wrap: (page) => untrusted.wrapUntrusted(page, mark),
      userAgent: `oxbow/${VERSION} (web_fetch)`,
    };
  }

  async close(): Promise<void> {
    await (await this.#background)?.close();
  }
}

/** Refuses what no system can open, before a person is asked about it. */
function pathProblems({ path }: JsonObject): readonly string[] {
  if (typeof path !== "string" || path.length <= MOST_PATH) return [];
  return [`"path" must have at most ${MOST_PATH} characters, got ${path.length}`];
}

function lazyTool(name: ToolName, load: () => Promise<Tool>): Tool {
  return {
    ...CATALOG[name],
    canonical: async (args) => (await (await load()).canonical?.(args)) ?? args,
    check: async (args) => {
      const problems = (await (await load()).check?.(args)) ?? schemaProblems(CATALOG[name].inputSchema, args);
      return problems.length > 0 ? problems : pathProblems(args);
    },
    run: async (args, context) => (await load()).run(args, context),
  };
}
