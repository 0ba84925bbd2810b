import { setPinned } from "./pin.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [],
  run: (flags, sessions) => setPinned(flags, sessions, { pinned: false }),
};
