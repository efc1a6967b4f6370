// Folds, zoom and keys of flame graphs. What is seen at first is drawn without this script; what is unfolded is drawn by it.
//
// A click on a fold shows its frames; on any other box, makes it as wide as the graph, so that what is beside it goes aside.
// Places from left to right are those of the page; rows follow from what is folded.
for (const graph of document.querySelectorAll("svg.flame")) {
  const figure = graph.closest("figure");
  const [button, said] = [figure.querySelector("button"), figure.querySelector(".flame-said")];
  const rowHeight = Number(graph.dataset.row);
  const [words, packed] = JSON.parse(graph.dataset.boxes);
  const drawn = [...graph.children];
  const boxes = packed.map(([left, width, depth, owner, head, amounts, fold, inside]) => ({
    left, width, depth, owner: ["app", "gem", "ruby", "small"][owner], name: words[head].split(" · ")[0],
    title: `${words[head]} · ${words[amounts]}`, fold, inside, box: inside < 0 ? drawn.shift() : null,
  }));
  const folds = boxes.map((one) => one.fold).filter((fold) => fold >= 0);
  let closed = new Set(folds), chosen = boxes[0], current = boxes[0];

  const element = (name, attributes, text) => {
    const made = document.createElementNS(graph.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };

  const create = (one) => {
    one.box = element("svg", {height: rowHeight});
    one.box.append(element("title", {}, one.title), element("rect", {class: `flame-${one.owner}`, width: "100%", height: rowHeight - 1}));
  };

  const label = (one, wide) => {
    const text = one.box.querySelector("text") ?? one.box.appendChild(element("text", {x: 4, y: 14}, one.name));
    text.style.display = wide / 100 * graph.getBoundingClientRect().width < 26 ? "none" : "";
  };

  // The whole is always there, and a fold only as long as it is closed.
  const hidden = (one) => closed.has(one.inside) || one.fold >= 0 && one !== boxes[0] && !closed.has(one.fold);

  const draw = () => {
    // Rows by depth, of what leads to the box at hand; and by fold.
    const rows = [], rowsOfFolds = {};
    let last = 0, created = false;
    for (const one of boxes) {
      one.row = closed.has(one.inside) ? rowsOfFolds[one.inside] : one.depth ? rows[one.depth - 1] + 1 : 0;
      rows[one.depth] = one.row;
      if (one.fold >= 0) rowsOfFolds[one.fold] = one.row;
      const from = Math.max(one.left, chosen.left);
      const wide = (Math.min(one.left + one.width, chosen.left + chosen.width) - from) / chosen.width * 100;
      one.shown = wide > 0.05 && !hidden(one);
      if (one.box) one.box.style.display = one.shown ? "" : "none";
      if (!one.shown) continue;
      if (!one.box) created = !create(one);
      one.box.setAttribute("x", `${(from - chosen.left) / chosen.width * 100}%`);
      one.box.setAttribute("width", `${wide}%`);
      one.box.setAttribute("y", one.row * rowHeight);
      one.box.setAttribute("role", "treeitem");
      if (one.fold >= 0) one.box.setAttribute("aria-expanded", !closed.has(one.fold));
      label(one, wide);
      last = Math.max(last, one.row);
    }
    // Readers of the screen go from each box to what it called.
    if (created) graph.append(...boxes.filter((one) => one.box).map((one) => one.box));
    graph.setAttribute("height", (last + 1) * rowHeight);
    button?.setAttribute("aria-pressed", closed.size === 0);
    if (!current.shown) current = boxes[0];
    for (const one of boxes) one.box?.setAttribute("tabindex", one === current ? 0 : -1);
  };

  const tell = (one) => { said.textContent = one.title; };

  const go = (one) => {
    current = one;
    draw();
    current.box.focus();
    tell(current);
  };

  const click = (one) => {
    if (closed.has(one.fold) && (one !== boxes[0] || chosen === boxes[0])) {
      closed.delete(one.fold);
      return one === boxes[0] ? one : boxes.find((other) => other.inside === one.fold);
    }
    return chosen = one;
  };

  // What can be seen in the next row, or the one before, above or below this one's middle or else beside it.
  const next = (one, step) => {
    const middle = one.left + one.width / 2;
    const away = (other) => Math.max(other.left - middle, middle - other.left - other.width, 0);
    return boxes.filter((other) => other.shown && other.row === one.row + step).sort((a, b) => away(a) - away(b))[0];
  };
  const beside = (one, step) => boxes.filter((other) => other.shown && other.row === one.row && (other.left - one.left) * step > 0)
    .sort((a, b) => (a.left - b.left) * step)[0];
  const keys = {
    ArrowDown: (one) => next(one, 1), ArrowUp: (one) => next(one, -1), ArrowRight: (one) => beside(one, 1), ArrowLeft: (one) => beside(one, -1),
    Home: () => boxes[0], Enter: click, " ": click, Escape: (one) => { chosen = boxes[0]; return one; },
  };

  const box = (event) => boxes.find((one) => one.box && one.box === event.target.closest(".flame > svg"));
  const on = (name, react) => graph.addEventListener(name, (event) => { const one = box(event); if (one) react(one, event); });
  on("click", (one) => go(click(one)));
  on("pointerover", tell);
  on("focusin", tell);
  on("keydown", (one, event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const found = keys[event.key](one);
    if (found) go(found);
  });
  graph.setAttribute("role", "tree");
  said.hidden = false;
  tell(boxes[0]);
  if (button) {
    button.parentElement.hidden = false;
    button.addEventListener("click", () => { closed = new Set(closed.size ? [] : folds); draw(); });
  }
  addEventListener("resize", draw);
  draw();
}
