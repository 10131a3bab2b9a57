/* The state of a view, kept in the address after #, and the controls that change it. Only what differs from the first view is written. */
"use strict";

function readState(first) {
  const given = new URLSearchParams(location.hash.slice(1)), state = structuredClone(first);
  for (const [key, text] of given) {
    if (!(key in first)) continue;
    if (Array.isArray(first[key]) || first[key] === null) state[key] = given.getAll(key);
    else state[key] = text;
  }
  return state;
}

function writeState(state, first) {
  const kept = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (JSON.stringify(value) === JSON.stringify(first[key])) continue;
    if (Array.isArray(value)) { for (const one of value.length ? value : [""]) kept.append(key, one); }
    else kept.set(key, value ?? "");
  }
  const text = kept.toString();
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

function fillSelect(id, pairs, value, onChange) {
  const select = document.getElementById(id);
  select.textContent = "";
  for (const [key, title] of pairs) select.append(new Option(title, key, false, String(key) === String(value)));
  select.onchange = () => onChange(select.value);
}

function bindSelect(id, value, onChange) {
  const select = document.getElementById(id);
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
