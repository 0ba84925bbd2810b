/** Every setting with its value and where it comes from, changed in place. */
import { useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import type { SettingInfo } from "../../../protocol/queries.js";
import type { SessionView } from "../store.js";
import { runSlash, useQuery } from "./session-queries.js";

export function SettingsTab({ view }: { readonly view: SessionView }) {
  const [answer, again] = useQuery(view, "ListSettings", {});
  const [typed, setTyped] = useState("");
  if (answer === undefined) return <p class="empty">Asking the engine …</p>;
  const wanted = typed.trim().toLowerCase();
  // The terminal's own look means nothing here.
  const shown = answer.settings.filter(
    ({ name, about, holds }) => holds !== "client" && `${name} ${about}`.toLowerCase().includes(wanted),
  );
  const change = async ({ name, command }: SettingInfo, value: string | null) => {
    await runSlash(view, "config", value === null ? `reset ${name}` : `set ${name} ${value}`, { tells: true });
    if (value !== null && command !== undefined) await runSlash(view, command, value);
    again();
  };
  return (
    <>
      <input
        type="search"
        class="find"
        aria-label="Find a setting"
        placeholder="Find a setting"
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {shown.length === 0 && <p class="empty">No setting has these words.</p>}
      <ul class="settings">
        {shown.map((setting) => (
          <Row key={setting.name} setting={setting} onChange={(value) => void change(setting, value)} />
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  readonly setting: SettingInfo;
  readonly onChange: (value: string | null) => void;
}

function Row({ setting, onChange }: RowProps) {
  const { name, about, origin, source, in_use: used, holds } = setting;
  return (
    <li>
      <div>
        <code>{name}</code>
        <p>{safeLine(about)}</p>
        <p class="dim">
          {source === "default" ? "default" : `from ${safeLine(origin)}`}
          {used !== undefined && ` · this session: ${safeLine(used)}`}
          {holds === "engine" && " · holds once the engine starts again"}
        </p>
      </div>
      <div class="value">
        <Field setting={setting} onChange={onChange} />
        {source === "user" && (
          <button type="button" class="quiet small" onClick={() => onChange(null)}>
            Default<span class="hidden"> of {name}</span>
          </button>
        )}
      </div>
    </li>
  );
}

function Field({ setting: { name, kind, value, source, choices = [] }, onChange }: RowProps) {
  // A default is a hint, not a text to edit.
  const written = source === "default" ? "" : value;
  const [text, setText] = useState(written);
  if (kind === "file") return <span class="dim">{safeLine(value) || "in your file"}</span>;
  const options = kind === "switch" ? ["true", "false"] : choices;
  if (options.length > 0) {
    return (
      <select aria-label={name} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {[...new Set([value, ...options])].map((option) => (
          <option key={option} value={option}>
            {option || "(not set)"}
          </option>
        ))}
      </select>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== written) onChange(text);
      }}
    >
      <input
        aria-label={name}
        inputMode={kind === "number" ? "numeric" : "text"}
        value={text}
        placeholder={value || "not set"}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}
