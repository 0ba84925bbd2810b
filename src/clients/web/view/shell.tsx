/** The frame around every page: the list of sessions on the left, the bar on top. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { route } from "../router.js";
import { sessions } from "../store.js";
import { IconButton } from "./controls.js";

/** On a narrow screen the list slides over the page; on a wide one it can be closed. */
const wide = matchMedia("(min-width: 1200px)");
export const showsList = signal(wide.matches);
wide.addEventListener("change", ({ matches }) => {
  showsList.value = matches;
});

export function TopBar({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  const [, here] = route.value;
  const others = (sessions.value ?? []).filter(({ id }) => id !== here);
  const waiting = others.reduce((sum, { questions = 0 }) => sum + questions, 0);
  return (
    <header class="bar">
      <IconButton
        name="menu"
        label="Sessions"
        pressed={showsList.value}
        onClick={() => {
          showsList.value = !showsList.value;
        }}
      />
      <h1>{title}</h1>
      {waiting > 0 && (
        <button
          type="button"
          class="waiting small"
          onClick={() => {
            showsList.value = true;
          }}
        >
          {waiting} waiting for you
        </button>
      )}
      <div class="facts-row">{children}</div>
    </header>
  );
}
