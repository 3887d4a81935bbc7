// What stands in the picture of the model: nodes with their colours and labels, edges, outlines, legend. Places come
// with the data (reports/graph_layout).
'use strict';

const HEAT_SHARES = [0, 1 / 30, 1 / 10, 1 / 4, 1 / 2];  // of the largest weight; from each on a stronger colour
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
  // Regions of the bound whose layers the engine ran in several rows.
  const chosen = data.regions.filter((region) => region.chosen && new Set(region.layers.map((index) => rowOf.get(index))).size > 1)
    .map((region) => ({ region, members: membersOf(nodes, region.layers) })).filter((one) => one.members.length > 1);
  for (const one of chosen) for (const node of one.members) node.chosen = one;
  return { nodes, edges, size: graph.size, compared, word: data.word, weight, largest, chosen, byTop: nodes.slice().sort((a, b) => a.y - b.y), tallest: d3.max(nodes, (node) => node.height) };
}

function isUntimed(node) {
  return (node.layer.status === 'missing' || node.layer.status === 'unknown') && !(node.row && node.row.bound_us !== null);
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

// Constants that were folded stand beside who reads them, in no outline.
function membersOf(nodes, layers) {
  return layers.map((index) => nodes[index]).filter((node) => !node.free || node.edges.some((edge) => edge.to === node));
}

// The box around these layers, or null where another one stands in it.
function frameOf(model, members, pad) {
  const [left, right] = [d3.min(members, (n) => n.x - n.width / 2) - pad, d3.max(members, (n) => n.x + n.width / 2) + pad];
  const [top, bottom] = [d3.min(members, (n) => n.y - n.height / 2) - pad, d3.max(members, (n) => n.y + n.height / 2) + pad];
  const firstFrom = d3.bisector((node) => node.y).left;
  const near = model.byTop.slice(firstFrom(model.byTop, top - model.tallest), firstFrom(model.byTop, bottom + model.tallest));
  const meets = (n) => n.x + n.width / 2 > left && n.x - n.width / 2 < right && n.y + n.height / 2 > top && n.y - n.height / 2 < bottom;
  return near.some((n) => !members.includes(n) && meets(n)) ? null : { left, top, width: right - left, height: bottom - top };
}

// Boxes of these layers, and the edges between them.
function partsOf(members, pad) {
  const box = (node) => `M${node.x - node.width / 2 - pad},${node.y - node.height / 2 - pad}h${node.width + 2 * pad}v${node.height + 2 * pad}h${-node.width - 2 * pad}z`;
  const inside = new Set(members);
  const edges = Array.from(new Set(members.flatMap((node) => node.edges))).filter((edge) => inside.has(edge.from) && inside.has(edge.to));
  return { boxes: members.map(box).join(''), lines: edges.map(routePath).join('') };
}

function appendFrame(group, name, frame) {
  group.append('rect').attr('class', name).attr('x', frame.left).attr('y', frame.top).attr('width', frame.width).attr('height', frame.height).attr('rx', 9);
}

// An outline around the layers of each row: a box where nothing else stands in it, else its layers and the edges
// between them, wide.
function drawFused(layer, model, data) {
  for (const row of data.rows) {
    const members = membersOf(model.nodes, row.layers);
    if (members.length < 2) continue;
    const frame = frameOf(model, members, 7);
    const group = layer.append('g').attr('class', 'fused');
    if (frame) {
      appendFrame(group, 'box', frame);
      continue;
    }
    const { boxes, lines } = partsOf(members, 2);
    for (const part of ['rim', 'inside']) {
      group.append('path').attr('class', `${part} boxes`).attr('d', boxes);
      if (lines) group.append('path').attr('class', `${part} lines`).attr('d', lines);
    }
  }
}

// What the bound runs as one across the engine's rows: dashed, around its layers or, where others stand between, around
// each of them with a band along their edges.
function drawChosen(layer, model) {
  for (const { members } of model.chosen) {
    const frame = frameOf(model, members, 12);
    const group = layer.append('g').attr('class', 'chosen');
    if (frame) {
      appendFrame(group, 'ring', frame);
      continue;
    }
    const { boxes, lines } = partsOf(members, 5);
    if (lines) group.append('path').attr('class', 'band').attr('d', lines);
    group.append('path').attr('class', 'ring').attr('d', boxes);
  }
}

function graphTip(model, data, node) {
  const { layer, row } = node;
  const weight = row ? model.weight(row) : null;
  return [layer.name || '(no name)', [['operator', layer.op], ['row', row && row.layers.length > 1 ? row.label : ''],
    ['measured', row && row.measured_us !== null ? exactTimeText(row.measured_us) : ''], [data.word, row && row.bound_us !== null ? exactTimeText(row.bound_us) : ''], ['decided by', data.floorsAlone && row ? row.floor_decided_by : ''],
    ['gap', model.compared && weight !== null ? exactTimeText(weight) : ''], ['layer alone', row && row.layers.length > 1 && layer.latency_us !== null ? exactTimeText(layer.latency_us) : ''],
    ['bound is', data.floorsAlone ? '' : layer.status], ['kernel', layer.candidate], ['in the bound one with', node.chosen ? chosenWith(node).join(', ') : ''], ['critical path', layer.on_critical_path ? 'yes' : ''], ['', layer.reason]]];
}

function chosenWith(node) {
  return node.chosen.members.filter((one) => one !== node && !one.free).map((one) => one.layer.name || '(no name)');
}

// For those who hear it: what a glance tells, then what its colour says.
function nodeName(model, node) {
  const { layer, row } = node;
  const weight = row ? model.weight(row) : null;
  const others = row ? row.busy - 1 : 0;
  return [layer.name || '(no name)', layer.op, row && row.measured_us !== null ? `measured ${timeText(row.measured_us)}` : '',
    row && row.bound_us !== null ? `${model.word} ${timeText(row.bound_us)}` : layer.status,
    model.compared && weight !== null ? `gap ${signedTimeText(weight)}` : '', others > 0 && !node.free ? `run as one with ${plural(others, 'other')}` : '',
    node.free ? 'free' : '', node.chosen ? `in the bound one with ${chosenWith(node).join(' and ')}` : '',
    layer.on_critical_path ? 'on the critical path' : '', `layer ${node.index + 1} of ${model.nodes.length}`].filter((part) => part).join(', ');
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
      if (!counts.has(heat)) continue;
      items.push({ color: `heat-${heat}`, shape: 'edged', text: `${heat === HEAT_SHARES.length - 1 ? (model.compared ? 'gap ' : model.word + ' ') : ''}from ${timeText(HEAT_SHARES[heat] * model.largest)}: ${plural(counts.get(heat), 'row')}` });
    }
  }
  items.push({ color: 'heat-0', shape: 'edged', text: 'less' });
  if (counts.has('faster')) items.push({ color: 'heat-faster', shape: 'edged', text: `faster than its bound (${counts.get('faster')})` });
  if (model.nodes.some((node) => isUntimed(node))) items.push({ color: 'missing', shape: 'hatched', text: 'no time known' });
  if (model.nodes.some((node) => node.free)) items.push({ color: 'free', shape: 'small', text: 'free' });
  if (model.nodes.some((node) => node.layer.on_critical_path)) items.push({ color: 'text', shape: 'thick', text: 'critical path' });
  if (data.rows.some((row) => row.layers.length > 1)) items.push({ color: 'fused-rim', shape: 'outlined', text: 'run as one' });
  if (model.chosen.length > 0) items.push({ color: 'chosen-rim', shape: 'outlined dashed', text: `one in the bound, several rows in the run: ${plural(model.chosen.length, 'region')}` });
  legend('graph-chart', items);
}

function graphDescription(model, data) {
  const critical = model.nodes.filter((node) => node.layer.on_critical_path).length;
  const rows = data.rows.filter((row) => row.layers.length > 0 && model.weight(row) > 0).sort((a, b) => model.weight(b) - model.weight(a)).slice(0, 3);
  const list = rows.map((row) => `${row.label} ${timeText(model.weight(row))}`).join(', ');
  return `Graph of ${plural(model.nodes.length, 'layer')} and ${plural(model.edges.length, 'edge')}, ${critical} on the critical path`
    + (list ? `; the largest ${model.compared ? 'gaps' : model.word + 's'}: ${list}` : '') + '. The layer table holds the same as text.';
}
