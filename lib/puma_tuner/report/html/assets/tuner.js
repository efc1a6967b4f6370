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

// What is moved sideways can be moved by keys, too, also when it is so once the window is narrower or details are open.
const reach = (box) => box.scrollWidth > box.clientWidth ? box.tabIndex = 0 : box.removeAttribute("tabindex");
const watch = new ResizeObserver((entries) => entries.forEach((entry) => reach(entry.target)));
for (const box of document.querySelectorAll(".wide, pre")) watch.observe(box);

// Paper has nothing to unfold.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
