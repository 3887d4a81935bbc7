// Numbers as text, and elements made from text. Everything from the report's data enters the page as
// textContent or as an attribute's value, never as markup.
'use strict';

const MINUS = '\u2212';

// What turns text around, breaks lines or cannot be seen, in names from files: it shows as an escape, as it does where
// the page has names without scripts. For JSON.parse.
const MISLEADING = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]', 'g');
function visible(key, value) {
  if (typeof value !== 'string') return value;
  return value.replace(MISLEADING, (c) => (c.charCodeAt(0) < 0x100 ? '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0') : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')));
}

function threeDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2).replace('-', MINUS);
}

function timeText(us) {
  if (us === null || us === undefined || !Number.isFinite(us)) return '–';
  const size = Math.abs(us);
  if (size === 0) return '0 µs';
  if (size < 0.9995) return threeDigits(us * 1e3) + ' ns';
  if (size < 999.5) return threeDigits(us) + ' µs';
  if (size < 999.5e3) return threeDigits(us / 1e3) + ' ms';
  return threeDigits(us / 1e6) + ' s';
}

function signedTimeText(us) {
  return us > 0 ? '+' + timeText(us) : timeText(us);
}

function exactTimeText(us) {
  if (us === null || us === undefined) return '–';
  return us.toLocaleString('en-US', { maximumFractionDigits: 3 }) + ' µs';
}

function percentText(share) {
  if (!Number.isFinite(share)) return '–';
  const percent = share * 100;
  if (percent > 0 && percent < 0.05) return '< 0.1 %';
  if (percent < 100 && percent > 99.95) return '> 99.9 %';
  return String(Math.round(percent * 10) / 10).replace('-', MINUS) + ' %';
}

function ratioText(ratio) {
  return Number.isFinite(ratio) ? ratio.toFixed(2) + '×' : '–';
}

function prefixedText(value, unit) {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let step = 0;
  while (Math.abs(value) >= 999.5 && step + 1 < prefixes.length) {
    value /= 1000;
    ++step;
  }
  return (step === 0 ? String(Math.round(value)) : threeDigits(value)) + ' ' + prefixes[step] + unit;
}

// One unit for a whole column or axis, so that numbers compare at a glance.
function unitFor(largestUs) {
  if (largestUs >= 1e6) return { name: 's', scale: 1e6, digits: 3 };
  if (largestUs >= 1e3) return { name: 'ms', scale: 1e3, digits: 3 };
  if (largestUs >= 1) return { name: 'µs', scale: 1, digits: 2 };
  return { name: 'ns', scale: 1e-3, digits: 1 };
}

function inUnit(us, unit) {
  if (us === null || us === undefined) return '';
  return (us / unit.scale).toFixed(unit.digits).replace('-', MINUS);
}

function plural(count, noun) {
  return count.toLocaleString('en-US') + ' ' + noun + (count === 1 ? '' : 's');
}

// element('td', { class: 'number', text: '1.2' }, child, ...)
function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'text') {
      node.textContent = value;
    } else if (key.startsWith('on')) {
      node.addEventListener(key.slice(2), value);
    } else {
      node.setAttribute(key, value);
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

// Long names differ at their ends: keep both.
function middleCut(text, columns) {
  const letters = Array.from(text);
  if (letters.length <= columns) return text;
  const tail = Math.max(1, Math.floor((columns - 1) * 0.55));
  return letters.slice(0, Math.max(1, columns - 1 - tail)).join('') + '…' + letters.slice(-tail).join('');
}

function announce(text) {
  document.getElementById('announce').textContent = text;
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    announce('Copied');
  } catch {
    // Some browsers give a local file no clipboard: select the command, so that Ctrl-C copies it.
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector('code'));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = 'Selected';
    announce('Selected, press Control C to copy');
  }
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
}

function commandLine(command) {
  return element('div', { class: 'command' }, element('code', { text: command }),
    element('button', { type: 'button', class: 'copy', text: 'Copy', 'aria-label': 'Copy the command' }));
}

const tooltip = {
  node: null,
  show(event, title, pairs) {
    this.node = this.node || document.getElementById('tooltip');
    const list = element('dl');
    for (const [term, value] of pairs) {
      if (value === null || value === undefined || value === '') continue;
      list.append(element('dt', { text: term }), element('dd', { text: value }));
    }
    this.node.replaceChildren(element('div', { class: 'title', text: title }), list);
    this.node.hidden = false;
    this.move(event);
  },
  move(event) {
    if (!this.node || this.node.hidden) return;
    const box = this.node.getBoundingClientRect();
    const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10 : event.clientX + 14;
    const y = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
    this.node.style.left = Math.max(4, x) + 'px';
    this.node.style.top = Math.max(4, y) + 'px';
  },
  hide() {
    if (this.node) this.node.hidden = true;
  },
};

// Attaches a tooltip to a D3 selection; `content(datum)` gives [title, [[term, value], ...]].
function withTooltip(selection, content) {
  return selection
    .on('pointerenter.tip', (d) => tooltip.show(d3.event, ...content(d)))
    .on('pointermove.tip', () => tooltip.move(d3.event))
    .on('pointerleave.tip', () => tooltip.hide());
}
