/** The pages, each with its place in the address. A new page is a row here. */
import type { ComponentType } from "preact";

export interface PageProps {
  /** The parts of the address behind the name. */
  readonly rest: readonly string[];
}

export interface PageRow {
  /** The first part of the address: `#/s/…`. */
  readonly name: string;
  readonly title: string;
  /** Behind `g`: goes there. */
  readonly key?: string;
  /** It stands in the menu of pages. */
  readonly inMenu?: true;
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>;
}

export const PAGES: readonly PageRow[] = [
  { name: "", title: "New session", key: "n", inMenu: true, load: () => import("./view/start-page.js") },
  { name: "s", title: "Conversation", load: () => import("./view/session-page.js") },
  { name: "history", title: "History", load: () => import("./view/history-page.js") },
  { name: "inside", title: "Tools and safety", load: () => import("./view/inside-page.js") },
  { name: "compare", title: "Compare", load: () => import("./view/compare-page.js") },
  { name: "costs", title: "Costs", key: "c", inMenu: true, load: () => import("./view/costs-page.js") },
];
