import { shellWord } from "../../../base/shell-word.js";
import type { Unanswered } from "../../../engine/turn.js";
import { failure } from "../../../protocol/errors.js";
import type { CreateHook } from "../../services.js";

/** A longer list would hide the first. */
const MOST_NAMED = 3;
const MOST_CHARACTERS = 200;

/** If a permission was missing, the answer is incomplete: the outcome names the call and how to allow it. */
export const create: CreateHook = () => (turn) => {
  const [first] = turn.unanswered;
  if (first === undefined || turn.outcome !== undefined || turn.failure !== undefined) return;
  turn.outcome = "denied";
  const { tool, afterMs } = first;
  if (afterMs !== undefined) {
    turn.failure = failure("PermissionTimeout", { tool, timeout: Math.round(afterMs / 1000) });
    return;
  }
  const about = [...new Set(turn.unanswered.map((each) => short(each.about)))];
  const more = about.length > MOST_NAMED ? ` and ${about.length - MOST_NAMED} more` : "";
  turn.failure = failure("PermissionUnanswerable", {
    tool,
    about: `${about.slice(0, MOST_NAMED).join("; ")}${more}`,
    how: advice(turn.unanswered),
  });
};

function advice(unanswered: readonly Unanswered[]): string {
  const words = [...new Set(unanswered.flatMap((each) => each.words ?? []))];
  const toml = [...new Set(unanswered.flatMap((each) => each.toml ?? []))];
  const byFlag = words.length === 0 ? [] : [`add ${words.map((each) => `--allow ${shellWord(each)}`).join(" ")}`];
  const byFile = toml.length === 0 ? [] : [`write permissions.rules = [${toml.join(", ")}] into config.toml`];
  const byMode = unanswered.every((each) => each.words !== undefined)
    ? ["allow everything with --permission-mode allow"]
    : [];
  const ways = ["run it on a terminal", ...byFlag, ...byFile, ...byMode];
  if (ways.length === 1) return ways.join();
  return `${ways.slice(0, -1).join(", ")}, or ${ways.at(-1)}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line;
}
