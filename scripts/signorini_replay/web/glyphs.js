// Many copies of one small shape, each with its own axes, place and colour, in one draw call.

const GLYPH_VERTEX = `
  attribute vec3 axisX, axisY, axisZ, place, colour;
  varying vec3 shade;
  varying vec3 facing;
  void main() {
    vec4 world = vec4(axisX * position.x + axisY * position.y + axisZ * position.z + place, 1.0);
    // normals of axes that are orthogonal but not equally long
    vec3 turned = axisX * normal.x / dot(axisX, axisX) + axisY * normal.y / dot(axisY, axisY) + axisZ * normal.z / dot(axisZ, axisZ);
    facing = normalize((viewMatrix * vec4(turned, 0.0)).xyz);
    shade = colour;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;
const GLYPH_FRAGMENT = `
  precision mediump float;
  uniform float opacity;
  varying vec3 shade;
  varying vec3 facing;
  void main() { gl_FragColor = vec4(shade * (0.62 + 0.38 * abs(facing.z)), opacity); }`;

class Glyphs {
  // `hidden`: also draw them faintly where a surface hides them.
  constructor(scene, shape, hidden) {
    this.geometry = new THREE.InstancedBufferGeometry();
    this.geometry.setIndex(shape.index);
    for (const name of ["position", "normal"]) this.geometry.setAttribute(name, shape.getAttribute(name));
    this.capacity = 0;
    this.geometry.maxInstancedCount = 0;
    this.group = new THREE.Group();
    this.group.add(this.mesh(1, true, 2));
    if (hidden) this.group.add(this.mesh(0.28, false, 1));
    scene.add(this.group);
  }
  mesh(opacity, tested, order) {
    const material = new THREE.ShaderMaterial({
      vertexShader: GLYPH_VERTEX, fragmentShader: GLYPH_FRAGMENT, uniforms: {opacity: {value: opacity}},
      transparent: opacity < 1, depthTest: tested, depthWrite: tested, side: THREE.DoubleSide});
    const mesh = new THREE.Mesh(this.geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = order;
    return mesh;
  }
  begin(most) {
    if (most > this.capacity || this.capacity === 0) {
      this.capacity = Math.max(16, Math.ceil(1.5 * most));
      this.arrays = {};
      for (const name of ["axisX", "axisY", "axisZ", "place", "colour"]) {
        this.arrays[name] = new Float32Array(3 * this.capacity);
        this.geometry.setAttribute(name, new THREE.InstancedBufferAttribute(this.arrays[name], 3));
      }
    }
    this.count = 0;
  }
  add(axisX, axisY, axisZ, place, colour) {
    const values = {axisX, axisY, axisZ, place, colour};
    for (const name in values) this.arrays[name].set(values[name], 3 * this.count);
    ++this.count;
  }
  end() {
    for (const name in this.arrays) this.geometry.getAttribute(name).needsUpdate = true;
    this.geometry.maxInstancedCount = this.count;
    this.group.visible = this.count > 0;
  }
}

function times(s, x) { return [s * x[0], s * x[1], s * x[2]]; }
function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }
function unit(x) { return times(1 / (Math.hypot(x[0], x[1], x[2]) || 1), x); }
// Two unit vectors at right angles to the unit vector x.
function aside(x) {
  const a = unit(cross(x, Math.abs(x[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0]));
  return [a, cross(x, a)];
}

// An arrow along y from 0 to 1; its width is 1.
function arrowShape() {
  const points = [[0, 0], [0.28, 0], [0.28, 0.72], [1, 0.72], [0, 1]];
  return new THREE.LatheBufferGeometry(points.map(([x, y]) => new THREE.Vector2(0.5 * x, y)), 8);
}
// A disk of radius 1 at right angles to y.
function diskShape() { return new THREE.CylinderBufferGeometry(1, 1, 0.12, 20); }
function ballShape() { return new THREE.SphereBufferGeometry(1, 12, 8); }
// From y = 0 to 1, radius 1.
function rodShape() {
  const shape = new THREE.CylinderBufferGeometry(1, 1, 1, 8);
  shape.translate(0, 0.5, 0);
  return shape;
}
