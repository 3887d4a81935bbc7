// The layer table: one row for each layer, or for each group that the engine fused. Sorts, filters, opens
// details; renders the first rows only until all are asked for, so that thousands of layers stay fast.
'use strict';

const FIRST_ROWS = 100;
const CHUNK = 400;  // rows put in at once; the rest follow while the page stays usable

function tableColumns(data) {
  const largest = d3.max(data.rows, (row) => Math.max(row.bound_us || 0, row.measured_us || 0)) || 1;
  const unit = unitFor(largest);
  const time = (value) => (row) => inUnit(value(row), unit);
  const basis = data.run ? d3.sum(data.rows, (row) => row.measured_us || 0) : d3.sum(data.rows, (row) => row.bound_us || 0);
  const gap = (row) => (row.bound_us !== null && row.measured_us !== null ? row.measured_us - row.bound_us : null);
  const ratio = (row) => (row.bound_us > 0 && row.measured_us !== null ? row.measured_us / row.bound_us : null);
  const share = (row) => (basis > 0 ? ((data.run ? row.measured_us : row.bound_us) ?? null) : null);
  const rate = (row) => (row.conventional_flops > 0 && row.bound_us > 0 ? row.conventional_flops / row.bound_us * 1e6 : null);
  const peak = (row) => {
    const attained = rate(row);
    const roof = attained === null ? null : roofOf(data, row);
    return roof ? attained / roof.per_second : null;
  };
  const columns = [
    { key: 'position', title: '#', number: true, value: (row) => row.position, text: (row) => String(row.position + 1) },
    { key: 'name', title: 'Layer', value: (row) => nameOf(row).toLowerCase() },
    { key: 'op', title: 'Operator', value: (row) => row.op, text: (row) => row.op },
    { key: 'measured', title: `Measured, ${unit.name}`, number: true, run: true, value: (row) => row.measured_us, text: time((row) => row.measured_us) },
    { key: 'bound', title: `Bound, ${unit.name}`, number: true, value: (row) => row.bound_us, text: time((row) => row.bound_us) },
    { key: 'gap', title: `Gap, ${unit.name}`, number: true, run: true, value: gap, text: time(gap), tone: (row) => tone(ratio(row)) },
    { key: 'ratio', title: 'Ratio', number: true, run: true, value: ratio, text: (row) => (ratio(row) === null ? '' : ratioText(ratio(row))), tone: (row) => tone(ratio(row)) },
    { key: 'share', title: data.run ? 'Of the time' : `Of the ${data.word}`, number: true, value: share, text: (row) => (share(row) === null ? '' : percentCell(share(row) / basis)) },
    { key: 'peak', title: 'Of peak', number: true, value: peak, text: (row) => (peak(row) === null ? '' : percentCell(peak(row))) },
    { key: 'status', title: 'Bound is', value: (row) => row.status, text: (row) => row.status },
    { key: 'candidate', title: 'Best kernel', value: (row) => row.candidate, text: (row) => row.candidate },
    { key: 'floor', title: `Roofline, ${unit.name}`, number: true, value: (row) => row.floor_us, text: time((row) => row.floor_us) },
    { key: 'decided', title: 'Decided by', value: (row) => row.floor_decided_by, text: (row) => row.floor_decided_by || '' },
    { key: 'flops', title: 'FLOPs', number: true, value: (row) => row.flops || null, text: (row) => (row.flops > 0 ? prefixedText(row.flops, '') : '') },
    { key: 'bytes', title: 'Bytes', number: true, value: (row) => row.bytes || null, text: (row) => (row.bytes > 0 ? prefixedText(row.bytes, 'B') : '') },
    { key: 'rate', title: 'FLOP/s', number: true, value: rate, text: (row) => (rate(row) === null ? '' : prefixedText(rate(row), '')) },
  ];
  if (data.floorsAlone) return FLOOR_COLUMNS.map((key) => columns.find((column) => column.key === key));
  return columns.filter((column) => data.run || !column.run);
}

// Those that are shown at first, where there is room for them.
const FIRST_COLUMNS = ['position', 'name', 'op', 'measured', 'bound', 'gap', 'ratio', 'share', 'peak', 'status', 'candidate'];

// All that a layer without a time has.
const FLOOR_COLUMNS = ['position', 'name', 'op', 'floor', 'share', 'decided', 'flops', 'bytes'];

// One box for each column but the name, which says what a row is.
function columnChoice(columns, shown, render) {
  const box = document.getElementById('column-choice');
  for (const column of columns.filter((one) => one.key !== 'name')) {
    const input = element('input', { type: 'checkbox', value: column.key });
    input.checked = shown.has(column.key);
    input.addEventListener('change', () => {
      if (input.checked) shown.add(column.key); else shown.delete(column.key);
      render();
    });
    box.append(element('label', {}, input, column.title));
  }
  // Escape and a click elsewhere close it, as a menu.
  const menu = document.getElementById('columns');
  document.addEventListener('click', (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
}

// The badge beside it says how many layers are fused: the name need not.
function nameOf(row) {
  return (row.busy > 1 ? row.label.replace(/ \(\+\d+\)$/, '') : row.label) || '(no name)';
}

// One decimal for all, so that a column lines up.
function percentCell(share) {
  return (share * 100).toFixed(1).replace('-', MINUS) + ' %';
}

function tone(ratio) {
  if (ratio === null) return '';
  return ratio > 1.1 ? 'bad' : ratio < 0.95 ? 'good' : '';
}

// The arithmetic roof of a row's own type: roofs are named "f32 arithmetic", configurations "dtype=f32:...".
function roofOf(data, row) {
  for (const index of row.layers) {
    const type = /(?:^| )dtype=([a-z0-9]+):/.exec(data.layers[index].config);
    const roof = type && data.roofs.arithmetic.find((r) => r.name.split(' ')[0] === type[1]);
    if (roof && data.layers[index].flops > 0) return roof;
  }
  return null;
}

function prepareRows(data) {
  data.rows.forEach((row, position) => {
    const layers = row.layers.map((index) => data.layers[index]);
    row.position = position;
    row.busy = layers.filter((layer) => layer.status !== 'free').length;
    // The main layer speaks for a fused group; the details name all of them.
    const main = layers.length > 0 ? data.layers[row.main_layer] : null;
    row.op = main ? main.op : 'engine only';
    row.search = layers.map((layer) => [layer.name, layer.op, layer.config, layer.candidate, layer.reason].join('\n'))
      .concat(row.engine_layers, row.family, row.label).join('\n').toLowerCase();
  });
}

// Absent values stand last whichever way the column is sorted.
function compareBy(column, descending) {
  const sign = descending ? -1 : 1;
  const absent = (value) => value === null || value === undefined || value === '';
  return (a, b) => {
    const left = column.value(a);
    const right = column.value(b);
    if (absent(left) || absent(right)) return absent(left) - absent(right) || a.position - b.position;
    const order = typeof left === 'string' ? left.localeCompare(right, 'en', { numeric: true }) : left - right;
    return sign * order || a.position - b.position;
  };
}

function layerTable(data) {
  prepareRows(data);
  const every = tableColumns(data);
  const chosen = new Set(data.floorsAlone ? FLOOR_COLUMNS : FIRST_COLUMNS);
  // Where all is measured a column that says so takes the room of the kernels' names.
  if (data.rows.every((row) => row.status === 'measured' || row.status === 'free')) chosen.delete('status');
  let columns = every.filter((column) => chosen.has(column.key));
  const state = { column: every[0], descending: false, showAll: false, open: new Set(), timer: 0 };
  if (data.run || data.floorsAlone) {
    state.column = every.find((column) => column.key === (data.run ? 'gap' : 'floor'));
    state.descending = true;
  }
  document.getElementById('status-choice').hidden = data.floorsAlone;
  const table = document.getElementById('layer-table');
  const body = table.querySelector('tbody');
  const filter = document.getElementById('filter-text');
  const family = document.getElementById('filter-family');
  const status = document.getElementById('filter-status');
  const more = document.getElementById('layers-more');

  const headings = new Map(every.map((column) => {
    const button = element('button', { type: 'button', text: column.title });
    const heading = element('th', { scope: 'col', class: column.number ? 'number' : column.key, 'data-key': column.key }, button);
    button.addEventListener('click', () => {
      // Numbers are wanted from the largest, names from the first.
      state.descending = state.column === column ? !state.descending : Boolean(column.number) && column.key !== 'position';
      state.column = column;
      render();
    });
    return [column, heading];
  }));
  const head = element('tr');
  table.querySelector('thead').append(head);
  columnChoice(every, chosen, () => render());
  fillSelect(family, 'all families', data.rows.map((row) => row.family));
  fillSelect(status, 'every status', data.rows.map((row) => row.status));

  function selected() {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word);
    return data.rows.filter((row) => (family.value === '' || row.family === family.value)
      && (status.value === '' || row.status === status.value) && words.every((word) => row.search.includes(word)));
  }

  function render() {
    columns = every.filter((column) => column.key === 'name' || chosen.has(column.key));
    head.replaceChildren(...columns.map((column) => headings.get(column)));
    for (const [column, heading] of headings) {
      if (column === state.column) {
        heading.setAttribute('aria-sort', state.descending ? 'descending' : 'ascending');
      } else {
        heading.removeAttribute('aria-sort');
      }
    }
    const rows = selected().sort(compareBy(state.column, state.descending));
    const shown = state.showAll ? rows : rows.slice(0, FIRST_ROWS);
    body.replaceChildren();
    clearTimeout(state.timer);
    appendRows(shown, 0);
    if (rows.length === 0) {
      body.append(element('tr', {}, element('td', { colspan: columns.length, class: 'quiet', text: 'No layer matches the filter.' })));
    }
    more.hidden = shown.length === rows.length;
    more.textContent = `Show all ${rows.length.toLocaleString('en-US')} rows`;
    document.getElementById('layers-on-paper').textContent = shown.length === data.rows.length ? ''
      : `${shown.length.toLocaleString('en-US')} of ${plural(data.rows.length, 'row')}, ${shown.length < rows.length ? 'the first' : 'those that the filter left'}, by ${state.column.title}.`;
    if (data.onFilter) data.onFilter(rows.length === data.rows.length ? null : rows);
    document.getElementById('layer-count').textContent = rows.length === data.rows.length
      ? plural(rows.length, 'row') : `${rows.length.toLocaleString('en-US')} of ${plural(data.rows.length, 'row')}`;
  }

  function appendRows(rows, start) {
    const fragment = document.createDocumentFragment();
    for (const row of rows.slice(start, start + CHUNK)) {
      fragment.append(layerRow(row));
      if (state.open.has(row.position)) fragment.append(detailRow(data, row, columns.length));
    }
    body.append(fragment);
    if (start + CHUNK < rows.length) state.timer = setTimeout(() => appendRows(rows, start + CHUNK), 0);
  }

  function layerRow(row) {
    const line = element('tr', { class: 'layer', id: `row-${row.position}` });
    for (const column of columns) {
      if (column.key === 'name') {
        line.append(nameCell(row));
      } else {
        const classes = [column.number ? 'number' : column.key, column.tone ? column.tone(row) : ''].join(' ').trim();
        line.append(element('td', { class: classes, text: column.text(row) }));
      }
    }
    return line;
  }

  function nameCell(row) {
    const open = state.open.has(row.position);
    const button = element('button', { type: 'button', class: 'disclosure', 'aria-expanded': String(open) }, element('span', { text: middleCut(nameOf(row), 52), title: nameOf(row) }));
    button.addEventListener('click', () => {
      const line = button.closest('tr');
      if (state.open.delete(row.position)) {
        line.nextElementSibling.remove();
      } else {
        state.open.add(row.position);
        line.after(detailRow(data, row, columns.length));
      }
      button.setAttribute('aria-expanded', String(state.open.has(row.position)));
    });
    const cell = element('th', { scope: 'row', class: 'name' }, button);
    if (row.busy > 1) button.append(element('span', { class: 'badge fused-badge', text: `fused ${row.busy}` }));
    return cell;
  }

  // Opens a row's details and goes there, whatever is filtered or not rendered yet.
  data.openRow = (row) => {
    if (!selected().includes(row)) {
      for (const control of [filter, family, status]) control.value = '';
    }
    const place = selected().sort(compareBy(state.column, state.descending)).indexOf(row);
    state.showAll = state.showAll || place >= FIRST_ROWS;
    state.open.add(row.position);
    render();
    const go = () => {
      const line = document.getElementById(`row-${row.position}`);
      if (!line) {
        setTimeout(go, 20);
        return;
      }
      line.scrollIntoView({ block: 'center' });
      line.querySelector('.disclosure').focus({ preventScroll: true });
    };
    go();
  };

  more.addEventListener('click', () => {
    state.showAll = true;
    render();
  });
  for (const control of [filter, family, status]) control.addEventListener('input', render);
  document.getElementById('download').addEventListener('click', () => downloadCsv(data, selected().sort(compareBy(state.column, state.descending))));
  render();
}

function fillSelect(select, everything, values) {
  select.append(element('option', { value: '', text: everything }));
  for (const value of Array.from(new Set(values)).filter((v) => v).sort()) select.append(element('option', { value, text: value }));
}

function detailRow(data, row, width) {
  const cell = element('td', { colspan: width });
  if (row.engine_layers.length > 0) {
    cell.append(element('p', { class: 'quiet detail-layer', text: `${data.run ? data.run.framework : 'The engine'} runs this as: ${row.engine_layers.join(', ')}` }));
  }
  if (data.showInGraph && row.layers.length > 0) {
    const button = element('button', { type: 'button', class: 'in-graph', text: 'Show in the graph' });
    button.addEventListener('click', () => data.showInGraph(row.layers, row.main_layer));
    cell.append(button);
  }
  for (const index of row.layers) {
    const layer = data.layers[index];
    const facts = [layer.op, layer.status];
    if (layer.candidate) facts.push(layer.candidate);
    if (layer.latency_us !== null) facts.push('bound ' + exactTimeText(layer.latency_us));
    if (layer.interval_us) facts.push('interval ' + layer.interval_us.map(exactTimeText).join(' to '));
    if (layer.floor_us > 0) facts.push('roofline ' + exactTimeText(layer.floor_us));
    if (layer.on_critical_path) facts.push('on the longest path');
    const block = element('div', { class: 'detail-layer' }, element('h3', { text: layer.name || '(no name)' }), element('div', { class: 'quiet', text: facts.join(' · ') }));
    if (layer.reason) block.append(element('div', { text: layer.reason }));
    if (layer.command) block.append(commandLine(layer.command));
    const candidates = candidatesBlock(data, layer.workload, linesOf(data, row, [index], layer.floor_us));
    if (candidates) block.append(candidates);
    cell.append(block);
  }
  for (const region of regionsOfRow(data, row)) {
    const names = region.layers.map((index) => data.layers[index].name || '(no name)');
    const candidates = candidatesBlock(data, region.workload, linesOf(data, row, region.layers, 0));
    if (candidates) cell.append(element('div', { class: 'detail-layer' }, element('h3', { text: 'As one: ' + names.join(', ') }), candidates));
  }
  return element('tr', { class: 'detail' }, cell);
}

function downloadCsv(data, rows) {
  const quoted = (value) => (/[",\r\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value);
  const keys = ['label', 'op', 'family', 'status', 'candidate', 'measured_us', 'bound_us', 'floor_us', 'flops', 'bytes'];
  const lines = [keys.concat('configs').join(',')];
  for (const row of rows) {
    const configs = row.layers.map((index) => data.layers[index].config).filter((config) => config).join(' ; ');
    lines.push(keys.map((key) => row[key]).concat(configs).map((value) => quoted(String(value ?? ''))).join(','));
  }
  const link = element('a', { download: 'layers.csv', href: URL.createObjectURL(new Blob([lines.join('\r\n') + '\r\n'], { type: 'text/csv' })) });
  link.click();
  URL.revokeObjectURL(link.href);
}
