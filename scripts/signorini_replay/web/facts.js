// Numbers in words: what an answer left, and everything that is known of one contact.

function element(name, properties, ...children) {
  const node = document.createElement(name);
  for (const key in properties || {}) {
    if (key === "class") node.className = properties[key];
    else if (/^(data|aria)-|^role$/.test(key)) node.setAttribute(key, properties[key]);
    else node[key] = properties[key];
  }
  for (const child of children) node.append(child);
  return node;
}

function bodyName(number) { return number >= 0 ? `body ${number}` : number === -1 ? "obstacle" : "–"; }

// Seven digits: what single precision holds.
function exact(x) { return short(x, 7); }

function table(rows) {
  const body = element("tbody");
  for (const [name, ...cells] of rows) {
    const row = element("tr", {}, element("th", {textContent: name}));
    for (const cell of cells) row.append(element("td", {textContent: cell}));
    body.append(row);
  }
  return element("table", {}, body);
}

// "ica: converged after 17 iterations, residual 4.2e-7"
function answerText(name, description) {
  const ran = name === "recorded" ? "" : `${description.status} after ${description.iterations} iterations, `;
  const said = description.message ? ` (${description.message})` : "";
  if (!description.answered) return `${name}: ${description.status}${said}`;
  return `${name}: ${ran}residual ${description.residual === null ? "∞" : short(description.residual, 4)}${said}`;
}

function contactTable(frame, k, names, answers, iteration) {
  const columns = answers.map((answer) => (answer.answered ? answer : null));
  const each = (of) => columns.map((answer) => (answer ? of(answer) : "–"));
  const three = (x) => [0, 1, 2].map((i) => exact(x[3 * k + i])).join("  ");
  const rows = [
    ["contact", String(k)],
    ["bodies", `${bodyName(frame.bodies[2 * k])}, ${bodyName(frame.bodies[2 * k + 1])}`],
    ["region, island", `${frame.region[k]}, ${frame.island[k]}`],
    ["gap (m)", exact(frame.gap[k])],
    ["μ", exact(frame.mu[k])],
  ];
  const answered = [
    ["", ...names],
    ["state", ...each((a) => STATES[a.states[k]] || "–")],
    ["r (N s): N, T1, T2", ...each((a) => three(a.r))],
    ["u (m/s): N, T1, T2", ...each((a) => three(a.u))],
    ["residual", ...each((a) => exact(a.errors[k]))],
  ];
  if (iteration !== null) answered.push([`residual, iteration ${iteration}`, ...each((a) => short(a.residual(k, iteration)))]);
  return [table(rows), table(answered)];
}

function legendNodes(entries) {
  return entries.map((entry) => {
    if (entry.ramp) {
      const bar = element("span", {class: "ramp"});
      bar.style.background = `linear-gradient(to right, ${SCALE.join(",")})`;
      const labels = element("span", {class: "labels"}, ...entry.ramp.map((text) => element("span", {textContent: text})));
      return element("span", {class: "entry"}, element("span", {class: "stack"}, bar, labels), element("span", {textContent: entry.text}));
    }
    const node = element("span", {class: "entry"});
    if (entry.colour) {
      const dot = element("span", {class: "dot"});
      dot.style.background = css(entry.colour);
      node.append(dot);
    }
    node.append(element("span", {textContent: entry.text}));
    return node;
  });
}
