/**
 * Routes in a run: `@name` in an input, `@name` or `route:name` as a model, and the commands that
 * change them. Nothing is loaded before the first use.
 *
 * 1. The user's own routes are in one file, replaced atomically; the profile never changes here.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { nearest } from "../../base/nearest.js";
import type { RoutedInput } from "../../control/run.js";
import type { Model } from "../../engine/ports.js";
import type { InputContent } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { JsonValue } from "../../protocol/json.js";
import { readMention } from "../../providers/routing/mention.js";
import type { OwnRoutes, Route } from "../../providers/routing/routes.js";
import { addressAdvice, hasUsualTag, isAddress, unknownPrefix } from "../../providers/selection/model-spec.js";
import { unavailable } from "../../providers/selection/open-model.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { Chosen, ModelChoice, ModelRegistry } from "./model-registry.js";

export interface RoutesOptions {
  readonly loaded: Pick<LoadedSettings, "settings" | "roots">;
  readonly registry: ModelRegistry;
  readonly clock: Clock;
}

/** A cheap model for work outside the conversation: a title, a summary. */
export interface SummaryModel {
  /** The model of the route `summary`; undefined without one; then the conversation's model is used. */
  summary(): Promise<Model | undefined>;
}

type RoutesModule = typeof import("../../providers/routing/routes.js");
type Found = { readonly model: Model } | { readonly failure: Failure };

export class ModelRoutes implements SummaryModel {
  readonly #options: RoutesOptions;
  readonly #opened = new Map<string, { readonly models: string; readonly model: Promise<Model> }>();
  #module: RoutesModule | undefined;

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  get file(): string {
    return join(this.#options.loaded.roots.config, "routes.json");
  }

  /** A quick check: without a table in a profile and a file of the user there are no routes. */
  mayHaveAny(): boolean {
    return this.#options.loaded.settings.routes.value !== undefined || existsSync(this.file);
  }

  /** A quick check: only text that begins like a mention needs the routes. */
  async prepare(content: readonly InputContent[]): Promise<void> {
    if (mentionIn(content) !== undefined) await this.#load();
  }

  /** The input without its mention, and the route that it named. */
  route = (content: readonly InputContent[]): RoutedInput => {
    const at = content.findIndex((block) => block.type === "text");
    const block = content[at];
    if (block?.type !== "text") return { content };
    const mention = readMention(block.text);
    if (mention.kind === "none") {
      return mention.text === block.text ? { content } : { content: withText(content, at, mention.text) };
    }
    if (mention.text === "" || this.#enabled(mention.name) === undefined) return { content };
    return { content: withText(content, at, mention.text), route: mention.name };
  };

  /** A message for the user about a mention of no known route. */
  hint = (content: readonly InputContent[], root: string): string | undefined => {
    const mention = mentionIn(content);
    if (mention === undefined) return undefined;
    const { name, text } = mention;
    const known = this.#routes();
    const route = known.find((each) => each.name === name);
    if (route?.enabled === false) return `The route @${name} is off ('/route enable ${name}'): sent as plain text.`;
    if (route !== undefined) return text === "" ? `There is no input after @${name}: sent as plain text.` : undefined;
    const near = nearest(
      name,
      known.map((each) => each.name),
    );
    if (near !== undefined) return `There is no route @${name}; did you mean @${near}? Sent as plain text.`;
    if (existsSync(join(root, name))) return undefined;
    return `There is no route @${name} and no file ${name} here: sent as plain text. 'oxbow route list' lists the routes.`;
  };

  async open(name: string): Promise<Found> {
    await this.#load();
    const route = this.#routes().find((each) => each.name === name);
    if (route === undefined) return noModel(`there is no route '${name}'. 'oxbow route list' lists the routes.`);
    if (!route.enabled) return noModel(`the route '${name}' is off. Switch it on with 'oxbow route enable ${name}'.`);
    const models = JSON.stringify([route.models, route.rules]);
    let known = this.#opened.get(name);
    if (known?.models !== models) {
      known = { models, model: this.#create(route) };
      this.#opened.set(name, known);
    }
    return { model: await known.model };
  }

  /** The route in a model argument: `@NAME` or `route:NAME`; undefined if it is a model. */
  async resolve(spec: string): Promise<Found | undefined> {
    const name = /^(?:@|route:)(.+)$/.exec(spec.trim())?.[1];
    return name === undefined ? undefined : this.open(name);
  }

  async choose({ provider, model }: ModelChoice): Promise<Chosen | undefined> {
    const spec = provider === undefined || provider === "route" ? `${provider ? "route:" : ""}${model ?? ""}` : "";
    const found = await this.resolve(spec);
    if (found === undefined || "model" in found) return found;
    const { unavailable } = await import("../../providers/selection/open-model.js");
    return { model: unavailable("route", model, found.failure), failure: found.failure };
  }

  async summary(): Promise<Model | undefined> {
    const found = await this.open("summary");
    return "model" in found ? found.model : undefined;
  }

  async list(): Promise<{ readonly routes: readonly Route[]; readonly problems: readonly string[] }> {
    const { readRoutes } = await this.#load();
    return readRoutes(this.#options.loaded.settings.routes.value, this.#own());
  }

  /** Checks the names of models before they are stored. */
  async wrongModel(models: readonly string[]): Promise<string | undefined> {
    const address = models.find(isAddress);
    if (address !== undefined) return addressAdvice(address);
    const known = await this.#options.registry.names();
    const unknown = models.find((model) => {
      const prefix = unknownPrefix(model);
      return prefix !== undefined && !known.includes(prefix) && !hasUsualTag(model);
    });
    if (unknown === undefined) return undefined;
    const prefix = unknownPrefix(unknown) ?? unknown;
    const near = nearest(prefix, known);
    return `There is no provider '${prefix}'. ${near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`}`;
  }

  /** Writes the user's own routes as `change` returns them. */
  async change(change: (own: OwnRoutes) => OwnRoutes): Promise<void> {
    await this.#load();
    const { writeFileAtomic } = await import("../../system/atomic-file.js");
    await mkdir(dirname(this.file), { recursive: true });
    await writeFileAtomic(this.file, `${JSON.stringify(change(this.#own()), null, 2)}\n`, { mode: 0o600 });
  }

  async #create({ name, models, rules }: Route): Promise<Model> {
    const { registry, clock, loaded } = this.#options;
    const totalWaitMs = loaded.settings.retry_wait.value;
    const [{ createRoutingModel }, { withRetries }, { memberPlaces }] = await Promise.all([
      import("../../providers/routing/routing-model.js"),
      import("../../providers/retry/attempts.js"),
      import("../../providers/routing/member-places.js"),
    ]);
    const { all, ...places } = memberPlaces(models, rules);
    const members = all.map((spec) => async () => {
      const found = await registry.look(spec);
      const model = "model" in found ? found.model : unavailable("none", spec, found.failure);
      return withRetries(model, { clock, random: Math.random, totalWaitMs });
    });
    const model = createRoutingModel({ route: name, members, clock, ...places });
    if (loaded.settings.web_search.value !== "provider") return model;
    // The list of tools is complete from the first request on.
    const opened = await Promise.all(members.map((open) => open()));
    return opened.some(({ searchesWeb }) => searchesWeb) ? { ...model, searchesWeb: true } : model;
  }

  #enabled(name: string): Route | undefined {
    return this.#routes().find((route) => route.name === name && route.enabled);
  }

  #routes(): readonly Route[] {
    return this.#module?.readRoutes(this.#options.loaded.settings.routes.value, this.#own()).routes ?? [];
  }

  async #load(): Promise<RoutesModule> {
    this.#module ??= await import("../../providers/routing/routes.js");
    return this.#module;
  }

  /** Read each time: another Oxbow may have changed it. */
  #own(): OwnRoutes {
    let text: string;
    try {
      text = readFileSync(this.file, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return { routes: {}, disabled: [] };
      throw error;
    }
    return (this.#module as RoutesModule).readOwnRoutes(parse(text, this.file));
  }
}

function parse(text: string, file: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new Error(`${file} is not JSON. Repair it, or delete it and add your routes again.`);
  }
}

function mentionIn(content: readonly InputContent[]): { readonly name: string; readonly text: string } | undefined {
  const block = content.find((each) => each.type === "text");
  const mention = block?.type === "text" ? readMention(block.text) : undefined;
  return mention?.kind === "named" ? mention : undefined;
}

function withText(content: readonly InputContent[], at: number, text: string): readonly InputContent[] {
  return content.map((block, index) => (index === at ? { type: "text", text } : block));
}

function noModel(detail: string): { readonly failure: Failure } {
  return { failure: failure("NoModel", { detail }) };
}
