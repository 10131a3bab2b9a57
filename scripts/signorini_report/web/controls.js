/* The state of a view, kept in the address after #, and the controls that change it. Only what differs from the first view is written. Words of a
   part with a key begin with it: t.x=log; each part leaves those of the others alone. */
"use strict";

function isOf(key, word) { return key ? word.startsWith(`${key}.`) : !/^[a-z]\./.test(word); }

function readState(first, part = "") {
  const given = new URLSearchParams(location.hash.slice(1)), state = structuredClone(first);
  for (const key of Object.keys(first)) {
    const found = given.getAll(part ? `${part}.${key}` : key);
    if (found.length) state[key] = Array.isArray(first[key]) || first[key] === null ? found : found.at(-1);
  }
  return state;
}

function writeState(state, first, part = "") {
  const kept = new URLSearchParams([...new URLSearchParams(location.hash.slice(1))].filter(([word]) => !isOf(part, word)));
  for (const [key, value] of Object.entries(state)) {
    if (JSON.stringify(value) === JSON.stringify(first[key])) continue;
    const word = part ? `${part}.${key}` : key;
    if (Array.isArray(value)) { for (const one of value.length ? value : [""]) kept.append(word, one); }
    else kept.set(word, value ?? "");
  }
  const text = kept.toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

function fillSelect(select, pairs, value, onChange) {
  select.textContent = "";
  for (const [key, title] of pairs) select.append(new Option(title, key, false, String(key) === String(value)));
  select.onchange = () => onChange(select.value);
}

function bindSelect(select, value, onChange) {
  select.value = value;
  select.onchange = () => onChange(select.value);
}

/* One group of check boxes, folded where it is long. `chosen`: the values that are in. */
function filterGroup(name, title, values, chosen, counts, onChange) {
  const group = document.createElement("details");
  group.className = "filter";
  group.dataset.filter = name;
  const head = document.createElement("summary");
  head.textContent = `${title}: ${chosen.length === values.length ? "all " + values.length : chosen.length === 1 ? chosen[0] : `${chosen.length} of ${values.length}`}`;
  const set = document.createElement("fieldset"), legend = document.createElement("legend");
  legend.textContent = title;
  legend.className = "hidden-words";
  const both = document.createElement("p");
  for (const [words, all] of [["All", values], ["None", []]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.setAttribute("aria-label", `${words}: ${title}`);
    button.addEventListener("click", () => onChange(all));
    both.append(button, " ");
  }
  set.append(legend, both);
  for (const value of values) {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.value = value;
    box.checked = chosen.includes(value);
    box.addEventListener("change", () => onChange(values.filter(one => one === value ? box.checked : chosen.includes(one))));
    label.append(box, ` ${value} `);
    const count = document.createElement("span");
    count.className = "soft";
    count.textContent = `(${counts.get(value) ?? 0})`;
    label.append(count);
    set.append(label);
  }
  group.append(head, set);
  return group;
}

/* All groups of check boxes of a part: what is open stays open, and the box that was used keeps the focus. `countsOf(name)`: {value: rows}. */
function fillFilters(place, filters, state, first, countsOf, set) {
  const open = new Set([...place.querySelectorAll("details[open]")].map(group => group.dataset.filter));
  const nameOf = one => one.type === "checkbox" ? one.value : one.getAttribute("aria-label");
  const focus = document.activeElement?.closest?.(".filter"), held = focus && place.contains(focus) && [focus.dataset.filter, nameOf(document.activeElement)];
  place.textContent = "";
  for (const {name, title, values} of filters) {
    if (values.length < 2) continue;
    const group = filterGroup(name, title, values, state[name] ?? values, countsOf(name),
      chosen => set({[name]: chosen.length === values.length && first[name] === null ? null : chosen}));
    group.open = open.has(name);
    place.append(group);
  }
  if (held) [...place.querySelectorAll(`[data-filter="${CSS.escape(held[0])}"] :is(input, button)`)].find(one => nameOf(one) === held[1])?.focus();
}

/* The name of a series with its line, and a box that takes it in or out. */
function seriesBox(name, shown, [colour, dashes], onChange) {
  const label = document.createElement("label"), box = document.createElement("input");
  label.className = "series";
  box.type = "checkbox";
  box.checked = shown;
  box.dataset.series = name;
  box.addEventListener("change", () => onChange(box.checked));
  const swatch = d3.create("svg").attr("width", 30).attr("height", 10).attr("aria-hidden", "true");
  swatch.append("line").attr("x1", 0).attr("x2", 30).attr("y1", 5).attr("y2", 5).attr("stroke", seen(colour)).attr("stroke-width", 2.5).attr("stroke-dasharray", dashes || null);
  label.append(box, swatch.node(), ` ${name}`);
  return label;
}

/* Series that are out, after one was taken in or out. */
function offAfter(off, name, shown) {
  const left = new Set(off);
  shown ? left.delete(name) : left.add(name);
  return [...left].sort();
}

function focusBox(table, name) { [...table.querySelectorAll("input")].find(one => one.dataset.series === name)?.focus(); }

/* A button that looks like a word of a table. */
function openerButton(text, label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "opener";
  button.textContent = text;
  if (label) button.setAttribute("aria-label", label);
  button.addEventListener("click", act);
  return button;
}

async function copyText(text, button) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const before = button.dataset.words ??= button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}
