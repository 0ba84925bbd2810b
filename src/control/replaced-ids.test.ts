/** Engines that are killed again and again, and readers that are away for any number of kills. */
import { describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { verifies } from "../../test/verifies.js";
import { Bus } from "../engine/bus.js";
import type { Envelope } from "../protocol/envelope.js";
import { Attachments } from "./attachments.js";
import { MOST_AHEAD, rangesWith, withReplaced } from "./replaced-ids.js";
import type { Run } from "./run.js";

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return state % below;
  };
}

/** Describes what a client has of a session: after a loss it forgets the events from there on. */
class View {
  readonly id: `cli_${string}`;
  readonly tellsTime: boolean;
  events: Envelope[] = [];
  /** All that it ever got, and what of it came twice. */
  readonly #got = new Set<string>();
  readonly doubled: string[] = [];

  constructor(number: number) {
    // All of them share a token, and so the id.
    this.id = "cli_1";
    this.tellsTime = number % 2 === 0;
  }

  take(event: Envelope): void {
    if (event.kind === "StreamGap") this.events = this.events.filter(({ id }) => id < event.payload.from);
    else {
      this.events.push(event);
      if (this.#got.has(nameOf(event))) this.doubled.push(nameOf(event));
      this.#got.add(nameOf(event));
    }
  }

  get seen() {
    const last = this.events.at(-1);
    return { id: last?.id ?? 0, ...(this.tellsTime && last && { ts: last.ts }) };
  }
}

const nameOf = ({ id, ts }: Envelope) => `${id} ${ts}`;

/** One session over many runs. `log` is what is stored. */
class World {
  log: Envelope[] = [];
  #now = 0;
  #wasKilled = false;
  #memory: Envelope[] = [];
  #savedTo = 0;
  readonly #readers = new Map<View, symbol>();
  attachments!: Attachments;
  bus!: Bus;

  start(): void {
    const last = this.log.findLast(({ kind }) => kind === "SessionContinued");
    const earlier = last?.kind === "SessionContinued" ? last.payload.replaced : [];
    const replaced = this.#wasKilled ? withReplaced(earlier, this.log.length) : earlier;
    const clock = { wall: () => ++this.#now, now: () => this.#now, after: () => () => {} };
    this.bus = new Bus({
      ...{ session: "sess_1", originator: "cli_0", clock, firstId: this.log.length + 1, lastAt: this.log.at(-1)?.ts },
      first: this.#wasKilled ? { kind: "SessionContinued", payload: { replaced } } : undefined,
    });
    this.#memory = [...this.log];
    this.#savedTo = this.log.length;
    this.bus.subscribe((event) => this.#memory.push(event));
    const world = this;
    const run = {
      ...{ session: "sess_1", bus: this.bus, opening: [], replaced, saved: async () => this.save(this.#memory.length) },
      get savedTo() {
        return world.#savedTo;
      },
    };
    const history = async function* (_run: Run, after: number) {
      yield* world.#memory.slice(after, world.#savedTo);
    };
    this.attachments = new Attachments(run as unknown as Run, { events: history });
    this.attachments.follow();
  }

  publish(count: number): void {
    for (let i = 0; i < count; i++) this.bus.publish("TextDelta", { text: `${++this.#now}` });
  }

  save(upTo: number): void {
    this.#savedTo = Math.max(this.#savedTo, Math.min(upTo, this.#memory.length));
  }

  /** All that is not saved is lost, and every reader is cut off. */
  kill(unsaved: number): void {
    this.save(this.#memory.length - unsaved);
    this.log = this.#memory.slice(0, this.#savedTo);
    this.#readers.clear();
    this.#wasKilled = true;
  }

  get saved(): readonly Envelope[] {
    return this.#memory;
  }

  async attach(view: View): Promise<void> {
    if (this.#readers.has(view)) return;
    const stream = Symbol("stream");
    this.#readers.set(view, stream);
    const client = { id: view.id, identity: "human" as const, canAnswer: true, isRemote: true, stream };
    const deliver = (event: Envelope) => {
      if (this.#readers.get(view) === stream) view.take(event);
    };
    expect(await this.attachments.attachAfter({ ...client, deliver }, view.seen)).toBeUndefined();
  }

  detach(view: View): void {
    this.attachments.detach(this.#readers.get(view));
    this.#readers.delete(view);
  }
}

const ROUNDS = times(12, 2000);

describe("ids after a kill", () => {
  verifies(
    ["C3", "C10"],
    "never make a reader take an event for another one, however many kills it missed, and one that tells the time gets none twice",
    async () => {
      for (let seed = 1; seed <= ROUNDS; seed++) {
        const below = random(seed);
        const world = new World();
        const views = Array.from({ length: 4 }, (_, number) => new View(number));
        for (let run = 0; run < 4; run++) {
          world.start();
          for (let step = 0; step < 6; step++) {
            const view = views[below(views.length)] as View;
            if (below(3) === 0) world.detach(view);
            else await world.attach(view);
            world.publish(below(below(8) === 0 ? MOST_AHEAD * 2 : 12));
            if (below(2) === 0) world.save(world.saved.length - below(5));
            await new Promise((resolve) => setImmediate(resolve));
          }
          world.kill(below(below(4) === 0 ? MOST_AHEAD : 20));
        }
        world.start();
        world.publish(1);
        for (const view of views) {
          await world.attach(view);
          world.publish(1);
        }
        const stored = world.saved.map(nameOf);
        for (const view of views) {
          expect([seed, view.events.map(nameOf)]).toEqual([seed, stored]);
          if (view.tellsTime) expect([seed, view.doubled]).toEqual([seed, []]);
        }
      }
    },
    times(20_000, 170_000),
  );

  it("stay known, and of very many kills the oldest ones together", () => {
    let ranges: ReturnType<typeof withReplaced> = [];
    for (let kill = 0; kill < 1000; kill++) ranges = withReplaced(ranges, kill * 2000);
    expect(ranges.length).toBeLessThan(300);
    for (let kill = 0; kill < 1000; kill++) expect(rangesWith(ranges, kill * 2000 + MOST_AHEAD)).not.toEqual([]);
    expect(rangesWith(ranges, 1_998_000)).toEqual([]);
  });
});
