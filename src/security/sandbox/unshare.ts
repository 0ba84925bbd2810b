/**
 * The same sandbox without bubblewrap, made with `unshare`, `mount`, `pivot_root` and `setpriv` of util-linux. It takes bubblewrap's words for
 * the mounts. It has no system-call filter: the limit on user namespaces, a session of its own, and hidden sockets do a part of that.
 *
 * 1. Everything is mounted below a folder of Oxbow's, then that becomes the root and the old one goes.
 * 2. The namespace in which this is done allows one more, and the command gets that: there the user has no capability and can make no other.
 * 3. `unshare` dies with Oxbow, and with it the first process of the sandbox and all others.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_PATH } from "../../base/system-path.js";

export interface UnshareParts {
  /** Where `unshare` and `setpriv` are; the others are found on the system's path. */
  readonly program: string;
  readonly setpriv: string;
  /** Oxbow's own folder for the sandbox. */
  readonly folder: string;
  readonly network: "own" | "outer";
  /** Words of bubblewrap that say what is mounted. */
  readonly mounts: readonly string[];
  /** Files that only cover others: where there is nothing (any more), nothing is covered. */
  readonly covers: readonly string[];
  readonly cwd: string;
}

/** Names what each needs besides `unshare`. */
export const UTIL_LINUX: readonly string[] = ["mount", "umount", "pivot_root", "setpriv", "setsid"];

export const LOOPBACK = "ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || :";

const BUILD = `path=$PATH
PATH=${SYSTEM_PATH}
root=$1 user=$2 group=$3 folder=$4 network=$5
shift 5
# The first process writes the map of its user there.
own=
fail() { echo "oxbow: the sandbox cannot be made: $1" >&2; exit 125; }
shut() {
  while read -r _ _ _ _ at options _; do
    case $at in *\\\\*) case $at in *%*) fail "$at has an odd name" ;; esac; at=$(printf "$at") ;; esac
    case $at in
    "$own") ;;
    "$1" | "$1"/*) case $options in rw*) mount -o "remount,bind,ro\${options#rw}" "$at" || fail "$at stays writable" ;; esac ;;
    esac
  done </proc/self/mountinfo
}
place() {
  [ -e "$root$2" ] && return
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root\${2%/*}" && : >"$root$2"; fi || fail "$2 cannot be made"
}
cover() {
  [ -e "$root$2" ] || return
  mount --bind "$1" "$root$2" 2>&- || { [ -e "$root$2" ] && fail "$2 cannot be covered"; }
}
bind() { place "$1" "$2"; mount --rbind "$1" "$root$2" || fail "$2 cannot be mounted"; }
[ "$network" = outer ] || { ${LOOPBACK}; }
echo 1 >/proc/sys/user/max_user_namespaces || fail "the number of user namespaces cannot be limited"
mount --rbind / "$root" || fail "the root cannot be mounted"
while [ "$1" != -- ]; do
  case $1 in
  --perms) perms=$2 ;;
  --size) size=$2 ;;
  --tmpfs)
    place / "$2"
    mount -t tmpfs -o "nosuid,nodev,mode=\${perms:-0755}\${size:+,size=$size}" oxbow "$root$2" || fail "$2 cannot be mounted"
    perms= size= ;;
  --dev)
    mount -t tmpfs -o nosuid,mode=0755 oxbow "$root/dev" || fail "/dev cannot be mounted"
    for each in null zero full random urandom tty; do bind "/dev/$each" "/dev/$each"; done
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,nosuid,noexec devpts "$root/dev/pts" || fail "/dev/pts cannot be mounted"
    for each in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${each%:*}" "$root/dev/\${each#*:}"; done
    ln -s /proc/self/fd "$root/dev/fd"; ln -s pts/ptmx "$root/dev/ptmx" ;;
  --proc) mount -t proc -o nosuid,nodev,noexec proc "$root/proc" || fail "/proc cannot be mounted" ;;
  --remount-ro) mount --bind "$root$2/1" "$root$2/1" && own=$root$2/1 && shut "$root$2" ;;
  --bind) bind "$2" "$3"; shift ;;
  --ro-bind) if [ "$3" = / ]; then shut "$root"; else bind "$2" "$3"; shut "$root$3"; fi; shift ;;
  --cover) cover "$2" "$3"; shut "$root$3"; shift ;;
  *) fail "$1 is not known" ;;
  esac
  shift 2
done
shift
mkdir "$root/run/oxbow-old" && cd "$root" && pivot_root . run/oxbow-old && cd / || fail "the root cannot be changed"
umount -l /run/oxbow-old && rmdir /run/oxbow-old && cd "$folder" || fail "the old root stays"
drop=
[ "$user" != 0 ] || drop="--bounding-set=-all --inh-caps=-all"
exec setsid unshare --user --map-user="$user" --map-group="$group" -- setpriv --pdeathsig KILL --no-new-privs $drop -- env PATH="$path" "$@"`;

/** The words in front of the first process of the sandbox. */
export function unshareWords(parts: UnshareParts): readonly string[] {
  const { program, setpriv, folder, network, cwd, covers } = parts;
  const mounts = parts.mounts.map((word, at, all) =>
    word === "--ro-bind" && covers.includes(all[at + 1] ?? "") ? "--cover" : word,
  );
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const own = "--user --map-root-user --mount --pid --ipc --fork --kill-child=KILL".split(" ");
  const user = [String(process.getuid?.() ?? 0), String(process.getgid?.() ?? 0)];
  return [
    ...[setpriv, "--pdeathsig", "KILL", "--", program, ...own, ...(network === "own" ? ["--net"] : []), "--"],
    ...["/bin/sh", "-c", BUILD, "sandbox", root, ...user, cwd, network, ...mounts, "--"],
  ];
}
