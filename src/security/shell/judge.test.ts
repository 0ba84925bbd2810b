import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { type JudgeOptions, judgeCommand } from "./judge.js";

function verdict(text: string, options?: JudgeOptions): string {
  return judgeCommand(text, options).verdict;
}

describe("read-only commands", () => {
  verifies(["P3"], "never ask", () => {
    const commands = [
      "ls",
      "ls -lah src test",
      "cat README.md package.json",
      "head -50 src/main.ts",
      "tail -n 20 build.log",
      "wc -l src/*.ts",
      "grep -rn --include='*.ts' 'TODO' src",
      "grep -c -e one -e two notes.md",
      "rg -n -C 3 --type ts 'function \\w+' src",
      "rg --files -g '*.md'",
      "find src -type f -name '*.ts' -not -path '*/x/*' -mtime -7 -size +10k",
      "find . \\( -name '*.js' -o -name '*.ts' \\) -print",
      "sed -n '10,20p' src/main.ts",
      "sed -n -e '/start/,/end/p' -e '$=' file",
      "sed -E 's/([a-z]+)-x/\\1/g;s#a#b#' notes.txt",
      "awk -F, '{ print $1, $NF }' data.csv",
      "awk 'NR==1 { n = length($0) } END { printf \"%d\\n\", n }' data.csv",
      "sort -k2,2n -u",
      "sort names.txt",
      "uniq -c names.txt",
      "sleep 1.5; sleep 1m",
      "cut -d: -f1,3 data.txt | sort -rn | uniq -c | head -5",
      "diff -u old.txt new.txt",
      "stat -c '%s %n' file.txt",
      "jq -r '.items[] | .name' data.json",
      "git log --oneline -15 -- src",
      "git log --format='%h %an %s' main..HEAD",
      "git rev-parse --abbrev-ref HEAD",
      "git remote get-url upstream",
      "cd src && ls && wc -l main.ts",
      'echo "$HOME and $' + '{USER}"',
      "printf '%-10s|%5d\\n' a 1",
      "test -d src && echo yes || echo no",
      "[ -f a.txt ] && cat a.txt",
      "[[ -d src ]] && pwd",
      "[[ abc == abc ]]",
      "cat <<'EOF'\n$(rm -rf x) `rm x`\nEOF",
      "cat <<EOF\nhello $USER\nEOF",
      "wc -c <<< 'some text'",
      "LC_ALL=C TZ=UTC date +%F",
      "timeout 10 grep -r x .",
      "nice -n 10 du -sh src",
      "time ls",
      "! grep -q x file",
      "ls missing 2>/dev/null; ls >/dev/null 2>&1",
      "ls &>/dev/null & pwd",
      "command -v node",
      "which node npm",
      "# a comment\nls # another; rm x",
      "ls \\\n  -la \\\n  src",
      "echo 'rm -rf /' | grep 'rm'",
      "echo a \\> b \\; c",
      "echo $((3 * 4))",
      "echo *.md",
      "VALUE=plain",
      "node --version && python3 -V",
      "unzip -l archive.zip",
      "tar -tzf archive.tgz",
      "sed -n '2,4p; 9q' notes.txt",
      "awk '$3 > 10 || NR == 1' data.txt",
      "awk '{ if ($1>=2) print $2 }' data.txt",
      "find src -name '*.ts' -print0 | xargs -0 wc -l",
      "rg -l0 TODO src | xargs -0 -n 20 grep -n FIXME | head",
      "git ls-files -z src | xargs -0r head -n 3",
      "yq '.jobs | keys' ci.yml",
      "ps -eo pid,comm,%cpu --sort=-%cpu | head -5",
      "ps -fp 1,2",
      "lsof -nP -iTCP:3000 -sTCP:LISTEN",
      "ss -tlnp",
      "ip addr show eth0",
      "systemctl status nginx --no-pager",
      "systemctl is-active nginx",
      "docker ps -a --format '{{.Names}}' && docker logs --tail 50 web",
      "dpkg -l bash",
      "apt-cache policy bash",
      "printenv PATH HOME",
      "java -version",
      "zcat access.log.gz | head",
      "iconv -f latin1 -t utf8 notes.txt",
      "git ls-files -s src",
      "git describe --tags --always",
      "git shortlog -sn HEAD",
      "git config --get remote.origin.url",
      "git stash list",
      "git worktree list",
    ];
    expect(commands.map((command) => [command, verdict(command)])).toEqual(commands.map((it) => [it, "read-only"]));
  });

  it("are known by the words that reach the program, however they are written", () => {
    for (const text of ["l''s -la", '"ls" "-la"', "\\ls -la", "$'ls' -la", "ls\t-la", "ls $'-l'a"]) {
      expect([text, verdict(text)]).toEqual([text, "read-only"]);
    }
  });

  it("may be added by tables of one's own", () => {
    const programs = { colours: { flags: "--list", operands: "none" } } as const;
    expect(verdict("colours --list")).toBe("ask");
    expect(verdict("colours --list", { programs })).toBe("read-only");
    expect(verdict("colours --paint", { programs })).toBe("ask");
  });
});

describe("everything else", () => {
  verifies(["P3"], "asks", () => {
    const groups: Readonly<Record<string, readonly string[]>> = {
      "unknown programs and paths to programs": [
        "deploy",
        "./run.sh",
        "/bin/ls",
        "src/ls",
        "LS",
        "ls.exe",
        "''",
        "'ls -la'",
      ],
      "programs that obey files of the project": [
        ...["npm ls", "npm list", "npm outdated", "npm --version", "npm -v", "npm ls --prefix elsewhere", "npm view x"],
        ...["pnpm ls", "pnpm --version", "yarn list", "yarn --version", "pip list", "pip3 show x", "pip freeze"],
        ...["cargo --version", "cargo tree", "go version", "go list", "go env", "composer show", "bundle list"],
        ...[
          "gradle --version",
          "mvn -v",
          "poetry show",
          "uv pip list",
          "gem list",
          "dotnet --info",
          "terraform version",
        ],
        ...["make -n", "just --list", "task --list", "kubectl get pods", "helm list", "docker compose ps", "gh status"],
      ],
      "sleep without a near end": [
        "sleep infinity",
        "sleep inf",
        "sleep 1e9",
        "sleep 61",
        "sleep 2m",
        "sleep 1d",
        "sleep 0x99",
      ],
      "programs whose name is not known": ["$x", "$(echo ls)", "l*", "{ls,-la}", "`which ls`", "~/ls", "$" + "{x}s"],
      "options that write, run or connect": [
        "sort -o out.txt",
        "sort --output=out.txt",
        "sort -ro out.txt",
        "sort --outp=x",
        "tree -o out.txt",
        "rg --pre ./x y",
        "rg -z x y.gz",
        "fd x -x rm",
        "date --set=now",
        "date 01010101",
        "file -C -m x",
        "uniq a.txt b.txt",
        "xxd a.txt b.bin",
        "diff a b c",
        "base64 -o x y",
        "jq -f script.jq x.json",
        "jq 'env' x.json",
        "tar -xf x.tar",
        "tar -tf host:x.tar",
        "unzip x.zip",
        "hostname other",
        "docker logs -f web",
        "sort *.txt",
        "sort names",
        "sort a.txt -o b.txt",
        "uniq a.txt b.txt",
        "node --version -e 1",
        "wc --files0-from=list",
        "ps eww",
        "ps -eo pid,environ",
        "ps -E",
        "sort {a,-o,b}",
        "uniq {in,out}",
        "uniq *.txt",
        "shuf -o x y",
        "tree -Lo 2 out",
        "tree $'-Lo' 2 out",
        "tree -aPo x out",
        "yq -i .a=1 x.yml",
        "yq 'load(\"/etc/x\")' x.yml",
        "yq 'strenv(X)' x.yml",
        "yq ../outside.yml",
        "yq .env",
        "yq ea 'load(\"/etc/x\")' x.yml",
        "printenv",
        "printenv DATABASE_URL",
        "docker inspect web",
        "docker --context other ps",
        "docker exec web ls",
        "docker compose config",
        "systemctl -H host status",
        "systemctl restart nginx",
        "systemctl cat nginx",
        "systemctl show nginx",
        "ip -batch commands",
        "ip link set eth0 down",
        "ip addr add 10.0.0.1 dev eth0",
        "lsof -i -D file",
        "lsof +L1",
        "dmesg -C",
        "ss -K",
        "pip list --outdated",
        "pip install x",
        "python3 -m pip list",
        "rpm -i x.rpm",
        "rpm -qa --pipe id",
        "dpkg -i x.deb",
        "gzip file",
        "gzip -lf file",
        "bc script.bc",
        "java -version -jar x.jar",
        "nm --plugin ./x a.o",
        "cargo --version",
        "cargo metadata",
        "rustc --version",
        "yarn --version",
        "pnpm ls",
        "go version",
        "go env",
        "dotnet --version",
        "npm view x",
        "kubectl get pods",
      ],
      "git beyond what no configuration can turn": [
        "git branch",
        "git tag v1",
        "git stash",
        "git stash -- list",
        "git stash list -p",
        "git worktree add x",
        "git config user.name",
        "git config --list",
        "git config --get http.extraheader",
        "git config --get user.name x",
        "git config --file x --get user.name",
        "git describe --dirty",
        "git ls-files -m",
        "git ls-files .env",
        "git version --build-options",
        "git cat-file -p HEAD",
      ],
      "names handed to other programs, when they may be anything": [
        "find . | xargs cat",
        "find . -print0 | xargs cat",
        "find . -name x | xargs -0 cat",
        "find . -print0 | xargs -0 rm",
        "find . -print0 | xargs -0 sort",
        "find . -print0 | xargs -0 sh -c x",
        "find . -print0 | xargs -0 -I{} cat {}",
        "find . -print0 | xargs -0 -a list cat",
        "find . -print0 | xargs -0 cat <list",
        "find . -print0 | xargs -0 cat <<< /etc/shadow",
        "find . -print0 | xargs -0 grep",
        "find . -printf '/etc/%f\\0' -print0 | xargs -0 cat",
        "find .. -print0 | xargs -0 cat",
        "find . -name .env -print0 | xargs -0 cat",
        "find . -name '.e*' -print0 | xargs -0 cat",
        "cat list | xargs -0 cat",
        "printf '/etc/shadow\\0' | xargs -0 cat",
        "grep -zZel x f | xargs -0 cat",
        "grep -el -Z x f | xargs -0 cat",
        "grep -lzZ x f | xargs -0 cat",
        "rg -0 x f | xargs -0 cat",
        "rg -0e l f | xargs -0 cat",
        "git ls-files -sz | xargs -0 cat",
        "git log -z --format=%B | xargs -0 cat",
        "xargs -0 cat",
        "find . -print0 | cat | xargs -0 cat",
        "find . -print0 | xargs -0 cat .env",
      ],
      "comparisons of awk that write after all": [
        "awk '{ print $1 > \"out\" }' f",
        "awk '{ print $1 > $2 }' f",
        'awk \'{ print ";" > "out" }\' f',
        "awk '{ print /;/ > \"out\" }' f",
        'awk \'{ print "}" > "out" }\' f',
        "awk '{ print $1,\n$2 > \"out\" }' f",
        'awk \'{ printf("x") > "out" }\' f',
        "awk '{ print 1 || 2 > \"out\" }' f",
        "awk '{ \"id\" | getline }' f",
        "awk '{ print | \"id\" }' f",
        "awk '{ print ||| \"id\" }' f",
        "awk 'x > 1 { print > \"out\" }' f",
      ],
      "options in disguise": ["ls -- -x", "grep -e -r x", "rg *", "head -n -x file", "sort $FLAGS"],
      "scripts of sed that do more than print": [
        "sed -i 's/a/b/' f",
        "sed -n -i p f",
        "sed 's/a/b/w out' f",
        "sed 's/a/b/wout' f",
        "sed 's/a/id/e' f",
        "sed '1e id' f",
        "sed 'w out' f",
        "sed '/x/wout' f",
        "sed 'r f' f",
        "sed -f x f",
        "sed -f- f",
        "sed s/[/]wx/b/ f",
        "sed '/a b/p' f",
        "sed 's/a b/c/' f",
        "sed 's/a/b c/' f",
        "sed 's/[a/b/' f",
        "sed 'y/[a/bc/' f",
        "sed 's/a/b/;;wx' f",
        "sed 'a text' f",
        "sed '' f",
        'sed "s/a/$x/" f',
      ],
      "programs of awk that do more than print": [
        "awk 'BEGIN { system(\"id\") }'",
        "awk '{ print > \"f\" }' x",
        "awk '{ print | \"sh\" }' x",
        "awk '{ \"id\" | getline y }' x",
        "awk 'BEGIN { getline < \"f\" }'",
        "awk '@load \"x\"'",
        "awk 'BEGIN { print ENVIRON[\"x\"] }'",
        "awk 'BEGIN { ARGV[1] = \"f\" } { print }'",
        "awk 'BEGIN { f = \"id\"; mine(f) }'",
        "awk -f x.awk",
        "awk -i inplace '{ print }' f",
        'awk "{ print $x }" f',
      ],
      "tests of find that do more than look": [
        "find . -delete",
        "find . -exec ls {} +",
        "find . -execdir ls {} ';'",
        "find . -ok rm {} ';'",
        "find . -fprint out",
        "find . -name",
        "find . -name -delete",
        "find . $x",
        "find *",
        "find -files0-from x",
      ],
      "what git may run": [
        "git status",
        "git diff",
        "git show HEAD",
        "git blame x",
        "git log -p",
        "git log --show-signature",
        "git log --format=%G?",
        "git log --format='%-G?'",
        "git log --format='%+GS'",
        "git log --format='% GK'",
        "git log --pretty='format:%h %-G?'",
        "git log --format=mine",
        "git log -S x",
        "git log --output=x",
        "git -C elsewhere log",
        "git -c core.pager=x log",
        "git --git-dir=x log",
        "git -p log",
        "git branch",
        "git branch -a topic",
        "git tag v1",
        "git fetch",
        "git commit -m x",
        "git config user.name",
        "git remote add a b",
        "cd src && git log",
      ],
      "writing redirects": [
        "ls > f",
        "ls >> f",
        "ls >| f",
        "ls &> f",
        "ls 2> f",
        "ls <> f",
        "ls >& f",
        "> f",
        "ls {x}> f",
        "ls 3>&1",
      ],
      "reading from elsewhere by redirect": [
        "cat < /etc/passwd",
        "cat < ../x",
        "cat < $x",
        "cat < /dev/tcp/1.1.1.1/80",
        "cat <&3",
      ],
      "variables that change what runs": [
        "PATH=. ls",
        "LD_PRELOAD=x ls",
        "IFS=x ls",
        "GIT_PAGER=x git log",
        "ANY=x ls",
        "LC_ALL=$(x) ls",
        "LANG=../x ls",
        "PATH=.",
        "export A=b",
        "A=b; ls",
        "A=$x",
        "RANDOM='a[1]'",
        "BASH_ENV=x",
        "a=(1 2)",
      ],
      "what is substituted": [
        "echo $(date)",
        "echo `date`",
        'echo "$(date)"',
        "cat <(ls)",
        "echo $" + "{x:-$(date)}",
        "echo $(( $(date) ))",
        "cat <<EOF\n$(date)\nEOF",
        "cat <<< $(date)",
        "echo $([[ -f a ]])",
        "ls > /dev/null $(date)",
        "LC_ALL=$(date) ls",
      ],
      "expansions that run or hide": [
        "echo $" + "{x@P}",
        "echo $" + "{!x}",
        "echo $" + "{x:=y}",
        "echo $((x))",
        "echo $((x[1]))",
        "printf %n x",
        "printf -v x y",
        'printf "$x"',
        "test -v x",
        "[[ -v x ]]",
        "[[ $x -eq 1 ]]",
        "echo $API_KEY",
        "echo $GITHUB_TOKEN",
        "ls $x",
        "ls $(pwd)",
      ],
      "groups, loops and functions": [
        "(ls)",
        "{ ls; }",
        "if ls; then pwd; fi",
        "for x in a; do ls; done",
        "while true; do ls; done",
        "case a in a) ls;; esac",
        "f() { ls; }; f",
        "((1))",
        "coproc ls",
      ],
      "wrappers and interpreters": [
        "sudo ls",
        "env ls",
        "env",
        "exec ls",
        "builtin pwd",
        "eval ls",
        "nohup ls",
        "xargs cat",
        "sh -c ls",
        "bash -c ls",
        "python3 -c 1",
        "perl -e 1",
        "timeout --unknown 5 ls",
        "timeout 5 rm x",
        "timeout x ls",
        "nice rm x",
        "command rm x",
        "command -p ls",
        "less x",
        "vim x",
        "man ls",
        "watch ls",
        "time -v ls",
        "curl localhost",
        "tee x",
      ],
      "invisible and misleading characters": [
        "ls\u00a0-la",
        "ls\u200b",
        "ls \u202e",
        "ls\r",
        "ls\r\nrm x",
        "ls\0",
        "ls \u001b[2K",
        "ls\u2028rm x",
        "ls\v",
        "l\u00ads",
        "ls \u2800",
        "ls \ud800",
        "ls \ufe0f",
      ],
      "nothing at all": ["", "   ", "\n\n", "# only a comment"],
    };
    for (const [group, commands] of Object.entries(groups)) {
      expect([group, commands.filter((command) => verdict(command) !== "ask")]).toEqual([group, []]);
    }
  });

  it("asks when one command of many is not read-only", () => {
    for (const join of [" && ", " || ", "; ", " | ", " |& ", " & ", "\n", ";\n", "|\n"]) {
      expect(verdict(["ls", "make", "pwd"].join(join))).toBe("ask");
      expect(verdict(["ls", "cat x", "pwd"].join(join))).toBe("read-only");
    }
  });

  it("asks about long lists", () => {
    expect(verdict("true; ".repeat(400))).toBe("read-only");
    expect(verdict("true; ".repeat(501))).toBe("ask");
  });

  it("tells the verdict of every command, wherever it is", () => {
    const { commands, reason } = judgeCommand('ls "$(make -n)" | head && npm test -- -u');
    expect(commands).toEqual([
      { text: 'ls "$(make -n)"', verdict: "ask", reason: expect.stringContaining("not known beforehand") },
      { text: "make -n", verdict: "ask", reason: '"make" runs code.' },
      { text: "head", verdict: "read-only", reason: "It is known to only read." },
      { text: "npm test -- -u", verdict: "ask", reason: expect.stringContaining('"npm"'), pattern: "npm test *" },
    ]);
    expect(reason).toContain("not known beforehand");
  });

  it("says why a text could not be understood", () => {
    expect(judgeCommand("ls 'x").reason).toBe("Oxbow cannot parse the command: a single quote is not closed.");
    expect(judgeCommand("ls\u200b").reason).toContain("U+200B");
  });
});

describe("paths", () => {
  const options = { workspace: "/home/me/project" };

  verifies(["P3"], "outside the workspace ask", () => {
    for (const path of [
      "/etc/passwd",
      "..",
      "../x",
      "src/../../x",
      "~",
      "~/x",
      "~root/x",
      "/home/me/projects/x",
      "/",
    ]) {
      expect([path, verdict(`ls ${path}`, options)]).toEqual([path, "ask"]);
    }
    for (const path of [
      "/home/me/project",
      "/home/me/project/src",
      "src/../x",
      ".",
      "./x",
      "/etc/os-release",
      "'..x'",
    ]) {
      expect([path, verdict(`ls ${path}`, options)]).toEqual([path, "read-only"]);
    }
    expect(verdict("basename /etc/passwd .x")).toBe("read-only");
    expect(verdict("grep /etc/passwd notes.md")).toBe("read-only");
    expect(verdict("grep -e x /etc/passwd")).toBe("ask");
    expect(verdict("rg --files /etc")).toBe("ask");
  });

  it("are followed through cd, whether it works or not", () => {
    expect(verdict("cd src && cat a/../b")).toBe("read-only");
    expect(verdict("cd src && cat ../b")).toBe("ask");
    expect(verdict("cd src; cd ..; ls")).toBe("ask");
    expect(verdict("cd /tmp && ls")).toBe("ask");
    expect(verdict("cd && ls")).toBe("ask");
    expect(verdict("cd - && ls")).toBe("ask");
    expect(verdict("cd $x && ls")).toBe("ask");
    expect(verdict("cat ../b", { ...options, cwd: "/home/me/project/src" })).toBe("read-only");
    expect(verdict("cat ../../b", { ...options, cwd: "/home/me/project/src" })).toBe("ask");
    expect(verdict("ls", { ...options, cwd: "/tmp" })).toBe("read-only");
    expect(verdict("ls .", { ...options, cwd: "/tmp" })).toBe("ask");
  });

  it("that hold secrets ask", () => {
    const paths = [
      ".env",
      "./.env",
      ".ENV",
      "a/.env.local",
      "x/../.env",
      '".e"nv',
      ".e*",
      ".*",
      "keys/server.pem",
      "id_rsa",
    ];
    paths.push(
      "id_r*",
      ".git/config",
      ".ssh/config",
      "config/credentials.json",
      ".npmrc",
      "cred*",
      "[i]d_rsa",
      "x.key",
    );
    for (const path of paths) expect([path, verdict(`cat ${path}`)]).toEqual([path, "ask"]);
    for (const text of ["grep -r --include=.env x .", "rg -g '.e*' x", "rg --glob='**/*.pem' x", "grep -f .env x"]) {
      expect([text, verdict(text)]).toEqual([text, "ask"]);
    }
    for (const path of [".env.example", "env.ts", "*.ts", "*", "src/*", "keyboard.ts"]) {
      expect([path, verdict(`cat ${path}`)]).toEqual([path, "read-only"]);
    }
  });
});

describe("credentials", () => {
  verifies(["P9"], "are not shown by any command, however it is wrapped", () => {
    const commands = [
      "security find-generic-password -w",
      "secret-tool lookup a b",
      "keyctl print 1",
      "kwalletcli -f x",
      "/usr/bin/security dump-keychain",
      "pass show mail",
      "gh auth token",
      "gpg --armor --export-secret-keys",
      "git credential fill",
      "git-credential-store get",
      "gcloud auth print-access-token",
      "ls && security dump-keychain",
      "echo $(secret-tool lookup a b)",
      "sudo security dump-keychain",
      "env A=b keyctl show",
      "bash -c 'ls; secret-tool lookup a b'",
      "eval 'keyctl show'",
      "find . -exec security x {} ';'",
      "echo a | xargs secret-tool lookup",
      "f() { security x; }; f",
      "\\security x",
      "se'curity' x",
    ];
    expect(commands.map((command) => [command, verdict(command)])).toEqual(commands.map((it) => [it, "blocked"]));
  });

  verifies(["P9"], "of Oxbow itself are not touched", () => {
    const commands = [
      "cat ~/.config/oxbow/config.toml",
      "cat $HOME/.config/oxbow/config.toml",
      "cat ~/.config/x/../oxbow/config.toml",
      "ls -la ~/.local/share/oxbow",
      "cp x ~/.local/state/oxbow/x",
      "echo x > ~/.config/oxbow/config.toml",
      "cat $XDG_CONFIG_HOME/oxbow/x",
      'cat "$OXBOW_HOME/config/x"',
      "sh -c 'cat ~/.config/oxbow/x'",
    ];
    expect(commands.map((command) => [command, verdict(command)])).toEqual(commands.map((it) => [it, "blocked"]));
    expect(verdict("cat /data/ox/key", { ownFolders: ["/data/ox"] })).toBe("blocked");
    expect(verdict("cat /data/ox/key")).toBe("ask");
  });

  verifies(["P9", "T9"], "of Oxbow are not touched beside the outputs of the model's own commands", () => {
    const outputs = "/data/ox/state/output/sess_1";
    const of = (command: string) => verdict(command, { ownFolders: ["/data/ox"], outputs });
    const cases: readonly (readonly [string, string])[] = [
      [`tail -n 5 ${outputs}/command-a1-b2.log`, "read-only"],
      [`grep -n error ${outputs}/*.log | head`, "read-only"],
      [`wc -l < ${outputs}/c.log`, "read-only"],
      [`python3 -c 'open("${outputs}/c.log")'`, "ask"],
      [`python3 -c 'open("${outputs}/c.log/../../../key")'`, "blocked"],
      [`cat ${outputs}/../sess_2/c.log`, "blocked"],
      [`cat ${outputs}/c.log/../../../../key`, "blocked"],
      [`cat ${outputs}2/c.log`, "blocked"],
      [`cat ${outputs}/$X`, "blocked"],
      [`cat ${outputs}/c.log /data/ox/key`, "blocked"],
      [`ls ${outputs}`, "blocked"],
    ];
    expect(cases.map(([command]) => [command, of(command)])).toEqual(cases);
  });

  verifies(["P4", "P9"], "of Oxbow that widen what an agent may do are refused in every spelling", () => {
    const commands = [
      "oxbow permissions set . rwxd",
      "oxbow permissions --json reset",
      "oxbow permissions 'set . rwxd'",
      "ox permissions reset",
      "/usr/local/bin/oxbow permissions safemode off",
      "env -u OXBOW_AGENT oxbow permissions reset",
      "unset OXBOW_AGENT; oxbow permissions reset",
      "OXBOW_AGENT= oxbow ack",
      "bash -c 'oxbow session delete last --yes'",
      "npx oxbow permissions reset",
      "npx -y oxbow@latest ack",
      "node dist/bin.js permissions reset",
      "node /usr/lib/node_modules/oxbow/dist/bin.js auth set anthropic --stdin",
      "oxbow creds add anthropic",
      "oxbow session gc",
      "oxbow session dismiss",
      "oxbow route add fast http://127.0.0.1:1",
      "oxbow run --auto-approve 'do it'",
      "oxbow --permission-mode=allow 'do it'",
      "oxbow run --sandbox off 'do it'",
      "ls && (oxbow permissions reset)",
    ];
    expect(commands.map((command) => [command, verdict(command)])).toEqual(commands.map((it) => [it, "blocked"]));
    const free = ["oxbow permissions test ls", "oxbow session list", "oxbow auth list", "oxbow 'explain ack'"];
    expect(free.map((command) => [command, verdict(command)])).toEqual(free.map((it) => [it, "ask"]));
  });

  it("are not suspected in what only mentions them", () => {
    expect(verdict("grep -rn security src")).toBe("read-only");
    expect(verdict("ls src/security")).toBe("read-only");
    expect(verdict("git log --grep=pass")).toBe("read-only");
  });
});
