/* The replay of a recording, inside the panel of what was opened: a frame that is loaded when it is asked for, and follows from then on. */
"use strict";

function shellWord(text) { return /^[\w./=,:+-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`; }

/* Of the frames of a replay the one of a step, or the nearest: {step, exact}. */
function frameNear(steps, step) {
  if (!steps.length) return {step, exact: true};
  const wanted = stepNumber(step), found = steps.includes(step) ? step : d3.least(steps, known => Math.abs(stepNumber(known) - wanted));
  return {step: found, exact: stepNumber(found) === wanted};
}

function paragraph(...content) {
  const line = document.createElement("p");
  line.append(...content);
  return line;
}

/* What the panel says where there is no replay of the recording. */
function replayAbsent(settings, file) {
  const recording = settings.recordings[file];
  if (!recording?.endsWith(".h5")) return ""; // a problem without a scene
  if (settings.frameless[file]) return `No 3D view: ${recording} ${settings.frameless[file]}.`;
  return `No replay of ${recording} is there. Make one and the report again: signorini replay ${shellWord(recording)} -o ${shellWord(recording.replace(/\.[^./]*$/, ".replay.html"))}`;
}

/* A frame that is there already goes to the other step without loading its page again. */
function showReplay(place, address, title) {
  const inside = place.querySelector("iframe") ?? document.createElement("iframe");
  if (inside.getAttribute("src") !== address) inside.src = address;
  inside.title = title;
  inside.className = "replay";
  if (!inside.isConnected) place.append(inside);
}

function sideBySide(command) {
  const fold = document.createElement("details"), head = document.createElement("summary"), code = document.createElement("pre");
  head.textContent = "Solvers side by side on this frame";
  code.tabIndex = 0;
  code.textContent = command;
  fold.append(head, code);
  return fold;
}

/* The link to a frame, and the button that shows it in the panel. */
function replayLine(place, replay, file, step, solver) {
  const at = frameNear(replay.steps, step), state = new URLSearchParams({step: at.step, ...(solver ? {solver: `${solver},recorded`} : {})});
  const address = `${replay.address}#${state}`, title = `Replay of ${file}, step ${at.step}`, link = document.createElement("a"), button = document.createElement("button");
  link.href = address;
  link.textContent = `Step ${at.step} in 3D`;
  button.type = "button";
  button.textContent = "Show it here";
  button.addEventListener("click", () => { button.hidden = true; showReplay(place, address, title); });
  if (place.querySelector("iframe")) { button.hidden = true; showReplay(place, address, title); }
  return paragraph(link, at.exact ? " " : `, the frame nearest to step ${step} `, button);
}

/* `more.solver`: whose answer is shown where the replay has it; `more.command`: how to see other solvers on this frame. */
function fillReplay(place, settings, file, step, more = {}) {
  const shown = JSON.stringify([file, step, more]), replay = settings.replays[file];
  if (place.dataset.shown === shown) return;
  if (place.dataset.file !== file) place.textContent = "";
  place.dataset.shown = shown;
  place.dataset.file = file;
  for (const node of [...place.childNodes]) if (node.nodeName !== "IFRAME") node.remove();
  const absent = replay ? "" : replayAbsent(settings, file);
  place.prepend(...(replay ? [replayLine(place, replay, file, step, more.solver)] : absent ? [paragraph(absent)] : []), ...(more.command ? [sideBySide(more.command)] : []));
}
