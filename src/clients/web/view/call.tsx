/** One tool call: a row that says what it does and how it ended, and opens into its arguments, output or diff. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { roundTokens } from "../../../base/budget-text.js";
import { argumentWords as allArguments, RESULT_MARKS } from "../../../base/call-words.js";
import { commandFailure, lastLines } from "../../../base/command-failure.js";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { parseHunks } from "../../sdk/shown/hunks.js";
import { languageOfFile } from "../../sdk/shown/languages.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";
import { argumentWords, counted, patchedFiles, pathOf, resultWords } from "../../sdk/shown/tool-words.js";
import { addressOf } from "../router.js";
import { now } from "../store.js";
import { CodeLines } from "./code.js";
import { CopyButton, Icon, type IconName } from "./controls.js";
import { Diff, isSplit } from "./diff.js";
import { inspect } from "./inspector.js";
import { timeText } from "./text.js";

const LIVE_LINES = 8;
const FAILED_LINES = 10;
const MOST_OUTPUT = 200_000;
const ICONS: Readonly<Partial<Record<string, IconName>>> = {
  ...{
    read: "read",
    list: "list",
    search: "search",
    edit: "edit",
    run: "run",
    fetch: "fetch",
    plan: "plan",
    ask: "ask",
  },
};

/** Rows that a person has opened or closed, by call: they stay so when the page is drawn again. */
const toggled = signal<ReadonlyMap<string, boolean>>(new Map());

export function toggleCall(call: string, isOpen: boolean): void {
  toggled.value = new Map(toggled.value).set(call, isOpen);
}

/** The calls that wait for an answer of a person. */
export const asked = signal<ReadonlySet<string>>(new Set());

/** A failed call stays open at its last lines; a diff is what the person wants to see. */
function opensByItself(block: ToolBlock): boolean {
  return block.toolKind === "edit" && changesOf(block).length > 0;
}

export const Call = memo(({ block }: { readonly block: ToolBlock }) => {
  const isOpen = toggled.value.get(block.call) ?? opensByItself(block);
  const { result } = block;
  const state = result === undefined ? "running" : result.status === "ok" ? "ok" : "failed";
  const onClick = (event: MouseEvent) => {
    if (event.shiftKey) inspect({ title: block.tool, view: () => <CallDetails block={block} /> });
    else toggleCall(block.call, !isOpen);
  };
  return (
    <div class={`call ${state}`} id={block.call}>
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={onClick} data-call={block.call}>
        <Icon name={ICONS[block.toolKind ?? ""] ?? "call"} />
        <span class="tool">{safeLine(block.tool)}</span>
        <span class="words">{oneLine(argumentWords(block))}</span>
        <Facts block={block} />
      </button>
      {isOpen ? <CallBody block={block} /> : <CallTail block={block} />}
    </div>
  );
});

function oneLine(words: string): string {
  return safeLine(
    words
      .slice(0, 500)
      .trim()
      .replace(/\s*\n\s*/g, " ⏎ "),
  );
}

function Facts({ block }: { readonly block: ToolBlock }) {
  const { result, agent, startedAt } = block;
  if (result === undefined) {
    const time = timeText(now.value - startedAt);
    return (
      <span class="facts">
        {agent !== undefined && agentWords(block)}
        {asked.value.has(block.call) ? (
          <span class="waits">waiting for you</span>
        ) : (
          <span class="working">{time === "" ? "running" : time}</span>
        )}
      </span>
    );
  }
  const measured = result.details?.duration_ms;
  const time = timeText(typeof measured === "number" ? measured : result.endedAt - startedAt);
  const mark = RESULT_MARKS[result.status];
  const said =
    result.status === "ok"
      ? agent === undefined
        ? (resultWords(block) ?? "")
        : agentWords(block)
      : (commandFailure(result)?.ending ?? result.status);
  return (
    <span class="facts">
      <span class={result.status === "ok" ? "dim" : "bad"}>{safeLine(said)}</span>
      {time !== "" && <span class="dim">{time}</span>}
      <span class={`mark ${result.status}`} role="img" aria-label={result.status}>
        {mark}
      </span>
    </span>
  );
}

function agentWords({ agent }: ToolBlock): string {
  if (agent === undefined) return "";
  const calls = agent.calls === 0 ? "" : (counted(agent.calls, "call", "calls") ?? "");
  const tokens = agent.tokens === 0 ? "" : `${roundTokens(agent.tokens)} tokens`;
  return [calls, tokens].filter((part) => part !== "").join(" · ");
}

/** What a closed row shows below it: the live end of an output, or the last lines of a failure. */
function CallTail({ block }: { readonly block: ToolBlock }) {
  const { result, progress } = block;
  if (result === undefined) {
    if (progress === "") return null;
    return <pre class="tail">{safeText(lastLines(progress, LIVE_LINES))}</pre>;
  }
  if (result.status === "ok" || result.status === "skipped") return null;
  const output = commandFailure(result)?.output ?? contentText(block);
  return output.trim() === "" ? null : <pre class="tail">{safeText(lastLines(output, FAILED_LINES))}</pre>;
}

function CallBody({ block }: { readonly block: ToolBlock }) {
  return (
    <div class="call-body">
      <CallParts block={block} />
    </div>
  );
}

/** The same in the inspector, with all arguments. */
function CallDetails({ block }: { readonly block: ToolBlock }) {
  return (
    <div class="call-body">
      <Output label="Arguments" text={allArguments(block.args)} />
      <CallParts block={block} />
    </div>
  );
}

function CallParts({ block }: { readonly block: ToolBlock }): ComponentChildren {
  const { result, args, agent, progress } = block;
  const changes = changesOf(block);
  const command = typeof args.command === "string" ? args.command : undefined;
  return (
    <>
      {command?.includes("\n") && <Output label="Command" text={command} language="bash" />}
      {agent !== undefined && (
        <p>
          <a href={addressOf("s", agent.session)}>{safeLine(`${agent.type}: ${agent.description}`)}</a>
        </p>
      )}
      {changes.map(({ path, diff, words }) => (
        <FileChange key={path} path={path} diff={diff} words={words} />
      ))}
      {(result?.content ?? []).map((part, index) =>
        part.type === "image" ? (
          <img key={index} class="result-image" src={`data:${part.media_type};base64,${part.data}`} alt="result" />
        ) : null,
      )}
      {changes.length === 0 && (
        <Output text={result === undefined ? progress : contentText(block)} language={languageOf(block)} />
      )}
    </>
  );
}

function languageOf(block: ToolBlock): string {
  return block.toolKind === "read" ? languageOfFile(pathOf(block) ?? "") : "";
}

function changesOf({ result }: ToolBlock): readonly { path: string; diff: string; words: string }[] {
  if (result?.status !== "ok") return [];
  const { details } = result;
  const files = patchedFiles(details);
  if (files.length > 0) return files;
  if (typeof details?.diff !== "string" || details.diff === "") return [];
  return [{ path: typeof details.path === "string" ? details.path : "", diff: details.diff, words: "" }];
}

function FileChange({ path, diff, words }: { readonly path: string; readonly diff: string; readonly words: string }) {
  const { hunks, notes } = parseHunks(diff);
  return (
    <section class="file" aria-label={path}>
      <header>
        <code>{safeLine(path)}</code>
        <span class="dim">{words}</span>
        <span class="grow" />
        <button type="button" class="quiet small" onClick={() => (isSplit.value = !isSplit.value)}>
          {isSplit.value ? "One column" : "Side by side"}
        </button>
        <CopyButton text={() => diff} />
      </header>
      <Diff path={path} hunks={hunks} notes={notes} />
    </section>
  );
}

function Output({
  text,
  label,
  language = "",
}: {
  readonly text: string;
  readonly label?: string;
  readonly language?: string;
}) {
  const [isWhole, setWhole] = useState(false);
  if (text.trim() === "") return null;
  const shown = safeText(isWhole ? text : text.slice(0, MOST_OUTPUT)).trimEnd();
  return (
    <figure class="output">
      <figcaption>
        <span>{label ?? "Output"}</span>
        <CopyButton text={() => text} />
      </figcaption>
      <pre tabIndex={0}>
        <CodeLines text={shown} language={language} />
      </pre>
      {text.length > MOST_OUTPUT && !isWhole && (
        <button type="button" class="quiet small" onClick={() => setWhole(true)}>
          Show all of it
        </button>
      )}
    </figure>
  );
}

function contentText({ result }: ToolBlock): string {
  return (result?.content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
