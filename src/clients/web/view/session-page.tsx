/** A conversation: its bar, its turns, what waits for the person, and the composer. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import type { ClientInfo } from "../../../protocol/queries.js";
import type { PageProps } from "../pages.js";
import { addressOf } from "../router.js";
import { type Conversation, isBusy, type Todo } from "../state/conversation.js";
import { connection, loadOlder, now, parentOf, type SessionView, sessions, viewOf } from "../store.js";
import { asked, toggleCall } from "./call.js";
import { Composer } from "./composer.js";
import { CopyButton } from "./controls.js";
import { useKeys } from "./keys.js";
import { PlanCard, QuestionCard } from "./question.js";
import { Share } from "./share.js";
import { TopBar } from "./shell.js";
import { costText, folderName, shortPath, timeText } from "./text.js";
import { countWords, TurnView } from "./turn.js";

export function Page({ rest }: PageProps) {
  const [id, kind, target] = rest;
  if (id === undefined || !isId("sess", id)) return <p class="empty">There is no such session.</p>;
  return <SessionPage key={id} session={id} target={kind === undefined ? undefined : (target ?? kind)} />;
}

function SessionPage({ session, target }: { readonly session: SessionId; readonly target: string | undefined }) {
  const view = viewOf(session);
  const { value: conversation } = view.conversation;
  const { questions, plan } = conversation;
  const title = titleOf(view);
  const parent = parentOf(session);
  useEffect(() => {
    document.title = `${questions.length > 0 ? "● " : ""}${title} · Oxbow`;
  }, [title, questions.length]);
  const [first] = questions;
  useEffect(() => {
    asked.value = new Set(questions.map(({ call }) => call));
  }, [questions]);
  useKeys({
    j: () => moveCall(1),
    k: () => moveCall(-1),
    i: () => document.querySelector<HTMLElement>(".composer textarea")?.focus(),
  });
  return (
    <>
      <TopBar title={title}>
        <SessionFacts view={view} />
        <SessionMenu view={view} />
      </TopBar>
      <Turns view={view} target={target} />
      <footer class="dock">
        {first !== undefined && (
          <QuestionCard key={first.call} session={session} question={first} waiting={questions.length - 1} />
        )}
        {first === undefined && plan !== undefined && !isBusy(conversation) && <PlanCard key={plan} view={view} />}
        <Agents conversation={conversation} />
        <Todos todos={conversation.todos} />
        <Queue conversation={conversation} />
        {parent === undefined ? (
          <Composer view={view} />
        ) : (
          <p class="dim">
            A subagent works here. Your input belongs to <a href={addressOf("s", parent.session)}>{titleOf(parent)}</a>.
          </p>
        )}
      </footer>
      <Announcer conversation={conversation} />
    </>
  );
}

/** The other pages of the session. */
function SessionMenu({ view }: { readonly view: SessionView }) {
  const [isSharing, setSharing] = useState(false);
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current !== null) menu.current.open = false;
  };
  const links = [
    ["history", "History"],
    ["inside", "Tools and safety"],
    ["compare", "Compare"],
  ] as const;
  return (
    <>
      <details
        class="menu"
        ref={menu}
        onFocusOut={({ relatedTarget }) => isOutside(menu.current, relatedTarget) && close()}
      >
        <summary>More</summary>
        <div class="menu-body">
          {links.map(([name, words]) => (
            <a key={name} href={addressOf(name, view.session)}>
              {words}
            </a>
          ))}
          <button
            type="button"
            onClick={() => {
              close();
              setSharing(true);
            }}
          >
            Share
          </button>
        </div>
      </details>
      {isSharing && <Share view={view} onClose={() => setSharing(false)} />}
    </>
  );
}

/** A click into nothing moves the focus nowhere. */
function isOutside(menu: HTMLElement | null, target: EventTarget | null): boolean {
  return target instanceof Node && menu?.contains(target) === false;
}

function titleOf({ session, status, conversation }: SessionView): string {
  const known = sessions.value?.find(({ id }) => id === session)?.title ?? status.value?.title;
  const [first] = conversation.value.turns;
  return safeLine(known ?? first?.input.split("\n")[0]?.slice(0, 80) ?? "New session") || "New session";
}

function SessionFacts({ view }: { readonly view: SessionView }) {
  const { costs } = view.conversation.value;
  const status = view.status.value;
  const info = sessions.value?.find(({ id }) => id === view.session);
  const cwd = status?.place?.cwd ?? info?.cwd;
  const { usd, known } = costs.session;
  const window = status?.place?.context_window;
  const share = window === undefined ? undefined : Math.min(1, costs.contextUsed / window);
  return (
    <>
      {cwd !== undefined && (
        <span class="fact folder" title={cwd}>
          {folderName(cwd)}
          {status?.place?.branch !== undefined && <span class="dim"> {status.place.branch}</span>}
        </span>
      )}
      <Others others={view.others.value} />
      {status?.place?.sandbox === "none" && <span class="fact bad">no sandbox</span>}
      {usd > 0 && <span class="fact">{costText(usd, known)}</span>}
      {share !== undefined && costs.contextUsed > 0 && (
        <span class="fact gauge" title={`The conversation fills ${Math.round(share * 100)} % of the model's window`}>
          <meter min={0} max={1} low={0.7} high={0.9} optimum={0} value={share} aria-label="Context" />
          {Math.round(share * 100)} %
        </span>
      )}
    </>
  );
}

/** Names the other clients that are here. */
function Others({ others }: { readonly others: readonly ClientInfo[] }) {
  if (others.length === 0) return null;
  const names = others.map(({ name, id, identity }) =>
    safeLine(`${name ?? id}${identity === "agent" ? " (agent)" : ""}`),
  );
  return (
    <span class="fact others" title={`Also here: ${names.join(", ")}`}>
      {countWords(others.length, "other here", "others here")}
    </span>
  );
}

const AT_END = 60;

function Turns({ view, target }: { readonly view: SessionView; readonly target: string | undefined }) {
  const { value: conversation } = view.conversation;
  const { turns } = conversation;
  const scroll = useRef<HTMLDivElement>(null);
  const follows = useRef(target === undefined);
  const [unseen, setUnseen] = useState(0);
  const seen = useRef(conversation.last);
  const said = useRef(view.said.value);
  if (said.current !== view.said.value) follows.current = true;
  said.current = view.said.value;
  // Older turns come above what is looked at, which stays where it is.
  const older = useRef<{ readonly first: number; readonly fromEnd: number }>(undefined);
  const askOlder = () => {
    const [element, first] = [scroll.current, view.events[0]?.id];
    if (element === null || first === undefined || !view.hasOlder.value) return;
    older.current = { first, fromEnd: element.scrollHeight - element.scrollTop };
    void loadOlder(view);
  };
  useLayoutEffect(() => {
    const [element, asked] = [scroll.current, older.current];
    if (element === null || asked === undefined || (view.events[0]?.id ?? asked.first) >= asked.first) return;
    element.scrollTop = element.scrollHeight - asked.fromEnd;
    older.current = undefined;
  });
  // New text never moves what a reader looks at: the end is followed only by who is at the end.
  useLayoutEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    if (follows.current) {
      element.scrollTop = element.scrollHeight;
      seen.current = conversation.last;
    } else setUnseen(newParts(conversation, seen.current));
  });
  // A question below takes room from the conversation, and hides no end of it.
  useEffect(() => {
    const element = scroll.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (target === undefined || !view.isLoaded.value) return;
    const element = document.getElementById(target);
    if (element?.dataset.call !== undefined || target.startsWith("call_")) toggleCall(target, true);
    element?.scrollIntoView({ block: "center" });
  }, [target, view.isLoaded.value, view]);
  const onScroll = () => {
    const element = scroll.current;
    if (element === null) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END;
    if (follows.current) {
      seen.current = conversation.last;
      setUnseen(0);
    }
    if (element.scrollTop < 400) askOlder();
  };
  const toEnd = () => {
    follows.current = true;
    setUnseen(0);
    scroll.current?.scrollTo({ top: scroll.current.scrollHeight });
  };
  const notes = view.notes.value;
  const notesAfter = (count: number) => notes.filter(({ after }) => after === count);
  return (
    <div class="turns-frame">
      <div class="turns" ref={scroll} onScroll={onScroll} tabIndex={0} role="group" aria-label="Conversation">
        {view.hasOlder.value && (
          <button type="button" class="quiet older" onClick={askOlder}>
            Load older turns
          </button>
        )}
        {!view.isLoaded.value && <p class="empty">Reading the log …</p>}
        {view.isLoaded.value && turns.length === 0 && notes.length === 0 && <Empty view={view} />}
        {notesAfter(0).map((note) => (
          <NoteView key={note.id} {...note} />
        ))}
        {turns.map((turn, index) => (
          <>
            <TurnView key={turn.id} turn={turn} />
            {notesAfter(index + 1).map((note) => (
              <NoteView key={note.id} {...note} />
            ))}
          </>
        ))}
        {conversation.ended !== undefined && turns.length > 0 && parentOf(view.session) === undefined && (
          <p class="dim session-end">This session has ended. Your next prompt opens it again.</p>
        )}
      </div>
      {unseen > 0 && (
        <button type="button" class="new-below" onClick={toEnd}>
          {countWords(unseen, "new part", "new parts")} below
        </button>
      )}
      {connection.value !== "connected" && (
        <p class="offline" role="status">
          {connection.value === "connecting" ? "Connecting …" : "The engine does not answer. Trying again …"}
        </p>
      )}
    </div>
  );
}

function newParts({ turns }: Conversation, seen: number): number {
  return turns.slice(-3).reduce((sum, { items }) => sum + items.filter(({ id }) => id > seen).length, 0);
}

function NoteView({
  line,
  text,
  isError,
}: {
  readonly line: string;
  readonly text: string;
  readonly isError?: boolean;
}) {
  return (
    <article class={`note ${isError ? "error" : ""}`}>
      <header>
        <code>{safeLine(line)}</code>
        <CopyButton text={() => text} />
      </header>
      <pre>{safeText(text)}</pre>
    </article>
  );
}

const EXAMPLES = ["What does this project do?", "Find the slowest test and say why it is slow.", "/help"];

function Empty({ view }: { readonly view: SessionView }) {
  const cwd = view.status.value?.place?.cwd;
  return (
    <div class="empty">
      <h2>What should happen{cwd === undefined ? "" : ` in ${shortPath(cwd)}`}?</h2>
      <p>Write below, or begin with one of these:</p>
      <ul>
        {EXAMPLES.map((text) => (
          <li key={text}>
            <button
              type="button"
              class="link"
              onClick={() => {
                const area = document.querySelector<HTMLTextAreaElement>(".composer textarea");
                if (area === null) return;
                area.value = text;
                area.dispatchEvent(new Event("input", { bubbles: true }));
                area.focus();
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const MARKS = { done: "☑", in_progress: "▸", pending: "☐" } as const;

/** The list of the model, while something of it is open. */
export function Todos({ todos }: { readonly todos: readonly Todo[] }) {
  if (!todos.some(({ status }) => status !== "done")) return null;
  const done = todos.filter(({ status }) => status === "done").length;
  const current = todos.find(({ status }) => status === "in_progress");
  return (
    <details class="todos">
      <summary>
        Todos: {done} of {todos.length} done
        {current !== undefined && <span class="dim"> · {safeLine(current.text)}</span>}
      </summary>
      <ul>
        {todos.map(({ text, status }) => (
          <li key={text} class={status}>
            <span aria-hidden="true">{MARKS[status]}</span> {safeLine(text)}
            <span class="hidden"> ({status.replace("_", " ")})</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Agents({ conversation: { agents } }: { readonly conversation: Conversation }) {
  const working = agents.filter(({ endedAt }) => endedAt === undefined);
  if (working.length === 0) return null;
  return (
    <ul class="agents" aria-label="Subagents">
      {working.map(({ session, type, description, startedAt, last }) => (
        <li key={session}>
          <a href={addressOf("s", session)}>
            {safeLine(type)}: {safeLine(description)}
          </a>
          <span class="dim">
            {safeLine(last ?? "")} {timeText(now.value - startedAt)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Queue({ conversation: { queue } }: { readonly conversation: Conversation }) {
  if (queue.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting input">
      {queue.map(({ text, delivery }, index) => (
        <li key={`${index} ${text}`}>
          <span class="dim">{delivery === "steer" ? "steers" : "queued"}</span> {safeLine(text)}
        </li>
      ))}
    </ul>
  );
}

/** What a screen reader says: the ends of turns and the questions, never each word. */
function Announcer({ conversation }: { readonly conversation: Conversation }) {
  const { turns, questions } = conversation;
  const turn = turns.at(-1);
  const [question] = questions;
  const said =
    question !== undefined
      ? `Waiting for you: ${safeLine(question.summary)}`
      : turn?.end !== undefined
        ? `The turn has ended: ${turn.end.outcome}`
        : turn === undefined
          ? ""
          : "The model works";
  return (
    <p class="hidden" role="status" aria-live="polite">
      {said}
    </p>
  );
}

/** Moves the focus to the next call on the page. */
function moveCall(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".turns .call-head")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step;
  const row = rows[next];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}
