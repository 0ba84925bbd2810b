/** The package as npm would publish it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Relative to the package. */
function packedFiles(): readonly string[] {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--silent"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64_000_000,
  });
  // Newer versions of npm print an object by package name.
  const [{ files }] = Object.values(JSON.parse(output)) as [{ readonly files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path);
}

const LINK = /\]\(([^()\s]+)(?: "[^"]*")?\)|^\[[^\]]+\]: (\S+)$|(?:href|src)="([^"]+)"/gm;

interface Link {
  readonly from: string;
  readonly to: string;
  readonly fragment: string | undefined;
}

/** Links between the files; those to other sites are not followed. */
function linksOf(from: string): readonly Link[] {
  const text = readFileSync(join(ROOT, from), "utf8").replace(/^```.*?^```/gms, "");
  return [...text.matchAll(LINK)].flatMap(([, inline, reference, attribute]) => {
    const [path = "", fragment] = (inline ?? reference ?? attribute ?? "").split("#");
    if (/^[a-z]+:/.test(path)) return [];
    return [{ from, to: path === "" ? from : join(dirname(from), path), fragment }];
  });
}

/** As GitHub makes them from headings. */
function anchorsOf(file: string): readonly string[] {
  const headings = readFileSync(join(ROOT, file), "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it("has every file that its documents link to", () => {
  const files = packedFiles();
  const places = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));
  const links = files.filter((file) => file.endsWith(".md")).flatMap(linksOf);
  expect(links.length).toBeGreaterThan(100);
  const dead = links.filter(
    ({ to, fragment }) =>
      !places.has(to.replace(/\/$/, "")) || (fragment !== undefined && !anchorsOf(to).includes(fragment)),
  );
  expect(dead).toEqual([]);
});

function foldersOf(file: string): readonly string[] {
  const folder = dirname(file);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}

it("says where it comes from", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { repository, homepage, bugs, keywords, author, license } = manifest;
  expect({ homepage, bugs, author, license }).toEqual({
    homepage: expect.stringMatching(/^https:\/\//),
    bugs: expect.stringMatching(/^https:\/\/.*\/issues$/),
    author: expect.any(String),
    license: "MIT",
  });
  expect(repository).toEqual({ type: "git", url: expect.stringMatching(/^git\+https:\/\/.*\.git$/) });
  expect(keywords.length).toBeGreaterThan(3);
});
