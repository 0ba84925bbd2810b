import type { CheckName } from "../programs/rules.js";
import { checkAwk } from "./awk.js";
import type { Check } from "./check.js";
import { checkFind } from "./find.js";
import { checkSed } from "./sed.js";
import {
  checkDate,
  checkGitFormat,
  checkGitObjects,
  checkGitRemoteName,
  checkJq,
  checkPrintf,
  checkPs,
  checkTar,
} from "./small.js";
import { checkTest } from "./test.js";

export const CHECKS: Readonly<Record<CheckName, Check>> = {
  awk: checkAwk,
  date: checkDate,
  find: checkFind,
  "git-format": checkGitFormat,
  "git-objects": checkGitObjects,
  "git-remote-name": checkGitRemoteName,
  jq: checkJq,
  printf: checkPrintf,
  ps: checkPs,
  sed: checkSed,
  tar: checkTar,
  test: checkTest,
};
