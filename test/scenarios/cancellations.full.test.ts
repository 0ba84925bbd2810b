/** The bar: a thousand cancels at random moments leave no process behind and end each turn exactly once. */

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import { parseFlags } from "../../src/feature/flags.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { createModelRegistry } from "../../src/runtime/models/model-registry.js";
import { ModelRoutes } from "../../src/runtime/models/model-routes.js";
import { createEngine, type Engine } from "../../src/runtime/open-engine.js";
import { SessionStores } from "../../src/runtime/sessions/session-stores.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { providerEnvironment } from "../support/program.js";
import { survivors } from "../support/survivors.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

/** OXBOW_CANCELS chooses another number; 1,000 take half a minute. */
const CANCELS = Number(process.env.OXBOW_CANCELS ?? times(36, 500));
const SESSIONS = 4;
/** A duration that no other process sleeps, so that a survivor is found by its command line. */
const MARK = `86399.${process.pid}`;

const reply = (...commands: string[]) => `
reply
  thinking: First I think about it for a while.
  text chunks=8: Let me look around before I do anything.
  tool ls {}
${commands.map((command) => `  tool bash ${JSON.stringify({ command })}`).join("\n")}
`;
const ordinary = reply(`sleep ${MARK} & echo started; sleep ${MARK}`, `echo never`);
const escaping = reply(`setsid sleep ${MARK} & (sleep ${MARK} &) & wait; sleep ${MARK}`);
/** One in nine, because each costs the whole grace between the polite signal and the other one. */
const stubborn = reply(`(trap '' TERM; sleep ${MARK}; sleep ${MARK}) & echo started; wait`);
const SCRIPT = `${`${ordinary}${escaping}`.repeat(4)}${stubborn}loop
`;

let base: string;
let mock: MockModel;
let engine: Engine;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  mock = await startMockModel({ script: SCRIPT });
  const variables = {
    PATH: process.env.PATH,
    OXBOW_HOME: await mkdtemp(join(base, "home-")),
    ...providerEnvironment("anthropic", mock.url),
  };
  const loaded = await loadSettings(parseFlags(RUN_FLAGS, ["--permission-mode", "allow"], "run"), variables);
  const registry = createModelRegistry({ variables });
  const { model } = await registry.choose({});
  const root = await realpath(await mkdtemp(join(base, "root-")));
  const notify = () => {};
  const sessions = new SessionStores({ ...loaded, variables, root, notify, hint: notify });
  const routes = new ModelRoutes({ loaded, registry, clock: systemClock });
  const place = { loaded, root, registry, routes, model };
  engine = createEngine({ place, variables, log: () => {}, sessions, notify, hint: notify });
});

afterAll(async () => {
  await engine.close();
  await mock.close();
  await rm(base, { recursive: true, force: true });
});

/** A small generator with a fixed seed: random moments that are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

async function cancelOften(seed: number, times: number): Promise<{ ended: string[]; openings: number }> {
  const next = random(seed);
  const client = connectInProcess(engine.host, { id: engine.newClientId(), canAnswer: false });
  const created = await client.send("CreateSession", {});
  const session = created.ok ? created.session : undefined;
  const ended: string[] = [];
  let openings = 0;
  for (let i = 0; i < times; i++) {
    // By number of events seen, or by turns of the event loop: both hit places that time alone would miss.
    const afterEvents = next() < 0.5 ? Math.floor(next() * 12) : undefined;
    const afterTicks = Math.floor(next() * 60);
    let seen = 0;
    const over = new Promise<void>((resolve) => {
      const stop = client.subscribe((event: Envelope) => {
        seen++;
        if (event.kind === "TurnStarted") openings++;
        if (event.kind === "TurnEnded") {
          ended.push(event.payload.outcome);
          stop();
          setImmediate(resolve);
        } else if (seen === afterEvents) void client.send("CancelTurn", {}, session);
      });
    });
    const reply = await client.send("SendInput", { content: [text("go")] }, session);
    expect(reply.ok).toBe(true);
    if (afterEvents === undefined || afterEvents === 0 || afterEvents > 8) {
      for (let tick = 0; tick < afterTicks; tick++) await new Promise<void>((resolve) => setImmediate(resolve));
      await client.send("CancelTurn", {}, session);
    }
    await over;
  }
  return { ended, openings };
}

describe("cancelling at random moments", () => {
  verifies(
    ["L9", "L14"],
    `${CANCELS} times: no orphan process, exactly one TurnEnded each`,
    async () => {
      const each = CANCELS / SESSIONS;
      const results = await Promise.all(Array.from({ length: SESSIONS }, (_, index) => cancelOften(index + 1, each)));
      for (const { ended, openings } of results) {
        expect(openings).toBe(each);
        expect(ended).toHaveLength(each);
        expect(new Set(ended)).toEqual(new Set(["cancelled"]));
      }
      expect(mock.failures).toEqual([]);
      expect(survivors(MARK)).toEqual([]);
    },
    240_000,
  );
});
