/** The address of the page behind the `#`: `#/s/sess_…`. Back and forward work, and a link opens the same place. */
import { signal } from "@preact/signals";

function read(): readonly string[] {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
}

/** The parts of the address: `["s", "sess_…"]`. */
export const route = signal<readonly string[]>(read());

addEventListener("hashchange", () => {
  route.value = read();
});

export function addressOf(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

export function go(...parts: readonly string[]): void {
  location.hash = addressOf(...parts);
}
