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
import { WEB_FETCH } from "./web/definition.js";
import write from "./write.md";

export interface ToolDefinition extends Omit<Tool, "run" | "canonical"> {
  /** Typical calls, for `oxbow tools`: a reading and a changing one if it can do both. */
  readonly samples?: readonly JsonObject[];
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
  },
  ls: {
    name: "ls",
    samples: [{}],
    expendable: true,
    habits: LS,
    description: ls.trim(),
    set: "read",
    ...READS,
    inputSchema: { type: "object", properties: { path: string, depth: { type: "integer", minimum: 1 } } },
  },
  glob: {
    name: "glob",
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
  },
  grep: {
    name: "grep",
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
  },
  write: {
    name: "write",
    samples: [{ path: "notes.txt", content: "" }],
    habits: WRITE,
    description: write.trim(),
    set: "edit",
    ...CHANGES,
    ownResults: true,
    inputSchema: { type: "object", properties: { path: string, content: string }, required: ["path", "content"] },
  },
  edit: {
    name: "edit",
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
  },
  apply_patch: {
    name: "apply_patch",
    samples: [{ patch: "*** Begin Patch\n*** Add File: notes.txt\n+a\n*** End Patch" }],
    habits: APPLY_PATCH,
    description: applyPatch.trim(),
    set: "edit",
    ...CHANGES,
    replacedBy: { tool: "edit", models: (model) => !knowsPatches(model) },
    inputSchema: { type: "object", properties: { patch: string }, required: ["patch"] },
    freeform: { parameter: "patch", grammar: PATCH_GRAMMAR },
  },
  bash: {
    name: "bash",
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
  },
  background: {
    name: "background",
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
  },
  todo: {
    name: "todo",
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
  },
  web_fetch: WEB_FETCH,
} as const satisfies Readonly<Record<string, ToolDefinition>>;

export type ToolName = keyof typeof CATALOG;
