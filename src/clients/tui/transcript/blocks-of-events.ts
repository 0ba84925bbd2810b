/** The finished blocks of stored events, as the client printed them live. */
import type { Envelope } from "../../../protocol/envelope.js";
import type { ClientId, SessionId } from "../../../protocol/ids.js";
import type { Block } from "../content/block.js";
import { reduceEvent } from "../reduce/reduce-event.js";
import { firstState } from "../state.js";

export function blocksOfEvents(
  events: readonly Envelope[],
  session: SessionId,
  { hidesCost = false }: { readonly hidesCost?: boolean } = {},
): readonly Block[] {
  const blocks: Block[] = [];
  let state = firstState({ client: "" as ClientId, session, model: "", hidesCost });
  let said: string[] = [];
  const endAnswer = () => {
    const markdown = said.join("");
    said = [];
    if (markdown !== "") blocks.push({ kind: "answer", markdown });
  };
  for (const event of events) {
    const reduced = reduceEvent(state, event, Date.parse(event.ts));
    state = reduced.state;
    for (const effect of reduced.effects) {
      if (effect.do === "answer") said.push(effect.text);
      else if (effect.do === "end answer" || effect.do === "drop answer") endAnswer();
      else if (effect.do === "print") {
        endAnswer();
        blocks.push(effect.block);
      }
    }
  }
  endAnswer();
  return blocks;
}
