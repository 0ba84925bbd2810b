/** Memory in use: chooses what goes along with an input, runs the tool, and knows why. */
import type { ToolOutcome } from "../../engine/ports.js";
import type { FeatureContext, SafeText } from "../../feature/part.js";
import { type InputContent, plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import type { MemoryEntry, MemoryProblem } from "./entry.js";
import type { Proposal } from "./extract.js";
import { type Memories, openMemories, sharedMemories } from "./memories.js";
import { memoryProblems, runMemoryTool } from "./memory-tool.js";
import { blockOf, memoryNotice } from "./notice.js";
import { type Selection, selectMemories } from "./select.js";
import type { MemorySettings } from "./settings.js";

export type MemoryContext = FeatureContext<MemorySettings>;

export class SessionMemory {
  readonly memories: Memories;
  /** Holds what the model proposed last. */
  proposals: readonly Proposal[] = [];
  /** The user wants the tool, whether or not there are memories. */
  isWanted = false;
  readonly context: MemoryContext;
  readonly #text: SafeText;
  /** Holds what this session wrote: the model knows it from its own call. */
  readonly #written = new Set<string>();
  readonly #reported = new Set<string>();
  #last: { readonly input: string; readonly selection: Selection } | undefined;

  private constructor(context: MemoryContext, memories: Memories, text: SafeText) {
    this.context = context;
    this.memories = memories;
    this.#text = text;
  }

  static async open(context: MemoryContext): Promise<SessionMemory> {
    const { roots, root, clock, extensions } = context;
    const text = await context.safeText();
    const shared = () => sharedMemories(extensions.of("memory"));
    const memories = openMemories({ roots, root, clock, redact: text.redact }, shared);
    // A process may have died between a file and its line in the index, or a person may have changed files.
    for (const folder of memories.folders) await folder.keepIndex().catch(() => {});
    return new SessionMemory(context, memories, text);
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
    const { session, clock } = this.context;
    const before = await this.#stamps();
    const outcome = await runMemoryTool(args, {
      memories: this.memories,
      session,
      delimit: this.#text.delimit,
      now: () => clock.wall(),
    });
    for (const stamp of await this.#stamps()) if (!before.has(stamp)) this.#written.add(stamp);
    return outcome;
  }

  /** The conversation was shortened, so the model may have lost sight of what it wrote. */
  forgetWritten(): void {
    this.#written.clear();
  }

  async #choose(input: string): Promise<string | undefined> {
    const { settings, clock } = this.context;
    const { entries, problems } = await this.memories.list();
    for (const problem of problems) this.#report(problem);
    const conversation = this.#conversation();
    const selection = selectMemories(entries.map(this.#clean), input, {
      budget: settings.memory_tokens.value,
      now: clock.wall(),
      render: (entry) => this.#text.delimit(blockOf(entry)),
      isPresent: (entry) =>
        this.#written.has(stampOf(entry)) || conversation.includes(this.#text.delimit(blockOf(entry))),
    });
    this.#last = { input, selection };
    return memoryNotice(selection.groups, this.#text.delimit);
  }

  /** Tells what the user side of the conversation holds, without the results of tools. */
  #conversation(): string {
    return this.context
      .conversation()
      .filter(({ role }) => role === "user")
      .map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("\n"))
      .join("\n");
  }

  async #stamps(): Promise<ReadonlySet<string>> {
    return new Set((await this.memories.list()).entries.map((entry) => stampOf(this.#clean(entry))));
  }

  /** People may have written a secret into a file by hand. */
  readonly #clean = (entry: MemoryEntry): MemoryEntry => {
    const { redact } = this.#text;
    return { ...entry, description: redact(entry.description), body: redact(entry.body) };
  };

  #report({ path, message }: MemoryProblem): void {
    const words = `${path} is not used: ${message}.`;
    if (this.#reported.has(words)) return;
    this.#reported.add(words);
    this.#warn(words);
  }

  #warn(message: string): void {
    this.context.bus.publish("Notice", { level: "warning", message });
  }
}

function stampOf({ scope, name, updated, body }: MemoryEntry): string {
  return `${scope}/${name} ${updated} ${body}`;
}
