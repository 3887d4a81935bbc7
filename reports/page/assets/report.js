// Puts the page together from the embedded data: what the page has without scripts stands there already.
'use strict';

// Commands anywhere on the page, those that were there from the start too.
function copyButtons() {
  document.addEventListener('click', (event) => {
    const button = event.target.closest('.copy');
    if (button) copyText(button.parentElement.querySelector('code').textContent, button);
  });
}

// The stand-alone sources of findings, as files.
function saveButtons() {
  document.addEventListener('click', (event) => {
    const button = event.target.closest('.save');
    if (!button) return;
    const text = button.parentElement.querySelector('pre').textContent;
    const link = element('a', { download: button.dataset.file, href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })) });
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

// On paper nothing can be opened, but for sources, which are for machines; and charts are drawn at its width (report.css).
function forPrint(data) {
  let opened = [];
  const draw = (printed) => {
    document.documentElement.classList.toggle('printed', printed);
    drawCharts(data);
    if (data.modelGraph) data.modelGraph.print(printed);
  };
  addEventListener('beforeprint', () => {
    opened = Array.from(document.querySelectorAll('main details:not(.menu):not(.source):not([open])'));
    opened.forEach((node) => { node.open = true; });
    draw(true);
  });
  addEventListener('afterprint', () => {
    opened.forEach((node) => { node.open = false; });
    draw(false);
  });
}

// A finding has an address: its link opens it, and opening it makes the link.
function findingLinks() {
  const list = document.getElementById('findings-list');
  if (!list) return;
  const openLinked = () => {
    const item = location.hash.startsWith('#finding-') && document.getElementById(location.hash.slice(1));
    if (!item) return;
    item.querySelector('details').open = true;
    item.scrollIntoView();
  };
  addEventListener('hashchange', openLinked);
  list.addEventListener('click', (event) => {
    const summary = event.target.closest('summary');
    const item = summary && summary.closest('li');
    if (item && summary.parentElement.parentElement === item && !summary.parentElement.open) {
      history.replaceState(null, '', '#' + item.id);
    }
  });
  openLinked();
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
  document.documentElement.classList.remove('no-script');
  const data = JSON.parse(document.getElementById('report-data').textContent, visible);
  // Without a time of any layer its roofline stands for it, and is called so.
  data.floorsAlone = !data.run && data.bounds.length === 0;
  data.word = data.floorsAlone ? 'roofline' : 'bound';
  if (data.floorsAlone) for (const row of data.rows) row.bound_us = row.floor_us > 0 ? row.floor_us : row.bound_us;
  copyButtons();
  saveButtons();
  gapControls(data);
  drawCharts(data);
  layerTable(data);
  drawModelGraph(data);
  forPrint(data);
  findingLinks();
  let width = document.querySelector('main').clientWidth;
  let timer = 0;
  new ResizeObserver(() => {
    const now = document.querySelector('main').clientWidth;
    if (now === width || document.documentElement.classList.contains('printed')) return;
    width = now;
    clearTimeout(timer);
    timer = setTimeout(() => drawCharts(data), 100);
  }).observe(document.querySelector('main'));
}

main();
