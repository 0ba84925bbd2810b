/**
 * Names of files and folders that programs outside the sandbox run or obey without being asked to: version control, editors,
 * coding agents, package managers, build tools, shells and debuggers do so when the user merely opens the folder, enters it, or
 * uses git as usual.
 *
 * 1. A name counts at any depth: the user may open any folder of a work tree.
 * 2. Ordinary source files are not here, although the user runs them: `package.json`, `Makefile`, `build.rs`, `gradlew`, `conftest.py`,
 *    configurations of linters and test runners, scripts. Neither are `.github/workflows` and other files of CI services and hosted
 *    editors, which run on other machines after a push that the user sees, nor `.gitignore` and `.gitattributes`, which can only choose
 *    among drivers that the person's own configuration defines, nor `AGENTS.md` and its like, which are text, nor plain version numbers
 *    (`.nvmrc`, `.python-version`).
 * 3. What builds write all day (`node_modules`, `.venv`, `.gradle`, `.yarn/cache`, `.bsp`) is not here either: it belongs to the project.
 */
import { plainName, plainPath } from "../../base/plain-name.js";

const list = (words: string): readonly string[] => words.trim().split(/\s+/);

const VERSION_CONTROL = "version control runs or obeys what is in this folder";
const EDITOR = "editors run or obey it";
const AGENT = "coding agents run or obey it";
const PACKAGES = "package managers and build tools obey it";
const HOOKS = "git hooks run what it says";
const SHELL = "a shell runs it";
const TOOLS = "version managers and containers run or obey it";
const STARTED = "an interpreter or debugger runs it when it starts";
const ACCOUNT = "programs of this account run or obey it";

/** Names of folders; everything below them counts. Some of them may be files. */
const FOLDERS: ReadonlyMap<string, string> = reasons([
  [VERSION_CONTROL, ".git .hg .jj .svn .bzr .sl .sapling .pijul _darcs _mtn .fossil-settings .repo .west .datalad"],
  [HOOKS, ".husky .githooks .git-hooks .lefthook .lefthook-local .cargo-husky .trunk .qlty"],
  [
    EDITOR,
    ".vscode .vscode-server .vscode-oss .idea .run .zed .fleet .vs .nova .helix .lapce .theia .vim .nvim .emacs.d .externaltoolbuilders .settings .nlsp-settings .sourcekit-lsp .lite-xl .lsp .hie-bios .ctags.d",
  ],
  [
    AGENT,
    `.oxbow .claude .claude-plugin .codex .cursor .agents .agent .gemini .qwen .windsurf .codeium .continue .kiro .kilocode .opencode
     .amp .augment .goose .junie .amazonq .copilot .crush .factory .qodo .tabnine .trae .warp .devin .openhands .cody .clinerules .pi
     .antigravity .codebuddy .forge .iflow .kode .qoder .rovodev .vibe .zencoder .mcp .serena .ruler .rulesync .gptme .hermes .openclaw .nanocoder .plandex .plandex-v2 .mentat .letta .grok .kimi
     .droid .swe-agent .jules .taskmaster`,
  ],
  [PACKAGES, ".mvn .pip .buckconfig.d .chef"],
  [TOOLS, ".devcontainer .mise .direnv .flox .shadowenv.d"],
  [STARTED, ".ipython .jupyter"],
  [ACCOUNT, ".ssh .gnupg .terraform.d"],
]);

const FILES: ReadonlyMap<string, string> = reasons([
  [
    VERSION_CONTROL.replace("what is in this folder", "it"),
    ".gitconfig .gitmodules .lfsconfig .hgrc .hgsub .hgsubstate .gclient .mrconfig .arcconfig .arcrc .p4config p4config.txt .p4enviro .cvsrc .fslckout _fossil_",
  ],
  [
    HOOKS,
    ".pre-commit-config.yaml .pre-commit-config.yml .overcommit.yml .huskyrc .huskyrc.js .huskyrc.json captainhook.json .rusty-hook.toml grumphp.yml grumphp.yaml grumphp.yml.dist grumphp.yaml.dist hk.pkl .hk.pkl prek.toml",
  ],
  [
    EDITOR,
    ".vimrc _vimrc .gvimrc .exrc _exrc .nvimrc .nvim.lua .lvimrc .ideavimrc .dir-locals.el .dir-locals-2.el .emacs .luarc.json .luarc.jsonc .neoconf.json .latexmkrc latexmkrc rust-analyzer.toml .rust-analyzer.toml .clangd .ccls .ycm_extra_conf.py .merlin hie.yaml buildserver.json .vimrc.local .local.vimrc .vimspector.json .projections.json .tern-project .ctags .solargraph.yml omnisharp.json tasks.vs.json launch.vs.json .lazy.lua .lite_project.lua .project .classpath .factorypath .pydevproject .tm_properties .kateproject",
  ],
  [
    AGENT,
    ".claude.json claude_desktop_config.json cline_mcp_settings.json gptme.toml conductor.json .opencode.json .cursorrules .windsurfrules opencode.json opencode.jsonc crush.json .crush.json .continuerc.json .roomodes",
  ],
  [
    PACKAGES,
    `.npmrc .yarnrc .yarnrc.yml .yarnrc.yaml .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js bunfig.toml .bunfig.toml pip.conf pip.ini .condarc
     uv.toml .gemrc .bazelrc .bazeliskrc .buckconfig .buckconfig.local .sbtopts .jvmopts nuget.config rust-toolchain
     rust-toolchain.toml .pypirc .bazelversion .pantsrc .mill-jvm-opts directory.build.rsp msbuild.rsp
     .pants.rc .plzconfig .plzconfig.local .pydistutils.cfg .corepack.env pdm.toml .pdm.toml poetry.toml .mambarc .sbtrc .sbtconfig
     .antrc .mavenrc profiles.clj`,
  ],
  [
    SHELL,
    `.envrc .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zprofile .zshenv .zlogin .zlogout .profile .login
     .cshrc .tcshrc .kshrc .mkshrc .inputrc .direnvrc .autoenv .autoenv.zsh .autoenv_leave .autoenv_leave.zsh .screenrc .tmux.conf
     .tmuxinator.yml .tmuxp.yaml .tmuxp.yml .tmuxp.json .rvmrc .rbenv-vars .pyenv-vars .nodenv-vars .xonshrc`,
  ],
  [
    TOOLS,
    ".tool-versions .devcontainer.json mise.toml .mise.toml .rtx.toml .asdfrc .prototools flake.nix shell.nix devenv.nix devenv.local.nix devenv.yaml devbox.json .actrc ansible.cfg .ansible.cfg pkgx.yaml .pkgx.yaml pkgx.yml .pkgx.yml aqua.yaml .aqua.yaml aqua.yml .aqua.yml .vfox.toml",
  ],
  [
    STARTED,
    ".gdbinit .lldbinit .pdbrc .pdbrc.py .rdata .nrepl.edn .psysh.php startup.m .pythonrc .pythonstartup sitecustomize.py usercustomize.py .irbrc .pryrc .rprofile .renviron .ghci .ocamlinit .octaverc .perldb .gdbearlyinit .byebugrc .rdbgrc .rdbgrc.rb .iex.exs .erlang .valgrindrc .sbclrc .guile .tclshrc .wishrc .mongorc.js .mongoshrc.js .duckdbrc",
  ],
  [
    ACCOUNT,
    ".ripgreprc .curlrc .wgetrc .terraformrc .netrc .mailcap .forward .xinitrc .xsession .xprofile .pam_environment .psqlrc .sqliterc .ackrc .tigrc .nanorc .muttrc .lesskey .lessfilter .my.cnf .tofurc .xresources",
  ],
]);

/** Places that need more than one name. Matched against the path in lower case. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)\.(aider|roo|cline)[^/]*(\/|$)/, AGENT],
  [/(^|\/)\.?mcp([-_.][a-z]+)*\.(jsonc?|ya?ml|toml)$/, AGENT],
  // Folders of agents that are not in the list.
  [/(^|\/)\.[^/]+\/(mcp([-_][a-z]+)?\.jsonc?|settings(\.local)?\.json|hooks(\.json)?|skills)(\/|$)/, AGENT],
  [/(^|\/)cvs\/(root|entries|repository)$/, VERSION_CONTROL.replace("what is in this folder", "it")],
  [/(^|\/)\.envrc\.(?!example$|sample$|template$|dist$)[^/]+$/, SHELL],
  [/(^|\/)(\.lintstagedrc|\.nano-staged)(\.[a-z]+)?$/, HOOKS],
  [/(^|\/)(lint-staged\.config|nano-staged)\.[a-z]+$/, HOOKS],
  [/(^|\/)(\.bazelrc\.[^/]+|[^/]*\.bazelrc|tools\/bazel\.rc|\.plzconfig\.[^/]+)$/, PACKAGES],
  [/(^|\/)\.gradle\/(init\.gradle(\.kts)?|init\.d|gradle\.properties)(\/|$)/, PACKAGES],
  [/(^|\/)\.m2\/(settings[^/]*|toolchains|extensions)\.xml$/, PACKAGES],
  [/(^|\/)\.github\/(hooks|agents|skills|extensions|copilot)(\/|$)/, AGENT],
  [/(^|\/)\.cargo\/(config|credentials)(\.toml)?$/, PACKAGES],
  [/(^|\/)\.yarn\/(plugins|releases|sdks)(\/|$)/, PACKAGES],
  [/(^|\/)\.bundle\/(config|plugin)(\/|$)/, PACKAGES],
  [/(^|\/)gradle\/wrapper(\/|$)/, PACKAGES],
  [/(^|\/)tools\/bazel(\.(ps1|bat|exe))?$/, PACKAGES],
  [/(^|\/)\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)$/, HOOKS],
  [/(^|\/)\.?simple-git-hooks\.([cm]?[jt]s|json)$/, HOOKS],
  [/(^|\/)\.?mise\.[^/]+\.toml$/, TOOLS],
  [/(^|\/)\.?mise\/(config(\.[^/]+)?\.toml|tasks(\/|$)|conf\.d(\/|$))/, TOOLS],
  [/(^|\/)\.?mise-tasks(\/|$)/, TOOLS],
  [/(^|\/)bin\/(hermit(\.hcl)?|activate-hermit)$/, TOOLS],
  [/(^|\/)(jupyter|ipython)_([a-z]+_)?config\.(py|json)$/, STARTED],
  [/(^|\/)\.julia\/config(\/|$)/, ACCOUNT],
  [/(^|\/)\.aws\/(config|credentials)$/, ACCOUNT],
  [/(^|\/)\.dvc\/config(\.local)?$/, VERSION_CONTROL.replace("what is in this folder", "it")],
  [/(^|\/)\.swiftpm\/configuration(\/|$)/, PACKAGES],
  [/(^|\/)\.pixi\/config\.toml$/, PACKAGES],
  [/(^|\/)\.luarocks\/config[^/]*\.lua$/, PACKAGES],
  [/(^|\/)\.lldbinit-[^/]+$/, STARTED],
  [/(^|\/)[^/]*\.(code-workspace|sublime-project|ipr|iws|suo)$/, EDITOR],
  [/(^|\/)(cmakelists\.txt|[^/]+\.(pro|qbs|[a-z]+proj))\.user$/, EDITOR],
  [/(^|\/)\.docker\/(config\.json$|cli-plugins(\/|$))/, ACCOUNT],
  [/(^|\/)\.kube\/config$/, ACCOUNT],
  [/(^|\/)\.local\/(bin|lib|share\/(applications|systemd|dbus-1|jupyter|nautilus|nvim))(\/|$)/, ACCOUNT],
  [/(^|\/)library\/(launchagents|launchdaemons)(\/|$)/, ACCOUNT],
  [
    /(^|\/)\.config\/(autostart|systemd|environment\.d|git|jj|hg|fish|nvim|helix|zed|code|direnv|pip|uv|pnpm|npm|mise[^/]*|gh|nushell|kitty|wezterm|go|tmux|zsh|vim|emacs|lazygit|tig|gdb|alacritty|ghostty|hypr|sway|i3|jupyter|containers)(\/|$)/,
    ACCOUNT,
  ],
];

/** Every shape begins like one of these, so one test is enough for most paths. */
const MAY_HAVE_SHAPE =
  /(^|\/)(\.|gradle\/|tools\/|library\/|cvs\/|lefthook|simple-git|mise|lint-staged|nano-staged|mcp|bin\/|jupyter_|ipython_)|\.(code-workspace|sublime-project|ipr|iws|suo|user|bazelrc)$/;

/** Notes directly in the folder of an agent that does not read them. */
const NOTES = /^(?:[^/]+\/)*\.(?:claude|codex|cursor|gemini)\/[^/]+\.(?:txt|log)$/;

/** Says why a change of this path needs the user; undefined for an ordinary one. Relative, with forward slashes. */
export function guardedName(path: string): string | undefined {
  const plain = plainPath(path);
  const names = plain.split("/");
  const folders = NOTES.test(plain) ? names.slice(0, -2) : names;
  for (const name of folders) {
    const reason = FOLDERS.get(name);
    if (reason !== undefined) return reason;
  }
  const reason = FILES.get(names.at(-1) ?? "");
  return reason ?? (MAY_HAVE_SHAPE.test(plain) ? SHAPES.find(([shape]) => shape.test(plain))?.[1] : undefined);
}

/** The guarded ones among the names in a folder, quickly: a work tree has many names. */
export function guardedEntries(folder: string, names: readonly string[]): readonly string[] {
  const isSpecial = /(^|\/)(\.|gradle|tools|library|cvs|bin)/i.test(folder);
  return names.filter((name) => {
    const plain = plainName(name);
    const isSuspect = isSpecial || FOLDERS.has(plain) || FILES.has(plain) || MAY_HAVE_SHAPE.test(plain);
    return isSuspect && guardedName(folder === "" ? name : `${folder}/${name}`) !== undefined;
  });
}

function reasons(groups: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  return new Map(groups.flatMap(([reason, words]) => list(words).map((word) => [word, reason] as const)));
}
