/** The current values of the markers of instruction files. */
import { capText } from "../../base/cap-text.js";
import { KnownValues, type Marker, markerText } from "../../context/instructions/markers.js";
import { resultText } from "../../protocol/content.js";
import type { Opening } from "../opening.js";

const MOST_CHARACTERS = 6_000;
const TREE_DEPTH = 3;

type Place = Pick<Opening, "engine" | "built" | "clock">;

export class LiveMarkers {
  readonly #place: Place;
  readonly #known = new KnownValues();
  #forgotten = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The values that the model does not know yet. */
  async notice(wanted: readonly Marker[]): Promise<string | undefined> {
    const { forgotten = 0 } = this.#place.engine.content ?? {};
    if (forgotten !== this.#forgotten) this.#known.forget();
    this.#forgotten = forgotten;
    const values = new Map<Marker, string>();
    for (const marker of wanted) values.set(marker, await this.#value(marker));
    const changed = this.#known.take(values);
    return changed.length === 0 ? undefined : changed.map(([marker, value]) => markerText(marker, value)).join("\n\n");
  }

  async #value(marker: Marker): Promise<string> {
    switch (marker) {
      case "date":
        return new Date(this.#place.clock.wall()).toISOString().slice(0, 10);
      case "files":
        return (await this.#guarded(marker, () => this.#files())) ?? "(Oxbow cannot list the files)";
      case "git-status":
        return (await this.#guarded(marker, () => this.#gitStatus())) ?? "(not a git repository)";
    }
  }

  async #files(): Promise<string | undefined> {
    const toolbox = this.#place.built.get("toolbox");
    if (toolbox.find("ls") === undefined) return undefined;
    const { visibleTree } = await import("../../tools/ls.js");
    return visibleTree(await toolbox.workspace(), TREE_DEPTH, new AbortController().signal);
  }

  async #gitStatus(): Promise<string | undefined> {
    const { signal } = new AbortController();
    const git = this.#place.built.get("toolbox").find("git");
    const outcome = await git?.run({ action: "status", args: ["--short"] }, { signal, progress: () => {} });
    return outcome?.status === "ok" ? resultText(outcome.content) : undefined;
  }

  /** Undefined if it fails, or the tool is off. Names of files are not the user's text, so they are marked. */
  async #guarded(source: string, list: () => Promise<string | undefined>): Promise<string | undefined> {
    try {
      const listed = await list();
      if (listed === undefined) return undefined;
      const text = capText(listed.trimEnd(), MOST_CHARACTERS, "look for the rest");
      const outside = this.#place.built.get("outside");
      return outside.wraps ? (await outside.wrapper())(text, source) : text;
    } catch {
      return undefined;
    }
  }
}
