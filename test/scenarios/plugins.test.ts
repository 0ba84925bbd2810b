/** Plugins through the real engine: the examples, everything a plugin can add, and plugins that fail. */
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { EngineClient } from "../../src/protocol/client.js";
import type { Envelope, EnvelopeOf } from "../../src/protocol/envelope.js";
import type { EventKind } from "../../src/protocol/events.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, type ReplyBuilder, reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const EXAMPLES = join(import.meta.dirname, "..", "..", "examples", "plugins");

const open: { mock: MockModel; hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

interface Place extends HostedEngine {
  readonly mock: MockModel;
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly messages: readonly string[];
}

interface Options {
  readonly profile?: (folder: string) => string;
  /** The code of plugins of the user's folder, by file name. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** Files of the configuration folder. */
  readonly config?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Files that the profile names, which the user approved. */
  readonly code?: readonly string[];
}

async function start(replies: readonly ReplyBuilder[], options: Options = {}): Promise<Place> {
  const { profile = () => "", plugins = {}, config = {}, flags = ["--permission-mode", "allow"], files = {} } = options;
  const mock = await startMockModel({ script: script(replies) });
  const base = await temporaryFolder();
  const [home, folder] = [await mkdtemp(join(base, "home-")), await mkdtemp(join(base, "work-"))];
  await mkdir(join(home, "config", "plugins"), { recursive: true });
  await writeFile(join(home, "config", "config.toml"), profile(folder));
  const own = Object.entries(plugins).map(([name, code]) => [join("plugins", name), code] as const);
  for (const [name, code] of [...own, ...Object.entries(config)]) await put(join(home, "config", name), code);
  for (const [name, text] of Object.entries(files)) await put(join(folder, name), text);
  await approve(folder, { home, code: options.code ?? [] });
  const messages: string[] = [];
  const notify = (message: string) => void (message.includes("plugin") && messages.push(message));
  const hosted = await hostEngine(base, mock, { flags, home, content: { folder, notify } }).catch(async (error) => {
    await mock.close();
    throw error;
  });
  open.push({ mock, hosted });
  const client = connectInProcess(hosted.engine.host, { id: hosted.engine.newClientId(), canAnswer: true });
  const created = await client.send("CreateSession", {});
  if (!created.ok || created.session === undefined) throw new Error("no session");
  client.subscribe((event) => {
    if (event.kind !== "PermissionRequested") return;
    const answer = { call: event.payload.call, decision: "allow_once" } as const;
    void client.send("AnswerPermission", answer, created.session);
  });
  return { ...hosted, mock, client, session: created.session, messages };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

function of<K extends EventKind>(events: readonly Envelope[], kind: K): readonly EnvelopeOf<K>["payload"][] {
  return events.filter((event) => event.kind === kind).map(({ payload }) => payload as EnvelopeOf<K>["payload"]);
}

function resultTexts(events: readonly Envelope[]): readonly string[] {
  return of(events, "ToolResult").map(({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
  );
}

async function command({ client, session }: Place, verb: string, args = ""): Promise<string> {
  const answer = await client.send("CustomCommand", { namespace: "slash", verb, payload: { args } }, session);
  if (!answer.ok) throw new Error(answer.failure.message);
  return (answer.value as { text: string }).text;
}

describe("a plugin with events", () => {
  verifies(["E4"], "publishes them in the session of its command, which clients reach by its namespace", async () => {
    const code = `export default (oxbow) => {
      oxbow.subscribe((event) => {
        if (event.kind === "TurnEnded") oxbow.publish(event.session, "seen", { turn: event.payload.turn });
      });
      oxbow.addCommand({ name: "hello", summary: "Says hello", run: (args, { session }) => {
        oxbow.publish(session, "greeted", { args });
        return "hello " + args;
      } });
      oxbow.addCommand({ name: "wrong", summary: "Publishes what it may not", run: (args, { session }) => {
        oxbow.publish(args === "" ? session : args, "big", "x".repeat(70000));
        return "done";
      } });
    };`;
    const { client, session } = await start([reply().text("Hi.")], { plugins: { "kit.mjs": code } });
    const events: Envelope[] = [];
    client.subscribe((event) => void (event.kind === "CustomEvent" && events.push(event)));
    const ask = (verb: string, args: string) =>
      client.send("CustomCommand", { namespace: "kit", verb, payload: { args } }, session);
    expect(await ask("hello", "you")).toMatchObject({ ok: true, value: { text: "hello you" } });
    expect(events).toMatchObject([
      { session, payload: { namespace: "kit", kind: "greeted", payload: { args: "you" } } },
    ]);
    expect(JSON.stringify(await ask("wrong", ""))).toContain("64 KB");
    expect(JSON.stringify(await ask("wrong", "sess_other"))).toContain("no open session");
    expect(await ask("nonsense", "")).toMatchObject({ failure: { reason: "InvalidInput" } });
    await turnOf(client, session, "hi");
    expect(events.map((event) => event.kind === "CustomEvent" && event.payload.kind)).toEqual(["greeted", "seen"]);
  });
});

describe("plugins", () => {
  verifies(["E4"], "the example with a link masks words, from a path in the profile and in TypeScript", async () => {
    const place = await start([reply().tool("read", { path: "a.txt" }), reply().text("done")], {
      profile: () => `plugins = ["${EXAMPLES}/mask-words.ts"]\n[plugin.mask-words]\nwords = ["Acme"]\n`,
      code: [`${EXAMPLES}/mask-words.ts`],
      files: { "a.txt": "Our customer is acme, and ACME pays.\n" },
    });
    const events = await turnOf(place.client, place.session, "look");
    expect(resultTexts(events)[0]).toContain("Our customer is [masked], and [masked] pays.");
    expect(JSON.stringify(place.mock.requests[1]?.body)).not.toMatch(/acme/i);
    expect(await command(place, "mask-words:count")).toBe("2 words were masked.");
    expect(place.messages).toEqual([]);
  });

  verifies(["E4"], "the example with a tool source follows the scripts of a project", async () => {
    const place = await start(
      [
        reply().tool("npm_hello").tool("read", { path: "package.json" }),
        reply().tool("write", {
          path: "package.json",
          content: '{ "scripts": { "hello": "echo hi", "later": "echo later" } }',
        }),
        reply().tool("npm_later"),
        reply().text("done"),
      ],
      {
        profile: (folder) => `plugins = ["${EXAMPLES}/npm-scripts.mjs"]\n[plugin.npm-scripts]\nfolder = "${folder}"\n`,
        code: [`${EXAMPLES}/npm-scripts.mjs`],
        files: { "package.json": '{ "scripts": { "hello": "echo hi" } }' },
      },
    );
    const events = await turnOf(place.client, place.session, "go");
    const [hello, , , later] = resultTexts(events);
    expect(hello?.trim()).toBe("hi");
    expect(later?.trim()).toBe("later");
    expect(place.messages).toEqual([]);
  });

  verifies(
    ["E4"],
    "a plugin adds links, hooks, subscribers, tools, commands, rules, a provider and a transport",
    async () => {
      const everything = `
      const seen = [];
      export default async function register(oxbow) {
        oxbow.claimNamespace("sample");
        oxbow.addRequestLink({ name: "33-add-header", run: (request, context, next) => {
          return next({ ...request, system: request.system + "\\nSPOKEN BY A LINK" }, context);
        } });
        oxbow.addHook("assemble", { name: "45-mark", run: (turn) => {
          turn.request = { ...turn.request, system: turn.request.system + "\\nSPOKEN BY A HOOK" };
        } });
        oxbow.subscribe((event) => seen.push(event.kind));
        oxbow.addTool({ name: "add", description: "adds", inputSchema: { type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
          mutating: false, run: ({ a, b }) => String(a + b) });
        oxbow.addCommand({ name: "seen", summary: "events", run: (args) => args + ":" + seen.includes("TurnEnded") });
        oxbow.addPermissionRule({ tool: "bash", command: "touch *", decision: "deny", reason: "no touching" });
        oxbow.addPermissionRule({ tool: "add", decision: "allow" });
        oxbow.addPermissionRule({ tool: "bash", decision: "allow" });
        oxbow.addProvider({ name: "echo", models: () => ["loud"], async *stream({ messages }, { model }) {
          const words = model + " " + messages.at(-1).content.map((block) => block.text).join("");
          yield [{ type: "text", text: words }, { type: "block", block: { type: "text", text: words } }];
          yield [{ type: "stop", reason: "end" }];
        } });
        oxbow.addTransport({ name: "wire", start: ({ connect }) => {
          globalThis.pluginClient = connect();
          return { close: () => { globalThis.pluginClosed = true; } };
        } });
        oxbow.onClose(() => { globalThis.pluginEnded = true; });
      }`;
      const place = await start(
        [
          reply()
            .tool("add", { a: 2, b: 3 })
            .tool("add", { a: 2 })
            .tool("bash", { command: "touch x" })
            .tool("bash", { command: "mkdir y" }),
          reply().text("five"),
        ],
        { plugins: { "sample.mjs": everything }, flags: ["--permission-mode", "ask"] },
      );
      const events = await turnOf(place.client, place.session, "2 + 3?");
      expect(resultTexts(events)[0]).toBe("5");
      expect(of(events, "ToolResult").map(({ status }) => status)).toEqual(["ok", "error", "denied", "ok"]);
      // Its own tool ran without a question; of the other commands only the user decides.
      expect(of(events, "PermissionRequested").map(({ summary }) => summary)).toEqual(["bash: mkdir y"]);
      expect(JSON.stringify(place.mock.requests[0]?.body)).toContain("SPOKEN BY A LINK");
      expect(JSON.stringify(place.mock.requests[0]?.body)).toContain("SPOKEN BY A HOOK");
      expect(await command(place, "sample:seen", "a b")).toBe("a b:true");
      await place.client.send("SetModel", { model: "echo:loud" }, place.session);
      expect(of(await turnOf(place.client, place.session, "hello"), "TurnEnded")[0]?.text).toMatch(/^loud .*hello/s);
      const shared = globalThis as { pluginClient?: EngineClient; pluginClosed?: boolean; pluginEnded?: boolean };
      expect(shared.pluginClient?.identity).toBe("agent");
      await place.engine.close();
      open.pop();
      await place.mock.close();
      expect([shared.pluginClosed, shared.pluginEnded]).toEqual([true, true]);
    },
  );

  verifies(["E4"], "a plugin that fails is switched off with a message, and the turn continues", async () => {
    const broken = (name: string, body: string) => `export default (oxbow) => { ${body} }; // ${name}`;
    const place = await start(
      [reply().tool("read", { path: "a.txt" }), reply().text("first "), reply().text("again")],
      {
        files: { "a.txt": "content\n" },
        plugins: {
          "before.mjs": broken("before", 'oxbow.addToolLink({ name: "41-a", run: () => { throw new Error("one") } })'),
          "after.mjs": broken(
            "after",
            'oxbow.addToolLink({ name: "42-b", run: async (call, context, next) => { await next(call); throw new Error("two") } })',
          ),
          "stream.mjs": broken(
            "stream",
            `oxbow.addRequestLink({ name: "43-c", run: async (request, context, next) => {
               const inner = await next(request, context);
               return (async function* () { for await (const batch of inner) { throw new Error("three"); } })();
             } })`,
          ),
          "hook.mjs": broken(
            "hook",
            'oxbow.addHook("start", { name: "44-d", run: async () => { throw new Error("four") } })',
          ),
          "request.mjs": broken(
            "request",
            'oxbow.addHook("assemble", { name: "95-e", run: (turn) => { turn.request = { model: 1 } } })',
          ),
          "stage.mjs": broken("stage", 'oxbow.addHook("start", { name: "45-f", run: () => ({ next: "nowhere" }) })'),
          "change.mjs": broken("change", "oxbow.subscribe((event) => { event.payload = { text: 1 } })"),
          "listen.mjs": broken("listen", 'oxbow.subscribe(() => { throw new Error("five") })'),
          "source.mjs": broken("source", 'oxbow.addToolSource({ name: "s", list: () => { throw new Error("six") } })'),
          "import.mjs": "this is not JavaScript",
          "register.mjs": "export default () => { throw new Error('seven') }",
          "nothing.mjs": "export const register = 1;",
          "misnamed.mjs": broken("misnamed", 'oxbow.addHook("start", { name: "x", run: () => {} })'),
        },
      },
    );
    const events = await turnOf(place.client, place.session, "go");
    expect(of(events, "TurnEnded")[0]).toMatchObject({ outcome: "answered", text: "first " });
    expect(resultTexts(events)[0]).toContain("content");
    expect(of(await turnOf(place.client, place.session, "go on"), "TurnEnded")[0]?.text).toBe("again");
    const messages = place.messages.map((message) => message.replace(/\S*\/config\/plugins\//, ""));
    for (const [plugin, why] of [
      ["before", "41-a failed: one"],
      ["after", "42-b failed: two"],
      ["stream", "43-c failed: three"],
      ["hook", "start/44-d failed: four"],
      ["request", "assemble/95-e failed: it left a request that cannot be sent"],
      ["stage", "start/45-f failed: its result is neither a stage nor a reason to stop"],
      ["listen", "a subscriber failed: five"],
      ["source", "the tool source s failed: six"],
    ]) {
      expect(messages).toContain(`The plugin ${plugin} is switched off: ${why}`);
    }
    expect(messages).toContain("The plugin register.mjs is left out: seven.");
    expect(messages).toContain("The plugin nothing.mjs is left out: its default export is not a function.");
    expect(messages.some((message) => /misnamed.mjs is left out: "x" is not a name/.test(message))).toBe(true);
    expect(messages.some((message) => message.startsWith("The plugin import.mjs is left out: "))).toBe(true);
    // Each says it once.
    expect(new Set(messages).size).toBe(messages.length);
  });

  verifies(["E4"], "conflicts are refused at start with both names", async () => {
    const tool = (name: string) =>
      `export default (oxbow) => oxbow.addTool({ name: "${name}", description: "d", inputSchema: {}, run: () => "" });`;
    const refused = (plugins: Readonly<Record<string, string>>) => start([reply().text("x")], { plugins });
    await expect(refused({ "one.mjs": tool("same"), "two.mjs": tool("same") })).rejects.toThrow(
      'The plugin two and the plugin one both have the tool "same".',
    );
    await expect(refused({ "one.mjs": tool("bash") })).rejects.toThrow(
      'The plugin one and Oxbow itself both have the tool "bash".',
    );
    const commands =
      'export default (oxbow) => { oxbow.claimNamespace("session"); oxbow.addCommand({ name: "x", summary: "x", run: () => "" }); };';
    await expect(refused({ "one.mjs": commands })).rejects.toThrow('both have the command namespace "session"');
    const link =
      'export default (oxbow) => oxbow.addToolLink({ name: "20-permission", run: (call, context, next) => next(call) });';
    await expect(refused({ "one.mjs": link })).rejects.toThrow('both have the tool link "20-permission"');
  });

  verifies(["E4"], "a file that the profile names runs only in the version that the user approved", async () => {
    const outside = await temporaryFolder();
    const file = join(outside, "own.mjs");
    const helper = 'import { word } from "./word.mjs";\n';
    const code = `${helper}export default (oxbow) => oxbow.addCommand({ name: "say", summary: "s", run: () => word });`;
    await put(join(outside, "word.mjs"), 'export const word = "hello";');
    await put(file, code);
    // A person may keep plugins elsewhere and link to them.
    const link = join(outside, "linked.mjs");
    await symlink(file, link);
    const linked = await start([], { profile: () => `plugins = ["${link}"]\n`, code: [link] });
    expect(await command(linked, "linked:say")).toBe("hello");
    const profile = () => `plugins = ["${file}"]\n`;
    const approved = await start([], { profile, code: [file] });
    expect(await command(approved, "own:say")).toBe("hello");
    const flags = ["--permission-mode", "allow", "--skip-unapproved"];
    const other = await start([], { profile, flags });
    await expect(command(other, "own:say")).rejects.toThrow("There is no command");
    expect(other.messages.join("\n")).toMatch(/own\.mjs is left out: you have not approved it in this version/);
  });

  verifies(["E4"], "a package of the profile is found beside it, and a plugin of a project is not loaded", async () => {
    const marker = (name: string) =>
      `export default (oxbow) => oxbow.addCommand({ name: "${name}", summary: "s", run: () => oxbow.plugin });`;
    const installed = join("node_modules", "@team", "oxbow-checks");
    const place = await start([reply().text("x")], {
      profile: (folder) => `plugins = ["@team/oxbow-checks", "not-installed", "${folder}/near.mjs"]\n`,
      config: {
        [join(installed, "package.json")]:
          '{ "name": "@team/oxbow-checks", "type": "module", "exports": "./index.js" }',
        [join(installed, "index.js")]: marker("hello"),
      },
      files: {
        "near.mjs": marker("near"),
        ".oxbow/plugins/evil.mjs": marker("evil"),
        "node_modules/not-installed/index.mjs": marker("hijacked"),
      },
    });
    expect(await command(place, "oxbow-checks:hello")).toBe("oxbow-checks");
    await expect(command(place, "evil:evil")).rejects.toThrow("There is no command");
    expect(place.messages.join("\n")).toMatch(/not-installed is left out: the package is not installed: run 'npm inst/);
    expect(place.messages.join("\n")).toMatch(/near\.mjs is left out: it is in the workspace/);
    expect(place.messages.join("\n")).toMatch(/evil\.mjs is left out: a plugin runs outside the sandbox/);
  });
});

verifies(["E4", "L15"], "a plugin takes part in turns: it adds context, sees calls and refuses some", async () => {
  const code = `const seen = [];
export default function register(oxbow) {
  oxbow.addLifecycle({
    beforeTurn: ({ input }) => ({ context: "You know " + input + "." }),
    beforeInference: ({ iteration }) => (iteration === 2 ? "Seen: " + seen.join() : undefined),
    onToolEvidence: ({ tool, outcome }) => seen.push(tool + " " + outcome.status),
    reviewCall: ({ args }) => String(args.command).includes("deploy")
      ? { decision: "deny", by: "memory", reason: "Not on Fridays." }
      : { decision: "allow", by: "memory", reason: "always" },
  });
}`;
  const replies = [reply().tool("bash", { command: "echo deploy" }), reply().text("Done.")];
  const place = await start(replies, { plugins: { "my-memory.mjs": code } });
  const events = await turnOf(place.client, place.session, "the moon");
  expect(of(events, "ContextAdded").map(({ source, text }) => `${source}: ${text}`)).toEqual([
    "plugin-my-memory: You know the moon.",
    "plugin-my-memory: Seen: bash denied",
  ]);
  expect(resultTexts(events)).toEqual([expect.stringContaining("Not on Fridays.")]);
  expect(place.messages).toEqual([]);
});
