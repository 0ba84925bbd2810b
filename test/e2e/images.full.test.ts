import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder, WIRES, type Wire } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

/** The beginning of a PNG, and enough behind it to be kept as a blob. */
function picture(): Buffer {
  const rest = Array.from({ length: 12_000 }, (_, index) => (index * index * 7919) % 251);
  return Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...rest]);
}

/** Lists where each wire carries an image. */
const AT: Readonly<Record<Wire, (base64: string) => string>> = {
  anthropic: (data) => `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}`,
  openai: (data) => `{"type":"image_url","image_url":{"url":"data:image/png;base64,${data}"}}`,
  "openai-responses": (data) => `"image_url":"data:image/png;base64,${data}"`,
  gemini: (data) => `{"inlineData":{"mimeType":"image/png","data":"${data}"}}`,
  ollama: (data) => `"images":["${data}"]`,
};

describe("--image", () => {
  verifies(
    ["M1", "S1", "S6"],
    "goes to every wire, is stored, and is there again when the session resumes",
    async () => {
      const models =
        "model mock-model capabilities=completion,tools,vision\nmodel blind capabilities=completion,tools\n";
      const started = await startMockModel({ script: `${models}reply\n  text: A cat.\nloop\n` });
      mock = started;
      const cwd = await temporaryFolder();
      // The name says nothing: the bytes do.
      await writeFile(join(cwd, "cat.txt"), picture());
      const home = await temporaryFolder();
      const env = {
        OXBOW_HOME: home,
        ...Object.assign({}, ...WIRES.map((wire) => providerEnvironment(wire, started.url))),
      };
      const args = [
        "--image",
        "cat.txt",
        "--provider",
        "anthropic",
        "--model",
        "mock-model",
        "--output-format",
        "json",
      ];
      const first = await oxbow(["run", "What is it?", ...args], { env, cwd });
      expect(first, first.stderr).toMatchObject({ code: 0 });
      const base64 = picture().toString("base64");
      const turns = [...WIRES.map((wire) => `${wire}:mock-model`), "ollama:blind"];
      const input = turns.map((model) => `/model ${model}\nAnd now, ${model}?\n`).join("");
      const again = await oxbow(["run", "--plain", "--continue"], { env, cwd, input });
      expect(again.stderr).not.toContain("oxbow:");
      for (const [index, wire] of WIRES.entries()) {
        const body = JSON.stringify(started.requests[index + 1]?.body);
        expect(body, wire).toContain(AT[wire](base64));
        expect(body.split(base64), wire).toHaveLength(2);
      }
      const blind = JSON.stringify(started.requests.at(-1)?.body);
      expect(blind).toContain("(An image was here. You cannot see it: this model reads only text.)");
      expect(blind).not.toContain(base64);
      const { session } = JSON.parse(first.stdout) as { session: string };
      const exported = await oxbow(["session", "export", session], { env, cwd });
      expect(exported.stdout).toContain(base64);
      const markdown = await oxbow(["session", "export", session, "--format", "markdown"], { env, cwd });
      expect(markdown.stdout).toContain("image/png");
      expect(markdown.stdout).not.toContain(base64);
    },
  );

  verifies(["M1", "O5"], "that the model does not accept is reported in one line, and nothing is sent", async () => {
    const started = await startMockModel({ script: "reply\n  text: never\n" });
    mock = started;
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "cat.gif"), "GIF89a");
    const env = providerEnvironment("gemini", started.url);
    const { code, stderr } = await oxbow(["run", "What is it?", "--image", "cat.gif"], { env, cwd });
    expect({ code, lines: stderr.split("\n").length }).toEqual({ code: 1, lines: 2 });
    expect(stderr).toContain("does not take image/gif");
    expect(started.requests).toEqual([]);
  });
});
