/** Settings of compaction. */
import { UsageError } from "../../base/usage-error.js";
import { setting } from "../../feature/setting.js";

export const compactionSettings = {
  compact_at: setting<number | undefined>({
    about: "the part of the window at which the conversation is summarised, or off",
    guide: "context",
    fallback: 0.8,
    read: windowShare,
    project: "any",
  }),
};

/** Reads a part of a window: `0.8`, `80%`, or `off`. */
function windowShare(text: string): number | undefined {
  if (text === "off") return undefined;
  const share = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
  if (share >= 0.1 && share <= 0.95) return share;
  throw new UsageError(`expected a part of the window from 0.1 to 0.95 such as 0.8, or off, got "${text}".`);
}
