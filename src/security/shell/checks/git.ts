/** Rules for git that a table cannot express. */
import { isSensitive, mayFindSecrets } from "../paths.js";
import type { Check } from "./check.js";

/** `git remote get-url` with the name of another action is probably a mistake, so it asks. */
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
  const holdsSecrets = (path: string) => isSensitive(path) || path.split("/").some(mayFindSecrets);
  const secret = named.find(holdsSecrets);
  return secret === undefined ? checkGitFormat(call) : `"${secret}" may hold secrets`;
};

/** Also by what a list is sorted: `signature` has signatures checked. */
export const checkGitRefFormat: Check = ({ arguments: { options } }) => {
  const formats = options.filter(({ name }) => name === "--format" || name === "--sort");
  return formats.some(({ value = "" }) => /signature|trailers/i.test(value))
    ? "a format of git checks signatures"
    : undefined;
};

/** A name without an option makes a tag. */
export const checkGitTag: Check = ({ arguments: { options, operands } }) =>
  options.length === 0 && operands.length > 0 ? "git tag makes a tag" : undefined;

const SETTINGS =
  /^(user\.(name|email)|init\.defaultbranch|core\.(bare|autocrlf|eol|editor|filemode|ignorecase|hookspath)|branch\.[\w./-]+\.(remote|merge)|remote\.[\w./-]+\.(url|fetch)|(pull|push|commit|tag|merge)\.[a-z]+)$/i;

/** Others may hold tokens. */
export const checkGitSetting: Check = ({ arguments: { operands } }) =>
  operands.every(({ value }) => SETTINGS.test(value)) ? undefined : "a setting of git may hold a secret";
