/** Programs that look at files and folders. */
import type { ProgramTable } from "./rules.js";

const FD = {
  flags:
    "-H -I -u -s -i -g -F -a -L -p -0 -1 -q --hidden --no-ignore --unrestricted --case-sensitive --ignore-case " +
    "--glob --regex --fixed-strings --absolute-path --follow --full-path --print0 --quiet",
  valued:
    "-d -E -t -e -S -c --max-depth --min-depth --exact-depth --exclude --type --extension --size --color --max-results",
  operands: "pattern, files",
} as const;

export const FILE_PROGRAMS: ProgramTable = {
  ls: {
    flags:
      "-1 -a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z --all " +
      "--almost-all --author --escape --directory --classify --file-type --full-time --group-directories-first --no-group " +
      "--human-readable --si --inode --kibibytes --dereference --numeric-uid-gid --literal --quote-name --reverse " +
      "--recursive --size --zero --color",
    valued: "--ignore --hide --width --tabsize",
    optional: "--color --format --sort --time --time-style --indicator-style --quoting-style --classify --block-size",
    globs: true,
  },
  // Listing a folder by name is left out: joined letters take their values from the words that follow, a file to write among them.
  tree: {
    flags: "-a -d -f -i -l -p -s -h -u -g -D -F -r -t -c -C -n -J -X --dirsfirst --noreport --du --gitignore --prune",
    valued: "-L -P -I --filelimit",
    operands: "none",
  },
  pwd: { flags: "-L -P --logical --physical", operands: "none" },
  cd: { flags: "-L -P", minimum: 1, maximum: 1 },
  stat: {
    flags: "-L -f -t -x -s --dereference --file-system --terse",
    valued: "-c --format --printf",
    minimum: 1,
    globs: true,
  },
  file: {
    flags: "-b -i -I -k -L -h -N -0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference",
    minimum: 1,
  },
  realpath: {
    flags:
      "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --zero",
    files: "--relative-to --relative-base",
    minimum: 1,
  },
  readlink: {
    flags: "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
    minimum: 1,
  },
  du: {
    flags:
      "-a -b -c -D -h -H -k -l -L -m -P -s -S -x -0 --all --apparent-size --bytes --total --human-readable --si " +
      "--summarize --separate-dirs --one-file-system --inodes",
    valued: "-d --max-depth --exclude --threshold -B --block-size",
    globs: true,
  },
  df: {
    flags: "-a -h -H -i -k -l -P -T --all --human-readable --si --inodes --local --portability --print-type --total",
    valued: "-t -x --type --exclude-type",
    operands: "none",
  },
  find: { check: "find", unlike: true },
  fd: FD,
  fdfind: FD,
  rg: {
    flags:
      "-i -S -s -v -w -x -c -l -n -N -H -I -o -q -F -P -U -a -0 -. -L -p -u -h --ignore-case --smart-case " +
      "--case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches " +
      "--files-without-match --line-number --no-line-number --with-filename --no-filename --only-matching --quiet " +
      "--fixed-strings --pcre2 --multiline --multiline-dotall --text --null --hidden --follow --pretty --unrestricted " +
      "--heading --no-heading --files --column --no-ignore --no-ignore-vcs --json --stats --trim --vimgrep --no-messages " +
      "--type-list --no-config --sort-files --one-file-system --crlf --passthru --version",
    valued:
      "-e -g -t -T -A -B -C -m -r -j -M -d -E --regexp --glob --iglob --type --type-not --after-context --before-context " +
      "--context --max-count --replace --threads --max-columns --max-depth --color --colors --sort --sortr --encoding " +
      "--max-filesize --context-separator --engine",
    files: "-f --file --ignore-file",
    operands: "pattern, files",
    patterns: "-e -f --regexp --file --files --type-list",
  },
  readelf: { flags: "-a -h -l -S -s -e -n -r -u -d -V -A -I -W --all --headers --dynamic --wide", minimum: 1 },
  nm: { flags: "-a -A -C -D -g -n -o -r -S -u --demangle --dynamic --defined-only --undefined-only", minimum: 1 },
  size: { flags: "-A -B -d -o -x -t", minimum: 1 },
  gzip: { flags: "-l -v -t --list --verbose --test", required: "-l -t --list --test", minimum: 1 },
  unzip: { flags: "-l -v -Z -1 -q", required: "-l -v -Z", minimum: 1, maximum: 1 },
  zipinfo: { flags: "-1 -l -m -s -v -h -t", minimum: 1, maximum: 1 },
  tar: { check: "tar", unlike: true },
};
