// The measurements. The two programs take turns, so that a slow moment of the machine hits both. Other work on the machine only adds
// time, so of the rounds of a time the lower quartile counts, for both programs.
import { startMockModel } from "../../dist/testkit.js";
import { median, rowOf } from "./statistic.mjs";
import { runPrompt, runVersion, SUBJECTS } from "./subject.mjs";

const TOOL_TURNS = 50;
const DELTAS = 20_000;
/** A quick model takes as long to begin its answer. */
const THINKING_MS = 300;
/** The time that a shell turn may take outside the sandbox and in it; the ratios say the same for slower machines. */
const TURN_MS = 12;
const SANDBOXED_TURN_MS = 25;
const FIRST_CALL_MS = 100;

export async function alternate(rounds, action, subjects = SUBJECTS) {
  const values = Object.fromEntries(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse())
      values[subject].push(await action(subject));
  }
  return values;
}

/** The mock stamps its requests with the same clock that the starts are measured by. */
const clock = {
  now: () => performance.now(),
  wall: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export async function withMock(script, action) {
  const mock = await startMockModel({ script, clock });
  try {
    return await action(mock);
  } finally {
    await mock.close();
  }
}

export async function measureAll({ rounds, onProgress }) {
  const rows = [];
  /** Of what takes seconds. */
  const fewRounds = Math.max(5, rounds >> 1);
  const add = (name, unit, values, traits = {}) => {
    rows.push(rowOf({ name, unit, values, ...traits }));
  };

  onProgress("cold start");
  add("cold start (--version)", "ms", await alternate(rounds, runVersion), { limit: 1.5 });

  onProgress("start to first request");
  let firstRequestBytes = 0;
  const first = await alternate(rounds, (subject) =>
    withMock("reply\n  text: hello\n", async (mock) => {
      const { startedAt } = await runPrompt(subject, { url: mock.url });
      const request = mock.requests[0];
      if (subject === "oxbow") firstRequestBytes = Buffer.byteLength(JSON.stringify(request.body));
      return request.at - startedAt;
    }),
  );
  add("start to first request", "ms", first, { limit: 2 });

  onProgress(`${TOOL_TURNS} shell turns`);
  const script = `${'reply\n  tool bash {"command": "echo hello"}\n'.repeat(TOOL_TURNS)}reply\n  text: done\n`;
  const flatness = { floor: [], oxbow: [] };
  const memory = { floor: [], oxbow: [] };
  // The sandbox has a row of its own; the session is stored and can be undone.
  const turns = await alternate(fewRounds, (subject) =>
    withMock(script, async (mock) => {
      const flags = ["--sandbox", "off"];
      const { usage } = await runPrompt(subject, { url: mock.url, measureUsage: true, flags });
      const at = mock.requests.map((request) => request.at);
      const gaps = at.slice(1).map((time, index) => time - at[index]);
      flatness[subject].push(median(gaps.slice(40, 50)) / median(gaps.slice(1, 11)));
      memory[subject].push(usage.rssMiB);
      return median(gaps);
    }),
  );
  add("a shell turn", "ms", turns, { limit: 3.4, enoughMs: TURN_MS });

  onProgress(`${TOOL_TURNS} shell turns in the sandbox`);
  const sandboxed = await alternate(fewRounds, (subject) =>
    withMock(script, async (mock) => {
      // Here the floor is ourselves without it.
      const flags = ["--sandbox", subject === "floor" ? "off" : "auto"];
      await runPrompt("oxbow", { url: mock.url, flags });
      const at = mock.requests.map((request) => request.at);
      return median(at.slice(1).map((time, index) => time - at[index]));
    }),
  );
  add("a shell turn, sandboxed against not", "ms", sandboxed, { limit: 2.1, enoughMs: SANDBOXED_TURN_MS });

  onProgress("first tool call");
  const asks = `reply\n  delay ${THINKING_MS}ms\n  tool bash {"command": "echo hello"}\nreply\n  text: done\n`;
  const firstCall = await alternate(fewRounds, (subject) =>
    withMock(asks, async (mock) => {
      await runPrompt(subject, { url: mock.url });
      const [asked, told] = mock.requests.map((request) => request.at);
      return told - asked - THINKING_MS;
    }),
  );
  add("first tool call after its answer", "ms", firstCall, { limit: 8, enoughMs: FIRST_CALL_MS });
  // Both drift a little: the conversation grows, and starting a process takes longer the larger the heap is.
  add("late turns against early ones", "x", flatness, { limit: 1.5 });

  onProgress(`${DELTAS.toLocaleString("en-US")} deltas`);
  const deltaMemory = { floor: [], oxbow: [] };
  const deltas = await alternate(Math.max(3, rounds >> 2), (subject) =>
    withMock(`reply\n  text repeat=${DELTAS}: word \n`, async (mock) => {
      const { usage } = await runPrompt(subject, { url: mock.url, measureUsage: true });
      deltaMemory[subject].push(usage.rssMiB);
      return usage.cpuMs;
    }),
  );
  add("CPU of 20,000 deltas", "ms", deltas, { limit: 2.5 });
  add("peak memory, shell turns", "MiB", memory, { limit: 1.6 });
  add("peak memory, deltas", "MiB", deltaMemory, { limit: 1.6 });
  rows.push({ name: "first request", unit: "bytes", oxbow: firstRequestBytes, limitValue: 12_288 });
  return rows;
}
