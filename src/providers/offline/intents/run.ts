/** Running a command that the person spelled out. */
import type { Intent } from "../intent.js";
import { planRun } from "../plans/run.js";
import { MARK, type RequestText } from "../request-text.js";

export interface RunSlots {
  readonly command: string;
}

const QUOTED_FORMS: readonly RegExp[] = [
  new RegExp(
    `^(?:run|execute|exec|launch|invoke|start|call|try)(?: the)?(?: following)?(?: shell| terminal| bash)?(?: command| cmd| script)?:? (?<command>[${MARK}])(?: (?:in|on|with) (?:the |a )?(?:shell|terminal|bash|command line|command))?(?:,? and .*(?:output|result|happens|prints?|says|exit code|status|me|it))?$`,
    "i",
  ),
  new RegExp(
    `^what (?:does|is the output of|would|do i get from|happens (?:if|when) (?:i|you|we) run)(?: running)? (?<command>[${MARK}])(?: (?:print|output|return|say|show|do|give)s?)?$`,
    "i",
  ),
  new RegExp(`^(?:the )?(?:output|result|exit code) of (?:running )?(?<command>[${MARK}])$`, "i"),
];

/** Programs whose name, after "run", leaves no doubt that a command follows. */
const PROGRAMS =
  /^(?:npm|npx|pnpm|yarn|bun|bunx|deno|node|tsc|tsx|python[\d.]*|pip3?|pipx|uv|poetry|pytest|ruby|bundle|rake|gem|perl|php|composer|java|javac|mvn|gradle|dotnet|go|cargo|rustc|make|cmake|ninja|gcc|g\+\+|clang|git|gh|docker|docker-compose|podman|kubectl|terraform|ls|cat|head|tail|wc|echo|printf|pwd|date|whoami|hostname|uname|df|du|ps|env|printenv|find|sed|awk|sort|uniq|cut|tr|xargs|diff|tree|touch|mkdir|rmdir|rm|mv|cp|ln|chmod|stat|file|which|curl|wget|ping|tar|zip|unzip|gzip|seq|sleep|true|false|test|bash|sh|zsh|time|jq|sqlite3|psql|vitest|jest|mocha|eslint|biome|prettier|ruff|black|mypy|shellcheck|\.{0,2}\/[\w./-]+)$/;

/** Commands that are understood without "run": the program and what must follow it, so that prose is not taken for one. */
const BARE: readonly RegExp[] = [
  /^(?:npm|pnpm|yarn|bun) (?:run|test|t|ci|install|i|start|exec|ls|outdated|audit|version|view|pack|link|why)\b/,
  /^(?:npx|bunx) \S+/,
  /^cargo (?:build|test|run|check|fmt|clippy|bench|doc)\b/,
  /^go (?:build|test|vet|fmt|mod|version|generate)(?:$| [./-]| \S+\.go| tidy)/,
  /^git (?:add|commit|push|pull|fetch|checkout|switch|branch|merge|rebase|stash|tag|remote|reset|restore|init|clone|rev-parse|config|describe|ls-files|grep|diff|log|show|cherry-pick|revert|bisect|clean|worktree)(?:$| \S)/,
  /^(?:docker|podman|kubectl) (?:ps|images|logs|build|compose|get|version|info|run|exec)\b/,
  /^(?:node|python3?|ruby|perl|php|bash|sh|deno)(?: -\S+| \S+\.(?:[cm]?[jt]s|py|rb|pl|php|sh))/,
  /^(?:make|pytest|tsc|pwd|date|whoami|uname|hostname|df|ps|env)(?: -\S+)*$/,
  /^make (?!a |an |the |it |me |sure |this |that |my |our |some |new )[\w.-]+$/,
  /^(?:ls|cat|wc|du|echo|mkdir|touch|stat|df|ps|uname|pytest|tsc|find|sed|awk|sort|head|tail) -\S/,
  /^(?:grep|rg) (?!-[rnRH]+ [^ -]\S*(?: \S+)?$)-\S/,
  /^(?:mkdir|touch|echo|rm|mv|cp|chmod) \S/,
  /^\.\/[\w./-]+/,
];

export function parseRun(request: RequestText): RunSlots | undefined {
  for (const pattern of QUOTED_FORMS) {
    const slot = pattern.exec(request.text)?.groups?.command;
    const command = slot === undefined ? "" : request.term(slot).value.trim();
    if (command !== "") return { command };
  }
  const command = spelledOut(request.raw.trim());
  return command === undefined ? undefined : { command };
}

/** From the raw text, for a command's own quotes must reach the shell as they are. */
function spelledOut(raw: string): string | undefined {
  if (raw.includes("\n")) return undefined;
  const prompt = /^[$!] ?(\S.*)$/.exec(raw)?.[1];
  if (prompt !== undefined) return prompt;
  const asked =
    /^(?:please |can you |could you )*(?:run|execute|exec)(?<stated> (?:the |this )?(?:shell |following )?command)?:? (?<command>\S.*?)(?:,? please)?$/i.exec(
      raw,
    )?.groups;
  const command = asked?.command;
  if (command !== undefined) {
    if (/^["'`“‘]/.test(command)) return undefined;
    return asked?.stated !== undefined || PROGRAMS.test(command.split(/\s/, 1)[0] ?? "") ? command : undefined;
  }
  return !raw.endsWith("?") && BARE.some((pattern) => pattern.test(raw)) ? raw : undefined;
}

export const runIntent: Intent<RunSlots> = { name: "run", parse: parseRun, plan: planRun };
