/**
 * The descriptions of the built-in tools, separate from their code: the first request needs only these, and the first call of a
 * tool loads its code. Every request pays for every byte here,
 * except for `habits`: the names that other harnesses use, in `habits/`.
 */
import type { Tool } from "../engine/ports.js";
import type { JsonObject } from "../protocol/json.js";
import applyPatch from "./apply-patch.md";
import background from "./background.md";
import bash from "./bash.md";
import edit from "./edit.md";
import glob from "./glob.md";
import grep from "./grep.md";
import { BACKGROUND_HABITS, BASH } from "./habits/commands.js";
import { TODO } from "./habits/plans.js";
import { GLOB, GREP, LS, READ } from "./habits/reading.js";
import { APPLY_PATCH, EDIT, WRITE } from "./habits/writing.js";
import ls from "./ls.md";
import { PATCH_GRAMMAR } from "./patch/grammar.js";
import read from "./read.md";
import todo from "./todo.md";
import type { ToolPlace } from "./tool-place.js";
import { WEB_FETCH } from "./web/definition.js";
import write from "./write.md";

export interface ToolDefinition extends Omit<Tool, "run" | "canonical"> {
  /** Typical calls, for `oxbow tools`: a reading and a changing one if it can do both. */
  readonly samples?: readonly JsonObject[];
}

/** A tool of the catalogue; its code is loaded at its first call. */
interface CatalogTool extends ToolDefinition {
  readonly load: (place: ToolPlace) => Promise<Tool>;
}

const READS = { concurrencySafe: true, mutating: false } as const;
const CHANGES = { concurrencySafe: false, mutating: true } as const;

/** Families that were trained on patches in this format. */
const PATCHES = /(?:^|\/)(?:gpt-(?:4\.1|[5-9]|oss)|codex|o[34](?:-|$))/i;
const knowsPatches = (model: string) => PATCHES.test(model);

const string = { type: "string" } as const;
const boolean = { type: "boolean" } as const;
const described = <T extends object>(schema: T, description: string) => ({ ...schema, description });

/** In the order in which they are offered. */
export const CATALOG = {
  read: {
    name: "read",
    kind: "read",
    samples: [{ path: "notes.txt" }],
    habits: READ,
    description: read.trim(),
    set: "read",
    ...READS,
    pages: true,
    inputSchema: {
      type: "object",
      properties: { path: string, offset: { type: "integer", minimum: 1 }, limit: { type: "integer", minimum: 1 } },
      required: ["path"],
    },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./read.js")).createReadTool(await place.workspace()),
  },
  ls: {
    name: "ls",
    kind: "list",
    samples: [{}],
    expendable: true,
    habits: LS,
    description: ls.trim(),
    set: "read",
    ...READS,
    inputSchema: { type: "object", properties: { path: string, depth: { type: "integer", minimum: 1 } } },
    load: async (place: ToolPlace): Promise<Tool> => (await import("./ls.js")).createLsTool(await place.workspace()),
  },
  glob: {
    name: "glob",
    kind: "search",
    samples: [{ pattern: "*.txt" }],
    habits: GLOB,
    description: glob.trim(),
    set: "read",
    ...READS,
    inputSchema: {
      type: "object",
      properties: { pattern: string, path: described(string, "folder to start in") },
      required: ["pattern"],
    },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./glob.js")).createGlobTool(await place.workspace(), await place.searcher()),
  },
  grep: {
    name: "grep",
    kind: "search",
    samples: [{ pattern: "word" }],
    habits: GREP,
    description: grep.trim(),
    set: "read",
    ...READS,
    inputSchema: {
      type: "object",
      properties: {
        pattern: string,
        path: described(string, "file or folder"),
        glob: described(string, "only files like *.ts"),
        mode: { type: "string", enum: ["content", "files", "count"] },
        context: { type: "integer", description: "lines around each match" },
        ignore_case: boolean,
        multiline: described(boolean, "match across lines"),
        limit: { type: "integer" },
      },
      required: ["pattern"],
    },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./grep.js")).createGrepTool(await place.workspace(), await place.searcher()),
  },
  write: {
    name: "write",
    kind: "edit",
    samples: [{ path: "notes.txt", content: "" }],
    habits: WRITE,
    description: write.trim(),
    set: "edit",
    ...CHANGES,
    ownResults: true,
    inputSchema: { type: "object", properties: { path: string, content: string }, required: ["path", "content"] },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./write.js")).createWriteTool(await place.workspace()),
  },
  edit: {
    name: "edit",
    kind: "edit",
    samples: [{ path: "notes.txt", edits: [{ old: "a", new: "b" }] }],
    habits: EDIT,
    description: edit.trim(),
    set: "edit",
    ...CHANGES,
    replacedBy: { tool: "apply_patch", models: knowsPatches },
    inputSchema: {
      type: "object",
      properties: {
        path: string,
        edits: {
          type: "array",
          minItems: 1,
          items: { type: "object", properties: { old: string, new: string, all: boolean }, required: ["old", "new"] },
        },
      },
      required: ["path", "edits"],
    },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./edit.js")).createEditTool(await place.workspace()),
  },
  apply_patch: {
    name: "apply_patch",
    kind: "edit",
    samples: [{ patch: "*** Begin Patch\n*** Add File: notes.txt\n+a\n*** End Patch" }],
    habits: APPLY_PATCH,
    description: applyPatch.trim(),
    set: "edit",
    ...CHANGES,
    replacedBy: { tool: "edit", models: (model) => !knowsPatches(model) },
    inputSchema: { type: "object", properties: { patch: string }, required: ["patch"] },
    freeform: { parameter: "patch", grammar: PATCH_GRAMMAR },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./apply-patch.js")).createApplyPatchTool(await place.workspace()),
  },
  bash: {
    name: "bash",
    kind: "run",
    samples: [{ command: "ls" }, { command: "make" }, { command: "curl https://example.com" }],
    habits: BASH,
    description: bash.trim(),
    set: "command",
    ...CHANGES,
    inputSchema: {
      type: "object",
      properties: {
        command: string,
        timeout: { type: "number", description: "seconds, default 300" },
        description: described(string, "what it does, briefly"),
        run_in_background: boolean,
        pty: described(boolean, "run on a terminal"),
        allow: described({ enum: ["network", "git", "unix_sockets", "secrets"] }, "opens the sandbox; asks"),
        outside_sandbox: described(boolean, "asks"),
        writable: { type: "array", items: string },
      },
      required: ["command"],
    },
    load: async (place: ToolPlace): Promise<Tool> => (await import("./bash.js")).createBashTool(await place.commands()),
  },
  background: {
    name: "background",
    comesWith: "bash",
    samples: [{ action: "list" }],
    expendable: true,
    habits: BACKGROUND_HABITS,
    description: background.trim(),
    set: "command",
    ...CHANGES,
    inputSchema: {
      type: "object",
      properties: {
        id: string,
        kill: boolean,
        wait: { type: "number", description: "seconds to wait for its end" },
      },
    },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./background.js")).createBackgroundTool(await place.background(), place.ports),
  },
  todo: {
    name: "todo",
    kind: "plan",
    expendable: true,
    habits: TODO,
    description: todo.trim(),
    set: "read",
    ...READS,
    ownResults: true,
    inputSchema: {
      type: "object",
      properties: {
        todos: {
          type: "array",
          items: {
            type: "object",
            properties: { text: string, status: { enum: ["pending", "in_progress", "done"] } },
            required: ["text", "status"],
          },
        },
      },
      required: ["todos"],
    },
    load: async (): Promise<Tool> => (await import("./todo.js")).createTodoTool(),
  },
  web_fetch: {
    ...WEB_FETCH,
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./web-fetch.js")).createWebFetchTool(await place.web()),
  },
} as const satisfies Readonly<Record<string, CatalogTool>>;

export type ToolName = keyof typeof CATALOG;
