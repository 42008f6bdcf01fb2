import {el, get, once, number} from './board.js';

export function parameters(page, [run]) {
  page.append(el('h1', {}, `Parameters of run ${run}, as they are now`), el('p', {className: 'faint'}, 'Reading them …'));
  return once(async signal => {
    try {
      const list = await get('parameters', {run}, signal);
      page.append(el('div', {className: 'beside'}, list.map(card)));
    } finally {
      page.querySelector('p')?.remove();
    }
  });
}

function card(m) {
  const most = Math.max(...m.counts, 1);
  const facts = {rows: number(m.rows), numbers: number(m.elements), norm: number(m.norm), mean: number(m.mean),
    'std. deviation': number(m.spread), zeros: number(m.zeros)};
  if (m.noNumber) facts['NULL, NaN, infinite'] = number(m.noNumber);
  if (m.read < m.rows) facts['computed from'] = `${number(m.read)} of ${number(m.rows)} rows`;
  return el('section', {className: 'card'}, el('h2', {}, m.name),
    el('svg', {class: 'histogram', viewBox: `0 0 ${m.counts.length} 100`, preserveAspectRatio: 'none', role: 'img',
      'aria-label': `histogram of ${m.name}`}, m.counts.map((n, i) => el('rect', {x: i + .05, width: .9,
      y: 100 - 100 * n / most, height: 100 * n / most}, el('title', {}, `${n}`)))),
    el('div', {className: 'ends'}, el('span', {}, number(m.least)), el('span', {}, number(m.most))),
    el('dl', {}, Object.entries(facts).map(([n, x]) => [el('dt', {}, n), el('dd', {}, x)])));
}
