/** The current values of the markers of instruction files. */
import { capText } from "../../base/cap-text.js";
import { KnownValues, type Marker, markerText } from "../../context/instructions/markers.js";
import { plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
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
        return (await this.#call("ls", { depth: TREE_DEPTH }, marker)) ?? "(Oxbow cannot list the files)";
      case "git-status": {
        const status = await this.#call("git", { action: "status", args: ["--short"] }, marker);
        return status ?? "(not a git repository)";
      }
    }
  }

  /** Undefined if it fails, or the tool is off. Names of files are not the user's text, so they are marked. */
  async #call(tool: string, args: JsonObject, source: string): Promise<string | undefined> {
    const definition = this.#place.built.get("toolbox").find(tool);
    const { signal } = new AbortController();
    try {
      const outcome = await definition?.run(args, { signal, progress: () => {} });
      if (outcome?.status !== "ok") return undefined;
      const text = capText(plainText(outcome.content).trimEnd(), MOST_CHARACTERS, "look for the rest");
      const outside = this.#place.built.get("outside");
      return outside.wraps ? (await outside.wrapper())(text, source) : text;
    } catch {
      return undefined;
    }
  }
}
