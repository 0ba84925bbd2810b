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

/** The current values of the markers. */
export interface MarkerValues {
  value(marker: Marker): Promise<string>;
  /** Counts up when the conversation no longer contains what it had. */
  forgotten(): number;
}

/** Tracks which values differ from those that the model knows. */
export class SessionMarkers {
  readonly #values: MarkerValues;
  readonly #known = new Map<Marker, string>();
  #forgotten = 0;

  constructor(values: MarkerValues) {
    this.#values = values;
  }

  /** Returns the values that the model does not know yet, as an input contains them. */
  async notice(wanted: readonly Marker[]): Promise<string | undefined> {
    const forgotten = this.#values.forgotten();
    if (forgotten !== this.#forgotten) this.#known.clear();
    this.#forgotten = forgotten;
    const news: string[] = [];
    for (const marker of wanted) {
      const value = await this.#values.value(marker);
      if (this.#known.get(marker) !== value) news.push(`[${marker}]\n${value}`);
      this.#known.set(marker, value);
    }
    return news.length === 0 ? undefined : news.join("\n\n");
  }
}
