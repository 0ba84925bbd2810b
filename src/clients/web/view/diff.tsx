/** Hunks of a diff, in one column or side by side. A sign says what a colour says. */
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { CodeHighlighter, CodeSpan } from "../../sdk/shown/highlight.js";
import type { DiffLine, Hunk } from "../../sdk/shown/hunks.js";
import { languageOfFile } from "../../sdk/shown/languages.js";
import { highlighterFor } from "./code.js";

/** The choice of the person, for all diffs of the page. */
export const isSplit = signal(false);
const wide = matchMedia("(min-width: 700px)");
const hasRoom = signal(wide.matches);
wide.addEventListener("change", ({ matches }) => {
  hasRoom.value = matches;
});
const MOST_LINES = 400;

export interface DiffProps {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly notes?: readonly string[];
}

interface Shown extends DiffLine {
  readonly spans: readonly CodeSpan[];
}

export function Diff({ path, hunks, notes = [] }: DiffProps) {
  const [showsAll, showAll] = useState(false);
  const make = highlighterFor();
  const shown = useMemo(() => coloured(hunks, make?.(languageOfFile(path))), [hunks, path, make]);
  const count = shown.reduce((sum, lines) => sum + lines.length, 0);
  const split = isSplit.value && hasRoom.value;
  let room = showsAll ? Number.POSITIVE_INFINITY : MOST_LINES;
  const parts = shown.flatMap((lines) => {
    const part = lines.slice(0, Math.max(0, room));
    room -= part.length;
    return part.length === 0 ? [] : [part];
  });
  return (
    <div class="diff">
      <div class="wide" tabIndex={0} role="group" aria-label={`diff of ${path}`}>
        <table class={split ? "split" : "unified"}>
          {parts.map((lines, index) => (
            <tbody key={index}>{split ? pairsOf(lines).map(splitRow) : lines.map(unifiedRow)}</tbody>
          ))}
        </table>
      </div>
      {count > MOST_LINES && !showsAll && (
        <button type="button" class="quiet small" onClick={() => showAll(true)}>
          {count - MOST_LINES} more lines
        </button>
      )}
      {notes.map((note) => (
        <p key={note} class="dim">
          {safeLine(note)}
        </p>
      ))}
    </div>
  );
}

function coloured(hunks: readonly Hunk[], first: CodeHighlighter | undefined): readonly (readonly Shown[])[] {
  return hunks.map(({ lines }) => {
    // The two sides are two texts.
    let [old, fresh] = [first, first];
    return lines.map((line) => {
      const text = shownLine(line.text);
      const state = line.kind === "removed" ? old : fresh;
      const { spans, next } = state?.line(text) ?? { spans: [{ text, roles: [] }], next: undefined };
      if (line.kind !== "added") old = next;
      if (line.kind !== "removed") fresh = next;
      return { ...line, spans };
    });
  });
}

function shownLine(text: string): string {
  return safeLine(text.replaceAll("\t", "    "));
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const NAMES = { same: "", added: "added: ", removed: "removed: " } as const;

function unifiedRow(line: Shown, index: number) {
  return (
    <tr key={index} class={line.kind}>
      <td class="number">{line.oldNumber ?? ""}</td>
      <td class="number">{line.newNumber ?? ""}</td>
      <Content line={line} />
    </tr>
  );
}

function splitRow([left, right]: Pair, index: number) {
  return (
    <tr key={index}>
      <Side line={left} number={left?.oldNumber} />
      <Side line={right} number={right?.newNumber} />
    </tr>
  );
}

function Side({ line, number }: { readonly line: Shown | undefined; readonly number: number | undefined }) {
  if (line === undefined) return <td class="none" colSpan={2} />;
  return (
    <>
      <td class={`number ${line.kind}`}>{number ?? ""}</td>
      <Content line={line} />
    </>
  );
}

function Content({ line: { kind, spans } }: { readonly line: Shown }) {
  return (
    <td class={`line ${kind}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <span class="hidden">{NAMES[kind]}</span>
      {spans.map(({ text, roles }, at) => (
        <span key={at} class={roles[0] && `c-${roles[0]}`}>
          {text}
        </span>
      ))}
    </td>
  );
}

type Pair = readonly [Shown | undefined, Shown | undefined];

function pairsOf(lines: readonly Shown[]): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line?.kind === "same") {
      pairs.push([line, line]);
      at++;
      continue;
    }
    let end = at;
    while (lines[end]?.kind === "removed") end++;
    const middle = end;
    while (lines[end]?.kind === "added") end++;
    const [removed, added] = [lines.slice(at, middle), lines.slice(middle, end)];
    for (let row = 0; row < Math.max(removed.length, added.length); row++) pairs.push([removed[row], added[row]]);
    at = Math.max(end, at + 1);
  }
  return pairs;
}
