/** Keys that work on the whole page, where nothing is being written. The newest ones come first. */
import { useLayoutEffect, useRef } from "preact/hooks";

/** By key as `event.key` names it; a sequence such as `g s` is two of them with a blank. */
export type Keys = Readonly<Record<string, () => void>>;

const layers: { current: Keys }[] = [];
const SEQUENCE_MS = 1500;
let begun: { readonly key: string; readonly at: number } | undefined;

export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function pressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, a, summary") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const isCommand = event.ctrlKey || event.metaKey;
  const isArrow = event.key.startsWith("Arrow");
  const held = isCommand ? "ctrl-" : event.altKey ? "alt-" : event.shiftKey && isArrow ? "shift-" : "";
  const name = `${held}${isCommand ? event.key.toLowerCase() : event.key}`;
  if (!isCommand && event.key !== "Escape" && isWriting(event.target)) return;
  // These press what has the focus.
  if ((event.key === " " || event.key === "Enter") && pressable(event.target)) return;
  if (!isCommand && event.key !== "Escape" && document.querySelector("dialog[open]") !== null) return;
  const sequence = begun !== undefined && Date.now() - begun.at < SEQUENCE_MS ? `${begun.key} ${name}` : name;
  begun = undefined;
  for (const wanted of [sequence, name]) {
    const found = layers.findLast(({ current }) => Object.hasOwn(current, wanted));
    if (found === undefined) continue;
    event.preventDefault();
    found.current[wanted]?.();
    return;
  }
  if (layers.some(({ current }) => Object.keys(current).some((each) => each.startsWith(`${name} `)))) {
    begun = { key: name, at: Date.now() };
  }
});

export function useKeys(keys: Keys): void {
  const layer = useRef(keys);
  layer.current = keys;
  // Before the page is painted: who sees a question can answer it.
  useLayoutEffect(() => {
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, []);
}
