/**
 * The key bindings. If the user configures another key for an action, it is translated to the default one, so that the reducers and the
 * editor know only one key for each action.
 *
 * 1. Esc, Ctrl-C, Ctrl-D and Tab are fixed, so that the user can always leave.
 * 2. A key that lost its action does nothing; a character key types its character.
 */
import { isJsonObject, type JsonValue } from "../../../protocol/json.js";
import type { Key } from "../terminal/terminal.js";
import { keyName } from "./key-names.js";

interface ActionInfo {
  readonly keys: readonly string[];
  readonly what: string;
  /** The key that the rest of the client uses for it. */
  readonly press: Key;
}

export const ACTIONS = {
  send: {
    keys: ["enter"],
    what: "send; during a turn: to the model at its next step",
    press: { id: "enter", data: "\r" },
  },
  queue: {
    keys: ["alt+enter"],
    what: "during a turn: send when it has ended (also tab)",
    press: { id: "alt+enter", data: "\x1b\r" },
  },
  newline: { keys: ["shift+enter", "ctrl+j"], what: "new line (also \\ enter)", press: { id: "ctrl+j", data: "\n" } },
  "take-back": {
    keys: ["alt+up"],
    what: "take queued input back (also up in an empty draft)",
    press: { id: "alt+up", data: "\x1b[1;3A" },
  },
  mode: { keys: ["shift+tab"], what: "mode: auto, review edits, plan", press: { id: "shift+tab", data: "\x1b[Z" } },
  history: { keys: ["ctrl+r"], what: "search the history", press: { id: "ctrl+r", data: "\x12" } },
  stash: {
    keys: ["ctrl+s"],
    what: "put the draft aside, and back",
    press: { id: "ctrl+s", data: "\x13" },
  },
  editor: { keys: ["ctrl+g"], what: "edit the draft in $EDITOR", press: { id: "ctrl+g", data: "\x07" } },
  image: {
    keys: ["ctrl+v", "alt+v"],
    what: "insert the image of the clipboard",
    press: { id: "ctrl+v", data: "\x16" },
  },
  transcript: {
    keys: ["ctrl+o", "ctrl+t"],
    what: "the whole conversation with all output",
    press: { id: "ctrl+o", data: "\x0f" },
  },
  redraw: {
    keys: ["ctrl+l"],
    what: "clear the screen; the conversation stays above",
    press: { id: "ctrl+l", data: "\x0c" },
  },
  // Some terminals do not send Alt keys.
  model: { keys: ["alt+p", "f2"], what: "choose a model", press: { id: "alt+p", data: "\x1bp" } },
  approvals: {
    keys: ["alt+a"],
    what: "review files that wait for your approval",
    press: { id: "alt+a", data: "\x1ba" },
  },
  "last-session": {
    keys: ["alt+r"],
    what: "resume the last conversation of this folder",
    press: { id: "alt+r", data: "\x1br" },
  },
  sidebar: { keys: ["alt+s"], what: "sidebar: sessions, rules, instructions", press: { id: "alt+s", data: "\x1bs" } },
  work: {
    keys: ["alt+w"],
    what: "subagents and background commands: look in, stop",
    press: { id: "alt+w", data: "\x1bw" },
  },
  todos: { keys: ["alt+t"], what: "hide or show the model's to-do list", press: { id: "alt+t", data: "\x1bt" } },
  suspend: { keys: ["ctrl+z"], what: "suspend Oxbow; 'fg' resumes it", press: { id: "ctrl+z", data: "\x1a" } },
  help: { keys: ["?", "f1"], what: "this help (? when the draft is empty)", press: { id: "f1", data: "\x1bOP" } },
} as const satisfies Readonly<Record<string, ActionInfo>>;

export type KeyAction = keyof typeof ACTIONS;

const FIXED: ReadonlySet<string> = new Set(["escape", "ctrl+c", "ctrl+d", "tab", "backspace"]);

export class Bindings {
  readonly #keys: ReadonlyMap<KeyAction, readonly string[]>;
  readonly #presses = new Map<string, Key>();
  readonly #freed = new Set<string>();

  constructor(chosen: ReadonlyMap<KeyAction, readonly string[]> = new Map()) {
    this.#keys = chosen;
    for (const [action, keys] of chosen) for (const key of keys) this.#presses.set(key, ACTIONS[action].press);
    for (const action of chosen.keys()) {
      for (const key of ACTIONS[action].keys) if (!this.#presses.has(key)) this.#freed.add(key);
    }
  }

  keysOf(action: KeyAction): readonly string[] {
    const own = this.#keys.get(action);
    if (own !== undefined) return own;
    // A key that the user gave to another action no longer belongs to this one.
    return ACTIONS[action].keys.filter((key) => !this.#presses.has(key));
  }

  /** The name for messages; undefined if no key is left. */
  nameOf(action: KeyAction): string | undefined {
    return this.keysOf(action)[0];
  }

  /** The default key for a pressed key; undefined if the key does nothing. */
  translate(key: Key): Key | undefined {
    const name = key.id === undefined ? undefined : keyName(key.id);
    if (name === undefined) return key;
    const press = this.#presses.get(name);
    if (press !== undefined) return press;
    if (!this.#freed.has(name)) return key;
    return name.length === 1 ? { id: undefined, data: key.data } : undefined;
  }
}

export const USUAL_KEYS = new Bindings();

/** Reads the `[keys]` table of a profile. Wrong entries are reported and left out. */
export function readBindings(table: unknown): { readonly bindings: Bindings; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const chosen = new Map<KeyAction, readonly string[]>();
  const taken = new Map<string, string>();
  if (table !== undefined && !isJsonObject(table as JsonValue)) problems.push("keys: expected a table such as [keys].");
  const entries = isJsonObject(table as JsonValue) ? Object.entries(table as Record<string, unknown>) : [];
  for (const [action, value] of entries) {
    if (!isAction(action)) {
      problems.push(`keys: there is no action "${action}". There are ${Object.keys(ACTIONS).join(", ")}.`);
      continue;
    }
    const keys: string[] = [];
    for (const spelled of Array.isArray(value) ? value : [value]) {
      const problem = keyProblem(spelled, { action, taken });
      const name = keyName(String(spelled));
      if (problem !== undefined || name === undefined) problems.push(`keys.${action}: ${problem}`);
      else {
        keys.push(name);
        taken.set(name, action);
      }
    }
    if (keys.length > 0 || (Array.isArray(value) && value.length === 0)) chosen.set(action, keys);
  }
  return { bindings: new Bindings(chosen), problems };
}

function isAction(name: string): name is KeyAction {
  return Object.hasOwn(ACTIONS, name);
}

function keyProblem(
  spelled: unknown,
  { action, taken }: { readonly action: string; readonly taken: ReadonlyMap<string, string> },
): string | undefined {
  const name = typeof spelled === "string" ? keyName(spelled) : undefined;
  if (name === undefined) return `expected a key such as "ctrl+k", "alt+m" or "f2", got ${JSON.stringify(spelled)}.`;
  if (FIXED.has(name)) return `${name} cannot get another meaning.`;
  if (name.length === 1 && !(action === "help" && name === "?")) return `"${name}" alone is a character that you type.`;
  const other = taken.get(name);
  return other === undefined ? undefined : `${name} is the key of ${other} already.`;
}
