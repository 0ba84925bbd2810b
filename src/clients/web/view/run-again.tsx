/** Turns of a session once more, with another model or against the recorded results, in a copy that works in a worktree of its own. */
import { useEffect, useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { InputContent } from "../../../protocol/content.js";
import { isJsonObject } from "../../../protocol/json.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import { go } from "../router.js";
import { ask, newSession, type SessionView, showToast, tellSession, viewOf } from "../store.js";
import { Dialog } from "./controls.js";

export interface RunAgainProps {
  readonly view: SessionView;
  readonly from: number;
  readonly last: number;
  readonly onClose: () => void;
}

export function RunAgain({ view, from: first, last, onClose }: RunAgainProps) {
  const [from, setFrom] = useState(first);
  const [to, setTo] = useState(last);
  const [model, setModel] = useState("");
  const [isRecorded, setRecorded] = useState(false);
  const [models, setModels] = useState<readonly string[]>([]);
  const [isStarting, setStarting] = useState(false);
  useEffect(() => {
    void ask("ListModels", {}, { session: view.session, isQuiet: true }).then((answer) =>
      setModels((answer?.models ?? []).map(({ provider, model: name }) => `${provider}:${name}`)),
    );
  }, [view]);
  const begin = async () => {
    setStarting(true);
    const flags = [`--from ${from}`, `--to ${to}`, model && `--model ${model}`, isRecorded && "--recorded"];
    const copy = await prepare(view, flags.filter(Boolean).join(" "));
    setStarting(false);
    if (copy === undefined) return;
    onClose();
    go("compare", view.session, copy);
  };
  const turns = Array.from({ length: last }, (_, index) => index + 1);
  return (
    <Dialog label="Run again" onClose={onClose}>
      <h2>Run turns again</h2>
      <p>
        A copy of the session begins before the first turn, in a worktree of its own with the files of that moment, and
        gets the same prompts.
      </p>
      <div class="row">
        <label class="field">
          <span>From turn</span>
          <select value={from} onChange={({ currentTarget }) => setFrom(Number(currentTarget.value))}>
            {turns.map((turn) => (
              <option key={turn}>{turn}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>To turn</span>
          <select value={Math.max(from, to)} onChange={({ currentTarget }) => setTo(Number(currentTarget.value))}>
            {turns.slice(from - 1).map((turn) => (
              <option key={turn}>{turn}</option>
            ))}
          </select>
        </label>
      </div>
      <label class="field">
        <span>Model</span>
        <input
          list="again-models"
          value={model}
          placeholder="the same"
          onInput={({ currentTarget }) => setModel(currentTarget.value.trim())}
        />
      </label>
      <datalist id="again-models">
        {models.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </datalist>
      <label class="pick">
        <input
          type="checkbox"
          checked={isRecorded}
          onChange={({ currentTarget }) => setRecorded(currentTarget.checked)}
        />
        Run no tool: each call gets its recorded result, and a call without one ends the turn
      </label>
      <p class="row">
        <button type="button" class="primary" disabled={isStarting} onClick={() => void begin()}>
          {isStarting ? "Copying …" : "Run"}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}

/** Makes the copy and sends it the prompts; each waits for the turn before it. */
async function prepare(view: SessionView, flags: string): Promise<string | undefined> {
  const told = await tellSession(view, "CustomCommand", slashRequest("rerun", `${view.session} ${flags}`));
  if (told === undefined) return undefined;
  const { value, follow } = readSlashAnswer(told.value);
  if (!isJsonObject(value) || follow === undefined) return undefined;
  const { inputs, notes } = value as {
    readonly inputs?: readonly InputContent[][];
    readonly notes?: readonly string[];
  };
  const session = await newSession(follow);
  if (session === undefined) return undefined;
  if (notes !== undefined && notes.length > 0) showToast(notes.map((note) => safeLine(note)).join("\n"));
  for (const content of inputs ?? []) await tellSession(viewOf(session), "SendInput", { content, queue: true });
  return session;
}
