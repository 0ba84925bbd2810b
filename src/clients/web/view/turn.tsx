/** One turn: what the person said, and what came of it. */
import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { groupDigits } from "../../../base/group-digits.js";
import { safeText } from "../../../base/terminal-text.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";
import type { Image, Item, Turn } from "../state/conversation.js";
import { now } from "../store.js";
import { Call } from "./call.js";
import { CopyButton, Icon } from "./controls.js";
import { Markdown } from "./markdown.js";
import { timeText } from "./text.js";

export const TurnView = memo(({ turn }: { readonly turn: Turn }) => {
  const { input, images, items, end } = turn;
  return (
    <article class={`turn ${end === undefined ? "open" : end.outcome}`} id={`t${turn.id}`} aria-label="Turn">
      {(input !== "" || images.length > 0) && <Input text={input} images={images} />}
      {grouped(items).map((part) =>
        Array.isArray(part) ? (
          <Group key={part[0]?.id} items={part as readonly CallItem[]} />
        ) : (
          <ItemView key={(part as Item).id} item={part as Item} isLast={part === items.at(-1) && end === undefined} />
        ),
      )}
      {end === undefined ? <Working turn={turn} /> : <End turn={turn} />}
    </article>
  );
});

type CallItem = Extract<Item, { readonly kind: "call" }>;

function Input({ text, images }: { readonly text: string; readonly images: readonly Image[] }) {
  return (
    <div class="input">
      {text !== "" && <p>{safeText(text)}</p>}
      {images.map(({ media_type, data }, index) => (
        <img key={index} class="input-image" src={`data:${media_type};base64,${data}`} alt="attached" />
      ))}
    </div>
  );
}

const ItemView = memo(({ item, isLast }: { readonly item: Item; readonly isLast: boolean }) => {
  switch (item.kind) {
    case "text":
      return (
        <div class="answer">
          <Markdown text={item.text} />
          {!isLast && item.text.length > 200 && (
            <div class="answer-tools">
              <CopyButton text={() => item.text} label="Copy as Markdown" />
            </div>
          )}
        </div>
      );
    case "thinking":
      return <Thinking item={item} isLast={isLast} />;
    case "call":
      return <Call block={item.block} />;
    case "input":
      return <Input text={item.text} images={item.images} />;
    case "notice":
      return <p class={`notice ${item.notice.level}`}>{safeText(item.notice.text)}</p>;
    case "summary":
      return (
        <details class="summary">
          <summary>The summary that the conversation continues from</summary>
          <Markdown text={item.text} />
        </details>
      );
  }
});

function Thinking({
  item,
  isLast,
}: {
  readonly item: Extract<Item, { readonly kind: "thinking" }>;
  readonly isLast: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const time = timeText((isLast ? now.value : item.endedAt) - item.startedAt);
  const newest = isLast ? lastSentence(item.text) : "";
  return (
    <div class="thinking">
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="thinking" />
        <span class="words">{isLast ? `Thinking ${newest}` : "Thought"}</span>
        <span class="facts">{time}</span>
      </button>
      {isOpen && <Markdown text={item.text} />}
    </div>
  );
}

function lastSentence(text: string): string {
  return safeText(text.trimEnd().split("\n").at(-1) ?? "").slice(-120);
}

const GROUPED: ReadonlySet<string> = new Set(["read", "list", "search"]);
const LEAST_GROUP = 3;

/** Looks around that worked stand on one line together. */
function grouped(items: readonly Item[]): readonly (Item | readonly CallItem[])[] {
  const parts: (Item | CallItem[])[] = [];
  let run: CallItem[] = [];
  const flush = () => {
    if (run.length >= LEAST_GROUP) parts.push(run);
    else parts.push(...run);
    run = [];
  };
  for (const item of items) {
    if (item.kind === "call" && isLook(item.block)) run.push(item);
    else {
      flush();
      parts.push(item);
    }
  }
  flush();
  return parts;
}

function isLook({ toolKind, result }: ToolBlock): boolean {
  return toolKind !== undefined && GROUPED.has(toolKind) && result?.status === "ok";
}

function Group({ items }: { readonly items: readonly CallItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const count = (kind: string) => items.filter(({ block }) => block.toolKind === kind).length;
  const words = [
    [count("read"), "file", "files", "Read"],
    [count("list"), "folder", "folders", "Listed"],
    [count("search"), "search", "searches", ""],
  ] as const;
  const said = words
    .filter(([number]) => number > 0)
    .map(([number, one, many, verb]) => `${verb} ${number} ${number === 1 ? one : many}`.trim())
    .join(", ");
  return (
    <div class="group">
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="read" />
        <span class="words">{said}</span>
      </button>
      {isOpen && (
        <div class="group-body">
          {items.map(({ id, block }) => (
            <Call key={id} block={block} />
          ))}
        </div>
      )}
    </div>
  );
}

/** What a turn that runs waits for, in words and time. */
function Working({ turn }: { readonly turn: Turn }) {
  const last = turn.items.at(-1);
  const isSaying = last?.kind === "text" || last?.kind === "thinking";
  const runs = last?.kind === "call" && last.block.result === undefined;
  if (turn.progress === undefined && (isSaying || runs)) return null;
  const since = last?.kind === "call" ? (last.block.result?.endedAt ?? turn.startedAt) : turn.startedAt;
  return (
    <p class="working-line">
      {turn.progress ?? "Waiting for the model"} {timeText(now.value - since)}
    </p>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  limit: "Stopped at a limit",
  denied: "Denied",
  stopped: "Stopped",
  cancelled: "Interrupted",
  failed: "Failed",
};

function End({ turn: { end } }: { readonly turn: Turn }) {
  if (end === undefined) return null;
  const outcome = OUTCOMES[end.outcome];
  return (
    <footer class="turn-end">
      {end.failure !== undefined && <p class="notice error">{safeText(end.failure)}</p>}
      {end.truncated && <p class="notice warning">The answer was cut off at the model's output limit.</p>}
      <p class="dim">
        {outcome !== undefined && end.failure === undefined && <span class="outcome">{outcome} · </span>}
        {end.stats}
      </p>
    </footer>
  );
}

export function countWords(count: number, one: string, many: string): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}
