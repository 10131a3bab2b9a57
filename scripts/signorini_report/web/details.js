/* One snapshot opened: every series on it, its convergence curves, and the commands that repeat a run and show it in 3D. */
"use strict";

/* --set words of a run's options: `signorini solve` takes them as they are. */
function settingsOf(table, row) {
  const solver = valueOf(table, "solver", row);
  return valueOf(table, "options", row).split(";").filter(pair => pair && !pair.startsWith("table=")).map(pair => `--set ${shellWord(`${solver}.${pair}`)}`);
}

/* The command that repeats the run of a row. */
function commandOf(table, settings, row) {
  const get = name => valueOf(table, name, row), file = get("file");
  return ["signorini solve", shellWord(settings.recordings[file] ?? file), "--step", shellWord(get("step")), "--solver", shellWord(get("solver")), ...settingsOf(table, row),
    "--regions", shellWord(get("region_mode")), "--threads", get("threads"), "--tolerance", get("tolerance").toExponential(), ...settings.limits].join(" ");
}

/* The command that shows the snapshot of a row in 3D with the answers of the runs of one or two rows, of different solvers. */
function replayCommandOf(table, settings, rows) {
  const get = name => valueOf(table, name, rows[0]), file = get("file"), recording = settings.recordings[file];
  if (!recording?.endsWith(".h5")) return ""; // a problem without a scene
  return ["signorini replay", shellWord(recording), "--steps", shellWord(get("step").split(".")[0]), "--solver", shellWord(rows.map(row => valueOf(table, "solver", row)).join(",")),
    ...rows.flatMap(row => settingsOf(table, row)), "--tolerance", get("tolerance").toExponential(), ...settings.limits, "-o frame.html"].join(" ");
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
