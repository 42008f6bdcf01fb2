import {el, get, once, number, size} from './board.js';
import {layout, box} from './layout.js';

const stages = {ra: 'loss', grad: 'loss and gradient', opt: 'optimized', physical: 'program', analyze: 'program, measured',
  sites: 'at several sites'};

export function plan(page, [run, stage = 'opt', sites = '4']) {
  const name = stages[stage] ? stage : 'opt';
  const to = (s, n) => { location.hash = `plan/${run}/${s}${s === 'sites' ? '/' + n : ''}`; };
  const many = el('input', {type: 'number', min: 1, max: 1024, value: sites, ariaLabel: 'number of sites',
    onchange: e => to('sites', e.target.value)});
  const zoom = el('input', {type: 'range', min: .3, max: 1.5, step: .05, value: 1, ariaLabel: 'size of the picture'});
  const picture = el('div', {className: 'picture'}), detail = el('aside');
  page.append(el('h1', {}, `Plan of run ${run}`),
    el('div', {className: 'controls'},
      el('select', {ariaLabel: 'stage', onchange: e => to(e.target.value, sites)},
        Object.entries(stages).map(([s, text]) => el('option', {value: s, selected: s === name}, text))),
      name === 'sites' ? many : [], el('label', {}, 'size', zoom)),
    el('p', {className: 'faint'}, name === 'analyze' ? 'Measuring: a few steps run now, and train nothing …' : 'Making it …'),
    el('div', {className: 'plan'}, picture, detail));
  return once(async signal => {
    try {
      const told = await get('plan', {run, stage: name === 'sites' ? `sites:${sites}` : name}, signal);
      draw(told, picture, detail, zoom);
    } finally {
      page.querySelector('p')?.remove();
    }
  });
}

function draw(told, picture, detail, zoom) {
  const {nodes, roots} = told;
  const head = told.head ? [el('pre', {className: 'wrap'}, told.head.trimEnd())] : [];
  detail.append(...head);
  if (!nodes?.length) {
    picture.hidden = true;
    return;
  }
  const {at, readers, width, height} = layout(nodes);
  const measure = nodes.some(n => n.seconds) ? 'seconds' : nodes.some(n => n.bytes) ? 'bytes' : null;
  const all = measure ? nodes.reduce((sum, n) => sum + (n.once ? 0 : n[measure] ?? 0), 0) : 0;
  const share = n => measure && all && !n.once ? (n[measure] ?? 0) / all : 0;
  const named = i => roots.filter(r => r.node === i).map(r => r.name);

  const edges = nodes.map((n, i) => n.inputs.map(j => {
    const a = {x: at[j].x + box.width / 2, y: at[j].y}, b = {x: at[i].x + box.width / 2, y: at[i].y + box.height};
    const middle = (a.y + b.y) / 2;
    return {i, j, path: el('path', {d: `M${a.x} ${a.y}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${b.y}`})};
  })).flat();
  const boxes = nodes.map((n, i) => el('g', {class: named(i).length ? 'node root' : 'node', tabindex: 0, role: 'button',
    'aria-pressed': 'false', transform: `translate(${at[i].x} ${at[i].y})`, onclick: () => choose(i, false),
    onkeydown: e => key(e, i)},
  el('title', {}, `${n.op} ${n.text}`.slice(0, 400)),
  el('rect', {class: 'box', width: box.width, height: box.height, rx: 4}),
  share(n) ? el('rect', {class: 'share', x: 2, y: box.height - 5, height: 4, width: Math.max(1, share(n) * (box.width - 4))}) : [],
  el('text', {class: 'op', x: 8, y: 17}, cut([...named(i), n.op].join(' = '), measure ? 18 : 26)),
  measure && n[measure] ? el('text', {x: box.width - 8, y: 17, 'text-anchor': 'end'}, figure(n, measure)) : [],
  el('text', {class: 'what', x: 8, y: 34}, cut(brief(n), 26))));
  const svg = el('svg', {viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'plan'}, edges.map(e => e.path), boxes);
  const scale = () => {
    svg.setAttribute('width', width * zoom.value);
    svg.setAttribute('height', height * zoom.value);
  };
  zoom.addEventListener('input', scale);
  zoom.value = Math.min(1, Math.max(.7, picture.clientWidth / width));
  scale();
  picture.append(svg);

  let chosen = -1;
  const choose = (i, go) => {
    boxes[chosen]?.setAttribute('aria-pressed', 'false');
    chosen = i;
    boxes[i].setAttribute('aria-pressed', 'true');
    for (const e of edges) e.path.classList.toggle('near', e.i === i || e.j === i);
    if (go) {
      boxes[i].focus({preventScroll: true});
      boxes[i].scrollIntoView({block: 'nearest', inline: 'nearest'});
    }
    detail.replaceChildren(about(i), ...head);
  };
  const key = (e, i) => {
    const row = nodes.map((n, j) => j).filter(j => at[j].y === at[i].y).sort((a, b) => at[a].x - at[b].x);
    const next = {ArrowUp: readers[i][0], ArrowDown: nodes[i].inputs[0], ArrowLeft: row[row.indexOf(i) - 1],
      ArrowRight: row[row.indexOf(i) + 1], Enter: i, ' ': i}[e.key];
    if (next === undefined) return;
    e.preventDefault();
    choose(next, true);
  };
  const link = j => el('dd', {}, el('button', {onclick: () => choose(j, true)}, cut(`${nodes[j].op} ${brief(nodes[j])}`, 34)));
  const about = i => {
    const n = nodes[i], facts = [];
    for (const name of named(i)) facts.push(['result', name]);
    if (n.seconds) facts.push(['time', figure(n, 'seconds') + (share(n) ? `, ${(100 * share(n)).toFixed(1)} %` : '')]);
    if (n.rows) facts.push(['rows', number(n.rows)]);
    if (n.bytes) facts.push(['bytes', size(n.bytes, 'B')]);
    if (n.flops) facts.push(['operations', size(n.flops, '')]);
    if (n.once) facts.push(['when', 'once in a run']);
    return el('section', {}, el('h2', {}, n.op), el('pre', {className: 'wrap'}, n.text),
      el('dl', {}, facts.map(([t, d]) => [el('dt', {}, t), el('dd', {}, d)]),
        n.inputs.length ? [el('dt', {}, 'reads'), n.inputs.map((j, k) => [k ? el('dt') : [], link(j)]).flat()] : [],
        readers[i].length ? [el('dt', {}, 'read by'), readers[i].map((j, k) => [k ? el('dt') : [], link(j)]).flat()] : []));
  };
  const first = roots.length ? roots[0].node : nodes.reduce((best, n, i) => share(n) > share(nodes[best]) ? i : best, 0);
  choose(first, false);
  picture.scrollTo(at[first].x * zoom.value - picture.clientWidth / 2 + box.width / 2, at[first].y * zoom.value - 60);
}

const brief = n => n.text.replace(/^(or, .*, )?v\d+ .*? = [^:]*: /, '').replace(/\s+/g, ' ');
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
const figure = (n, measure) => measure === 'bytes' ? size(n.bytes, 'B') :
  n.seconds >= 1 ? `${n.seconds.toPrecision(3)} s` : n.seconds >= 1e-3 ? `${(n.seconds * 1e3).toPrecision(3)} ms` :
    `${(n.seconds * 1e6).toPrecision(3)} µs`;
