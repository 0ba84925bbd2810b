import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  createModelRegistry,
  type ModelRegistry,
  type ModelRegistryOptions,
} from "../../runtime/models/model-registry.js";
import { Catalogue } from "../catalogue/catalogue.js";
import { findProvider, type NamedProvider } from "../named.js";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** A server that knows some paths; it counts what it was asked. */
async function serve(answers: Readonly<Record<string, unknown>>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const key = body === "" ? `${request.url}` : `${request.url} ${JSON.parse(body).model}`;
    asked.push(key);
    response.writeHead(key in answers ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[key] ?? { error: "there is no such path" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  cleanUps.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function script(file: string, text: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
}

const named = (name: string) => findProvider(name) as NamedProvider;

const NOWHERE = "http://127.0.0.1:9";

const SERVICE: NamedProvider = {
  name: "service",
  wire: "anthropic",
  baseUrl: NOWHERE,
  keyName: "SERVICE_KEY",
  defaultModel: "big",
};
const OTHER: NamedProvider = { ...SERVICE, name: "other", keyName: "OTHER_KEY", modelNames: /^other-/ };

function local(name: string, baseUrl: string, owner?: RegExp): NamedProvider {
  const wire = name === "ollama" ? "ollama" : "openai-chat";
  return { name, wire, baseUrl, local: true, ...(owner && { owner }) };
}

const list = (owner: string, ...ids: string[]) => ({
  "/v1/models": { data: ids.map((id) => ({ id, owned_by: owner })) },
});
const tags = (...names: string[]) => ({ "/api/tags": { models: names.map((name) => ({ name })) } });

async function registry(
  builtIn: readonly NamedProvider[],
  options: Partial<ModelRegistryOptions> = {},
): Promise<ModelRegistry> {
  const home = await folder();
  return createModelRegistry({ variables: { PATH: "" }, builtIn, roots: { config: home, state: home }, ...options });
}

/** A person with these answers; what they were asked and told is kept. */
function person(...answers: (string | undefined)[]) {
  const messages: string[] = [];
  return {
    messages,
    ask: async (question: string) => {
      messages.push(question);
      return answers.shift();
    },
    notify: (message: string) => void messages.push(message),
  };
}

async function chosen(from: ModelRegistry, ...args: Parameters<ModelRegistry["choose"]>): Promise<string> {
  const { model } = await from.choose(...args);
  return `${model.provider}:${model.model}`;
}

describe("[M5] the choice without a named model", () => {
  it("takes the first key at once: nothing is asked of any server", async () => {
    const server = await serve(tags("a"));
    const from = await registry([SERVICE, OTHER, local("ollama", server.url)], {
      variables: { OTHER_KEY: "k", SERVICE_KEY: "" },
    });
    expect(await chosen(from, {})).toBe("other:big");
    expect(server.asked).toEqual([]);
  });

  it("takes the only model of the only server", async () => {
    const server = await serve(tags("one:latest", "nomic-embed-text:latest"));
    const from = await registry([SERVICE, local("ollama", server.url)]);
    expect(await chosen(from, {})).toBe("ollama:one:latest");
    expect((await from.choose({})).note).toBeUndefined();
  });

  it("tells servers on one port apart by what they say, asks each address once, and takes no stranger", async () => {
    const here = await serve(list("llamafile", "tiny"));
    const stranger = await serve(list("somebody", "x"));
    const from = await registry([
      local("llamacpp", `${here.url}/v1`, /^llamacpp$/),
      local("llamafile", `${here.url}/v1`, /^llamafile$/),
      local("vllm", `${stranger.url}/v1`, /^vllm$/),
    ]);
    expect(await chosen(from, {})).toBe("llamafile:tiny");
    expect(here.asked).toEqual(["/v1/models"]);
    const states = await from.providers();
    expect(states.map(({ name, ready, detail }) => [name, ready, detail])).toEqual([
      ["llamacpp", false, `llamafile answers at ${here.url}/v1`],
      ["llamafile", true, `${here.url}/v1`],
      ["vllm", false, `somebody answers at ${stranger.url}/v1`],
      ["offline", true, expect.any(String)],
    ]);
  });

  it("believes an address that the user gave", async () => {
    const server = await serve(list("somebody", "x"));
    const row: NamedProvider = { ...local("vllm", `${NOWHERE}/v1`, /^vllm$/), baseUrlName: "VLLM_BASE_URL" };
    const from = await registry([row], { variables: { VLLM_BASE_URL: server.url } });
    expect(await chosen(from, {})).toBe("vllm:x");
  });

  it("lets a person choose one of several, and remembers it", async () => {
    const server = await serve(tags("a", "b"));
    const other = await serve(list("vllm", "c"));
    const roots = { config: await folder(), state: join(await folder(), "made", "later") };
    const rows = [local("ollama", server.url), local("vllm", `${other.url}/v1`, /^vllm$/)];
    const someone = person("9", "none", "3");
    const questions = someone.messages;
    const from = await registry(rows, { roots });
    expect(await chosen(from, {}, someone)).toBe("vllm:c");
    expect(questions[0]).toBe("Several models are ready:\n  1  ollama:a\n  2  ollama:b\n  3  vllm:c\nWhich one? [1] ");
    expect(questions.slice(1)).toEqual(["A number from 1 to 3: ", "A number from 1 to 3: "]);
    expect(await chosen(await registry(rows, { roots }), {}, someone)).toBe("vllm:c");
    expect(questions).toHaveLength(3);
    await from.resolve("ollama:b");
    expect(await chosen(await registry(rows, { roots }), {}, someone)).toBe("ollama:b");
  });

  it("takes the first of several without a user, and reports it", async () => {
    const server = await serve(tags("a", "b"));
    const { model, note } = await (await registry([local("ollama", server.url)])).choose({});
    expect(model.model).toBe("a");
    expect(note).toMatch(/^2 models are ready; using ollama:a\. Choose another with --model/);
    const silent = await registry([local("ollama", server.url)]);
    expect(await chosen(silent, {}, person())).toBe("ollama:a");
    expect(await chosen(silent, {}, person(" "))).toBe("ollama:a");
  });

  it("is offline if nothing is found, and a named model is then missing", async () => {
    const from = await registry([SERVICE, local("ollama", NOWHERE)]);
    const { model, note } = await from.choose({});
    expect(model.provider).toBe("offline");
    expect(note).toContain("no model is connected");
    const { failure } = await from.choose({ model: "qwen" });
    expect(failure?.message).toMatch(/^No model: no available provider has 'qwen'/);
  });

  it("offers to start an installed Ollama: asks a user, otherwise only mentions it", async () => {
    const bin = await folder();
    await script(join(bin, "ollama"), "exit 1");
    const rows = [local("ollama", NOWHERE)];
    const variables = { PATH: bin };
    const alone = await (await registry(rows, { variables })).choose({});
    expect(alone.note).toContain("start Ollama, which is installed ('oxbow ollama start')");
    const refused = await (await registry(rows, { variables })).choose({}, person("n"));
    expect(refused.note).toContain("'oxbow ollama start'");
    const failed = await (await registry(rows, { variables })).choose({}, person(""));
    expect(failed.note).toContain("run 'ollama serve' yourself to see why it did not start");
    const elsewhere = await (await registry([local("ollama", "http://box.invalid")], { variables })).choose({});
    expect(elsewhere.note).not.toContain("which is installed");
  });

  it("starts Ollama for a person who says yes, and uses what it has", async () => {
    const free = await serve({});
    await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
    const bin = await folder();
    const server = `require("node:fs").writeFileSync(${JSON.stringify(join(bin, "pid"))}, String(process.pid));
      require("node:http").createServer((request, response) => response.end('{"models":[{"name":"fresh"}]}'))
        .listen(${new URL(free.url).port}, "127.0.0.1");`;
    await writeFile(join(bin, "server.cjs"), server);
    await script(join(bin, "ollama"), `[ "$1" = serve ] && exec '${process.execPath}' '${join(bin, "server.cjs")}'`);
    cleanUps.unshift(async () => process.kill(Number(await readFile(join(bin, "pid"), "utf8"))));
    const someone = person("y");
    expect(await chosen(await registry([local("ollama", free.url)], { variables: { PATH: bin } }), {}, someone)).toBe(
      "ollama:fresh",
    );
    expect(someone.messages).toEqual([
      "Ollama is installed but not running. Start it now? [Y/n] ",
      "starting Ollama …",
    ]);
  });

  it("takes a program of the user's that is ready before a server, and none that is not", async () => {
    const server = await serve(tags("a"));
    const home = await folder();
    await mkdir(join(home, "providers"));
    const program = join(home, "providers", "mine.sh");
    const says = 'case $1 in --env) echo MY_KEY;; --ready) [ -n "$MY_KEY" ] || { echo set MY_KEY >&2; exit 1; };;';
    await script(program, `${says} --defaults) echo model=m1;; --describe) echo Mine;; *) echo hello;; esac`);
    const roots = { config: home, state: home };
    const rows = [local("ollama", server.url)];
    const without = await registry(rows, { roots });
    expect(await chosen(without, {})).toBe("ollama:a");
    const states = await without.providers("mine");
    expect(states).toEqual([expect.objectContaining({ name: "mine", ready: false, detail: "set MY_KEY" })]);
    const ready = await registry(rows, { roots, variables: { MY_KEY: "k" } });
    expect(await chosen(ready, {})).toBe("mine:m1");
    expect(await chosen(ready, { model: "mine:m2" })).toBe("mine:m2");
  });
});

describe("[M5 M7] a model by its name alone", () => {
  it("belongs to the provider whose names look like that, else to the one in use, else to the first", async () => {
    const from = await registry([SERVICE, OTHER], { variables: { SERVICE_KEY: "k", OTHER_KEY: "k" } });
    expect(await chosen(from, { model: "other-1" })).toBe("other:other-1");
    expect(await chosen(from, { model: "x" })).toBe("other:x");
    const fresh = await registry([SERVICE, OTHER], { variables: { SERVICE_KEY: "k", OTHER_KEY: "k" } });
    expect(await chosen(fresh, { model: "x" })).toBe("service:x");
  });

  it("is the newest Claude of a family, where it names only that", async () => {
    const ids = (await new Catalogue().ids("anthropic")).filter((id) => /^claude-haiku-[\d-]{1,5}$/.test(id));
    const from = await registry([named("openai"), named("anthropic")], {
      variables: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" },
    });
    expect(await chosen(from, { model: "gpt-x" })).toBe("openai:gpt-x");
    const haiku = await chosen(from, { model: "haiku" });
    expect(ids.map((id) => `anthropic:${id}`)).toContain(haiku);
    expect(await chosen(from, { model: "anthropic:haiku" })).toBe(haiku);
    expect(await chosen(from, { model: "anthropic:nosuch" })).toBe("anthropic:nosuch");
    expect(await chosen(from, { model: "openai:haiku" })).toBe("openai:haiku");
  });

  it("belongs to the local server that has it", async () => {
    const first = await serve(tags("a"));
    const second = await serve(list("vllm", "c"));
    const from = await registry([local("ollama", first.url), local("vllm", `${second.url}/v1`)]);
    expect(await chosen(from, { model: "c" })).toBe("vllm:c");
  });
});

describe("[M5 M7] what the servers tell of their models", () => {
  it("is how much they read and whether they call tools", async () => {
    const show = (context: number, ...capabilities: string[]) => ({
      model_info: { "llama.context_length": context },
      capabilities,
    });
    const ollama = await serve({
      ...tags("a", "b"),
      "/api/show a": show(40960, "completion", "tools"),
      "/api/show b": show(8192, "completion"),
    });
    const llamacpp = await serve({
      ...list("llamacpp", "l"),
      "/props": { default_generation_settings: { n_ctx: 16384 } },
    });
    const newer = await serve({
      ...list("organization_owner", "k", "e"),
      "/api/v1/models": {
        models: [
          {
            key: "k",
            type: "llm",
            max_context_length: 9,
            capabilities: { trained_for_tool_use: true },
            loaded_instances: [{ config: { context_length: 5000 } }],
          },
          { key: "e", type: "embedding" },
        ],
      },
    });
    const older = await serve({
      ...list("organization_owner", "k"),
      "/api/v0/models": { data: [{ id: "k", type: "llm", max_context_length: 7000, capabilities: ["tool_use"] }] },
    });
    const from = await registry([
      local("ollama", ollama.url),
      local("llamacpp", `${llamacpp.url}/v1`),
      local("lmstudio", `${newer.url}/v1`),
    ]);
    const models = async (registry: ModelRegistry) =>
      (await registry.providers()).flatMap((state) => state.models.map((m) => [m.id, m.maxContextTokens, m.tools]));
    expect(await models(from)).toEqual([
      ["a", 40960, true],
      ["b", 8192, false],
      ["l", 16384, undefined],
      ["k", 5000, true],
      ["offline", undefined, undefined],
    ]);
    expect((await models(await registry([local("lmstudio", `${older.url}/v1`)])))[0]).toEqual(["k", 7000, true]);
    expect(await from.menu()).toMatch(
      /ollama: http.*\n {2}1 {2}ollama:a +40k context, tools\n {2}2 {2}ollama:b +8k context, no tools\n/,
    );
    const fourth = await from.numbered(4);
    expect("model" in fourth && fourth.model.provider).toBe("lmstudio");
    const tenth = await from.numbered(10);
    expect("failure" in tenth && tenth.failure.message).toBe("No model: there is no model 10: the list ends at 5.");
  });
});
