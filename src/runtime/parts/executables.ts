/**
 * Programs that people put into folders: tools and hooks, in any language. They are searched for again before each iteration; a session
 * without such files loads none of this.
 */
import { join } from "node:path";
import type { ExtensionFiles } from "../../base/extension-files.js";
import type { Tool } from "../../engine/ports.js";
import type { Containment } from "../../extensions/executable/containment.js";
import { CATALOG } from "../../tools/catalog.js";
import { TOOL_ALIASES } from "../../tools/tool-aliases.js";
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";

const DEFAULT_TIMEOUT_MS = 300_000;

export class Executables {
  readonly #opening: Opening;
  readonly #files: ExtensionFiles;
  readonly #told = new Set<string>();
  #containment: Promise<Containment> | undefined;
  #tools: readonly Tool[] = [];
  #isFirst = true;
  /** A call may have changed a file in place. */
  #mayHaveChanged = true;

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#files = opening.extensions;
  }

  part(): SessionPart {
    return {
      name: "executables",
      tools: () => this.#tools,
      refresh: () => this.refresh(),
      subscribers: [
        {
          name: "60-extensions",
          run: ({ kind, payload }) => {
            if (kind === "TurnStarted") this.#mayHaveChanged = true;
            if (kind === "ToolResult") this.#noteCall((payload as { readonly tool: string }).tool);
          },
        },
      ],
    };
  }

  /** Never throws: a session works without its extensions, too. */
  async refresh(): Promise<void> {
    try {
      const depth = this.#mayHaveChanged ? "files" : "folders";
      this.#mayHaveChanged = false;
      const changed = await this.#files.refresh(depth);
      if (!changed && !this.#isFirst) return;
      this.#isFirst = false;
      await this.#load();
    } catch (error) {
      this.report(`The extensions could not be searched: ${(error as Error).message}`);
    }
  }

  /** Once for each message. */
  report(problem: string): void {
    if (this.#told.has(problem)) return;
    this.#told.add(problem);
    this.#opening.engine.notify(problem);
  }

  async #load(): Promise<void> {
    const tools = this.#files.of("tool");
    if (tools.length === 0) {
      this.#tools = [];
      return;
    }
    const { executableTools } = await import("../../extensions/executable/tools.js");
    const { settings, roots } = this.#opening.engine.loaded;
    this.#tools = await executableTools(tools, {
      containment: await this.containment(),
      folder: join(roots.data, "programs", "answers"),
      isBuiltIn: isBuiltInTool,
      timeoutMs: settings.run_timeout_ms.value ?? DEFAULT_TIMEOUT_MS,
      report: (problem) => this.report(problem),
    });
  }

  containment(): Promise<Containment> {
    const { engine, root, clock, session, built } = this.#opening;
    this.#containment ??= import("./containment.js").then(({ containmentOf }) =>
      containmentOf({ ...engine, root, clock, session, sandbox: built.get("sandbox") }),
    );
    return this.#containment;
  }

  #noteCall(tool: string): void {
    const { built } = this.#opening;
    if (built.get("toolbox").find(tool)?.mutating !== false) this.#mayHaveChanged = true;
  }
}

/** In any spelling: people and models do not tell `Bash` from `bash`. */
export function isBuiltInTool(name: string): boolean {
  const wanted = name.toLowerCase();
  return [...Object.keys(CATALOG), ...Object.keys(TOOL_ALIASES)].some((known) => known.toLowerCase() === wanted);
}
