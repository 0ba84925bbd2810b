/**
 * The operating system's errors in words that say what to do. Node writes them as `ENOSPC: no space left on device, open '/path'`, and
 * messages quote them; this finds them wherever they stand.
 */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Free some space, and try again",
  EDQUOT: "your disk quota is used up. Free some space, and try again",
  EFBIG: "the system does not allow such a large file. Raise the limit ('ulimit -f')",
  EROFS: "the disk is read-only. Make it writable, or use a folder on another disk",
  EACCES: "you have no permission. Check the owner and the mode of the file and of its folder",
  EPERM: "the system does not allow it. Check the owner and the mode of the file and of its folder",
  ENOENT: "it does not exist. Check the path",
  ENOTDIR: "a part of its path is a file and should be a folder. Move that file away",
  EISDIR: "it is a folder and should be a file. Move it away, or give another path",
  EEXIST: "it exists already. Move it away, or give another path",
  ENOTEMPTY: "the folder is not empty. Empty it, or give another path",
  ELOOP: "it is a link that leads nowhere or should be a file. Replace the link",
  ENAMETOOLONG: "its name is too long. Use a shorter path",
  EBUSY: "another program uses it. End that program, and try again",
  ETXTBSY: "it is a program that is running. End it, and try again",
  EXDEV: "it is on another disk. Use a folder on the same disk",
  EIO: "the disk reports an error. Check the disk",
  EMFILE: "too many files are open. Raise the limit ('ulimit -n 1024'), or close other programs",
  ENFILE: "too many files are open on this machine. Close other programs",
};

type Access = (path: string, mode: number) => void;

interface Failed {
  readonly call: string;
  readonly path: string | undefined;
  readonly access: Access;
}

/** Node says of a folder that it cannot make on a read-only disk, or without permission, that it does not exist. */
function codeOf(code: string, { call, path, access }: Failed): string {
  if (code !== "ENOENT" || call !== "mkdir" || path === undefined) return code;
  try {
    let at = dirname(path);
    while (!existsSync(at) && at !== dirname(at)) at = dirname(at);
    access(at, constants.W_OK);
    return code;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? code;
  }
}

const RAW = /\b(E[A-Z]{2,12}): [a-z][^,'\n]*, ([a-z_]+)(?: '([^'\n]*)')?(?: -> '([^'\n]*)')?\.?/g;

/** The message with these errors in words. An error that is not about a file stays as it is. */
export function inWords(message: string, access: Access = accessSync): string {
  return message.replace(RAW, (raw: string, code: string, call: string, path?: string, to?: string, at = 0) => {
    const words = WORDS[codeOf(code, { call, path, access })];
    if (words === undefined) return raw;
    const before = message.slice(0, Number(at));
    // A message of its own says what could not be used; one that quotes the error has said it.
    const named = to ?? path;
    const what = named === undefined && call === "write" ? "write a file" : `use ${named ?? "a file"}`;
    const subject = before.trim() === "" ? `Oxbow cannot ${what}: ` : "";
    const isNamed = named === undefined || before.includes(named.slice(0, Math.max(1, named.lastIndexOf("/"))));
    const where = subject === "" && !isNamed ? ` (${named})` : "";
    return `${subject}${where === "" ? words : withPlace(words, where)}.`;
  });
}

/** The place belongs to what is wrong, not to the advice. */
function withPlace(words: string, where: string): string {
  const end = words.indexOf(". ");
  return `${words.slice(0, end)}${where}${words.slice(end)}`;
}
