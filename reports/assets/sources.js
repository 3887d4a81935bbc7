// The evidence of a finding: for each of its layers what was tried, the command that measures it again, and the
// stand-alone source of its candidates, to be read here or saved.
'use strict';

function evidenceOf(data, finding) {
  const cases = finding.cases.filter((one) => one.workload);
  if (cases.length === 0) return null;
  const block = element('details', { class: 'evidence' }, element('summary', { text: 'Evidence, commands and sources' }));
  const seen = new Set();
  for (const one of cases) {
    const facts = [];
    if (one.candidates !== null) facts.push(`${one.measured_candidates} of ${plural(one.candidates, 'candidate')} measured`);
    if (one.interval_us) facts.push('the best in ' + one.interval_us.map(exactTimeText).join(' to '));
    block.append(element('p', {}, element('strong', { text: one.layer }), element('span', { class: 'quiet', text: facts.map((fact) => ' · ' + fact).join('') })),
      one.command ? commandLine(one.command) : element('p', { class: 'mono', text: one.workload }));
    const source = data.sources.find((each) => each.config === one.workload);
    if (source && !seen.has(one.workload)) block.append(sourceBlock(source));
    seen.add(one.workload);
  }
  return block;
}

function sourceBlock(source) {
  if (!source.file_name) return element('p', { class: 'quiet', text: 'No stand-alone source: ' + source.reason });
  const block = element('details', { class: 'source' }, element('summary', { text: 'Source: ' + source.file_name }));
  block.addEventListener('toggle', () => {
    if (block.querySelector('pre') || !block.open) return;
    const save = element('button', { type: 'button', text: 'Download' });
    save.addEventListener('click', () => saveText(source.file_name, source.text));
    block.append(save, element('p', { class: 'quiet', text: 'This is the layer’s own file. What it includes, and how all of it is compiled, is written by' }),
      commandLine(source.command),
      element('pre', { class: 'mono scroll', tabindex: '0', role: 'region', 'aria-label': 'Source ' + source.file_name, text: source.text }));
  });
  return block;
}

function saveText(name, text) {
  const link = element('a', { download: name, href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })) });
  link.click();
  URL.revokeObjectURL(link.href);
}
