/**
 * Decides which settings of git's configuration do no harm, even from an untrusted author.
 *
 * 1. A setting that is not on the list may name a program to run or a file to read, in this version of git or in a later one, so it
 *    counts as unknown.
 * 2. A name counts with its value where the value decides: `core.fsmonitor` is a switch or a program.
 */

/**
 * `fetching`: git may get missing objects from a remote while it reads. `placing`: it moves the work tree, which is harmless only
 * when that lies where it may. `hooks`: it names the folder of the hooks. `mentioning`: it names folders or addresses, but git
 * neither runs nor obeys anything because of that.
 */
export type SettingKind = "harmless" | "fetching" | "placing" | "hooks" | "mentioning" | "unknown";

export interface GitSetting {
  /** As git lists it: section and key in lower case, the quoted part between them unchanged. */
  readonly name: string;
  /** `true` for a key without a value. */
  readonly value: string;
}

const SWITCH = /^(|true|false|yes|no|on|off|0|1)$/i;
/** Sorting by signature runs a program to check signatures. */
const SORT_ORDER = /^(?!.*(signature|trailers))/i;

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Keys by section. */
const PLAIN: Readonly<Record<string, ReadonlySet<string>>> = {
  core: set(`repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf
    protecthfs protectntfs untrackedcache quotepath preloadindex abbrev whitespace checkstat longpaths trustctime hidedotfiles
    fscache sharedrepository compression loosecompression bigfilethreshold sparsecheckout sparsecheckoutcone splitindex commitgraph
    multipackindex commentchar warnambiguousrefs notesref checkroundtripencoding packedgitlimit packedgitwindowsize
    deltabasecachelimit fsync fsyncmethod fsyncobjectfiles maxtreedepth`),
  extensions: set("objectformat compatobjectformat refstorage worktreeconfig noop preciousobjects relativeworktrees"),
  remote: set("pushdefault"),
  user: set("name email signingkey useconfigonly"),
  author: set("name email"),
  committer: set("name email"),
  init: set("defaultbranch defaultobjectformat defaultrefformat"),
  pull: set("rebase ff"),
  push: set("default followtags autosetupremote recursesubmodules useforceifincludes"),
  fetch: set("prune prunetags fsckobjects parallel recursesubmodules writecommitgraph showforcedupdates"),
  merge: set("conflictstyle ff renames renamelimit log stat verbosity directoryrenames branchdesc"),
  rebase: set("autostash autosquash updaterefs stat rebasemerges abbreviatecommands missingcommitscheck forkpoint"),
  commit: set("gpgsign verbose status cleanup"),
  tag: set("gpgsign forcesignannotated"),
  gpg: set("format mintrustlevel"),
  status: set(
    "showuntrackedfiles short branch relativepaths showstash aheadbehind renames renamelimit displaycommentprefix",
  ),
  diff: set(`algorithm renames renamelimit mnemonicprefix noprefix colormoved colormovedws context interhunkcontext
    indentheuristic wserrorhighlight statgraphwidth statnamewidth suppressblankempty dirstat relative autorefreshindex
    ignoresubmodules srcprefix dstprefix`),
  log: set(
    "date decorate abbrevcommit follow showroot mailmap initialdecorationset excludedecoration graphcolors diffmerges",
  ),
  blame: set("blankboundary coloring date showemail showroot markunblamablelines markignoredlines"),
  grep: set("linenumber column patterntype extendedregexp threads fullname"),
  gc: set(`auto autodetach autopacklimit aggressivedepth aggressivewindow bigpackthreshold packrefs pruneexpire worktreepruneexpire
    reflogexpire reflogexpireunreachable writecommitgraph cruftpacks`),
  pack: set("threads window depth windowmemory compression packsizelimit writebitmaps usebitmaps usesparse"),
  repack: set("writebitmaps usedeltabaseoffset"),
  index: set("version threads sparse recordendofindexentries recordoffsettable skiphash"),
  feature: set("manyfiles experimental"),
  maintenance: set("auto autodetach strategy"),
  rerere: set("enabled autoupdate"),
  stash: set("showpatch showstat showincludeuntracked"),
  apply: set("whitespace ignorewhitespace"),
  checkout: set("defaultremote guess workers thresholdforparallelism"),
  clean: set("requireforce"),
  worktree: set("guessremote userelativepaths"),
  help: set("autocorrect format"),
  i18n: set("commitencoding logoutputencoding"),
  notes: set("displayref rewriteref rewritemode mergestrategy"),
  receive: set("denycurrentbranch denynonfastforwards denydeletes fsckobjects advertiseatomic"),
  transfer: set("fsckobjects hiderefs unpacklimit"),
  http: set("postbuffer version extraheader lowspeedlimit lowspeedtime"),
  credential: set("username usehttppath"),
  protocol: set("version"),
  submodule: set("active recurse fetchjobs propagatebranches"),
  column: set("ui branch status tag"),
  lfs: set("repositoryformatversion locksverify"),
  gui: set("wmstate geometry displayuntracked"),
  hub: set("protocol"),
  github: set("user"),
  "oh-my-zsh": set("hide-status hide-dirty hide-info"),
};

/** Keys by section, for sections with a name in quotes. */
const NAMED: Readonly<Record<string, ReadonlySet<string>>> = {
  remote: set(
    "url fetch pushurl push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved followremotehead",
  ),
  branch: set(
    "remote merge rebase pushremote description autosetuprebase vscode-merge-base gh-merge-base github-pr-owner-number",
  ),
  submodule: set("url active branch ignore fetchrecursesubmodules shallow"),
  url: set("insteadof pushinsteadof"),
  http: set("extraheader postbuffer version"),
  lfs: set("access locksverify"),
  diff: set("xfuncname funcname wordregex binary algorithm"),
  merge: set("name recursive"),
  gitflow: set("master develop main feature bugfix release hotfix support versiontag"),
};

const MENTIONING = set("safe.directory maintenance.repo scalar.repo gui.recentrepo lfs.url lfs.pushurl");

/** Any key, if the value is a switch. */
const SWITCHES = set("advice pager");

const VALUES: Readonly<Record<string, RegExp>> = {
  "core.fsmonitor": SWITCH,
  "tag.sort": SORT_ORDER,
  "branch.sort": SORT_ORDER,
  "diff.submodule": /^(short|log)$/,
  "status.submodulesummary": /^(false|no|off|0)$/i,
  "log.showsignature": /^(false|no|off|0)$/i,
};

export function kindOfSetting({ name, value }: GitSetting): SettingKind {
  const { section, middle, key } = partsOf(name);
  if (name === "core.worktree") return "placing";
  if (name === "core.hookspath") return "hooks";
  if (name === "extensions.partialclone") return "fetching";
  if (MENTIONING.has(name)) return "mentioning";
  if (section === "remote" && middle !== undefined && (key === "promisor" || key === "partialclonefilter"))
    return "fetching";
  return isHarmless({ section, middle, key }, { name, value }) ? "harmless" : "unknown";
}

function isHarmless({ section, middle, key }: NameParts, { name, value }: GitSetting): boolean {
  if (section === "color") return true;
  if (middle !== undefined) {
    if (section === "submodule" && key === "update") return /^(checkout|rebase|merge|none)$/.test(value);
    return Object.hasOwn(NAMED, section) && NAMED[section]?.has(key) === true;
  }
  if (SWITCHES.has(section)) return SWITCH.test(value);
  if (Object.hasOwn(VALUES, name)) return VALUES[name]?.test(value) === true;
  return Object.hasOwn(PLAIN, section) && PLAIN[section]?.has(key) === true;
}

interface NameParts {
  readonly section: string;
  /** The part in quotes; it may hold dots. */
  readonly middle: string | undefined;
  readonly key: string;
}

export function partsOf(name: string): NameParts {
  const first = name.indexOf(".");
  const last = name.lastIndexOf(".");
  const middle = first === last ? undefined : name.slice(first + 1, last);
  return { section: name.slice(0, first).toLowerCase(), middle, key: name.slice(last + 1).toLowerCase() };
}
