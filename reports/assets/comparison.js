// Sorting and filtering of a comparison's tables, which stand complete in the page without it. Nothing is made of text
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

  const sortBy = (table, column, heading) => {
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
    announce.textContent = `Sorted by ${heading.textContent}, ${descending ? 'descending' : 'ascending'}`;
  };

  for (const table of document.querySelectorAll('table.comparison')) {
    Array.from(table.tHead.rows[0].cells, (heading, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener('click', () => sortBy(table, column, heading));
    });
  }

  for (const input of document.querySelectorAll('input[data-filters]')) {
    const table = document.getElementById(input.dataset.filters);
    const count = input.closest('.controls').querySelector('[role="status"]');
    const apply = () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) ++shown;
      }
      count.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
    };
    input.addEventListener('input', apply);
    apply();
  }
})();
