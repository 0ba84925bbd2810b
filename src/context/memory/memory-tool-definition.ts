/** The tool by which the model keeps notes, without its code. */
import type { Tool } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import description from "./memory-tool.md";

export const MEMORY_TOOL: Omit<Tool, "run"> = {
  name: "memory",
  description: description.trim(),
  set: "edit",
  concurrencySafe: false,
  mutating: true,
  ownResults: true,
  onlyReads: ({ action }) => action === "find",
  describe: describeMemory,
  habits: {
    names: [
      "save_memory",
      "remember",
      "store_memory",
      "create_memory",
      "write_memory",
      "memory_save",
      "add_memory",
      "search_memory",
      "read_memory",
    ],
    parameters: {
      action: ["operation", "command"],
      content: ["fact", "text", "memory", "note", "value", "query", "facts"],
      name: ["key", "title"],
    },
    values: {
      action: {
        add: "save",
        create: "save",
        store: "save",
        write: "save",
        delete: "forget",
        remove: "forget",
        search: "find",
        read: "find",
        get: "find",
      },
      scope: { global: "user", workspace: "project" },
    },
    convert(args, called) {
      if (args.action !== undefined) return undefined;
      return { args: { ...args, action: /^(?:search|read)/.test(called) ? "find" : "save" } };
    },
  },
  inputSchema: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["save", "update", "forget", "find"] },
      name: { type: "string" },
      description: { type: "string", description: "one line" },
      content: { type: "string" },
      type: { type: "string", enum: ["user", "feedback", "project", "reference"] },
      scope: { type: "string", enum: ["user", "project"], description: "user: for every folder" },
    },
    required: ["action"],
  },
};

function describeMemory({ action, name, content, description: line, scope, type }: JsonObject): string {
  const text = content ?? line ?? "";
  if (action === "forget") return `Forget the note ${name}`;
  if (action === "update") return `Change the note ${name}: ${text}`;
  if (action !== "save") return `Look for a note: ${text}`;
  return `Remember, for ${scopeOf(scope, type) === "user" ? "all projects" : "this project"}: ${text}`;
}

/** Notes about a person or their feedback hold everywhere. */
export function scopeOf(scope: unknown, type: unknown): "user" | "project" {
  if (scope === "user" || scope === "project") return scope;
  return type === "user" || type === "feedback" ? "user" : "project";
}
