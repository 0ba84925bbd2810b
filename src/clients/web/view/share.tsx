/** A session as one page for others: what it leaves out is chosen, and the file is saved by the browser. */
import { useState } from "preact/hooks";
import { type SessionView, showToast } from "../store.js";
import { Dialog } from "./controls.js";
import { runSlash } from "./session-queries.js";

const PARTS = [
  { name: "thinking", words: "Thinking of the model" },
  { name: "calls", words: "Tool calls" },
  { name: "results", words: "Results of tools" },
  { name: "images", words: "Images" },
  { name: "context", words: "What was added to prompts" },
  { name: "costs", words: "Costs" },
  { name: "folder", words: "The name of the folder" },
] as const;

export function Share({ view, onClose }: { readonly view: SessionView; readonly onClose: () => void }) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set(["thinking", "context", "folder"]));
  const [isWriting, setWriting] = useState(false);
  const save = async () => {
    setWriting(true);
    const without = left.size === 0 ? "" : ` --without ${[...left].join(",")}`;
    const answer = await runSlash(view, "session", `export --html --output -${without}`);
    // A page that is too long for an answer becomes a file in the folder of the session.
    const isWhole = answer?.text.trimEnd().endsWith("</html>") ?? true;
    const file = isWhole ? undefined : await runSlash(view, "session", `export --html${without}`, { tells: true });
    setWriting(false);
    if (answer === undefined) return;
    if (isWhole) {
      saveFile(`oxbow-${view.session}.html`, answer.text);
      showToast("Saved. Keys and secrets that Oxbow knows are left out. Read it before you pass it on.");
    } else if (file === undefined) return;
    onClose();
  };
  return (
    <Dialog label="Share" onClose={onClose}>
      <h2>Save this session as a page</h2>
      <p>One HTML file that needs no server and runs no script. It contains:</p>
      <fieldset class="parts">
        <legend class="hidden">What the page contains</legend>
        {PARTS.map(({ name, words }) => (
          <label key={name} class="pick">
            <input
              type="checkbox"
              checked={!left.has(name)}
              onChange={({ currentTarget }) => {
                const next = new Set(left);
                if (currentTarget.checked) next.delete(name);
                else next.add(name);
                setLeft(next);
              }}
            />
            {words}
          </label>
        ))}
      </fieldset>
      <p class="row">
        <button type="button" class="primary" disabled={isWriting} onClick={() => void save()}>
          {isWriting ? "Writing …" : "Save"}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}

export function saveFile(name: string, text: string, type = "text/html"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
