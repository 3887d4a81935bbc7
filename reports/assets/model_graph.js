// The model as a graph: places come with the data (reports/graph_layout), so that drawing is all that is left to do.
// Nodes are coloured by what could be won in the row that they are in; labels appear where they can be read. The
// page keeps its own scrolling: the graph zooms by buttons, keys, two fingers, or the wheel with Ctrl.
'use strict';

const HEAT_SHARES = [0, 1 / 30, 1 / 10, 1 / 4, 1 / 2];  // of the largest weight; from each on a stronger colour
const LABELS = [  // from which scale on what is written
  { from: 0.85, name: 'near' },
  { from: 0.5, name: 'middle' },
  { from: 0.3, name: 'low' },
];
const CORNER = 7;  // radius

function graphModel(data) {
  const graph = data.graph;
  const rowOf = new Map();
  for (const row of data.rows) row.layers.forEach((layer) => rowOf.set(layer, row));
  const nodes = data.layers.map((layer, index) => {
    const free = layer.status === 'free';
    const [width, height] = free ? graph.free_node : graph.node;
    const [x, y] = graph.nodes[index];
    return { index, layer, row: rowOf.get(index), free, width, height, x, y, edges: [] };
  });
  const onPath = new Set(graph.path);
  const edges = graph.edges.map(([from, to], index) => ({ index, from: nodes[from], to: nodes[to], critical: onPath.has(index), points: [] }));
  for (const [index, ...numbers] of graph.routes) {
    for (let i = 0; i < numbers.length; i += 2) edges[index].points.push({ x: numbers[i], y: numbers[i + 1] });
  }
  for (const edge of edges) {
    edge.from.edges.push(edge);
    edge.to.edges.push(edge);
  }
  const compared = data.rows.some((row) => row.bound_us !== null && row.measured_us !== null);
  const weight = (row) => (!compared ? row.bound_us : row.bound_us !== null && row.measured_us !== null ? row.measured_us - row.bound_us : null);
  const largest = d3.max(data.rows.filter((row) => row.layers.length > 0), weight) || 0;
  return { nodes, edges, size: graph.size, compared, weight, largest };
}

// 0 (nothing to speak of) to 4, or 'faster' than the bound; null where nothing is known.
function heatOf(model, row) {
  const weight = row ? model.weight(row) : null;
  if (weight === null) return null;
  if (weight < -0.05 * row.bound_us && -weight >= HEAT_SHARES[1] * model.largest) return 'faster';
  let heat = 0;
  HEAT_SHARES.forEach((share, i) => { if (model.largest > 0 && weight >= share * model.largest) heat = i; });
  return heat;
}

// Lines along an axis get round corners; what is aslant leaves and arrives vertically.
function routePath(edge) {
  const inner = edge.points;
  const { from, to } = edge;
  const second = inner[0] || to;
  const beforeLast = inner[inner.length - 1] || from;
  const points = [{ x: from.x, y: from.y + (second.y >= from.y ? 1 : -1) * from.height / 2 }, ...inner,
    { x: to.x, y: to.y - (beforeLast.y <= to.y ? 1 : -1) * to.height / 2 }];
  let path = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length; ++i) {
    const [a, b, c] = [points[i - 1], points[i], points[i + 1]];
    if (a.x !== b.x && a.y !== b.y) {
      const middle = (a.y + b.y) / 2;
      path += `C${a.x},${middle} ${b.x},${middle} ${b.x},${b.y}`;
    } else if (c && (a.x === b.x) !== (b.x === c.x) && (b.x === c.x || b.y === c.y)) {
      const before = Math.min(CORNER, Math.hypot(a.x - b.x, a.y - b.y) / 2);
      const after = Math.min(CORNER, Math.hypot(c.x - b.x, c.y - b.y) / 2);
      const next = { x: b.x + Math.sign(c.x - b.x) * after, y: b.y + Math.sign(c.y - b.y) * after };
      path += `L${b.x - Math.sign(b.x - a.x) * before},${b.y - Math.sign(b.y - a.y) * before}Q${b.x},${b.y} ${next.x},${next.y}`;
      points[i] = next;
    } else {
      path += `L${b.x},${b.y}`;
    }
  }
  return path;
}

// An outline around the layers of each row, constants that were folded left out: a box where nothing else stands in it, else its layers and the edges
// between them, wide.
function drawFused(layer, model, data) {
  const isConstant = (node) => node.free && !node.edges.some((edge) => edge.to === node);
  const membersOf = (row) => row.layers.map((index) => model.nodes[index]).filter((node) => !isConstant(node));
  const rows = data.rows.filter((row) => membersOf(row).length > 1);
  const pad = 7;
  const byTop = model.nodes.slice().sort((a, b) => a.y - b.y);
  const tallest = d3.max(model.nodes, (node) => node.height);
  const firstFrom = d3.bisector((node) => node.y).left;
  const box = (node, more) => `M${node.x - node.width / 2 - more},${node.y - node.height / 2 - more}h${node.width + 2 * more}v${node.height + 2 * more}h${-node.width - 2 * more}z`;
  for (const row of rows) {
    const members = membersOf(row);
    const [left, right] = [d3.min(members, (n) => n.x - n.width / 2) - pad, d3.max(members, (n) => n.x + n.width / 2) + pad];
    const [top, bottom] = [d3.min(members, (n) => n.y - n.height / 2) - pad, d3.max(members, (n) => n.y + n.height / 2) + pad];
    const near = byTop.slice(firstFrom(byTop, top - tallest), firstFrom(byTop, bottom + tallest));
    const intruder = near.some((n) => !members.includes(n) && n.x + n.width / 2 > left && n.x - n.width / 2 < right && n.y + n.height / 2 > top && n.y - n.height / 2 < bottom);
    const group = layer.append('g').attr('class', 'fused');
    if (!intruder) {
      group.append('rect').attr('class', 'box').attr('x', left).attr('y', top).attr('width', right - left).attr('height', bottom - top).attr('rx', 9);
      continue;
    }
    const inside = new Set(members);
    const lines = Array.from(new Set(members.flatMap((node) => node.edges))).filter((edge) => inside.has(edge.from) && inside.has(edge.to)).map(routePath).join('');
    for (const part of ['rim', 'inside']) {
      group.append('path').attr('class', `${part} boxes`).attr('d', members.map((node) => box(node, 2)).join(''));
      if (lines) group.append('path').attr('class', `${part} lines`).attr('d', lines);
    }
  }
}

function graphTip(model, data, node) {
  const { layer, row } = node;
  const weight = row ? model.weight(row) : null;
  return [layer.name || '(no name)', [['operator', layer.op], ['row', row && row.layers.length > 1 ? row.label : ''],
    ['measured', row && row.measured_us !== null ? exactTimeText(row.measured_us) : ''], ['bound', row && row.bound_us !== null ? exactTimeText(row.bound_us) : ''],
    ['gap', model.compared && weight !== null ? exactTimeText(weight) : ''], ['layer alone', row && row.layers.length > 1 && layer.latency_us !== null ? exactTimeText(layer.latency_us) : ''],
    ['bound is', layer.status], ['kernel', layer.candidate], ['critical path', layer.on_critical_path ? 'yes' : ''], ['', layer.reason]]];
}

// What is written on a node at one level of zoom: [{text, x, y, size, bold, anchor}].
function labelsOf(model, node, level) {
  const { layer, row, heat } = node;
  const half = node.width / 2 - 7;
  const fit = (text, size, width) => middleCut(text, Math.max(3, Math.floor(width / (0.64 * size))));
  if (node.free) return level === 'near' ? [{ text: fit(layer.op, 9.5, node.width - 6), x: 0, y: 3.5, size: 9.5, anchor: 'middle', quiet: true }] : [];
  const weight = row && row.main_layer === node.index ? model.weight(row) : null;
  const number = weight !== null ? (model.compared ? signedTimeText(weight) : timeText(weight)) : row && row.layers.length > 1 && row.main_layer !== node.index ? 'fused' : layer.status === 'missing' || layer.status === 'unknown' ? layer.status : '';
  if (level === 'low') return weight !== null && (heat === 'faster' || heat > 0) ? [{ text: number, x: 0, y: 8, size: 24, bold: true, anchor: 'middle' }] : [];
  if (level === 'middle') {
    return [{ text: fit(layer.op, 16.5, node.width + 4), x: 0, y: -3.5, size: 16.5, bold: true, anchor: 'middle' }, { text: number, x: 0, y: 14.5, size: 16.5, anchor: 'middle' }];
  }
  return [{ text: fit(layer.op, 12, 2 * half - 7 * number.length), x: -half, y: -3, size: 12, bold: true, anchor: 'start' },
    { text: number, x: half, y: -3, size: 12, anchor: 'end' },
    { text: fit(layer.name, 10.5, 2 * half), x: -half, y: 12, size: 10.5, anchor: 'start' }];
}


function graphLegend(model, data) {
  const counts = new Map();
  for (const row of data.rows.filter((one) => one.layers.length > 0)) {
    const heat = heatOf(model, row);
    counts.set(heat, (counts.get(heat) || 0) + 1);
  }
  const items = [];
  if (model.largest > 0) {
    for (let heat = HEAT_SHARES.length - 1; heat > 0; --heat) {
      items.push({ color: `heat-${heat}`, shape: 'edged', text: `${heat === HEAT_SHARES.length - 1 ? (model.compared ? 'gap ' : 'bound ') : ''}from ${timeText(HEAT_SHARES[heat] * model.largest)}: ${plural(counts.get(heat) || 0, 'row')}` });
    }
  }
  items.push({ color: 'heat-0', shape: 'edged', text: 'less' });
  if (counts.has('faster')) items.push({ color: 'heat-faster', shape: 'edged', text: `faster than its bound (${counts.get('faster')})` });
  if (model.nodes.some((node) => node.layer.status === 'missing' || node.layer.status === 'unknown')) items.push({ color: 'missing', shape: 'hatched', text: 'no time known' });
  if (model.nodes.some((node) => node.free)) items.push({ color: 'free', shape: 'small', text: 'free' });
  if (model.nodes.some((node) => node.layer.on_critical_path)) items.push({ color: 'text', shape: 'thick', text: 'critical path' });
  if (data.rows.some((row) => row.layers.length > 1)) items.push({ color: 'fused-rim', shape: 'outlined', text: 'run as one' });
  legend('graph-chart', items);
}

function graphDescription(model, data) {
  const critical = model.nodes.filter((node) => node.layer.on_critical_path).length;
  const rows = data.rows.filter((row) => row.layers.length > 0 && model.weight(row) > 0).sort((a, b) => model.weight(b) - model.weight(a)).slice(0, 3);
  const list = rows.map((row) => `${row.label} ${timeText(model.weight(row))}`).join(', ');
  return `Graph of ${plural(model.nodes.length, 'layer')} and ${plural(model.edges.length, 'edge')}, ${critical} on the critical path`
    + (list ? `; the largest ${model.compared ? 'gaps' : 'bounds'}: ${list}` : '') + '. The layer table holds the same as text.';
}

class ModelGraph {
  constructor(data) {
    this.data = data;
    this.model = graphModel(data);
    this.selected = new Set();
    this.ranked = data.rows.filter((row) => row.layers.length > 0 && this.model.weight(row) > 0).sort((a, b) => this.model.weight(b) - this.model.weight(a));
    this.nextRank = 0;
    this.view = document.getElementById('graph-view');
    for (const node of this.model.nodes) node.heat = heatOf(this.model, node.row);
    graphLegend(this.model, data);
    this.draw();
    this.zoom = d3.zoom().on('zoom', () => this.zoomed()).filter(() => this.takes(d3.event)).clickDistance(4);
    this.svg.call(this.zoom).on('dblclick.zoom', null);
    this.resize();
    this.listen();
  }

  draw() {
    const { model, data } = this;
    this.svg = d3.select(this.view).append('svg').attr('role', 'img').attr('aria-label', graphDescription(model, data));
    const hatch = this.svg.append('defs').append('pattern').attr('id', 'graph-hatch').attr('width', 8).attr('height', 8)
      .attr('patternUnits', 'userSpaceOnUse').attr('patternTransform', 'rotate(45)');
    hatch.append('rect').attr('class', 'hatch-back').attr('width', 8).attr('height', 8);
    hatch.append('rect').attr('class', 'missing').attr('width', 3.5).attr('height', 8);
    this.root = this.svg.append('g').attr('class', 'graph-root');
    drawFused(this.root.append('g'), model, data);
    const edges = (critical) => this.root.append('g').attr('class', critical ? 'edges critical' : 'edges').selectAll('path')
      .data(model.edges.filter((edge) => edge.critical === critical)).enter().append('path')
      .attr('class', critical ? 'edge critical' : 'edge').attr('d', routePath).each(function keep(edge) { edge.element = this; });
    edges(false);
    edges(true);
    const heatClass = (node) => (node.heat === null || node.free ? '' : `heat-${node.heat}`);
    const marks = this.root.append('g').selectAll('rect').data(model.nodes).enter().append('rect')
      .attr('class', (node) => ['node', 'mark', node.layer.status, heatClass(node), node.layer.on_critical_path ? 'critical' : ''].join(' ').trim())
      .attr('x', (node) => node.x - node.width / 2).attr('y', (node) => node.y - node.height / 2)
      .attr('width', (node) => node.width).attr('height', (node) => node.height).attr('rx', (node) => (node.free ? 8 : 6))
      .each(function keep(node) { node.element = this; });
    this.labels = this.root.append('g').attr('class', 'labels');
    this.labelled = new Map();
    withTooltip(marks, (node) => graphTip(model, data, node));
    const touch = (node, on) => node.edges.forEach((edge) => edge.element.classList.toggle('touched', on));
    marks.on('pointerenter.edges', (node) => touch(node, true)).on('pointerleave.edges', (node) => touch(node, false))
      .on('click', (node) => this.open(node));
  }

  // Which gestures are the graph's: everything but what scrolls the page.
  takes(event) {
    if (event.type === 'wheel') return event.ctrlKey || event.metaKey;
    if (event.type.startsWith('touch')) return event.touches.length > 1 || this.isZoomedIn();
    return !event.ctrlKey && event.button === 0;
  }

  isZoomedIn() {
    return d3.zoomTransform(this.svg.node()).k > this.fitScale * 1.02;
  }

  // The whole model in the space that there is.
  resize() {
    const [width, height] = this.model.size;
    const margin = 14;
    this.width = Math.max(260, this.view.clientWidth);
    const tallest = this.width < NARROW ? 420 : 640;
    const wanted = (height + 2 * margin) * Math.min(1.2, this.width / (width + 2 * margin));
    this.height = Math.round(Math.min(tallest, Math.max(this.width < NARROW ? 260 : 200, wanted)));
    this.svg.attr('viewBox', `0 0 ${this.width} ${this.height}`).attr('height', this.height);
    this.fitScale = Math.min(1.2, (this.width - 2 * margin) / Math.max(1, width), (this.height - 2 * margin) / Math.max(1, height));
    const around = 60 / this.fitScale;
    this.zoom.extent([[0, 0], [this.width, this.height]]).scaleExtent([this.fitScale, Math.max(3, this.fitScale)])
      .translateExtent([[-around, -around], [width + around, height + around]]);
    this.fit(0);
  }

  fitTransform() {
    const [width, height] = this.model.size;
    return d3.zoomIdentity.translate((this.width - width * this.fitScale) / 2, (this.height - height * this.fitScale) / 2).scale(this.fitScale);
  }

  animated(duration) {
    const still = duration === 0 || matchMedia('(prefers-reduced-motion: reduce)').matches;
    return still ? this.svg.interrupt() : this.svg.transition().duration(duration);
  }

  fit(duration) {
    this.animated(duration).call(this.zoom.transform, this.fitTransform());
  }

  zoomBy(factor) {
    this.animated(200).call(this.zoom.scaleBy, factor);
  }

  pan(dx, dy) {
    const { k } = d3.zoomTransform(this.svg.node());
    this.svg.interrupt().call(this.zoom.translateBy, dx / k, dy / k);
  }

  zoomed() {
    const transform = d3.event.transform;
    this.root.attr('transform', transform);
    this.view.classList.toggle('zoomed', this.isZoomedIn());
    // Far away lines stay as thick as can be seen; in steps, since each restyles them all.
    const step = Math.min(1, 2 ** Math.round(Math.log2(transform.k)));
    if (step !== this.lineStep) {
      this.lineStep = step;
      const style = this.root.node().style;
      style.setProperty('--thin', `${Math.max(1, 0.7 / step)}px`);
      style.setProperty('--thick', `${Math.max(3, 1.7 / step)}px`);
      style.setProperty('--outline', `${Math.max(2.5, 0.9 / step)}px`);
    }
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.placeLabels(); });
  }

  placeLabels() {
    const transform = d3.zoomTransform(this.svg.node());
    const found = LABELS.find((one) => transform.k >= one.from);
    const level = found ? found.name : '';
    if (level !== this.level) {
      this.level = level;
      this.labelled.forEach((group) => group.remove());
      this.labelled.clear();
    }
    if (!level) return;
    const [left, top] = transform.invert([0, 0]);
    const [right, bottom] = transform.invert([this.width, this.height]);
    const isSeen = (node) => node.x + node.width / 2 > left && node.x - node.width / 2 < right && node.y + node.height / 2 > top && node.y - node.height / 2 < bottom;
    for (const [node, group] of this.labelled) {
      if (isSeen(node)) continue;
      group.remove();
      this.labelled.delete(node);
    }
    for (const node of this.model.nodes) {
      if (!isSeen(node) || this.labelled.has(node)) continue;
      const group = this.labels.append('g').attr('class', node.free ? 'label' : node.heat === null ? 'label on-null' : `label on-heat-${node.heat}`).attr('transform', `translate(${node.x},${node.y})`);
      for (const label of labelsOf(this.model, node, level)) {
        group.append('text').attr('class', (label.bold ? 'strong ' : '') + (label.quiet ? 'quiet' : '')).attr('x', label.x).attr('y', label.y)
          .attr('text-anchor', label.anchor).style('font-size', `${label.size}px`).text(label.text);
      }
      this.labelled.set(node, group);
    }
  }

  select(indices) {
    for (const node of this.selected) node.element.classList.remove('selected');
    this.selected = new Set(indices.map((index) => this.model.nodes[index]));
    for (const node of this.selected) {
      node.element.classList.add('selected');
      node.element.parentNode.append(node.element);
    }
  }

  // Centres these layers, large enough to be read.
  show(indices, duration) {
    if (indices.length === 0) return;
    this.select(indices);
    const nodes = indices.map((index) => this.model.nodes[index]);
    const [left, right] = [d3.min(nodes, (n) => n.x - n.width / 2), d3.max(nodes, (n) => n.x + n.width / 2)];
    const [top, bottom] = [d3.min(nodes, (n) => n.y - n.height / 2), d3.max(nodes, (n) => n.y + n.height / 2)];
    const room = 0.8 * Math.min(this.width / (right - left), this.height / (bottom - top));
    const scale = Math.max(this.fitScale, Math.min(1.2, room));
    this.animated(duration).call(this.zoom.transform, d3.zoomIdentity.translate(this.width / 2, this.height / 2).scale(scale)
      .translate(-(left + right) / 2, -(top + bottom) / 2));
  }

  showNextLargest() {
    if (this.ranked.length === 0) return;
    const row = this.ranked[this.nextRank];
    this.nextRank = (this.nextRank + 1) % this.ranked.length;
    this.show(row.layers, 350);
    announce(`${row.label}: ${this.model.compared ? 'gap' : 'bound'} ${timeText(this.model.weight(row))}`);
  }

  open(node) {
    this.select(node.row ? node.row.layers : [node.index]);
    tooltip.hide();
    if (node.row) this.data.openRow(node.row);
  }

  // Rows that the layer table's filter leaves, or null for all.
  highlight(rows) {
    const kept = rows === null ? null : new Set(rows);
    this.view.classList.toggle('filtered', kept !== null);
    for (const node of this.model.nodes) node.element.classList.toggle('match', kept !== null && kept.has(node.row));
  }

  listen() {
    const on = (id, act) => document.getElementById(id).addEventListener('click', act);
    on('graph-in', () => this.zoomBy(1.6));
    on('graph-out', () => this.zoomBy(1 / 1.6));
    on('graph-fit', () => this.fit(250));
    on('graph-next', () => this.showNextLargest());
    document.getElementById('graph-next').textContent = `Next largest ${this.model.compared ? 'gap' : 'bound'}`;
    document.getElementById('graph-next').hidden = this.ranked.length === 0;
    const keys = {
      ArrowLeft: () => this.pan(60, 0), ArrowRight: () => this.pan(-60, 0), ArrowUp: () => this.pan(0, 60), ArrowDown: () => this.pan(0, -60),
      '+': () => this.zoomBy(1.6), '=': () => this.zoomBy(1.6), '-': () => this.zoomBy(1 / 1.6), 0: () => this.fit(250), n: () => this.showNextLargest(),
      Enter: () => { const [first] = this.selected; if (first) this.open(first); },
    };
    this.view.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    let width = this.view.clientWidth;
    new ResizeObserver(() => {
      if (this.view.clientWidth === width) return;
      width = this.view.clientWidth;
      this.resize();
    }).observe(this.view);
    addEventListener('beforeprint', () => {
      this.kept = d3.zoomTransform(this.svg.node());
      this.fit(0);
    });
    addEventListener('afterprint', () => { if (this.kept) this.svg.call(this.zoom.transform, this.kept); });
    this.data.onFilter = (rows) => this.highlight(rows);
    this.data.showInGraph = (indices) => {
      document.getElementById('graph').scrollIntoView({ block: 'start' });
      this.view.focus({ preventScroll: true });
      this.show(indices, 350);
    };
  }
}

// After the layer table, which it opens rows of.
function drawModelGraph(data) {
  const section = document.getElementById('graph');
  section.hidden = data.graph.edges.length === 0;
  if (section.hidden) return;
  const compared = data.rows.some((row) => row.bound_us !== null && row.measured_us !== null);
  section.classList.toggle('by-bound', !compared);
  document.getElementById('graph-lead').textContent = `Every layer; data flows down, then on to the next column. The colour says ${compared ? 'by how much measured exceeds bound in the layer\u2019s row' : 'what the bound counts for the layer\u2019s row'}. Ctrl and the wheel, two fingers or + and \u2212 zoom; a click opens the row in the table.`;
  data.modelGraph = new ModelGraph(data);
}
