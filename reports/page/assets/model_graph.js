// The model as a graph that can be moved and zoomed. Labels appear where they can be read. The page keeps its own
// scrolling: the graph zooms by buttons, keys, two fingers, or the wheel with Ctrl.
'use strict';

const LABELS = [  // from which scale on what is written
  { from: 0.85, name: 'near' },
  { from: 0.5, name: 'middle' },
  { from: 0.3, name: 'low' },
];

class ModelGraph {
  constructor(data) {
    this.data = data;
    this.model = graphModel(data);
    this.selected = new Set();
    this.ranked = data.rows.filter((row) => row.layers.length > 0 && this.model.weight(row) > 0).sort((a, b) => this.model.weight(b) - this.model.weight(a));
    this.nextRank = 0;
    this.kept = null;  // what was shown before it was printed
    this.view = document.getElementById('graph-view');
    for (const node of this.model.nodes) node.heat = heatOf(this.model, node.row);
    graphLegend(this.model, data);
    this.draw();
    this.zoom = d3.zoom().on('start', () => { this.finger = null; }).on('zoom', () => this.zoomed()).filter(() => this.takes(d3.event)).clickDistance(4);
    // D3 would take every touch; the style sheet says which are the graph's.
    this.svg.call(this.zoom).on('dblclick.zoom', null).style('touch-action', null);
    this.resize();
    this.keys = new GraphKeys(this);
    this.listen();
  }

  draw() {
    const { model, data } = this;
    this.svg = d3.select(this.view).append('svg').attr('role', 'group').attr('aria-label', graphDescription(model, data));
    const hatch = this.svg.append('defs').append('pattern').attr('id', 'graph-hatch').attr('width', 8).attr('height', 8)
      .attr('patternUnits', 'userSpaceOnUse').attr('patternTransform', 'rotate(45)');
    hatch.append('rect').attr('class', 'hatch-back').attr('width', 8).attr('height', 8);
    hatch.append('rect').attr('class', 'missing').attr('width', 3.5).attr('height', 8);
    this.root = this.svg.append('g').attr('class', 'graph-root');
    drawFused(this.root.append('g'), model, data);
    drawChosen(this.root.append('g'), model);
    const edges = (critical) => this.root.append('g').attr('class', critical ? 'edges critical' : 'edges').selectAll('path')
      .data(model.edges.filter((edge) => edge.critical === critical)).enter().append('path')
      .attr('class', critical ? 'edge critical' : 'edge').attr('d', routePath).each(function keep(edge) { edge.element = this; });
    edges(false);
    edges(true);
    const heatClass = (node) => (node.free ? '' : node.heat !== null ? `heat-${node.heat}` : isUntimed(node) ? 'untimed' : '');
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
    const tallest = this.kept ? 860 : this.width < NARROW ? 420 : 640;
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

  // Around a layer, else around the middle of what is shown.
  zoomBy(factor, node) {
    const around = node ? d3.zoomTransform(this.svg.node()).apply([node.x, node.y]) : undefined;
    this.animated(node ? 0 : 200).call(this.zoom.scaleBy, factor, around);
  }

  pan(dx, dy) {
    const { k } = d3.zoomTransform(this.svg.node());
    this.svg.interrupt().call(this.zoom.translateBy, dx / k, dy / k);
  }

  // What of one finger's way the picture cannot follow scrolls the page, so that it never holds a finger.
  passOn(event, transform) {
    if (!event || event.type !== 'touchmove' || event.touches.length !== 1) {
      this.finger = null;
      return;
    }
    const y = event.touches[0].clientY;
    const rest = this.finger ? y - this.finger.y - (transform.y - this.finger.shown) : 0;
    this.finger = { y, shown: transform.y };
    if (Math.abs(rest) >= 0.5) scrollBy({ top: -rest, behavior: 'instant' });
  }

  zoomed() {
    const transform = d3.event.transform;
    this.passOn(d3.event.sourceEvent, transform);
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
    // On paper numbers stand even where a screen could not show them.
    const level = found ? found.name : this.kept ? 'low' : '';
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

  // On paper all of it, as large as a page is wide; afterwards what was shown before.
  print(printed) {
    const kept = this.kept;
    this.kept = printed ? d3.zoomTransform(this.svg.node()) : null;
    this.resize();
    if (!printed && kept) this.svg.call(this.zoom.transform, kept);
    this.placeLabels();
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

  showNextLargest(duration) {
    if (this.ranked.length === 0) return;
    const row = this.ranked[this.nextRank];
    this.nextRank = (this.nextRank + 1) % this.ranked.length;
    this.show(row.layers, duration);
    if (document.activeElement === this.view) this.keys.activate(this.model.nodes[row.main_layer]);
    announce(`${row.label}: ${this.model.compared ? 'gap' : this.model.word} ${timeText(this.model.weight(row))}`);
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
    on('graph-next', () => this.showNextLargest(350));
    document.getElementById('graph-next').textContent = `Next largest ${this.model.compared ? 'gap' : this.model.word}`;
    document.getElementById('graph-next').hidden = this.ranked.length === 0;
    let width = this.view.clientWidth;
    new ResizeObserver(() => {
      if (this.view.clientWidth === width || this.kept) return;
      width = this.view.clientWidth;
      this.resize();
    }).observe(this.view);
    this.data.onFilter = (rows) => this.highlight(rows);
    this.data.showInGraph = (indices, main) => {
      document.getElementById('graph').scrollIntoView({ block: 'start' });
      this.view.focus({ preventScroll: true });
      this.show(indices, 0);
      this.keys.activate(this.model.nodes[main]);
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
  document.getElementById('graph-lead').textContent = `Every layer; data flows down, then on to the next column. The colour says ${compared ? 'by how much measured exceeds bound in the layer\u2019s row' : (data.floorsAlone ? 'what the layer needs alone at least' : 'what the bound counts for the layer\u2019s row')}. Ctrl and the wheel, two fingers or + and \u2212 zoom; a click opens the row in the table.`;
  data.modelGraph = new ModelGraph(data);
}
