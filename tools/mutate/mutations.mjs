/** Lists the small changes of meaning that a source text allows: each is a range of the text and what replaces it. */
import { parseAst } from "rolldown/parseAst";

const OPERATORS = { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===", "+": "-", "-": "+" };
const METHODS = { some: "every", every: "some", min: "max", max: "min" };
/** Types and imports do not run. */
const STILL = /^(TS(?!As|Satisfies|NonNull)|Import(?!Expression)|ExportAll)/;
const TYPES = /^(type(Annotation|Arguments|Parameters)|returnType)$/;
/** Nothing but their effect is lost with them. */
const EFFECTS = /^(Expression|Return|Throw|Break|Continue)Statement$/;

/** Returns mutations, each `{ start, end, text, kind, line }`, in the order of the text. */
export function mutationsOf(source) {
  const found = [];
  const add = (kind, { start, end }, text) => {
    found.push({ start, end, text, kind, line: source.slice(0, start).split("\n").length });
  };
  const visit = (node, parent) => {
    if (typeof node?.type !== "string" || STILL.test(node.type)) return;
    mutate(node, parent, { source, add });
    for (const [name, value] of Object.entries(node)) {
      if (TYPES.test(name)) continue;
      for (const each of Array.isArray(value) ? value : [value]) visit(each, node);
    }
  };
  visit(parseAst(source, { lang: "ts" }), undefined);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

function mutate(node, parent, { source, add }) {
  const textOf = ({ start, end }) => `(${source.slice(start, end)})`;
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      add("negate a condition", node.test, `!${textOf(node.test)}`);
      if (node.type === "IfStatement" && node.alternate === null) add("drop a statement", node, "{}");
      return;
    case "LogicalExpression": {
      if (node.operator === "??") return;
      const [left, right] = [textOf(node.left), textOf(node.right)];
      add("swap && and ||", node, `(${left} ${node.operator === "&&" ? "||" : "&&"} ${right})`);
      for (const operand of [left, right]) add("drop an operand", node, operand);
      return;
    }
    case "BinaryExpression": {
      const start = source.indexOf(node.operator, node.left.end);
      const other = OPERATORS[node.operator];
      if (other !== undefined) add("change an operator", { start, end: start + node.operator.length }, other);
      return;
    }
    case "UnaryExpression":
      if (node.operator === "!") add("drop a negation", node, textOf(node.argument));
      return;
    case "AwaitExpression":
      add("drop an await", node, textOf(node.argument));
      return;
    case "Literal":
      if (typeof node.value === "boolean") add("flip a boolean", node, String(!node.value));
      // Small numbers count or index; of others the size matters.
      if (typeof node.value === "number" && parent.key !== node) {
        add("change a constant", node, String(node.value > 2 ? node.value * 2 : node.value + 1));
      }
      return;
    case "ArrayExpression":
      if (node.elements.length > 1 && !node.elements.includes(null))
        for (const range of elementRanges(node)) add("drop an element", range, "");
      return;
    case "MemberExpression": {
      const other = node.computed || parent.callee !== node ? undefined : METHODS[node.property.name];
      if (other !== undefined) add("change a method", node.property, other);
      return;
    }
    default:
      // A value that is returned is missed by the compiler.
      if (EFFECTS.test(node.type) && !node.argument && !node.directive) add("drop a statement", node, "{}");
  }
}

/** Each element with the comma behind it; the last one with the comma before it. */
function elementRanges({ elements }) {
  const rest = elements.slice(1).map(({ start }, at) => ({ start: elements[at].start, end: start }));
  return [...rest, { start: elements.at(-2).end, end: elements.at(-1).end }];
}

export function applied(source, { start, end, text }) {
  return source.slice(0, start) + text + source.slice(end);
}

/** Describes a mutation by the lines that it changes, before and after. */
export function describe(source, { start, end, text }) {
  const [from, to] = [source.lastIndexOf("\n", start - 1) + 1, source.indexOf("\n", end)];
  const rest = source.slice(end, to === -1 ? undefined : to);
  const short = (words) => words.replace(/\s+/g, " ").trim().slice(0, 160);
  return `${short(source.slice(from, end) + rest)}  →  ${short(source.slice(from, start) + text + rest)}`;
}
