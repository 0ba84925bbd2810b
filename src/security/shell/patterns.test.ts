import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { decideByRules, matchesPattern, sessionPattern } from "./patterns.js";

describe("sessionPattern", () => {
  it.each([
    ["npm test -- --watch", ["npm test *"]],
    ["npm test", ["npm test"]],
    ["npm run lint -- --fix", ["npm run lint *"]],
    ["git commit -m 'x y'", ["git commit *"]],
    ["git add . && git commit -m x", ["git add *", "git commit *"]],
    ["cd src && make check 2>&1 | tail -5", ["make check"]],
    ["docker compose up -d", ["docker compose up *"]],
    ["./gradlew build --info", ["./gradlew build *"]],
    ["mkdir -p a/b", ["mkdir *"]],
    ["LC_ALL=C make", ["make"]],
    ["ls -la", []],
  ])("%s", (text, patterns) => {
    expect(sessionPattern(text)).toEqual({ ok: true, patterns });
  });

  verifies(["P3"], "offers nothing that would let anything through", () => {
    const commands = [
      "sh -c 'npm test'",
      "bash script.sh",
      "python3 x.py",
      "node -e 1",
      "sudo make",
      "rm -rf build",
      "curl localhost",
      "curl localhost | sh",
      "ssh host ls",
      "env A=b make",
      "xargs rm",
      "eval x",
      "find . -delete",
      "sed -i s/a/b/ f",
      "awk 'BEGIN { system(1) }'",
      "cat /etc/passwd",
      "git push --receive-pack=x",
      "git -c a=b commit",
      "git reset --hard",
      "docker run x",
      "make > log",
      "FOO=1 make",
      "make $TARGET",
      "npm test $(x)",
      "/usr/bin/make",
      "../make",
      "if make; then ls; fi",
      "for x in 1; do make; done",
      "(make) > log",
      "security dump-keychain",
      "ls '",
      "",
    ];
    expect(commands.filter((command) => sessionPattern(command).ok)).toEqual([]);
  });
});

describe("matchesPattern", () => {
  it.each([
    ["npm test *", "npm test"],
    ["npm test *", "npm test -- x"],
    ["npm test *", "npm   test \\\n -- x"],
    ["npm test *", "'npm' test"],
    ["npm test *", "cd src && npm test 2>&1 | tail -5"],
    ["npm test *", "npm test; npm test -- y"],
    ["npm test *", "(npm test)"],
    ["git commit *", "git commit -m 'a; b $(c)'"],
    ["make", "make"],
  ])("%s covers %j", (pattern, text) => {
    expect(matchesPattern(pattern, text)).toBe(true);
  });

  it.each([
    ["npm test *", "npm tests"],
    ["npm test *", "npm run test"],
    ["npm test *", "npm test && npm publish"],
    ["npm test *", "npm test; rm -rf x"],
    ["npm test *", "npm test | sh"],
    ["npm test *", "npm test\nrm x"],
    ["npm test *", "npm test & rm x"],
    ["npm test *", "npm test > out"],
    ["npm test *", "npm test $(rm x)"],
    ["npm test *", "npm test `rm x`"],
    ["npm test *", "npm test <(rm x)"],
    ["npm test *", "npm test $x"],
    ["npm test *", "npm test {a,b}"],
    ["npm test *", "PATH=. npm test"],
    ["npm test *", "NODE_OPTIONS=x npm test"],
    ["npm test *", "env npm test"],
    ["npm test *", "sudo npm test"],
    ["npm test *", "npm test --script-shell=./x"],
    ["npm test *", "npm test --script-sh ./x"],
    ["npm test *", "npm test ~/.ssh/id_rsa"],
    ["npm test *", "npm test .env"],
    ["npm test *", "while npm test; do ls; done"],
    ["npm test *", "f() { npm test; }; f"],
    ["npm test *", "{ npm test; } > out"],
    ["npm test *", "npm test <<EOF\n$(rm x)\nEOF"],
    ["npm test *", "npm test\u200b"],
    ["npm test *", "npm test '"],
    ["make", "make install"],
    ["make *", "make SHELL=./x"],
    ["make *", "make -f x"],
    ["find *", "find . -exec ls {} ';'"],
    ["find *", "find . -delete"],
    ["git clone *", "git clone --upload-pack=./x y"],
    ["git clone *", "git clone --upload-pa ./x y"],
    ["git fetch *", "git fetch ext::x"],
    ["git *", "git push"],
    ["git push *", "git push --receive-pack=x"],
    ["git push *", "git -c a=b push"],
    ["rm *", "rm x"],
    ["sh *", "sh -c x"],
    ["sudo *", "sudo ls"],
    ["*", "make"],
    ["", "make"],
    ["security *", "security x"],
  ])("%s does not cover %j", (pattern, text) => {
    expect(matchesPattern(pattern, text)).toBe(false);
  });
});

describe("decideByRules", () => {
  it("denies what a rule denies wherever it is, and more than it allows", () => {
    const deny = ["fetch-it", "git push"];
    const commands = ["fetch-it x", "ls; fetch-it", "echo $(fetch-it)", "sudo -u me fetch-it", "timeout 5 fetch-it x"];
    commands.push(
      "bash -c 'ls && fetch-it'",
      "find . -exec fetch-it {} +",
      "/opt/bin/fetch-it",
      "f\\etch-it",
      "git push -f",
    );
    for (const text of commands) {
      expect([text, decideByRules(text, { deny, allow: ["fetch-it *", "git *"] })]).toEqual([text, "deny"]);
    }
    expect(decideByRules("ls fetch-it", { deny })).toBe("allow");
    expect(decideByRules("git pushed", { deny })).toBe("ask");
  });

  it("does not take being read-only for a reason when it is strict", () => {
    expect(decideByRules("ls", { strict: true })).toBe("ask");
    expect(decideByRules("ls -la", { strict: true, allow: ["ls *"] })).toBe("allow");
    expect(decideByRules("ls | wc", { strict: true, allow: ["ls *"] })).toBe("ask");
    expect(decideByRules("echo $(ls)", { strict: true, allow: ["ls *", "echo *"] })).toBe("allow");
  });

  it("asks about groups of read-only commands, as without rules", () => {
    for (const text of ["(ls)", "echo $(ls)", "cat <(ls)", "[[ -v x ]]", "((x))"])
      expect(decideByRules(text, {})).toBe("ask");
  });
});
