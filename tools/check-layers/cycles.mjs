import { resolveImport } from "./rules.mjs";

/**
 * Import cycles among modules (file → { imports }), one for each group of files that reach each other, as a shortest
 * cycle. Only imports that run when a module starts count: a lazy one runs after both modules are ready.
 */
export function findCycles(modules) {
  const edges = new Map([...modules].map(([file, { imports }]) => [file, startImports(modules, { file, imports })]));
  return stronglyConnected(edges).flatMap((group) => {
    const cycle = shortestCycle(edges, new Set(group));
    if (cycle === undefined) return [];
    const [file, next] = cycle;
    const line = edges.get(file).find((edge) => edge.target === next).line;
    const advice = `${cycle.join(" → ")}: move what both need into a file of its own, or import types only`;
    return [{ file, line, rule: "cycle", advice }];
  });
}

function startImports(modules, { file, imports }) {
  return imports
    .filter(({ when, specifier }) => when === "start" && specifier.startsWith("."))
    .map(({ specifier, line }) => ({ target: findModule(modules, resolveImport(file, specifier)), line }))
    .filter(({ target }) => target !== undefined);
}

function findModule(modules, path) {
  return [path, path.replace(/ts$/, "tsx"), path.replace(/ts$/, "js")].find((each) => modules.has(each));
}

/** Tarjan's algorithm, without recursion so that a long chain of imports cannot exhaust the stack. */
function stronglyConnected(edges) {
  const order = new Map();
  const lowest = new Map();
  const open = [];
  const isOpen = new Set();
  const groups = [];
  const enter = (file) => {
    order.set(file, order.size);
    lowest.set(file, order.get(file));
    open.push(file);
    isOpen.add(file);
    return { file, rest: edges.get(file).map(({ target }) => target) };
  };
  const leave = (file) => {
    if (lowest.get(file) !== order.get(file)) return;
    const group = open.splice(open.indexOf(file));
    for (const member of group) isOpen.delete(member);
    groups.push(group);
  };
  for (const start of edges.keys()) {
    const path = order.has(start) ? [] : [enter(start)];
    while (path.length > 0) {
      const { file, rest } = path.at(-1);
      const target = rest.shift();
      if (target === undefined) {
        path.pop();
        leave(file);
        const above = path.at(-1)?.file;
        if (above !== undefined) lowest.set(above, Math.min(lowest.get(above), lowest.get(file)));
      } else if (!order.has(target)) path.push(enter(target));
      else if (isOpen.has(target)) lowest.set(file, Math.min(lowest.get(file), order.get(target)));
    }
  }
  return groups;
}

function shortestCycle(edges, group) {
  const start = [...group].sort()[0];
  const cameFrom = new Map();
  const queue = [start];
  for (const file of queue) {
    for (const { target } of edges.get(file)) {
      if (target === start) return [...wayTo(cameFrom, file), start];
      if (!group.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      queue.push(target);
    }
  }
  return undefined;
}

function wayTo(cameFrom, file) {
  const way = [];
  for (let each = file; each !== undefined; each = cameFrom.get(each)) way.unshift(each);
  return way;
}
