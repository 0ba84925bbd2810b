/** Opens the sidebar with data from the engine, and runs the actions of its keys. */
import { counted } from "../../../base/group-digits.js";
import type { QueryReply } from "../../../protocol/client.js";
import type { McpServerInfo, SessionInfo, SkillInfo } from "../../../protocol/queries.js";
import { type SidebarSection, sidebarDialog } from "../dialogs/sidebar.js";
import { ageOf } from "../views/age.js";
import type { DialogPlace } from "./open-named.js";
import { resume } from "./resume.js";

const MOST_SESSIONS = 8;
/** As the engine names these sections. */
const SKILLS = "Skills";
const SERVERS = "MCP servers";

export async function openSidebar(place: DialogPlace): Promise<void> {
  const { client, state, clock, open, carrier, print } = place;
  const { session, place: here } = state();
  const [listed, permissions, extensions, skills, servers] = await Promise.all([
    client.query("ListSessions", { ...(here && { cwd: here.cwd }), limit: MOST_SESSIONS + 1 }),
    client.query("GetPermissions", {}, session),
    client.query("ListExtensions", {}, session),
    client.query("ListSkills", {}, session),
    client.query("ListMcpServers", {}, session),
  ]);
  const others = listed.ok ? listed.answer.sessions.filter(({ id }) => id !== session).slice(0, MOST_SESSIONS) : [];
  const rules = permissions.ok ? permissions.answer.session_rules : [];
  const sections: readonly SidebarSection[] = [
    {
      title: "Sessions of this folder",
      rows: others.map((each) => ({
        text: `${ageOf(Date.parse(each.active_at), clock.wall())}  ${each.title ?? "(no title)"}`,
        action: { kind: "resume", session: each.id },
      })),
    },
    {
      title: "Rules of this session",
      rows: rules.map(({ number, rule }) => ({ text: `${number}. ${rule}`, action: { kind: "revoke", rule: number } })),
    },
    { title: SKILLS, rows: skills.ok ? skillRows(skills.answer.skills) : [] },
    { title: SERVERS, rows: servers.ok ? serverRows(servers.answer.servers) : [] },
    ...(extensions.ok ? extensions.answer.sections : [])
      // A server that waits for approval has no state yet.
      .filter(({ title }) => title !== SKILLS && (title !== SERVERS || !hasServers(servers)))
      .map(({ title, items }) => ({
        title,
        rows: items.map(({ name, state: detail }) => ({ text: `${name} (${detail})` })),
      })),
    { title: "Instructions", rows: (here?.instructions ?? []).map((text) => ({ text })) },
  ];
  open(sidebarDialog(sections), (action) => {
    if (action?.kind === "resume") {
      const chosen = others.find(({ id }) => id === action.session) as SessionInfo;
      carrier.switching(resume(place, chosen));
    } else if (action?.kind === "revoke") {
      void carrier.slash("permissions", `revoke ${action.rule}`).then((reply) => {
        if (!reply.ok) print({ kind: "notice", level: "error", text: reply.failure.message });
        return openSidebar(place);
      });
    }
  });
}

/** The user's own and those of the project before the built-in ones. */
function skillRows(skills: readonly SkillInfo[]): SidebarSection["rows"] {
  const isBuiltIn = ({ scope }: SkillInfo) => scope === "built-in";
  const ordered = [...skills.filter((skill) => !isBuiltIn(skill)), ...skills.filter(isBuiltIn)];
  return ordered.map(({ name, scope }) => ({ text: `${name} (${scope})` }));
}

function serverRows(servers: readonly McpServerInfo[]): SidebarSection["rows"] {
  return servers.map(({ name, state, tools }) => ({ text: `${name} (${state}, ${counted(tools, "tool")})` }));
}

function hasServers(servers: QueryReply<"ListMcpServers">): boolean {
  return servers.ok && servers.answer.servers.length > 0;
}
