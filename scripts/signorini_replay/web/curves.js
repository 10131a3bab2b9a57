// Residuals over iterations, both axes logarithmic: the largest of a frame for each solver, and those of the marked contact.

const CURVE_COLOURS = ["#1F66C4", "#E8590C"];

class Curves {
  constructor(canvas) { this.canvas = canvas; }

  // curves: [{points: [[iteration, residual], …], colour, dashed}]; `at`: the iteration that is shown, or null.
  draw(curves, tolerance, at) {
    const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = scale * width;
    this.canvas.height = scale * height;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.clearRect(0, 0, width, height);
    const points = curves.flatMap((curve) => curve.points).filter(([, y]) => y > 0 && Number.isFinite(y));
    if (points.length === 0) return;
    const box = {left: 40, right: width - 8, top: 8, bottom: height - 20};
    const most = Math.max(1, ...points.map(([x]) => x));
    const low = Math.floor(Math.log10(Math.min(tolerance, ...points.map(([, y]) => Math.max(y, 1e-18)))));
    const high = Math.ceil(Math.log10(Math.max(tolerance, ...points.map(([, y]) => y))));
    // iteration 0 has its own place, one step left of 1
    const across = (x) => box.left + (box.right - box.left) * Math.log(1 + x) / Math.log(1 + most);
    const down = (y) => box.bottom + (box.top - box.bottom) * (Math.log10(Math.max(y, 1e-18)) - low) / Math.max(1, high - low);
    this.axes(pen, box, {low, high, most, across, down}, tolerance);
    for (const curve of curves) this.line(pen, curve, across, down);
    if (at !== null) this.stroke(pen, "#555", [2, 3], [[across(Math.min(at, most)), box.top], [across(Math.min(at, most)), box.bottom]]);
  }
  axes(pen, box, {low, high, most, across, down}, tolerance) {
    pen.font = "10px sans-serif";
    pen.fillStyle = "#555";
    const every = Math.max(1, Math.ceil((high - low) / 5));
    for (let decade = high; decade >= low; decade -= every) {
      const y = down(Math.pow(10, decade));
      this.stroke(pen, "#e3e3e3", [], [[box.left, y], [box.right, y]]);
      pen.fillText("1e" + decade, 4, y + 3);
    }
    pen.textAlign = "center";
    for (let x = 1; x <= most; x *= 10) pen.fillText(String(x), Math.min(across(x), box.right - 8), box.bottom + 13);
    pen.textAlign = "left";
    pen.fillText("iteration", box.right - 42, box.bottom - 4);
    this.stroke(pen, "#9a9a9a", [4, 3], [[box.left, down(tolerance)], [box.right, down(tolerance)]]);
  }
  line(pen, {points, colour, dashed}, across, down) {
    this.stroke(pen, colour, dashed ? [3, 2] : [], points.filter(([, y]) => y > 0 && Number.isFinite(y)).map(([x, y]) => [across(x), down(y)]));
  }
  stroke(pen, colour, dash, points) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.4;
    pen.setLineDash(dash);
    pen.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
    pen.stroke();
    pen.setLineDash([]);
  }
}
