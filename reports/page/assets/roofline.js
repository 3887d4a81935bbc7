// The roofline: arithmetic intensity against attained rate, both logarithmic.
'use strict';

function drawRoofline(data) {
  if (data.floorsAlone) return;
  const points = [];
  const largest = d3.max(data.rows, (row) => Math.max(row.bound_us || 0, row.measured_us || 0)) || 1;
  for (const row of data.rows) {
    if (!(row.conventional_flops > 0 && row.bytes > 0)) continue;
    const add = (us, kind) => us > 0 && points.push({ row, kind, us, x: row.conventional_flops / row.bytes, y: row.conventional_flops / us * 1e6 });
    add(row.measured_us, 'measured');
    if (row.status === 'measured' || row.status === 'free') add(row.bound_us, 'bound');
  }
  const arithmetic = data.roofs.arithmetic.filter((roof) => roof.per_second > 0);
  const bandwidth = data.roofs.bandwidth.filter((roof) => roof.per_second > 0);
  if (points.length === 0 || arithmetic.length === 0 || bandwidth.length === 0) return;
  legend('roofline-chart', (data.run ? [{ color: 'measured', text: data.run.framework, shape: 'diamond' }] : [])
    .concat([{ color: 'bound', text: 'best measured kernel', shape: 'round' }]));
  const height = document.getElementById('roofline-chart').clientWidth < NARROW ? 340 : 420;
  const { svg, width, narrow } = chartFrame('roofline-chart', height, `Roofline with ${points.length} points under ${arithmetic.concat(bandwidth).map((r) => r.name).join(', ')}`);
  const margin = { left: narrow ? 58 : 74, right: 16, top: 12, bottom: 40 };
  const topRate = d3.max(arithmetic, (roof) => roof.per_second);
  const topBandwidth = d3.max(bandwidth, (roof) => roof.per_second);
  const ridge = topRate / d3.min(bandwidth, (roof) => roof.per_second);
  const x = d3.scaleLog().domain([d3.min(points, (p) => p.x) / 1.6, Math.max(d3.max(points, (p) => p.x) * 1.6, ridge * 2)])
    .range([margin.left, width - margin.right]);
  const lowest = Math.min(d3.min(points, (p) => p.y) / 1.6, topRate / 100);
  const y = d3.scaleLog().domain([lowest, Math.max(topRate, d3.max(points, (p) => p.y)) * 1.7]).range([height - margin.bottom, margin.top]);
  drawRooflineAxes(svg, x, y, margin, width, height);

  const clip = 'roofline-clip';
  svg.append('clipPath').attr('id', clip).append('rect').attr('x', margin.left).attr('y', margin.top)
    .attr('width', width - margin.left - margin.right).attr('height', height - margin.top - margin.bottom);
  const roofs = svg.append('g').attr('clip-path', `url(#${clip})`);
  const [x0, x1] = x.domain();
  for (const roof of bandwidth) {
    const end = Math.min(x1, topRate / roof.per_second);
    roofs.append('path').attr('class', 'roof').attr('d', `M${x(x0)},${y(x0 * roof.per_second)}L${x(end)},${y(end * roof.per_second)}`);
  }
  for (const roof of arithmetic) {
    const start = Math.max(x0, roof.per_second / topBandwidth);
    roofs.append('path').attr('class', 'roof').attr('d', `M${x(start)},${y(roof.per_second)}H${x(x1)}`);
  }
  const symbol = (p) => d3.symbol().type(p.kind === 'measured' ? d3.symbolDiamond : d3.symbolCircle)
    .size(22 + 320 * p.us / largest)();
  points.sort((a, b) => b.us - a.us);
  withTooltip(svg.append('g').attr('clip-path', `url(#${clip})`).selectAll('path').data(points).enter().append('path')
    .attr('class', (p) => 'mark dot ' + p.kind).attr('d', symbol).attr('transform', (p) => `translate(${x(p.x)},${y(p.y)})`), (p) => [
    p.row.label, [['series', p.kind === 'measured' ? data.run.framework : 'best measured kernel'],
      ['time', exactTimeText(p.us)], ['attained', prefixedText(p.y, 'FLOP/s')],
      ['intensity', p.x.toFixed(2) + ' FLOP/B'], ['of the top roof', percentText(p.y / topRate)]]]);
  labelRoofs(svg, arithmetic, bandwidth, x, y, topRate, narrow);
}

function drawRooflineAxes(svg, x, y, margin, width, height) {
  const axis = svg.append('g').attr('class', 'axis');
  const powers = (scale) => {
    const [low, high] = scale.domain().map(Math.log10);
    return d3.range(Math.ceil(low), Math.floor(high) + 1).map((power) => 10 ** power);
  };
  for (const tick of powers(x)) {
    axis.append('line').attr('x1', x(tick)).attr('x2', x(tick)).attr('y1', margin.top).attr('y2', height - margin.bottom);
    axis.append('text').attr('x', x(tick)).attr('y', height - margin.bottom + 16).attr('text-anchor', 'middle').text(String(tick));
  }
  for (const tick of powers(y)) {
    axis.append('line').attr('x1', margin.left).attr('x2', width - margin.right).attr('y1', y(tick)).attr('y2', y(tick));
    axis.append('text').attr('x', margin.left - 7).attr('y', y(tick) + 4).attr('text-anchor', 'end')
      .text(prefixedText(tick, '').replace('.00', '').replace('.0', ''));
  }
  axis.append('text').attr('x', width - margin.right).attr('y', height - 4).attr('text-anchor', 'end').text('arithmetic intensity, FLOP/B');
  axis.append('text').attr('x', margin.left + 6).attr('y', margin.top + 4).text('FLOP/s');
}

// Names of the roofs: of arithmetic at the right above their lines, pushed apart where they are close;
// of bandwidths along their slopes at the left.
function labelRoofs(svg, arithmetic, bandwidth, x, y, topRate, narrow) {
  let last = -Infinity;
  for (const roof of equalRoofs(arithmetic)) {
    const position = Math.max(y(roof.per_second) - 5, last + 14);
    last = position;
    svg.append('text').attr('class', 'muted halo').attr('x', x.range()[1] - 2).attr('y', position).attr('text-anchor', 'end')
      .text(`${roof.name} ${prefixedText(roof.per_second, 'FLOP/s')}`);
  }
  const slope = Math.atan2(y(10) - y(100), x(100) - x(10)) * 180 / Math.PI;
  for (const roof of bandwidth) {
    // Start where the line enters the plot, at its left or bottom edge.
    const start = Math.max(x.domain()[0] * 1.15, y.domain()[0] * 1.6 / roof.per_second);
    const room = x(topRate / roof.per_second) - x(start);
    if (room < (narrow ? 90 : 150)) continue;
    svg.append('text').attr('class', 'muted halo').attr('transform', `translate(${x(start)},${y(start * roof.per_second) - 6}) rotate(${-slope})`)
      .text(`${roof.name} ${prefixedText(roof.per_second, 'B/s')}`);
  }
}

// Roofs of one height under one name, the highest first: "f16, f32 arithmetic".
function equalRoofs(roofs) {
  const joined = [];
  for (const roof of roofs.slice().sort((a, b) => b.per_second - a.per_second)) {
    const last = joined[joined.length - 1];
    if (last && prefixedText(last.per_second, '') === prefixedText(roof.per_second, '')) {
      last.name = last.name.replace(' arithmetic', '') + ', ' + roof.name;
    } else {
      joined.push({ ...roof });
    }
  }
  return joined;
}
