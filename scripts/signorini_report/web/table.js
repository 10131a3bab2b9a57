/* Tables that sort: columns [{key, title, number, text(row)}], rows any objects; headings are buttons. */
"use strict";

const AT_FIRST = 100; // rows of a long table on the screen, until more are asked for
const ON_PAPER = 500; // rows of a long table on paper: some ten pages

function compared(a, b) {
  const empty = value => value === null || value === undefined || Number.isNaN(value);
  if (empty(a) || empty(b)) return empty(a) - empty(b);
  return typeof a === "number" && typeof b === "number" ? a - b || 0 : String(a).localeCompare(String(b), "en", {numeric: true});
}

/* `order`: {key, down}; empty values stay at the end. `onSort(order)` is told what a heading asks for. */
function sortedRows(rows, columns, order) {
  const column = columns.find(one => one.key === order?.key);
  if (!column) return rows;
  const value = column.value || (row => row[column.key]);
  const missing = entry => entry === null || entry === undefined || Number.isNaN(entry);
  return [...rows].sort((a, b) => {
    const [first, second] = [value(a), value(b)];
    if (missing(first) || missing(second)) return missing(first) - missing(second);
    return (order.down ? -1 : 1) * compared(first, second);
  });
}

function fillTable(table, columns, rows, order, onSort, limit = Infinity) {
  table.textContent = "";
  table.style.setProperty("--columns", columns.length);
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (column.number) cell.className = "number";
    if (column.plain) cell.textContent = column.title;
    else {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = column.title + (order?.key === column.key ? (order.down ? " ▼" : " ▲") : "");
      cell.setAttribute("aria-sort", order?.key === column.key ? (order.down ? "descending" : "ascending") : "none");
      button.addEventListener("click", () => {
        onSort({key: column.key, down: order?.key === column.key ? !order.down : false});
        [...table.tHead.querySelectorAll("button.sort")].find(other => other.textContent.startsWith(column.title))?.focus();
      });
      if (column.meaning) button.title = column.meaning;
      cell.append(button);
    }
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of sortedRows(rows, columns, order).slice(0, limit)) {
    const line = body.insertRow();
    if (row.selected) line.className = "selected";
    for (const column of columns) {
      const cell = line.insertCell();
      if (column.number) cell.className = "number";
      const content = column.text ? column.text(row) : words(row[column.key]);
      if (content instanceof Node) cell.append(content);
      else cell.textContent = content;
    }
  }
}

/* How many rows of a long table are shown, and what is said of the others: `whole` names the file that holds all. `part("more")`, "count" and "paper"
   are the elements that say it. */
function limitRows(part, rows, {paper, all, whole}) {
  const limit = paper ? ON_PAPER : all ? Infinity : AT_FIRST, more = part("more"), said = part("paper");
  part("count").textContent = `${rows}`;
  more.hidden = all || rows <= AT_FIRST;
  more.textContent = `Show all ${rows} rows`;
  said.hidden = !(paper && rows > limit);
  said.textContent = `Paper shows the first ${ON_PAPER} of these ${rows} rows, in the order of the table on the screen. All of them are in ${whole}; to print others, filter or sort first.`;
  return limit;
}
