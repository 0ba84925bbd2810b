/** Checks of a few lines each. */
import { isSensitive, wordPathProblem } from "../paths.js";
import { fixedValue } from "../word-values.js";
import type { Check } from "./check.js";

/** `%n` stores into a variable, and the name of one may hold commands; so may what follows `-v`. */
export const checkPrintf: Check = ({ words: [format] }) => {
  const text = format === undefined ? undefined : fixedValue(format);
  if (text === undefined) return "the format of printf is not known beforehand";
  if (text.startsWith("-")) return "printf has an option";
  return /%[^%a-zA-Z(]*[hljztL]*n/.test(text) ? "the format of printf stores into a variable" : undefined;
};

/** An operand that does not start with a plus sets the clock. */
export const checkDate: Check = ({ arguments: { operands } }) =>
  operands.every(({ value }) => value.startsWith("+")) ? undefined : "date may set the clock";

/** `git remote get-url` with what is also the name of another action is taken for a slip. */
export const checkGitRemoteName: Check = ({ arguments: { operands } }) => {
  const actions = ["add", "rename", "remove", "rm", "set-head", "set-branches", "set-url", "show", "prune", "update"];
  return operands.some(({ value }) => actions.includes(value)) ? "it names an action instead of a remote" : undefined;
};

/** `%G…` in a format has signatures checked, by a program that the configuration names. */
export const checkGitFormat: Check = ({ arguments: { options } }) => {
  const formats = options.filter(({ name }) => name === "--format" || name === "--pretty");
  if (formats.some(({ value }) => value === undefined)) return "a format of git is missing";
  const builtIn = /^(oneline|short|medium|full|fuller|reference)$/;
  if (formats.some(({ value = "" }) => !builtIn.test(value) && !value.includes("%"))) {
    return "a format of git may be defined in its configuration";
  }
  return formats.some(({ value = "" }) => /%[-+ ]?G/.test(value)) ? "a format of git checks signatures" : undefined;
};

/** Of `HEAD:a/b` the path counts, as if the file itself was read. */
export const checkGitObjects: Check = (call) => {
  const named = call.arguments.operands.map(({ value }) => value.slice(value.lastIndexOf(":") + 1));
  return named.some(isSensitive) ? "it may show secrets" : checkGitFormat(call);
};

/** jq shows the environment and loads modules when told to. */
export const checkJq: Check = ({ arguments: { operands } }) => {
  const [filter] = operands;
  if (filter === undefined || fixedValue(filter.word) === undefined) return "the filter of jq is not known beforehand";
  return /\b(env|import|include|modulemeta|input_filename|get_search_list)\b|\$ENV|\$__/.test(filter.value)
    ? "the filter of jq reads more than its input"
    : undefined;
};

/** Only forms that do not show the environment of processes. */
export const checkPs: Check = ({ words }) => {
  const text = words.map((word) => fixedValue(word) ?? "?").join(" ");
  return ["", "aux", "ax", "-e", "-ef", "-A", "-a"].includes(text) ? undefined : "ps is asked for more than a list";
};

/** Listing the content of one archive in the workspace; a colon would make it one on another machine. */
export const checkTar: Check = ({ words: [mode, archive, ...more], place }) => {
  const letters = mode === undefined ? "" : (fixedValue(mode) ?? "");
  if (!/^-?(t[zjJv]*f|[zj]?tv?f)$/.test(letters) || archive === undefined || more.length > 0)
    return "tar does more than list";
  if (fixedValue(archive) === undefined || /[:-]/.test(archive.text.charAt(0)) || archive.text.includes(":")) {
    return "the archive of tar is not a plain file";
  }
  return wordPathProblem(archive, place);
};
