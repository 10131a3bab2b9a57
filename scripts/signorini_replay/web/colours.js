// Bodies in muted colours, contacts in strong ones: those of scripts/render.

const BODIES = ["#8FA9C7", "#D9B58A", "#9CBF9A", "#C79AA8", "#B3A6CE", "#C9C08B", "#8DBFBF", "#D3A08E", "#A9B2BA", "#B9C98F",
  "#C9A9C9", "#94B3A6"];
const REGIONS = ["#D62728", "#1F66C4", "#1E9E2E", "#FF7F0E", "#8E44C9", "#11B5C9", "#E34FB4", "#A8A800", "#8C4B2F", "#10208A",
  "#FFD21F", "#00624A"];
const OBSTACLE = "#C9C6BF";
const STATE_COLOURS = ["#9AA0A6", "#1F66C4", "#E8590C"];  // open, sticking, sliding
const IMPULSE_COLOUR = [0.13, 0.13, 0.16], SLIP_COLOUR = [0.55, 0.1, 0.6];
const UNKNOWN = "#6B7075";
// From low to high; even steps of lightness, told apart by the colour-blind.
const SCALE = ["#2C1E66", "#2F5D9B", "#2A9D8F", "#8CC152", "#F2C230", "#E8590C", "#B5121B"];

function rgb(code) { return [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16) / 255); }
function css(colour) { return "rgb(" + colour.map((x) => Math.round(255 * x)).join(",") + ")"; }

// share 0 … 1
function scaled(share) {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const i = Math.min(Math.floor(at), SCALE.length - 2);
  const low = rgb(SCALE[i]), high = rgb(SCALE[i + 1]);
  return low.map((x, c) => x + (at - i) * (high[c] - x));
}

// A colour per region by its smallest mass point, so that it keeps it over time; of two that want the same one the smaller
// takes the next that is free.
function regionColours(frame) {
  const points = new Map(), sizes = new Map();
  for (let k = 0; k < frame.contacts; ++k) {
    points.set(frame.region[k], frame.regionPoint[k]);
    sizes.set(frame.region[k], (sizes.get(frame.region[k]) || 0) + 1);
  }
  const base = REGIONS.map(rgb), n = base.length;
  const palette = base.concat(base.map((c) => c.map((x) => 0.55 * x)), base.map((c) => c.map((x) => 0.5 * x + 0.5)));
  const order = [...points.keys()].sort((a, b) => sizes.get(b) - sizes.get(a) || points.get(a) - points.get(b));
  const taken = new Set(), colours = new Map();
  for (const region of order) {
    let slot = (((points.get(region) * 7) % n) + n) % n;
    for (let i = 0; i < palette.length && taken.has(slot); ++i)
      slot = i < n ? (slot + 1) % n : n + (slot + 1) % (2 * n);
    taken.add(slot);
    if (taken.size === palette.length) taken.clear();  // more regions than colours: begin again
    colours.set(region, palette[slot]);
  }
  return colours;
}

function largest(values) { return values.reduce((most, x) => (Number.isFinite(x) && x > most ? x : most), 0); }

// Of the contacts of an answer: {of: k ↦ [r, g, b], legend: entries}. `scope`: answers that share the scale.
const COLOURINGS = {
  region: {
    title: "region",
    make(frame) {
      const colours = regionColours(frame);
      return {of: (k) => colours.get(frame.region[k]), legend: [{text: counted(frame.description.regions, "region")}]};
    },
  },
  island: {
    title: "island",
    make(frame) {
      const palette = REGIONS.map(rgb);
      return {of: (k) => palette[frame.island[k] % palette.length], legend: [{text: counted(frame.description.islands, "island")}]};
    },
  },
  state: {
    title: "state",
    make(frame, answer) {
      const colours = STATE_COLOURS.map(rgb);
      return {of: (k) => colours[answer.states[k]] || rgb(UNKNOWN),
              legend: STATES.map((text, i) => ({text, colour: colours[i]}))};
    },
  },
  impulse: {
    title: "impulse ‖r‖",
    make(frame, answer, scope) {
      const most = largest(scope.map((a) => {
        let top = 0;
        for (let k = 0; k < frame.contacts; ++k) top = Math.max(top, a.impulse(k));
        return top;
      }));
      const share = (x) => 1 + Math.log10(x / most) / 4;
      return {of: (k) => (most > 0 && answer.impulse(k) > 0 ? scaled(share(answer.impulse(k))) : rgb(STATE_COLOURS[0])),
              legend: ramp([4, 2, 0].map((decade) => short(most * Math.pow(10, -decade))), "N s")};
    },
  },
  residual: {
    title: "residual",
    make(frame, answer, scope, context) {
      const low = Math.floor(Math.log10(context.tolerance)) - 4, high = 0;
      const share = (x) => (Math.log10(x) - low) / (high - low);
      const middle = Math.round((low + high) / 2);
      return {of: (k) => {
        const e = answer.residual(k, context.iteration);
        return e === 0 ? scaled(0) : Number.isFinite(e) ? scaled(share(e)) : [1, 0, 1];
      }, legend: ramp([low, middle, high].map((decade) => "1e" + decade), `(asked: ${short(context.tolerance)})`)};
    },
  },
};

function ramp(labels, unit) { return [{ramp: labels, text: unit}]; }

function counted(n, word) { return `${n} ${word}${n === 1 ? "" : "s"}`; }

// Three digits; `digits` of them.
function short(x, digits = 3) {
  if (!Number.isFinite(x)) return x === Infinity ? "∞" : "–";
  if (x === 0) return "0";
  const size = Math.abs(x), [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  return size >= 1e-2 && size < 1e4 ? String(Number(x.toPrecision(digits))) : `${Number(mantissa)}e${Number(exponent)}`;
}
