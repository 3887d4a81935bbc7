// What every candidate of a layer or region took: each a dot on an axis of time, its interval a whisker, with a table
// below, and what did not run grouped by its reason.
'use strict';

const FIRST_CANDIDATES = 8;
const MOST_LANES = 10;
const WIDE_RANGE = 20;  // from this quotient of the longest and the shortest time on, the axis is logarithmic

// `lines`: [{ us, name, color }], times to compare with, drawn across the plot. Null where nothing is known.
function candidatesBlock(data, index, lines) {
  const workload = index === null || index === undefined ? null : data.workloads[index];
  if (!workload || workload.candidates.length === 0) return null;
  const measured = workload.candidates.filter((one) => one.latency_us > 0);
  const block = element('div', { class: 'candidates' });
  block.append(element('div', { class: 'quiet', text: candidatesText(workload, measured.length) }));
  if (measured.length > 0) block.append(candidatePlot(workload, measured, lines), candidateTable(workload));
  const rest = candidatesThatDidNotRun(workload);
  if (rest) block.append(rest);
  return block;
}

function candidatesText(workload, measured) {
  const facts = [`${measured} of ${plural(workload.candidates.length, 'candidate')} measured, ${workload.contract}`];
  if (workload.measured_at) facts.push(`until ${workload.measured_at}`);
  if (workload.library_choice !== null) {
    facts.push(workload.library_choice === workload.best ? 'the library would choose the best one'
      : `the library would choose ${workload.candidates[workload.library_choice].name}: ${signedTimeText(workload.regret_us)}`
        + (workload.regret_validated ? '' : ' (not told from noise)'));
  }
  return facts.join(' · ');
}

function rolesOf(workload, candidate) {
  const roles = [];
  if (candidate === workload.candidates[workload.best]) roles.push('best');
  if (candidate === workload.candidates[workload.library_choice]) roles.push("library's choice");
  return roles;
}

// Ticks that read well: of a logarithm 1, 2 and 5 of each power.
function candidateTicks(scale, is_log, width) {
  const [low, high] = scale.domain();
  let ticks = [];
  if (is_log) {
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) ticks.push(...[1, 2, 5].map((step) => step * 10 ** power));
  } else {
    ticks = scale.ticks(Math.max(2, Math.floor(width / 110)));
  }
  // Where the first label stands beside its line, the next one is farther away.
  let last = -Infinity;
  return ticks.filter((tick) => {
    const x = scale(tick);
    if (tick < low || tick > high || x - last < 58) return false;
    last = x < 26 ? x + 26 : x;
    return true;
  });
}

function candidatePlot(workload, measured, lines) {
  const shown = lines.filter((line) => line.us > 0);
  // Of the times alone: a wide interval is cut off at the edge rather than that all times fall on one spot.
  const ends = measured.map((one) => one.latency_us).concat(shown.map((line) => line.us));
  const least = Math.min(...ends);
  const most = Math.max(...ends);
  const is_log = most / least > WIDE_RANGE;
  const width = Math.max(260, Math.min(760, document.querySelector('main').clientWidth - 110));
  const scale = (is_log ? d3.scaleLog().domain([least / 1.1, most * 1.1])
    : d3.scaleLinear().domain([Math.max(0, least - (most - least) * 0.06 - least * 0.01), most + (most - least) * 0.06 + most * 0.01]))
    .range([10, width - 24]);
  const places = placesOf(measured, scale);
  const top = 8 + 16 * (shown.length + 1);
  const bottom = top + (Math.max(...places.map((place) => place.lane)) + 1) * 13 + 6;
  const root = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const svg = d3.select(root).attr('viewBox', `0 0 ${width} ${bottom + 22}`).attr('height', bottom + 22).attr('role', 'img')
    .attr('aria-label', `${plural(measured.length, 'candidate')} from ${timeText(measured[0].latency_us)} to ${timeText(measured[measured.length - 1].latency_us)}`
      + shown.map((line) => `; ${line.name} ${timeText(line.us)}`).join(''));
  const axis = svg.append('g').attr('class', 'axis');
  for (const tick of candidateTicks(scale, is_log, width)) {
    axis.append('line').attr('x1', scale(tick)).attr('x2', scale(tick)).attr('y1', top).attr('y2', bottom);
    axis.append('text').attr('x', scale(tick)).attr('y', bottom + 16).attr('text-anchor', scale(tick) < 26 ? 'start' : 'middle').text(timeText(tick));
  }
  const label = (x, y, text) => {
    const is_right = x > width / 2;
    svg.append('text').attr('class', 'muted').attr('x', x + (is_right ? -5 : 5)).attr('y', y).attr('text-anchor', is_right ? 'end' : 'start').text(text);
  };
  shown.forEach((line, row) => {
    const y = 8 + 16 * row;
    svg.append('line').attr('class', 'across ' + line.color).attr('x1', scale(line.us)).attr('x2', scale(line.us)).attr('y1', y).attr('y2', bottom);
    label(scale(line.us), y + 9, `${fitText(line.name, width / 2 - 90)} ${timeText(line.us)}`);
  });
  const choice = places.find((place) => place.one === workload.candidates[workload.library_choice]);
  if (choice) {
    svg.append('line').attr('class', 'link').attr('x1', choice.x).attr('x2', choice.x).attr('y1', top - 16).attr('y2', top + 8 + choice.lane * 13);
    label(choice.x, top - 6, "library's choice");
  }
  drawCandidates(svg, workload, places, top);
  return element('div', { class: 'chart' }, root);
}

function placesOf(measured, scale) {
  const taken = new Array(MOST_LANES).fill(-Infinity);
  const dots = new Array(MOST_LANES).fill(-Infinity);
  const [least, most] = scale.domain();
  return measured.map((one) => {
    const x = scale(one.latency_us);
    const interval = (one.interval_us || [one.latency_us, one.latency_us]).map((us) => scale(Math.min(Math.max(us, least), most)));
    // The first lane where it meets nobody; else that in which the last dot lies farthest away.
    let lane = taken.findIndex((end) => Math.min(x - 6, interval[0]) > end);
    if (lane < 0) lane = dots.indexOf(Math.min(...dots));
    taken[lane] = Math.max(x + 6, interval[1]);
    dots[lane] = x;
    return { one, x, interval, lane };
  });
}

function drawCandidates(svg, workload, places, top) {
  for (const { one, x, interval, lane } of places) {
    const y = top + 8 + lane * 13;
    const roles = rolesOf(workload, one);
    const group = svg.append('g').datum(one);
    group.append('line').attr('class', 'whisker').attr('x1', interval[0]).attr('x2', interval[1]).attr('y1', y).attr('y2', y);
    const is_choice = roles.includes("library's choice");
    group.append('path').attr('class', 'mark ' + (roles.includes('best') ? 'best' : is_choice ? 'choice' : 'candidate'))
      .attr('transform', `translate(${x},${y})`)
      .attr('d', d3.symbol().type(is_choice ? d3.symbolDiamond : d3.symbolCircle).size(roles.length > 0 ? 90 : 46)());
    withTooltip(group, (d) => [d.name, [['time', exactTimeText(d.latency_us)],
      ['interval', d.interval_us ? d.interval_us.map(exactTimeText).join(' to ') : ''], ['repetitions', String(d.repetitions || '')],
      ['is', rolesOf(workload, d).join(', ')], ['flags', (d.flags || []).join(', ')]]]);
  }
}

function candidateTable(workload) {
  const measured = workload.candidates.filter((one) => one.latency_us !== undefined);
  const head = element('tr', {}, ...['Candidate', 'Time', 'Interval', 'Repetitions', 'Numeric error', 'Flags']
    .map((title, column) => element('th', { scope: 'col', class: column > 0 && column < 5 ? 'number' : null, text: title })));
  const body = element('tbody');
  const row = (one) => {
    const name = element('td', {}, element('span', { class: 'candidate-name', text: one.name }));
    for (const role of rolesOf(workload, one)) name.append(' ', element('span', { class: 'badge fused-badge', text: role }));
    return element('tr', {}, name, element('td', { class: 'number', text: exactTimeText(one.latency_us) }),
      element('td', { class: 'number', text: one.interval_us ? one.interval_us.map(exactTimeText).join(' to ') : '' }),
      element('td', { class: 'number', text: String(one.repetitions || '') }),
      element('td', { class: 'number', text: one.numeric_error === undefined ? '' : one.numeric_error.toExponential(1).replaceAll('-', MINUS) }),
      element('td', { text: (one.flags || []).join(', ') }));
  };
  body.append(...measured.slice(0, FIRST_CANDIDATES).map(row));
  const table = element('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Table of candidates' },
    element('table', {}, element('thead', {}, head), body));
  if (measured.length <= FIRST_CANDIDATES) return table;
  const more = element('button', { type: 'button', class: 'more', text: `Show all ${plural(measured.length, 'candidate')}` });
  more.addEventListener('click', () => {
    body.append(...measured.slice(FIRST_CANDIDATES).map(row));
    more.remove();
  });
  return element('div', {}, table, more);
}

function candidatesThatDidNotRun(workload) {
  const groups = new Map();
  for (const one of workload.candidates) {
    if (!one.outcome) continue;
    const key = one.outcome + (one.reason ? ': ' + one.reason : '');
    groups.set(key, (groups.get(key) || []).concat(one.name));
  }
  if (groups.size === 0) return null;
  const list = element('ul', { class: 'not-run' });
  for (const [reason, names] of groups) {
    const some = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
    list.append(element('li', {}, element('span', { text: reason }), element('span', { class: 'quiet', text: ' · ' + some })));
  }
  return list;
}

// Below an opened row of the layer table: its layers' candidates stand with them, those of the regions that the bound
// runs here follow.
function regionsOfRow(data, row) {
  const inside = new Set(row.layers);
  return data.regions.filter((region) => region.chosen && region.workload !== null && region.layers.every((layer) => inside.has(layer)));
}

// The times that a row's layer or region can be held against: the run's, where the row is nothing but it, and its roofline.
function linesOf(data, row, layers, floor_us) {
  const busy = row.layers.filter((index) => data.layers[index].status !== 'free');
  const is_whole = busy.length > 0 && busy.every((index) => layers.includes(index));
  const lines = [];
  if (data.run && is_whole && row.measured_us !== null) lines.push({ us: row.measured_us, name: data.run.framework, color: 'measured' });
  if (floor_us > 0) lines.push({ us: floor_us, name: 'roofline', color: 'floor' });
  return lines;
}
