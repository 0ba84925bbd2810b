/** What opens above the page: the keys, the palette, the models. */
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { looseScore } from "../../../base/loose-match.js";
import { PAGES } from "../pages.js";
import { go, route } from "../router.js";
import { ask, refreshStatus, sessions, tellSession, viewOf } from "../store.js";
import { Dialog } from "./controls.js";
import { folderName } from "./text.js";

export const opened = signal<"help" | "palette" | "models" | undefined>(undefined);

export function Overlays() {
  const close = () => {
    opened.value = undefined;
  };
  switch (opened.value) {
    case "help":
      return <Help onClose={close} />;
    case "palette":
      return <Picker label="Go to" items={useGoals()} onClose={close} />;
    case "models":
      return <Models onClose={close} />;
    default:
      return null;
  }
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send, or steer the turn"],
  ["Ctrl-Enter", "queue behind the turn"],
  ["Shift-Enter", "a new line"],
  ["Esc", "close what is open; in an empty draft, interrupt the turn"],
  ["/ and @", "commands and files"],
  ["y s t a n", "answer a question"],
  ["j k", "the next and the previous call"],
  ["i", "write"],
  ["g s", "the list of sessions"],
  ["g n", "a new session"],
  ["Ctrl-K", "go anywhere"],
  ["Shift-click", "look at a call in the column on the right"],
  ["?", "these keys"],
];

function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}

interface Goal {
  readonly id: string;
  readonly label: string;
  readonly about: string;
  readonly take: () => void;
}

function useGoals(): readonly Goal[] {
  const pages = PAGES.filter(({ inMenu }) => inMenu).map(({ name, title }) => {
    return { id: `page ${name}`, label: title, about: "page", take: () => go(...(name === "" ? [] : [name])) };
  });
  const known = (sessions.value ?? []).map(({ id, title, cwd }) => {
    return { id, label: title ?? "(no title)", about: folderName(cwd), take: () => go("s", id) };
  });
  return [...pages, ...known];
}

function Models({ onClose }: { readonly onClose: () => void }) {
  const [items, setItems] = useState<readonly Goal[]>();
  const [, session] = route.value;
  useEffect(() => {
    if (session === undefined) return;
    const view = viewOf(session as `sess_${string}`);
    const choose = async (model: string) => {
      await tellSession(view, "SetModel", { model });
      await refreshStatus(view);
    };
    void ask("ListModels", {}, { session: view.session }).then((answer) => {
      const routes = (answer?.routes ?? []).map(({ name, models }) => {
        return { id: `@${name}`, label: `@${name}`, about: models.join(", "), take: () => void choose(`@${name}`) };
      });
      const models = (answer?.models ?? []).map(({ provider, model, label, context_window: size }) => {
        const name = `${provider}:${model}`;
        const about = [label, size && `${Math.round(size / 1000)}k`].filter(Boolean).join(" · ");
        return { id: name, label: name, about, take: () => void choose(name) };
      });
      setItems([...routes, ...models]);
    });
  }, [session]);
  return <Picker label="Choose a model" items={items} onClose={onClose} />;
}

const MOST_ITEMS = 60;

function Picker({
  label,
  items,
  onClose,
}: {
  readonly label: string;
  readonly items: readonly Goal[] | undefined;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState("");
  const [marked, mark] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const found = useMemo(() => ranked(items ?? [], typed), [items, typed]);
  const take = (goal: Goal | undefined) => {
    if (goal === undefined) return;
    onClose();
    goal.take();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: found.length - 1 }[event.key];
    if (step !== undefined && found.length > 0) mark((marked + step) % found.length);
    else if (event.key === "Enter") take(found[marked]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label={label} onClose={onClose} kind="picker">
      <input
        ref={input}
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls="picked"
        aria-activedescendant={found.length > 0 ? `picked-${marked}` : undefined}
        placeholder={label}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          mark(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id="picked" aria-label={label}>
        {found.map((goal, index) => (
          <div
            key={goal.id}
            id={`picked-${index}`}
            role="option"
            aria-selected={index === marked}
            ref={(element) => {
              if (index === marked) element?.scrollIntoView({ block: "nearest" });
            }}
            onClick={() => take(goal)}
          >
            <span class="label">{goal.label}</span>
            <span class="dim">{goal.about}</span>
          </div>
        ))}
      </div>
      {items === undefined && <p class="dim">Asking the engine …</p>}
      {items !== undefined && found.length === 0 && <p class="dim">Nothing has this name.</p>}
    </Dialog>
  );
}

function ranked(items: readonly Goal[], typed: string): readonly Goal[] {
  if (typed.trim() === "") return items.slice(0, MOST_ITEMS);
  return items
    .flatMap((goal) => {
      const score = looseScore(typed.toLowerCase(), `${goal.label} ${goal.about}`.toLowerCase());
      return score === undefined ? [] : [{ goal, score }];
    })
    .sort((left, right) => left.score - right.score)
    .slice(0, MOST_ITEMS)
    .map(({ goal }) => goal);
}
