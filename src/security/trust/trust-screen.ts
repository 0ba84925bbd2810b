/**
 * The one screen before anything of a new folder is loaded: what it would load and run.
 *
 * Programs come first. A list that is longer than a screen says how much more there is; nothing can be approved that
 * way, because each item is shown on its own before it is decided.
 */
import { readableShellWord } from "../../base/shell-word.js";
import type { ChangeClass } from "./change-class.js";
import { type ContentItem, type Effect, effectOf, labelOf, nameOf, type UnusableContent } from "./content.js";
import type { Withheld } from "./decide.js";
import { formatSize } from "./diff-view.js";
import type { PendingItem } from "./review.js";
import { type Look, paint, shown } from "./shown.js";

export interface TrustScreenOptions extends Look {
  readonly folder: string;
  readonly withheld?: readonly Withheld[];
  readonly unusable?: readonly UnusableContent[];
  /** One answer follows for all of it. */
  readonly listsAll?: true;
}

const GROUPS: readonly { readonly effect: Effect; readonly title: string }[] = [
  { effect: "runs", title: "Runs code" },
  { effect: "configures", title: "Changes settings" },
  { effect: "informs", title: "Read by the model" },
];

const CLASS_TEXTS: Readonly<Record<ChangeClass, string>> = {
  metadata: "only white space or labels",
  prose: "words",
  "code-adjacent": "holds commands, code, paths or addresses",
  executable: "is executed or decides what is",
};

const MAX_LISTED = 20;
const MAX_NAME = 300;
const INDENT = "  ";
const HANGING = "      ";

export function renderTrustScreen(pending: readonly PendingItem[], options: TrustScreenOptions): string {
  const { folder, withheld = [], unusable = [] } = options;
  const lines = [paint(options, "bold", `${shown(folder)} contains content that you have not approved:`)];
  for (const { effect, title } of GROUPS) {
    const items = pending.filter(({ item }) => effectOf(item) === effect);
    lines.push(...section(title, items.map(describe), options));
  }
  const off = withheld.filter(({ why }) => why === "project programs are off");
  lines.push(
    ...section(
      "Approved, and off until 'oxbow sources allow' or --allow-project-hooks",
      off.map(({ item }) => [titleOf(item)]),
      options,
    ),
  );
  const broken = unusable.map(({ path, problem }) => [`${shortName(path)} ${shown(problem)}`]);
  lines.push(...section("Left out", broken, options));
  lines.push("", "Oxbow has not loaded or run any of it. It shows you each item before you decide.");
  return lines.join("\n");
}

/** The item, and notes for the user below it. */
function describe(pending: PendingItem): readonly string[] {
  const { item, state, change, hasHidden } = pending;
  const lines = [`${state}: ${titleOf(item)}`];
  const starts = item.entry === undefined ? undefined : startedBy(pending);
  if (starts === undefined) lines.push(`${formatSize(item.size)}; ${CLASS_TEXTS[change]}`);
  else lines.push(starts);
  if (item.target !== undefined) lines.push(`a link to ${shown(item.target)}`);
  if (hasHidden) lines.push("! holds hidden characters");
  return lines;
}

function titleOf(item: ContentItem): string {
  return `${labelOf(item.kind)} ${shortName(nameOf(item))}${item.owner === "user" ? " (yours)" : ""}`;
}

function shortName(name: string): string {
  const text = shown(name);
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME)}… (${text.length - MAX_NAME} more characters)`;
}

/** The whole command of an entry, as a shell would be given it, and the rest of its settings. */
function startedBy({ after }: PendingItem): string | undefined {
  if (after === undefined) return undefined;
  const text = Buffer.from(after).toString("utf8");
  const { command, cmd, args = [], ...rest } = (JSON.parse(text) ?? {}) as Record<string, unknown>;
  const words = [command ?? cmd, ...(Array.isArray(args) ? args : [args])];
  if (!words.every((word) => typeof word === "string")) return shown(text);
  const settings = Object.keys(rest).length === 0 ? "" : ` with ${JSON.stringify(rest)}`;
  return `runs: ${shown(words.map(readableShellWord).join(" ") + settings)}`;
}

function section(
  title: string,
  items: readonly (readonly string[])[],
  look: Look & Pick<TrustScreenOptions, "listsAll">,
): readonly string[] {
  if (items.length === 0) return [];
  const rest = look.listsAll ? 0 : items.length - MAX_LISTED;
  const listed = rest > 0 ? items.slice(0, MAX_LISTED) : items;
  const lines = listed.flatMap(([first = "", ...more]) => [
    ...wrap(first, INDENT, look),
    ...more.flatMap((line) => wrap(line, HANGING, look)).map((line) => paint(look, warns(line) ? "red" : "dim", line)),
  ]);
  if (rest > 0) lines.push(`${INDENT}… and ${rest} more`);
  return ["", paint(look, "bold", `${title} (${items.length})`), ...lines];
}

function warns(line: string): boolean {
  return line.trimStart().startsWith("!");
}

/** Wraps at the edge and never cuts: an attacker could hide text in the part that is cut off. */
function wrap(text: string, indent: string, { width }: Look): readonly string[] {
  const room = Math.max(width - HANGING.length, 20);
  const characters = [...text];
  const lines: string[] = [];
  for (let at = 0; at < Math.max(characters.length, 1); at += room) {
    lines.push((at === 0 ? indent : HANGING) + characters.slice(at, at + room).join(""));
  }
  return lines;
}
