"use strict";
// Sorts the table by a click on a column's head, and shows only the rows that hold what is typed.
(() => {
  const table = document.getElementById("class");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const field = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const texts = rows.map((row) => row.textContent.toLowerCase());

  const show = () => {
    const wanted = field.value.toLowerCase();
    let count = 0;
    rows.forEach((row, i) => {
      row.hidden = !texts[i].includes(wanted);
      count += row.hidden ? 0 : 1;
    });
    shown.textContent = count + " / " + rows.length;
  };

  const value = (row, column) => row.cells[column].textContent.trim();
  const sort = (column) => {
    const head = heads[column];
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("n");
    const keyed = rows.map((row) => [numeric ? parseFloat(value(row, column)) : value(row, column), row]);
    keyed.sort(([a], [b]) => (numeric ? a - b : a.localeCompare(b)) * (down ? -1 : 1));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...keyed.map(([, row]) => row));
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column));
    head.replaceChildren(button);
  });
  field.addEventListener("input", show);
  document.getElementById("tools").hidden = false;
  show();
})();
