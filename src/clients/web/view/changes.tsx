/** The files that a session changed, each with its diff. */
import { useEffect, useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { FileChange, Queries } from "../../../protocol/queries.js";
import { parseHunks } from "../../sdk/shown/hunks.js";
import { ask } from "../store.js";
import { Diff } from "./diff.js";

export function ChangesView({ session, until }: { readonly session: SessionId; readonly until?: number }) {
  const [answer, setAnswer] = useState<Queries["GetChanges"]["answer"] | "refused">();
  useEffect(() => {
    const request = until === undefined ? {} : { until };
    void ask("GetChanges", request, { session }).then((found) => setAnswer(found ?? "refused"));
  }, [session, until]);
  if (answer === undefined) return <p class="empty">Reading the changes …</p>;
  if (answer === "refused") return <p class="empty">The changes of this session cannot be read.</p>;
  const { files, notes } = answer;
  return (
    <div class="changes">
      {files.length === 0 && <p class="empty">No file had changed.</p>}
      {files.map((file) => (
        <FileView key={file.path} file={file} />
      ))}
      {notes.map((note) => (
        <p key={note} class="dim">
          {safeLine(note)}
        </p>
      ))}
    </div>
  );
}

const OPEN_FILES_LINES = 60;

function FileView({ file }: { readonly file: FileChange }) {
  const { path, change, added, removed, diff, missing } = file;
  const lines = (added ?? 0) + (removed ?? 0);
  return (
    <details open={lines <= OPEN_FILES_LINES}>
      <summary>
        <code>{safeLine(path)}</code> {change !== "changed" && <span class="dim">{change} </span>}
        {added !== undefined && added > 0 && <span class="c-added">+{added} </span>}
        {removed !== undefined && removed > 0 && <span class="c-removed">−{removed}</span>}
      </summary>
      {diff !== undefined && <Diff path={path} {...parseHunks(diff)} />}
      {missing !== undefined && <p class="dim">{safeLine(missing)}</p>}
    </details>
  );
}
