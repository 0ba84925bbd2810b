/** A new session: where, and the first prompt. */
import { useEffect, useRef, useState } from "preact/hooks";
import { text as textBlock } from "../../../protocol/content.js";
import type { PageProps } from "../pages.js";
import { go } from "../router.js";
import { newSession, sessions, tellSession, viewOf } from "../store.js";
import { TopBar } from "./shell.js";
import { shortPath } from "./text.js";

export function Page(_: PageProps) {
  const folders = [...new Set((sessions.value ?? []).map(({ cwd }) => cwd))].slice(0, 12);
  const [cwd, setCwd] = useState<string>();
  const [prompt, setPrompt] = useState("");
  const [isOpening, setOpening] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    document.title = "Oxbow";
    area.current?.focus();
  }, []);
  const folder = cwd ?? folders[0] ?? "";
  const begin = async () => {
    setOpening(true);
    const session = await newSession(folder === "" ? {} : { cwd: folder });
    setOpening(false);
    if (session === undefined) return;
    if (prompt.trim() !== "") void tellSession(viewOf(session), "SendInput", { content: [textBlock(prompt)] });
    go("s", session);
  };
  return (
    <>
      <TopBar title="New session" />
      <main class="start">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void begin();
          }}
        >
          <h2>What should happen?</h2>
          <textarea
            ref={area}
            rows={4}
            aria-label="The first prompt"
            placeholder="Describe the work, or leave this empty and begin in the conversation."
            value={prompt}
            onInput={(event) => setPrompt(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              void begin();
            }}
          />
          <label class="field">
            <span>Folder</span>
            <input
              list="folders"
              value={folder}
              placeholder="/path/of/a/project on the machine of the engine"
              onInput={(event) => setCwd(event.currentTarget.value)}
            />
          </label>
          <datalist id="folders">
            {folders.map((path) => (
              <option key={path} value={path}>
                {shortPath(path)}
              </option>
            ))}
          </datalist>
          <button type="submit" class="primary" disabled={isOpening}>
            {isOpening ? "Opening …" : "Begin"}
          </button>
        </form>
      </main>
    </>
  );
}
