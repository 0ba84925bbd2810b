import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { endpointOf, findProvider, isReady } from "./named.js";
import { ownProvider } from "./own-provider.js";
import { parseProviderConf } from "./provider-conf.js";
import { readProviderFolder } from "./provider-folder.js";
import { readProviderTable } from "./provider-tables.js";

const ORIGIN = { origin: "here" };

describe("[M4] a .conf file", () => {
  it("says what a provider is", () => {
    const fields = parseProviderConf(
      [
        "\uFEFF# a comment",
        "protocol=openai",
        "  description = Groq, but ours  ",
        'model="openai/gpt-oss-120b"',
        "url=https://api.example.com/openai/v1/chat/completions",
        "auth_env=EXAMPLE_API_KEY\r",
        "max_tokens=4096",
        "",
        "stream=always",
        "header.X-Team = blue",
        "header.x-cost=centre=7",
      ].join("\n"),
      "x.conf",
    );
    const provider = ownProvider("acme", fields, ORIGIN);
    expect(provider).toEqual({
      name: "acme",
      wire: "openai-chat",
      baseUrl: "https://api.example.com/openai/v1",
      family: "acme",
      keyName: "EXAMPLE_API_KEY",
      description: "Groq, but ours",
      defaultModel: "openai/gpt-oss-120b",
      maxOutputTokens: 4096,
      headers: { "x-team": "blue", "x-cost": "centre=7" },
      origin: "here",
    });
    expect(isReady(provider, endpointOf(provider, {}))).toBe(false);
    expect(endpointOf(provider, { EXAMPLE_API_KEY: "k" })).toMatchObject({ key: "k", maxOutputTokens: 4096 });
  });

  it.each([
    ["protocol openai", 'x.conf:2: expected KEY=VALUE, got "protocol openai".'],
    ["modle=x", 'x.conf:2: there is no field "modle". Did you mean model?'],
    ["headers=x: y", "x.conf:2: headers: write each header by itself: header.NAME=VALUE."],
    [
      "colour=red",
      "There are protocol, description, model, url, auth_env, max_tokens, context_tokens, stream and header.NAME.",
    ],
    ["protocol=grpc", "x.conf:2: protocol: expected anthropic, openai, openai-responses, gemini or ollama, got"],
    ["url=ftp://x", "x.conf:2: url: expected an address that begins with http:// or https://"],
    ["url=https://", "x.conf:2: url: expected an address"],
    ["auth_env=$KEY", "x.conf:2: auth_env: expected the name of a variable"],
    ["max_tokens=0", "x.conf:2: max_tokens: expected a whole number from 1"],
    ["stream=never", "x.conf:2: stream: expected always"],
    ["model=", "x.conf:2: model: it is empty."],
    ["header.a b=c", 'x.conf:2: header.a b: "a b" is not the name of a header.'],
    ["description=b", "x.conf:2: description is already set in line 1."],
  ])("that says %j is refused with its line", (line, message) => {
    expect(() => parseProviderConf(`description=a\n${line}\n`, "x.conf")).toThrow(message);
  });

  it("needs a protocol only for an unknown name", () => {
    expect(() => ownProvider("acme", { url: "https://x.example" }, ORIGIN)).toThrow("needs a protocol");
    expect(ownProvider("groq", { model: "other" }, ORIGIN)).toMatchObject({
      wire: "openai-chat",
      defaultModel: "other",
    });
  });
});

describe("[M3] the user's own providers", () => {
  const variables = { OPENAI_API_KEY: "theirs", ZAI_API_KEY: "z" };

  it("never send a known service's key to a new name's host", () => {
    const own = ownProvider("box", { protocol: "openai", url: "http://box.lan:8000/v1" }, ORIGIN);
    expect(endpointOf(own, variables).key).toBeUndefined();
    expect(isReady(own, endpointOf(own, variables))).toBe(true);
    const sameHost = ownProvider("cheap", { protocol: "openai", model: "gpt-5-nano" }, ORIGIN);
    expect(endpointOf(sameHost, variables)).toMatchObject({ key: "theirs", family: "openai", provider: "cheap" });
    expect(endpointOf(sameHost, { ...variables, OPENAI_BASE_URL: "http://other" }).baseUrl).toBe(
      "https://api.openai.com/v1",
    );
  });

  it("may change a known one: address, key variable, protocol", () => {
    const moved = ownProvider("openai", { url: "https://gateway.example/v1" }, ORIGIN);
    expect(endpointOf(moved, variables)).toMatchObject({ key: "theirs", family: "openai-compatible" });
    expect(isReady(moved, endpointOf(moved, {}))).toBe(true);
    const rekeyed = ownProvider("openai", { auth_env: "WORK_KEY" }, ORIGIN);
    expect(isReady(rekeyed, endpointOf(rekeyed, variables))).toBe(false);
    const plan = ownProvider("zai", { protocol: "anthropic", url: "https://api.z.ai/api/anthropic" }, ORIGIN);
    expect(plan).toMatchObject({ wire: "anthropic", keyName: "ZAI_API_KEY", defaultModel: "glm-*", family: "zai" });
    const local = ownProvider("ollama", { url: "http://box.lan:11434" }, ORIGIN);
    expect(local).toMatchObject({ wire: "ollama", local: true, family: "ollama" });
  });

  it("are tables of the profile, with headers and fields for the body", () => {
    const table = { protocol: "openai-chat", url: "http://x/v1", headers: { "X-A": "1" }, body: { top_k: 3 } };
    expect(readProviderTable("box", table, "p")).toEqual({
      protocol: "openai",
      url: "http://x/v1",
      headers: { "x-a": "1" },
      body: { top_k: 3 },
    });
    const base = ownProvider("box", { protocol: "openai", url: "http://x/v1", headers: { a: "1", b: "1" } }, ORIGIN);
    expect(ownProvider("box", { headers: { b: "2" } }, { base, origin: "p" }).headers).toEqual({ a: "1", b: "2" });
    expect(() => readProviderTable("box", "x", "p")).toThrow("p (providers.box): expected a table");
    expect(() => readProviderTable("box", { max_tokens: true }, "p")).toThrow(
      "p (providers.box.max_tokens): expected a string or",
    );
    expect(() => readProviderTable("box", { headers: { a: "1\n2" } }, "p")).toThrow(
      "p (providers.box.headers): the header a must be",
    );
  });

  it("cannot be mixed up with a built-in one by accident", () => {
    expect(findProvider("openai-chat")).toBeUndefined();
  });
});

describe("[M2 M4] the folder of providers", () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  it("contains variants and programs, and says why other files cannot be used", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
    folders.push(folder);
    const file = async (name: string, { text = "#!/bin/sh\n", mode = 0o755 } = {}) => {
      await writeFile(join(folder, name), text);
      await chmod(join(folder, name), mode);
    };
    await file("acme.conf", { text: "", mode: 0o644 });
    await file("parrot.mjs");
    await file("my-curl");
    await file("open.sh", { mode: 0o777 });
    await file("forgotten.py", { mode: 0o644 });
    await file("README.md", { text: "read me", mode: 0o644 });
    await file(".hidden");
    await file("old~");
    await file("a b");
    await file("acme.sh");
    await mkdir(join(folder, "nested"));
    const entries = readProviderFolder(folder).map((entry) => [
      entry.name,
      entry.kind === "broken" ? entry.problem : entry.kind,
    ]);
    expect(entries).toEqual([
      ["a b", expect.stringContaining("letters, digits")],
      ["acme", "variant"],
      [expect.stringContaining("acme ("), expect.stringContaining("is named acme too: rename one of them")],
      ["forgotten", expect.stringContaining("is not executable: chmod +x")],
      ["my-curl", "executable"],
      ["open", expect.stringContaining("others can write to")],
      ["parrot", "executable"],
    ]);
    expect(readProviderFolder(join(folder, "nowhere"))).toEqual([]);
  });
});
