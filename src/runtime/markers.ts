/** Joins the markers of instruction files with the tools that read their values. */
import { capText } from "../base/cap-text.js";
import { type Marker, type MarkerValues, SessionMarkers } from "../context/instructions/markers.js";
import { resultText } from "../protocol/content.js";
import { CATALOG } from "../tools/catalog.js";
import type { Opening } from "./opening.js";

const MOST_CHARACTERS = 6_000;
const TREE_DEPTH = 3;

type Place = Pick<Opening, "engine" | "built" | "clock">;

export function sessionMarkers(place: Place): SessionMarkers {
  return new SessionMarkers(new LiveValues(place));
}

class LiveValues implements MarkerValues {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  forgotten(): number {
    return this.#place.engine.content?.forgotten ?? 0;
  }

  async value(marker: Marker): Promise<string> {
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
    if (toolbox.find(CATALOG.ls.name) === undefined) return undefined;
    const { visibleTree } = await import("../tools/ls.js");
    return visibleTree(await toolbox.workspace(), TREE_DEPTH, new AbortController().signal);
  }

  async #gitStatus(): Promise<string | undefined> {
    const { built } = this.#place;
    const [bash, { engine }] = await Promise.all([
      built.get("toolbox").open(CATALOG.bash.name),
      built.get("permissions").parts(),
    ]);
    const args = { command: "git status --short" };
    // Not where git would run a program of the repository.
    if ((await engine.factsOf({ tool: bash, args })).command?.verdict !== "read-only") return undefined;
    const { signal } = new AbortController();
    const outcome = await bash.run(args, { signal, progress: () => {} });
    return outcome.status === "ok" ? resultText(outcome.content) : undefined;
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
