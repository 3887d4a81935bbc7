// Puts the page together from the embedded data: what the page has without scripts stands there already.
'use strict';

// Commands anywhere on the page, those that were there from the start too.
function copyButtons() {
  document.addEventListener('click', (event) => {
    const button = event.target.closest('.copy');
    if (button) copyText(button.parentElement.querySelector('code').textContent, button);
  });
}

// On paper nothing can be opened.
function openForPrint() {
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = Array.from(document.querySelectorAll('main details:not(.menu):not([open])'));
    opened.forEach((node) => { node.open = true; });
  });
  addEventListener('afterprint', () => opened.forEach((node) => { node.open = false; }));
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
  copyButtons();
  openForPrint();
  gapControls(data);
  drawCharts(data);
  layerTable(data);
  drawModelGraph(data);
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
