/** Carries out effects on the screen: prints, the draft, the bell, the end. */
import type { EventKind } from "../../../protocol/events.js";
import type { Composer } from "../input/composer.js";
import type { TuiOptions } from "../options.js";
import type { Effect } from "../state.js";
import type { TuiTerminal } from "../terminal/terminal.js";
import type { TranscriptWriter } from "../transcript-writer.js";
import type { EngineEffect } from "./carrier.js";

export interface Here {
  readonly transcript: TranscriptWriter;
  readonly composer: Composer;
  readonly terminal: TuiTerminal;
  readonly leave: () => void;
}

/** Returns the effect if it needs the engine. */
export function carryOutHere(
  effect: Effect,
  { transcript, composer, terminal, leave }: Here,
): EngineEffect | undefined {
  switch (effect.do) {
    case "print":
      transcript.print(effect.block);
      return undefined;
    case "answer":
      transcript.addToAnswer(effect.text);
      return undefined;
    case "end answer":
    case "drop answer":
      transcript.endAnswer();
      return undefined;
    case "restore":
      composer.prepend(effect.text);
      return undefined;
    case "clear draft":
      // An ordinary change, so that undo restores the text.
      composer.setText("");
      return undefined;
    case "clear screen":
      transcript.scroll(terminal.rows);
      return undefined;
    case "suspend":
      terminal.suspend();
      return undefined;
    case "call person":
      terminal.bell();
      terminal.notify(effect.text);
      return undefined;
    case "exit":
      leave();
      return undefined;
    default:
      return effect;
  }
}

/** A listener hears the end of every turn. A long turn rings for all. */
export function ringAfterTurn(
  kind: EventKind,
  effects: readonly Effect[],
  { linear, terminal }: Pick<TuiOptions, "linear" | "terminal">,
): void {
  const hasRung = effects.some(({ do: what }) => what === "call person");
  if (linear && kind === "TurnEnded" && !hasRung) terminal.bell();
}
