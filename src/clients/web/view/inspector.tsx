/** The column on the right: what a person looks at closely. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { IconButton } from "./controls.js";

export interface Inspected {
  readonly title: string;
  readonly view: () => ComponentChildren;
}

const inspected = signal<Inspected | undefined>(undefined);

export function inspect(what: Inspected | undefined): void {
  inspected.value = what;
}

export function isInspecting(): boolean {
  return inspected.value !== undefined;
}

export function Inspector() {
  const what = inspected.value;
  if (what === undefined) return null;
  return (
    <aside class="inspector" aria-label="Details">
      <header>
        <h2>{what.title}</h2>
        <IconButton name="close" label="Close the details" onClick={() => inspect(undefined)} />
      </header>
      <div class="scroll">{what.view()}</div>
    </aside>
  );
}
