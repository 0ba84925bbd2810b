/** Wires everything together. Read it last: each line hands one part to another, and there is nothing else in here. */

import type { Clock } from "../base/clock.js";
import { nearest } from "../base/nearest.js";
import { createIdSource, type IdSource } from "../base/ulid.js";
import type { Variables } from "../base/variables.js";
import { builtInCommands } from "../commands/built-in.js";
import { type CustomRequest, Host, type HostPorts, type RunRequest } from "../control/host.js";
import type { Run } from "../control/run.js";
import type { Model } from "../engine/ports.js";
import type { CommandReply } from "../protocol/client.js";
import { failure } from "../protocol/errors.js";
import type { SessionEndReason } from "../protocol/events.js";
import type { ClientId } from "../protocol/ids.js";
import { isJsonObject } from "../protocol/json.js";
import type { CommandInfo } from "../protocol/queries.js";
import { mayAnswer } from "../security/permissions/identity.js";
import type { LogFunction } from "../system/log.js";
import { nodeClock } from "../system/node-clock.js";
import { slashContext } from "./commands/slash-context.js";
import type { ProjectContent } from "./content/project-content.js";
import type { ModelRegistry } from "./models/model-registry.js";
import type { ModelRoutes } from "./models/model-routes.js";
import { type OpenedRun, openRun } from "./open-run.js";
import { queryPorts, storedEvents } from "./queries.js";
import type { SessionStores } from "./sessions/session-stores.js";
import type { LoadedSettings } from "./settings/settings.js";

export interface EngineOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  /** The folder to work in, free of symbolic links. */
  readonly root: string;
  readonly registry: ModelRegistry;
  readonly routes: ModelRoutes;
  readonly model: Model;
  readonly log: LogFunction;
  readonly sessions: SessionStores;
  /** The model's answers come from a cassette. */
  readonly isReplay?: boolean;
  /** What the folder brings, as far as a person has approved it. */
  readonly content?: ProjectContent;
  /** Something the user should hear now. */
  readonly notify: (message: string) => void;
  /** Something a person should hear once, where there is one. */
  readonly hint: (message: string) => void;
  readonly clock?: Clock;
}

/** What every run of an engine is made of. */
export interface EngineParts extends EngineOptions {
  readonly clock: Clock;
  readonly ids: IdSource;
}

export interface Engine {
  readonly host: Host;
  readonly clock: Clock;
  newClientId(): ClientId;
  /** Ends every run and writes what is left to write. */
  close(reason?: SessionEndReason): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? nodeClock;
  const ids = createIdSource({ wall: clock.wall, random: fillRandom });
  const parts: EngineParts = { ...options, clock, ids };
  const opened = new WeakMap<Run, OpenedRun>();

  const resolveModel: HostPorts["resolveModel"] = async (spec) =>
    (await options.routes.resolve(spec)) ?? options.registry.resolve(spec);

  const open = async (request: RunRequest) => {
    const { cwd, profile, model } = request.place ?? {};
    if (profile !== undefined || (cwd !== undefined && cwd !== options.root)) {
      const detail = `This engine works in ${options.root} with the profile it was started with.`;
      return { failure: failure("InvalidInput", { detail }) };
    }
    const chosen = model === undefined ? undefined : await resolveModel(model);
    if (chosen !== undefined && "failure" in chosen) return chosen;
    const result = await openRun(parts, request, request.after && opened.get(request.after));
    if ("failure" in result) return result;
    if (chosen !== undefined) result.run.model = chosen.model;
    opened.set(result.run, result);
    return result.run;
  };

  const custom = async ({ namespace, verb, payload, run, identity }: CustomRequest): Promise<CommandReply> => {
    const command = namespace === "slash" ? builtInCommands.find(verb) : undefined;
    const hosted = opened.get(run);
    if (command === undefined || hosted === undefined) {
      return { ok: false, failure: failure("InvalidInput", { detail: unknownCommand(verb) }) };
    }
    if (command.forPeople && identity === "agent") {
      return {
        ok: false,
        failure: failure("InvalidInput", { detail: `${command.usage} is for people, not for agents.` }),
      };
    }
    const args = isJsonObject(payload) && typeof payload.args === "string" ? payload.args : "";
    const { root, registry, routes, loaded, variables, sessions } = options;
    const { settings, roots } = loaded;
    const facts = {
      ...hosted,
      settings,
      roots,
      variables,
      sessions,
      root,
      registry,
      routes,
      files: options.content?.files,
    };
    const result = await command.run(args, slashContext(facts));
    return "failure" in result ? { ok: false, failure: result.failure } : { ok: true, value: { text: result.text } };
  };

  const refuseAnswer: HostPorts["refuseAnswer"] = (client, turn) => {
    const may = mayAnswer(client, { originator: turn.id, originatorIdentity: turn.identity });
    return may.ok ? undefined : may.reason;
  };

  const { routes, registry } = options;
  const host = new Host({
    openRun: open,
    resolveModel,
    inputs: routes,
    refuseAnswer,
    custom,
    queries: queryPorts({
      sessions: options.sessions,
      registry,
      commands: commandInfos,
      permissionsOf: (run) => opened.get(run)?.permissions,
    }),
    history: (run, after) => storedEvents(options.sessions, run, after),
  });
  return {
    host,
    clock,
    newClientId: () => ids.next("cli"),
    close: async (reason) => {
      await host.close(reason);
      await options.sessions.close();
    },
  };
}

function commandInfos(): CommandInfo[] {
  return builtInCommands.list().map(({ name, usage, summary, forPeople = false }) => {
    return { name, usage, summary, for_people: forPeople };
  });
}

function unknownCommand(verb: string): string {
  const near = nearest(
    verb,
    builtInCommands.list().map(({ name }) => name),
  );
  return `There is no command /${verb}. ${near === undefined ? "/help lists them." : `Did you mean /${near}?`}`;
}

/** Ids must differ, not be secret: loading the crypto module for them would delay the first request. */
function fillRandom(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(Math.random() * 256);
}
