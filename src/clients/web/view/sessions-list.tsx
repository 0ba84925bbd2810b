/** The sessions of this engine: what waits for the person first, then what works, then the rest by day. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { SessionInfo } from "../../../protocol/queries.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import { PAGES } from "../pages.js";
import { addressOf, go, route } from "../router.js";
import type { Question } from "../state/conversation.js";
import { ask, engine, sessions, thisMinute } from "../store.js";
import { Icon, IconButton, useLater } from "./controls.js";
import { QuestionCard } from "./question.js";
import { showsList } from "./shell.js";
import { ageText, folderName } from "./text.js";

const wanted = signal("");

type State = "waiting" | "working" | "failed" | "open" | "done";

function stateOf({ questions = 0, busy, ended, unfinished, live }: SessionInfo): State {
  if (questions > 0) return "waiting";
  if (busy) return "working";
  if (ended === "error" || (unfinished && !live)) return "failed";
  return live ? "open" : "done";
}

const WORDS: Readonly<Record<State, string>> = {
  waiting: "waiting for you",
  working: "working",
  failed: "interrupted",
  open: "open",
  done: "",
};

export function SessionsList() {
  const all = sessions.value;
  const typed = wanted.value.trim().toLowerCase();
  const found = (all ?? []).filter(({ title = "", cwd, model, id }) =>
    [title, cwd, model, id].some((text) => text.toLowerCase().includes(typed)),
  );
  const groups = grouped(found);
  return (
    <nav class="sessions" aria-label="Sessions">
      <header>
        <a class="brand" href={addressOf()}>
          Oxbow
        </a>
        <IconButton name="plus" label="New session (g n)" onClick={() => go()} />
        <IconButton
          name="close"
          label="Close the list"
          onClick={() => {
            showsList.value = false;
          }}
        />
      </header>
      <div class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Find a session"
          placeholder="Find a session"
          value={wanted.value}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
        />
      </div>
      <div class="scroll" tabIndex={0} role="group" aria-label="List of sessions">
        {all === undefined && <p class="empty">Asking the engine …</p>}
        {all?.length === 0 && <p class="empty">No session yet. Begin one on the right.</p>}
        {all !== undefined && all.length > 0 && found.length === 0 && <p class="empty">Nothing has these words.</p>}
        {typed.length >= LEAST_WORDS && <FoundWords typed={typed} />}
        {groups.map(({ name, rows }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>
              {rows.map((info) => (
                <Row key={info.id} info={info} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      <footer>
        {PAGES.filter(({ inMenu, name }) => inMenu && name !== "").map(({ name, title }) => (
          <a key={name} href={addressOf(name)} aria-current={route.value[0] === name ? "page" : undefined}>
            {title}
          </a>
        ))}
      </footer>
    </nav>
  );
}

function Row({ info }: { readonly info: SessionInfo }) {
  const { id, title, cwd, model, active_at: at, questions = 0 } = info;
  const state = stateOf(info);
  const isHere = route.value[0] === "s" && route.value[1] === id;
  return (
    <li class={`session ${state}`}>
      <a href={addressOf("s", id)} aria-current={isHere ? "page" : undefined}>
        <span class="dot" aria-hidden="true" />
        <span class="title">{safeLine(title ?? "New session")}</span>
        <span class="age">{ageText(at, thisMinute.value)}</span>
        <span class="about">
          {WORDS[state] !== "" && <span class="state">{WORDS[state]} · </span>}
          {folderName(cwd)} · {model}
        </span>
      </a>
      {questions > 0 && !isHere && <Waiting info={info} />}
    </li>
  );
}

/** The oldest question of a session, to be answered here. */
function Waiting({ info: { id, questions = 0 } }: { readonly info: SessionInfo }) {
  const [all, setAll] = useState<readonly Question[]>([]);
  useEffect(() => {
    void ask("ListQuestions", {}, { session: id, isQuiet: true }).then((found) => setAll(found?.questions ?? []));
  }, [id, questions]);
  const [first, ...others] = all;
  if (first === undefined) return null;
  return <QuestionCard key={first.call} session={id} question={first} waiting={others.length} isShort />;
}

function grouped(
  all: readonly SessionInfo[],
): readonly { readonly name: string; readonly rows: readonly SessionInfo[] }[] {
  const groups = new Map<string, SessionInfo[]>();
  for (const name of ["Waiting for you", "Working", "Pinned"]) groups.set(name, []);
  const newestFirst = [...all].sort((left, right) => right.active_at.localeCompare(left.active_at));
  for (const info of newestFirst) {
    const state = stateOf(info);
    const name =
      state === "waiting"
        ? "Waiting for you"
        : state === "working"
          ? "Working"
          : info.pinned
            ? "Pinned"
            : dayOf(info.active_at);
    groups.set(name, [...(groups.get(name) ?? []), info]);
  }
  return [...groups].filter(([, rows]) => rows.length > 0).map(([name, rows]) => ({ name, rows }));
}

function dayOf(at: string): string {
  const day = new Date(at);
  const days = Math.floor((startOfDay(new Date()) - startOfDay(day)) / 86_400_000 + 0.5);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "This week";
  return day.toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

const LEAST_WORDS = 3;
const MOST_FOUND = 20;

interface FoundPlace {
  readonly session: string;
  readonly title?: string;
  readonly turn: number;
  readonly snippet: string;
  readonly event: number;
}

/** Places in conversations that hold the words. */
function FoundWords({ typed }: { readonly typed: string }) {
  const words = useLater(typed, 400);
  const [found, setFound] = useState<readonly FoundPlace[]>([]);
  useEffect(() => {
    const session = sessions.value?.find(({ live }) => live)?.id;
    if (session === undefined) return setFound([]);
    let isOver = false;
    void findWords(session, words).then((places) => !isOver && setFound(places));
    return () => {
      isOver = true;
    };
  }, [words]);
  if (found.length === 0) return null;
  return (
    <section aria-label="In conversations">
      <h2>In conversations</h2>
      <ul>
        {found.map(({ session, title, turn, snippet, event }) => (
          <li key={`${session} ${event}`} class="session">
            <a href={addressOf("history", session, String(event))}>
              <span class="dot" aria-hidden="true" />
              <span class="title">{safeLine(title ?? "New session")}</span>
              <span class="age">turn {turn}</span>
              <span class="about">{safeLine(snippet)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function findWords(session: SessionId, words: string): Promise<readonly FoundPlace[]> {
  const request = slashRequest("session", `search --limit ${MOST_FOUND} ${words.replace(/^-+/, "")}`);
  // A page with a limited token may not search, which the list does not dwell on.
  const reply = await engine().send("CustomCommand", request, session);
  const value = reply.ok ? readSlashAnswer(reply.value).value : undefined;
  return Array.isArray(value) ? (value as unknown as readonly FoundPlace[]) : [];
}
