// Puts the page together from the embedded data.
'use strict';

// What the tags of a bound mean; the first pattern that fits explains it.
const ASSUMPTIONS = [
  [/^estimated$/, 'No data sheet is known for this device: its peaks are the best rates ever measured on it.'],
  [/^conventional-arithmetic$/, 'Counts the direct arithmetic of each layer; Winograd, FFT or Strassen may beat it.'],
  [/^free-layouts$/, 'Each layer may use its best layout; changing layouts between layers costs nothing.'],
  [/^warm-caches$/, 'Inputs and weights of a layer may already be in the caches.'],
  [/^cold-caches$/, 'Each layer finds its inputs and weights in memory, not in the caches.'],
  [/^cold-weights$/, 'Each layer finds its weights in memory and its inputs in the caches, as where the weights of all layers together exceed them.'],
  [/^(one-thread|\d+-threads)$/, 'Bound and measured run use this many threads.'],
  [/^estimated-layers$/, 'Some layers are estimated by the bytes they must move and the measured copy rate.'],
  [/^(unmeasured|missing)-layers$/, 'Some layers have no time at all: the true bound is higher.'],
  [/^unknown-layers-omitted$/, 'Layers of unknown kind count nothing: the true floor may be higher.'],
  [/^if-cheaper-branch$/, 'An If counts its cheaper branch.'],
  [/^least-loop-iterations$/, 'A loop counts the iterations that every inference runs at least.'],
  [/^unconverged-rows$/, 'The best row of some layers did not settle within its time: the interval says how far that goes, and may lie above the bound.'],
  [/^observed-candidates$/, 'What a profiled run was seen to do counts as a candidate.'],
  [/^changes-of-layout-paid$/, 'A tensor lies as its producer writes it; who reads another order waits for a copy.'],
  [/^estimated-changes-of-layout$/, 'Some of these copies were not measured and count by their bytes.'],
  [/^row-major-where-unstated$/, 'Some candidates do not say how their tensors lie and count as row-major.'],
  [/^unfolded-layers$/, 'The layers of the file one by one, as the rules of 2019 count them.'],
  [/^zero-cost-operators$/, 'Operators that cost nothing by the rules of 2019, though they move bytes.'],
  [/^convolutions-without-their-bias$/, 'Convolutions whose bias has no row count alone.'],
  [/^(first-to-last-layer|without-last-layer|no-path-from-first-to-last-layer)$/, 'The path that the rules of 2019 take: from the first listed layer to the last, which is left out.'],
  [/^borrowed-peak-/, 'The peak for this type was not measured; the best of the types that are no wider stands in for it.'],
  [/^unknown-peak-/, 'No arithmetic peak is known for this type: its arithmetic counts nothing.'],
  [/^longest-path-decides$/, 'Even with every layer beside every other, the longest chain of layers takes this long.'],
  [/^core-time-decides$/, 'All cores are busy all the time: more overlap wins nothing.'],
  [/^memory-decides$/, 'The memory is busy all the time: more overlap wins nothing.'],
  [/^arithmetic-.*-decides$/, 'The arithmetic units of this type are busy all the time: more overlap wins nothing.'],
  [/^no-measured-regions$/, 'No region of several layers was measured as one, so nothing is fused.'],
  [/^relaxed-selection$/, 'Which regions to fuse was not solved exactly: no selection is faster than this, and perhaps none is as fast.'],
  [/^element-wise-layers-cost-their-bytes$/, 'Element-wise and layout layers run inside their neighbours, whatever libraries can fuse today.'],
  [/^best-candidate-where-no-library-chooses$/, 'Layers that no library has a choice for count their best candidate.'],
];

// Entries that a list shows before it is asked for all.
const LIMIT = 12;

function tile(name, value, note, color) {
  const node = element('div', { class: 'tile' }, element('div', { class: 'name', text: name }), element('div', { class: 'value', text: value }), element('div', { class: 'note', text: note }));
  node.style.setProperty('--tile', `var(--${color})`);
  return node;
}

function fillTiles(data) {
  const tiles = document.getElementById('tiles');
  const bound = mainBound(data);
  if (data.run) tiles.append(tile('Measured', timeText(data.run.latency_us), `${data.run.framework} ${data.run.version}`, 'measured'));
  if (data.demonstrated_us !== null) tiles.append(tile('Demonstrated', timeText(data.demonstrated_us), 'best kernels, really run', 'demonstrated'));
  if (bound) tiles.append(tile('Bound', timeText(bound.latency_us), 'best measured kernels', 'bound'));
  if (data.run && bound) {
    // Layers timed with warm caches may need less than the floor: then the floor says what is left.
    const least = Math.max(bound.latency_us, Math.min(data.floor.latency_us, data.run.latency_us));
    const gap = data.run.latency_us - least;
    tiles.append(gap >= 0 ? tile('Could be won', percentText(gap / data.run.latency_us), `${timeText(gap)}, ${ratioText(data.run.latency_us / least)} speed-up`, 'measured')
      : tile('Inversion', percentText(-gap / data.run.latency_us), 'the run beats our candidates', 'missing'));
  }
  if (data.floor.latency_us > 0) tiles.append(tile('Floor', timeText(data.floor.latency_us), 'by ' + data.floor.decided_by, 'floor'));
  tiles.append(tile('Coverage', percentText(data.coverage.measured), data.coverage.missing > 0 ? `measured; ${percentText(data.coverage.missing)} missing` : 'measured, nothing missing',
    data.coverage.missing > 0 ? 'missing' : 'bound'));
}

// The sentence's numbers in bold: it is the page's answer.
function emphasizeNumbers(node) {
  const pieces = node.textContent.split(/((?:< |> )?\d[\d.]* (?:ns|µs|ms|s|%)(?![a-z]))/);
  node.replaceChildren(...pieces.map((piece, i) => (i % 2 === 1 ? element('strong', { text: piece }) : piece)));
}

function fillFacts(data) {
  const facts = [data.device.name, data.device.generation, plural(data.environment.threads, 'thread'), data.contract,
    ...data.model.inputs.slice(0, 3).map((input) => `${input.name} ${input.shape} ${input.dtype}`)];
  document.getElementById('facts').append(...facts.filter((fact) => fact).map((text) => element('span', { text })));
}

function fillAdvice(data) {
  const container = document.getElementById('advice');
  for (const item of data.advice) {
    const node = element('div', { class: 'callout', text: item.text });
    if (item.command) node.append(commandLine(item.command));
    container.append(node);
  }
}

function fillMissing(data) {
  const list = document.getElementById('missing-list');
  if (data.missing.length === 0) {
    list.append(element('p', { class: 'lead', text: data.coverage.missing > 0 ? 'Layers without a time are marked in the table below.' : 'Nothing: every layer is measured, estimated or free.' }));
    return;
  }
  const items = data.missing.slice().sort((a, b) => b.share - a.share);
  const show = (from, to) => items.slice(from, to).forEach((item) => {
    const node = element('div', { class: 'missing-item' }, element('div', { class: 'what' }, element('strong', { text: item.what }), ` · ${percentText(item.share)} of the time · ${item.reason}`));
    if (item.command) node.append(commandLine(item.command));
    list.append(node);
  });
  list.append(element('p', { class: 'lead', text: `${plural(items.length, 'entry').replace('entrys', 'entries')} without a time; the bound is too low by what they take. Each command fills its gap.` }));
  show(0, LIMIT);
  if (items.length > LIMIT) {
    const button = element('button', { type: 'button', class: 'more', text: `Show all ${items.length}` });
    button.addEventListener('click', () => {
      button.remove();
      show(LIMIT);
    });
    list.after(button);
  }
}

function fillWins(data) {
  const of = (variant) => data.bounds.find((bound) => bound.variant === variant);
  const sequential = of('sequential');
  const main = mainBound(data);
  if (!sequential) return;
  const rows = [];
  const add = (what, gain, note) => rows.push({ what, gain, note });
  const fused = of('fused-sequential');
  const chosen = data.regions.filter((region) => region.chosen);
  if (fused && data.regions.length > 0) add('run the measured fused kernels', sequential.latency_us - fused.latency_us, `${plural(chosen.length, 'region')}, against each layer alone`);
  const ideal = of('ideal-fusion');
  if (ideal) add('fuse every element-wise and layout layer', main.latency_us - ideal.latency_us, 'kernels that need not exist yet, against the bound');
  const parallel = of('parallel');
  if (parallel) add('run independent layers at once', sequential.latency_us - parallel.latency_us, parallel.assumptions.find((tag) => tag.endsWith('-decides')) || '');
  if (data.regret) add('the best algorithm in place of the library\u2019s choice', data.regret.sum_us, `${plural(data.regret.layers, 'layer')}${data.regret.validated ? ', measured on repetitions that did not choose the winner' : ', not told from noise'}`);
  // Other caches are no change that anybody could make.
  for (const outcome of data.what_ifs.filter((one) => !one.what_if.startsWith('cache:'))) {
    for (const bound of outcome.bounds.filter((one) => one.variant === main.variant && one.gain_us !== null)) add(`what if ${outcome.what_if}`, bound.gain_us, `${plural(outcome.layers, 'layer')}, ${bound.variant} ${timeText(bound.latency_us)}${outcome.coverage ? `, measured ${percentText(outcome.coverage.measured)}` : ''}`);
  }
  document.getElementById('wins').hidden = false;
  const head = (titles) => element('thead', {}, element('tr', {}, ...titles.map(([title, number]) => element('th', { scope: 'col', text: title, class: number ? 'number' : '' }))));
  const table = document.getElementById('wins-table');
  table.append(head([['Change', false], ['Wins', true], ['Of the bound', true], ['How it is known', false]]));
  table.append(element('tbody', {}, ...rows.map((row) => element('tr', {}, element('th', { scope: 'row', text: row.what }), element('td', { class: 'number', text: timeText(row.gain) }),
    element('td', { class: 'number', text: percentText(row.gain / main.latency_us) }), element('td', { text: row.note })))));
  fillRegions(data, chosen, head);
}

function fillRegions(data, chosen, head) {
  const table = document.getElementById('regions-table');
  if (chosen.length === 0) {
    document.getElementById('regions-title').hidden = true;
    table.hidden = true;
    return;
  }
  const gain = (region) => region.unfused_us === null ? 0 : region.unfused_us - region.latency_us;
  const sorted = chosen.slice().sort((a, b) => gain(b) - gain(a));
  table.append(head([['Layers', false], ['Alone', true], ['Fused', true], ['Wins', true], ['Kernel', false]]));
  const body = element('tbody');
  table.append(body);
  const show = (regions) => body.append(...regions.map((region) => element('tr', { title: region.config }, element('th', { scope: 'row', class: 'mono', text: region.layers.map((layer) => data.layers[layer].name).join(' ') }),
    element('td', { class: 'number', text: region.unfused_us === null ? '?' : timeText(region.unfused_us) }), element('td', { class: 'number', text: timeText(region.latency_us) }),
    element('td', { class: 'number', text: timeText(gain(region)) }), element('td', { class: 'mono', text: region.candidate }))));
  show(sorted.slice(0, LIMIT));
  if (sorted.length <= LIMIT) return;
  const more = document.getElementById('regions-more');
  more.hidden = false;
  more.textContent = `Show all ${sorted.length}`;
  more.addEventListener('click', () => {
    more.hidden = true;
    show(sorted.slice(LIMIT));
  });
}

// R against the sum of its parts, its weights as near as an inference leaves them to the next.
function compositionText(error) {
  if (!error) return '';
  const times = (value) => value.toFixed(3);
  return `; ${times(error.value)} times their sum alone with weights ${percentText(error.resident_share)} in the caches (${times(error.warm)} with all caches warm, ${times(error['cold-weights'])} with weights from memory)`;
}

function fillAssumptions(data) {
  const table = document.getElementById('bounds-table');
  table.append(element('thead', {}, element('tr', {}, ...['Bound', 'Latency', 'Interval', 'Assumes'].map((title, i) => element('th', { scope: 'col', text: title, class: i === 1 || i === 2 ? 'number' : '' })))));
  const body = element('tbody');
  const line = (name, us, interval, assumptions) => body.append(element('tr', {}, element('th', { scope: 'row', text: name }), element('td', { class: 'number', text: timeText(us) }),
    element('td', { class: 'number', text: interval ? interval.map(timeText).join(' to ') : '' }), element('td', { text: assumptions })));
  const floorText = (floor) => [floor.decided_by ? 'decided by ' + floor.decided_by : '', ...floor.assumptions].filter((text) => text).join(', ');
  line('floor F0', data.floor.latency_us, null, floorText(data.floor));
  line('conventional floor Fc', data.conventional_floor.latency_us, null, floorText(data.conventional_floor));
  for (const bound of data.bounds) line('bound F1, ' + bound.variant, bound.latency_us, bound.interval_us, bound.assumptions.join(', '));
  const main = mainBound(data);
  for (const outcome of data.what_ifs.filter((one) => one.coverage)) {
    for (const bound of outcome.bounds.filter((one) => one.variant === main.variant)) line(`bound F1, ${bound.variant}, ${outcome.what_if}`, bound.latency_us, bound.interval_us, `other rows, of which measured ${percentText(outcome.coverage.measured)}`);
  }
  if (data.demonstrated_us !== null) line('demonstrated R', data.demonstrated_us, null, 'chosen candidates replayed with real buffers' + compositionText(data.composition_error));
  if (data.run) line('measured T', data.run.latency_us, [data.run.minimum_us, data.run.p95_us], `${data.run.framework} ${data.run.version}; interval: minimum to 95th percentile`);
  table.append(body);
  const tags = new Set([...data.floor.assumptions, ...data.conventional_floor.assumptions, ...data.bounds.flatMap((bound) => bound.assumptions)]);
  const glossary = document.getElementById('glossary');
  for (const tag of Array.from(tags).sort()) {
    const known = ASSUMPTIONS.find(([pattern]) => pattern.test(tag));
    if (known) glossary.append(element('dt', { class: 'mono', text: tag }), element('dd', { text: known[1] }));
  }
}

function fillEnvironment(data) {
  const list = document.getElementById('environment-list');
  const add = (term, value) => {
    if (value) list.append(element('dt', { text: term }), element('dd', { text: value }));
  };
  const pairs = (map) => Object.entries(map).map(([key, value]) => `${key} ${value}`).join(', ');
  add('Model', data.model.name);
  add('SHA-256', data.model.sha256);
  add('Opset', data.model.opset > 0 ? String(data.model.opset) : '');
  add('Inputs', data.model.inputs.map((input) => `${input.name} ${input.dtype} ${input.shape}`).join(', '));
  add('Device', [data.device.name, data.device.generation].filter((text) => text).join(', '));
  add('Device key', data.device.key);
  add('Libraries', pairs(data.environment.libraries));
  add('Threads', `${data.environment.threads}${data.environment.affinity ? ', ' + data.environment.affinity : ''}`);
  add('Clocks', data.environment.clock_policy);
  add('System', data.environment.host);
  add('Contract', data.contract);
  add('Selection', data.selection);
  if (data.run) {
    add('Measured run', `${data.run.framework} ${data.run.version}, median ${timeText(data.run.median_us)}, minimum ${timeText(data.run.minimum_us)}, p95 ${timeText(data.run.p95_us)}, ${plural(data.run.samples, 'sample')} in ${plural(data.run.repetitions, 'repetition')}`);
    add('Its settings', pairs(data.run.settings));
  }
  const rewrites = document.getElementById('rewrites');
  for (const pass of data.passes) {
    const items = element('ul', {}, ...pass.rewrites.slice(0, 200).map((text) => element('li', { text })));
    if (pass.rewrites.length > 200) items.append(element('li', { text: `and ${pass.rewrites.length - 200} more` }));
    rewrites.append(element('details', {}, element('summary', { text: `Rewrite ${pass.name}, ${plural(pass.rewrites.length, 'time')}: ${pass.description}` }), items));
  }
}

function fillFindings(data) {
  if (data.findings.length === 0) return;
  document.getElementById('findings').hidden = false;
  const list = document.getElementById('findings-list');
  data.findings.forEach((finding, i) => {
    const gain = finding.gain_us > 0 ? `up to ${timeText(finding.gain_us)}` : 'about the bound';
    const share = finding.gain_us > 0 && data.run ? ` (${percentText(finding.gain_us / data.run.latency_us)})` : '';
    const summary = element('summary', {}, element('strong', { text: finding.kind.replaceAll('-', ' ') }), ` \u00b7 ${gain}${share}`);
    if (finding.layers.length > 0) summary.append(element('span', { class: 'where', text: finding.layers.slice(0, 3).join(', ') }));
    const body = element('details', i === 0 ? { open: '' } : {}, summary, element('p', { text: finding.evidence }),
      element('p', { class: 'todo', text: finding.action }));
    if (finding.cases.length > 0) {
      const rows = finding.cases.map((one) => element('tr', {}, element('td', { text: one.layer }), element('td', { text: one.engine }),
        element('td', { class: 'number', text: timeText(one.measured_us) }),
        element('td', { class: 'number', text: one.best_us === null ? '\u2013' : timeText(one.best_us) }), element('td', { text: one.candidate || '' })));
      const head = element('tr', {}, ...['Layer', 'Ran', 'Took', finding.held_against || 'At best', 'With'].map((title, column) => element('th', { scope: 'col', class: column === 2 || column === 3 ? 'number' : null, text: title })));
      body.append(element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Layers of ${finding.kind}` },
        element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows))));
      finding.commands.forEach(({ command }) => body.append(commandLine(command)));
    }
    const evidence = evidenceOf(data, finding);
    if (evidence) body.append(evidence);
    list.append(element('li', {}, body));
  });
}

function drawCharts(data) {
  drawBracket(data);
  drawLosses(data);
  drawFamilies(data);
  drawGaps(data);
  drawCoverage(data);
  drawRoofline(data);
}

function main() {
  const data = JSON.parse(document.getElementById('report-data').textContent);
  emphasizeNumbers(document.getElementById('headline'));
  fillFacts(data);
  fillTiles(data);
  fillAdvice(data);
  fillMissing(data);
  fillWins(data);
  fillFindings(data);
  fillAssumptions(data);
  fillEnvironment(data);
  gapControls(data);
  drawCharts(data);
  layerTable(data);
  document.getElementById('footer').textContent += `, by infimum ${data.infimum_version}. This page is one file and fetches nothing.`;
  let width = document.querySelector('main').clientWidth;
  let timer = 0;
  new ResizeObserver(() => {
    const now = document.querySelector('main').clientWidth;
    if (now === width) return;
    width = now;
    clearTimeout(timer);
    timer = setTimeout(() => drawCharts(data), 100);
  }).observe(document.querySelector('main'));
}

main();
