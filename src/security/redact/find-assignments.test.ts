import { describe, expect, it } from "vitest";
import { findAssignments } from "./find-assignments.js";

/** Made here: no sample of a secret is written down. */
const PASS = ["Tr0ub", "4dor", "!x9"].join("");
const KEY = Array.from({ length: 40 }, (_, at) =>
  "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".charAt((at * 37 + 11) % 56),
).join("");

/** Returns what is found in a text, whose `@` stands for the password and `#` for the key. */
function found(sample: string): readonly string[] {
  const text = sample.replace("@", () => PASS).replace("#", () => KEY);
  return findAssignments(text).map(({ start, end, kind }) => `${kind}: ${text.slice(start, end)}`);
}

describe("[S4] a value without quotes", () => {
  it.each([
    "password: @",
    "password = @",
    "a\npassword: @",
    "a\n\npassword: @\nb",
    "  - password: @",
    "> | password: @",
    "export DB_PASSWORD = @",
    "x\nset password = @",
    "a b PASSWORD=@",
    "a['password']=@",
    'a["password"]=@',
    "a <password>@</password>",
    `${" ".repeat(500)}password: @`,
  ])("is a literal in %j", (sample) => {
    expect(found(sample)).toEqual([`password: ${PASS}`]);
  });

  it.each([
    "let password: @",
    "a\ny password: @",
    "a\nlet password = @",
    "f(x, password: @)",
    "a password := @",
    "password: @(",
    "password: @{",
    `${" ".repeat(501)}password: @`,
    "# words and a password: @",
  ])("is a name in %j", (sample) => {
    expect(found(sample)).toEqual([]);
  });

  it("that looks like a key counts anywhere but in a call", () => {
    expect(found("let api_key: #")).toHaveLength(1);
    expect(found("f(api_key: #")).toEqual([]);
    expect(found("{ api_key: #")).toEqual([]);
    expect(found("f(x) api_key: #")).toHaveLength(1);
  });

  it("is shared by several names, and hidden unseen behind the eighth", () => {
    const names = (count: number) => "a.token=".repeat(count);
    expect(findAssignments(`${names(8)}plainwords`)).toEqual([]);
    expect(findAssignments(`${names(9)}plainwords`)).toMatchObject([{ kind: "secret" }]);
  });
});
