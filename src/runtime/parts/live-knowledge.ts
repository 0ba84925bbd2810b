/**
 * The knowledge base in a session.
 *
 * 1. Nothing is recorded without the user's command or consent: after an answer Oxbow only offers, and the model's tool asks.
 * 2. Each observation knows the session and the event that it came from.
 * 3. What the model gets of it is marked as text from outside: others may have written it.
 */
import { Once } from "../../base/once.js";
import { type Candidate, worthRecording } from "../../context/knowledge-base/extract.js";
import type { KnowledgeBase } from "../../context/knowledge-base/knowledge-base.js";
import type { Origin } from "../../context/knowledge-base/records.js";
import type { Turn } from "../../engine/turn.js";
import { plainText } from "../../protocol/content.js";
import type { KnowledgePort } from "../commands/knowledge-base.js";
import { openKnowledgeBase } from "../knowledge-base/open-knowledge-base.js";
import type { Opening } from "../opening.js";
import { sessionMark } from "../sessions/session-mark.js";

/** More would be a nuisance. */
const MOST_OFFERS = 3;

export interface Offer extends Candidate {
  readonly origin: Origin;
}

export class LiveKnowledge {
  readonly #opening: Opening;
  readonly #seen = new Set<string>();
  readonly #base = new Once(() => {
    const { engine, clock } = this.#opening;
    return openKnowledgeBase({ roots: engine.loaded.roots, keys: engine.sessions, clock });
  });
  #offers: readonly Offer[] = [];

  constructor(opening: Opening) {
    this.#opening = opening;
  }

  async port(): Promise<KnowledgePort> {
    const { root } = this.#opening;
    const refusalOf = async (access: "read" | "write", path: string) => {
      const { Gatherer } = await import("../commands/context/gatherer.js");
      const gatherer = new Gatherer(this.#opening);
      return access === "write" ? gatherer.writeRefusalOf(path, "") : gatherer.readRefusalOf(path);
    };
    return { base: await this.#open(), root, refusalOf, origin: () => this.#origin() };
  }

  /** What was offered last. */
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
    if ((await this.#open()).current(this.#opening.root) === undefined) return;
    for (const { text } of candidates) this.#seen.add(text);
    const origin = this.#origin();
    this.#offers = candidates.map((candidate) => ({ ...candidate, origin }));
    const each = candidates.map(({ kind, text }, i) => `${i + 1}. ${kind}: ${oneLine(text)}`);
    const message = `Worth recording? /kb accept keeps ${each.length === 1 ? "it" : "them"}: ${each.join(" · ")}`;
    this.#opening.bus.publish("Notice", { turn: turn.id, level: "warning", offer: true, message });
  }

  /** For the model, with the next input. */
  async give(command: string, text: string): Promise<void> {
    const { session, engine, built } = this.#opening;
    const [{ wrapUntrusted }, mark] = await Promise.all([
      import("../../security/untrusted/untrusted.js"),
      sessionMark(session, engine.sessions),
    ]);
    built.get("gathered").add(command, wrapUntrusted({ source: command, kind: "knowledge-base", text }, mark));
  }

  async close(): Promise<void> {
    (await this.#base.made?.catch(() => undefined))?.close();
  }

  #open(): Promise<KnowledgeBase> {
    return this.#base.get();
  }

  /** The newest event. */
  #origin(): Origin {
    const { session, bus } = this.#opening;
    return { session, event: bus.nextId - 1 };
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
