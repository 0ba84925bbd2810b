/**
 * Markdown as elements. The lexer of the terminal client reads it; nothing of it ever becomes markup, and nothing is loaded from another
 * host: an image is its description and its address.
 */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import { safeText } from "../../../base/terminal-text.js";
import { Code } from "./code.js";

interface Lexed {
  readonly source: string;
  readonly tokens: readonly Token[];
  /** How much of the source these tokens of it cover: they stay as they are, whatever follows. */
  readonly settled: number;
  readonly length: number;
}

const NOTHING: Lexed = { source: "", tokens: [], settled: 0, length: 0 };

/** While an answer grows, only its end is read again. */
function lexed(text: string, before: Lexed): Lexed {
  if (text === before.source) return before;
  const grows = text.startsWith(before.source) && before.settled > 0;
  const kept = grows ? before.tokens.slice(0, before.settled) : [];
  const from = grows ? before.length : 0;
  const fresh = new Lexer({ gfm: true }).lex(text.slice(from)) as Token[];
  const tokens = [...kept, ...fresh];
  // What follows can still change the last block, and join it with the one before.
  const solid = fresh.findLastIndex(({ type }) => type !== "space");
  const count = Math.max(0, solid - 1);
  const covered = fresh.slice(0, count).reduce((sum, { raw }) => sum + raw.length, 0);
  return { source: text, tokens, settled: kept.length + count, length: from + covered };
}

export function Markdown({ text }: { readonly text: string }) {
  const before = useRef(NOTHING);
  before.current = lexed(safeText(text), before.current);
  return (
    <div class="prose">
      {before.current.tokens.map((token, index) => (
        <Block key={index} token={token as MarkedToken} />
      ))}
    </div>
  );
}

const Block = memo(({ token }: { readonly token: MarkedToken }) => block(token));

function block(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case "heading": {
      // The answer stands below the headings of the page.
      const Name = `h${Math.min(6, token.depth + 2)}` as "h3";
      return <Name class={`h${token.depth}`}>{inline(token.tokens)}</Name>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return token.tokens === undefined ? unescaped(token.text) : inline(token.tokens);
    case "code":
      return <Code text={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "list": {
      const items = token.items.map((item, index) => <ListItem key={index} item={item} />);
      if (!token.ordered) return <ul>{items}</ul>;
      return <ol start={token.start === "" ? 1 : token.start}>{items}</ol>;
    }
    case "table":
      return <Table token={token} />;
    case "hr":
      return <hr />;
    case "html":
      return <p class="raw">{token.raw.trimEnd()}</p>;
    case "space":
    case "def":
      return null;
    default:
      return <p>{token.raw}</p>;
  }
}

function blocks(tokens: readonly Token[] = []): ComponentChildren {
  return tokens.map((token, index) => <Block key={index} token={token as MarkedToken} />);
}

function ListItem({ item }: { readonly item: Tokens.ListItem }) {
  const box = item.task ? <span class="box">{item.checked ? "☑" : "☐"} </span> : null;
  return (
    <li class={item.task ? "task" : undefined}>
      {box}
      {blocks(item.tokens.filter(({ type }) => type !== "checkbox"))}
    </li>
  );
}

function Table({ token }: { readonly token: Tokens.Table }) {
  const cell = ({ tokens, align }: Tokens.TableCell) => ({ class: align ?? undefined, children: inline(tokens) });
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="table">
      <table>
        <thead>
          <tr>
            {token.header.map((head, index) => (
              <th key={index} scope="col" {...cell(head)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((each, at) => (
                <td key={at} {...cell(each)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] = []): ComponentChildren {
  return tokens.map((token, index) => inlineToken(token as MarkedToken, index));
}

function inlineToken(token: MarkedToken, key: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inline(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inline(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inline(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{token.text}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return (
        <Link key={key} href={token.href}>
          {inline(token.tokens)}
        </Link>
      );
    case "image":
      return (
        <Link key={key} href={token.href}>
          {`image: ${token.text === "" ? token.href : token.text}`}
        </Link>
      );
    case "escape":
      return token.text;
    case "text":
      return token.tokens === undefined ? unescaped(token.text) : inline(token.tokens);
    default:
      return token.raw;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: "\u00a0",
};

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** Only addresses of the web and of mail are links, and the whole address shows. */
export function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return <span title={href}>{children}</span>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
