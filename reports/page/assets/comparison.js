// Sorting, filtering and printing of a comparison's tables, which stand complete in the page without it. Nothing is made of text
// but text: no element is built from what the page holds.
'use strict';
(() => {
  document.documentElement.classList.remove('no-script');
  const announce = document.getElementById('announce');

  // A cell's number where it has one, else its text.
  const valueOf = (row, column) => {
    const cell = row.children[column];
    if (!cell) return '';
    return cell.dataset.number === undefined ? cell.textContent : Number(cell.dataset.number);
  };
  const isBefore = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a === 'number') return -1;  // what is not known comes last
    if (typeof b === 'number') return 1;
    return a.localeCompare(b, 'en', {numeric: true});
  };

  // What a page keeps in a <noscript> until all rows are asked for.
  const restOf = (table) => document.querySelector(`noscript[data-continues="${table.id}"]`);
  const rowsOf = (rest) => Array.from(new DOMParser().parseFromString(rest.textContent, 'text/html').querySelectorAll('tbody tr'));
  const complete = (table) => {
    const rest = restOf(table);
    if (!rest) return;
    table.tBodies[0].append(...rowsOf(rest));
    rest.nextElementSibling.remove();
    rest.remove();
    document.querySelector(`input[data-filters="${table.id}"]`)?.dispatchEvent(new Event('input'));
  };
  for (const rest of document.querySelectorAll('noscript[data-continues]')) {
    const table = document.getElementById(rest.dataset.continues);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'more';
    button.textContent = `Show all ${rest.dataset.rows} rows`;
    button.addEventListener('click', () => {
      complete(table);
      table.closest('.scroll').focus();
    });
    rest.after(button);
  }

  const sortBy = (table, column, heading) => {
    complete(table);
    const descending = heading.getAttribute('aria-sort') === 'ascending';
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, place) => ({row, place, value: valueOf(row, column)}));
    rows.sort((a, b) => {
      const known = (typeof b.value === 'number') - (typeof a.value === 'number');
      const order = descending && known === 0 ? -isBefore(a.value, b.value) : isBefore(a.value, b.value);
      return order || a.place - b.place;
    });
    for (const entry of rows) body.append(entry.row);
    announce.textContent = `Sorted by ${heading.title || heading.textContent}, ${descending ? 'descending' : 'ascending'}`;
  };

  for (const table of document.querySelectorAll('table.comparison')) {
    Array.from(table.tHead.rows[0].cells, (heading, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener('click', () => sortBy(table, column, heading));
    });
  }

  // On paper a table of more sides than a page is wide goes on below itself: its first column, and the next sides.
  const SIDES_ON_PAPER = 9;
  const splitForPaper = (table) => {
    const cells = Array.from(table.tHead.rows[0].cells);
    const first = cells.findIndex((cell) => cell.classList.contains('side'));
    if (first < 0 || cells.length - first <= SIDES_ON_PAPER) return;
    const parts = Math.ceil((cells.length - first) / SIDES_ON_PAPER);
    for (let part = 0; part < parts; ++part) {
      const copy = table.cloneNode(true);
      copy.removeAttribute('id');
      copy.classList.add('part');
      const begin = first + part * SIDES_ON_PAPER;
      const stays = (column) => column === 0 || (part === 0 && column < first) || (column >= begin && column < begin + SIDES_ON_PAPER);
      for (const row of copy.rows) Array.from(row.cells).forEach((cell, column) => { if (!stays(column)) cell.remove(); });
      table.parentElement.append(copy);
    }
    table.classList.add('in-parts');
  };
  // A table of which a page shows the first rows is whole on paper, up to some pages.
  const ROWS_ON_PAPER = 500;
  const completeForPaper = (rest) => {
    const body = document.getElementById(rest.dataset.continues).tBodies[0];
    const rows = rowsOf(rest).slice(0, Math.max(0, ROWS_ON_PAPER - body.rows.length));
    for (const row of rows) row.classList.add('on-paper');
    body.append(...rows);
    const left = rest.dataset.rows - body.rows.length;
    if (left === 0) return;
    const note = document.createElement('p');
    note.className = 'on-paper';
    note.textContent = `${left} more rows are in the page alone`;
    rest.closest('.scroll').after(note);
  };
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = Array.from(document.querySelectorAll('main details:not([open])'));
    for (const node of opened) node.open = true;
    document.querySelectorAll('noscript[data-continues]').forEach(completeForPaper);
    document.querySelectorAll('table.comparison').forEach(splitForPaper);
  });
  addEventListener('afterprint', () => {
    for (const node of opened) node.open = false;
    document.querySelectorAll('table.part, .on-paper').forEach((node) => node.remove());
    document.querySelectorAll('table.in-parts').forEach((node) => node.classList.remove('in-parts'));
  });

  for (const input of document.querySelectorAll('input[data-filters]')) {
    const table = document.getElementById(input.dataset.filters);
    const count = input.closest('.controls').querySelector('[role="status"]');
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      if (wanted !== '') complete(table);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) ++shown;
      }
      count.textContent = `${shown} of ${restOf(table)?.dataset.rows ?? table.tBodies[0].rows.length} rows`;
    };
    input.addEventListener('input', apply);
    apply();
  }
})();
