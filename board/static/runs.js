import {el, get, repeat, number, time} from './board.js';

const chosen = new Set(); // runs with a mark, which stay when the page is left

// Columns in an order of their own; what relgrad.run has besides follows.
const first = ['run', 'name', 'status', 'step'];
const last = ['loss', 'params', 'parameters', 'options', 'tags', 'note', 'best', 'seed', 'started', 'updated'];

export function runs(page) {
  const compare = el('a', {href: '#runs'});
  const find = el('input', {type: 'search', placeholder: 'Find', ariaLabel: 'find runs', oninput: () => draw()});
  const table = el('table');
  let told;
  page.append(el('h1', {}, 'Runs'), el('div', {className: 'controls'}, find, compare),
    el('div', {className: 'scroll'}, table));

  const choose = () => {
    const list = [...chosen].sort((a, b) => a - b);
    compare.textContent = list.length ? `Curves of ${list.length} chosen` : '';
    compare.href = `#curves/${list.join(',')}`;
  };
  const draw = () => {
    if (!told) return;
    choose();
    const words = find.value.toLowerCase().split(/\s+/).filter(w => w);
    const list = told.runs.filter(r => {
      const text = (Object.values(r.fields).join(' ')).toLowerCase();
      return words.every(w => text.includes(w));
    }).reverse();
    const others = told.columns.filter(c => ![...first, ...last].includes(c) &&
      told.runs.some(r => r.fields[c] !== undefined));
    const has = c => told.columns.includes(c);
    const columns = [...first.filter(has), ...told.metrics.map(figure), links, ...others, ...last.filter(has)];
    table.replaceChildren(
      el('thead', {}, el('tr', {}, el('th', {}, all(list)), columns.map(c =>
        el('th', {className: numeric(c) ? 'number' : ''}, c)))),
      el('tbody', {}, list.map(r => row(r, columns))));
    if (!list.length) {
      table.replaceChildren(el('tbody', {}, el('tr', {}, el('td', {},
        told.runs.length ? 'No run has these words.' : 'There are no runs yet: CALL train(…) makes one.'))));
    }
  };
  const all = list => el('input', {type: 'checkbox', ariaLabel: 'choose all', checked: list.length > 0 &&
    list.every(r => chosen.has(r.run)), onchange: e => {
    for (const r of list) e.target.checked ? chosen.add(r.run) : chosen.delete(r.run);
    draw();
  }});
  const row = (r, columns) => el('tr', {},
    el('td', {}, el('input', {type: 'checkbox', ariaLabel: `choose run ${r.run}`, checked: chosen.has(r.run),
      onchange: e => { e.target.checked ? chosen.add(r.run) : chosen.delete(r.run); choose(); }})),
    columns.map(c => cell(r, c)));
  const numeric = c => ['step', 'seed', 'best'].includes(c) || told.metrics.some(m => figure(m) === c);
  const cell = (r, c) => {
    const v = r.fields[c];
    const metric = told.metrics.find(m => figure(m) === c);
    if (metric) return el('td', {className: 'number'}, number(r.last[metric]));
    switch (c) {
    case links: return el('td', {className: 'links'}, ['parameters', 'plan', 'sql'].map(p =>
      [el('a', {href: `#${p}/${r.run}`}, p), ' ']));
    case 'run': return el('td', {}, el('a', {href: `#curves/${r.run}`, ariaLabel: `curves of run ${v}`}, v));
    case 'status': return el('td', {}, el('span', {className: `status ${v}`}, v));
    case 'started': case 'updated': return el('td', {className: 'time'}, time(v));
    case 'step': case 'seed': return el('td', {className: 'number'}, v ?? '');
    case 'best': return el('td', {className: 'number'}, v === undefined ? '' : number(+v));
    case 'params': return el('td', {className: 'long'}, names(v));
    case 'options': return el('td', {className: 'long options'}, Object.entries(r.options ?? {}).map(([n, x]) => `${n} ${x}`)
      .join(', '));
    }
    return el('td', {className: (v ?? '').length > 24 ? 'long' : ''}, v ?? '');
  };
  return repeat(async signal => {
    const next = await get('runs', {}, signal);
    if (JSON.stringify(next) === JSON.stringify(told)) return;
    told = next;
    document.getElementById('name').textContent = `relgrad · ${told.name}`;
    draw();
  }, 2000);
}

const links = 'more';

// figure heads the column of a metric's last figure.
function figure(metric) { return `last ${metric}`; }

function names(text) {
  try {
    return JSON.parse(text).join(', ');
  } catch {
    return text ?? '';
  }
}
