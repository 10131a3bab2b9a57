/* One snapshot opened: every series on it, its convergence curves, the command that repeats a run, and its replay. */
"use strict";

function shellWord(text) { return /^[\w./=,:+-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`; }

/* The command that repeats the run of a row. */
function commandOf(table, settings, row) {
  const get = name => valueOf(table, name, row), solver = get("solver"), file = get("file");
  const sets = get("options").split(";").filter(pair => pair && !pair.startsWith("table="))
   .map(pair => `--set ${shellWord(`${solver}.${pair}`)}`);
  return ["signorini solve", shellWord(settings.recordings[file] ?? file), "--step", shellWord(get("step")), "--solver", shellWord(solver), ...sets, "--regions", shellWord(get("region_mode")),
    "--threads", get("threads"), "--tolerance", get("tolerance").toExponential(), ...settings.limits].join(" ");
}

let curvesPromise = null;
function allCurves() {
  const text = document.getElementById("curves").textContent.trim();
  curvesPromise ??= text ? unpacked(text) : Promise.resolve(null);
  return curvesPromise;
}

async function drawCurves(place, note, snapshot, view, selected) {
  const all = await allCurves(), found = all?.[snapshot.file]?.[snapshot.step] ?? [];
  const shown = found.filter(([name, law, regions, threads]) => view.isShown(name, law, regions, threads));
  if (!shown.length) {
    place.textContent = "";
    note.textContent = all ? "No curve was traced for the series shown on this snapshot." : "This experiment recorded no convergence curves (trace.h5).";
    return;
  }
  const over = view.state.over;
  const lines = shown.map(([name, law, regions, threads, tolerance, iterations, seconds, residuals]) => {
    const x = JSON.parse(over === "seconds" ? seconds : iterations), y = JSON.parse(residuals);
    const [colour, dashes] = view.look(name), series = view.seriesName(name, law, regions, threads);
    return {name: series, colour, dashes, strong: series === selected, points: x.map((value, at) => [view.state.curvex === "log" && over === "iterations" ? value + 1 : value, y[at] || null])
      .filter(point => point[1] !== null)};
  });
  drawLines(place, `Residual of ${lines.length} series over ${over}`, lines, {xScale: view.state.curvex, yScale: "log", level: view.settings.targets[view.state.target],
    xWords: over === "seconds" ? "time [s]" : view.state.curvex === "log" ? "iterations + 1" : "iterations", yWords: "residual of the referee"});
  note.textContent = `${lines.length} of ${found.length} curves: of the series shown. Dotted: the residual asked for. Long curves are thinned; trace.h5 has every iteration. Curves come from runs of their own, not from the timed ones.`;
}

/* Numbers of one run with their meanings. */
function fillNumbers(table, body, settings, row) {
  body.textContent = "";
  const names = [...Object.keys(table.texts), ...Object.keys(table.numbers)].filter(name => !/^(reached\.|name$)/.test(name));
  for (const name of names) {
    const value = valueOf(table, name, row);
    if (value === null || value === "") continue;
    const line = body.insertRow(), head = document.createElement("th"), [unit, meaning] = settings.meanings[name] ?? ["", ""];
    head.scope = "row";
    head.textContent = name.replaceAll("_", " ");
    if (meaning) head.title = meaning;
    line.append(head);
    const shown = /_seconds$/.test(name) ? duration(value) : words(value) + (unit && unit !== "1" ? ` ${unit}` : "");
    line.insertCell().textContent = shown;
  }
}

function fillReplay(place, settings, file, step) {
  place.textContent = "";
  const address = settings.replays[file];
  if (!address) {
    const recording = settings.recordings[file];
    if (recording) place.textContent = `To see it in 3D, make ${recording.replace(/\.[^.]*$/, "")}.replay.html with signorini replay, and this page again.`;
    return;
  }
  const target = `${address}#step=${encodeURIComponent(step)}`, link = document.createElement("a");
  link.href = target;
  link.textContent = `See step ${step} in 3D`;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Show it here";
  button.addEventListener("click", () => {
    const inside = document.createElement("iframe");
    inside.src = target;
    inside.title = `Replay of ${file}, step ${step}`;
    inside.className = "replay";
    button.replaceWith(inside);
  });
  place.append(link, " ", button);
}
