/** The official conformance suite of MCP drives the server of `oxbow serve`. docs/editors.md says which scenarios do not apply. */
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { mcpMount } from "../../src/control/transports/mcp-server/http-mount.js";
import { mcpMountOf } from "../../src/runtime/mcp-mount.js";
import { type ServedEngine, serveEngine } from "../../src/runtime/serve.js";
import { type MockModel, script, startMockModel } from "../../src/testkit/index.js";
import { CONFORMANCE_OFFER } from "../support/conformance-offer.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { withToken } from "../support/with-token.js";
import { verifies } from "../verifies.js";

const PACKAGES = join(process.env.OXBOW_TEST_PACKAGES ?? "", "node_modules");
const RUNNER = join(PACKAGES, "@modelcontextprotocol/conformance/dist/index.js");
/** The runner needs a newer Node than Oxbow. */
const NODE =
  [join(PACKAGES, `node-${process.platform}-${process.arch}`, "bin/node"), process.execPath].find(existsSync) ??
  process.execPath;

/** They call tools, resources and prompts of the suite's own example server by name; the second subject below has those. */
const EXAMPLES = [
  ...["simple-text", "image", "audio", "embedded-resource", "mixed-content", "error", "with-progress"].map(
    (name) => `tools-call-${name}`,
  ),
  ...["json-schema-2020-12", "resources-read-text", "resources-read-binary", "resources-templates-read"],
  ...["simple", "with-args", "embedded-resource", "with-image"].map((name) => `prompts-get-${name}`),
];

const NOT_OURS: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": [
    ...EXAMPLES,
    ...["tools-call-with-logging", "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults"],
    ...["server-sse-polling", "elicitation-sep1330-enums", "resources-subscribe", "resources-unsubscribe"],
  ],
  "2026-07-28": [
    ...EXAMPLES,
    ...["rejects-undeclared-capability", "no-log-without-loglevel"].map(
      (id) => `server-stateless:sep-2575-server-${id}`,
    ),
    "server-stateless:sep-2575-missing-capability-http-400",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
    "http-custom-header-server-validation",
    ...[
      "basic-elicitation",
      "basic-sampling",
      "basic-list-roots",
      "request-state",
      "multiple-input-requests",
      "multi-round",
    ].map((name) => `input-required-result-${name}`),
    ...[
      "missing-input-response",
      "non-tool-request",
      "result-type",
      "tampered-state",
      "capability-check",
      "ignore-extra-params",
    ].map((name) => `input-required-result-${name}`),
  ],
};

/** The library checks arguments in headers only for tools of its own registry, which Oxbow does not use: none of its tools has such an argument. */
const NOT_SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": [],
  "2026-07-28": ["http-custom-header-server-validation"],
};

/** Says where the scenarios run: the engine's own tools, and what the scenarios name (`test/support/conformance-offer.ts`), behind the same server. */
const SUBJECTS: Readonly<
  Record<string, { readonly path: string; readonly except: Readonly<Record<string, readonly string[]>> }>
> = {
  "the server of an engine": { path: "/mcp", except: NOT_OURS },
  "the server with what the scenarios name": { path: "/example", except: NOT_SUPPORTED },
};

let folder: string;
let mock: MockModel;
let hosted: HostedEngine;
let served: ServedEngine;
const fronts: Awaited<ReturnType<typeof withToken>>[] = [];
/** All at once: the suite mostly waits. */
const runs = new Map<string, ReturnType<typeof runSuite>>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  mock = await startMockModel({ script: script([]) });
  hosted = await hostEngine(folder, mock);
  const { engine } = hosted;
  const { host, clock } = engine;
  const example = mcpMount({
    ...{ host, clock, version: "0", log: () => {}, offer: CONFORMANCE_OFFER },
    newClientId: () => engine.newClientId(),
  });
  const mounts = [mcpMountOf(engine, { variables: {}, log: () => {} }), { ...example, path: "/example" }];
  const roots = { state: join(folder, "state"), config: join(folder, "config") };
  served = await serveEngine(engine, { roots, variables: {}, socket: false, listen: ["127.0.0.1:0"], mounts });
  for (const [subject, { path, except }] of Object.entries(SUBJECTS)) {
    const front = await withToken(new URL(path, served.addresses[0]), served.ownerToken);
    fronts.push(front);
    for (const [revision, scenarios] of Object.entries(except))
      runs.set(`${subject} ${revision}`, runSuite(front.url, revision, scenarios));
  }
});

afterAll(async () => {
  for (const front of fronts) front.close();
  await served.close();
  await hosted.engine.close();
  await mock.close();
  await rm(folder, { recursive: true, force: true });
});

function runSuite(
  url: URL,
  revision: string,
  except: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const baseline = join(folder, `expected-${revision}-${url.port}.yml`);
  writeFileSync(
    baseline,
    `server:${except.length === 0 ? " []" : ""}\n${except.map((scenario) => `  - ${scenario}\n`).join("")}`,
  );
  const args = [RUNNER, "server", "--url", url.href, "--suite", "all", "--spec-version", revision];
  return new Promise((resolve) => {
    const options = { timeout: 120_000, maxBuffer: 16 * 1024 * 1024 };
    execFile(NODE, [...args, "--expected-failures", baseline], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}

describe("the official conformance suite", () => {
  for (const [subject, { except }] of Object.entries(SUBJECTS)) {
    for (const revision of Object.keys(except)) {
      verifies(
        ["C8"],
        `passes at ${revision} for ${subject}`,
        async () => {
          const { code, output } = (await runs.get(`${subject} ${revision}`)) ?? { code: 1, output: "" };
          expect(code, output.slice(-3000)).toBe(0);
        },
        130_000,
      );
    }
  }
});
