/** Live data for the markers of instruction files, and `/init`. A session whose instructions have no markers loads nothing. */
import type { FeatureContext, SessionPart } from "../../feature/part.js";
import type { Marker, SessionMarkers } from "./markers.js";

export interface InstructionsContext extends FeatureContext {
  /** The markers of the instruction files in use. */
  markers(): readonly Marker[];
  openMarkers(): Promise<SessionMarkers>;
}

export function instructions(context: InstructionsContext): SessionPart {
  let live: SessionMarkers | undefined;
  return {
    name: "instructions",
    inputNotice: async () => {
      const wanted = context.markers();
      if (wanted.length === 0) return undefined;
      live ??= await context.openMarkers();
      return live.notice(wanted);
    },
    commands: async () => (await import("./commands.js")).sessionCommands(context),
  };
}
