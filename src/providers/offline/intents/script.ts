/** Running what the project itself declares: its tests, its build, a script by name. */
import type { Intent } from "../intent.js";
import { planScript } from "../plans/script.js";
import type { RequestText } from "../request-text.js";

export interface ScriptSlots {
  /** `test` is looked for in every ecosystem, other names among package scripts and make targets. */
  readonly script: string;
}

const RUN = "(?:run|execute|start|launch|do|re-?run|perform|try|kick off)";
const OURS = "(?:(?:all|the|my|our|this|of|project|project's|package|npm|full|whole|entire|unit|complete) )*";
const PROJECT = "(?:this|the|my|our) (?:project|repo|repository|code|package|app|application|codebase)";
const OF_PROJECT = `(?: (?:for|of|in) ${PROJECT})?`;
const REPORT =
  "(?:,? (?:and|then)(?: (?:tell|show) me| report| say| see| check| let me know)(?: (?:if|whether|what|which|how many|the|me|they|it|all|any|of|them|result|results|outcome|happens?|pass|passes|passed|fail|fails|failed|are|is|green))*)?";
const TESTS = "(?:tests?|test ?suites?|specs?|test cases)";
const STEP =
  "(?<script>build|lint|linter|format|formatter|check|checks|type ?check(?:er)?|type-?checker|type-check|typecheck|bench|benchmark|benchmarks|compile|docs|coverage)";

function rule(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "i");
}

const TEST_FORMS: readonly RegExp[] = [
  rule(`${RUN} ${OURS}${TESTS}${OF_PROJECT}${REPORT}`),
  rule(
    `(?:if |whether )?(?:do|does|are|is|will|did)(?: all)?(?: of)?(?: the| my| our| its)?(?: unit)? ${TESTS}(?: still| all| currently)? (?:pass|passes|passing|green|ok|okay|succeed|succeeding|work|working|fail|failing|run|red)`,
  ),
  rule(
    `(?:if |whether )(?:all )?(?:the |my |our )?(?:unit )?${TESTS} (?:still )?(?:pass|fail|work|succeed|are (?:passing|green|ok|failing))`,
  ),
  rule(`test (?:${PROJECT}|it|everything|this)`),
  rule(`(?:how many|which|what) (?:of the )?(?:unit )?tests (?:pass|fail|are (?:passing|failing))`),
];

const STEP_FORMS: readonly RegExp[] = [
  rule(
    `${RUN} (?:the |a |my |our )?(?:npm |project(?:'s)? )?${STEP}(?: (?:script|target|step|task|command))?${OF_PROJECT}${REPORT}`,
  ),
  rule(`(?<script>build|lint|format|compile|type ?check|type-check|typecheck|benchmark) (?:${PROJECT}|it|everything)`),
  rule(
    `(?:if |whether )?(?:does|do) (?:${PROJECT}|it) (?<script>build|lint|compile|type ?check|typecheck)(?: cleanly)?`,
  ),
  rule("(?<script>build|lint|typecheck|type check)"),
  rule(`${RUN} (?:the )?(?:npm |package |make )?(?:script|target|task) (?<named>\\S+)`),
  rule(`${RUN} (?:the )?(?<named>\\S+) (?:npm |package |make )?(?:script|target|task)`),
];

const SYNONYMS: Readonly<Record<string, string>> = {
  linter: "lint",
  formatter: "format",
  checks: "check",
  "type check": "typecheck",
  "type-check": "typecheck",
  "type checker": "typecheck",
  typechecker: "typecheck",
  "type-checker": "typecheck",
  benchmark: "bench",
  benchmarks: "bench",
  compile: "build",
};

export function parseScript(request: RequestText): ScriptSlots | undefined {
  if (TEST_FORMS.some((pattern) => pattern.test(request.text))) return { script: "test" };
  for (const pattern of STEP_FORMS) {
    const groups = pattern.exec(request.text)?.groups;
    if (groups === undefined) continue;
    const named = groups.named === undefined ? undefined : request.term(groups.named).value;
    const word = named ?? groups.script?.toLowerCase() ?? "";
    const script = named ?? SYNONYMS[word] ?? word;
    if (/^[\w:.@/-]+$/.test(script)) return { script };
  }
  return undefined;
}

const NEEDS =
  /\b(?:tests?|testsuites?|specs?|build|lint|linter|format|formatter|checks?|type ?check|type-?check(?:er)?|typechecker|type checker|bench|benchmarks?|compile|docs|coverage|script|target|task)\b/i;

export const scriptIntent: Intent<ScriptSlots> = { name: "script", needs: NEEDS, parse: parseScript, plan: planScript };
