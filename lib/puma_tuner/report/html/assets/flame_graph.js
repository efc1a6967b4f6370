// Folds, zoom and keys of flame graphs; what is folded at first is drawn without this script.

// A flame graph. A click on a fold shows its frames; on any other box, makes it as wide as the graph, so that what is beside
// it goes aside. Places from left to right are those of the page; rows follow from what is folded.
for (const graph of document.querySelectorAll("svg.flame")) {
  const figure = graph.closest("figure");
  const [button, said] = [figure.querySelector("button"), figure.querySelector(".flame-said")];
  const boxes = [...graph.querySelectorAll("svg")].map((box) => ({
    box, left: parseFloat(box.getAttribute("x")), width: parseFloat(box.getAttribute("width")), depth: Number(box.dataset.depth),
    fold: box.dataset.fold, inside: box.dataset.inside, title: box.querySelector("title").textContent,
  }));
  const folds = boxes.map((one) => one.fold).filter((fold) => fold !== undefined);
  let closed = new Set(folds), chosen = boxes[0], current = boxes[0];

  // The whole is always there, and a fold only as long as it is closed.
  const hidden = (one) => closed.has(one.inside) || one.fold !== undefined && one !== boxes[0] && !closed.has(one.fold);

  const label = (one, wide) => {
    let text = one.box.querySelector("text");
    if (!text) {
      text = document.createElementNS(graph.namespaceURI, "text");
      text.setAttribute("x", "4");
      text.setAttribute("y", "14");
      text.textContent = one.title.split(" · ")[0];
      one.box.append(text);
    }
    text.style.display = wide / 100 * graph.getBoundingClientRect().width < 26 ? "none" : "";
  };

  const draw = () => {
    // Rows by depth, of what leads to the box at hand; and by fold.
    const rows = [], rowsOfFolds = {};
    let last = 0;
    for (const one of boxes) {
      one.row = closed.has(one.inside) ? rowsOfFolds[one.inside] : one.depth ? rows[one.depth - 1] + 1 : 0;
      rows[one.depth] = one.row;
      if (one.fold !== undefined) rowsOfFolds[one.fold] = one.row;
      const from = Math.max(one.left, chosen.left);
      const wide = (Math.min(one.left + one.width, chosen.left + chosen.width) - from) / chosen.width * 100;
      one.shown = wide > 0.05 && !hidden(one);
      one.box.style.display = one.shown ? "" : "none";
      if (!one.shown) continue;
      one.box.setAttribute("x", `${(from - chosen.left) / chosen.width * 100}%`);
      one.box.setAttribute("width", `${wide}%`);
      one.box.setAttribute("y", one.row * graph.dataset.row);
      if (one.fold !== undefined) one.box.setAttribute("aria-expanded", !closed.has(one.fold));
      label(one, wide);
      last = Math.max(last, one.row);
    }
    graph.setAttribute("height", (last + 1) * graph.dataset.row);
    button?.setAttribute("aria-pressed", closed.size === 0);
    if (!current.shown) current = boxes[0];
    boxes.forEach((one) => one.box.setAttribute("tabindex", one === current ? 0 : -1));
  };

  const click = (one) => {
    if (one.fold !== undefined && closed.has(one.fold) && (one !== boxes[0] || chosen === boxes[0])) {
      closed.delete(one.fold);
      if (one !== boxes[0]) current = boxes.find((other) => other.inside === one.fold);
    } else {
      chosen = one;
    }
    draw();
    current.box.focus();
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
    Home: () => boxes[0], Enter: (one) => click(one), " ": (one) => click(one), Escape: () => { chosen = boxes[0]; draw(); },
  };

  const tell = (one) => { said.textContent = one.title; };
  for (const one of boxes) {
    one.box.setAttribute("role", "treeitem");
    one.box.addEventListener("click", () => { current = one; click(one); tell(current); });
    one.box.addEventListener("pointerenter", () => tell(one));
    one.box.addEventListener("focus", () => tell(one));
    one.box.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const found = keys[event.key](one);
      if (!found) return;
      current = found;
      draw();
      found.box.focus();
    });
  }
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
