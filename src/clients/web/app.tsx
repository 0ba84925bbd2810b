/** The whole page: the list, the page that the address names, the details, and what opens above them. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { PAGES, type PageProps, type PageRow } from "./pages.js";
import { go, route } from "./router.js";
import { connection, problem, toast } from "./store.js";
import { Inspector, inspect, isInspecting } from "./view/inspector.js";
import { type Keys, useKeys } from "./view/keys.js";
import { Overlays, opened } from "./view/overlays.js";
import { SessionsList } from "./view/sessions-list.js";
import { showsList } from "./view/shell.js";

/** The pages that are loaded. */
const loaded = signal<ReadonlyMap<string, ComponentType<PageProps>>>(new Map());

function pageFor(name: string | undefined): PageRow | undefined {
  return PAGES.find((page) => page.name === (name ?? ""));
}

async function load({ name, load: get }: PageRow): Promise<void> {
  if (loaded.value.has(name)) return;
  const { Page } = await get();
  loaded.value = new Map(loaded.value).set(name, Page);
}

const GO: Keys = Object.fromEntries(
  PAGES.flatMap(({ key, name }) => (key === undefined ? [] : [[`g ${key}`, () => go(...(name === "" ? [] : [name]))]])),
);

export function App() {
  useKeys({
    ...GO,
    "?": () => {
      opened.value = "help";
    },
    "ctrl-k": () => {
      opened.value = opened.value === "palette" ? undefined : "palette";
    },
    "g s": () => {
      showsList.value = true;
      setTimeout(() => document.querySelector<HTMLElement>(".sessions input")?.focus());
    },
    Escape: back,
  });
  const [name, ...rest] = route.value;
  const page = pageFor(name);
  useEffect(() => {
    if (page !== undefined) void load(page);
    // On a narrow screen the list has done its work.
    if (!matchMedia("(min-width: 1200px)").matches) showsList.value = false;
  }, [page, name, rest[0]]);
  if (problem.value !== undefined) return <Problem text={problem.value.text} />;
  if (connection.value === "connecting") return <p class="empty">Connecting …</p>;
  const Page = page && loaded.value.get(page.name);
  const look = `app${showsList.value ? " with-list" : ""}${isInspecting() ? " with-inspector" : ""}`;
  return (
    <div class={look}>
      <a class="skip" href="#main">
        To the conversation
      </a>
      {showsList.value && <SessionsList />}
      {showsList.value && (
        <div
          class="shade"
          onClick={() => {
            showsList.value = false;
          }}
        />
      )}
      <div class="page" id="main">
        {page === undefined && <p class="empty">There is no such page.</p>}
        {Page !== undefined && <Page rest={rest} />}
      </div>
      <Inspector />
      <Overlays />
      {toast.value !== undefined && (
        <p class={`toast ${toast.value.isError ? "error" : ""}`} role={toast.value.isError ? "alert" : "status"}>
          {toast.value.text}
        </p>
      )}
    </div>
  );
}

function Problem({ text }: { readonly text: string }) {
  return (
    <main class="problem">
      <h1>Oxbow</h1>
      <p role="alert">{text}</p>
    </main>
  );
}

/** Esc closes what is open, the last first. */
function back(): void {
  if (opened.value !== undefined) opened.value = undefined;
  else if (isInspecting()) inspect(undefined);
  else if (showsList.value && !matchMedia("(min-width: 1200px)").matches) showsList.value = false;
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
