/** The audit of a session: `/audit`, and what `/why` and `/security` read of it. */
import { LateConsumer } from "../../base/late-consumer.js";
import type { SessionPart } from "../../feature/part.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { AuditRing } from "./audit-ring.js";

/** Enough to fill the ring if it is loaded late. */
const MOST_EARLY = 4000;

export class Audit {
  /** Loaded with the first command that shows it. */
  readonly #ring: LateConsumer<AuditRing, Envelope>;

  /** `history`: the events of earlier runs of the session, oldest first. */
  constructor(history?: () => AsyncIterable<Envelope>) {
    this.#ring = new LateConsumer({
      load: async () => {
        const { AuditRing } = await import("./audit-ring.js");
        const ring = new AuditRing();
        for await (const event of history?.() ?? []) ring.see(event);
        return ring;
      },
      consume: (ring, event: Envelope) => ring.see(event),
      most: MOST_EARLY,
    });
  }

  ring(): Promise<AuditRing> {
    return this.#ring.ready();
  }

  part(): SessionPart {
    return {
      name: "audit",
      subscribers: [{ name: "20-audit", run: (event) => this.#see(event) }],
      commands: async () => (await import("./commands.js")).auditCommands(() => this.ring()),
    };
  }

  #see(event: Envelope): void {
    if (event.kind === "TextDelta" || event.kind === "ThinkingDelta" || event.kind === "ToolCallProgress") return;
    // The audit does not need outputs, so they are not kept.
    const lean = event.kind === "ToolResult" ? { ...event, payload: { ...event.payload, content: [] } } : event;
    this.#ring.push(lean);
  }
}
