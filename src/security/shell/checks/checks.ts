import type { CheckName } from "../programs/rules.js";
import { checkAwk } from "./awk.js";
import type { Check } from "./check.js";
import { checkFind } from "./find.js";
import {
  checkGitFormat,
  checkGitObjects,
  checkGitRefFormat,
  checkGitRemoteName,
  checkGitSetting,
  checkGitTag,
} from "./git.js";
import { checkSed } from "./sed.js";
import {
  checkDate,
  checkJavaVersion,
  checkJq,
  checkLsof,
  checkNamedFile,
  checkPrintenv,
  checkPrintf,
  checkPs,
  checkSleep,
  checkTar,
  checkYq,
} from "./small.js";
import { checkTest } from "./test.js";

export const CHECKS: Readonly<Record<CheckName, Check>> = {
  awk: checkAwk,
  date: checkDate,
  find: checkFind,
  "git-format": checkGitFormat,
  "git-objects": checkGitObjects,
  "git-ref-format": checkGitRefFormat,
  "git-remote-name": checkGitRemoteName,
  "git-setting": checkGitSetting,
  "git-tag": checkGitTag,
  "java-version": checkJavaVersion,
  jq: checkJq,
  lsof: checkLsof,
  "named-file": checkNamedFile,
  printenv: checkPrintenv,
  printf: checkPrintf,
  ps: checkPs,
  sed: checkSed,
  sleep: checkSleep,
  tar: checkTar,
  test: checkTest,
  yq: checkYq,
};
