// Where the nodes of a tree stand: leaves below each other, a group in the middle of its members.

// nodes: nested { name, height, children }, as /tree answers. Every node gets depth, leaves, members and parent.
export function prepared(node, parent = null, depth = 0) {
  const own = { name: node.name, height: node.height ?? null, parent, depth, open: true };
  own.children = (node.children ?? []).map((child) => prepared(child, own, depth + 1));
  own.leaves = own.children.length ? own.children.reduce((sum, child) => sum + child.leaves, 0) : 1;
  return own;
}

// "Latin/02 …" for a group without a name: its first class.
export function nameByMembers(node) {
  for (const child of node.children) nameByMembers(child);
  if (node.children.length) node.name = `${node.children[0].name.replace(/ …$/, "")} …`;
}

export const everything = (node) => [node, ...node.children.flatMap(everything)];

const visible = (node) => [node, ...(node.open ? node.children.flatMap(visible) : [])];

// Closes the deepest groups until so many rows are left, at least.
export function closeDeep(root, rows) {
  const groups = everything(root)
    .filter((node) => node.children.length && node.parent)
    .sort((first, second) => second.depth - first.depth);
  for (const group of groups) {
    if (rowsOf(root).length <= rows) return;
    group.open = false;
  }
}

export const rowsOf = (root) => visible(root).filter((node) => !node.children.length || !node.open);

// Sets x from 0 (the root) to 1 (the tips) and y in rows; by height where all nodes have one, else by depth.
export function place(root) {
  const nodes = visible(root);
  const heights = nodes.every((node) => node.height !== null) && root.height > 0;
  const deepest = Math.max(1, ...nodes.map((node) => node.depth));
  rowsOf(root).forEach((node, row) => {
    node.y = row;
  });
  for (const node of [...nodes].reverse()) {
    node.x = heights ? 1 - node.height / root.height : node.children.length ? node.depth / deepest : 1;
    if (node.open && node.children.length) node.y = (node.children[0].y + node.children.at(-1).y) / 2;
  }
  return nodes;
}
