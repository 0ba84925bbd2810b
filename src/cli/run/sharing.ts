/** One engine for several clients: whether this process uses the engine of another one, and whether others can use its own. */
import { safeText } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { mayHaveEngine } from "../../runtime/control-names.js";
import type { ControlOwner } from "../../runtime/control-owner.js";
import { isAgent, isInsideEngine } from "../../runtime/model-ancestors.js";
import { roots } from "../../system/xdg-paths.js";
import type { Listening } from "../attach/listen.js";
import type { EngineWork } from "../attach/through-engine.js";
import type { Prepared } from "./prepare.js";

export interface OwnEngine {
  readonly flags: ParsedFlags;
  /** The socket that this process took over. */
  readonly owner?: ControlOwner | undefined;
}

/** This process is to be the engine, or another one was and the run has ended. */
export async function ownEngine(
  flags: ParsedFlags,
  work: EngineWork & { readonly isConversation: boolean },
): Promise<OwnEngine | { readonly exit: number }> {
  const { variables, isConversation } = work;
  if (flags.has("listen") && flags.has("no-listen")) throw new UsageError("Use --listen or --no-listen, not both.");
  if (flags.has("listen") && !isConversation)
    throw new UsageError("--listen needs a conversation on a terminal. 'oxbow serve --listen' runs a service.");
  if (flags.has("attach") && flags.has("no-attach")) throw new UsageError("Use --attach or --no-attach, not both.");
  const mayAsk = isConversation && !flags.has("no-attach") && !isAgent(variables) && mayHaveEngine(roots(variables));
  if (!flags.has("attach") && !mayAsk) return { flags };
  const [{ flagsOfEngine, resuming }, { throughEngine }] = await Promise.all([
    import("../attach/attach-flags.js"),
    import("../attach/through-engine.js"),
  ]);
  if (!flags.has("attach") && flagsOfEngine(flags).length > 0) return { flags };
  const end = await throughEngine(flags, work);
  if ("exit" in end) return end;
  const { taken, owner } = end.own;
  return { flags: taken === undefined ? flags : resuming(flags, taken), owner };
}

/** Other clients can attach to a conversation. What that needs is loaded after the first paint. */
export class Sharing {
  readonly #place: OwnEngine & { readonly prepared: Prepared; readonly variables: Variables };
  #listening: Promise<Listening> | undefined;

  constructor(place: OwnEngine & { readonly prepared: Prepared; readonly variables: Variables }) {
    this.#place = place;
  }

  begin(): void {
    const { flags, variables } = this.#place;
    if (!flags.has("no-listen") && !isInsideEngine(variables)) this.#listening ??= this.#open();
  }

  async hasOthers(): Promise<boolean> {
    return (await this.#listening)?.hasOthers() ?? false;
  }

  /** The turns of others end first. */
  async waitForOthers(terminal: Terminal): Promise<void> {
    await (await this.#listening)?.waitForOthers((message) => terminal.err.write(`oxbow: ${safeText(message)}\n`));
  }

  async close(): Promise<void> {
    const listening = await this.#listening;
    await (listening ?? this.#place.owner)?.close();
  }

  async #open(): Promise<Listening> {
    const { prepared, variables, owner, flags } = this.#place;
    const { Listening } = await import("../attach/listen.js");
    const { engine, client, loaded, log, notify } = prepared;
    const listen = flags.list("listen");
    const listening = new Listening({ engine, client, roots: loaded.roots, variables, log, owner, listen, notify });
    listening.begin();
    return listening;
  }
}
