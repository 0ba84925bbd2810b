import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";
import { OutputFile } from "./output-file.js";

describe("the file with the output of a command", () => {
  verifies(["T6"], "is the user's alone, exists only once there is output, and holds all of it", async () => {
    const directory = join(await temporaryFolder(), "new");
    let files = 0;
    const file = new OutputFile({ directory, onFile: () => files++ });
    expect([file.started, files]).toEqual([false, 0]);
    const bytes = Buffer.from("grün\n");
    // Cut within a character.
    file.append(bytes.subarray(0, 3));
    file.append(bytes.subarray(3));
    expect([file.started, files, readFileSync(file.path, "utf8")]).toEqual([true, 1, "grün\n"]);
    file.close();
    file.append(Buffer.from("later"));
    expect(readFileSync(file.path, "utf8")).toBe("grün\n");
    expect([statSync(file.path).mode & 0o777, statSync(directory).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(file.describe()).toBe(`the whole output is in ${file.path}; to go on, read it with offset 1`);
    const unused = new OutputFile({ directory });
    unused.close();
    expect([unused.started, readdirSync(directory).length]).toEqual([true, 1]);
  });

  verifies(["T6"], "ends at its limit and says so", async () => {
    const file = new OutputFile({ directory: await temporaryFolder() }, 10);
    file.append(Buffer.from("12345"));
    expect(file.describe()).toContain("the whole output is in");
    file.append(Buffer.from("678901"));
    file.append(Buffer.from("more"));
    file.close();
    expect(readFileSync(file.path, "utf8")).toBe("1234567890");
    expect(file.describe(7)).toBe(`the first 10 bytes are in ${file.path}; to go on, read it with offset 7`);
  });

  verifies(["T6", "S4"], "has secrets removed, also one that the redactor held back until the end", async () => {
    const held: string[] = [];
    const createRedactor = () => ({
      push(piece: string) {
        held.push(piece);
        return held.length > 1 ? `${held.shift()}`.replaceAll("secret", "***") : "";
      },
      end: () => held.join("").replaceAll("secret", "***"),
    });
    const file = new OutputFile({ directory: await temporaryFolder(), createRedactor });
    file.append(Buffer.from("a secret\n"));
    file.append(Buffer.from("another secret"));
    expect(readFileSync(file.path, "utf8")).toBe("a ***\n");
    file.close();
    expect(readFileSync(file.path, "utf8")).toBe("a ***\nanother ***");
  });

  it("says why it could not be written", async () => {
    const place = join(await temporaryFolder(), "taken");
    writeFileSync(place, "");
    const file = new OutputFile({ directory: place });
    file.append(Buffer.from("x"));
    file.append(Buffer.from("y"));
    file.close();
    expect(file.describe()).toMatch(/^it could not be saved \(.+\)$/);
  });
});
