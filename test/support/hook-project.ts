/** A project with hooks that its user approved, and a mock model that works in it. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { CommandReply, EngineClient } from "../../src/protocol/client.js";
import type { CommandPayloads } from "../../src/protocol/commands.js";
import { plainText } from "../../src/protocol/content.js";
import type { Envelope, EnvelopeOf } from "../../src/protocol/envelope.js";
import type { EventKind, PermissionDecision } from "../../src/protocol/events.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { importsOf } from "../../src/runtime/content/instruction-imports.js";
import type { CreatePart } from "../../src/runtime/part.js";
import { ApprovedLock } from "../../src/security/trust/approved-lock.js";
import { discoverContent } from "../../src/security/trust/discover.js";
import { reviewContent } from "../../src/security/trust/review.js";
import { type MockModel, type ReplyBuilder, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "./hosted-engine.js";
import { settledTurn, slashTurn } from "./slash-turn.js";

export interface HookRun {
  readonly events: readonly Envelope[];
  /** The text of each tool result, with its status before it. */
  readonly results: readonly string[];
  /** The last request to the model. */
  readonly lastRequest: string;
  readonly requests: number;
  of<K extends EventKind>(kind: K): readonly EnvelopeOf<K>["payload"][];
}

export class HookProject {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-hooks-")));
  readonly folder = join(this.base, "project");
  readonly home = join(this.base, "home");
  readonly notes: string[] = [];
  /** Folders with plugins that the user names on the command line. */
  plugins: readonly string[] = [];
  /** Folders in the project whose instruction files the user approves, too. */
  below: readonly string[] = [];
  /** Tells whether the user approves content of this kind. */
  approves: (kind: string) => boolean = () => true;
  #hosted: HostedEngine | undefined;
  #mock: MockModel | undefined;
  #client: EngineClient | undefined;
  #session: SessionId | undefined;

  constructor() {
    for (const path of [join(this.folder, ".git"), join(this.home, "config")]) mkdirSync(path, { recursive: true });
  }

  /** Below the project unless the path is absolute. */
  put(path: string, text: string, mode = 0o644): string {
    const full = this.path(path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    chmodSync(full, mode);
    return full;
  }

  path(path: string): string {
    return path.startsWith("/") ? path : join(this.folder, path);
  }

  read(path: string): string | undefined {
    return existsSync(this.path(path)) ? readFileSync(this.path(path), "utf8") : undefined;
  }

  /** Hooks as Claude Code's settings write them. */
  settings(hooks: object, path = ".claude/settings.json"): void {
    this.put(path, JSON.stringify({ hooks }));
  }

  userSettings(hooks: object): void {
    this.settings(hooks, join(this.home, ".claude/settings.json"));
  }

  async open(
    replies: readonly ReplyBuilder[],
    options: {
      readonly flags?: readonly string[];
      readonly parts?: readonly CreatePart[];
      /** A user gives this answer to every question. */
      readonly answer?: PermissionDecision;
    } = {},
  ): Promise<void> {
    await this.approve();
    this.#mock = await startMockModel({ script: script([...replies, reply().text("End of script.")]) });
    const notify = (note: string) => void this.notes.push(note);
    const { flags = ["--permission-mode", "allow"], parts = [] } = options;
    const content = { folder: this.folder, notify };
    const named = this.plugins.flatMap((folder) => ["--plugin-dir", folder]);
    this.#hosted = await hostEngine(this.base, this.#mock, {
      flags: [...flags, ...named],
      parts,
      home: this.home,
      content,
    });
    this.#client = options.answer === undefined ? this.#hosted.connect() : this.#person(this.#hosted, options.answer);
    await this.session();
  }

  #person({ engine }: HostedEngine, decision: PermissionDecision): EngineClient {
    const client = connectInProcess(engine.host, { id: engine.newClientId(), identity: "human", canAnswer: true });
    client.subscribe(({ kind, payload, session }) => {
      if (kind === "PermissionRequested")
        void client.send("AnswerPermission", { call: payload.call, decision }, session);
    });
    return client;
  }

  /** Opens a session: a new one, or a stored one. */
  session(resume?: SessionId): Promise<SessionId> {
    return this.#open(resume === undefined ? {} : { resume });
  }

  /** As `/clear` does. */
  async clear(): Promise<void> {
    if (this.#session !== undefined) await this.#open({ after: this.#session });
  }

  async #open(payload: CommandPayloads["CreateSession"]): Promise<SessionId> {
    const created = await this.#client?.send("CreateSession", payload);
    if (created?.ok !== true || created.session === undefined) throw new Error(JSON.stringify(created));
    this.#session = created.session;
    return created.session;
  }

  async turn(prompt = "go"): Promise<HookRun> {
    if (this.#client === undefined || this.#session === undefined) throw new Error("not open");
    const events = await settledTurn(this.#client, this.#session, prompt);
    return this.#report(events);
  }

  /** A slash command that begins a turn, to the end of that turn. */
  async slashTurn(line: string): Promise<HookRun> {
    if (this.#client === undefined || this.#session === undefined) throw new Error("not open");
    const { reply: answer, events } = await slashTurn(this.#client, this.#session, line);
    if (!answer.ok) throw new Error(answer.failure.message);
    return this.#report(events);
  }

  /** One whole session of one turn. */
  async run(replies: readonly ReplyBuilder[], flags?: readonly string[]): Promise<HookRun> {
    await this.open(replies, flags === undefined ? {} : { flags });
    const result = await this.turn();
    await this.close();
    return result;
  }

  async command(verb: string, args = ""): Promise<CommandReply> {
    if (this.#client === undefined) throw new Error("not open");
    return this.#client.send("CustomCommand", { namespace: "slash", verb, payload: { args } }, this.#session);
  }

  /** The text that a command line such as `/read a.txt` answers; of a refusal its message. */
  async slash(line: string): Promise<string> {
    const [, verb = "", args = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
    const reply = await this.command(verb, args);
    return reply.ok ? String((reply.value as { text?: string })?.text ?? "") : `refused: ${reply.failure.message}`;
  }

  /** The bodies of all requests so far. */
  requests(): readonly string[] {
    return (this.#mock?.requests ?? []).map(({ body }) => JSON.stringify(body));
  }

  async close(): Promise<void> {
    await this.#hosted?.engine.close();
    await this.#mock?.close();
    this.#hosted = undefined;
    this.#mock = undefined;
  }

  async remove(): Promise<void> {
    await this.close();
    rmSync(this.base, { recursive: true, force: true });
  }

  #report(events: readonly Envelope[]): HookRun {
    const of = <K extends EventKind>(kind: K) =>
      events.filter((event) => event.kind === kind).map((event) => event.payload as EnvelopeOf<K>["payload"]);
    const requests = this.#mock?.requests ?? [];
    return {
      events,
      of,
      results: of("ToolResult").map(({ status, content }) => `${status}: ${plainText(content)}`),
      lastRequest: JSON.stringify(requests.at(-1)?.body),
      requests: requests.length,
    };
  }

  /** As the user does with `oxbow ack`. */
  async approve(): Promise<void> {
    const config = join(this.home, "config");
    const lock = new ApprovedLock({
      file: join(config, "approved.lock"),
      contents: join(this.home, "data", "approved"),
    });
    for (const folder of [this.folder, ...this.below.map((each) => this.path(each))]) {
      const home = { config, user: this.home, plugins: this.plugins };
      const found = await discoverContent({ folder, home, importsOf });
      const review = await reviewContent(found, lock);
      const wanted = [...review.pending, ...review.minorChanges].filter(({ item }) => this.approves(item.kind));
      for (const { item, change, after } of wanted)
        await lock.record({
          decision: "approved",
          ...{ item, change, bytes: after, by: { identity: "human", name: "test" }, at: new Date() },
        });
    }
  }
}
