/** Describes what `oxbow help` says about the extensions in folders: their names, and what they say about themselves once they are approved. */
import { join } from "node:path";
import type { ExtensionFile, ExtensionKind } from "../../base/extension-files.js";
import { safeLine } from "../../base/terminal-text.js";
import { programName } from "../../extensions/executable/chosen-files.js";
import { chosenCommands } from "../../extensions/executable/commands.js";
import type { IntrospectOptions } from "../../extensions/executable/introspect.js";
import { labelOf } from "../../security/trust/content.js";
import type { ListedExtension } from "../../security/trust/list-extensions.js";
import { listExtensions } from "../content/find-extensions.js";
import { ProjectContent } from "../content/project-content.js";
import { withContainment } from "../parts/containment.js";
import { type SourcesPlace, shownPath } from "./sources.js";

const MOST_NAMES = 8;
const MOST_DESCRIBED = 20;
const PROGRAMS = ["command", "tool", "provider"] as const satisfies ExtensionKind[];
const TEXTS = ["prompt", "agent", "skill"] as const satisfies ExtensionKind[];
const DESCRIBED: readonly ExtensionKind[] = [...PROGRAMS, ...TEXTS];

export interface FoundCommand {
  readonly name: string;
  readonly about: string;
  readonly path: string;
}

export interface Found {
  /** For the help, a line each. */
  readonly lines: readonly string[];
  /** The programs that run as `oxbow NAME`, also instead of a built-in command. */
  readonly commands: readonly FoundCommand[];
}

export async function foundHere(place: SourcesPlace, isBuiltIn: (name: string) => boolean): Promise<Found> {
  const { items } = await listExtensions(place);
  const shown = items.filter(({ kind, shadowedBy }) => kind !== "skill-file" && shadowedBy === undefined);
  if (shown.length === 0) return { lines: [], commands: [] };
  const { about, files } = await descriptions(place);
  const labels = [...new Set(shown.map(({ kind }) => labelOf(kind)))];
  const width = Math.max(...labels.map((label) => label.length));
  const lines = labels.flatMap((label) => {
    const rows = linesOf(
      shown.filter(({ kind }) => labelOf(kind) === label),
      about,
    );
    return rows.map((row, index) => `${(index === 0 ? label : "").padEnd(width)}  ${row}`);
  });
  const commands = chosenCommands(files("command"), { isBuiltIn, report: () => {} }).map(({ name, file }) => ({
    name,
    about: about.get(file.path) ?? "",
    path: shownPath(file.path, place),
  }));
  return { lines, commands };
}

/** One line for each extension that can describe itself; the names of the others share one. */
function linesOf(items: readonly ListedExtension[], about: ReadonlyMap<string, string>): readonly string[] {
  const rows = new Map(items.map((item) => [titleOf(item), wordsAbout(item, about)] as const));
  const names = [...rows.keys()];
  const isDescribed = items.some(({ kind }) => (DESCRIBED as readonly string[]).includes(kind));
  const most = isDescribed ? MOST_DESCRIBED : MOST_NAMES;
  const more = names.length > most ? [`and ${names.length - most} more`] : [];
  if (!isDescribed) return [[...names.slice(0, most), ...more].join(", ")];
  const width = Math.max(...names.slice(0, most).map((name) => name.length));
  return [...names.slice(0, most).map((name) => `${name.padEnd(width)}  ${rows.get(name)}`.trimEnd()), ...more];
}

function titleOf(item: ListedExtension): string {
  const isProgram = item.executable && (item.kind === "tool" || item.kind === "command");
  const name = (isProgram ? programName(item) : undefined) ?? item.name.replace(/\/SKILL\.md$|\.md$/i, "");
  return safeLine(item.entry === undefined ? name : `${name}: ${item.entry}`);
}

function wordsAbout({ path, state, needsFlag }: ListedExtension, about: ReadonlyMap<string, string>): string {
  if (state === "waiting") return "(waits for your approval)";
  if (state === "refused") return "(refused)";
  return about.get(path) ?? (needsFlag ? "(off: 'oxbow sources allow' runs it)" : "");
}

/** Tells what approved files say about themselves, by their path. A program of the project runs for it only if this place allows those. */
async function descriptions(place: SourcesPlace) {
  const about = new Map<string, string>();
  const look = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: false, notify: () => {} };
  const content = await ProjectContent.enter({ ...place, ...look, kinds: new Set(DESCRIBED) });
  const files = (kind: ExtensionKind) => ("failure" in content ? [] : content.extensions.of(kind));
  const texts = TEXTS.flatMap(files);
  const confs = files("provider").filter(({ executable }) => !executable);
  await Promise.all(
    [...texts, ...confs].map(async (file) => {
      const words = await describedIn(file).catch(() => undefined);
      if (words) about.set(file.path, words);
    }),
  );
  const programs = PROGRAMS.flatMap(files).filter(({ executable }) => executable);
  if (programs.length > 0) {
    const folder = join(place.loaded.roots.data, "programs", "answers");
    await withContainment({ ...place, notify: () => {} }, async (containment) => {
      await Promise.all(
        programs.map(async (file) => about.set(file.path, await saidBy(file, { containment, folder }))),
      );
    });
  }
  return { about, files };
}

/** The `description` of its front matter, or of a `.conf` file. */
async function describedIn(file: ExtensionFile): Promise<string | undefined> {
  const text = await file.read();
  if (file.kind === "provider") return oneLine(/^\s*description\s*=(.*)$/m.exec(text)?.[1]);
  const [{ lineOf }, { readLooseFrontMatter }] = await Promise.all([
    import("../../base/front-matter.js"),
    import("../../base/loose-front-matter.js"),
  ]);
  const found = readLooseFrontMatter(text);
  return "fault" in found ? undefined : oneLine(lineOf(found.fields, "description"));
}

async function saidBy(file: ExtensionFile, options: IntrospectOptions): Promise<string> {
  const { introspect } = await import("../../extensions/executable/introspect.js");
  return (await introspect(file, file.kind === "tool" ? "tool" : "command", options)).description;
}

function oneLine(text: string | undefined): string | undefined {
  const line = safeLine(text?.trim().split("\n", 1)[0] ?? "");
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
