import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../test/support/thorough.js";
import { htmlToMarkdown } from "./html-to-markdown.js";

const PAGE = new URL("https://docs.example/guide/start.html");
const convert = (html: string, format: "markdown" | "text" = "markdown") =>
  htmlToMarkdown(html, { url: PAGE, format }).text;

describe("running text", () => {
  it("collapses white space and keeps marks tight to the words", () => {
    expect(convert("<p>One <b> two </b>\n three<i>four</i> <em></em><strong><b>five</b></strong>.</p>")).toBe(
      "One **two** three*four* **five**.",
    );
    expect(convert("a<br>b<br><br>c<wbr>d so\u00adft")).toBe("a\nb\n\ncd soft");
    expect(convert("<del>x</del> <q>said</q> 10<sup>3</sup> H<sub>2</sub>O")).toBe('~~x~~ "said" 10^3 H2O');
  });

  it("reads character references, also the careless ones", () => {
    expect(
      convert("&lt;p&gt; &amp;amp; caf&eacute; &#8364; &#x1F600; &#150; &copy 2020 &nope; &#0; &#xD800; a&b"),
    ).toBe("<p> &amp; café € 😀 – © 2020 &nope; \ufffd \ufffd a&b");
  });

  it("writes code so that it differs from text", () => {
    expect(convert("<code>a  b</code><code>`x`</code> <kbd>Ctrl</kbd>")).toBe("`a b``` `x` `` `Ctrl`");
  });

  it("makes links absolute and leaves out those that lead nowhere", () => {
    const html =
      '<a href="../api?a=1&copy=2">up</a> <a href="#x">here</a> <a href="javascript:go()">js</a> <a href="//cdn.example/f(1)">cdn</a> ' +
      '<a href="mailto:a@b.example">mail</a> <a>bare</a> <a href="/x"></a><a href="/i"><img alt="Logo"></a>';
    expect(convert(html)).toBe(
      "[up](https://docs.example/api?a=1&copy=2) here js [cdn](https://cdn.example/f%281%29) " +
        "[mail](mailto:a@b.example) bare [[image: Logo]](https://docs.example/i)",
    );
    expect(convert('<base href="https://other.example/a/"><a href="b">x</a>')).toBe("[x](https://other.example/a/b)");
  });

  it("shows images by their description", () => {
    expect(convert('<img src="a.png" alt=" A  tree "> <img src="pixel.gif"> <img alt="">')).toBe("[image: A tree]");
  });
});

describe("blocks", () => {
  it("writes headings without the signs that link to them", () => {
    expect(
      convert('<h1>A<a class="headerlink" href="#a">¶</a></h1><h3>B <a href="#b">#</a></h3><h2></h2><h2>C<br>D</h2>'),
    ).toBe("# A\n\n### B\n\n## C D");
  });

  it("nests lists, with their numbers and boxes, also when end tags are missing", () => {
    const html =
      "<ul><li>a<li>b<ol start=9><li>x<li><p>y</p><p>z</p></ol><li><input type=checkbox checked> done<li><input type='checkbox'>open</ul>after";
    expect(convert(html)).toBe("- a\n- b\n  9. x\n  10. y\n\n      z\n- [x] done\n- [ ] open\n\nafter");
  });

  it("quotes", () => {
    expect(convert("<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d")).toBe("> a\n>\n> b\n>\n> - c\n\nd");
  });

  it("keeps preformatted text as it is, with its language and a fence that holds", () => {
    expect(convert('<pre><code class="hljs language-ts">\nif (a &lt; b) {\n  go();\n}\n</code></pre>')).toBe(
      "```ts\nif (a < b) {\n  go();\n}\n```",
    );
    expect(
      convert('<div class="highlight-python notranslate"><div class="highlight"><pre>x = 1</pre></div></div>'),
    ).toBe("```python\nx = 1\n```");
    expect(convert("<pre>a\n```\nb</pre>")).toBe("````\na\n```\nb\n````");
    expect(convert("<li><pre>a\n  b</pre></li>")).toBe("- ```\n  a\n    b\n  ```");
    expect(convert('<pre><span class="lineno">1</span>x<br>y</pre>')).toBe("```\nx\ny\n```");
  });

  it("writes tables, with cells that reach over others", () => {
    const html =
      "<table><caption>Cap</caption><thead><tr><th>A<th>B|C</thead><tr><td rowspan=2>1<td>x<br>y<tr><td><b>z</b>" +
      "<tr><td colspan=2>wide</table>";
    expect(convert(html)).toBe("Cap\n\n| A | B\\|C |\n| --- | --- |\n| 1 | x y |\n|  | **z** |\n| wide |  |");
    expect(convert("<table><tr><td>a</td><td>b</td></tr></table>")).toBe("|  |  |\n| --- | --- |\n| a | b |");
  });

  it("unfolds tables that only arrange the page", () => {
    expect(convert("<table><tr><td><h2>T</h2><p>a</td><td><ul><li>b</ul></td></tr></table>")).toBe("## T\n\na\n\n- b");
    expect(convert("<table role=presentation><tr><td>a<td>b</table>")).toBe("a\nb");
  });

  it("writes definitions and formulas", () => {
    expect(convert("<dl><dt>term<dd>meaning<dd><p>more</p><p>still</p></dl>x")).toBe(
      "term\n: meaning\n: more\n\n  still\n\nx",
    );
    expect(
      convert(
        '<math alttext="a^2"><mi>a</mi></math> <math><semantics><annotation encoding="application/x-tex">b</annotation></semantics></math>',
      ),
    ).toBe("$a^2$ $b$");
  });

  it("keeps the address of a link around blocks", () => {
    expect(convert('<a href="/card"><div><h3>Card</h3><p>About it</p></div></a>')).toBe(
      "### Card\n\nAbout it\n\nLink: https://docs.example/card",
    );
  });
});

describe("the main text", () => {
  const filler = "Some words that make this the main part of the page. ".repeat(6).trim();

  it("takes the main part and leaves menus, scripts and what is hidden", () => {
    const html = `<html><head><title> My &amp; page </title><style>p{}</style></head><body><header>Site<nav>menu</nav></header>
      <script>if (a<b) document.write("<p>no</p>")</script><aside>ad</aside>
      <main><nav>crumbs</nav><h1>T</h1><p>${filler}</p><svg><text>no</text></svg><p hidden>no<p style="DISPLAY : none">no
      <p style="font-size:0">no<p aria-hidden=true>no<p class="x sr-only">no<template>no</template><button>no</button></main>
      <footer>foot</footer></body></html>`;
    const page = htmlToMarkdown(html, { url: PAGE, format: "markdown" });
    expect(page).toEqual({ title: "My & page", text: `# T\n\n${filler}`, cut: false });
  });

  it("takes the whole page when its main part is next to empty", () => {
    expect(convert(`<main></main><div>${filler}</div><footer>foot</footer>`)).toBe(filler);
  });

  it("keeps what belongs to an article, and a header with the title", () => {
    expect(convert(`<article><header>By me</header><p>${filler}</p><footer>Notes</footer></article>`)).toBe(
      `By me\n\n${filler}\n\nNotes`,
    );
    expect(convert("<header><h1>Title</h1></header><p>text</p>")).toBe("# Title\n\ntext");
  });

  it("gives text alone when asked", () => {
    expect(
      convert("<h2>T</h2><p>a <b>b</b> <a href=/x>c</a> <code>d</code></p><pre>e\nf</pre><ul><li>g</ul>", "text"),
    ).toBe("T\n\na b c d\n\ne\nf\n\n- g");
  });
});

describe("malformed pages", () => {
  it("are read as browsers read them, where that matters", () => {
    expect(convert("<p>a<p>b</div></span></p>c<b>d<i>e</b>f")).toBe("a\n\nb\n\nc**d*e***f");
    expect(convert("a < b <3 <> </> <!bogus> <?php x ?> c")).toBe("a < b <3 <> c");
    expect(convert("x<!-- a -- b --> y <!--> z <!-- open")).toBe("x y z");
    expect(convert('<a href="x>y</a>never closed')).toBe("");
    expect(convert("<textarea><p>no</textarea><title><b>T</title>y")).toBe("y");
    expect(convert("<script><!-- <script> </script>after")).toBe("after");
    expect(convert("<head><title>t</title><p>body without a body")).toBe("body without a body");
    expect(convert("<![CDATA[x < y]]> z")).toBe("x < y z");
    expect(convert("</br>a</p>b")).toBe("a\n\nb");
  });

  it("never make it fail, and what comes out has no loose ends", () => {
    const names =
      "a b p div ul ol li table tr td th pre code h1 main nav blockquote dl dt dd br img script style svg br math q".split(
        " ",
      );
    const piece = fc.oneof(
      fc.constantFrom(...names).map((name) => `<${name}>`),
      fc.constantFrom(...names).map((name) => `</${name}>`),
      fc.constantFrom(
        "<a href='",
        '<a href="/x">',
        "<td colspan=3 rowspan=9>",
        "<!--",
        "-->",
        "<",
        ">",
        "&",
        "&#",
        "`",
        "|",
        "\n",
        " x ",
      ),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")),
        (html) => {
          const text = convert(html);
          expect(text).not.toMatch(/\n{4,}/);
          convert(html, "text");
        },
      ),
      { numRuns: times(400, 2000) },
    );
  });

  it("take time in proportion to their length, however they nest", () => {
    const size = 100_000;
    const units = [
      "<",
      "<a>",
      "<a href=x>y",
      "<div>",
      "<ul><li>",
      "<blockquote>x",
      "<!--",
      "<a b='",
      "<table><tr><td>",
      "&amp",
      "<i><div></i>",
      "<tr><td colspan=50 rowspan=50>x",
      "x<br>",
      "<script>",
      "<main>x</main>",
      "<article>",
      "<h1>",
      "<pre>x",
      "<![CDATA[",
      "<a href=q><div>",
      "<header>",
      "<math>",
      "<span> </span>",
      "<dl><dt><dd>",
      "<x-y>",
    ];
    for (const unit of units) {
      const page = htmlToMarkdown(`<table>${unit.repeat(size / unit.length)}`, { url: PAGE, format: "markdown" });
      expect([unit, page.text.length < size * 20]).toEqual([unit, true]);
    }
  }, 60_000);

  it("say that they were cut", () => {
    expect(htmlToMarkdown("<b>x</b>".repeat(300_000), { url: PAGE, format: "markdown" }).cut).toBe(true);
    const page = htmlToMarkdown(`<p>${"word ".repeat(1000)}`, { url: PAGE, format: "markdown", maxCharacters: 100 });
    expect(page.cut).toBe(true);
    expect(page.text).toHaveLength(100);
  });
});
