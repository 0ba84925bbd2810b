/** Live data for the markers of instruction files. A session whose instructions have none loads nothing. */
import type { Marker } from "../../context/instructions/markers.js";
import type { CreateBuiltIn } from "./built-in.js";
import type { LiveMarkers } from "./live-markers.js";

export const markers: CreateBuiltIn = (opening) => {
  const { content } = opening.engine;
  let live: LiveMarkers | undefined;
  const wanted = (): readonly Marker[] => content?.markers ?? [];
  return {
    name: "markers",
    inputNotice: async () => {
      if (wanted().length === 0) return undefined;
      live ??= new (await import("./live-markers.js")).LiveMarkers(opening);
      return live.notice(wanted());
    },
  };
};
