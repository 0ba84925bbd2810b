import { writeFileSync } from "node:fs";
import { relative } from "node:path";

/** A vitest reporter that writes the counts, the failed tests, the skipped ones with their reasons, and those that needed a second attempt, to OXBOW_TEST_REPORT. */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => describeTest(module, test)),
    );
    const count = (state) => tests.filter((test) => test.state === state).length;
    // A file that could not be loaded, or whose hooks failed, may have no failed test in it.
    const broken = modules.filter(
      (module) => module.state() === "failed" && [...module.children.allTests("failed")].length === 0,
    );
    const report = {
      passed: count("passed"),
      failed: count("failed") + count("pending") + broken.length + unhandledErrors.length,
      skipped: tests.filter((test) => test.state === "skipped"),
      failures: tests.filter((test) => test.state === "failed").map(({ name }) => name),
      flaky: tests.filter((test) => test.isFlaky).map(({ name }) => name),
    };
    writeFileSync(process.env.OXBOW_TEST_REPORT, JSON.stringify(report));
  }
}

function describeTest(module, test) {
  const result = test.result();
  const name = `${relative(process.cwd(), module.moduleId)} > ${test.fullName}`;
  const isFlaky = test.diagnostic()?.flaky === true;
  return { name, state: result.state, isFlaky, reason: result.note ?? test.meta().reason ?? "" };
}
