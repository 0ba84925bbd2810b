// What a task of 15 calls sends to a model: all requests of Oxbow beside those of pi, through the same mock model, each program called
// in its own words. Tokens are estimated from the texts (src/testkit/request-report.ts), bytes are those of the bodies.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withMock } from "./measure.mjs";
import { prepare, programsIn } from "./peers.mjs";

const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const MOST_OF_PI = 1.25;
const MOST_FIRST_BYTES = 12_288;

/** A call in Oxbow's words, and in pi's where it has no such tool or names it otherwise. */
const same = (tool, args) => ({ oxbow: [tool, args], pi: [tool, args] });
const bash = (command) => same("bash", { command });
const read = (path, part = {}) => same("read", { path, ...part });
const edit = (path, ...changes) => ({
  oxbow: ["edit", { path, edits: changes.map(([from, to]) => ({ old: from, new: to })) }],
  pi: ["edit", { path, edits: changes.map(([oldText, newText]) => ({ oldText, newText })) }],
});

const CALLS = [
  { oxbow: ["ls", { depth: 2 }], pi: ["bash", { command: "ls -la . src test" }] },
  read("package.json"),
  { oxbow: ["grep", { pattern: "priceOf", path: "src" }], pi: ["bash", { command: "grep -rn priceOf src" }] },
  read("src/orders.js"),
  read("src/prices.js", { offset: 1, limit: 60 }),
  bash("node --test 2>&1 | head -40"),
  edit("src/prices.js", ["return item.price * item.count;", "return item.price * item.count * (1 - item.discount);"]),
  bash("node --test 2>&1 | head -40"),
  // It occurs many times, so that it is refused.
  edit("src/orders.js", ["  return order;", "  return { ...order };"]),
  edit("src/orders.js", ["  order.step = 7;\n  return order;", "  order.step = 7;\n  return { ...order };"]),
  same("write", { path: "test/discount.test.js", content: testFile("discount", "0.5") }),
  read("src/missing.js"),
  bash("node --test 2>&1 | tail -12"),
  bash("git status --short; git diff --stat"),
  read("src/prices.js", { offset: 1, limit: 20 }),
];

export async function measureTokens({ peers, onProgress }) {
  const programs = programsIn(peers).filter((name) => name !== "codex");
  const reports = {};
  for (const name of programs) {
    onProgress(`${CALLS.length} calls of ${name}`);
    reports[name] = await runTask(name, peers);
  }
  const { oxbow, pi } = reports;
  const row = (name, key, traits) => ({
    name,
    unit: key.endsWith("ytes") ? "B" : "tokens",
    oxbow: oxbow[key],
    ...(pi !== undefined && { floor: pi[key], ratio: oxbow[key] / pi[key] }),
    ...traits,
  });
  return [
    row("tokens of a task of 15 calls", "tokens", pi === undefined ? {} : { limit: MOST_OF_PI }),
    row("bytes of a task of 15 calls", "bytes"),
    { name: "bytes of its first request", unit: "B", oxbow: oxbow.firstBytes, limitValue: MOST_FIRST_BYTES },
  ];
}

async function runTask(name, peers) {
  const calls = CALLS.map((call) => call[name]).map(
    ([tool, args]) => `reply\n  tool ${tool} ${JSON.stringify(args)}\n`,
  );
  return withMock(`${calls.join("")}reply\n  text: done\n`, async (mock) => {
    const { home, command, env, remove } = prepare(name, { peers, url: mock.url, kind: "prompt" });
    const work = join(home, "project");
    writeProject(work);
    const child = spawn(process.execPath, command, { cwd: work, env, stdio: ["ignore", "ignore", "inherit"] });
    const code = await new Promise((resolve) => child.on("close", resolve));
    const bodies = mock.requests.map(({ body }) => body);
    const report = measured(bodies, join(home, "requests.json"));
    remove();
    if (code !== 0 || bodies.length !== CALLS.length + 1)
      throw new Error(`${name}: exit code ${code}, ${bodies.length} requests`);
    return report;
  });
}

function measured(bodies, file) {
  writeFileSync(file, JSON.stringify(bodies));
  const { own } = JSON.parse(execFileSync(process.execPath, [BIN, "mx", file, "--json"], { encoding: "utf8" }));
  return { ...own, bytes: bodies.reduce((sum, body) => sum + Buffer.byteLength(JSON.stringify(body)), 0) };
}

/** A small project with a mistake in `prices.js`. */
function writeProject(folder) {
  const files = {
    "package.json": JSON.stringify(
      { name: "shop", version: "1.0.0", type: "module", scripts: { test: "node --test" } },
      null,
      2,
    ),
    "README.md": "# Shop\n\nOrders and prices.\n",
    "src/prices.js": pricesFile(),
    "src/orders.js": ordersFile(),
    "test/prices.test.js": testFile("prices", "0.1"),
  };
  for (const name of ["src", "test"]) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  for (const args of [
    ["init", "-q"],
    ["add", "."],
  ])
    execFileSync("git", args, { cwd: folder });
}

function pricesFile() {
  const rates = Array.from({ length: 40 }, (_, at) => `  region${at}: { rate: 0.${10 + at}, name: "Region ${at}" },`);
  return `export const RATES = {\n${rates.join("\n")}\n};\n\nexport function priceOf(item) {\n  return item.price * item.count;\n}\n`;
}

function ordersFile() {
  const steps = Array.from(
    { length: 30 },
    (_, at) =>
      `/** Moves an order to step ${at}. */\nexport function step${at}(order) {\n  order.step = ${at};\n  return order;\n}\n`,
  );
  return `import { priceOf } from "./prices.js";\n\nexport const total = (items) => items.reduce((sum, item) => sum + priceOf(item), 0);\n\n${steps.join("\n")}`;
}

function testFile(name, discount) {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { priceOf } from "../src/prices.js";

test("${name}: a discount lowers the price", () => {
  assert.equal(priceOf({ price: 100, count: 2, discount: ${discount} }), 200 * (1 - ${discount}));
});
`;
}
