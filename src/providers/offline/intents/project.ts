/** What this project is, from facts that can be looked up. */
import type { Intent } from "../intent.js";
import { planProject } from "../plans/project.js";
import type { RequestText } from "../request-text.js";

export type ProjectQuestion = "summary" | "scripts" | "dependencies" | "version" | "licence" | "name";

export interface ProjectSlots {
  readonly question: ProjectQuestion;
}

const THIS =
  "(?:this|the|my|our|your)(?: current| whole| entire)? (?:project|repo|repository|code ?base|code|package|workspace|application|app|program|library|folder|directory|checkout)";
const HERE = `(?:${THIS}|it|this|here)`;
const ASK = "(?:(?:what|which) (?:are|is)|list|show|show me|give me|print|tell me|get|what's)(?: me)?";

function rule(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "i");
}

const FORMS: readonly { readonly pattern: RegExp; readonly question: ProjectQuestion }[] = [
  { pattern: rule(`what(?:'s| is|s) (?:this|${THIS})(?: (?:about|for|all about|doing))?`), question: "summary" },
  { pattern: rule(`what (?:does|do|is) (?:this|${THIS}) (?:do|about|contain|for)`), question: "summary" },
  {
    pattern: rule(`what kind of (?:project|repo|repository|code|program|software) is (?:this|it)`),
    question: "summary",
  },
  {
    pattern: rule(
      `(?:summari[sz]e|describe|explain|analy[sz]e|introduce|sum up|outline|explore|inspect)(?: me| to me)? (?:${THIS}|this)(?: to me)?(?: in (?:a few|one|two|three) (?:words?|sentences?|lines?))?`,
    ),
    question: "summary",
  },
  {
    pattern: rule(
      `(?:give me |show me |i need |write |make )?(?:an? |the )?(?:short |brief |quick )?(?:overview|summary|description|introduction)(?: (?:of|to|about|for) ${HERE})?`,
    ),
    question: "summary",
  },
  { pattern: rule("(?:the )?project (?:overview|summary|description)"), question: "summary" },
  { pattern: rule(`tell me (?:something |more |all )?about (?:this|${THIS})`), question: "summary" },
  {
    pattern: rule(
      `(?:what|which) (?:npm |package )?scripts (?:are there|are available|can i run|do we have|exist|does ${HERE} have|are defined)(?: in ${HERE})?`,
    ),
    question: "scripts",
  },
  {
    pattern: rule(
      `${ASK} (?:all )?(?:the )?(?:available )?(?:npm |package |project )?scripts(?: (?:of|in|for) (?:${HERE}|package\\.json))?`,
    ),
    question: "scripts",
  },
  {
    pattern: rule(
      `(?:what|which) (?:dependencies|packages|libraries) (?:are there|does ${HERE} (?:have|use|need|depend on)|do we (?:have|use|need)|are (?:used|needed|installed|declared))(?: in ${HERE})?`,
    ),
    question: "dependencies",
  },
  {
    pattern: rule(`${ASK} (?:all )?(?:the )?(?:project )?dependencies(?: (?:of|in|for) (?:${HERE}|package\\.json))?`),
    question: "dependencies",
  },
  { pattern: rule(`what does ${HERE} depend on`), question: "dependencies" },
  { pattern: rule(`(?:what|which) version (?:is (?:${HERE})|of ${HERE} is this)(?: at| on)?`), question: "version" },
  { pattern: rule(`${ASK} (?:the )?(?:current )?version(?: number)? of ${HERE}`), question: "version" },
  {
    pattern: rule(`(?:what|which) licen[cs]e (?:is ${HERE}(?: under)?|does ${HERE} (?:have|use))`),
    question: "licence",
  },
  { pattern: rule(`(?:what is|what's) (?:the )?licen[cs]e of ${HERE}`), question: "licence" },
  { pattern: rule(`(?:what is|what's) (?:the )?name of ${THIS}`), question: "name" },
];

export function parseProject(request: RequestText): ProjectSlots | undefined {
  const found = FORMS.find(({ pattern }) => pattern.test(request.text));
  return found === undefined ? undefined : { question: found.question };
}

const NEEDS =
  /^(?:what|which|summari[sz]e|describe|explain|analy[sz]e|introduce|sum|outline|explore|inspect|give|show|i|write|make|an?|the|short|brief|quick|overview|summary|description|introduction|project|tell|list|print|get)\b/i;

export const projectIntent: Intent<ProjectSlots> = {
  name: "project",
  needs: NEEDS,
  parse: parseProject,
  plan: planProject,
};
