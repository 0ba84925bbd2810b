/** Where a person writes: prompts, slash commands with completion, `@` files, images by paste or drop; steers and queues during a turn. */
import { useEffect, useRef, useState } from "preact/hooks";
import { systemClock } from "../../../base/clock.js";
import { hintOf } from "../../../base/input-hint.js";
import { type ImageBlock, type InputContent, text as textBlock } from "../../../protocol/content.js";
import type { SessionMode } from "../../../protocol/events.js";
import { readSlashAnswer, readSlashLine, slashRequest } from "../../../protocol/slash-command.js";
import type { Suggestion, Suggestions } from "../../sdk/completion/completion.js";
import { EngineCompletion } from "../../sdk/completion/engine-completion.js";
import { go } from "../router.js";
import { isBusy } from "../state/conversation.js";
import { engine, newSession, refreshStatus, type SessionView, showToast, tell, tellSession } from "../store.js";
import { IconButton } from "./controls.js";
import { opened } from "./overlays.js";

const MOST_IMAGE = 5 * 1024 * 1024;

/** What was written and not sent, by session. */
const drafts = new Map<string, string>();

export function Composer({ view }: { readonly view: SessionView }) {
  const { session } = view;
  const [text, setText] = useState(drafts.get(session) ?? "");
  const [images, setImages] = useState<readonly ImageBlock[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const menu = useCompletion(view, area, text, setText);
  const busy = isBusy(view.conversation.value);
  useEffect(() => {
    drafts.set(session, text);
    grow(area.current);
  }, [session, text]);
  const clear = () => {
    setText("");
    setImages([]);
  };
  const submit = async (when: "now" | "later") => {
    const given = text.trim();
    if (given === "" && images.length === 0) return;
    const line = readSlashLine(given);
    clear();
    view.said.value += 1;
    const isTaken =
      line === undefined || given.includes("\n")
        ? await sendInput(view, [...images, textBlock(text)], busy ? when : undefined)
        : await runSlash(view, line.name, line.rest);
    // A refused input comes back.
    if (!isTaken && area.current?.value === "") setText(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || menu.onKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey && !isThumb()) {
      event.preventDefault();
      void submit(event.ctrlKey || event.metaKey ? "later" : "now");
    } else if (event.key === "Escape" && text === "" && busy) {
      event.preventDefault();
      const choice = document.querySelector<HTMLElement>(".dock .choice");
      if (choice === null) void tell("CancelTurn", {}, session);
      else choice.focus();
    }
  };
  const take = (files: Iterable<File>) =>
    void readImages(files).then((found) => setImages((before) => [...before, ...found]));
  return (
    <form
      class="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        void submit("now");
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files ?? []);
      }}
    >
      {menu.view}
      {images.length > 0 && (
        <div class="attached">
          {images.map(({ media_type, data }, index) => (
            <span key={index}>
              <img src={`data:${media_type};base64,${data}`} alt={`attached ${index + 1}`} />
              <IconButton
                name="close"
                label={`Remove image ${index + 1}`}
                onClick={() => setImages(images.filter((_, at) => at !== index))}
              />
            </span>
          ))}
        </div>
      )}
      <textarea
        ref={area}
        rows={1}
        value={text}
        placeholder={busy ? "Steer the turn" : "Ask, / for commands, @ for files"}
        aria-label="Message"
        {...menu.aria}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onSelect={() => menu.look()}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length > 0) {
            event.preventDefault();
            take(files);
          }
        }}
      />
      <div class="composer-row">
        <Settings view={view} />
        <span class="grow" />
        {busy && text.trim() !== "" && (
          <button type="button" class="small" onClick={() => void submit("later")} title="Ctrl-Enter">
            Queue
          </button>
        )}
        {busy && text.trim() === "" ? (
          <button type="button" class="small" title="Esc" onClick={() => void tell("CancelTurn", {}, session)}>
            Interrupt
          </button>
        ) : (
          <button type="submit" class="primary small" title="Enter">
            {busy ? "Steer" : "Send"}
          </button>
        )}
      </div>
    </form>
  );
}

/** With a thumb, Enter begins a line, and the button sends. */
function isThumb(): boolean {
  return matchMedia("(pointer: coarse)").matches && matchMedia("(max-width: 700px)").matches;
}

/** Grows with its lines; the style sheet limits it. */
function grow(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

async function sendInput(
  view: SessionView,
  content: readonly InputContent[],
  during: "now" | "later" | undefined,
): Promise<boolean> {
  const how = during === undefined ? {} : during === "now" ? { steer: true } : { queue: true };
  const told = await tellSession(view, "SendInput", { content, ...how });
  const hint = told && hintOf({ ok: true, ...told });
  if (hint !== undefined) showToast(hint);
  return told !== undefined;
}

/** Commands that a client does itself, by the names that people type. */
const OWN: Readonly<Record<string, (view: SessionView, rest: string) => Promise<boolean> | boolean>> = {
  clear: async ({ session }) => {
    const next = await newSession({ after: session });
    if (next !== undefined) go("s", next);
    return next !== undefined;
  },
  cancel: async ({ session }) => (await tell("CancelTurn", {}, session)) !== undefined,
  queue: (view, rest) => sendInput(view, [textBlock(rest)], "later"),
  keys: () => open("help"),
  sessions: () => open("palette"),
  resume: () => open("palette"),
};

function open(what: "help" | "palette"): boolean {
  opened.value = what;
  return true;
}

let notes = 0;

async function runSlash(view: SessionView, name: string, rest: string): Promise<boolean> {
  const own = OWN[name];
  if (own !== undefined) return own(view, rest);
  if (name === "model" && rest === "") {
    opened.value = "models";
    return true;
  }
  const told = await tellSession(view, "CustomCommand", slashRequest(name, rest));
  if (told === undefined) return false;
  const { text, isTurn, follow } = readSlashAnswer(told.value);
  if (text !== "" && !isTurn) {
    notes += 1;
    const after = view.conversation.value.turns.length;
    view.notes.value = [...view.notes.value, { id: notes, after, line: `/${name} ${rest}`.trim(), text }];
  }
  void refreshStatus(view);
  if (follow !== undefined) {
    const next = await newSession(follow);
    if (next !== undefined) go("s", next);
  }
  return true;
}

async function readImages(files: Iterable<File>): Promise<readonly ImageBlock[]> {
  const found: ImageBlock[] = [];
  for (const file of files) {
    if (!file.type.startsWith("image/")) showToast(`${file.name} is no image.`, true);
    else if (file.size > MOST_IMAGE) showToast(`${file.name} is larger than 5 MB.`, true);
    else found.push({ type: "image", media_type: file.type, data: await base64Of(file) });
  }
  return found;
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

const MODES: readonly (readonly [SessionMode, string])[] = [
  ["ask", "ask"],
  ["auto", "auto"],
  ["review", "review edits"],
  ["plan", "plan"],
  ["allow", "allow all"],
  ["deny", "deny"],
];

const EFFORTS = ["auto", "low", "medium", "high"] as const;

/** The mode, the model and how much it thinks. */
function Settings({ view }: { readonly view: SessionView }) {
  const status = view.status.value;
  if (status === undefined) return null;
  const { place, provider, model } = status;
  return (
    <>
      {place !== undefined && (
        <select
          class={`quiet small mode-${place.mode}`}
          aria-label="Mode"
          value={place.mode}
          onChange={async (event) => {
            await tellSession(view, "SetMode", { mode: event.currentTarget.value as SessionMode });
            await refreshStatus(view);
          }}
        >
          {MODES.map(([mode, label]) => (
            <option key={mode} value={mode}>
              {label}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        class="quiet small model"
        title="Choose a model"
        onClick={() => {
          opened.value = "models";
        }}
      >
        {provider}:{model}
      </button>
      <select
        class="quiet small effort"
        aria-label="Effort"
        value={place?.effort ?? "auto"}
        onChange={(event) => void runSlash(view, "effort", event.currentTarget.value)}
      >
        {[...new Set([...EFFORTS, place?.effort ?? "auto"])].map((effort) => (
          <option key={effort} value={effort}>
            {effort === "auto" ? "effort" : effort}
          </option>
        ))}
      </select>
    </>
  );
}

/** The list of suggestions above the draft. */
function useCompletion(
  view: SessionView,
  area: { readonly current: HTMLTextAreaElement | null },
  text: string,
  setText: (text: string) => void,
) {
  const source = useRef<EngineCompletion>(undefined);
  const [found, setFound] = useState<Suggestions>();
  const [marked, mark] = useState(0);
  source.current ??= new EngineCompletion({ client: engine(), session: () => view.session, clock: systemClock });
  const asked = useRef(0);
  const look = () => {
    const element = area.current;
    asked.current += 1;
    const turn = asked.current;
    if (element === null || element.selectionStart !== element.selectionEnd) return setFound(undefined);
    const before = element.value.slice(0, element.selectionStart);
    const lineStart = before.lastIndexOf("\n") + 1;
    const line = element.value.slice(lineStart).split("\n")[0] ?? "";
    const place = { line, column: before.length - lineStart, isFirstLine: lineStart === 0 };
    const show = (suggestions: Suggestions | undefined) => {
      if (turn !== asked.current) return;
      setFound(suggestions);
      mark(0);
    };
    const suggested = source.current?.source.suggest(place);
    if (suggested instanceof Promise) void suggested.then(show);
    else show(suggested);
  };
  useEffect(look, [text]);
  const take = (suggestion: Suggestion) => {
    const element = area.current;
    if (element === null || found === undefined) return;
    const caret = element.selectionStart;
    const lineStart = element.value.slice(0, caret).lastIndexOf("\n") + 1;
    const tail = suggestion.next === "more" ? "" : " ";
    const head = element.value.slice(0, lineStart + found.start) + suggestion.value + tail;
    setText(head + element.value.slice(caret));
    setFound(undefined);
    requestAnimationFrame(() => {
      element.focus();
      element.setSelectionRange(head.length, head.length);
    });
  };
  const items = found?.items ?? [];
  const onKey = (event: KeyboardEvent): boolean => {
    if (items.length === 0) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      mark((marked + (event.key === "ArrowDown" ? 1 : items.length - 1)) % items.length);
    } else if (event.key === "Tab" || (event.key === "Enter" && !found?.complete && !isWhole())) {
      const item = items[marked];
      if (item !== undefined) take(item);
    } else if (event.key === "Escape") setFound(undefined);
    else return false;
    event.preventDefault();
    return true;
  };
  /** Enter sends what is already the suggestion. */
  const isWhole = () => items[marked]?.value === text.trim();
  const id = "completion";
  const list = (
    <div class="completion">
      {items.length > 0 && (
        <div role="listbox" id={id} aria-label="Suggestions" tabIndex={0}>
          {items.slice(0, 50).map((item, index) => (
            <div
              key={item.value}
              role="option"
              id={`${id}-${index}`}
              aria-selected={index === marked}
              ref={(element) => {
                if (index === marked) element?.scrollIntoView({ block: "nearest" });
              }}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(item)}
            >
              <span class="label">
                {item.label} <span class="dim">{item.hint}</span>
              </span>
              <span class="dim">{item.description}</span>
            </div>
          ))}
        </div>
      )}
      {found?.usage !== undefined && <p class="dim usage">{found.usage}</p>}
    </div>
  );
  return {
    look,
    onKey,
    view: found === undefined ? null : list,
    aria: {
      "aria-controls": items.length > 0 ? id : undefined,
      "aria-autocomplete": "list" as const,
      ...(items.length > 0 && { "aria-activedescendant": `${id}-${marked}` }),
    },
  };
}
