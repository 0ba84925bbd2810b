/**
 * Gets data for completion from the engine: commands, models, routes, sessions and files. It caches the lists and requests them again
 * when they are old, and commands also when the skills change.
 */
import type { Clock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { CommandInfo, Queries } from "../../../protocol/queries.js";
import { type CommandSource, commandCompletion, type Value } from "./command-completion.js";
import { type CompletionSource, firstOf } from "./completion.js";
import { type FileSource, type FoundPath, fileCompletion } from "./file-completion.js";

export interface EngineCompletionOptions {
  readonly client: EngineClient;
  readonly session: () => SessionId | undefined;
  readonly clock: Clock;
  /** Commands that only this client has. */
  readonly own?: readonly CommandInfo[];
}

type Models = Queries["ListModels"]["answer"];

const FRESH_MS = 30_000;
/** Short, because the user may have just approved a command file. The engine answers from memory. */
const FRESH_COMMANDS_MS = 1000;
const MOST_SESSIONS = 50;
const MOST_FILES = 30;

export class EngineCompletion implements CommandSource, FileSource {
  readonly source: CompletionSource;
  readonly #options: EngineCompletionOptions;
  readonly #models: Kept<Models>;
  readonly #sessions: Kept<readonly Value[]>;
  #commands: readonly CommandInfo[] | undefined;
  #loading: Promise<readonly CommandInfo[]> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: EngineCompletionOptions) {
    this.#options = options;
    this.source = firstOf(commandCompletion(this), fileCompletion(this));
    this.#models = new Kept(options.clock, () => this.#askModels());
    this.#sessions = new Kept(options.clock, () => this.#askSessions());
  }

  /** Requests the commands again when they change, once they were needed: listing them loads much code. Returns what stops that. */
  start(): () => void {
    return this.#options.client.subscribe(({ kind }) => {
      if (kind === "SkillRegistryChanged" && this.#loading !== undefined) void this.#refresh();
    });
  }

  commands(): readonly CommandInfo[] | Promise<readonly CommandInfo[]> {
    // The next key shows what has changed.
    if (this.#options.clock.now() - this.#askedAt > FRESH_COMMANDS_MS) void this.#refresh();
    return this.#commands ?? this.#loading ?? this.#refresh();
  }

  routes(): readonly { readonly name: string; readonly about: string }[] {
    const routes = this.#models.now()?.routes ?? [];
    return routes.filter(({ enabled }) => enabled).map(({ name, models }) => ({ name, about: models.join(", ") }));
  }

  async find(query: string): Promise<readonly FoundPath[]> {
    const session = this.#options.session();
    const reply = await this.#options.client.query("FindFiles", { query, limit: MOST_FILES }, session);
    return reply.ok ? reply.answer.paths.map((path) => ({ path })) : [];
  }

  values(source: string, typed: string): readonly Value[] | Promise<readonly Value[]> {
    switch (source) {
      case "model":
        return this.#ofModels((models) => [...routeValues(models).map(mentioned), ...modelValues(models)]);
      case "route":
        return this.#ofModels(routeValues);
      case "provider":
        return this.#ofModels(({ models }) => [...new Set(models.map(({ provider }) => provider))].map(asValue));
      case "session":
        return this.#sessions.now() ?? this.#sessions.get();
      case "command":
        return (this.#commands ?? []).map(({ name, summary }) => ({ value: name, about: summary }));
      case "file":
        return this.find(typed).then((found) => found.map(({ path }) => asValue(path)));
      case "folder":
        return this.find(typed).then((found) => found.map(({ path }) => asValue(path)).filter(isFolder));
      default:
        return [];
    }
  }

  #ofModels(pick: (models: Models) => readonly Value[]): readonly Value[] | Promise<readonly Value[]> {
    const known = this.#models.now();
    return known === undefined ? this.#models.get().then(pick) : pick(known);
  }

  #refresh(): Promise<readonly CommandInfo[]> {
    this.#askedAt = this.#options.clock.now();
    this.#loading = this.#askCommands().then((commands) => {
      this.#commands = commands;
      return commands;
    });
    return this.#loading;
  }

  async #askCommands(): Promise<readonly CommandInfo[]> {
    const { client, session, own = [] } = this.#options;
    const reply = await client.query("ListCommands", {}, session());
    return reply.ok ? [...reply.answer.commands, ...own] : own;
  }

  async #askModels(): Promise<Models> {
    const reply = await this.#options.client.query("ListModels", {});
    return reply.ok ? reply.answer : { models: [], problems: [] };
  }

  async #askSessions(): Promise<readonly Value[]> {
    const reply = await this.#options.client.query("ListSessions", { limit: MOST_SESSIONS });
    if (!reply.ok) return [];
    return reply.answer.sessions.map(({ id, title, cwd }) => ({
      value: id,
      about: title ?? cwd,
      ...(title !== undefined && { title }),
    }));
  }
}

function modelValues({ models }: Models): readonly Value[] {
  return models.map(({ provider, model }) => ({ value: `${provider}:${model}` }));
}

function routeValues({ routes = [] }: Models): readonly Value[] {
  return routes.map(({ name, models }) => ({ value: name, about: models.join(", ") }));
}

/** A route as the value of a model argument. */
function mentioned(route: Value): Value {
  return { ...route, value: `@${route.value}` };
}

function asValue(value: string): Value {
  return { value };
}

function isFolder({ value }: Value): boolean {
  return value.endsWith("/");
}

/** A list that is requested on demand, and again when it is old; meanwhile the old one is used. */
class Kept<T> {
  readonly #clock: Clock;
  readonly #ask: () => Promise<T>;
  #value: T | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<T> | undefined;

  constructor(clock: Clock, ask: () => Promise<T>) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /** Undefined during the first request. */
  now(): T | undefined {
    if (this.#clock.now() - this.#askedAt > FRESH_MS) void this.get().catch(() => {});
    return this.#value;
  }

  get(): Promise<T> {
    if (this.#asking !== undefined) return this.#asking;
    this.#askedAt = this.#clock.now();
    this.#asking = this.#ask()
      .then((value) => {
        this.#value = value;
        return value;
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
