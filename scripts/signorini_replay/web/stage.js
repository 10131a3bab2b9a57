// One canvas with one camera: the bodies of a frame, and per pane the contacts with an answer of their own.

const PARTICLE = 0.02;  // radius of a mass point without surface, share of the size of what moves
const BALL = 0.006, DISK = 0.0105, RING = 0.02, ARROW = 0.14, ARROW_WIDTH = 0.011;  // of contacts, the same share

class Stage {
  constructor(canvas, up) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({canvas, antialias: true, preserveDrawingBuffer: true});
    this.renderer.setPixelRatio(window.devicePixelRatio || 1);
    this.renderer.setScissorTest(true);
    this.renderer.setClearColor(0xffffff, 1);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
    this.camera.up.set(...up);
    this.up = up;
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xb8b4ac, 0.75));
    this.lamp = new THREE.DirectionalLight(0xffffff, 0.45);
    this.scene.add(this.lamp, this.lamp.target);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.screenSpacePanning = true;
    this.bodies = this.surface({side: THREE.DoubleSide, flatShading: true});
    this.obstacles = this.surface({side: THREE.DoubleSide, flatShading: true, transparent: true, depthWrite: false});
    this.obstacles.renderOrder = 3;
    this.particles = new Glyphs(this.scene, ballShape(), false);
    this.rods = new Glyphs(this.scene, rodShape(), false);
    this.panes = [this.pane(), this.pane()];
    this.shown = 1;
    this.size = 1;
  }
  surface(look) {
    const material = new THREE.MeshLambertMaterial(Object.assign({vertexColors: THREE.VertexColors}, look));
    const mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
    mesh.frustumCulled = false;
    this.scene.add(mesh);
    return mesh;
  }
  pane() {
    const group = new THREE.Group();
    this.scene.add(group);
    return {group, balls: new Glyphs(group, ballShape(), true), disks: new Glyphs(group, diskShape(), false),
            impulses: new Glyphs(group, arrowShape(), true), slips: new Glyphs(group, arrowShape(), true),
            mark: new Glyphs(group, new THREE.TorusBufferGeometry(1, 0.18, 8, 24), true)};
  }

  setOpacity(bodies, obstacles) {
    for (const [mesh, opacity] of [[this.bodies, bodies], [this.obstacles, obstacles]]) {
      mesh.material.opacity = opacity;
      mesh.material.transparent = opacity < 1;
      mesh.material.depthWrite = opacity >= 1;
      mesh.visible = opacity > 0;
    }
  }

  showBodies(frame, topology) {
    if (this.topology !== topology) this.split(topology);
    for (const mesh of [this.bodies, this.obstacles]) this.move(mesh, frame);
    this.showPoints(frame, topology);
  }
  // The triangles of bodies and of obstacles, each corner with its own colour and normal.
  split(topology) {
    this.topology = topology;
    const corners = [[], []], colours = [[], []];
    topology.body.forEach((body, t) => {
      const which = body < 0 ? 1 : 0;
      const colour = rgb(body < 0 ? OBSTACLE : BODIES[body % BODIES.length]);
      for (let i = 0; i < 3; ++i) {
        corners[which].push(topology.triangles[3 * t + i]);
        colours[which].push(...colour);
      }
    });
    [this.bodies, this.obstacles].forEach((mesh, which) => {
      mesh.geometry.dispose();
      mesh.geometry = new THREE.BufferGeometry();
      mesh.userData.corners = corners[which];
      mesh.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * corners[which].length), 3));
      mesh.geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * corners[which].length), 3));
      mesh.geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(colours[which]), 3));
    });
  }
  move(mesh, frame) {
    const position = mesh.geometry.getAttribute("position"), normal = mesh.geometry.getAttribute("normal");
    const corners = mesh.userData.corners, p = position.array, n = normal.array, v = frame.vertices;
    for (let i = 0; i < corners.length; ++i) {
      const at = 3 * corners[i];
      p[3 * i] = v[at]; p[3 * i + 1] = v[at + 1]; p[3 * i + 2] = v[at + 2];
    }
    for (let i = 0; i < p.length; i += 9) {
      const ax = p[i + 3] - p[i], ay = p[i + 4] - p[i + 1], az = p[i + 5] - p[i + 2];
      const bx = p[i + 6] - p[i], by = p[i + 7] - p[i + 1], bz = p[i + 8] - p[i + 2];
      const x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx, length = Math.hypot(x, y, z) || 1;
      for (let j = i; j < i + 9; j += 3) { n[j] = x / length; n[j + 1] = y / length; n[j + 2] = z / length; }
    }
    position.needsUpdate = normal.needsUpdate = true;
  }
  showPoints(frame, topology) {
    const at = (i) => [frame.vertices[3 * i], frame.vertices[3 * i + 1], frame.vertices[3 * i + 2]];
    const colour = rgb(BODIES[0]), radius = PARTICLE * this.size;
    this.particles.begin(topology.loose.length);
    for (const i of topology.loose) this.particles.add([radius, 0, 0], [0, radius, 0], [0, 0, radius], at(i), colour);
    this.particles.end();
    this.rods.begin(topology.rods.length / 2);
    for (let i = 0; i < topology.rods.length; i += 2) {
      const from = at(topology.rods[i]), along = at(topology.rods[i + 1]).map((x, c) => x - from[c]);
      const [x, z] = aside(unit(along));
      this.rods.add(times(0.35 * radius, x), along, times(0.35 * radius, z), from, rgb(BODIES[2]));
    }
    this.rods.end();
  }

  // Everything that is drawn of the contacts in a pane. `look`: colour of contact k, what is shown, scales of arrows, the
  // contact that is marked.
  showContacts(pane, frame, answer, look) {
    const {balls, disks, impulses, slips, mark} = this.panes[pane];
    const answered = answer !== null && answer.answered, s = look.scale * this.size;
    for (const glyphs of [balls, disks, impulses, slips]) glyphs.begin(frame.contacts);
    mark.begin(1);
    for (let k = 0; k < frame.contacts; ++k) {
      const place = [frame.position[3 * k], frame.position[3 * k + 1], frame.position[3 * k + 2]];
      const radius = BALL * s * (k === look.marked ? 1.5 : 1);
      balls.add([radius, 0, 0], [0, radius, 0], [0, 0, radius], place, look.colour(k));
      if (k === look.marked) this.ring(mark, frame, k, place, RING * s);
      if (!answered) continue;
      const n = frame.axis(k, 0), t1 = frame.axis(k, 1), t2 = frame.axis(k, 2);
      if (look.modes) {
        disks.add(times(DISK * s, t1), times(DISK * s, n), times(DISK * s, t2), place,
                  rgb(STATE_COLOURS[answer.states[k]] || UNKNOWN));
      }
      const r = answer.r.subarray(3 * k, 3 * k + 3), u = answer.u.subarray(3 * k, 3 * k + 3);
      if (look.impulses) this.arrow(impulses, frame.world(k, r), look.mostImpulse, place, IMPULSE_COLOUR, look.scale);
      if (look.slips) this.arrow(slips, frame.world(k, [0, u[1], u[2]]), look.mostSlip, place, SLIP_COLOUR, look.scale);
    }
    for (const glyphs of [balls, disks, impulses, slips, mark]) glyphs.end();
  }
  ring(mark, frame, k, place, radius) {
    const [x, y] = aside(frame.axis(k, 0));
    mark.add(times(radius, x), times(radius, y), times(radius, frame.axis(k, 0)), place, [0, 0, 0]);
  }
  arrow(glyphs, vector, most, place, colour, scale) {
    const length = Math.hypot(...vector);
    if (!(length > 1e-3 * most)) return;
    const [x, z] = aside(unit(vector)), width = ARROW_WIDTH * scale * this.size;
    glyphs.add(times(width, x), times(ARROW * this.size / most, vector), times(width, z), place, colour);
  }

  // The size of what moves, which all glyphs are a share of.
  measure(frame, topology) { this.size = this.boxOf([frame], [topology]).size; }
  boxOf(frames, topologies) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const include = (points, i) => {
      for (let c = 0; c < 3; ++c) {
        low[c] = Math.min(low[c], points[3 * i + c]);
        high[c] = Math.max(high[c], points[3 * i + c]);
      }
    };
    frames.forEach((frame, f) => {
      const {triangles, body, loose} = topologies[f];
      body.forEach((number, t) => { if (number >= 0) for (let i = 0; i < 3; ++i) include(frame.vertices, triangles[3 * t + i]); });
      loose.forEach((i) => include(frame.vertices, i));
      for (let k = 0; k < frame.contacts; ++k) include(frame.position, k);
      if (!(low[0] <= high[0])) for (let i = 0; i < frame.vertices.length / 3; ++i) include(frame.vertices, i);
    });
    if (!(low[0] <= high[0])) return {middle: [0, 0, 0], size: 1};
    return {middle: low.map((x, c) => 0.5 * (x + high[c])), size: Math.hypot(...high.map((x, c) => x - low[c])) || 1};
  }
  // Looks at all that moves in `frames`.
  lookAt(frames, topologies) {
    const {middle, size} = this.boxOf(frames, topologies);
    const up = new THREE.Vector3(...this.up), [a, b] = aside(this.up);
    const azimuth = -Math.PI / 3, elevation = 28 * Math.PI / 180, distance = 1.6 * size;
    const from = new THREE.Vector3(...a).multiplyScalar(Math.cos(azimuth)).add(new THREE.Vector3(...b).multiplyScalar(Math.sin(azimuth)));
    from.multiplyScalar(Math.cos(elevation)).addScaledVector(up, Math.sin(elevation)).multiplyScalar(distance);
    this.controls.target.set(...middle);
    this.camera.position.copy(this.controls.target).add(from);
    this.camera.near = 0.01 * size;
    this.camera.far = 100 * size;
    this.controls.update();
  }

  paneWidth() { return this.canvas.clientWidth / this.shown; }
  draw() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = this.paneWidth() / height;
    this.camera.fov = this.camera.aspect >= 1 ? 35 : 2 * Math.atan(Math.tan(35 * Math.PI / 360) / this.camera.aspect) * 180 / Math.PI;
    this.camera.updateProjectionMatrix();
    this.lamp.position.copy(this.camera.position);
    this.lamp.target.position.copy(this.controls.target);
    for (let pane = 0; pane < this.shown; ++pane) {
      this.panes.forEach((each, i) => { each.group.visible = i === pane; });
      this.renderer.setViewport(pane * this.paneWidth(), 0, this.paneWidth(), height);
      this.renderer.setScissor(pane * this.paneWidth(), 0, this.paneWidth(), height);
      this.renderer.render(this.scene, this.camera);
    }
  }

  // Where contact k is on the canvas, in its pixels; null behind the camera.
  screenOf(pane, frame, k) {
    const p = new THREE.Vector3(frame.position[3 * k], frame.position[3 * k + 1], frame.position[3 * k + 2]);
    this.camera.updateMatrixWorld();
    p.project(this.camera);
    if (p.z > 1) return null;
    return {x: (pane + 0.5 + 0.5 * p.x) * this.paneWidth(), y: (0.5 - 0.5 * p.y) * this.canvas.clientHeight, depth: p.z};
  }
  // The contact nearest to a place on the canvas, at most 14 pixels away; −1: none. Of several within 4 pixels of each other
  // the one in front.
  contactAt(frame, x, y) {
    const pane = Math.min(this.shown - 1, Math.floor(x / this.paneWidth()));
    let best = -1, nearest = 14, depth = Infinity;
    for (let k = 0; k < frame.contacts; ++k) {
      const at = this.screenOf(pane, frame, k);
      if (at === null) continue;
      const distance = Math.hypot(at.x - x, at.y - y);
      if (distance < nearest - 4 || (distance < Math.min(14, nearest + 4) && at.depth < depth)) {
        best = k;
        nearest = distance;
        depth = at.depth;
      }
    }
    return best;
  }
}
