/** An engine as the program makes it, with the mock model behind it. */
import { mkdtemp, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/base/clock.js";
import { NO_EXTENSIONS } from "../../src/base/extension-files.js";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import { parseFlags } from "../../src/feature/flags.js";
import type { EngineClient, Identity } from "../../src/protocol/client.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import type { ProjectContentOptions } from "../../src/runtime/content/content-options.js";
import { enterPlace } from "../../src/runtime/content/enter-place.js";
import { createModelRegistry } from "../../src/runtime/models/model-registry.js";
import { ModelRoutes } from "../../src/runtime/models/model-routes.js";
import { createEngine, type Engine } from "../../src/runtime/open-engine.js";
import type { CreatePart } from "../../src/runtime/part.js";
import { openPlugins } from "../../src/runtime/plugins/open-plugins.js";
import { withPluginProviders } from "../../src/runtime/plugins/plugin-providers.js";
import { SessionStores } from "../../src/runtime/sessions/session-stores.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import type { MockModel } from "../../src/testkit/index.js";
import { providerEnvironment } from "./program.js";

export interface HostedEngine {
  readonly engine: Engine;
  /** The folder that the engine was started in. */
  readonly root: string;
  /** Holds what it has stored. */
  readonly sessions: Pick<SessionStores, "open">;
  connect(identity?: Identity): EngineClient;
  /** A client whose user answers questions. */
  connectPerson(): EngineClient;
}

export async function hostEngine(
  base: string,
  mock: MockModel,
  {
    flags = [],
    parts = [],
    home,
    content,
    clock,
    env,
    isDetached = false,
  }: {
    readonly flags?: readonly string[];
    readonly parts?: readonly CreatePart[];
    readonly home?: string;
    readonly clock?: Clock;
    /** It has no terminal: its clients bring their surroundings. */
    readonly isDetached?: boolean;
    /** More environment variables. */
    readonly env?: Readonly<Record<string, string>>;
    /** Uses the approved content of `folder`, which the session works in. */
    readonly content?: Partial<ProjectContentOptions> & { readonly folder: string };
  } = {},
): Promise<HostedEngine> {
  const variables = {
    PATH: process.env.PATH,
    OXBOW_HOME: home ?? (await mkdtemp(join(base, "home-"))),
    ...(home !== undefined && { HOME: home }),
    ...providerEnvironment("anthropic", mock.url),
    ...env,
  };
  const parsed = parseFlags(RUN_FLAGS, ["--sandbox", "off", ...flags], "run");
  const own = await loadSettings(parsed, variables);
  const root = await realpath(content?.folder ?? (await mkdtemp(join(base, "root-"))));
  const notify = content?.notify ?? (() => {});
  const sessions = new SessionStores({ ...own, variables, root, notify, hint: notify });
  const unattended = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: true };
  const entered = content && (await enterPlace({ loaded: own, variables, root, notify, ...unattended, ...content }));
  if (entered !== undefined && "failure" in entered) throw new Error(entered.failure.message);
  const loaded = entered?.loaded ?? own;
  const plugins = await openPlugins({
    ...{ loaded, variables, root, notify, clock: systemClock, log: () => {} },
    content: entered?.content ?? { extensions: NO_EXTENSIONS },
  });
  const registry = withPluginProviders(createModelRegistry({ variables }), plugins);
  const { model } = await registry.choose({});
  const routes = new ModelRoutes({ loaded, registry, clock: systemClock });
  const place = { loaded, root, registry, routes, model, ...(entered && { content: entered.content }) };
  const engine = createEngine({
    place,
    variables,
    log: () => {},
    sessions,
    notify,
    hint: notify,
    flags: parsed,
    readFlags: (words) => parseFlags(RUN_FLAGS, words, "run"),
    parts,
    plugins,
    isDetached,
    ...(clock !== undefined && { clock }),
  });
  const connect = (identity: Identity = "human") =>
    connectInProcess(engine.host, { id: engine.newClientId(), identity, canAnswer: false });
  const connectPerson = () =>
    connectInProcess(engine.host, { id: engine.newClientId(), identity: "human", canAnswer: true });
  return { engine, root, sessions, connect, connectPerson };
}

/** Sends an input and returns the events up to the end of its turn. */
export async function turnOf(client: EngineClient, session: SessionId, input: string): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  const ended = new Promise<void>((resolve) => {
    client.subscribe((event) => {
      if (event.session !== session) return;
      events.push(event);
      if (event.kind === "TurnEnded") resolve();
    });
  });
  for (;;) {
    const reply = await client.send("SendInput", { content: [text(input)] }, session);
    if (reply.ok) break;
    // The run settles right after the event.
    if (reply.failure.reason !== "TurnInProgress") throw new Error(JSON.stringify(reply));
    await new Promise(setImmediate);
  }
  await ended;
  return events;
}
