/**
 * The knowledge base in a session.
 *
 * 1. Nothing is recorded without the user's command or consent: after an answer Oxbow only offers, and the model's tool asks.
 * 2. Each observation knows the session and the event that it came from.
 * 3. What the model gets of it is marked as text from outside: others may have written it.
 */
import { Once } from "../../base/once.js";
import type { Turn } from "../../engine/turn.js";
import type { FeatureContext } from "../../feature/part.js";
import { plainText } from "../../protocol/content.js";
import type { KnowledgePort } from "./commands.js";
import { type Candidate, worthRecording } from "./extract.js";
import { KnowledgeBase } from "./knowledge-base.js";
import type { Origin } from "./records.js";
import { KEY_PURPOSE, type KnowledgeSettings, knowledgePath } from "./settings.js";

export type KnowledgeContext = FeatureContext<KnowledgeSettings>;

/** More would be a nuisance. */
const MOST_OFFERS = 3;

export interface Offer extends Candidate {
  readonly origin: Origin;
}

export class SessionKnowledge {
  readonly #context: KnowledgeContext;
  readonly #seen = new Set<string>();
  readonly #base = new Once(async () => {
    const { roots, clock, key } = this.#context;
    return KnowledgeBase.open({ path: knowledgePath(roots), key: await key(KEY_PURPOSE), wall: clock.wall });
  });
  #offers: readonly Offer[] = [];

  constructor(context: KnowledgeContext) {
    this.#context = context;
  }

  async port(): Promise<KnowledgePort> {
    const { root, refusalOf } = this.#context;
    const { redact } = await this.#context.safeText();
    return { base: await this.#base.get(), root, redact, refusalOf, origin: () => this.#origin() };
  }

  /** Tells what was offered last. */
  get offers(): readonly Offer[] {
    return this.#offers;
  }

  forgetOffers(): void {
    this.#offers = [];
  }

  /** Only in a folder that has a project. */
  async offer(turn: Turn): Promise<void> {
    const answer = turn.conversation.at(-1);
    this.#offers = [];
    if (answer?.role !== "assistant") return;
    const texts = answer.content.filter((block) => block.type === "text");
    const candidates = worthRecording(plainText(texts), MOST_OFFERS).filter(({ text }) => !this.#seen.has(text));
    if (candidates.length === 0) return;
    if ((await this.#base.get()).current(this.#context.root) === undefined) return;
    for (const { text } of candidates) this.#seen.add(text);
    const origin = this.#origin();
    this.#offers = candidates.map((candidate) => ({ ...candidate, origin }));
    const each = candidates.map(({ kind, text }, i) => `${i + 1}. ${kind}: ${oneLine(text)}`);
    const message = `Worth recording? /kb accept keeps ${each.length === 1 ? "it" : "them"}: ${each.join(" · ")}`;
    this.#context.bus.publish("Notice", { turn: turn.id, level: "warning", offer: true, message });
  }

  /** For the model, with the next input. */
  async give(command: string, text: string): Promise<void> {
    const { delimit } = await this.#context.safeText();
    this.#context.give(command, delimit({ source: command, kind: "knowledge-base", text }));
  }

  async close(): Promise<void> {
    (await this.#base.made?.catch(() => undefined))?.close();
  }

  /** The newest event. */
  #origin(): Origin {
    const { session, bus } = this.#context;
    return { session, event: bus.nextId - 1 };
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
