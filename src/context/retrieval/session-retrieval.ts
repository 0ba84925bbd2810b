/**
 * Describes what retrieval does in a session: passages with each input of the user, and the tool `retrieve`.
 *
 * 1. What the model gets is marked as text from outside, with a mark that the text does not know.
 * 2. A passage that is in the conversation already is not added again, until a summary has replaced it.
 * 3. A store that cannot be searched never stops a turn: the user gets a warning.
 */
import type { Embedder } from "../../base/embedder.js";
import type { Tool, ToolOutcome } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import { addContext } from "../../feature/add-context.js";
import type { FeatureContext, SafeText } from "../../feature/part.js";
import { plainText, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { JsonObject } from "../../protocol/json.js";
import type { RetrievalPort } from "./commands.js";
import { contextBlock, placeOf } from "./context-block.js";
import { RETRIEVE_TOOL } from "./retrieve-tool-definition.js";
import { type FoundChunk, type SearchOptions, searchStore } from "./search.js";
import type { RetrievalSettings } from "./settings.js";
import type { StoreEntry } from "./store-registry.js";
import { type Documents, ModelMismatch, type OpenEmbedder, Retrieval } from "./stores.js";

export interface RetrievalContext extends FeatureContext<RetrievalSettings> {
  readonly openEmbedder: OpenEmbedder;
  /** Loads what reads documents. */
  documents(): Promise<Documents>;
  /** The model that answers, `PROVIDER:NAME`. */
  answering(): string | undefined;
}

/** A local model may have to be loaded first. */
const PATIENCE_MS = 20_000;
/** A model that did not answer is not asked again so soon: each input would wait for it. */
const SILENCE_MS = 60_000;
export class SessionRetrieval {
  readonly #context: RetrievalContext;
  readonly #retrieval: Retrieval;
  readonly #text: SafeText;
  readonly #given = new Set<number>();
  readonly #tool: Tool;
  #active: StoreEntry | undefined;
  #warned: string | undefined;
  #silentUntil = Number.NEGATIVE_INFINITY;

  private constructor(context: RetrievalContext, text: SafeText) {
    this.#context = context;
    this.#text = text;
    const warn = (message: string) => this.#warn(message);
    this.#retrieval = new Retrieval({ ...context, redact: text.redact, warn });
    this.#tool = { ...RETRIEVE_TOOL, run: (args, { signal }) => this.#retrieve(args, signal) };
  }

  static async open(context: RetrievalContext): Promise<SessionRetrieval> {
    const live = new SessionRetrieval(context, await context.safeText());
    await live.#follow();
    return live;
  }

  async port(): Promise<RetrievalPort> {
    const documents = await this.#context.documents();
    return { retrieval: this.#retrieval, documents, clock: this.#context.clock, onChange: () => this.#follow() };
  }

  /** The store that is on in this folder. */
  async storeName(): Promise<string | undefined> {
    await this.#follow();
    return this.#active?.name;
  }

  get tools(): readonly Tool[] {
    return this.#active === undefined ? [] : [this.#tool];
  }

  see({ kind }: Envelope): void {
    if (kind === "CompactionTriggered") this.#given.clear();
  }

  /** Adds what fits the user's input. The inputs of a subagent are the model's own words: it has the tool. */
  async augment(turn: Turn): Promise<undefined> {
    if (this.#context.parent !== undefined) return;
    await this.#follow();
    const entry = this.#active;
    const question = plainText(turn.input).trim();
    if (entry === undefined || question === "") return;
    const found = await this.#search(entry, question, { signal: turn.abort.signal });
    const fresh = found.filter(({ id }) => !this.#given.has(id));
    if (fresh.length === 0) return;
    for (const { id } of fresh) this.#given.add(id);
    const source = `retrieval from ${entry.name}: ${fresh.map((chunk) => placeOf({ ...chunk, title: "" }, this.#context.root)).join(", ")}`;
    addContext(turn, { source, text: this.#block(fresh, entry) });
  }

  async close(): Promise<void> {
    await this.#retrieval.close();
  }

  /** The choice may change in this session or in another process. */
  async #follow(): Promise<void> {
    try {
      const active = await this.#retrieval.active();
      if (active?.id !== this.#active?.id) this.#given.clear();
      this.#active = active;
    } catch (error) {
      this.#warn((error as Error).message);
    }
  }

  async #search(entry: StoreEntry, question: string, options: SearchOptions): Promise<readonly FoundChunk[]> {
    try {
      const store = await this.#retrieval.open(entry);
      const { embedder, trouble } = await this.#embedder(entry);
      const { found, problem = trouble } = await searchStore(store, question, {
        ...this.#retrieval.limits,
        ...options,
        embedder,
      });
      if (problem !== undefined) {
        this.#silentUntil = this.#context.clock.now() + SILENCE_MS;
        this.#warn(
          `Oxbow cannot use the embedding model of ${entry.name} now, so it searches by words only: ${problem}`,
        );
      }
      return found;
    } catch (error) {
      if (options.signal?.aborted) return [];
      this.#warn(`${entry.name} was not searched: ${(error as Error).message}`);
      return [];
    }
  }

  /** A model of another store is refused; one that cannot be used is done without. */
  async #embedder(entry: StoreEntry): Promise<{ readonly embedder?: Embedder; readonly trouble?: string }> {
    if (this.#context.clock.now() < this.#silentUntil) return {};
    try {
      const embedder = await this.#retrieval.embedder(entry, this.#context.answering());
      return embedder === undefined ? {} : { embedder: impatient(embedder) };
    } catch (error) {
      if (error instanceof ModelMismatch) throw error;
      return { trouble: (error as Error).message };
    }
  }

  async #retrieve(args: JsonObject, signal: AbortSignal): Promise<ToolOutcome> {
    const entry = this.#active;
    if (entry === undefined) return { status: "error", content: [text("No store is on in this folder.")] };
    const top = typeof args.limit === "number" ? { top: args.limit } : {};
    const found = await this.#search(entry, String(args.query ?? ""), { signal, ...top });
    if (signal.aborted) return { status: "cancelled", content: [text("Cancelled.")] };
    const none = `Nothing in the store ${entry.name} is close to this. Try other words.`;
    const shown = found.length === 0 ? none : this.#block(found, entry);
    return {
      status: "ok",
      content: [text(shown)],
      details: { store: entry.name, sources: found.map((chunk) => placeOf(chunk, this.#context.root)) },
    };
  }

  #block(found: readonly FoundChunk[], { name }: StoreEntry): string {
    const { root } = this.#context;
    return contextBlock(found, { store: name, root }, this.#text.delimit);
  }

  /** Once for each reason. */
  #warn(message: string): void {
    if (this.#warned === message) return;
    this.#warned = message;
    this.#context.bus.publish("Notice", { level: "warning", message: `Retrieval: ${message}` });
  }
}

function impatient(embedder: Embedder): Embedder {
  const limited = (signal: AbortSignal | undefined) =>
    AbortSignal.any([...(signal === undefined ? [] : [signal]), AbortSignal.timeout(PATIENCE_MS)]);
  return { model: embedder.model, embed: (texts, signal) => embedder.embed(texts, limited(signal)) };
}
