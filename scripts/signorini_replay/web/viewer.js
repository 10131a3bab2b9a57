// The viewer: what is shown, and the controls that change it.

const OBSTACLE_OPACITY = 0.16;
const SPEEDS = [2, 5, 10, 20, 30, 60];  // frames per second

class Viewer {
  constructor(root, recording, options) {
    this.root = root;
    this.recording = recording;
    this.options = options;
    this.index = 0;
    this.iteration = null;  // null: the answer
    this.marked = -1;
    this.chosen = [0, recording.solvers.length > 1 ? 1 : -1];  // solver of either pane; −1: no second pane
    this.playing = false;
    this.build();
    this.stage = new Stage(this.canvas, recording.description.up);
    this.curves = new Curves(this.chart);
    this.index = this.fullest();
    this.stage.measure(recording.frame(this.index), recording.topology(this.index));
    this.readAddress();
    this.lookAt([this.index]);
    this.stage.controls.addEventListener("change", () => this.draw());
    this.listen();
    this.showFrame();
  }

  // The frame that is shown first: with most contacts.
  fullest() {
    const contacts = this.recording.description.frames.map((frame) => frame.contacts);
    return contacts.indexOf(Math.max(...contacts));
  }

  lookAt(indices) {
    this.stage.lookAt(indices.map((i) => this.recording.frame(i)), indices.map((i) => this.recording.topology(i)));
  }
  // The frames at both ends and some between.
  wholePath() {
    const last = this.recording.steps.length - 1, parts = 8;
    return [...new Set(Array.from({length: parts + 1}, (_, i) => Math.round(i * last / parts)))];
  }

  // --- controls ---------------------------------------------------------------------------------------------

  build() {
    const d = this.recording.description, names = this.recording.solvers;
    const check = (text, on) => {
      const box = element("input", {type: "checkbox", checked: on});
      return [box, element("label", {}, box, text)];
    };
    const menu = (entries, value) => {
      const select = element("select");
      entries.forEach(([text, key]) => select.append(element("option", {textContent: text, value: key})));
      select.value = value;
      return select;
    };
    const range = (name, most, value) => element("input", {type: "range", min: 0, max: most, step: 1, value, "data-part": name});
    this.colouring = menu(Object.entries(COLOURINGS).map(([key, c]) => [c.title, key]), "region");
    this.left = menu(names.map((name, i) => [name, String(i)]), "0");
    this.right = menu([["–", "-1"]].concat(names.map((name, i) => [name, String(i)])), String(this.chosen[1]));
    let arrows, slips, modes, glass;
    [this.arrows, arrows] = check("impulses", false);
    [this.slips, slips] = check("slip", false);
    [this.modes, modes] = check("modes", true);
    [this.glass, glass] = check("bodies half transparent", false);
    this.near = element("button", {textContent: "this frame", type: "button", title: "look at what moves in this frame"});
    this.far = element("button", {textContent: "all frames", type: "button", title: "look at what moves in all frames"});
    this.glyphSize = element("input", {type: "range", min: -1, max: 1, step: 0.05, value: 0});
    this.save = element("button", {textContent: "save picture", type: "button"});
    this.play = element("button", {textContent: "play", type: "button", "data-part": "play"});
    this.speed = menu(SPEEDS.map((s) => [`${s} frames/s`, String(s)]), "10");
    this.speed.setAttribute("aria-label", "speed");
    this.frames = range("frames", this.recording.steps.length - 1, 0);
    this.frameText = element("span", {class: "count", "data-part": "frame-text"});
    this.iterations = range("iterations", 0, 0);
    this.iterationText = element("span", {class: "count"});
    this.canvas = element("canvas", {tabIndex: 0, role: "img", "aria-label": "bodies and contacts of the frame"});
    this.names = [element("div", {class: "name"}), element("div", {class: "name"})];
    this.half = element("div", {class: "half"});
    this.chart = element("canvas", {role: "img", "aria-label": "residuals over iterations"});
    this.chartPart = element("div", {}, element("h2", {textContent: "Largest residual (marked contact dashed)"}), this.chart);
    this.legend = element("div", {class: "legend"});
    this.answersNode = element("div");
    this.contactNode = element("div", {"data-part": "contact"});
    this.root.textContent = "";
    this.root.classList.add("signorini-replay");
    this.root.append(
      element("div", {class: "bar"}, element(this.options.heading || "span", {class: "title", textContent: d.scene}), element("span", {class: "count", textContent: d.file}),
              element("label", {}, "colour by", this.colouring), element("label", {}, "solver", this.left),
              element("label", {}, "beside it", this.right), arrows, slips, modes, glass,
              element("label", {}, "size", this.glyphSize), element("label", {}, "look at", this.near, this.far), this.save),
      element("div", {class: "middle"}, element("div", {class: "view"}, this.canvas, ...this.names, this.half),
              element("div", {class: "side", tabIndex: 0}, element("h2", {textContent: "Colours"}), this.legend, element("h2", {textContent: "Answers"}), this.answersNode,
                      this.chartPart,
                      element("h2", {textContent: "Contact"}), this.contactNode)),
      element("div", {class: "bar foot"}, this.play, this.speed, element("label", {class: "grow"}, "frame", this.frames), this.frameText,
              element("label", {class: "grow"}, "iteration", this.iterations), this.iterationText));
  }

  listen() {
    const on = (node, event, act) => node.addEventListener(event, act);
    on(this.frames, "input", () => { this.stop(); this.go(Number(this.frames.value)); });
    on(this.play, "click", () => (this.playing ? this.stop() : this.start()));
    on(this.iterations, "input", () => this.chooseIteration(Number(this.iterations.value)));
    for (const [pane, select] of [[0, this.left], [1, this.right]]) {
      on(select, "change", () => { this.chosen[pane] = Number(select.value); this.showFrame(); this.writeAddress(); });
    }
    on(this.colouring, "change", () => { this.showContacts(); this.writeAddress(); });
    for (const box of [this.arrows, this.slips, this.modes]) on(box, "change", () => this.showContacts());
    on(this.glass, "change", () => this.draw());
    on(this.near, "click", () => { this.lookAt([this.index]); this.draw(); });
    on(this.far, "click", () => { this.lookAt(this.wholePath()); this.draw(); });
    on(this.glyphSize, "input", () => this.showContacts());
    on(this.save, "click", () => this.savePicture());
    on(window, "resize", () => { this.draw(); this.showCurves(); });
    if (this.options.address) on(window, "hashchange", () => { this.readAddress(); this.showFrame(); });
    this.listenToClicks();
  }
  // A click is a press that does not move: a drag turns the camera.
  listenToClicks() {
    let from = null;
    const place = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    this.canvas.addEventListener("pointerdown", (event) => { from = place(event); });
    this.canvas.addEventListener("click", (event) => {
      const at = place(event);
      if (from !== null && Math.hypot(at.x - from.x, at.y - from.y) < 4) this.mark(this.stage.contactAt(this.frame, at.x, at.y));
    });
  }

  // --- the address: #step=120&solver=ica,cr-full&colour=residual&contact=17 ---------------------------------------

  readAddress() {
    if (!this.options.address) return this.choose(this.options);
    return this.choose(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  }
  choose({step, solver, colour, contact}) {
    if (step !== undefined && this.recording.indexOf(String(step)) >= 0) this.index = this.recording.indexOf(String(step));
    if (solver !== undefined) {
      const asked = String(solver).split(",").map((name) => this.recording.solvers.indexOf(name)).filter((i) => i >= 0);
      if (asked.length > 0) this.chosen = [asked[0], asked.length > 1 ? asked[1] : -1];
    }
    if (colour !== undefined && Object.hasOwn(COLOURINGS, colour)) this.colouring.value = colour;
    this.left.value = String(this.chosen[0]);
    this.right.value = String(this.chosen[1]);
    const contacts = this.recording.description.frames[this.index].contacts;
    this.marked = /^\d+$/.test(String(contact)) && Number(contact) < contacts ? Number(contact) : -1;
  }
  writeAddress() {
    if (!this.options.address) return;
    const parts = [`step=${this.recording.steps[this.index]}`, `solver=${this.shownSolvers().map((i) => encodeURIComponent(this.recording.solvers[i])).join(",")}`,
      `colour=${this.colouring.value}`];
    if (this.marked >= 0) parts.push(`contact=${this.marked}`);
    try {
      history.replaceState(null, "", "#" + parts.join("&"));
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;  // pages without an address of their own
    }
  }

  // --- what is shown ----------------------------------------------------------------------------------------------

  shownSolvers() { return this.chosen.filter((i) => i >= 0); }
  shownAnswers() { return this.shownSolvers().map((i) => this.frame.answers[i]); }

  go(index) {
    this.index = Math.min(Math.max(index, 0), this.recording.steps.length - 1);
    this.marked = -1;
    this.showFrame();
    if (!this.playing) this.writeAddress();
  }
  mark(k) {
    this.marked = k;
    this.showContacts();
    this.writeAddress();
  }
  start() {
    this.playing = true;
    this.play.textContent = "pause";
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      if (now - last >= 1000 / Number(this.speed.value)) {
        last = now;
        this.go((this.index + 1) % this.recording.steps.length);
      }
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.play.textContent = "play";
    this.writeAddress();
  }

  showFrame() {
    this.frame = this.recording.frame(this.index);
    const d = this.frame.description;
    this.frames.value = String(this.index);
    this.frameText.textContent = `step ${d.step}, ${short(d.time)} s, ` +
      [counted(d.contacts, "contact"), counted(d.regions, "region"), counted(d.islands, "island")].join(", ");
    this.stage.shown = this.shownSolvers().length;
    this.stage.showBodies(this.frame, this.recording.topology(this.index));
    this.setIterations();
    this.showContacts();
  }
  // The iterates that either solver kept, and behind them the answers.
  setIterations() {
    const all = new Set(this.shownAnswers().flatMap((answer) => (answer.answered ? answer.iterates : [])));
    this.kept = [...all].sort((a, b) => a - b);
    this.iterations.max = String(this.kept.length);
    this.iterations.disabled = this.kept.length === 0;
    this.iterations.value = String(this.kept.length);
    this.iteration = null;
  }
  chooseIteration(i) {
    this.iteration = i < this.kept.length ? this.kept[i] : null;
    if (this.iteration !== null) this.colouring.value = "residual";
    this.showContacts();
  }

  showContacts() {
    const answers = this.shownAnswers(), answered = answers.filter((answer) => answer.answered);
    const mostOf = (of) => {
      let most = 0;
      for (const answer of answered) for (let k = 0; k < this.frame.contacts; ++k) most = Math.max(most, of(answer, k) || 0);
      return most;
    };
    const look = {modes: this.modes.checked, impulses: this.arrows.checked, slips: this.slips.checked, marked: this.marked,
      scale: Math.pow(4, Number(this.glyphSize.value)),
      mostImpulse: mostOf((a, k) => a.impulse(k)), mostSlip: mostOf((a, k) => a.slip(k))};
    const context = {iteration: this.iteration, tolerance: this.recording.description.tolerance};
    const colouring = COLOURINGS[this.colouring.value], geometric = ["region", "island"].includes(this.colouring.value);
    let legend = [];
    answers.forEach((answer, pane) => {
      const made = answer.answered || geometric ? colouring.make(this.frame, answer, answered, context) : null;
      if (made) legend = made.legend;
      this.stage.showContacts(pane, this.frame, answer, Object.assign({colour: made ? made.of : () => rgb(UNKNOWN)}, look));
    });
    this.showLegend(legend, look);
    this.showWords(answers);
    this.showCurves();
    this.draw();
  }
  showLegend(legend, look) {
    const entries = [...legend];
    if (look.modes && this.colouring.value !== "state")
      entries.push(...STATES.map((text, i) => ({text: `disk: ${text}`, colour: rgb(STATE_COLOURS[i])})));
    if (look.impulses) entries.push({text: `longest impulse ${short(look.mostImpulse)} N s`, colour: IMPULSE_COLOUR});
    if (look.slips) entries.push({text: `fastest slip ${short(look.mostSlip)} m/s`, colour: SLIP_COLOUR});
    this.legend.replaceChildren(...legendNodes(entries));
  }
  showWords(answers) {
    const names = this.shownSolvers().map((i) => this.recording.solvers[i]);
    this.names.forEach((node, pane) => {
      node.hidden = pane >= names.length;
      node.style.left = pane === 0 ? "8px" : "calc(50% + 8px)";
      node.textContent = names[pane] || "";
    });
    this.half.hidden = names.length < 2;
    this.answersNode.replaceChildren(...answers.map((answer, i) => element("div", {class: "answer", textContent: answerText(names[i], answer.description), "data-part": `answer-${i}`})));
    this.contactNode.replaceChildren(...(this.marked < 0
      ? [element("div", {class: "soft", textContent: "Click a contact."})]
      : contactTable(this.frame, this.marked, names, answers, this.iteration)));
    const all = this.kept.length === 0 ? "no iterations" : "answer";
    this.iterationText.textContent = this.iteration === null ? all : `${this.iteration}`;
  }
  showCurves() {
    const curves = [];
    this.shownAnswers().forEach((answer, i) => {
      if (!answer.answered) return;
      const along = (of) => answer.iterates.map((iteration, at) => [iteration, of(at)]);
      curves.push({points: along((at) => answer.largestAt(at)), colour: CURVE_COLOURS[i], dashed: false});
      if (this.marked >= 0) curves.push({points: along((at) => answer.residualAt(at, this.marked)), colour: CURVE_COLOURS[i], dashed: true});
    });
    this.chartPart.hidden = this.kept.length === 0;
    this.curves.draw(curves, this.recording.description.tolerance, this.iteration);
  }

  draw() {
    this.stage.setOpacity(this.glass.checked ? 0.35 : 1, OBSTACLE_OPACITY);
    this.stage.draw();
  }
  savePicture() {
    this.draw();
    const link = element("a", {href: this.canvas.toDataURL("image/png"), download: `${this.recording.description.scene}_${this.recording.steps[this.index]}.png`});
    link.click();
  }
}

function addStyle() {
  if (document.getElementById("signorini-replay-style")) return;
  document.head.append(element("style", {id: "signorini-replay-style", textContent: STYLE}));
}

// Shows packed data in an element. options: step, solver, colour, contact as in the address; address: true takes and keeps
// them in the address of the page. Gives the viewer, or null after saying in the element why there is none.
async function mount(root, packed, options) {
  addStyle();
  try {
    if (packed === undefined) throw new Error("the data of this recording are not on the page");
    const viewer = new Viewer(root, await Recording.open(packed), options || {});
    root.signoriniReplay = viewer;
    return viewer;
  } catch (error) {
    root.classList.add("signorini-replay");
    root.replaceChildren(element("div", {class: "failure", textContent: `This recording cannot be shown: ${error.message}`}));
    return null;
  }
}

self.SignoriniReplay = {mount};
