/** Plays one scenario against a server. */
import type { Clock } from "../../../base/clock.js";
import type { Identity } from "../../../protocol/client.js";
import { PROTOCOL_VERSION } from "../../../protocol/handshake.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { CHECKS, type Reader } from "./checks.js";
import { difference, show, valueAt } from "./match.js";
import type { Save, Scenario, Step } from "./scenario.js";
import type { ConformanceConnection, ConformanceTransport } from "./transport.js";

export interface RunOptions {
  readonly clock: Clock;
  /** Says how long an answer or an event may take. */
  readonly patienceMs: number;
}

export type ScenarioResult =
  | { readonly state: "passed" }
  | { readonly state: "failed"; readonly step: number; readonly problem: string }
  | { readonly state: "skipped"; readonly why: string };

export async function runScenario(
  scenario: Scenario,
  transport: ConformanceTransport,
  options: RunOptions,
): Promise<ScenarioResult> {
  const lacking = scenario.needs?.find((ability) => !transport.abilities.has(ability));
  if (lacking !== undefined) return { state: "skipped", why: WITHOUT[lacking] };
  const play = new Play(transport, options);
  try {
    for (const [index, step] of scenario.steps.entries()) {
      const problem = await play.step(step).catch(asProblem);
      if (problem !== undefined) return { state: "failed", step: index + 1, problem: `${step.do}: ${problem}` };
      const { feature } = scenario;
      if (index === 0 && feature !== undefined && !play.hasFeature(feature)) {
        return { state: "skipped", why: `the server does not have the feature ${feature}` };
      }
    }
    return { state: "passed" };
  } finally {
    await play.close();
  }
}

const WITHOUT = {
  agent: "there is no token of an agent (--agent-token-file), and the server takes no identity in the handshake",
  many: "it needs two clients of one session, and this transport has one: a second program is a second server",
  tokens: "this transport has no token",
} as const;

export function helloOf(name: string, identity: Identity = "human"): JsonObject {
  const client = { name: `conformance ${name}`, ...(identity === "agent" && { identity }) };
  return { protocol_version: PROTOCOL_VERSION, client };
}

interface Player extends Reader {
  readonly events: JsonObject[];
  eventKinds: readonly JsonValue[];
  features: readonly JsonValue[];
  connection: ConformanceConnection;
  /** The events before it have been waited for. */
  seen: number;
  look: () => void;
}

class Play {
  readonly #transport: ConformanceTransport;
  readonly #options: RunOptions;
  readonly #players = new Map<string, Player>();
  readonly #variables = new Map<string, JsonValue>();
  readonly #sessions = new Set<string>();

  constructor(transport: ConformanceTransport, options: RunOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  hasFeature(name: string): boolean {
    return [...this.#players.values()].some(({ features }) => features.includes(name));
  }

  /** The problem, if there is one. */
  async step(step: Step): Promise<string | undefined> {
    switch (step.do) {
      case "connect":
        return this.#connect(step);
      case "handshake":
        return differs(step.expect, await this.#soon(this.#player(step.by).connection.handshake(step.hello)));
      case "command":
      case "query":
        return this.#send(step);
      case "race":
        await this.#soon(
          Promise.all(step.sends.map(({ by, body }) => this.#player(by).connection.command(this.#filled(body)))),
        );
        return undefined;
      case "follow":
        return this.#follow(step);
      case "unfollow":
        await this.#soon(this.#player(step.by).connection.unfollow(String(this.#filled(step.session))));
        return undefined;
      case "drop":
        await this.#soon(this.#player(step.by).connection.drop());
        return undefined;
      case "wait":
        return this.#wait(step);
      case "check":
        return CHECKS[step.that](
          step.of.map((name) => this.#player(name)),
          this.#filled(step.value),
        );
    }
  }

  /** Leaves nothing running on the server. */
  async close(): Promise<void> {
    const quietly = <T>(work: Promise<T>) => this.#soon(work).catch(() => undefined);
    for (const session of this.#sessions) {
      for (const { connection } of this.#players.values()) {
        await quietly(connection.command({ kind: "CancelTurn", session, payload: {} }));
        const reply = await quietly(connection.command({ kind: "EndSession", session, payload: {} }));
        if (reply?.ok === true) break;
      }
    }
    for (const { connection } of this.#players.values()) await quietly(connection.drop());
  }

  async #connect(step: Step & { readonly do: "connect" }): Promise<string | undefined> {
    const known = this.#players.get(step.as);
    const connection = await this.#soon(this.#transport.connect(step.identity ?? "human", step.token));
    const player: Player = known ?? {
      ...{ name: step.as, events: [], eventKinds: [], features: [], connection, seen: 0, look: () => {} },
    };
    player.connection = connection;
    this.#players.set(step.as, player);
    const { hello = helloOf(step.as, step.identity) } = step;
    if (hello === null) return undefined;
    const reply = await this.#soon(connection.handshake(hello));
    const problem = differs(step.expect ?? { ok: true }, reply);
    if (problem !== undefined) return problem;
    const { event_kinds: kinds, features } = isJsonObject(reply.handshake) ? reply.handshake : {};
    if (Array.isArray(kinds)) player.eventKinds = kinds;
    if (Array.isArray(features)) player.features = features;
    this.#variables.set(`$${step.as}`, valueAt(reply, "handshake.client") ?? null);
    return this.#save(step.save, reply);
  }

  async #send(step: Step & { readonly do: "command" | "query" }): Promise<string | undefined> {
    const { connection } = this.#player(step.by);
    const body = this.#filled(step.body);
    const reply = await this.#soon(step.do === "command" ? connection.command(body) : connection.query(body));
    if (body.kind === "CreateSession" && typeof reply.session === "string") this.#sessions.add(reply.session);
    const problem = differs(this.#filled(step.expect ?? { ok: true }), reply);
    return problem === undefined ? this.#save(step.save, reply) : `${show(body.kind)}: ${problem}`;
  }

  async #follow(step: Step & { readonly do: "follow" }): Promise<string | undefined> {
    const player = this.#player(step.by);
    const session = String(this.#filled(step.session));
    const last = player.events.filter((event) => event.session === session).at(-1)?.id;
    const after = step.after === "last" ? last : this.#filled(step.after);
    const reply = await this.#soon(
      player.connection.follow({
        session,
        ...(typeof after === "number" && { after }),
        ...(step.at !== undefined && { at: String(this.#filled(step.at)) }),
        onEvent: (event) => {
          player.events.push(event);
          player.look();
        },
      }),
    );
    return differs(this.#filled(step.expect ?? { ok: true }), reply);
  }

  async #wait({ by, event, save }: Step & { readonly do: "wait" }): Promise<string | undefined> {
    const player = this.#player(by);
    const wanted = this.#filled(event);
    const find = () =>
      player.events.findIndex((each, index) => index >= player.seen && difference(wanted, each) === undefined);
    const arrived = new Promise<void>((resolve) => {
      player.look = () => void (find() !== -1 && resolve());
      player.look();
    });
    try {
      await this.#soon(arrived);
    } catch {
      const kinds = player.events.slice(player.seen).map(({ kind }) => kind);
      return `${by} got no ${show(wanted)}; since then it got ${kinds.join(", ") || "nothing"}`;
    }
    const found = find();
    player.seen = found + 1;
    return this.#save(save, player.events[found]);
  }

  #save(save: Save | undefined, from: JsonObject | undefined): string | undefined {
    for (const [name, path] of Object.entries(save ?? {})) {
      const value = valueAt(from, path);
      if (value === undefined) return `there is no ${path} in ${show(from)}`;
      this.#variables.set(`$${name}`, value);
    }
    return undefined;
  }

  #filled<T extends JsonValue | undefined>(value: T): T {
    return fill(value, this.#variables) as T;
  }

  #player(name: string): Player {
    const player = this.#players.get(name);
    if (player === undefined) throw new Error(`the scenario has no client ${name}`);
    return player;
  }

  async #soon<T>(work: Promise<T>): Promise<T> {
    const { clock, patienceMs } = this.#options;
    let stop = () => {};
    const late = new Promise<never>((_, reject) => {
      stop = clock.after(patienceMs, () => reject(new Error(`no answer within ${patienceMs / 1000} s`)));
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      stop();
    }
  }
}

function fill(value: JsonValue | undefined, variables: ReadonlyMap<string, JsonValue>): JsonValue | undefined {
  if (typeof value === "string") return variables.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => fill(item, variables) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, variables)]));
}

function differs(expected: JsonValue, reply: JsonObject): string | undefined {
  const found = difference(expected, reply);
  return found && `${found}. The reply: ${show(reply)}`;
}

function asProblem(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
