// What a replay holds: arrays of typed numbers at places that the description names (docs/replay.md).

const STATES = ["open", "sticking", "sliding"];

async function unpacked(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser is too old: it has no DecompressionStream (Chromium 80, Firefox 113, Safari 16.4)");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// The residual of a code of 16 bits; lib/harness/replay_codes.h.
function residualOf(code) {
  if (code === 0) return 0;
  return code === 65535 ? Infinity : Math.pow(10, -20 + 24 * (code - 1) / 65533);
}

class Answer {
  constructor(buffer, description, contacts) {
    this.description = description;
    this.answered = description.answered;
    if (!this.answered) return;
    this.r = new Float32Array(buffer, description.r_at, 3 * contacts);
    this.u = new Float32Array(buffer, description.u_at, 3 * contacts);
    this.errors = new Float32Array(buffer, description.errors_at, contacts);
    this.states = new Int8Array(buffer, description.states_at, contacts);
    this.iterates = description.iterates;
    this.codes = new Uint16Array(buffer, description.iterates_at, contacts * this.iterates.length);
    this.contacts = contacts;
  }
  // Of contact k in the i-th iterate that was kept.
  residualAt(i, k) { return residualOf(this.codes[i * this.contacts + k]); }
  largestAt(i) {
    let code = 0;
    for (let k = 0; k < this.contacts; ++k) code = Math.max(code, this.codes[i * this.contacts + k]);
    return residualOf(code);
  }
  // The kept iterate that stands for an iteration: the last one not after it. −1: nothing was kept.
  iterateFor(iteration) {
    let found = -1;
    for (let i = 0; i < this.iterates.length && (i === 0 || this.iterates[i] <= iteration); ++i) found = i;
    return found;
  }
  // Of contact k: after an iteration, or of the answer (null).
  residual(k, iteration) {
    const i = iteration === null ? -1 : this.iterateFor(iteration);
    return i < 0 ? this.errors[k] : this.residualAt(i, k);
  }
  // ‖r‖ of contact k, N s
  impulse(k) { return Math.hypot(this.r[3 * k], this.r[3 * k + 1], this.r[3 * k + 2]); }
  slip(k) { return Math.hypot(this.u[3 * k + 1], this.u[3 * k + 2]); }
}

class Frame {
  constructor(buffer, d) {
    this.description = d;
    this.contacts = d.contacts;
    this.buffer = buffer;
    this.vertices = this.points(d.vertices_at, d.vertices);
    this.position = this.points(d.position_at, d.contacts);
    this.axes = new Int16Array(buffer, d.frame_at, 9 * d.contacts);
    this.gap = new Float32Array(buffer, d.gap_at, d.contacts);
    this.mu = new Float32Array(buffer, d.mu_at, d.contacts);
    this.region = new Int32Array(buffer, d.region_at, d.contacts);
    this.regionPoint = new Int32Array(buffer, d.region_point_at, d.contacts);
    this.island = new Int32Array(buffer, d.island_at, d.contacts);
    this.bodies = new Int32Array(buffer, d.bodies_at, 2 * d.contacts);
    this.answers = d.answers.map((answer) => new Answer(buffer, answer, d.contacts));
  }
  // 3 coordinates each, m
  points(at, count) {
    const codes = new Uint16Array(this.buffer, at, 3 * count);
    const low = this.description.box_low, step = this.description.box_step;
    const out = new Float32Array(3 * count);
    for (let i = 0; i < 3 * count; ++i) out[i] = low[i % 3] + step[i % 3] * codes[i];
    return out;
  }
  // Axis 0 (n), 1 (t1), 2 (t2) of contact k.
  axis(k, which) {
    const at = 9 * k + 3 * which;
    return [this.axes[at] / 32767, this.axes[at + 1] / 32767, this.axes[at + 2] / 32767];
  }
  // A vector in the axes of contact k, in world axes.
  world(k, x) {
    const out = [0, 0, 0];
    for (let which = 0; which < 3; ++which) {
      const axis = this.axis(k, which);
      for (let i = 0; i < 3; ++i) out[i] += x[which] * axis[i];
    }
    return out;
  }
}

class Recording {
  constructor(buffer, description) {
    this.buffer = buffer;
    this.description = description;
    this.solvers = description.solvers.map((solver) => solver.name);
    this.steps = description.frames.map((frame) => frame.step);
    this.topologies = description.topologies.map((t) => ({
      triangles: new Uint32Array(buffer, t.triangles_at, 3 * t.triangles),
      body: new Int32Array(buffer, t.body_at, t.triangles),
      loose: new Uint32Array(buffer, t.loose_at, t.loose),
      rods: new Uint32Array(buffer, t.rods_at, 2 * t.rods),
    }));
  }
  static async open(packed) { return new Recording(await unpacked(packed.arrays), packed.description); }
  frame(i) { return new Frame(this.buffer, this.description.frames[i]); }
  topology(i) { return this.topologies[this.description.frames[i].topology]; }
  // "120" and "000120.2" as the recording writes them; −1: there is none.
  indexOf(step) {
    const bare = (text) => text.replace(/^0+(?=\d)/, "");
    return this.steps.findIndex((known) => bare(known) === bare(step));
  }
}
