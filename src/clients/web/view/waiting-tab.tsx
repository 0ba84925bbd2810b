/** Files of the folder that do nothing before a person has approved them: each is shown before it is decided on. */
import { useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { WaitingContent } from "../../../protocol/queries.js";
import { parseHunks } from "../../sdk/shown/hunks.js";
import { type SessionView, tellSession } from "../store.js";
import { Diff } from "./diff.js";
import { useQuery } from "./session-queries.js";

const EFFECTS = { runs: "runs programs", configures: "changes settings", informs: "the model reads it" } as const;

export function WaitingTab({ view }: { readonly view: SessionView }) {
  const [answer, again] = useQuery(view, "ListWaitingContent", { diffs: true });
  if (answer === undefined) return <p class="empty">Asking the engine …</p>;
  if (answer.items.length === 0) return <p class="empty">Nothing of this folder waits for your approval.</p>;
  const decide = async ({ id, sha256, off }: WaitingContent, decision: "approved" | "refused", keep: boolean) => {
    const run = off && keep ? { run_programs: true as const } : {};
    await tellSession(view, "ApproveContent", { decisions: [{ id, sha256, decision }], ...run });
    again();
  };
  return (
    <>
      <p class="dim">These files do nothing before you approve them. An approval is for what is shown here.</p>
      {answer.items.map((item) => (
        <Item key={`${item.id} ${item.sha256}`} item={item} onDecide={decide} />
      ))}
    </>
  );
}

interface ItemProps {
  readonly item: WaitingContent;
  readonly onDecide: (item: WaitingContent, decision: "approved" | "refused", keep: boolean) => Promise<void>;
}

function Item({ item, onDecide }: ItemProps) {
  const { name, label, effect, owner, state, size, notes, diff, text, off } = item;
  const [keeps, setKeeps] = useState(false);
  const [isSent, setSent] = useState(false);
  const decide = (decision: "approved" | "refused") => {
    setSent(true);
    void onDecide(item, decision, keeps).finally(() => setSent(false));
  };
  return (
    <article class="waiting-item">
      <header>
        <h2>{safeLine(name)}</h2>
        <span class="dim">
          {label}, {size}, {state}
          {owner === "project" ? ", from this project" : ""}
        </span>
        <span class={effect === "runs" ? "bad" : "dim"}>{EFFECTS[effect]}</span>
      </header>
      {notes.map((note) => (
        <p key={note} class="bad">
          {safeLine(note)}
        </p>
      ))}
      {diff !== undefined && <Diff path={name} {...parseHunks(diff)} />}
      {diff === undefined && <p class="bad">It cannot be shown here. Look at it in the folder first.</p>}
      {text !== undefined && (
        <details>
          <summary>All of it</summary>
          <pre class="wide">{text}</pre>
        </details>
      )}
      {off && (
        <label class="pick">
          <input type="checkbox" checked={keeps} onChange={({ currentTarget }) => setKeeps(currentTarget.checked)} />
          Run programs of this project from now on, not only until Oxbow ends
        </label>
      )}
      <p class="row">
        <button
          type="button"
          class="primary"
          disabled={isSent || diff === undefined}
          onClick={() => decide("approved")}
        >
          Approve<span class="hidden"> {safeLine(name)}</span>
        </button>
        <button type="button" disabled={isSent} onClick={() => decide("refused")}>
          Reject<span class="hidden"> {safeLine(name)}</span>
        </button>
      </p>
    </article>
  );
}
