/** Collects the facts about a call for a decision. Other features (the workspace, the patch parser) come in as ports. */
import { posix } from "node:path";
import type { Tool } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import type { CommandReader } from "./command-reader.js";
import type { CommandFacts, DecisionFacts, Identity, PathAccess, PathFacts, ToolFacts } from "./facts.js";
import { spelledPath } from "./spelled-path.js";

export interface TouchedPath {
  readonly path: string;
  readonly access: PathAccess;
}

type ResolvedFacts = Pick<PathFacts, "absolute" | "display" | "sensitive" | "guarded">;

export interface FactPorts {
  /** Absolute, with forward slashes. */
  readonly workspace: string;
  /** As `Workspace.resolve`: rejects with an error whose `code` is `outside` or `missing`. */
  resolve(path: string, access: "read" | "write"): Promise<ResolvedFacts>;
  /** The files of an `apply_patch` text; empty when it cannot be read. */
  patchPaths(patch: string): readonly TouchedPath[];
  /** Loads the shell parser the first time. */
  commandReader(): Promise<CommandReader>;
  /** Tells why the user should agree first, by the spelling of a path relative to the workspace (`protection` of the file tools). */
  protection(path: string, access: "read" | "write"): string | undefined;
  /** Tells why a change needs the user, wherever its links lead. Absolute. */
  guarded?(path: string): Promise<string | undefined>;
  /** Tells whether it is one of Oxbow's own files, by identity, not by name. Absolute. */
  isOwn?(path: string): Promise<boolean>;
  /** Extensions are all tools that are not built in. */
  isBuiltIn(tool: Pick<Tool, "name">): boolean;
}

export interface Circumstances {
  readonly originator: Identity;
  readonly sandboxed: boolean;
  readonly contained?: boolean;
  readonly planMode: DecisionFacts["planMode"];
}

type CalledTool = Pick<Tool, "name" | "set" | "kind" | "mutating" | "extension" | "onlyReads">;

export async function collectFacts(
  call: { readonly tool: CalledTool; readonly args: JsonObject },
  circumstances: Circumstances,
  ports: FactPorts,
): Promise<DecisionFacts> {
  const { args } = call;
  const tool = toolFacts(call, ports);
  const readsCommand = tool.set === "command" && typeof args.command === "string";
  const read = readsCommand ? (await ports.commandReader())(args.command as string) : undefined;
  const command = read && (await withKnownFiles(read, ports));
  const paths = await knownFiles(await pathsOf(tool, args, ports), ports);
  return { tool, args, paths, ...circumstances, ...(command !== undefined && { command }) };
}

/** The facts about a command by its words alone, for what is denied whatever the disk holds. Undefined for other calls. */
export async function commandFactsByWords(
  call: { readonly tool: CalledTool; readonly args: JsonObject },
  circumstances: Circumstances,
  ports: FactPorts,
): Promise<DecisionFacts | undefined> {
  const { args } = call;
  const tool = toolFacts(call, ports);
  if (tool.set !== "command" || typeof args.command !== "string") return undefined;
  const command = (await ports.commandReader()).byWords?.(args.command);
  return command && { tool, args, paths: [], command, ...circumstances };
}

/**
 * The facts by spelling alone, for a quick guess: whether the user might be asked. Undefined for calls whose
 * facts need more than that.
 */
export function spelledFacts(
  call: { readonly tool: CalledTool; readonly args: JsonObject },
  circumstances: Circumstances,
  ports: FactPorts,
): DecisionFacts | undefined {
  const { args } = call;
  const tool = toolFacts(call, ports);
  if (tool.origin === "extension" || tool.mutating) return undefined;
  const wanted = tool.set === "read" ? wantedPath(tool, args) : undefined;
  if (wanted === undefined) return { tool, args, paths: [], ...circumstances };
  const path = spelledPath(posix.resolve(ports.workspace, wanted), "read", ports.workspace);
  const sensitive = ports.protection(path.display, "read");
  return { tool, args, paths: [{ ...path, ...(sensitive !== undefined && { sensitive }) }], ...circumstances };
}

/** Words beyond these are judged by their spelling. */
const MAX_KNOWN = 256;

async function withKnownFiles(command: CommandFacts, ports: FactPorts): Promise<CommandFacts> {
  const parts = command.parts.map(async (part) => ({ ...part, paths: await knownFiles(part.paths, ports) }));
  return { ...command, parts: await Promise.all(parts) };
}

/** Adds what the disk shows about the paths. */
async function knownFiles(paths: readonly PathFacts[], ports: FactPorts): Promise<readonly PathFacts[]> {
  const looked = paths.slice(0, MAX_KNOWN).map(async (path): Promise<PathFacts> => {
    const own = (await ports.isOwn?.(path.absolute)) === true;
    const asks = path.guarded === undefined && (path.runs || path.access === "write" || path.access === "delete");
    const guarded = asks ? await ports.guarded?.(path.absolute) : undefined;
    return { ...path, ...(own && { own }), ...(guarded !== undefined && { guarded }) };
  });
  return [...(await Promise.all(looked)), ...paths.slice(MAX_KNOWN)];
}

function toolFacts(
  { tool, args }: { readonly tool: CalledTool; readonly args: JsonObject },
  ports: FactPorts,
): ToolFacts {
  const { name, set, kind, extension } = tool;
  const origin = extension === undefined && ports.isBuiltIn({ name }) ? "built-in" : "extension";
  const mutating = tool.mutating && !(origin === "built-in" && tool.onlyReads?.(args) === true);
  return { name, set, mutating, origin, ...(kind !== undefined && { kind }), ...(set === "web" && { network: true }) };
}

async function pathsOf(tool: ToolFacts, args: JsonObject, ports: FactPorts): Promise<readonly PathFacts[]> {
  if (tool.origin === "extension") return namedPaths(args, tool.mutating ? "write" : "read", ports.workspace);
  if (tool.set !== "read" && tool.set !== "edit") return [];
  if (typeof args.patch === "string")
    return Promise.all(ports.patchPaths(args.patch).map((path) => locate(path, ports)));
  const path = wantedPath(tool, args);
  if (path === undefined) return [];
  const found = await locate({ path, access: tool.set === "edit" ? "write" : "read" }, ports);
  return [tool.kind === "search" ? { ...found, recursive: true } : found];
}

function wantedPath({ kind }: ToolFacts, { path }: JsonObject): string | undefined {
  const folderByDefault = kind === "search" || kind === "list" ? "." : undefined;
  return typeof path === "string" ? path : folderByDefault;
}

async function locate({ path, access }: TouchedPath, ports: FactPorts): Promise<PathFacts> {
  const mode = access === "read" ? "read" : "write";
  try {
    return { ...(await resolveOrMissing(path, mode, ports)), access, place: "workspace" };
  } catch (error) {
    const outside = codeOf(error) === "outside";
    const lexical = spelledPath(posix.resolve(ports.workspace, path), access, ports.workspace);
    // The tool itself reports any other problem with the path, if it still exists then.
    return outside ? { ...lexical, display: path, place: "unreachable" } : lexical;
  }
}

/** A missing file may exist when the tool opens it, so it is judged like a file that is created there. */
async function resolveOrMissing(path: string, mode: "read" | "write", ports: FactPorts) {
  try {
    return await ports.resolve(path, mode);
  } catch (error) {
    if (mode === "write" || codeOf(error) !== "missing") throw error;
    return await ports.resolve(path, "write");
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

const NAMES_A_PATH = /path|file|dir|folder|uri/i;

/** Arguments of an extension with the name of a path. */
function namedPaths(args: JsonObject, access: PathAccess, workspace: string): readonly PathFacts[] {
  return Object.entries(args).flatMap(([name, value]) => {
    if (!NAMES_A_PATH.test(name)) return [];
    const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
    return texts.map((text) => {
      const path = text.replace(/^file:\/\//, "");
      return spelledPath(posix.resolve(workspace, path), access, workspace);
    });
  });
}
