// The charts. Each draws into its element at the width that it finds there and is drawn again when the
// width changes; colours come from classes, so that light and dark need no redrawing.
'use strict';

const NARROW = 460;  // below this, labels stand above their bars

const measuring = document.createElement('canvas').getContext('2d');

function textWidth(text, bold) {
  measuring.font = `${bold ? 'bold ' : ''}13px ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

// As much of the text as fits, its two ends.
function fitText(text, width, bold) {
  let columns = Array.from(text).length;
  let fitted = text;
  while (columns > 4 && textWidth(fitted, bold) > width) {
    columns = Math.max(4, Math.min(columns - 1, Math.floor(columns * width / textWidth(fitted, bold))));
    fitted = middleCut(text, columns);
  }
  return fitted;
}

function chartFrame(id, height, description) {
  const container = document.getElementById(id);
  const width = Math.max(260, container.clientWidth);
  d3.select(container).selectAll('svg').remove();
  const svg = d3.select(container).append('svg')
    .attr('viewBox', `0 0 ${width} ${height}`).attr('height', height)
    .attr('role', 'img').attr('aria-label', description);
  return { svg, width, narrow: width < NARROW };
}

function legend(id, items) {
  const container = document.getElementById(id);
  container.querySelectorAll('.legend').forEach((old) => old.remove());
  const list = element('ul', { class: 'legend' });
  for (const item of items) {
    const key = element('span', { class: 'key ' + (item.shape || ''), 'aria-hidden': 'true' });
    key.style.setProperty('--key', `var(--${item.color})`);
    list.append(element('li', {}, key, item.text));
  }
  container.prepend(list);
}

function timeAxis(svg, scale, top, bottom) {
  const unit = unitFor(Math.max(...scale.domain().map(Math.abs)));
  const ticks = scale.ticks(Math.max(2, Math.floor((scale.range()[1] - scale.range()[0]) / 90)));
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / unit.scale : 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(Math.abs(step)) - 1e-9));
  const axis = svg.insert('g', ':first-child').attr('class', 'axis');
  for (const tick of ticks) {
    const x = scale(tick);
    axis.append('line').attr('x1', x).attr('x2', x).attr('y1', top).attr('y2', bottom);
    axis.append('text').attr('x', x).attr('y', bottom + 15).attr('text-anchor', x < 12 ? 'start' : 'middle')
      .text((tick === 0 ? '0' : (tick / unit.scale).toFixed(digits).replace('-', MINUS)) + (tick === ticks[ticks.length - 1] ? ' ' + unit.name : ''));
  }
}

const VARIANT_NAMES = {
  sequential: 'Bound, layer by layer',
  parallel: 'Bound, layers in parallel',
};

function bracketRows(data) {
  const rows = [];
  const add = (symbol, name, us, color, extra) => rows.push({ symbol, name, us, color, ...extra });
  for (const floor of data.floors) {
    if (floor.latency_us > 0) {
      add('F', 'Floor, ' + floor.class, floor.latency_us, 'floor', { note: 'decided by ' + floor.decided_by });
    }
  }
  const bounds = data.bounds.slice().sort((a, b) => a.latency_us - b.latency_us);
  for (const bound of bounds) {
    add('F1', VARIANT_NAMES[bound.variant] || 'Bound, ' + bound.variant, bound.latency_us, 'bound',
      { interval: bound.interval_us, note: bound.assumptions.join(', ') });
  }
  if (data.demonstrated_us !== null) add('R', 'Demonstrated', data.demonstrated_us, 'demonstrated', { note: 'really run' });
  if (data.run) {
    add('T', `${data.run.framework} ${data.run.version}`, data.run.latency_us, 'measured',
      { interval: data.run.interval_us,
        note: plural(data.run.samples, 'sample') + ' in ' + plural(data.run.repetitions, 'repetition') });
  }
  for (const other of data.other_runs) add('T', other.name, other.latency_us, 'measured', { interval: other.interval_us });
  return rows;
}

function mainBound(data) {
  const named = (variant) => data.bounds.find((bound) => bound.variant === variant);
  return named('fused-sequential') || named('sequential') || data.bounds[0] || null;
}

function drawBracket(data) {
  const rows = bracketRows(data);
  const container = document.getElementById('bracket-chart');
  if (rows.length === 0) {
    container.replaceChildren(element('p', { class: 'quiet', text: 'There is no number yet: nothing was measured on this device.' }));
    return;
  }
  const narrowGuess = container.clientWidth < NARROW;
  const rowHeight = narrowGuess ? 46 : 34;
  const top = 26;
  const bottom = top + rows.length * rowHeight;
  const { svg, width, narrow } = chartFrame('bracket-chart', bottom + 24,
    (data.floorsAlone ? 'Floors: ' : 'Bracket: ') + rows.map((row) => `${row.name} ${timeText(row.us)}`).join('; '));
  const nameWidth = narrow ? width - 34 : Math.min(230, Math.max(...rows.map((row) => textWidth(row.name))));
  const left = narrow ? 2 : 34 + nameWidth + 14;
  const right = 84;
  const largest = Math.max(...rows.map((row) => Math.max(row.us, row.interval ? row.interval[1] : 0)));
  const x = d3.scaleLinear().domain([0, largest]).range([left, width - right]);
  timeAxis(svg, x, top - 4, bottom);

  const bound = mainBound(data);
  if (data.run && bound && data.run.latency_us > bound.latency_us && data.promises_gains) {
    const start = x(bound.latency_us);
    const end = x(data.run.latency_us);
    svg.append('rect').attr('class', 'win').attr('x', start).attr('width', Math.max(1, end - start))
      .attr('y', top - 4).attr('height', bottom - top + 4);
    svg.append('text').attr('x', Math.min(width - 2, Math.max(end, left + 170))).attr('y', top - 10).attr('text-anchor', 'end')
      .attr('class', 'strong')
      .text(`${timeText(data.run.latency_us - bound.latency_us)} (${percentText(1 - bound.latency_us / data.run.latency_us)}) could be won`);
  }
  const groups = svg.selectAll('g.row').data(rows).enter().append('g').attr('class', 'row')
    .attr('transform', (row, i) => `translate(0,${top + i * rowHeight})`);
  const barTop = narrow ? 19 : 6;
  const barHeight = rowHeight - barTop - (narrow ? 6 : 7);
  const middle = barTop + barHeight / 2;
  const labelY = narrow ? 13 : middle + 4.5;
  groups.append('text').attr('class', 'strong').attr('x', narrow ? 2 : 4).attr('y', labelY).text((row) => row.symbol);
  groups.append('text').attr('x', narrow ? 28 : 34).attr('y', labelY).text((row) => fitText(row.name, nameWidth));
  groups.append('rect').attr('class', (row) => 'mark ' + row.color).attr('x', left).attr('y', barTop)
    .attr('height', barHeight).attr('rx', 2).attr('width', (row) => Math.max(1.5, x(row.us) - left));
  groups.filter((row) => row.interval && row.interval[1] > row.interval[0]).append('path').attr('class', 'whisker')
    .attr('d', (row) => {
      const [low, high] = row.interval.map(x);
      return `M${low},${middle - 5}v10M${low},${middle}H${high}M${high},${middle - 5}v10`;
    });
  groups.append('text').attr('class', 'strong').attr('y', middle + 4.5)
    .attr('x', (row) => x(Math.max(row.us, row.interval ? row.interval[1] : 0)) + 7).text((row) => timeText(row.us));
  withTooltip(groups.append('rect').attr('class', 'hit').attr('width', width).attr('height', rowHeight), (row) => [
    `${row.symbol}: ${row.name}`,
    [['value', exactTimeText(row.us)],
      ['interval, 95 %', row.interval ? row.interval.map(exactTimeText).join(' to ') : ''],
      ['', row.note]]]);
}

// Horizontal bars, one group a row: [{label, bars: [{us, color}], note, tip}]; from 0, or from a bar's own `from`.
function drawBars(id, rows, options) {
  const { description, labelShare = 0.34, rowHeight = 34, signed = false, right = 118 } = options;
  const container = document.getElementById(id);
  const narrowGuess = container.clientWidth < NARROW;
  const labelHeight = narrowGuess ? 17 : 0;
  const height = rowHeight + labelHeight;
  const top = 4;
  const bottom = top + rows.length * height;
  const { svg, width, narrow } = chartFrame(id, bottom + 24, description);
  const labelWidth = narrow ? width - 8 : Math.min(width * labelShare, Math.max(...rows.map((row) => textWidth(row.label, row.strong)))) + 2;
  const left = narrow ? 2 : labelWidth + 10;
  const values = rows.flatMap((row) => row.bars.flatMap((bar) => [bar.from || 0, bar.us]));
  const low = signed ? Math.min(0, ...values) : 0;
  const high = Math.max(0, ...values);
  // Bars that go left keep room for their value.
  const x = d3.scaleLinear().domain([low, high || 1]).range([left + (low < 0 && narrow ? 10 : 0), width - right]);
  timeAxis(svg, x, top, bottom);
  const groups = svg.selectAll('g.row').data(rows).enter().append('g').attr('class', 'row')
    .attr('transform', (row, i) => `translate(0,${top + i * height})`);
  groups.append('text').attr('x', narrow ? 2 : left - 9).attr('text-anchor', narrow ? 'start' : 'end')
    .attr('class', (row) => (row.strong ? 'strong' : null))
    .attr('y', (row) => (narrow ? 14 : rowHeight / 2 + 4.5))
    .text((row) => fitText(row.label, labelWidth, row.strong));
  groups.each(function drawRow(row) {
    const group = d3.select(this);
    const count = row.bars.length;
    const thickness = Math.min(14, (rowHeight - 9) / count);
    const start = labelHeight + (rowHeight - thickness * count) / 2;
    row.bars.forEach((bar, i) => {
      const from = x(Math.min(bar.from || 0, bar.us));
      group.append('rect').attr('class', 'mark ' + bar.color).attr('x', from).attr('y', start + i * thickness)
        .attr('height', thickness - 1).attr('width', Math.max(1, x(Math.max(bar.from || 0, bar.us)) - from)).attr('rx', 1);
    });
    const end = x(Math.max(0, ...row.bars.flatMap((bar) => [bar.from || 0, bar.us])));
    group.append('text').attr('class', row.strong ? 'strong' : 'muted').attr('x', end + 7).attr('y', labelHeight + rowHeight / 2 + 4.5).text(row.note);
  });
  if (signed) svg.append('line').attr('class', 'zero').attr('x1', x(0)).attr('x2', x(0)).attr('y1', top).attr('y2', bottom);
  withTooltip(groups.append('rect').attr('class', 'hit').attr('width', width).attr('height', height), (row) => row.tip);
}

// The way from measured down to the bound: each bar begins where the one above it ends.
function drawLosses(data) {
  const bound = mainBound(data);
  const steps = data.waterfall.filter((step) => step.step !== 'above-floor');
  if (!data.run || steps.length === 0 || !bound || !data.promises_gains) return;
  const total = d3.sum(steps, (step) => step.latency_us);
  let level = total;
  const rows = [{
    label: 'measured \u2212 bound', strong: true, bars: [{ us: total, color: 'total' }], note: signedTimeText(total),
    tip: ['measured \u2212 bound', [['measured', exactTimeText(data.run.latency_us)], ['bound', exactTimeText(data.run.latency_us - total)]]],
  }];
  for (const step of steps) {
    const from = level;
    level -= step.latency_us;
    rows.push({
      label: step.title,
      bars: [{ from: level, us: from, color: step.latency_us < 0 ? 'faster' : 'slower' }],
      note: signedTimeText(step.latency_us),
      tip: [step.title, [['change', exactTimeText(step.latency_us)],
        ['of the measured time', percentText(step.latency_us / data.run.latency_us)],
        ...step.parts.slice(0, 5).map((part) => [part.name, signedTimeText(part.latency_us)]),
        ['', step.count > 5 ? `and ${step.count - 5} more` : '']]],
    });
  }
  legend('losses-chart', [{ color: 'floor', text: 'above the bound' }, { color: 'measured', text: 'lost' }, { color: 'demonstrated', text: 'won back' }]);
  drawBars('losses-chart', rows, {
    description: 'Steps from measured to bound: ' + rows.map((row) => `${row.label} ${row.note}`).join('; '),
    signed: true, rowHeight: 28, right: 84, labelShare: 0.42,
  });
}

function drawFamilies(data) {
  const families = new Map();
  for (const row of data.rows) {
    const family = families.get(row.family) || { family: row.family, bound: 0, measured: 0, count: 0 };
    family.bound += row.bound_us || 0;
    family.measured += row.measured_us || 0;
    family.count += 1;
    families.set(row.family, family);
  }
  const list = Array.from(families.values()).filter((f) => f.bound > 0 || f.measured > 0)
    .sort((a, b) => Math.max(b.bound, b.measured) - Math.max(a.bound, a.measured)).slice(0, 12);
  if (list.length === 0) return;
  const rows = list.map((f) => ({
    label: f.family,
    bars: (data.run ? [{ us: f.measured, color: 'measured' }] : []).concat([{ us: f.bound, color: data.floorsAlone ? 'floor' : 'bound' }]),
    note: data.run && f.bound > 0 && f.measured > 0 ? `${timeText(f.measured)} · ${ratioText(f.measured / f.bound)}` : timeText(f.bound || f.measured),
    tip: [f.family, [['rows', String(f.count)], ['measured', data.run ? exactTimeText(f.measured) : ''], [data.word, exactTimeText(f.bound)]]],
  }));
  legend('families-chart', (data.run ? [{ color: 'measured', text: data.run.framework }] : []).concat([{ color: data.floorsAlone ? 'floor' : 'bound', text: data.word }]));
  drawBars('families-chart', rows, {
    description: 'Time by family: ' + rows.map((row) => `${row.label} ${row.note}`).join('; '), labelShare: 0.36, rowHeight: 32,
  });
}

// Rows that run the same configurations, as one: one better kernel mends them all.
function byConfiguration(data, rows) {
  const groups = new Map();
  for (const row of rows) {
    const configs = row.layers.map((index) => data.layers[index].config).filter((config) => config);
    const key = configs.length > 0 ? configs.join(' ; ') : row.label;
    const group = groups.get(key) || { ...row, key, count: 0, bound_us: 0, measured_us: 0, floor_us: 0, members: [] };
    group.count += 1;
    group.bound_us += row.bound_us;
    group.measured_us += row.measured_us || 0;
    group.floor_us += row.floor_us;
    group.members.push(row.label);
    groups.set(key, group);
  }
  return Array.from(groups.values()).map((group) => {
    const main = data.layers[group.main_layer];
    return { ...group, label: `${group.count} × ${main && main.config ? shortConfiguration(main.config) : group.label}` };
  });
}

// What tells layers apart; defaults and types stay in the tooltip.
function shortConfiguration(config) {
  return config.split(' ').filter((field) => !/^(dtype=|dilation=1x1$|pad=|groups=1$|bias=|weights=|stride=1x1$)/.test(field)).join(' ')
    .replace('out_channels=', 'out=').replace(/^convolution /, 'conv ');
}

function drawGaps(data) {
  const { all: showAll, grouped } = data.gapView;
  const compared = data.rows.filter((row) => row.bound_us !== null && row.measured_us !== null);
  const withRun = compared.length > 0;
  const weight = (row) => (withRun ? row.measured_us - row.bound_us : row.bound_us);
  const single = withRun ? compared : data.rows.filter((row) => row.bound_us > 0);
  const all = (grouped ? byConfiguration(data, single) : single.slice()).sort((a, b) => weight(b) - weight(a));
  document.querySelector('#gaps .choice').hidden = all.length === 0;
  if (all.length === 0) return;
  const shown = showAll ? all : all.slice(0, 25);
  const gain = d3.sum(all, (row) => Math.max(0, weight(row)));
  const shownShare = gain > 0 ? percentText(d3.sum(shown, (row) => Math.max(0, weight(row))) / gain) : '';
  const noun = grouped ? 'configurations' : 'rows';
  const part = shown.length < all.length ? `These ${shown.length} of ${all.length} ${noun} hold ${shownShare} of ` : `All ${all.length} ${noun}: `;
  document.getElementById('gaps-title').textContent = data.floorsAlone ? `Roofline by ${grouped ? 'configuration' : 'layer'}` : `${withRun ? 'Measured against bound, by' : 'The most expensive'} ${grouped ? 'configuration' : 'layer'}${withRun ? '' : 's'}`;
  document.getElementById('gaps-lead').textContent = withRun
    ? `Largest gap first. ${part}what could be won in layers. Layers that the engine fused stand in one row.`
    : data.floorsAlone ? `Largest first. ${part}the roofline: what each layer needs alone at least, by its bytes or by its FLOPs.`
      : `Largest bound first. ${part}the bound. There is no framework's run to compare with yet.`;
  const rows = shown.map((row) => ({
    label: row.label,
    bars: (withRun ? [{ us: row.measured_us, color: 'measured' }] : []).concat([{ us: row.bound_us, color: data.floorsAlone ? 'floor' : row.status === 'estimated' ? 'estimated' : 'bound' }]),
    note: withRun ? signedTimeText(weight(row)) + (row.bound_us > 0 ? ' · ' + ratioText(row.measured_us / row.bound_us) : '')
      : timeText(row.bound_us) + (data.floorsAlone && row.floor_decided_by ? ' · ' + row.floor_decided_by : ''),
    tip: [grouped ? row.key : row.label, [['layers', grouped ? middleCut(row.members.join(', '), 200) : ''], ['family', row.family],
      ['measured', withRun ? exactTimeText(row.measured_us) : ''], ['bound', data.floorsAlone ? '' : exactTimeText(row.bound_us)],
      ['bound is', data.floorsAlone ? '' : row.status], ['gap', withRun ? exactTimeText(weight(row)) : ''], ['roofline', exactTimeText(row.floor_us)], ['decided by', row.floor_decided_by],
      ['engine', grouped ? '' : row.engine_layers.join(', ')]]],
  }));
  legend('gaps-chart', (withRun ? [{ color: 'measured', text: data.run.framework }] : [])
    .concat([data.floorsAlone ? { color: 'floor', text: 'roofline' } : { color: 'bound', text: 'best measured kernels' }], shown.some((row) => row.status === 'estimated') ? [{ color: 'estimated', text: 'estimated from bytes moved' }] : []));
  drawBars('gaps-chart', rows, {
    description: (data.floorsAlone ? 'Roofline by layer: ' : 'Measured and bound by layer: ') + rows.slice(0, 10).map((row) => `${row.label} ${row.note}`).join('; '), labelShare: 0.44, rowHeight: 28, right: data.floorsAlone ? 176 : 128,
  });
  const more = document.getElementById('gaps-more');
  more.hidden = all.length <= 25;
  more.textContent = showAll ? 'Show the top 25' : `Show all ${all.length} ${noun}`;
}

function gapControls(data) {
  data.gapView = { all: false, grouped: false };
  const layers = document.getElementById('gaps-by-layer');
  const configurations = document.getElementById('gaps-by-configuration');
  const choose = (grouped) => {
    data.gapView.grouped = grouped;
    layers.setAttribute('aria-pressed', String(!grouped));
    configurations.setAttribute('aria-pressed', String(grouped));
    drawGaps(data);
  };
  layers.addEventListener('click', () => choose(false));
  configurations.addEventListener('click', () => choose(true));
  document.getElementById('gaps-more').addEventListener('click', () => {
    data.gapView.all = !data.gapView.all;
    drawGaps(data);
  });
}

function drawCoverage(data) {
  if (data.floorsAlone) return;
  const counts = {};
  for (const layer of data.layers) counts[layer.status] = (counts[layer.status] || 0) + 1;
  const unknown = counts.unknown || 0;
  const parts = [
    { key: 'measured', color: 'bound', text: 'measured' },
    { key: 'estimated', color: 'estimated', text: 'estimated from bytes moved' },
    { key: 'missing', color: 'missing', text: unknown > 0 ? `missing, ${unknown} of unknown kind` : 'missing', shape: 'hatched' },
  ].map((part) => ({ ...part, share: data.coverage[part.key], count: (counts[part.key] || 0) + (part.key === 'missing' ? unknown : 0) }));
  legend('coverage-chart', parts.map((part) => ({
    color: part.color, shape: part.shape, text: `${percentText(part.share)} ${part.text} (${plural(part.count, 'layer')})`,
  })).concat(counts.free ? [{ color: 'free', text: `${plural(counts.free, 'layer')} free: views, folded or absorbed` }] : []));
  const { svg, width } = chartFrame('coverage-chart', 30, 'Coverage of the bound: ' + parts.map((part) => `${part.text} ${percentText(part.share)}`).join(', '));
  const hatch = svg.append('defs').append('pattern').attr('id', 'hatch').attr('width', 6).attr('height', 6)
    .attr('patternUnits', 'userSpaceOnUse').attr('patternTransform', 'rotate(45)');
  hatch.append('rect').attr('width', 4).attr('height', 6).attr('class', 'missing');
  let start = 0;
  for (const part of parts) {
    const size = Math.max(part.share > 0 ? 2 : 0, part.share * width);
    const x = Math.min(start, width - size);
    if (size > 0) {
      const bar = svg.append('rect').datum(part).attr('class', 'mark ' + (part.key === 'missing' ? '' : part.color)).attr('x', x).attr('y', 3)
        .attr('height', 24).attr('width', size);
      if (part.key === 'missing') bar.style('fill', 'url(#hatch)');
      withTooltip(bar, (d) => [d.text, [['share of the time', percentText(d.share)], ['layers', String(d.count)]]]);
    }
    start += part.share * width;
  }
}
