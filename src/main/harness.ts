/** Wires everything together. Read it last: each line hands one part to another, and there is nothing else in here. */
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { createIdSource } from "../base/ulid.js";
import { buildChains } from "../chain/build.js";
import type { ChainServices } from "../chain/services.js";
import { builtInCommands } from "../commands/built-in.js";
import { systemPrompt } from "../context/instructions/system-prompt.js";
import { type CustomRequest, Host } from "../control/host.js";
import { PermissionDesk } from "../control/permission-desk.js";
import { Run } from "../control/run.js";
import { Bus } from "../engine/bus.js";
import type { EnginePorts, Model } from "../engine/ports.js";
import type { CommandReply } from "../protocol/client.js";
import { failure } from "../protocol/errors.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import { isJsonObject } from "../protocol/json.js";
import { PermissionGate } from "../security/permissions/gate.js";
import type { LogFunction } from "../system/log.js";
import { nodeClock } from "../system/node-clock.js";
import type { Variables } from "./env.js";
import type { ModelShelf } from "./model-shelf.js";
import type { LoadedSettings } from "./settings.js";
import { slashContext } from "./slash-context.js";
import { openToolbox } from "./toolbox.js";

export interface EngineOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  /** The folder to work in, free of symbolic links. */
  readonly root: string;
  readonly shelf: ModelShelf;
  readonly model: Model;
  readonly log: LogFunction;
  readonly clock?: Clock;
}

export interface Engine {
  readonly host: Host;
  readonly clock: Clock;
  newClientId(): ClientId;
}

export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? nodeClock;
  const ids = createIdSource({ wall: clock.wall, random: fillRandom });
  const { root } = options;
  const { settings, roots } = options.loaded;

  const openRun = async (request: { originator: ClientId; personPresent: () => boolean }): Promise<Run> => {
    const session: SessionId = ids.next("sess");
    const onSubscriberError = (error: unknown) =>
      options.log("error", "engine", "a subscriber failed", { error: String(error), session });
    const bus = new Bus({ session, originator: request.originator, clock, onSubscriberError });
    const desk = new PermissionDesk(bus, request.personPresent);
    const gate = new PermissionGate(settings.permission_mode.value);
    const toolbox = openToolbox({
      root,
      sets: settings.tool_sets.value,
      variables: options.variables,
      outputDirectory: join(roots.state, "output", session),
    });
    const prompt = systemPrompt({
      workspace: root,
      platform: process.platform,
      date: new Date(clock.wall()).toISOString().slice(0, 10),
      ...(settings.system_prompt.value !== undefined && { override: settings.system_prompt.value }),
    });
    const services: ChainServices = {
      tools: toolbox,
      gate,
      person: desk,
      log: options.log,
      systemPrompt: () => prompt,
      permissionState: { missing: undefined },
      ...(settings.max_output_tokens.value !== undefined && { maxOutputTokens: settings.max_output_tokens.value }),
    };
    const chains = buildChains(services);
    for (const subscriber of chains.subscribers) bus.subscribe(subscriber);
    const ports: EnginePorts = {
      clock,
      ids,
      tools: toolbox,
      requestLinks: chains.requestLinks,
      toolLinks: chains.toolLinks,
      mayStartEarly: (call, tool) => gate.judge(call, tool).decision === "allow",
      toolExecution: "batched",
      maxIterations: settings.max_iterations.value,
    };
    options.log("info", "engine", "session opened", { session, model: options.model.model });
    return new Run({
      session,
      bus,
      ports,
      desk,
      stages: chains.stages,
      model: options.model,
      ...(settings.timeout_ms.value !== undefined && { turnTimeoutMs: settings.timeout_ms.value }),
      dispose: () => toolbox.close(),
    });
  };

  const custom = async ({ namespace, verb, payload, run }: CustomRequest): Promise<CommandReply> => {
    const command = namespace === "slash" ? builtInCommands.find(verb) : undefined;
    if (command === undefined) {
      return {
        ok: false,
        failure: failure("InvalidInput", { detail: `There is no command /${verb}. /help lists them.` }),
      };
    }
    const args = isJsonObject(payload) && typeof payload.args === "string" ? payload.args : "";
    const result = await command.run(args, slashContext({ run, settings, root, shelf: options.shelf }));
    return "failure" in result ? { ok: false, failure: result.failure } : { ok: true, value: { text: result.text } };
  };

  const host = new Host({ openRun, resolveModel: (spec) => options.shelf.resolve(spec), custom });
  return { host, clock, newClientId: () => ids.next("cli") };
}

/** Ids must differ, not be secret: loading the crypto module for them would delay the first request. */
function fillRandom(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(Math.random() * 256);
}
