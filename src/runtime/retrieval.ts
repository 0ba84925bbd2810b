/**
 * Joins retrieval with what reads documents: the search for files, the web and redaction.
 *
 * The documents of files, folders, globs and addresses.
 *
 * 1. Folders and globs obey ignore files and follow no links. Version control, lock files, minified files, Oxbow's own folders and files that
 *    hold secrets by their name are left out; so are binary and very large files.
 * 2. Secrets in a text are taken out before it is stored or sent to an embedding model.
 * 3. Addresses are fetched through the guard of web_fetch: only the public internet, and hosts that the user allowed.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { formatBytes } from "../base/byte-size.js";
import type { Clock } from "../base/clock.js";
import { sensitiveReason } from "../base/sensitive-path.js";
import { isBinary } from "../base/text-or-binary.js";
import { UsageError } from "../base/usage-error.js";
import { VERSION } from "../base/version.js";
import { kindOf } from "../context/retrieval/chunk.js";
import { type RetrievalPort, retrievalCommands } from "../context/retrieval/commands.js";
import type { ReadDocument, SkippedDocument, SourceDocument } from "../context/retrieval/ingest.js";
import { type Documents, type FoundDocuments, Retrieval, type SourcePlace } from "../context/retrieval/stores.js";
import type { OpenShell, ShellPlace } from "../feature/command.js";
import { redact } from "../security/redact/redact.js";
import { decode } from "../tools/search/built-in-search.js";
import { globMatcher } from "../tools/search/glob-pattern.js";
import { ignoreTop } from "../tools/search/ignore-files.js";
import { walkTree } from "../tools/search/tree-walk.js";
import { FetchError } from "../tools/web/fetch-error.js";
import { fetchPage, USUAL_LIMITS } from "../tools/web/fetch-page.js";
import { pageText } from "../tools/web/page-text.js";
import type { Opening } from "./opening.js";
import { type WebServicesOptions, webServices } from "./web-services.js";

interface DocumentSourceOptions extends WebServicesOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Folders that are never read. */
  readonly hidden: readonly string[];
  /** Tells why the user's rules do not allow the file to be read. */
  readonly refusal?: (path: string) => Promise<string | undefined>;
}

function documents(options: Omit<DocumentSourceOptions, "signal">): Documents {
  return { readPlace, find: (place, signal) => findDocuments(place, { ...options, signal }) };
}

export function sessionDocuments({ engine, clock, built }: Opening): Documents {
  const { web_hosts, web_names } = engine.loaded.settings;
  const { variables, sessions } = engine;
  return documents({
    ...{ clock, variables, webHosts: web_hosts.value, webNames: web_names.value, hidden: sessions.ownFolders },
    refusal: async (path) => {
      const permissions = await built.get("permissions").parts();
      const asked = { tool: { name: "read", set: "read", mutating: false }, args: { path } } as const;
      const verdict = await permissions.engine.test(asked);
      return verdict.decision === "deny" && BINDING.has(verdict.law) ? verdict.reason : undefined;
    },
  });
}

/** Lists what the user's own word does not lift. */
const BINDING: ReadonlySet<string> = new Set(["path permission", "blocklist", "safe mode"]);

/** `oxbow rag`. */
export const openShell: OpenShell = async (place) => {
  const { port, close } = await openRetrieval(place);
  return { commands: retrievalCommands(async () => port), close };
};

/** Opens the stores without a session. On a full or read-only disk they can still be read. */
export async function openRetrieval(
  place: ShellPlace,
): Promise<{ readonly port: RetrievalPort; close(): Promise<void> }> {
  const { flags, variables, roots, clock, notify, key } = place;
  const [{ loadSettings }, { createModelRegistry }, { SessionStores }, root] = await Promise.all([
    import("./settings/settings.js"),
    import("./models/model-registry.js"),
    import("./sessions/session-stores.js"),
    place.root(),
  ]);
  const loaded = await loadSettings(flags, variables);
  const { settings } = loaded;
  const tables = { value: settings.providers.value, file: loaded.profilePath };
  const models = createModelRegistry({ variables, roots, tables });
  const retrieval = new Retrieval({
    ...{ settings, roots, key, redact, clock, root, warn: notify, isForReading: true },
    openEmbedder: (spec) => models.embedder(spec),
  });
  const { ownFolders } = new SessionStores({ settings, roots, variables, root, notify, hint: notify });
  const web = { variables, webHosts: settings.web_hosts.value, webNames: settings.web_names.value };
  const port = { retrieval, clock, documents: documents({ ...web, clock, hidden: ownFolders }) };
  return { port, close: () => retrieval.close() };
}

const MOST_IN_FOLDER = 4 * 1024 * 1024;
const MOST_NAMED = 64 * 1024 * 1024;
const PDF = "it is a PDF file, which Oxbow does not read; make text of it first, for example with pdftotext";
const GENERATED =
  /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock|go\.sum|.*\.min\.(?:js|css)|.*\.(?:map|snap|svg))$/i;

/** Tells what the user means by a word: an address, a pattern, a folder or a file. */
async function readPlace(word: string, base: string): Promise<SourcePlace> {
  if (/^https?:\/\//i.test(word)) {
    if (!URL.canParse(word)) throw new UsageError(`This is not a valid address: ${word}.`);
    return { kind: "url", place: new URL(word).href };
  }
  const path = resolve(
    base,
    word.replace(/^~(?=\/|$)/, () => homedir()),
  );
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined) {
    const real = await realpath(path);
    const isFolder = found.isSymbolicLink() ? (await lstat(real)).isDirectory() : found.isDirectory();
    return { kind: isFolder ? "folder" : "file", place: real };
  }
  if (/[*?[{]/.test(word)) {
    if (globMatcher(path) === undefined) throw new UsageError(`This is not a valid pattern: ${word}.`);
    return { kind: "glob", place: path };
  }
  throw new UsageError(`There is nothing at ${word}.`);
}

async function findDocuments({ kind, place }: SourcePlace, options: DocumentSourceOptions): Promise<FoundDocuments> {
  if (kind === "url") return { total: 1, documents: listed([pageDocument(place, options)]) };
  if (kind === "import") return { total: 0, documents: listed([]) };
  if (kind === "file") {
    const reason = sensitiveReason(place) ?? (isHidden(place, options) ? "it belongs to Oxbow" : undefined);
    if (reason !== undefined) throw new UsageError(`${place} is not read: ${reason}.`);
    return { total: 1, documents: listed([await fileDocument(place, { ...options, most: MOST_NAMED })]) };
  }
  const paths = await filesOf({ kind, place }, options);
  return { total: paths.length, documents: eachFile(paths, options) };
}

async function* listed(documents: readonly SourceDocument[]): AsyncGenerator<SourceDocument> {
  yield* documents;
}

async function* eachFile(paths: readonly string[], options: DocumentSourceOptions): AsyncGenerator<SourceDocument> {
  for (const path of paths) yield await fileDocument(path, { ...options, most: MOST_IN_FOLDER });
}

/** In the order of their paths, so that two runs do the same. */
async function filesOf({ kind, place }: SourcePlace, options: DocumentSourceOptions): Promise<readonly string[]> {
  const start = kind === "glob" ? fixedPart(place) : place;
  const matcher = kind === "glob" ? globMatcher(place) : undefined;
  const paths: string[] = [];
  const { signal } = options;
  await walkTree(start, { ...(await ignoreTop(start)), signal }, async ({ prefix, files }) => {
    for (const name of files) {
      const path = join(start, prefix, name);
      const isMeant = matcher === undefined ? !GENERATED.test(name) : matcher.test(path);
      if (isMeant && sensitiveReason(path) === undefined && !isHidden(path, options)) paths.push(path);
    }
  });
  return paths.sort();
}

/** The folder above the first name with a special character. */
function fixedPart(pattern: string): string {
  const special = pattern.search(/[*?[{\\]/);
  return dirname(`${pattern.slice(0, special)}x`);
}

function isHidden(path: string, { hidden }: Pick<DocumentSourceOptions, "hidden">): boolean {
  return hidden.some((folder) => path === folder || path.startsWith(folder + sep));
}

type FileOptions = DocumentSourceOptions & { readonly most: number };

async function fileDocument(path: string, options: FileOptions): Promise<SourceDocument> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  return {
    path,
    stamp: stat === undefined ? "" : `${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`,
    read: () => readFileDocument(path, options),
  };
}

async function readFileDocument(path: string, options: FileOptions): Promise<ReadDocument | SkippedDocument> {
  const refused = await options.refusal?.(path);
  if (refused !== undefined) return { skipped: refused };
  let handle: FileHandle | undefined;
  try {
    // Neither a link nor a pipe that has come into its place.
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stat = await handle.stat();
    if (!stat.isFile()) return { skipped: "it is not a file" };
    if (stat.size > options.most)
      return { skipped: `it has ${formatBytes(stat.size)}, more than ${formatBytes(options.most)}` };
    const bytes = await handle.readFile();
    const isWide = bytes[0] === 0xff || bytes[0] === 0xfe;
    if (bytes.subarray(0, 5).toString("latin1") === "%PDF-") return { skipped: PDF };
    if (!isWide && isBinary(bytes)) return { skipped: "it is binary" };
    return { ...(await textOf(path, bytes)), sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    return { skipped: (error as Error).message };
  } finally {
    await handle?.close();
  }
}

async function textOf(path: string, bytes: Buffer): Promise<Pick<ReadDocument, "text" | "kind">> {
  const text = decode(bytes);
  const kind = kindOf(basename(path));
  if (!/\.x?html?$/i.test(path)) return { text: redact(text), kind };
  const { htmlToMarkdown } = await import("../tools/web/html/html-to-markdown.js");
  return { text: redact(htmlToMarkdown(text, { url: pathToFileURL(path), format: "markdown" }).text), kind };
}

function pageDocument(address: string, options: DocumentSourceOptions): SourceDocument {
  const read = async (): Promise<ReadDocument | SkippedDocument> => {
    try {
      const services = { ...webServices(options), clock: options.clock, limits: USUAL_LIMITS };
      const userAgent = `oxbow/${VERSION} (rag ingest)`;
      const page = await fetchPage({ ...services, userAgent }, address, options.signal);
      if (page.kind === "redirect") return { skipped: `it redirects to another site: ${page.target}`, stays: true };
      if (page.status >= 400) return { skipped: `the server answered HTTP ${page.status}`, stays: true };
      const { text } = await pageText(page, "markdown");
      const sha256 = createHash("sha256").update(page.bytes).digest("hex");
      return { text: redact(text), kind: /html|markdown/.test(page.contentType) ? "markdown" : "text", sha256 };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      return { skipped: error.message, stays: true };
    }
  };
  return { path: address, stamp: "", read };
}
