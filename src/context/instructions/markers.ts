/**
 * Markers for live data in instruction files: `<!-- @date -->`, `<!-- @files -->`, `<!-- @git-status -->`.
 *
 * The files are part of the system prompt, whose bytes do not change. So a marker becomes a reference, and the data comes with an input:
 * with the first one, and again whenever it changes. Markers in code are text.
 */
export type Marker = "date" | "files" | "git-status";

const MARKER = /<!--[ \t]*@(date|files|git-status)[ \t]*-->/g;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

export function replaceMarkers(text: string): { readonly text: string; readonly markers: readonly Marker[] } {
  if (!text.includes("@")) return { text, markers: [] };
  const markers = new Set<Marker>();
  let fence: string | undefined;
  const lines = text.split("\n").map((line) => {
    const mark = FENCE.exec(line)?.[1];
    const isCode = fence !== undefined || mark !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    return isCode ? line : outsideCode(line, markers);
  });
  return { text: lines.join("\n"), markers: [...markers] };
}

function outsideCode(line: string, markers: Set<Marker>): string {
  // Every second piece is between backquotes.
  const pieces = line.split(/(`+[^`]*`+)/);
  const replaced = pieces.map((piece, at) => {
    if (at % 2 === 1) return piece;
    return piece.replace(MARKER, (_, name: Marker) => {
      markers.add(name);
      return `(${name}: see [${name}] in the newest message that has it)`;
    });
  });
  return replaced.join("");
}

/** The data of a marker, as an input contains it. */
export function markerText(marker: Marker, value: string): string {
  return `[${marker}]\n${value}`;
}

/** Tracks which values differ from those that the model knows. */
export class KnownValues {
  readonly #known = new Map<Marker, string>();

  take(values: ReadonlyMap<Marker, string>): readonly (readonly [Marker, string])[] {
    const changed = [...values].filter(([marker, value]) => this.#known.get(marker) !== value);
    for (const [marker, value] of changed) this.#known.set(marker, value);
    return changed;
  }

  /** Call it when the conversation no longer contains them. */
  forget(): void {
    this.#known.clear();
  }
}
