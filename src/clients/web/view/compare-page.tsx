/** Two to four sessions side by side, turn by turn: `#/compare/A/B`. */
import { useEffect, useState } from "preact/hooks";
import { groupDigits } from "../../../base/group-digits.js";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import type { ComparedTotals, ComparedTurn, Comparison } from "../../../protocol/queries.js";
import type { PageProps } from "../pages.js";
import { addressOf, go } from "../router.js";
import { ask, sessions } from "../store.js";
import { TopBar } from "./shell.js";
import { costText, folderName, timeText } from "./text.js";
import { countWords } from "./turn.js";

const MOST_SIDES = 4;

export function Page({ rest }: PageProps) {
  const ids = rest.filter((id): id is SessionId => isId("sess", id)).slice(0, MOST_SIDES);
  const key = ids.join(" ");
  // Sides that work are compared again when a turn of them ends.
  const busy = (sessions.value ?? []).filter(({ id, busy: works }) => works && ids.includes(id)).length;
  const [found, setFound] = useState<{ readonly key: string; readonly comparison?: Comparison }>();
  useEffect(() => {
    document.title = "Compare · Oxbow";
    const [session, ...others] = ids;
    if (session === undefined || others.length === 0) return;
    void ask("CompareSessions", { others }, { session }).then((answer) =>
      setFound(answer === undefined ? { key } : { key, comparison: answer }),
    );
  }, [key, busy]);
  const comparison = found?.key === key ? found.comparison : undefined;
  return (
    <>
      <TopBar title="Compare" />
      <main class="compare">
        <Chooser ids={ids} />
        {ids.length >= 2 && found?.key !== key && <p class="empty">Comparing …</p>}
        {ids.length >= 2 && found?.key === key && comparison === undefined && (
          <p class="empty">These sessions cannot be compared.</p>
        )}
        {comparison !== undefined && <Sides comparison={comparison} />}
      </main>
    </>
  );
}

function Chooser({ ids }: { readonly ids: readonly SessionId[] }) {
  const known = (sessions.value ?? []).filter(({ id }) => !ids.includes(id));
  if (ids.length === MOST_SIDES) return null;
  return (
    <label class="chooser">
      <span>{ids.length === 0 ? "Compare" : "With"}</span>
      <select
        value=""
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== "") go("compare", ...ids, currentTarget.value);
        }}
      >
        <option value="">Choose a session</option>
        {known.map(({ id, title, cwd, model }) => (
          <option key={id} value={id}>
            {safeLine(title ?? id)} · {folderName(cwd)} · {model}
          </option>
        ))}
      </select>
    </label>
  );
}

function Sides({ comparison }: { readonly comparison: Comparison }) {
  const { sessions: sides, same_turns: same, turns } = comparison;
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Sessions side by side">
      <table class="sides">
        <thead>
          <tr>
            <td />
            {sides.map(({ id, title, model }) => (
              <th key={id} scope="col">
                <a href={addressOf("s", id)}>{safeLine(title ?? id)}</a>
                <span class="dim"> {model}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody class="figures">
          {FIGURES.map(({ name, of }) => {
            const values = sides.map(({ totals }) => of(totals));
            const differ = new Set(values).size > 1;
            return (
              <tr key={name} class={differ ? "differs" : ""}>
                <th scope="row">{name}</th>
                {values.map((value, index) => (
                  <td key={sides[index]?.id}>{value}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
        <tbody>
          {same > 0 && (
            <tr class="same">
              <th scope="row">{same === 1 ? "Turn 1" : `Turns 1–${same}`}</th>
              <td colSpan={sides.length}>the same in all</td>
            </tr>
          )}
          {turns.map((turn) =>
            turn.same ? (
              <tr key={turn.number} class="same">
                <th scope="row">Turn {turn.number}</th>
                <td colSpan={sides.length}>the same in all</td>
              </tr>
            ) : (
              <tr key={turn.number}>
                <th scope="row">Turn {turn.number}</th>
                {turn.sides.map((side, index) => (
                  <td key={sides[index]?.id}>
                    {side === null ? <span class="dim">no such turn</span> : <Side turn={side} />}
                  </td>
                ))}
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

const FIGURES: readonly { readonly name: string; readonly of: (totals: ComparedTotals) => string }[] = [
  { name: "Turns that differ", of: ({ turns }) => groupDigits(turns) },
  { name: "Calls", of: ({ calls }) => groupDigits(calls) },
  { name: "Files", of: ({ files, added, removed }) => `${files} (+${added} −${removed})` },
  {
    name: "Tokens",
    of: ({ usage }) =>
      `${groupDigits(usage.input + usage.cache_read + usage.cache_write)} in, ${groupDigits(usage.output)} out`,
  },
  { name: "Time", of: ({ elapsed_ms: ms }) => timeText(ms) || "under 1 s" },
  { name: "Cost", of: ({ usd }) => (usd === undefined ? "no price" : costText(usd) || "$0") },
];

const LONG_TEXT = 600;

function Side({ turn }: { readonly turn: ComparedTurn }) {
  const { input, text, made, files, outcome, elapsed_ms: ms, usd } = turn;
  const facts = [countWords(made.length, "call", "calls"), timeText(ms ?? 0), costText(usd ?? 0)].filter(Boolean);
  return (
    <div class="side">
      <p class="prompt">{safeText(input)}</p>
      {made.length > 0 && (
        <ol>
          {made.map(({ call, tool, args, status }) => (
            <li key={call} class={status === undefined || status === "ok" ? "" : "bad"}>
              <span class="tool">{safeLine(tool)}</span> {safeLine(args)}
              {status !== undefined && status !== "ok" && ` (${status})`}
            </li>
          ))}
        </ol>
      )}
      {files.length > 0 && (
        <ul>
          {files.map(({ path, added = 0, removed = 0 }) => (
            <li key={path}>
              <code>{safeLine(path)}</code> <span class="c-added">+{added}</span>{" "}
              <span class="c-removed">−{removed}</span>
            </li>
          ))}
        </ul>
      )}
      {text !== "" && (text.length > LONG_TEXT ? <Folded text={text} /> : <p class="said">{safeText(text)}</p>)}
      <p class="dim">{[outcome === "answered" ? undefined : outcome, ...facts].filter(Boolean).join(" · ")}</p>
    </div>
  );
}

function Folded({ text }: { readonly text: string }) {
  return (
    <details>
      <summary>{safeLine(text.slice(0, 120))} …</summary>
      <p class="said">{safeText(text)}</p>
    </details>
  );
}
