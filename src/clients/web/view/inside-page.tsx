/** What a session works with, and what it may do: MCP servers, extensions, files that wait, rules, audit and settings. `#/inside/SESSION/TAB` */
import { useEffect, useState } from "preact/hooks";
import { safeLine } from "../../../base/terminal-text.js";
import { isId } from "../../../protocol/ids.js";
import type { ExtensionSection, PermissionInfo } from "../../../protocol/queries.js";
import type { PageProps } from "../pages.js";
import { addressOf } from "../router.js";
import { type SessionView, sessions, viewOf } from "../store.js";
import { McpTab } from "./mcp-tab.js";
import { runSlash, useQuery } from "./session-queries.js";
import { SettingsTab } from "./settings-tab.js";
import { TopBar } from "./shell.js";
import { WaitingTab } from "./waiting-tab.js";

const TABS = [
  {
    name: "mcp",
    title: "MCP servers",
    show: (view: SessionView, rest: readonly string[]) => <McpTab view={view} rest={rest} />,
  },
  { name: "extensions", title: "Extensions", show: (view: SessionView) => <ExtensionsTab view={view} /> },
  { name: "waiting", title: "Waiting for approval", show: (view: SessionView) => <WaitingTab view={view} /> },
  { name: "rules", title: "Rules", show: (view: SessionView) => <RulesTab view={view} /> },
  { name: "audit", title: "Audit", show: (view: SessionView) => <AuditTab view={view} /> },
  { name: "settings", title: "Settings", show: (view: SessionView) => <SettingsTab view={view} /> },
] as const;

export function Page({ rest }: PageProps) {
  const [id, name, ...more] = rest;
  const tab = TABS.find((each) => each.name === name) ?? TABS[0];
  useEffect(() => {
    document.title = `${tab.title} · Oxbow`;
  }, [tab]);
  if (id === undefined || !isId("sess", id)) return <p class="empty">There is no such session.</p>;
  const view = viewOf(id);
  const title = safeLine(sessions.value?.find((info) => info.id === id)?.title ?? "Session");
  return (
    <>
      <TopBar title={title}>
        <a class="fact" href={addressOf("s", id)}>
          Conversation
        </a>
      </TopBar>
      <main class="inside">
        <nav class="tabs" aria-label="What to look at">
          {TABS.map((each) => (
            <a
              key={each.name}
              href={addressOf("inside", id, each.name)}
              aria-current={each === tab ? "page" : undefined}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <div key={tab.name}>{tab.show(view, more)}</div>
      </main>
    </>
  );
}

function ExtensionsTab({ view }: { readonly view: SessionView }) {
  const [answer] = useQuery(view, "ListExtensions", {});
  const status = view.status.value?.place;
  if (answer === undefined) return <p class="empty">Asking the engine …</p>;
  return (
    <>
      {status !== undefined && (
        <p class={status.sandbox === "none" ? "bad" : "dim"}>
          {status.sandbox === "none"
            ? "Commands run without a sandbox."
            : `Commands run in the sandbox ${status.sandbox ?? ""}.`}
        </p>
      )}
      {answer.sections.length === 0 && <p class="empty">Nothing extends this session.</p>}
      {answer.sections.map((section) => (
        <Section key={section.title} section={section} />
      ))}
    </>
  );
}

function Section({ section: { title, items } }: { readonly section: ExtensionSection }) {
  return (
    <section>
      <h2>{safeLine(title)}</h2>
      <ul class="rows">
        {items.map(({ name, state }) => (
          <li key={name}>
            <span>{safeLine(name)}</span>
            <span class="dim">{safeLine(state)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RulesTab({ view }: { readonly view: SessionView }) {
  const [answer, again] = useQuery(view, "GetPermissions", {});
  if (answer === undefined) return <p class="empty">Asking the engine …</p>;
  const revoke = async (number: number) => {
    await runSlash(view, "permissions", `revoke ${number}`, { tells: true });
    again();
  };
  return (
    <>
      <p>
        Mode: <b>{answer.mode}</b>
      </p>
      <section>
        <h2>For this session</h2>
        {answer.session_rules.length === 0 && <p class="dim">None. "Yes, and not again this session" adds one.</p>}
        <Rules rules={answer.session_rules} onRevoke={(number) => void revoke(number)} />
      </section>
      <section>
        <h2>From files</h2>
        {answer.rules.length === 0 && <p class="dim">None. "Always allow" writes one.</p>}
        <Rules rules={answer.rules} />
      </section>
    </>
  );
}

interface RulesProps {
  readonly rules: PermissionInfo["rules"];
  readonly onRevoke?: (number: number) => void;
}

function Rules({ rules, onRevoke }: RulesProps) {
  return (
    <ul class="rows">
      {rules.map(({ number, rule, file }) => (
        <li key={number}>
          <code>{safeLine(rule)}</code>
          {file !== undefined && <span class="dim">{safeLine(file)}</span>}
          {onRevoke !== undefined && (
            <button type="button" class="small" onClick={() => onRevoke(number)}>
              Revoke<span class="hidden"> {safeLine(rule)}</span>
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const AUDIT_ENTRIES = 200;

function AuditTab({ view }: { readonly view: SessionView }) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    void runSlash(view, "audit", `show ${AUDIT_ENTRIES}`).then((answer) => setText(answer?.text ?? ""));
  }, [view]);
  if (text === undefined) return <p class="empty">Asking the engine …</p>;
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Audit">
      <pre>{text}</pre>
    </div>
  );
}
