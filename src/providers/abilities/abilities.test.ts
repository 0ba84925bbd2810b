import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import { createHttpClient } from "../../system/http-client.js";
import { type MockModel, startMockModel } from "../../testkit/mock-model/server.js";
import { createHttpModel } from "../http-model.js";
import { loadWire } from "../named.js";
import { AbilityStore } from "./ability-store.js";
import { Unreachable } from "./ask.js";
import { type MeasureOptions, measureAbilities } from "./measure.js";
import type { EditFormat } from "./probes.js";
import { type Ability, type Finding, fitOf } from "./report.js";
import { solidPng } from "./solid-png.js";

let mock: MockModel | undefined;
const http = createHttpClient();
const folders: string[] = [];
afterEach(async () => {
  http.close();
  await mock?.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const GOOD = `
reply times=any when last-user contains "17 + 25"
  text: It is 42.
reply times=any when last-tool-result contains "snow"
  text: -13.5 degrees
reply times=any when last-user contains "in Rome"
  tool get_weather {"city": "Oslo"}
  tool get_weather {"city": "Rome, Italy"}
reply times=any when last-user contains "in Oslo"
  tool get_weather {"city": "Oslo"}
reply times=any when last-user contains "shop.js" and tools contains "change"
  tool change {"to": "sum += item.price * item.count;"}
reply times=any when last-user contains "Ada"
  text: {"name": "Ada", "age": 36}
reply times=any when last-user contains "code word is K37526"
  text: K37526
reply times=any when last-user contains "code word is K75052"
  text: K75052
reply times=any when last-user contains "Which colour" and body contains "image_url"
  text: red
`;

/** Replaces the line that the probe is about. */
const change: EditFormat = {
  tool: { name: "change", description: "", inputSchema: { type: "object" } },
  apply: async (before, { args }) =>
    args.to === undefined ? { problem: "no line" } : { after: before.replace("sum += item.price;", String(args.to)) },
};

async function measure(script: string, more: Partial<MeasureOptions> = {}) {
  mock = await startMockModel({ script, seed: 1 });
  const endpoint = { provider: "test", family: "test", baseUrl: `${mock.url}/v1`, local: true } as const;
  const model = createHttpModel({ wire: await loadWire("openai-chat"), endpoint, model: "m", http });
  const seen: string[] = [];
  const findings = await measureAbilities(model, {
    signal: new AbortController().signal,
    clock: new ManualClock(),
    edits: { string_replace: change, patch: change },
    contextSizes: [2000, 4000],
    onProgress: (message) => seen.push(message),
    onFinding: () => {},
    ...more,
  });
  return { findings, seen, able: Object.fromEntries(findings.map(({ ability, able }) => [ability, able])) };
}

describe("[M20] measuring a model", () => {
  it("finds everything with one that can everything", async () => {
    const { able, findings, seen } = await measure(GOOD);
    expect(able).toEqual({
      answer: true,
      tool_call: true,
      parallel_calls: true,
      tool_result: true,
      string_replace: true,
      patch: true,
      json_schema: true,
      context: true,
      images: true,
    });
    expect(findings.find(({ ability }) => ability === "context")?.tokens).toBe(4000);
    expect(seen.filter((message) => message.startsWith("8/9"))).toHaveLength(3);
    expect(mock?.requests).toHaveLength(10);
  });

  it("tries again once, and says what came instead", async () => {
    const { findings } = await measure(
      'reply\n  text: 41\nreply\n  text: 42\nreply times=2\n  tool get_weather {"town": "Oslo"}\n',
      { only: ["answer", "tool_call"] },
    );
    expect(findings).toMatchObject([
      { able: true, detail: "at the second try" },
      { able: false, detail: '"city" is missing (string)' },
    ]);
  });

  it("does not ask for more calls of a model that makes none, and reads no further than it can", async () => {
    const { able, findings } = await measure("reply times=any\n  text: hm", { capabilities: ["completion"] });
    expect(able).toMatchObject({ tool_call: false, parallel_calls: false, patch: false, images: false });
    expect(findings.find(({ ability }) => ability === "context")).toMatchObject({ tokens: 0, able: false });
    expect(mock?.requests).toHaveLength(2 + 2 + 2 + 1);
  });

  it("ends when the model cannot be asked, and takes a refusal for a finding", async () => {
    await expect(measure("reply times=any\n  error auth")).rejects.toBeInstanceOf(Unreachable);
    await mock?.close();
    const { able } = await measure("reply times=any\n  error bad-request", { only: ["images"] });
    expect(able).toEqual({ images: false });
  });

  it("shows an image that is one", () => {
    const png = Buffer.from(solidPng([1, 2, 3]), "base64");
    const start = png.indexOf("IDAT") + 4;
    const length = png.readUInt32BE(start - 8);
    const pixels = inflateSync(png.subarray(start, start + length));
    expect([pixels.length, ...pixels.subarray(0, 4)]).toEqual([64 * (1 + 64 * 3), 0, 1, 2, 3]);
  });
});

describe("[M20] what a model is offered", () => {
  const offered = (...lacking: readonly Ability[]) =>
    fitOf({ findings: lacking.map((ability): Finding => ({ ability, able: false, detail: "", elapsed_ms: 0 })) }, [
      "ls",
      "todo",
    ]);

  it("is everything, but for an edit format it cannot write", () => {
    expect(offered()).toEqual({ prompt: "full", without: [] });
    expect(offered("parallel_calls", "json_schema", "images")).toEqual({ prompt: "full", without: [] });
    expect(offered("patch")).toEqual({ prompt: "full", without: ["apply_patch"] });
    expect(offered("string_replace")).toEqual({ prompt: "full", without: ["edit"] });
  });

  it("is less when it is weak", () => {
    for (const lacking of [["tool_result"], ["tool_call"], ["patch", "string_replace"], ["context"]] as const) {
      const { prompt, without } = offered(...lacking);
      expect(prompt).toBe("small");
      expect(without).toEqual(expect.arrayContaining(["ls", "todo"]));
      expect(without).not.toContain("edit");
    }
    const long: Finding = { ability: "context", able: false, tokens: 16_000, detail: "", elapsed_ms: 0 };
    expect(fitOf({ findings: [long] }, []).prompt).toBe("full");
  });
});

describe("[M20] the reports", () => {
  const finding: Finding = { ability: "patch", able: false, detail: "said: no", elapsed_ms: 12 };
  const report = (model: string, digest: string) => ({
    provider: "ollama",
    model,
    digest,
    measured_at: "2026-01-01T00:00:00.000Z",
    findings: [finding],
  });
  const open = () => {
    const folder = mkdtempSync(join(tmpdir(), "oxbow-test-"));
    folders.push(folder);
    const path = join(folder, "models", "abilities.json");
    return { store: new AbilityStore(path), path };
  };

  it("are kept by model, the newest only, and forgotten when asked", async () => {
    const { store } = open();
    expect(store.find({ provider: "ollama", model: "a" })).toBeUndefined();
    await store.keep(report("a", "1"));
    await store.keep(report("b", "1"));
    await store.keep(report("a", "2"));
    expect(store.find({ provider: "ollama", model: "a" })).toEqual(report("a", "2"));
    expect(await store.forget({ provider: "ollama", model: "a" })).toBe(true);
    expect(await store.forget({ provider: "ollama", model: "a" })).toBe(false);
    expect(store.find({ provider: "ollama", model: "b" })).toEqual(report("b", "1"));
  });

  it("survive a file that is damaged", async () => {
    const { store, path } = open();
    await store.keep(report("a", "1"));
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, whole.slice(0, 40));
    expect(store.find({ provider: "ollama", model: "a" })).toBeUndefined();
    await store.keep(report("a", "1"));
    expect(readFileSync(path, "utf8")).toBe(whole);
  });
});
