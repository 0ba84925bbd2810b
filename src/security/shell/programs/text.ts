/** Programs that turn text into text. */
import type { ProgramTable } from "./rules.js";

const CHECKSUM = { flags: "-b -t -z --binary --text --tag --zero", globs: true } as const;
const GREP = {
  flags:
    "-E -F -G -P -i -v -w -x -c -l -L -n -H -h -o -q -s -r -R -a -I -b -z -Z -y --extended-regexp --fixed-strings " +
    "--basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count " +
    "--files-with-matches --files-without-match --line-number --with-filename --no-filename --only-matching --quiet " +
    "--silent --no-messages --recursive --dereference-recursive --text --byte-offset --null --null-data --color --colour " +
    "--initial-tab --line-buffered",
  valued:
    "-e -m -A -B -C -d -D --regexp --max-count --after-context --before-context --include --exclude " +
    "--exclude-dir --label --binary-files --directories --devices --group-separator",
  files: "-f --file --exclude-from",
  optional: "--color --colour --context",
  count: true,
  operands: "pattern, files",
  patterns: "-e -f --regexp --file",
  minimum: 1,
  globs: true,
} as const;

export const TEXT_PROGRAMS: ProgramTable = {
  echo: { anyText: true },
  printf: { check: "printf", anyText: true },
  true: { anyText: true },
  false: { anyText: true },
  ":": { anyText: true },
  expr: { anyText: true },
  basename: { flags: "-a -z --multiple --zero", valued: "-s --suffix", operands: "text" },
  dirname: { flags: "-z --zero", operands: "text" },
  seq: { flags: "-w --equal-width", valued: "-f -s --format --separator", operands: "text", maximum: 3 },
  numfmt: {
    flags: "--grouping --header -z --zero-terminated",
    valued: "-d --delimiter --field --format --from --from-unit --invalid --padding --round --suffix --to --to-unit",
    operands: "text",
  },
  factor: { operands: "text" },
  cat: {
    flags:
      "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs " +
      "--show-nonprinting",
    globs: true,
  },
  tac: { flags: "-b -r --before --regex", valued: "-s --separator", globs: true },
  rev: { globs: true },
  nl: {
    flags: "-p --no-renumber",
    valued:
      "-b -d -f -h -i -l -n -s -v -w --body-numbering --section-delimiter --footer-numbering --header-numbering " +
      "--line-increment --join-blank-lines --number-format --number-separator --starting-line-number --number-width",
    globs: true,
  },
  head: {
    flags: "-q -v -z --quiet --silent --verbose --zero-terminated",
    valued: "-n -c --lines --bytes",
    count: true,
    globs: true,
  },
  tail: {
    flags: "-f -F -q -v -z -r --follow --retry --quiet --silent --verbose --zero-terminated",
    valued: "-n -c -s --lines --bytes --pid --sleep-interval",
    optional: "--follow",
    count: true,
    globs: true,
  },
  wc: {
    flags: "-c -m -l -w -L --bytes --chars --lines --words --max-line-length",
    optional: "--total",
    globs: true,
  },
  cut: {
    flags: "-s -z -n --only-delimited --complement --zero-terminated",
    valued: "-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter",
    globs: true,
  },
  paste: { flags: "-s -z --serial --zero-terminated", valued: "-d --delimiters", globs: true },
  tr: {
    flags: "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
    operands: "text",
    minimum: 1,
    maximum: 2,
  },
  fold: { flags: "-b -s --bytes --spaces", valued: "-w --width", globs: true },
  fmt: { flags: "-c -s -t -u --split-only --uniform-spacing", valued: "-w -g --width --goal", globs: true },
  expand: { flags: "-i --initial", valued: "-t --tabs", globs: true },
  unexpand: { flags: "-a --all --first-only", valued: "-t --tabs", globs: true },
  column: { flags: "-t --table -x --fillrows", valued: "-s -c --separator --output-separator", globs: true },
  comm: {
    flags: "-1 -2 -3 -z --check-order --nocheck-order --total --zero-terminated",
    valued: "--output-delimiter",
    minimum: 2,
    maximum: 2,
  },
  join: {
    flags: "-i -z --ignore-case --header --check-order --nocheck-order --zero-terminated",
    valued: "-a -e -j -o -t -v -1 -2",
    minimum: 2,
    maximum: 2,
  },
  // Both write a file with one more option or operand, so they read only words that are certainly the name of one file: those with an extension.
  sort: {
    flags:
      "-b -d -f -g -h -i -M -n -R -r -s -u -V -z -c -C --ignore-leading-blanks --dictionary-order --ignore-case " +
      "--general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --random-sort " +
      "--reverse --stable --unique --version-sort --zero-terminated",
    valued: "-k -t --key --field-separator --parallel",
    maximum: 1,
    check: "named-file",
  },
  uniq: {
    flags: "-c -d -D -i -u -z --count --repeated --ignore-case --unique --zero-terminated",
    valued: "-f -s -w --skip-chars --check-chars --skip-fields",
    maximum: 1,
    check: "named-file",
  },
  shuf: { flags: "-r -z --repeat --zero-terminated", valued: "-n -i --head-count --input-range", maximum: 1 },
  tsort: { maximum: 1 },
  iconv: {
    flags: "-c -l -s --list --silent",
    valued: "-f -t --from-code --to-code",
  },
  bc: { flags: "-l -q -s --mathlib --quiet --standard", operands: "none" },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  sed: {
    flags: "-n -E -r -s -u -z --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix",
    valued: "-e --expression",
    operands: "checked",
    check: "sed",
  },
  awk: { valued: "-F -v --field-separator --assign", operands: "checked", check: "awk" },
  jq: {
    flags:
      "-r -c -n -s -S -e -a -j -M -C -R --raw-output --compact-output --null-input --slurp --sort-keys --exit-status " +
      "--ascii-output --join-output --monochrome-output --color-output --raw-input --tab",
    valued: "--indent",
    operands: "pattern, files",
    minimum: 1,
    check: "jq",
  },
  yq: {
    flags: "-r -e -M -C -P -N --raw-output --exit-status --no-colors --colors --no-doc",
    operands: "pattern, files",
    minimum: 1,
    check: "yq",
  },
  base64: { flags: "-d -D -i --decode --ignore-garbage", valued: "-w -b --wrap --break", maximum: 1 },
  base32: { flags: "-d -i --decode --ignore-garbage", valued: "-w --wrap", maximum: 1 },
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  shasum: { flags: "-b -t --binary --text", valued: "-a --algorithm", globs: true },
  cksum: { globs: true },
  sum: { flags: "-r -s --sysv", globs: true },
  od: {
    flags: "-b -c -d -o -s -x -v",
    valued: "-A -j -N -t --address-radix --skip-bytes --read-bytes --format",
    globs: true,
  },
  hexdump: { flags: "-b -c -C -d -o -x -v", valued: "-n -s", globs: true },
  xxd: { flags: "-a -b -e -i -p -u", valued: "-c -g -l -s", maximum: 1 },
  strings: { flags: "-a -f --all --print-file-name", valued: "-n -t -e --bytes --radix --encoding", globs: true },
  zcat: { minimum: 1 },
  bzcat: { minimum: 1 },
  xzcat: { minimum: 1 },
  zstdcat: { minimum: 1 },
  diff: {
    flags:
      "-u -c -r -q -s -N -w -b -B -i -a -d -y -e -n -E -Z -t -T --brief --recursive --ignore-case --ignore-all-space " +
      "--ignore-space-change --ignore-blank-lines --text --minimal --side-by-side --report-identical-files --new-file " +
      "--unified --context --color --suppress-common-lines --strip-trailing-cr --no-dereference --normal",
    valued: "-U -C -W --width --label --exclude -x -I --ignore-matching-lines",
    optional: "--color --unified --context",
    minimum: 2,
    maximum: 2,
  },
  diff3: { flags: "-a -A -e -E -m -T -x -X -3 -i --text --merge", minimum: 3, maximum: 3 },
  cmp: {
    flags: "-b -l -s --print-bytes --verbose --quiet --silent",
    valued: "-i -n --ignore-initial --bytes",
    minimum: 2,
    maximum: 2,
  },
};
