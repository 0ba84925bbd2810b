/** A provider and the choice of it, both as programs of a project. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { approve } from "../support/approve.js";
import { oxbow, sampleKey, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const PROVIDER = `#!/bin/bash
case "$1" in
  --describe) echo "A provider in bash" ;;
  --ready) exit 0 ;;
  --defaults) echo "model=echo" ;;
  --env) echo "MINE_MODE how to answer"; echo "ANTHROPIC_API_KEY a key of another" ;;
  *) cat > /dev/null
     echo "{\\"content\\": [{\\"type\\": \\"text\\", \\"text\\": \\"mode=$MINE_MODE key=$ANTHROPIC_API_KEY.\\"}], \\"stop_reason\\": \\"end_turn\\"}" ;;
esac
`;

verifies(
  ["E2", "P14", "L2"],
  "a provider of a project works once approved and allowed, without other keys",
  async () => {
    const home = await temporaryFolder();
    const cwd = await temporaryFolder();
    const files = {
      ".oxbow/providers/mine": PROVIDER,
      ".oxbow/hooks.d/resolve/50-mine": '#!/bin/sh\necho \'{"provider": "mine"}\'\n',
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
      chmodSync(join(cwd, name), 0o755);
    }
    await approve(cwd, { home });
    const env = { OXBOW_HOME: home, MINE_MODE: "calm", ANTHROPIC_API_KEY: sampleKey() };
    const { stdout, stderr } = await oxbow(["run", "--allow-project-hooks", "hello"], { cwd, env });
    expect(stdout, stderr).toContain("mode=calm key=.");
    const off = await oxbow(["run", "--provider", "mine", "hello"], { cwd, env });
    expect([off.code, off.stdout]).toEqual([6, ""]);
  },
);
