/** An engine in a project with extensions, with the mock model behind it. */
import { join } from "node:path";
import type { EngineClient } from "../../src/protocol/client.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import type { ProjectContentOptions } from "../../src/runtime/content/content-options.js";
import type { CreatePart } from "../../src/runtime/part.js";
import { Testbed } from "../../src/security/trust/test-support/testbed.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "./hosted-engine.js";

export interface ExtendedOptions {
  readonly flags?: readonly string[];
  readonly content?: Partial<ProjectContentOptions>;
  readonly parts?: readonly CreatePart[];
  /** Says whether a user answers questions. */
  readonly user?: "present" | "away";
}

export class ExtendedEngine {
  readonly bed = new Testbed();
  readonly notes: string[] = [];
  #mock: MockModel | undefined;
  #hosted: HostedEngine | undefined;
  #session: SessionId | undefined;
  #client: EngineClient | undefined;

  get home(): string {
    return join(this.bed.base, "home");
  }

  get hosted(): HostedEngine {
    if (this.#hosted === undefined) throw new Error("open it first");
    return this.#hosted;
  }

  get client(): EngineClient {
    if (this.#client === undefined) throw new Error("open it first");
    return this.#client;
  }

  get session(): SessionId {
    if (this.#session === undefined) throw new Error("open it first");
    return this.#session;
  }

  /** The bodies of the requests so far. */
  get requests(): readonly string[] {
    return (this.#mock?.requests ?? []).map(({ body }) => JSON.stringify(body));
  }

  /** A second time, as after a new start of the program. */
  async open(
    script: string,
    { flags = ["--permission-mode", "allow"], content, parts, user = "away" }: ExtendedOptions = {},
  ) {
    await this.#end();
    this.#mock = await startMockModel({ script });
    this.#hosted = await hostEngine(this.bed.base, this.#mock, {
      flags,
      home: this.home,
      content: { folder: this.bed.folder, notify: (note) => void this.notes.push(note), ...content },
      ...(parts && { parts }),
    });
    this.#client = user === "present" ? this.#hosted.connectPerson() : this.#hosted.connect();
    const reply = await this.#client.send("CreateSession", {});
    if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
    this.#session = reply.session;
  }

  turn(input: string): Promise<readonly Envelope[]> {
    return turnOf(this.client, this.session, input);
  }

  async close(): Promise<void> {
    await this.#end();
    this.bed.remove();
  }

  async #end(): Promise<void> {
    await this.#hosted?.engine.close();
    await this.#mock?.close();
  }
}

/** Status and text of each result. */
export function resultsOf(events: readonly Envelope[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.kind !== "ToolResult") return [];
    const { status, content } = event.payload as {
      readonly status: string;
      readonly content: readonly { readonly text?: string }[];
    };
    return [`${status}: ${content.map(({ text = "" }) => text).join(" | ")}`];
  });
}
