/** Memory in use: chooses what goes along with an input, runs the tool, and knows why. */
import { randomBytes } from "node:crypto";
import type { OutsideResults } from "../../chain/outside-results.js";
import type { MemoryEntry, MemoryProblem } from "../../context/memory/entry.js";
import type { Memories } from "../../context/memory/memories.js";
import { memoryProblems, runMemoryTool } from "../../context/memory/memory-tool.js";
import { blockOf, type Delimit, memoryNotice } from "../../context/memory/notice.js";
import { type Selection, selectMemories } from "../../context/memory/select.js";
import type { ToolOutcome } from "../../engine/ports.js";
import { type InputContent, plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { redact } from "../../security/redact/redact.js";
import { createMark, wrapUntrusted } from "../../security/untrusted/untrusted.js";
import { openMemories, sharedMemories } from "../content/memory-folders.js";
import type { Opening } from "../opening.js";

type Opened = Pick<Opening, "engine" | "extensions" | "bus" | "root" | "session" | "current" | "built">;

export interface MemorySession extends Omit<Opened, "built"> {
  readonly outside: OutsideResults;
}

export class LiveMemory {
  readonly memories: Memories;
  /** The user wants the tool, whether or not there are memories. */
  isWanted = false;
  readonly #place: MemorySession;
  readonly #mark = createMark(randomBytes);
  /** What this session wrote: the model knows it from its own call. */
  readonly #written = new Set<string>();
  readonly #reported = new Set<string>();
  #last: { readonly input: string; readonly selection: Selection } | undefined;

  private constructor(place: MemorySession, memories: Memories) {
    this.#place = place;
    this.memories = memories;
  }

  static async open({ built, ...opened }: Opened): Promise<LiveMemory> {
    const place = { ...opened, outside: built.get("outside") };
    const { engine, root } = place;
    const shared = () => sharedMemories(place.extensions.of("memory"));
    const memories = await openMemories({ roots: engine.loaded.roots, root, clock: engine.clock }, shared);
    // A process may have died between a file and its line in the index, or a person may have changed files.
    for (const folder of memories.folders) await folder.keepIndex().catch(() => {});
    return new LiveMemory(place, memories);
  }

  get place(): MemorySession {
    return this.#place;
  }

  /** The choice for the newest input; undefined before the first one. */
  get last(): { readonly input: string; readonly selection: Selection } | undefined {
    return this.#last;
  }

  async hasEntries(): Promise<boolean> {
    return (await this.memories.list()).entries.length > 0;
  }

  /** A turn never fails because of a memory. */
  async noticeFor(input: readonly InputContent[]): Promise<string | undefined> {
    try {
      return await this.#choose(plainText(input));
    } catch (error) {
      this.#warn(`Oxbow could not read the memories: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  problems(args: JsonObject): Promise<readonly string[]> {
    return memoryProblems(args, this.memories);
  }

  async run(args: JsonObject): Promise<ToolOutcome> {
    const { session, engine } = this.#place;
    const before = await this.#stamps();
    const outcome = await runMemoryTool(args, {
      memories: this.memories,
      session,
      delimit: this.#delimit,
      now: () => engine.clock.wall(),
    });
    for (const stamp of await this.#stamps()) if (!before.has(stamp)) this.#written.add(stamp);
    return outcome;
  }

  /** The conversation was shortened, so the model may have lost sight of what it wrote. */
  forgetWritten(): void {
    this.#written.clear();
  }

  async #choose(input: string): Promise<string | undefined> {
    const { engine } = this.#place;
    const { entries, problems } = await this.memories.list();
    for (const problem of problems) this.#report(problem);
    const conversation = this.#conversation();
    const selection = selectMemories(entries.map(clean), input, {
      budget: engine.loaded.settings.memory_tokens.value,
      now: engine.clock.wall(),
      render: (entry) => this.#delimit(blockOf(entry)),
      isPresent: (entry) => this.#written.has(stampOf(entry)) || conversation.includes(this.#inner(entry)),
    });
    this.#last = { input, selection };
    return memoryNotice(selection.groups, this.#delimit);
  }

  readonly #delimit: Delimit = (block) => wrapUntrusted(block, this.#mark);

  /** The block without its mark: an earlier process of the session had another one. */
  #inner(entry: MemoryEntry): string {
    const block = this.#delimit(blockOf(entry));
    return block.slice(`<untrusted-${this.#mark}`.length, -`${this.#mark}>`.length);
  }

  /** What the user side of the conversation holds, without the results of tools. */
  #conversation(): string {
    const messages = this.#place.current.run?.conversation ?? [];
    return messages
      .filter(({ role }) => role === "user")
      .map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("\n"))
      .join("\n");
  }

  async #stamps(): Promise<ReadonlySet<string>> {
    return new Set((await this.memories.list()).entries.map((entry) => stampOf(clean(entry))));
  }

  #report({ path, message }: MemoryProblem): void {
    const words = `${path} is not used: ${message}.`;
    if (this.#reported.has(words)) return;
    this.#reported.add(words);
    this.#warn(words);
  }

  #warn(message: string): void {
    this.#place.bus.publish("Notice", { level: "warning", message });
  }
}

function stampOf({ scope, name, updated, body }: MemoryEntry): string {
  return `${scope}/${name} ${updated} ${body}`;
}

/** People may have written a secret into a file by hand. */
function clean(entry: MemoryEntry): MemoryEntry {
  return { ...entry, description: redact(entry.description), body: redact(entry.body) };
}
