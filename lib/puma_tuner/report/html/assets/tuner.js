// Conveniences only: the report says everything without this script.
"use strict";

// A click on a heading sorts its table by that column; numbers from high to low first.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, index) => {
    const numeric = heading.classList.contains("number");
    const key = (row) => numeric ? Number(row.cells[index].dataset.number ?? -Infinity) : row.cells[index].textContent.trim();
    const compare = (one, other) => numeric ? key(one) - key(other) : key(one).localeCompare(key(other), undefined, {numeric: true});
    const sort = () => {
      const current = heading.getAttribute("aria-sort");
      const ascending = current ? current === "descending" : !numeric;
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].sort((one, other) => ascending ? compare(one, other) : compare(other, one));
      table.tBodies[0].append(...rows);
    };
    heading.tabIndex = 0;
    heading.addEventListener("click", sort);
    heading.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
}

// A click on a box of a flame graph makes it as wide as the graph; what is not below it or above it goes aside.
for (const graph of document.querySelectorAll("svg.flame")) {
  const boxes = [...graph.querySelectorAll("svg")].map((box) => ({
    box, left: parseFloat(box.getAttribute("x")), width: parseFloat(box.getAttribute("width")), text: box.querySelector("text"),
    name: box.querySelector("title").textContent.split(": ")[0].split(" ")[0],
  }));
  const show = (chosen) => {
    for (const {box, left, width, text, name} of boxes) {
      const from = Math.max(left, chosen.left);
      const to = Math.min(left + width, chosen.left + chosen.width);
      const wide = (to - from) / chosen.width * 100;
      box.style.display = wide <= 0.05 ? "none" : "";
      box.setAttribute("x", `${(from - chosen.left) / chosen.width * 100}%`);
      box.setAttribute("width", `${Math.max(wide, 0)}%`);
      let label = text ?? box.querySelector("text");
      if (!label && wide > 0.9) {
        label = document.createElementNS(graph.namespaceURI, "text");
        label.setAttribute("x", "3");
        label.setAttribute("y", "13");
        label.textContent = name;
        box.append(label);
      }
    }
  };
  for (const one of boxes) one.box.addEventListener("click", () => show(one));
}

// Paper has nothing to unfold.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
