/** A folder with files, the real tools over it, and the offline model in the real loop. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TurnResult } from "../../src/engine/loop.js";
import type { Tool, ToolSet } from "../../src/engine/ports.js";
import { createOfflineModel } from "../../src/providers/offline/model.js";
import type { PermissionMode } from "../../src/security/permissions/gate.js";
import { createBashTool } from "../../src/tools/bash.js";
import { createEditTool } from "../../src/tools/edit.js";
import { createFileTools } from "../../src/tools/file-tools.js";
import { Workspace } from "../../src/tools/workspace.js";
import { testEngine } from "../support/engine.js";

export interface SceneOptions {
  readonly sets?: readonly ToolSet[];
  readonly mode?: PermissionMode;
  /** Tools to leave out by name. */
  readonly without?: readonly string[];
  /** Search without ripgrep. */
  readonly ripgrep?: false;
}

export interface Scene {
  readonly root: string;
  ask(prompt: string): Promise<string>;
  /** The whole outcome of the newest turn. */
  readonly last: TurnResult | undefined;
  /** Tools called in the newest turn, in order. */
  calls(): readonly string[];
  file(path: string): Promise<string>;
  close(): Promise<void>;
}

const ALL_SETS: readonly ToolSet[] = ["read", "edit", "command"];

export async function openScene(files: Readonly<Record<string, string>>, options: SceneOptions = {}): Promise<Scene> {
  const root = await mkdtemp(join(tmpdir(), "oxbow-offline-"));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const scene = await openSceneIn(root, options);
  return {
    ...scene,
    get last() {
      return scene.last;
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

export async function openSceneIn(root: string, options: SceneOptions = {}): Promise<Scene> {
  const tools = await realTools(root, options);
  const engine = testEngine({ model: createOfflineModel(), tools, mode: options.mode ?? "allow" });
  let last: TurnResult | undefined;
  let from = 0;
  return {
    root,
    async ask(prompt) {
      from = engine.events.length;
      last = await engine.turn(prompt);
      return last.text;
    },
    get last() {
      return last;
    },
    calls: () =>
      engine.events.slice(from).flatMap((event) => (event.kind === "ToolCallStarted" ? [event.payload.tool] : [])),
    file: (path) => readFile(join(root, path), "utf8"),
    close: async () => {},
  };
}

async function realTools(root: string, options: SceneOptions): Promise<readonly Tool[]> {
  const workspace = await Workspace.open(root);
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME };
  const place = { workspaceRoot: workspace.root, environment };
  const search = options.ripgrep === false ? { ripgrep: false as const } : { path: environment.PATH };
  const all: readonly Tool[] = [
    ...createFileTools(workspace, search),
    createEditTool(workspace),
    createBashTool({ ...place, outputDirectory: join(tmpdir(), "oxbow-offline-outputs") }),
  ];
  const sets = options.sets ?? ALL_SETS;
  return all.filter((tool) => sets.includes(tool.set) && options.without?.includes(tool.name) !== true);
}
