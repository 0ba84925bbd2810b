/**
 * From a folder to the content that may be loaded from it: what a harness calls before anything else, and what its loaders
 * hold afterwards (features P10, P11, P14).
 *
 * A folder without content costs a few looks at names: the lock is not even opened.
 */
import type { Failure } from "../../protocol/errors.js";
import type { ApprovedLock, Approver } from "./approved-lock.js";
import { askPending, type Conversation } from "./ask-pending.js";
import type { ContentKind, FoundContent, TrustedItem, UnusableContent } from "./content.js";
import { nameOf } from "./content.js";
import { decideTrust, type TrustDecision, type Withheld } from "./decide.js";
import { type DiscoverOptions, discoverContent, NestedContent } from "./discover.js";
import { readTrusted } from "./read-trusted.js";
import { type Review, reviewContent, type TrustPolicy } from "./review.js";
import { count, type Look, shown } from "./shown.js";
import { renderTrustScreen } from "./trust-screen.js";

export interface TrustGateOptions extends DiscoverOptions, Look {
  readonly openLock: () => ApprovedLock;
  readonly policy?: TrustPolicy;
  readonly skipUnapproved: boolean;
  readonly allowProjectHooks: boolean;
  /** A person who can be asked; absent when there is none. */
  readonly person?: { readonly by: Approver; readonly conversation: Conversation };
  readonly now: () => Date;
}

export interface TrustOutcome {
  /** What may be loaded, in the order it was found. */
  readonly load: readonly TrustedItem[];
  /** For the person: what was left out or changed, a line each. */
  readonly notes: readonly string[];
  /** The run ends with this, before anything was loaded. */
  readonly refuse?: Failure;
}

export class TrustGate {
  readonly #options: TrustGateOptions;
  readonly #nested: NestedContent;
  #around: readonly TrustedItem[] = [];
  readonly #below: TrustedItem[] = [];

  constructor(options: TrustGateOptions) {
    this.#options = options;
    this.#nested = new NestedContent(options);
  }

  /** Before anything is loaded, and again whenever the sources are looked at anew. */
  async enter(): Promise<TrustOutcome> {
    const outcome = await this.#pass(await discoverContent(this.#options), "refuse");
    this.#around = outcome.load;
    return outcome;
  }

  /**
   * When a file is first touched: the instruction files on the way to it. In the middle of a turn what nobody has approved is
   * left out, not a reason to stop.
   */
  async touch(path: string): Promise<TrustOutcome> {
    const outcome = await this.#pass(await this.#nested.touch(path), "leave out");
    this.#below.push(...outcome.load);
    return outcome;
  }

  of(kind: ContentKind): readonly TrustedItem[] {
    return [...this.#around, ...this.#below].filter((item) => item.kind === kind);
  }

  /** The bytes that were approved, or an error. */
  read(item: TrustedItem): Promise<Uint8Array> {
    return readTrusted(item);
  }

  async #pass(found: FoundContent, unapproved: "refuse" | "leave out"): Promise<TrustOutcome> {
    if (found.items.length === 0 && found.unusable.length === 0) return { load: [], notes: [] };
    const { person, policy, skipUnapproved, allowProjectHooks, openLock } = this.#options;
    const lock = openLock();
    const interactive = person !== undefined;
    const skip = skipUnapproved || (unapproved === "leave out" && !interactive);
    let review = await reviewContent(found, lock, policy);
    let decision = decideTrust({ review, interactive, skipUnapproved: skip, allowProjectHooks });
    if (person !== undefined && decision.ask.length > 0) {
      await this.#ask(person, { lock, decision, review });
      review = await reviewContent(found, lock, policy);
      // What a person was asked about and left open is left out.
      decision = decideTrust({ review, interactive, skipUnapproved: true, allowProjectHooks });
    }
    const { load, refuse } = decision;
    return { load, notes: notesOn(review, decision), ...(refuse !== undefined && { refuse }) };
  }

  async #ask({ by, conversation }: Person, { lock, decision, review }: AskParts): Promise<void> {
    const { withheld, ask } = decision;
    conversation.show(renderTrustScreen(ask, { ...this.#options, withheld, unusable: review.unusable }));
    await askPending(ask, { ...this.#options, lock, by, conversation });
  }
}

type Person = NonNullable<TrustGateOptions["person"]>;

interface AskParts {
  readonly lock: ApprovedLock;
  readonly decision: TrustDecision;
  readonly review: Review;
}

function notesOn({ noted, unusable }: Review, { withheld }: TrustDecision): readonly string[] {
  const off = namesWithheld(withheld, "project programs are off");
  const open = namesWithheld(withheld, "not approved");
  return [
    ...noted.map(({ item }) => `${shown(nameOf(item))} changed in white space or labels since it was approved.`),
    ...(off.length > 0
      ? [`${count(off.length, "program")} of this project left off without --allow-project-hooks: ${off.join(", ")}`]
      : []),
    ...(open.length > 0 ? [`Left out because nobody has approved it: ${open.join(", ")}`] : []),
    ...unusable.map(({ path, problem }: UnusableContent) => `${shown(path)} ${shown(problem)}, and is left out.`),
  ];
}

function namesWithheld(withheld: readonly Withheld[], why: Withheld["why"]): readonly string[] {
  return withheld.filter((one) => one.why === why).map(({ item }) => shown(nameOf(item)));
}
