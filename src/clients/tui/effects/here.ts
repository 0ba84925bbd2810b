/** Carries out effects on the screen: prints, the draft, the bell, the end. */
import type { EventKind } from "../../../protocol/events.js";
import type { Composer } from "../input/composer.js";
import type { Alerts, TuiOptions } from "../options.js";
import type { Effect } from "../state.js";
import type { TuiTerminal } from "../terminal/terminal.js";
import type { TranscriptWriter } from "../transcript-writer.js";
import type { EngineEffect } from "./carrier.js";

export interface Here {
  readonly transcript: TranscriptWriter;
  readonly composer: Composer;
  readonly terminal: TuiTerminal;
  readonly alerts: TuiOptions["alerts"];
  readonly leave: () => void;
}

/** Returns the effect if it needs the engine. */
export function carryOutHere(
  effect: Effect,
  { transcript, composer, terminal, alerts = "both", leave }: Here,
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
      if (rings(alerts)) terminal.bell();
      if (alerts === "both" || alerts === "notification") terminal.notify(effect.text);
      return undefined;
    case "exit":
      leave();
      return undefined;
    default:
      return effect;
  }
}

function rings(alerts: Alerts): boolean {
  return alerts === "both" || alerts === "bell";
}

/** A listener hears the end of every turn. A long turn rings for all. */
export function ringAfterTurn(
  kind: EventKind,
  effects: readonly Effect[],
  { linear, terminal, alerts = "both" }: Pick<TuiOptions, "linear" | "terminal" | "alerts">,
): void {
  const hasRung = effects.some(({ do: what }) => what === "call person");
  if (linear && kind === "TurnEnded" && !hasRung && rings(alerts)) terminal.bell();
}
