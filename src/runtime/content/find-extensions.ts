/** Searches a place for files that extend Oxbow, and keeps those that are approved. Asks no questions. */
import { basename, dirname, join, resolve } from "node:path";
import type { ExtensionFile, ExtensionKind } from "../../base/extension-files.js";
import type { TrustedItem } from "../../security/trust/content.js";
import { discoverContent } from "../../security/trust/discover.js";
import { passContent } from "../../security/trust/pass-content.js";
import { readTrusted, trustedCopies } from "../../security/trust/read-trusted.js";
import { EXTENSION_KINDS, extensionOptions, type ProjectContentOptions } from "./content-options.js";
import type { Found } from "./place-extensions.js";
import { gateOptions } from "./project-instructions.js";

export async function findExtensions(options: ProjectContentOptions): Promise<Found> {
  const first = await search(options, []);
  const isSourcesHook = ({ kind, name }: ExtensionFile) => kind === "hook" && name.startsWith("sources/");
  if (!first.files.some(isSourcesHook)) return first;
  const known = [...new Set(first.files.map(({ source }) => source))];
  const { runEarlyHooks } = await import("./early-hooks.js");
  const { sources } = await runEarlyHooks("sources", { sources: known }, { ...options, files: first.files });
  if (!Array.isArray(sources)) return first;
  const wanted = sources.filter((each) => typeof each === "string").map((each) => resolve(options.root, each));
  const extra = wanted.filter((folder) => !known.includes(folder));
  const all = extra.length === 0 ? first : await search(options, extra);
  return { ...all, files: all.files.filter(({ source }) => wanted.includes(source)) };
}

async function search(options: ProjectContentOptions, extra: readonly string[]): Promise<Found> {
  const found = await discoverContent({ ...extensionOptions(options), extra });
  const { person: _nobody, ...rest } = gateOptions(options);
  const { load, notes } = await passContent(found, { ...rest, skipUnapproved: true });
  return { files: extensionFiles(load, options), folders: found.folders ?? [], notes };
}

/** In the order they were found: the most global first. */
export function extensionFiles(
  items: readonly TrustedItem[],
  { loaded }: Pick<ProjectContentOptions, "loaded">,
): readonly ExtensionFile[] {
  const folder = join(loaded.roots.data, "programs");
  const groups = new Map<string, Group>();
  return items.flatMap((item): ExtensionFile[] => {
    const { kind, source = dirname(join(item.root, item.path)), name = basename(item.path) } = item;
    if (!isExtension(kind)) return [];
    const key = `${kind} ${source}`;
    const group = groups.get(key) ?? new Group(folder);
    groups.set(key, group);
    group.items.push(item);
    return [fileOf(item, { kind, source, name, group })];
  });
}

/** The files of one kind and folder: a program finds its approved companions beside it. */
class Group {
  readonly items: TrustedItem[] = [];
  readonly #folder: string;
  #copies: Promise<ReadonlyMap<TrustedItem, string>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async copyOf(item: TrustedItem): Promise<string> {
    this.#copies ??= trustedCopies(this.items, this.#folder);
    // A file that changed meanwhile must not disable the others for good.
    this.#copies.catch(() => {
      this.#copies = undefined;
    });
    const copy = (await this.#copies).get(item);
    if (copy === undefined) throw new Error(`${item.path} was not copied.`);
    return copy;
  }
}

interface Placed {
  readonly kind: ExtensionKind;
  readonly source: string;
  readonly name: string;
  readonly group: Group;
}

function fileOf(item: TrustedItem, { kind, source, name, group }: Placed): ExtensionFile {
  const { root, path, entry, owner, executable, sha256 } = item;
  return {
    kind,
    scope: owner,
    path: join(root, path),
    ...(entry !== undefined && { entry }),
    ...{ source, name, executable, sha256 },
    read: async () => new TextDecoder("utf-8").decode(await readTrusted(item)),
    program: () => group.copyOf(item),
  };
}

function isExtension(kind: string): kind is ExtensionKind {
  return (EXTENSION_KINDS as ReadonlySet<string>).has(kind);
}
