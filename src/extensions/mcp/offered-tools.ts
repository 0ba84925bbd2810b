/**
 * Describes what a server offers, made safe to keep and to compare.
 *
 * 1. A tool that cannot be used is left out and reported; the others stay.
 * 2. The fingerprint covers everything of a tool that the model reads or that decides what is sent.
 */
import { createHash } from "node:crypto";
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";
import { usableSchema } from "./schemas.js";
import type { ServerConfig } from "./server-config.js";

export interface OfferedTool {
  /** As the server calls it. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The server says that it only reads. */
  readonly readOnlyHint: boolean;
  /** It runs as a task that is asked about until it has ended. */
  readonly needsTask: boolean;
  readonly fingerprint: string;
}

/** As it comes over the wire. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?:
    | { readonly readOnlyHint?: boolean | undefined; readonly title?: string | undefined }
    | undefined;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
}

/** The name under which the words of a server about itself are compared. No tool has it. */
export const INSTRUCTIONS = "(instructions)";

const MOST_TOOLS = 1000;
const MOST_NAME = 256;
const MOST_DESCRIPTION = 2048;

export interface OfferedTools {
  readonly tools: readonly OfferedTool[];
  /** End the sentence "The MCP server 'NAME' …". */
  readonly problems: readonly string[];
}

export function offeredTools(listed: readonly ListedTool[], config: ServerConfig): OfferedTools {
  const problems: string[] = [];
  const tools = new Map<string, OfferedTool>();
  if (listed.length > MOST_TOOLS) problems.push(`lists ${listed.length} tools; only the first ${MOST_TOOLS} are used`);
  for (const tool of listed.slice(0, MOST_TOOLS)) {
    const { name } = tool;
    if (typeof name !== "string" || name === "" || name === INSTRUCTIONS || name.length > MOST_NAME) {
      problems.push("lists a tool without a usable name");
      continue;
    }
    if (!isWanted(name, config)) continue;
    if (tools.has(name)) {
      problems.push(`lists the tool '${safeLine(name)}' twice; the second one is left out`);
      continue;
    }
    try {
      tools.set(name, offeredTool(tool));
    } catch (error) {
      problems.push(`lists the tool '${safeLine(name)}', which is left out: its schema ${(error as Error).message}`);
    }
  }
  return { tools: [...tools.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), problems };
}

/** Tells whether the entry of the server leaves the tool in. */
export function isWanted(name: string, { enabledTools, disabledTools }: ServerConfig): boolean {
  return (enabledTools === undefined || enabledTools.includes(name)) && !disabledTools.includes(name);
}

function offeredTool({ name, title, description = "", inputSchema, outputSchema, annotations, execution }: ListedTool) {
  const schema = usableSchema(inputSchema ?? { type: "object" });
  const shownTitle = title ?? annotations?.title;
  const text = typeof description === "string" ? safeText(description).trim() : "";
  const canonical = JSON.stringify(
    [name, shownTitle, description, inputSchema, outputSchema, annotations, execution].map((part) => sorted(part)),
  );
  return {
    name,
    ...(typeof shownTitle === "string" && { title: safeLine(shownTitle).slice(0, 100) }),
    description: text.length > MOST_DESCRIPTION ? `${text.slice(0, MOST_DESCRIPTION)}…` : text,
    inputSchema: schema,
    readOnlyHint: annotations?.readOnlyHint === true,
    needsTask: execution?.taskSupport === "required",
    fingerprint: createHash("sha256").update(canonical).digest("hex"),
  };
}

/** The order of keys is no change. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value ?? null;
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, sorted((value as Readonly<Record<string, unknown>>)[key])]);
}
